//! Predicted statuses in Envoy Gateway's wording (docs/systems/envoy-gateway.md#status,
//! `envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`,
//! `envoyproxy/gateway internal/gatewayapi/status/policy.go@v1.9.0`).

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::refusals::sentence;
use super::scopes::{Parent, Scopes, merged_with, owner, parents_of, whole};
use super::{AttachedPolicy, KindState, key, unfit, wrong_setting_merged};
use crate::api::condition::Condition;
use crate::api::gateway::GROUP;
use crate::policy::attachment::Attachments;
use crate::policy::condition::{AncestorRef, AncestorStatus, MAX_ANCESTORS, controller_name, lower_first};
use crate::policy::model::{Declared, Policy, PolicyId, Rejection, Target};
use crate::policy::status::{ACCEPTED, rejection};
use crate::topology::{GatewayId, ListenerId, Node, Topology};

/// The controller that writes these statuses, by its default name.
const CONTROLLER: &str = "gateway.envoyproxy.io/gatewayclass-controller";

/// `status.ancestors` of a policy, all of them.
pub(super) fn ancestors(attachments: &Attachments<'_>, id: PolicyId) -> Vec<AncestorStatus> {
    let policy = attachments.policy(id);
    let mut builder = StatusBuilder {
        topology: &attachments.topology,
        attachments,
        id,
        policy,
        scopes: KindState::of(attachments, policy.kind).scopes(attachments, policy.kind),
        ancestors: IndexMap::new(),
    };
    if policy.counts() {
        let mut targets: Vec<&Declared> = policy.targets.iter().collect();
        // The controller processes the most specific targets of all policies first, and writes ancestors in that order.
        targets.sort_by_key(|declared| turn(builder.topology, policy, declared));
        for declared in targets {
            builder.target(declared);
        }
    }
    truncated(builder.ancestors.into_values().collect())
}

/// Of a policy on backends (BackendTLSPolicy), the ancestors at a Gateway that this controller serves: each parent by
/// which a route that leads to a backend names it, with its section. None where another controller writes the status.
pub(super) fn parents_of_backends(
    attachments: &Attachments<'_>,
    id: PolicyId,
    gateway: GatewayId,
) -> Vec<AncestorRef> {
    let topology = &attachments.topology;
    if controller_name(attachments, gateway) != CONTROLLER {
        return Vec::new();
    }
    let nodes = attachments.policy(id).nodes().into_iter();
    let backends = nodes.filter_map(|node| match node {
        Node::Backend(backend) | Node::Port(backend, _) => Some(backend),
        _ => None,
    });
    let routes = backends.flat_map(|backend| topology.backends.get(backend).routes.iter().copied());
    let routes: BTreeSet<_> = routes.collect();
    let mut found: Vec<AncestorRef> = Vec::new();
    let parents = routes.into_iter().flat_map(|route| parents_of(topology, route));
    for parent in parents.filter(|parent| parent.gateway == gateway && !parent.listeners.is_empty()) {
        let named = AncestorRef::new(topology, parent.node, parent.section.as_deref());
        if !found.contains(&named) {
            found.push(named);
        }
    }
    found
}

/// The ancestor of an EnvoyPatchPolicy that is not a Gateway on whose paths it holds: a class, or a Gateway that has
/// the name of the target, which is of another kind. The controller looks for the name first, and then at the kind
/// (`envoyproxy/gateway internal/gatewayapi/envoypatchpolicy.go@v1.9.0`).
pub(super) fn patched(attachments: &Attachments<'_>, id: PolicyId) -> Option<AncestorStatus> {
    let policy = attachments.policy(id);
    if !policy.object.is(super::GROUP, "EnvoyPatchPolicy") {
        return None;
    }
    let topology = &attachments.topology;
    let namespace = policy.object.namespace_or_empty();
    policy.targets.iter().find_map(|declared| {
        let (gateway, is_class) = match declared.target {
            Target::Attached(node) => (
                *topology.gateways_of(node).first()?,
                matches!(node, Node::Class(_)),
            ),
            Target::NotAllowed(_) | Target::NotFound => (topology.find_gateway(namespace, &declared.name)?, false),
            _ => return None,
        };
        let class = topology.gateways.get(gateway).class;
        let merges = is_class || attachments.merged_classes.contains(&class);
        if merges && declared.target == Target::NotFound {
            return None;
        }
        let wanted = if merges { "GatewayClass" } else { "Gateway" };
        let accepted = if declared.kind != wanted || declared.group != GROUP {
            let refusal = format!(
                "TargetRef.Group:{} TargetRef.Kind:{}, only TargetRef.Group:{GROUP} and TargetRef.Kind:{wanted} is supported.",
                declared.group, declared.kind
            );
            Condition::new("Accepted", "False", "Invalid", refusal)
        } else if merges {
            Condition::new("Accepted", "True", "Accepted", ACCEPTED.to_owned())
        } else {
            return None;
        };
        Some(AncestorStatus {
            ancestor_ref: AncestorRef {
                group: GROUP.to_owned(),
                kind: wanted.to_owned(),
                namespace: if merges { String::new() } else { namespace.to_owned() },
                name: declared.name.to_string(),
                section_name: None,
            },
            controller_name: controller_name(attachments, gateway),
            conditions: vec![accepted],
        })
    })
}

