//! Envoy Gateway (docs/systems/envoy-gateway.md): the most specific policy replaces all others, unless it sets `mergeType`
//! itself. The controller refuses some policies although its CRDs accept them
//! (docs/systems/envoy-gateway.md#refused-settings, docs/systems/envoy-gateway.md#default-hosts), leaves compressors out
//! (docs/systems/envoy-gateway.md#compressors, `envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`),
//! and runs Gateways of a class as one (docs/systems/envoy-gateway.md#merged-gateways).

mod checks;
mod refusals;
mod scopes;
mod status;

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use apimachinery::Identity;
use kube_json::Value;

use super::{AttachedPolicy, Product};
use crate::api::condition::Condition;
use crate::hub::Grants;
use crate::object::Object;
use crate::policy::attachment::Attachments;
use crate::policy::condition::{AncestorRef, AncestorStatus};
use crate::policy::merge::json_merge_patch::{lay_under, starting_with, unflatten};
use crate::policy::model::{Content, Entry, KindId, Leaf, PolicyId, RefusedThere, Rejection};
use crate::policy::profile::{MergeUnit, Profile, StatusShape};
use crate::topology::{ClassId, GatewayId, ListenerId, Node, Sources, Topology};
use refusals::{Traffic, refused, unfit_for_route};
use scopes::Scopes;

const GROUP: &str = "gateway.envoyproxy.io";

pub(super) struct EnvoyGateway;

impl Product for EnvoyGateway {
    fn merged_classes(&self, topology: &Topology<'_>, sources: Sources<'_>) -> BTreeSet<ClassId> {
        merging_classes(topology, sources)
    }

    fn wrong_setting(
        &self,
        profile: &Profile,
        policy: &Object,
        _sources: Sources<'_>,
        _grants: &Grants<'_>,
    ) -> Option<Rejection> {
        is_its(profile).then(|| wrong_setting(policy)).flatten()
    }

    fn unfit(&self, profile: &Profile, policy: &Object, route: &str) -> Option<Rejection> {
        is_its(profile).then(|| unfit(policy, route)).flatten()
    }

    // The controller has no settings of its own for a listener where it refuses a policy. Of a ListenerSet's policy nothing
    // is left on a shared port: what the Gateway has comes back there (seen in a fork of `envoyproxy/gateway`:
    // `internal/gatewayapi/clienttrafficpolicy.go@8f1f46847ba5fbe7876e51b7e8199862843cd9b2`).
    fn refused_at_listeners(
        &self,
        attachments: &Attachments<'_>,
        kind: KindId,
    ) -> Vec<(Node, ListenerId, RefusedThere)> {
        let (topology, known) = (&attachments.topology, attachments.kinds.get(kind));
        let mut refused = Vec::new();
        if !is_its(&known.profile) {
            return refused;
        }
        for (node, placed) in &known.nodes {
            let Some(entry) = placed.accepted.first() else {
                continue;
            };
            let policy = attachments.policy(entry.policy).object;
            if !is_of_clients(policy) {
                continue;
            }
            let ports = KindState::of(attachments, kind).shared_ports(attachments);
            for (gateway, listener) in topology.listeners_at(*node) {
                let nodes = topology.nodes_at(gateway, listener);
                // A listener with a policy of its own does not get that of its Gateway, and so not its mistakes
                // (docs/systems/envoy-gateway.md#default-hosts).
                let mut closer = nodes.take_while(|closer| closer != node);
                if closer.any(|closer| known.nodes.contains_key(&closer)) {
                    continue;
                }
                let shares_port = ports.shares_port(topology, *node, (gateway, listener));
                let wrong = || {
                    let setting = wrong_setting_at(policy, topology, listener);
                    setting.or_else(|| no_default_host(policy, topology, (gateway, listener)))
                };
                let why = if shares_port { None } else { wrong() };
                if shares_port || why.is_some() {
                    let keeps_its_place = !shares_port || !matches!(node, Node::ListenerSet(_));
                    let left = keeps_its_place.then(|| Entry::new(entry.policy, []));
                    refused.push((*node, listener, RefusedThere { left, why }));
                }
            }
        }
        refused
    }

