//! Predicted conditions of routes: Accepted and ResolvedRefs, with Gateway API's reasons, as the controllers on the
//! clusters will report them (docs/systems/gateway-api.md#attachment).
//!
//! A controller reports them for each parent. Here a route has one of each, which is False if it is for any parent on any
//! cluster, because then some of its traffic fails.

use std::collections::{BTreeMap, BTreeSet};

use super::policy_view::PolicyView;
use crate::api::route::{Route, stands_for_routes};
use crate::diagnostic::{Findings, first_names};
use crate::policy::Condition;
use crate::topology::{GatewayId, Node, Refusal, RouteId, Topology};
use apimachinery::Identity;

/// So many clusters are named in a message.
const MOST_CLUSTERS: usize = 5;

/// What is wrong, by reason and message, with the clusters; none of them: wherever the route goes.
type Problems<'v> = BTreeMap<(&'static str, String), BTreeSet<&'v str>>;

/// The conditions of a route of the hub; none if nothing is known of it on any cluster, and its parents accept it.
/// `is_ours` tells which Gateways would bring it there.
pub(super) fn route_conditions(
    view: &PolicyView<'_>,
    route: RouteId,
    is_ours: impl Fn(GatewayId) -> bool,
) -> Vec<Condition> {
    let hub = &view.hub.topology;
    let identity = hub.identity(Node::Route(route));
    let (mut refused, mut unresolved) = (Problems::new(), Problems::new());
    let mut on = BTreeSet::new();
    for spoke in &view.spokes {
        let topology = &spoke.attachments.topology;
        for node in topology.find(&identity) {
            let Node::Route(copy) = node else { continue };
            let clusters = || spoke.clusters.iter().map(String::as_str);
            on.extend(clusters());
            for (_, why) in refusals(topology, copy) {
                refused.entry(why).or_default().extend(clusters());
            }
            for problem in unresolved_backends(topology, copy) {
                unresolved.entry(problem).or_default().extend(clusters());
            }
        }
    }
    // A parent that accepts the route nowhere is not shipped, and the namespace that a listener sees is that of the copy.
    for ((gateway, why), problem) in refusals(hub, route) {
        if is_ours(gateway) && (on.is_empty() || why != Refusal::Namespace) {
            refused.entry(problem).or_default();
        }
    }
    if on.is_empty() && refused.is_empty() {
        return Vec::new();
    }
    let accepted = condition(("Accepted", "its parents accept the route"), refused, &on);
    // Only a controller on a cluster resolves references.
    let resolved =
        (!on.is_empty()).then(|| condition(("ResolvedRefs", "its backends are there"), unresolved, &on));
    std::iter::once(accepted).chain(resolved).collect()
}

/// A Gateway that refuses a route, and the reason and the message.
type Refused = ((GatewayId, Refusal), (&'static str, String));

/// The Gateways that refuse a route.
fn refusals(topology: &Topology<'_>, route: RouteId) -> Vec<Refused> {
    let node = topology.routes.get(route);
    let own = node.object.namespace_or_empty();
    let parents = topology.parents_of(&node.route);
    let refused = parents.iter().filter_map(|parent| {
        let (gateway, _) = topology.parent(own, parent).ok()?;
        let why = topology.listeners_for(&node.route, parent, node.assumed).err()?;
        let message = format!(
            "{} {}",
            topology.gateways.get(gateway).known_as().identity(),
            why.said()
        );
        Some(((gateway, why), (why.reason(), message)))
    });
    refused.collect()
}

/// The backends of a route that its controller cannot use.
fn unresolved_backends(topology: &Topology<'_>, route: RouteId) -> BTreeSet<(&'static str, String)> {
    let node = topology.routes.get(route);
    let own = node.object.namespace_or_empty();
    let Some((_, rules)) = Route::read(node.object, &mut Findings::new()) else {
        return BTreeSet::new();
    };
    let permitted = node
        .rules
        .iter()
        .flat_map(|rule| topology.rules.get(*rule).backends.iter());
    let permitted: BTreeMap<Identity, bool> = permitted
        .map(|backend| {
            let is_there = topology.backends.get(*backend).object.is_some();
            (topology.identity(Node::Backend(*backend)), is_there)
        })
        .collect();
    let backends = rules.iter().flat_map(|rule| &rule.backends);
    let backends = backends.filter(|backend| !stands_for_routes(backend.group, backend.kind));
    let unresolved = backends.filter_map(|backend| {
        let namespace = backend.namespace.unwrap_or(own);
        let named = Identity::new(backend.group, backend.kind, Some(namespace), backend.name);
        if !may_be_backend(backend.group, backend.kind) {
            return Some(("InvalidKind", format!("{named} cannot be a backend")));
        }
        match permitted.get(&named) {
            None => Some(("RefNotPermitted", format!("no ReferenceGrant permits {named}"))),
            Some(false) => Some((
                "BackendNotFound",
                format!("{named} is neither shipped nor known to live there"),
            )),
            Some(true) => None,
        }
    });
    unresolved.collect()
}

/// Whether some controller may forward to objects of a kind: of Kubernetes' own kinds to Services alone.
fn may_be_backend(group: &str, kind: &str) -> bool {
    if group.is_empty() {
        kind == "Service"
    } else {
        group.contains('.')
    }
}

/// A condition, whose reason has its name if there are no problems.
fn condition((kind, otherwise): (&str, &str), problems: Problems<'_>, on: &BTreeSet<&str>) -> Condition {
    let first = problems.first_key_value().map(|((reason, _), _)| *reason);
    let sentences = problems.into_iter().map(|((_, message), clusters)| {
        if clusters.is_empty() || clusters == *on {
            message
        } else {
            format!("{message} (on {})", first_names(clusters, MOST_CLUSTERS))
        }
    });
    let sentences = sentences.collect::<Vec<_>>().join("; ");
    Condition {
        kind: kind.to_owned(),
        status: if first.is_some() { "False" } else { "True" },
        reason: first.unwrap_or(kind).to_owned(),
        message: first.map_or_else(|| otherwise.to_owned(), |_| sentences).into(),
    }
}