/// Rules first, Gateways last.
fn turn(topology: &Topology<'_>, policy: &Policy<'_>, declared: &Declared) -> u8 {
    let node = declared.node().or_else(|| owner(topology, policy, declared));
    match (node.map(|node| whole(topology, node)), declared.section.is_some()) {
        (Some(Node::ListenerSet(_)), true) => 2,
        (Some(Node::ListenerSet(_)), false) => 3,
        (Some(Node::Gateway(_)), true) => 4,
        (Some(Node::Gateway(_)), false) => 5,
        (_, true) => 0,
        (_, false) => 1,
    }
}

struct StatusBuilder<'s, 'a> {
    topology: &'s Topology<'a>,
    attachments: &'s Attachments<'a>,
    id: PolicyId,
    policy: &'s Policy<'a>,
    scopes: &'s Scopes,
    ancestors: IndexMap<AncestorRef, AncestorStatus>,
}

impl StatusBuilder<'_, '_> {
    fn target(&mut self, declared: &Declared) {
        let node = match &declared.target {
            Target::Attached(node) => *node,
            Target::NotFound => {
                // A target that is missing may belong to another controller: nothing is said.
                if let Some(whole) = owner(self.topology, self.policy, declared) {
                    let ancestors = self.ancestors_of(whole, declared.section.as_deref());
                    let section = declared.section.as_deref().unwrap_or_default();
                    let (kind, key) = (&declared.kind, key(self.topology, whole));
                    let message = format!("No section name {section} found for {kind} {key}");
                    self.refuse(&ancestors, "TargetNotFound", message);
                }
                return;
            }
            _ => return,
        };
        let attached = (self.attachments, self.id, node);
        let ancestors = self.ancestors_of(whole(self.topology, node), declared.section.as_deref());
        if self.attachments.conflicted_by(self.id, node).is_some() {
            let message = conflicted(attached);
            self.refuse(&ancestors, "Conflicted", message);
            return;
        }
        if let Some(unfit) = unfit_for_route(attached) {
            self.refuse(&ancestors, "Invalid", unfit.message);
            return;
        }
        let nodes = &self.attachments.kinds.get(self.policy.kind).nodes;
        let merged = merged_with(self.topology, nodes, self.policy, node);
        for (parent, listener, with) in merged {
            let section = self.topology.section(Node::Listener(parent.gateway, listener));
            let ancestor = AncestorRef::new(self.topology, parent.node, section);
            let Some(other) = self.attachments.on(self.policy.kind, with).first() else {
                continue;
            };
            let condition = match refused_merge(attached, other.policy) {
                Some(refusal) => Condition::new("Accepted", "False", "Invalid", refusal),
                None => {
                    let with = self.attachments.policy(other.policy).object.key();
                    Condition::new("Merged", "True", "Merged", format!("Merged with policy {with}"))
                }
            };
            self.say(parent.gateway, &ancestor, condition);
        }
        let refused = rejection(attached, usize::MAX);
        let refused = refused.map(|why| Condition::new("Accepted", "False", "Invalid", why.message));
        let effects = self.effects(node);
        for (gateway, ancestor) in ancestors {
            let mut known = self.entry(gateway, &ancestor).conditions.iter();
            let is_said = known.any(|condition| condition.kind == "Accepted");
            let accepted = || Condition::new("Accepted", "True", "Accepted", ACCEPTED.to_owned());
            let accepted = refused.clone().or_else(|| (!is_said).then(accepted));
            for condition in accepted.into_iter().chain(effects.iter().cloned()) {
                self.say(gateway, &ancestor, condition);
            }
        }
    }