    fn rejection(&self, policy: AttachedPolicy<'_, '_>, most: usize) -> Option<Rejection> {
        status::unfit_for_route(policy).or_else(|| status::at_listeners(policy, most))
    }

    fn refused_merges(&self, policy: AttachedPolicy<'_, '_>, from: Option<GatewayId>) -> Option<String> {
        status::refused_merges(policy, from)
    }

    fn refuses_merged(&self, profile: &Profile, levels: &[&[Entry]]) -> bool {
        wrong_setting_merged(&profile.kind, levels).is_some()
    }

    fn translated(&self, profile: &Profile, content: &Content) -> Option<Content> {
        is_its(profile).then(|| with_enabled_ones(content)).flatten()
    }

    fn ancestors(
        &self,
        attachments: &Attachments<'_>,
        id: PolicyId,
        gateways: &BTreeSet<GatewayId>,
        effect: &dyn Fn(GatewayId) -> Option<Condition>,
    ) -> Option<Vec<AncestorStatus>> {
        if is_its(attachments.profile(id)) {
            return Some(status::ancestors(attachments, id));
        }
        let mut patched = status::patched(attachments, id)?;
        let is_accepted = patched.conditions.iter().all(Condition::is_true);
        let gateway = gateways.first().filter(|_| is_accepted);
        patched
            .conditions
            .extend(gateway.and_then(|gateway| effect(*gateway)));
        Some(vec![patched])
    }

    fn parents_of_backends(
        &self,
        attachments: &Attachments<'_>,
        id: PolicyId,
        gateway: GatewayId,
    ) -> Vec<AncestorRef> {
        status::parents_of_backends(attachments, id, gateway)
    }

    fn conflicted(&self, (attachments, id, node): AttachedPolicy<'_, '_>) -> Option<String> {
        is_its(attachments.profile(id)).then(|| status::conflicted((attachments, id, node)))
    }
}

/// Whether a kind behaves like those of Envoy Gateway.
fn is_its(profile: &Profile) -> bool {
    profile.status == StatusShape::EnvoyGateway
}

/// What is found out about a kind once, when it is needed.
#[derive(Debug, Default)]
struct KindState {
    shared_ports: OnceLock<SharedPorts>,
    /// Which of its policies are under which.
    scopes: OnceLock<Scopes>,
}

impl KindState {
    fn of<'s>(attachments: &'s Attachments<'_>, kind: KindId) -> &'s Self {
        attachments.kinds.get(kind).state.get_or_default()
    }

    fn shared_ports(&self, attachments: &Attachments<'_>) -> &SharedPorts {
        self.shared_ports.get_or_init(|| SharedPorts::new(attachments))
    }

    fn scopes(&self, attachments: &Attachments<'_>, kind: KindId) -> &Scopes {
        let nodes = &attachments.kinds.get(kind).nodes;
        let scopes = || Scopes::new(&attachments.topology, nodes, &attachments.policies, kind);
        self.scopes.get_or_init(scopes)
    }
}

/// The listeners that do not end TLS, by port: to Envoy, those of one port are one listener, also of several Gateways that
/// run as one (docs/systems/envoy-gateway.md#merged-gateways).
#[derive(Debug, Default)]
struct SharedPorts {
    /// The classes whose Gateways are known to run as one.
    merging: BTreeSet<ClassId>,
    /// By the first of the Gateways that run as one, and the port.
    plain: HashMap<(GatewayId, i64), Vec<(GatewayId, ListenerId)>>,
}

