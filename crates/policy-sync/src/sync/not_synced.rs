//! Policies that are not synced: of kinds that a class does not sync, of synced kinds on Gateways of another class, on
//! targets that stay on the hub or are unknown, on no path, and on Gateways that no cluster receives.
//!
//! Owns: these findings. Flows in: attachments, synced kinds and routes, our classes and Gateways. Flows out: findings.
//! Must not know: clusters beyond whether a Gateway has any; works.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::listener_sets::set_of;
use super::per_reason::PerReason;
use super::routes::{SyncedRoute, SyncedRoutes};
use super::synced_kinds::SyncedKinds;
use crate::diagnostic::{Code, Finding, Findings, with_article};
use crate::hub::{Hub, Objects, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::object::well_known::{PLACEMENT_LABEL, PLACEMENT_LABEL_POINTER};
use crate::policy::{Attachments, Declared, Policy, Target, no_path};
use crate::topology::{GatewayId, Node, RouteId};
use apimachinery::ApiVersion;

/// Reports policies on a Gateway of ours whose class does not sync their kind; and of every kind that some class syncs,
/// each target with which it is not shipped, unless that was reported where the target was looked for.
pub fn report_not_synced(
    attachments: &Attachments<'_>,
    kinds: &SyncedKinds,
    routes: &SyncedRoutes<'_>,
    hub: &Hub,
    ours: &Ours<'_>,
    findings: &mut Findings,
) {
    let targets = Targets {
        attachments,
        kinds,
        routes,
        hub,
        ours,
    };
    for policy in attachments.policies.rows().iter().filter(|policy| !policy.local) {
        if kinds.any(policy.kind) && policy.object.label(PLACEMENT_LABEL).is_some() {
            findings.push(placed_by_label(policy.object));
        }
        let mut said = PerReason::new();
        for declared in &policy.targets {
            let finding = match declared.target {
                Target::Attached(node) => targets.attached(policy, declared, node),
                Target::Virtual => kinds.any(policy.kind).then(|| of_unknown_kind(policy, declared)),
                Target::Unresolved | Target::NotFound | Target::NotPermitted | Target::NotAllowed(_) => None,
            };
            if let Some(finding) = finding {
                let reason = (finding.help.clone(), finding.causes.clone());
                said.push(reason, finding);
            }
        }
        findings.extend(said.into_findings());
    }
}

/// A policy goes where its targets go, whatever its label says.
fn placed_by_label(policy: &Object) -> Finding {
    Finding::new(
        Code::POLICY_IGNORED_FIELD,
        policy.place(PLACEMENT_LABEL_POINTER),
        format!(
            "the placement label of {} is ignored: a policy goes to the clusters of its targets",
            policy.identity()
        ),
    )
    .label("only Gateways are placed by this label")
    .help("remove the label; for other clusters, target a Gateway that is placed there")
}

struct Targets<'t, 'a> {
    attachments: &'t Attachments<'a>,
    kinds: &'t SyncedKinds,
    routes: &'t SyncedRoutes<'a>,
    hub: &'t Hub,
    ours: &'t Ours<'a>,
}

impl Targets<'_, '_> {
    /// Why a policy is not shipped with this target; `None` where it is, or if no class syncs its kind.
    fn attached(&self, policy: &Policy<'_>, declared: &Declared, node: Node) -> Option<Finding> {
        if let Some(gateway) = self.own_gateway(node) {
            let is_synced = self.kinds.syncs(gateway, policy.kind);
            return (!is_synced)
                .then(|| not_synced(policy, declared, gateway, self.hub, self.ours))
                .flatten();
        }
        if let Some(route) = of_route(node).and_then(|route| self.routes.get(route)) {
            return on_synced_route(policy, declared, route, self.kinds, (self.hub, self.ours));
        }
        if !self.kinds.any(policy.kind) {
            return None;
        }
        let gateways = self.attachments.topology.gateways_of(node);
        let is_ours = |gateway: &GatewayId| self.kinds.gateway(Node::Gateway(*gateway)).is_some();
        match gateways.first() {
            // Nobody ships what only a mesh leads to.
            None if !self.attachments.topology.services_of(node).is_empty() => {
                Some(target_stays(policy, declared, node))
            }
            None => Some(no_path(self.attachments, policy, declared, node)),
            Some(_) if gateways.iter().any(is_ours) => Some(target_stays(policy, declared, node)),
            Some(first) => other_class(self.attachments, policy, declared, (node, *first), self.ours),
        }
    }

    /// The Gateway of ours that a node is, or is a listener of, or whose ListenerSet it is; but for sets that stay on
    /// the hub.
    fn own_gateway(&self, node: Node) -> Option<OurGatewayId> {
        let topology = &self.attachments.topology;
        if set_of(topology, node).is_some() {
            return self.routes.sets().of_node(topology, node).map(|set| set.gateway);
        }
        self.kinds.gateway(node)
    }
}

/// A policy on something of a Gateway of ours that stays on the hub, and so does it.
fn target_stays(policy: &Policy<'_>, declared: &Declared, node: Node) -> Finding {
    let object = policy.object;
    Finding::new(
        Code::POLICY_NOT_SYNCED,
        object.place(&declared.pointer),
        format!(
            "{} is not shipped: its target is not synced to the spokes",
            object.identity()
        ),
    )
    .label(with_article(&declared.kind))
    .help(match of_route(node) {
        Some(_) => "list the kind of the route in `resourcesToSync`, target the Gateway or one of its listeners, or keep the policy on the spokes, where the route is",
        None if matches!(node, Node::ListenerSet(_) | Node::Listener(..)) => "list the kind of the ListenerSet in `resourcesToSync`, target the Gateway or one of its listeners, or keep the policy on the spokes, where its target is",
        None => "target the Gateway or one of its listeners, or keep the policy on the spokes, where its target is",
    })
}

/// A policy on what exists for its controller only (docs/systems/gep-713.md#virtual-kinds): no Gateway leads there.
fn of_unknown_kind(policy: &Policy<'_>, declared: &Declared) -> Finding {
    let object = policy.object;
    let namespace = declared
        .namespace
        .as_deref()
        .unwrap_or(object.namespace_or_empty());
    Finding::new(
        Code::POLICY_NOT_SYNCED,
        object.place(&declared.pointer),
        format!(
            "{} is not shipped with its target {}: the input does not show which clusters have it",
            object.identity(),
            declared.described_with_group(namespace)
        ),
    )
    .label("neither in the input nor named by a route")
    .help("target a Gateway, a listener, or a route that is synced, or keep the policy on the spokes, where its target is")
}

/// The route that a node is, or is a rule of.
const fn of_route(node: Node) -> Option<RouteId> {
    match node {
        Node::Route(route) | Node::Rule(route, _) => Some(route),
        _ => None,
    }
}

/// A policy on a route that goes to the spokes, while no class of its Gateways syncs the policy's kind.
fn on_synced_route(
    policy: &Policy<'_>,
    declared: &Declared,
    route: &SyncedRoute<'_>,
    kinds: &SyncedKinds,
    (hub, ours): (&Hub, &Ours<'_>),
) -> Option<Finding> {
    let gateways = route.gateways();
    let is_synced = gateways.iter().any(|gateway| kinds.syncs(*gateway, policy.kind));
    let first = gateways.first().copied()?;
    if is_synced {
        return None;
    }
    not_synced(policy, declared, first, hub, ours)
}

fn not_synced(
    policy: &Policy<'_>,
    declared: &Declared,
    gateway: OurGatewayId,
    hub: &Hub,
    ours: &Ours<'_>,
) -> Option<Finding> {
    let gateway = &ours.gateways.get(gateway).gateway;
    let object = policy.object;
    let ApiVersion { group, version } = &object.api_version;
    let kind = hub.kinds.kind(group, &object.kind)?;
    // A version that is not served would be refused in the parameters.
    let version = kind
        .versions
        .iter()
        .find(|served| *served == version)
        .or(kind.versions.first())?;
    let plural = &kind.plural;
    let class = gateway.class_name;
    let finding = Finding::new(
        Code::POLICY_NOT_SYNCED,
        object.place(&declared.pointer),
        format!(
            "{} is not synced: its kind is not in the parameters of its class",
            object.identity()
        ),
    )
    .label(format!("{} has the class `{class}`", gateway.object.identity()));
    let finding = match ours.classes.get(class) {
        Some(known) => finding.follows_from(known.class.object.place("")),
        None => finding,
    };
    Some(finding.help(format!(
        "add {{\"group\": \"{group}\", \"version\": \"{version}\", \"resource\": \"{plural}\"}} to `policiesToSync` of `{class}`"
    )))
}

/// A policy of a synced kind on a Gateway of another class, or on what only such Gateways lead to.
fn other_class(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    (node, gateway): (Node, GatewayId),
    ours: &Ours<'_>,
) -> Option<Finding> {
    let topology = &attachments.topology;
    let gateway = topology.gateways.get(gateway).object;
    let class = gateway.root().get("spec").get("gatewayClassName");
    let name = class.str().unwrap_or_default();
    // A broken Gateway, or one whose class has unusable parameters, is a finding of its own.
    if name.is_empty() || ours.classes.contains_key(name) {
        return None;
    }
    let is_gateway = matches!(node, Node::Gateway(_) | Node::Listener(..));
    let target = if is_gateway {
        format!("{}, which is not rendered", gateway.identity())
    } else {
        format!("{}, to which no Gateway of ours leads", topology.described(node))
    };
    Some(
        Finding::new(
            Code::POLICY_OTHER_CLASS,
            policy.object.place(&format!("{}/name", declared.pointer)),
            format!(
                "{} targets {target}, so it is not shipped",
                policy.object.identity()
            ),
        )
        .label(if is_gateway {
            "a Gateway of another class"
        } else {
            "behind a Gateway of another class"
        })
        .related(gateway.place(&class.pointer()), format!("its class is `{name}`"))
        .follows_from(gateway.place(&class.pointer()))
        .help("ignore this if the policy is for the hub; otherwise target a Gateway of our class"),
    )
}

/// Reports policies of synced kinds that reach Gateways of ours, none of which any cluster receives; `clusters` are
/// those of each.
pub fn report_unused(
    attachments: &Attachments<'_>,
    kinds: &SyncedKinds,
    ours: &Ours<'_>,
    clusters: &Table<OurGatewayId, Arc<[String]>>,
    objects: &Objects,
    findings: &mut Findings,
) {
    for policy in attachments.policies.rows() {
        let reached: BTreeSet<OurGatewayId> = policy
            .nodes()
            .into_iter()
            .flat_map(|node| attachments.topology.gateways_of(node))
            .filter_map(|gateway| kinds.gateway(Node::Gateway(gateway)))
            .filter(|gateway| kinds.syncs(*gateway, policy.kind))
            .collect();
        let goes_anywhere = |gateway: &OurGatewayId| !clusters.get(*gateway).is_empty();
        if reached.is_empty() || reached.iter().any(goes_anywhere) {
            continue;
        }
        let pointer = policy
            .targets
            .first()
            .map_or("/spec", |declared| &declared.pointer);
        let finding = Finding::new(
            Code::POLICY_UNUSED,
            policy.object.place(pointer),
            format!(
                "{} affects no cluster: its targets are not placed",
                policy.object.identity()
            ),
        )
        .label("placed nowhere")
        .help("place the Gateway, or remove the policy");
        let gateways = reached
            .iter()
            .map(|gateway| ours.gateways.get(*gateway).gateway.object);
        findings.push(gateways.fold(finding, |finding, gateway| {
            let named = gateway.label(PLACEMENT_LABEL);
            let placement = named.and_then(|name| {
                objects.find(
                    ocm_placement::GROUP,
                    "Placement",
                    gateway.namespace.as_deref(),
                    name,
                )
            });
            let causes = std::iter::once(gateway).chain(placement);
            causes.fold(finding, |finding, cause| finding.follows_from(cause.place("")))
        }));
    }
}