    /// Says at these ancestors that the policy is not accepted.
    fn refuse(&mut self, ancestors: &[(GatewayId, AncestorRef)], reason: &str, message: String) {
        let refused = Condition::new("Accepted", "False", reason, message);
        for (gateway, ancestor) in ancestors {
            self.say(*gateway, ancestor, refused.clone());
        }
    }

    /// The conditions besides Accepted: which policies override it somewhere, which one it was merged into, which
    /// fields are deprecated.
    fn effects(&self, node: Node) -> Vec<Condition> {
        let mut effects = Vec::new();
        let plural = plural(&self.policy.object.kind);
        let others = |what: &str, by: &str| format!("This policy is being {what} by other {by} for ");
        let overridden = |message: String| Condition::new("Overridden", "True", "Overridden", message);
        match node {
            Node::Rule(..) => {}
            Node::Route(_) => {
                let rules = self.targeted_sections(node);
                if !rules.is_empty() {
                    // The controller of this one kind has the singular here.
                    let by = match self.policy.object.kind.as_str() {
                        "BackendTrafficPolicy" => "backendTrafficPolicy",
                        _ => &plural,
                    };
                    let rules = format!("these route rules: [{}]", rules.join(" "));
                    effects.push(overridden(others("overridden", by) + &rules));
                }
            }
            // It has no merging, and its own wording.
            _ if self.policy.object.kind == "ClientTrafficPolicy" => {
                let sections = self.targeted_sections(node);
                if !sections.is_empty() {
                    effects.push(overridden(format!(
                        "There are existing ClientTrafficPolicies that are overriding these sections [{}]",
                        sections.join(" ")
                    )));
                }
            }
            _ => {
                if let Some(merged) = self.listed(&self.scopes.merged(node)) {
                    let message = others("merged", &plural) + &merged;
                    effects.push(Condition::new("Merged", "True", "Merged", message));
                }
                if let Some(displacing) = self.listed(&self.scopes.displacing(self.topology, node)) {
                    effects.push(overridden(others("overridden", &plural) + &displacing));
                }
            }
        }
        effects.extend(deprecated(self.policy));
        effects
    }

    /// The names of the sections of an object on which a policy of the kind applies, sorted.
    fn targeted_sections(&self, node: Node) -> Vec<&str> {
        let holds = |section: &Node| !self.attachments.on(self.policy.kind, *section).is_empty();
        let sections = self.topology.sections(node).into_iter().filter(holds);
        let names = sections.filter_map(|section| self.topology.section(section));
        let names: BTreeSet<&str> = names.collect();
        names.into_iter().collect()
    }

    fn listed(&self, scopes: &BTreeSet<Node>) -> Option<String> {
        let mut by_word: BTreeMap<(u8, &str), BTreeSet<String>> = BTreeMap::new();
        for node in scopes {
            let word = match (node, whole(self.topology, *node)) {
                (Node::Listener(..), Node::Gateway(_)) => (0, "gateway listeners"),
                (Node::ListenerSet(_), _) => (1, "listenersets"),
                (Node::Listener(..), _) => (2, "listenerset listeners"),
                _ => (3, "routes"),
            };
            let mut name = key(self.topology, *node);
            if let Some(section) = self.topology.section(*node) {
                name.push('/');
                name.push_str(section);
            }
            by_word.entry(word).or_default().insert(name);
        }
        let parts = by_word.into_iter().map(|((_, word), names)| {
            let names: Vec<String> = names.into_iter().collect();
            format!("these {word}: [{}]", names.join(" "))
        });
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }

    /// Of a route its parents; of a Gateway or ListenerSet itself.
    fn ancestors_of(&self, whole: Node, section: Option<&str>) -> Vec<(GatewayId, AncestorRef)> {
        if let Some(route) = whole.route() {
            let parents = parents_of(self.topology, route).into_iter();
            let ancestors = parents.map(|parent| {
                let ancestor = AncestorRef::new(self.topology, parent.node, parent.section.as_deref());
                (parent.gateway, ancestor)
            });
            return ancestors.collect();
        }
        let gateways = self.topology.gateways_of(whole).into_iter();
        let ancestors = gateways.map(|gateway| (gateway, AncestorRef::new(self.topology, whole, section)));
        ancestors.collect()
    }