impl SharedPorts {
    fn new(attachments: &Attachments<'_>) -> Self {
        let topology = &attachments.topology;
        let mut ports = Self {
            merging: attachments.merged_classes.clone(),
            plain: HashMap::new(),
        };
        for gateway in topology.gateways.ids() {
            for listener in &topology.gateways.get(gateway).listeners {
                if let Some(port) = ports.port(topology, gateway, *listener) {
                    ports.plain.entry(port).or_default().push((gateway, *listener));
                }
            }
        }
        ports
    }

    /// The port of a listener that does not end TLS, among those of the Gateways that run as one with its own.
    fn port(&self, topology: &Topology<'_>, gateway: GatewayId, id: ListenerId) -> Option<(GatewayId, i64)> {
        let listener = topology.listeners.get(id);
        let class = topology.gateways.get(gateway).class;
        let merged = self.merging.contains(&class).then(|| topology.classes.get(class));
        let first = merged
            .and_then(|class| class.gateways.first())
            .unwrap_or(&gateway);
        let is_plain = listener.protocol == "HTTP" && listener.gives_way_to.is_none();
        is_plain.then_some((*first, listener.port?))
    }

    /// Whether a listener that a policy on a node is not for shares the port of one that it is for. The settings of a
    /// connection cannot hold at some of the listeners of a port alone. A policy on a whole Gateway is for all of its own;
    /// others come to its ports where Gateways are merged
    /// (`envoyproxy/gateway internal/gatewayapi/clienttrafficpolicy.go@v1.9.0`).
    fn shares_port(
        &self,
        topology: &Topology<'_>,
        node: Node,
        (gateway, listener): (GatewayId, ListenerId),
    ) -> bool {
        let port = self.port(topology, gateway, listener);
        port.is_some_and(|port| self.others(topology, node, port).next().is_some())
    }

    /// The listeners on a port that a policy on a node is not for.
    fn others(
        &self,
        topology: &Topology<'_>,
        node: Node,
        port: (GatewayId, i64),
    ) -> impl Iterator<Item = (GatewayId, ListenerId)> {
        let there = self.plain.get(&port).into_iter().flatten().copied();
        there.filter(move |one| !is_meant(topology, node, *one))
    }

