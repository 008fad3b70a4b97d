//! Policies that are not synced: of kinds that a class does not sync, of synced kinds on Gateways of another class, on
//! what stays on the hub, and on Gateways that nobody receives.
//!
//! Owns: these findings. Flows in: attachments, synced kinds and routes, our classes and Gateways. Flows out: findings.
//! Must not know: clusters beyond whether a Gateway has any; works.

use std::collections::BTreeSet;

use super::routes::{SyncedRoute, SyncedRoutes};
use super::synced_kinds::SyncedKinds;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Hub, OurGatewayId, Ours, Table};
use crate::policy::{Attachments, Declared, Policy, Target};
use crate::topology::{GatewayId, Node, RouteId};
use apimachinery::ApiVersion;

/// Reports policies on a Gateway of ours whose class does not sync their kind, and policies of synced kinds on a
/// Gateway of another class.
pub(crate) fn report_not_synced(
    attachments: &Attachments<'_>,
    kinds: &SyncedKinds,
    routes: &SyncedRoutes<'_>,
    hub: &Hub,
    ours: &Ours<'_>,
    findings: &mut Findings,
) {
    for policy in attachments.policies.rows() {
        for declared in &policy.targets {
            let Target::Attached(node) = declared.target else {
                continue;
            };
            let (Node::Gateway(number) | Node::Listener(number, _)) = node else {
                findings.extend(match of_route(node).and_then(|route| routes.get(route)) {
                    Some(route) => on_synced_route(policy, declared, route, kinds, (hub, ours)),
                    None => target_stays(attachments, policy, declared, node, kinds),
                });
                continue;
            };
            match kinds.gateway(node) {
                Some(gateway) if !kinds.syncs(gateway, policy.kind) => {
                    findings.extend(not_synced(policy, declared, gateway, hub, ours));
                }
                Some(_) => {}
                None if kinds.any(policy.kind) => {
                    findings.extend(other_class(attachments, policy, declared, number, ours));
                }
                None => {}
            }
        }
    }
}

/// A policy of a synced kind on a route, or on something behind one: routes stay on the hub, and so does it.
fn target_stays(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    node: Node,
    kinds: &SyncedKinds,
) -> Option<Finding> {
    let gateways = attachments.topology.gateways_of(node);
    let behind_ours = gateways
        .into_iter()
        .filter_map(|gateway| kinds.gateway(Node::Gateway(gateway)))
        .any(|gateway| kinds.syncs(gateway, policy.kind));
    let object = policy.object;
    (behind_ours && !policy.local).then(|| {
        Finding::new(
            Code::POLICY_NOT_SYNCED,
            object.place(&declared.pointer),
            format!(
                "{} is not shipped: what it targets is not synced to the spokes",
                object.identity()
            ),
        )
        .label(format!("a {}", declared.kind))
        .help(match of_route(node) {
            Some(_) => "list the route's kind in `resourcesToSync`, target the Gateway or a listener of it, or keep the policy where the route is: on the spokes",
            None => "target the Gateway or a listener of it, or keep the policy where the route is: on the spokes",
        })
    })
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
    if is_synced || policy.local {
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
    Some(finding.help(format!(
        "add {{\"group\": \"{group}\", \"version\": \"{version}\", \"resource\": \"{plural}\"}} to `policiesToSync` of `{class}`"
    )))
}

fn other_class(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    gateway: GatewayId,
    ours: &Ours<'_>,
) -> Option<Finding> {
    let gateway = attachments.topology.gateways.get(gateway).object;
    let class = gateway.root().get("spec").get("gatewayClassName");
    let name = class.str().unwrap_or_default();
    // A broken Gateway, or one whose class has unusable parameters, is a finding of its own.
    if name.is_empty() || ours.classes.contains_key(name) {
        return None;
    }
    Some(
        Finding::new(
            Code::POLICY_OTHER_CLASS,
            policy.object.place(&format!("{}/name", declared.pointer)),
            format!(
                "{} targets {}, which is not rendered",
                policy.object.identity(),
                gateway.identity()
            ),
        )
        .label("a Gateway of another class")
        .related(gateway.place(class.pointer()), format!("its class is `{name}`"))
        .help("target a Gateway of our class, or take the policy out of the input"),
    )
}

/// Reports policies of synced kinds that reach Gateways of ours, none of which any cluster receives; `clusters` are
/// those of each.
pub(crate) fn report_unused(
    attachments: &Attachments<'_>,
    kinds: &SyncedKinds,
    clusters: &Table<OurGatewayId, Vec<String>>,
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
        findings.push(
            Finding::new(
                Code::POLICY_UNUSED,
                policy.object.place(pointer),
                format!(
                    "{} reaches no cluster: nothing that it targets is placed",
                    policy.object.identity()
                ),
            )
            .label("placed nowhere")
            .help("place the Gateway, or remove the policy"),
        );
    }
}