    fn entry(&mut self, gateway: GatewayId, ancestor: &AncestorRef) -> &mut AncestorStatus {
        let entry = self.ancestors.entry(ancestor.clone());
        entry.or_insert_with(|| AncestorStatus {
            ancestor_ref: ancestor.clone(),
            controller_name: controller_name(self.attachments, gateway),
            conditions: Vec::new(),
        })
    }

    /// Sets a condition of an ancestor; it replaces one of the same type.
    fn say(&mut self, gateway: GatewayId, ancestor: &AncestorRef, condition: Condition) {
        let conditions = &mut self.entry(gateway, ancestor).conditions;
        match conditions.iter_mut().find(|known| known.kind == condition.kind) {
            Some(known) => *known = condition,
            None => conditions.push(condition),
        }
    }
}

/// Why a policy of a route is refused before it is translated, so that those apply that it would have replaced.
pub(super) fn unfit_for_route(attached: AttachedPolicy<'_, '_>) -> Option<Rejection> {
    let (attachments, id, node) = attached;
    let policy = attachments.policy(id).object;
    let route = attachments.topology.routes.get(node.route()?);
    if let Some(refusal) = has_more(attached) {
        let help =
            "target the routes that accept all of its settings, and write a separate policy for this one";
        return Some(Rejection {
            message: format!("Invalid {} for TCP route: {refusal}.", policy.kind),
            help: help.to_owned(),
            ..Rejection::default()
        });
    }
    unfit(policy, &route.object.kind)
}

/// Why a policy is refused at listeners: those that share their ports with others, or else the first one where a setting
/// is wrong, or else the first one that has no default host.
pub(super) fn at_listeners(
    (attachments, id, node): AttachedPolicy<'_, '_>,
    most: usize,
) -> Option<Rejection> {
    let kind = attachments.policy(id).kind;
    let placed = attachments.placed(kind, node)?;
    placed.accepted.first().filter(|entry| entry.policy == id)?;
    let sharing = placed.refused_at.iter().filter(|(_, there)| there.why.is_none());
    let sharing: Vec<ListenerId> = sharing.map(|(listener, _)| *listener).collect();
    let ports = KindState::of(attachments, kind).shared_ports(attachments);
    let shared = ports.refusal(&attachments.topology, node, (&sharing, most));
    shared.or_else(|| {
        let mut all = placed.refused_at.values().filter_map(|there| there.why.as_ref());
        let wrong_setting = all.clone().find(|why| why.pointer.is_some());
        wrong_setting.or_else(|| all.next()).cloned()
    })
}

/// Why a policy is refused where it merges with another, as what comes of them is no setting of the route, or is of a
/// wrong size.
fn refused_merge((attachments, own, node): AttachedPolicy<'_, '_>, other: PolicyId) -> Option<String> {
    let more = has_more((attachments, other, node)).map(|refusal| sentence(&refusal));
    let kind = &attachments.policy(own).object.kind;
    more.or_else(|| {
        let written = |id| [attachments.entry(id)];
        wrong_setting_merged(kind, &[&written(other), &written(own)])
    })
}

/// Why a policy is refused wherever traffic comes to its route, by what it merges with there; with a Gateway, wherever it
/// comes from that.
pub(super) fn refused_merges(attached: AttachedPolicy<'_, '_>, from: Option<GatewayId>) -> Option<String> {
    let (attachments, id, node) = attached;
    let route = node.route()?;
    let (policy, topology) = (attachments.policy(id), &attachments.topology);
    let is_asked = |parent: &Parent| from.is_none_or(|gateway| parent.gateway == gateway);
    let all = parents_of(topology, route).into_iter().filter(is_asked);
    let ways: usize = all.map(|parent| parent.listeners.len()).sum();
    let nodes = &attachments.kinds.get(policy.kind).nodes;
    let merged = merged_with(topology, nodes, policy, node).into_iter();
    let merged = merged.filter(|(parent, ..)| is_asked(parent));
    let refusals = merged.filter_map(|(.., with)| {
        let other = nodes.get(&with)?.accepted.first()?;
        refused_merge(attached, other.policy)
    });
    let refusals: Vec<String> = refusals.collect();
    let is_everywhere = refusals.len() == ways;
    refusals.into_iter().next().filter(|_| is_everywhere)
}