    /// Why a policy is refused at listeners that share their ports; of those in its way, at most so many are named.
    fn refusal(
        &self,
        topology: &Topology<'_>,
        node: Node,
        (refused, most): (&[ListenerId], usize),
    ) -> Option<Rejection> {
        let gateway = topology.gateways_of(node).first().copied()?;
        let ports = refused.iter();
        let ports = ports.filter_map(|listener| self.port(topology, gateway, *listener));
        let ports: BTreeSet<(GatewayId, i64)> = ports.collect();
        let others = ports
            .into_iter()
            .flat_map(|port| self.others(topology, node, port));
        let others: BTreeSet<(GatewayId, ListenerId)> = others.take(most).collect();
        let names = others.into_iter().map(|(gateway, listener)| {
            let node = Node::Listener(gateway, listener);
            let section = topology.section(node).unwrap_or_default();
            format!("{}/{section}", key(topology, node))
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| Rejection {
            message: format!(
                "ClientTrafficPolicy is being applied to multiple http (non https) listeners ({}) on the same port, which is \
                 not allowed.",
                names.join(", ")
            ),
            help: "target the whole Gateway, or give the listener a port of its own".to_owned(),
            ..Rejection::default()
        })
    }
}

/// `namespace/name` of the object that a node is a part of.
fn key(topology: &Topology<'_>, node: Node) -> String {
    let identity = topology.identity(node);
    format!("{}/{}", identity.namespace.unwrap_or_default(), identity.name)
}

/// Whether a listener is one of those that a policy on a node is for.
fn is_meant(topology: &Topology<'_>, node: Node, (gateway, listener): (GatewayId, ListenerId)) -> bool {
    match node {
        Node::Listener(_, named) => named == listener,
        Node::ListenerSet(set) => topology.listeners.get(listener).set == Some(set),
        node => node == Node::Gateway(gateway),
    }
}

/// Why a policy is refused wherever it is attached. Of a ClientTrafficPolicy that is decided at each listener.
fn wrong_setting(policy: &Object) -> Option<Rejection> {
    let spec = policy.value.get("spec").filter(|_| !is_of_clients(policy))?;
    refused(&policy.kind, spec, Traffic::ANY)
}

/// Why a ClientTrafficPolicy is refused at a listener. Nothing is translated for UDP.
fn wrong_setting_at(policy: &Object, topology: &Topology<'_>, listener: ListenerId) -> Option<Rejection> {
    let listener = topology.listeners.get(listener);
    let ends_tls = !listener.passes_through;
    let (http, tls) = match listener.protocol {
        "HTTP" => (true, false),
        "HTTPS" => (true, ends_tls),
        "TLS" => (false, ends_tls),
        "TCP" => (false, false),
        _ => return None,
    };
    let spec = policy.value.get("spec").filter(|_| is_of_clients(policy))?;
    refused(&policy.kind, spec, Traffic { http, tls })
}

/// Why a policy of a route is refused before it takes the place of others.
fn unfit(policy: &Object, route: &str) -> Option<Rejection> {
    unfit_for_route(&policy.kind, policy.value.get("spec")?, route)
}

/// What the controller says of what policies come to that are merged, the last one over the others. Lists are those of the
/// last, also where those of a rate limit are put together afterwards
/// (`envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`).
fn wrong_setting_merged(kind: &str, levels: &[&[Entry]]) -> Option<String> {
    let entries = levels.iter().rev().filter_map(|entries| entries.first());
    let mut layers = entries.flat_map(|entry| entry.layers.iter());
    let mut merged = layers.next()?.content.as_ref().clone();
    for under in layers {
        lay_under(&mut merged, &under.content, &MergeUnit::JsonMergePatch);
    }
    refused(kind, &unflatten(merged.values()), Traffic::ANY).map(|refusal| refusal.message)
}

fn is_of_clients(policy: &Object) -> bool {
    policy.kind == "ClientTrafficPolicy"
}

/// Why a listener has no host for requests of HTTP/1.0 that name none, if a policy wants one. It is the listener's hostname,
/// else that of its routes, if among them there is exactly one: each match of each rule counts by itself
/// (`envoyproxy/gateway internal/gatewayapi/clienttrafficpolicy.go@v1.9.0`).
fn no_default_host(
    policy: &Object,
    topology: &Topology<'_>,
    (gateway, listener): (GatewayId, ListenerId),
) -> Option<Rejection> {
    let node = topology.listeners.get(listener);
    let is_wanted = policy.value.pointer("/spec/http1/http10/useDefaultHost") == Some(&Value::Bool(true));
    // Only there are requests of HTTP/1.0, which may name no host.
    let is_http = matches!(node.protocol, "HTTP" | "HTTPS");
    let has_host = node.hostname.is_some_and(|hostname| !hostname.contains('*'));
    if !is_of_clients(policy) || !is_wanted || !is_http || has_host || node.gives_way_to.is_some() {
        return None;
    }
    let attached = topology.gateways.get(gateway).attached.iter();
    let attached = attached.filter(|(there, _)| *there == listener);
    let hosts = attached.map(|(_, route)| {
        let route = topology.routes.get(*route).route;
        let rules = route.object.root().get("spec").get("rules").items();
        let matches = rules.map(|rule| rule.get("matches").items().count().max(1));
        node.exact_hosts(route).saturating_mul(matches.sum())
    });
    let several = match hosts.sum() {
        0_usize => "",
        1 => return None,
        _ => " and more than one possible default route",
    };
    Some(Rejection {
        message: format!("HTTP1: cannot set http10 default host on listener with only wildcard hostnames{several}."),
        pointer: None,
        help: "give the listener a hostname without a wildcard, let exactly one match of its routes have one, or remove \
               `useDefaultHost`"
            .to_owned(),
        at: Some(Node::Listener(gateway, listener)),
    })
}

/// The list; the older `compression` has no such rule.
const LIST: &str = "/compressor";

/// The types, and where the settings of each are.
const TYPES: [(&str, &str); 3] = [("Gzip", "gzip"), ("Brotli", "brotli"), ("Zstd", "zstd")];

/// The same settings with the compressors that have the settings of their type, be they empty; without any, compression is
/// off. `None` if nothing changes.
fn with_enabled_ones(content: &Content) -> Option<Content> {
    if let Some(leaf) = content.get(LIST) {
        let items = leaf.value.as_array()?;
        let is_enabled = |item: &&Value| {
            let mut types = TYPES.iter();
            types.any(|(kind, settings)| {
                item.get("type").and_then(Value::as_str) == Some(kind) && item.get(*settings).is_some()
            })
        };
        let enabled: Vec<Value> = items.iter().filter(is_enabled).cloned().collect();
        // Then the list stays shared.
        let is_same = enabled.len() == items.len();
        return (!is_same).then(|| with_list(content.clone(), leaf, enabled));
    }
    // Lists of two policies are put together field by field.
    let fields: Vec<(&str, &str, &Leaf)> = starting_with(content, "/compressor/")
        .filter_map(|(key, leaf)| {
            let (position, field) = key.strip_prefix("/compressor/")?.split_once('/')?;
            Some((position, field, leaf))
        })
        .collect();
    let is_enabled = |position: &str| {
        let of_item = || fields.iter().filter(|(at, ..)| *at == position);
        TYPES.iter().any(|(kind, settings)| {
            of_item().any(|(_, field, leaf)| *field == "type" && leaf.value.as_str() == Some(kind))
                && of_item().any(|(_, field, _)| field.split('/').next() == Some(settings))
        })
    };
    let positions: BTreeSet<&str> = fields.iter().map(|(position, ..)| *position).collect();
    let (enabled, disabled): (BTreeSet<&str>, BTreeSet<&str>) =
        positions.into_iter().partition(|position| is_enabled(position));
    let (_, _, first) = fields.iter().find(|(position, ..)| disabled.contains(position))?;
    let mut left = content.clone();
    for (position, field, _) in fields.iter().filter(|(position, ..)| disabled.contains(position)) {
        left.remove(format!("{LIST}/{position}/{field}").as_str());
    }
    Some(if enabled.is_empty() {
        with_list(left, first, Vec::new())
    } else {
        left
    })
}

/// Settings with this list, which comes from where the leaf does.
fn with_list(mut content: Content, leaf: &Leaf, items: Vec<Value>) -> Content {
    let (at, mut list) = leaf.moved(LIST, Value::Array(items));
    // It is one list again, not put together from two.
    list.element = None;
    content.insert(at, list);
    content
}

/// The classes whose EnvoyProxy, in the input, merges their Gateways. Of others nothing is known: the controller's own
/// configuration may ask for it, too.
fn merging_classes(topology: &Topology<'_>, sources: Sources<'_>) -> BTreeSet<ClassId> {
    let merges = |class: &Object| {
        let reference = class.root().get("spec").get("parametersRef");
        let is_proxy = reference.text("group") == Some(GROUP) && reference.text("kind") == Some("EnvoyProxy");
        let name = reference.text("name").filter(|_| is_proxy)?;
        let proxy = Identity::new(GROUP, "EnvoyProxy", reference.text("namespace"), name);
        let proxy = sources.get_with_hub(&proxy)?;
        proxy.value.pointer("/spec/mergeGateways")?.as_bool()
    };
    let classes = topology.classes.iter();
    let merging = classes.filter(|(_, class)| class.object.and_then(merges) == Some(true));
    merging.map(|(id, _)| id).collect()
}
