//! Policies that Envoy Gateway refuses where they are attached, although its CRDs accept them
//! (docs/systems/envoy-gateway.md#refused-settings, docs/systems/envoy-gateway.md#default-hosts).
//!
//! Owns: where a refused setting counts, ports that listeners share, and default hosts. Flows in: the topology, policies.
//! Flows out: the reason, and the help.
//! Must not know: statuses, findings, other policies.

use std::collections::{BTreeSet, HashMap};

use kube_json::Value;

use super::envoy_gateway_refusals::{Refusal, Traffic, refused, unfit_for_route};
use super::layer::Entry;
use super::leaves::unflatten;
use super::merge_patch::lay_under;
use super::profile::MergeUnit;
use crate::object::Object;
use crate::topology::{ClassId, GatewayId, ListenerId, Node, Topology};

/// Why the controller refuses a policy on a node.
#[derive(Debug, Clone)]
pub(super) struct Misfit {
    /// In its words.
    pub(super) message: String,
    /// Where in the policy, if it is not the target.
    pub(super) pointer: Option<String>,
    /// How to fix it.
    pub(super) help: String,
    /// The place, if it is not the whole target.
    pub(super) at: Option<Node>,
}

/// Looks for such policies, and remembers who serves which port.
pub(super) struct Fit<'f, 'a> {
    topology: &'f Topology<'a>,
    /// The classes whose Gateways run as one.
    merging: &'f BTreeSet<ClassId>,
    /// By what runs as one, and by port, the listeners that do not end TLS.
    plain: HashMap<Scope, HashMap<i64, Vec<(GatewayId, ListenerId)>>>,
}

/// Gateways that run as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    Class(ClassId),
    Gateway(GatewayId),
}

impl<'f, 'a> Fit<'f, 'a> {
    pub(super) fn new(topology: &'f Topology<'a>, merging: &'f BTreeSet<ClassId>) -> Self {
        Self {
            topology,
            merging,
            plain: HashMap::new(),
        }
    }

    /// Whether a listener that a policy on a node is not for shares the port of one that it is for. The settings of a
    /// connection cannot hold at some of the listeners of a port alone: those that do not end TLS are one to Envoy. A
    /// policy on a whole Gateway is for all of its own; others come to its ports where Gateways are merged
    /// (`envoyproxy/gateway internal/gatewayapi/clienttrafficpolicy.go@v1.9.0`).
    pub(super) fn shares_port(&mut self, node: Node, listener: ListenerId) -> bool {
        let topology = self.topology;
        let Some(gateway) = topology.gateways_of(node).first().copied() else {
            return false;
        };
        let port = topology.listeners.get(listener).port();
        let port = port.filter(|_| is_plain(topology, listener));
        let there = port.and_then(|port| self.there(gateway).get(&port));
        there.is_some_and(|there| there.iter().any(|one| !is_meant(topology, node, *one)))
    }

    /// Why a policy is refused at listeners that share their ports; of those in its way, at most so many are named.
    pub(super) fn shared_port(&mut self, node: Node, refused: &[ListenerId], most: usize) -> Option<Misfit> {
        let topology = self.topology;
        let gateway = topology.gateways_of(node).first().copied()?;
        let ports = refused
            .iter()
            .filter_map(|listener| topology.listeners.get(*listener).port());
        let ports: BTreeSet<i64> = ports.collect();
        let there = self.there(gateway);
        let others = ports.iter().filter_map(|port| there.get(port)).flatten();
        let others = others.filter(|one| !is_meant(topology, node, **one));
        let others: BTreeSet<(GatewayId, ListenerId)> = others.take(most).copied().collect();
        let names: Vec<String> = others
            .into_iter()
            .map(|(gateway, listener)| {
                let node = Node::Listener(gateway, listener);
                let section = topology.section(node).unwrap_or_default();
                let identity = topology.identity(node);
                let namespace = identity.namespace.unwrap_or_default();
                format!("{namespace}/{}/{section}", identity.name)
            })
            .collect();
        (!names.is_empty()).then(|| Misfit {
            message: format!(
                "ClientTrafficPolicy is being applied to multiple http (non https) listeners ({}) on the same port, which is \
                 not allowed.",
                names.join(", ")
            ),
            pointer: None,
            help: "target the whole Gateway, or give the listener a port of its own".to_owned(),
            at: None,
        })
    }