/// Why a policy that has settings of which the route takes none is refused there.
fn has_more((attachments, id, node): AttachedPolicy<'_, '_>) -> Option<String> {
    let route = node.route()?;
    let kind = &attachments.topology.routes.get(route).object.kind;
    let filled = attachments.profile(id).filled(kind);
    let filled = filled.filter(|filled| filled.only)?;
    let layers = &attachments.policy(id).layers;
    let mut keys = layers.iter().flat_map(|layer| layer.content.keys());
    keys.any(|key| !filled.has(key)).then(|| filled.refusal(kind))
}

/// Why a policy is refused where another one of its kind applies.
pub(super) fn conflicted((attachments, id, node): AttachedPolicy<'_, '_>) -> String {
    let topology = &attachments.topology;
    let kind = &attachments.policy(id).object.kind;
    let identity = topology.identity(node);
    let target = match (node, topology.section(node)) {
        (_, Some(_)) if kind == "ClientTrafficPolicy" => format!("section of {}", identity.name),
        // Of the kinds only this one names the namespace, too, and only of a Gateway.
        (Node::Listener(..), Some(section))
            if kind == "BackendTrafficPolicy" && matches!(whole(topology, node), Node::Gateway(_)) =>
        {
            format!("Listener {}/{section}", key(topology, node))
        }
        (Node::Listener(..), Some(section)) => format!("Listener {}/{section}", identity.name),
        (_, Some(section)) => format!("RouteRule {}/{section}", identity.name),
        (_, None) => format!("{} {}", identity.group_kind.kind, identity.name),
    };
    format!("Unable to target {target}, another {kind} has already attached to it")
}

/// `BackendTrafficPolicy` is `backendTrafficPolicies`.
fn plural(kind: &str) -> String {
    format!("{}ies", lower_first(kind.strip_suffix('y').unwrap_or(kind)))
}

/// Deprecated fields and their replacements, sorted.
const DEPRECATED: [(&str, &str); 6] = [
    ("spec.compression", "spec.compressor"),
    ("spec.enableProxyProtocol", "spec.proxyProtocol"),
    ("spec.extAuth.grpc.backendRef", "spec.extAuth.grpc.backendRefs"),
    ("spec.extAuth.http.backendRef", "spec.extAuth.http.backendRefs"),
    ("spec.headers.preserveXRequestID", "spec.headers.requestID"),
    ("spec.targetRef", "spec.targetRefs"),
];

fn deprecated(policy: &Policy<'_>) -> Option<Condition> {
    let is_used = |field: &str| {
        let pointer = format!("/{}", field.replace('.', "/"));
        let value = policy.object.value.pointer(&pointer);
        value.is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
    };
    let used = DEPRECATED.iter().filter(|(field, _)| is_used(field));
    let used = used.map(|(field, today)| format!("{field} is deprecated, use {today} instead"));
    let used: Vec<String> = used.collect();
    (!used.is_empty()).then(|| Condition::new("Warning", "True", "DeprecatedField", used.join("; ")))
}

/// At most as many as a status may have; those that report an overridden setting come first.
fn truncated(mut ancestors: Vec<AncestorStatus>) -> Vec<AncestorStatus> {
    if ancestors.len() <= MAX_ANCESTORS {
        return ancestors;
    }
    let is = |ancestor: &AncestorStatus, kind: &str, status: bool| {
        let mut conditions = ancestor.conditions.iter();
        conditions.any(|condition| condition.kind == kind && condition.is_true() == status)
    };
    ancestors.sort_by_cached_key(|ancestor| {
        let rank = if is(ancestor, "Accepted", false) {
            0
        } else {
            2_u8.saturating_sub(u8::from(is(ancestor, "Overridden", true)))
        };
        let known = &ancestor.ancestor_ref;
        (rank, known.namespace.clone(), known.name.clone())
    });
    ancestors.truncate(MAX_ANCESTORS);
    if let Some(last) = ancestors.last_mut() {
        let message = format!(
            "Ancestors have been truncated because the number of policy ancestors exceeds {MAX_ANCESTORS}."
        );
        last.conditions
            .push(Condition::new("Aggregated", "True", "Aggregated", message));
    }
    ancestors
}