    /// The listeners of all Gateways that run as one with a Gateway.
    fn there(&mut self, gateway: GatewayId) -> &HashMap<i64, Vec<(GatewayId, ListenerId)>> {
        let topology = self.topology;
        let class = topology.gateways.get(gateway).class;
        let (scope, gateways) = if self.merging.contains(&class) {
            (Scope::Class(class), topology.classes.get(class).gateways.clone())
        } else {
            (Scope::Gateway(gateway), vec![gateway])
        };
        self.plain.entry(scope).or_insert_with(|| {
            let mut by_port: HashMap<i64, Vec<(GatewayId, ListenerId)>> = HashMap::new();
            for gateway in gateways {
                for listener in &topology.gateways.get(gateway).listeners {
                    let port = topology.listeners.get(*listener).port();
                    if let Some(port) = port.filter(|_| is_plain(topology, *listener)) {
                        by_port.entry(port).or_default().push((gateway, *listener));
                    }
                }
            }
            by_port
        })
    }
}

fn is_plain(topology: &Topology<'_>, listener: ListenerId) -> bool {
    let listener = topology.listeners.get(listener);
    listener.protocol() == "HTTP" && listener.gives_way_to.is_none()
}

/// Whether a listener is one of those that a policy on a node is for.
fn is_meant(topology: &Topology<'_>, node: Node, (gateway, listener): (GatewayId, ListenerId)) -> bool {
    match node {
        Node::Listener(_, named) => named == listener,
        Node::ListenerSet(set) => topology.listeners.get(listener).set == Some(set),
        node => node == Node::Gateway(gateway),
    }
}

impl From<Refusal> for Misfit {
    fn from(refusal: Refusal) -> Self {
        Self {
            message: refusal.message,
            pointer: Some(refusal.pointer),
            help: refusal.help,
            at: None,
        }
    }
}

/// Why a policy is refused wherever it is attached. Of a ClientTrafficPolicy that is decided at each listener.
pub(super) fn wrong_setting(policy: &Object) -> Option<Misfit> {
    let spec = policy.value.get("spec").filter(|_| !is_of_clients(policy))?;
    refused(&policy.kind, spec, Traffic::ANY).map(Misfit::from)
}

/// Why a ClientTrafficPolicy is refused at a listener. Nothing is translated for UDP.
pub(super) fn wrong_setting_at(
    policy: &Object,
    topology: &Topology<'_>,
    listener: ListenerId,
) -> Option<Misfit> {
    let listener = topology.listeners.get(listener);
    let ends_tls = !listener.passes_through();
    let (http, tls) = match listener.protocol() {
        "HTTP" => (true, false),
        "HTTPS" => (true, ends_tls),
        "TLS" => (false, ends_tls),
        "TCP" => (false, false),
        _ => return None,
    };
    let spec = policy.value.get("spec").filter(|_| is_of_clients(policy))?;
    refused(&policy.kind, spec, Traffic { http, tls }).map(Misfit::from)
}

/// Why a policy of a route is refused before it takes the place of others.
pub(super) fn unfit(policy: &Object, route: &str) -> Option<Misfit> {
    unfit_for_route(&policy.kind, policy.value.get("spec")?, route).map(Misfit::from)
}

/// What the controller says of what policies come to that are merged, the last one over the others. Lists are those of the
/// last, also where those of a rate limit are put together afterwards
/// (`envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`).
pub(super) fn wrong_setting_merged(kind: &str, levels: &[&[Entry]]) -> Option<String> {
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

/// Whether a policy wants a host for requests of HTTP/1.0 that name none.
pub(super) fn wants_default_host(policy: &Object) -> bool {
    let wanted = policy.value.pointer("/spec/http1/http10/useDefaultHost");
    is_of_clients(policy) && wanted == Some(&Value::Bool(true))
}

/// Why there is no such host at a listener. It is the listener's hostname, else that of its routes, if among them there is
/// exactly one: each match of each rule counts by itself
/// (`envoyproxy/gateway internal/gatewayapi/clienttrafficpolicy.go@v1.9.0`).
pub(super) fn no_default_host(
    topology: &Topology<'_>,
    gateway: GatewayId,
    listener: ListenerId,
) -> Option<&'static str> {
    let node = topology.listeners.get(listener);
    let is_http = matches!(node.protocol(), "HTTP" | "HTTPS");
    let has_host = node.hostname().is_some_and(|hostname| !hostname.contains('*'));
    if !is_http || has_host || node.gives_way_to.is_some() {
        return None;
    }
    let attached = topology.gateways.get(gateway).attached.iter();
    let hosts = attached
        .filter(|(there, _)| *there == listener)
        .map(|(_, route)| {
            let route = topology.routes.get(*route).object;
            let rules = route.root().get("spec").get("rules");
            let matches = rules
                .items()
                .map(|rule| rule.get("matches").items().count().max(1));
            node.exact_hosts(route).saturating_mul(matches.sum())
        });
    match hosts.sum() {
        0_usize => Some("cannot set http10 default host on listener with only wildcard hostnames"),
        1 => None,
        _ => Some(
            "cannot set http10 default host on listener with only wildcard hostnames and more than one possible default route",
        ),
    }
}
