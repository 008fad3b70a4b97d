//! Policies and the Gateways of ours: kinds that a class does not sync, policies of synced kinds on Gateways of
//! another class, and policies whose Gateways nobody receives.
//!
//! Owns: these findings, and which kinds each Gateway of ours syncs ([`Synced`]).
//! Flows in: attachments, our classes and Gateways. Flows out: findings, kinds.
//! Must not know: clusters beyond whether a Gateway has any; works.

use std::collections::{BTreeMap, BTreeSet};

use super::routes::{SyncedRoute, SyncedRoutes};
use crate::api::params::Params;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Hub, Ours};
use crate::policy::attachment::{Attachments, Policy};
use crate::policy::node::Node;
use crate::policy::reach::gateways_of;
use crate::policy::targets::{Declared, Target};

/// Which policy kinds go where: for each Gateway of ours its number in the topology, and the positions of the kinds
/// that its class asks for.
#[derive(Debug, Default)]
pub struct Synced {
    /// In the order of [`Ours::gateways`].
    pub gateways: Vec<(u32, BTreeSet<usize>)>,
    ours: BTreeMap<u32, usize>,
}

impl Synced {
    /// Matches our Gateways with the topology.
    #[must_use]
    pub fn new(attachments: &Attachments<'_>, ours: &Ours<'_>) -> Self {
        let mut synced = Self::default();
        let numbers: BTreeMap<String, u32> = (0_u32..)
            .zip(&attachments.topology.gateways)
            .filter(|(_, gateway)| !gateway.local)
            .map(|(number, gateway)| (gateway.object.key(), number))
            .collect();
        for (index, gateway) in ours.gateways.iter().enumerate() {
            let number = numbers
                .get(&gateway.gateway.object.key())
                .copied()
                .unwrap_or(u32::MAX);
            synced.ours.insert(number, index);
            synced
                .gateways
                .push((number, kinds_of(attachments, &gateway.params)));
        }
        synced
    }

    /// The position in [`Ours::gateways`] of the Gateway that a node belongs to; `None` for other nodes and Gateways.
    #[must_use]
    pub fn ours(&self, node: Node) -> Option<usize> {
        match node {
            Node::Gateway(gateway) | Node::Listener(gateway, _) => self.ours.get(&gateway).copied(),
            _ => None,
        }
    }

    /// Whether policies of a kind go with a Gateway (a position in [`Ours::gateways`]).
    #[must_use]
    pub fn syncs(&self, gateway: usize, kind: usize) -> bool {
        self.gateways
            .get(gateway)
            .is_some_and(|(_, kinds)| kinds.contains(&kind))
    }

    fn any(&self, kind: usize) -> bool {
        self.gateways.iter().any(|(_, kinds)| kinds.contains(&kind))
    }
}

/// The kinds that a class asks for.
fn kinds_of(attachments: &Attachments<'_>, params: &Params) -> BTreeSet<usize> {
    attachments
        .kinds
        .iter()
        .enumerate()
        .filter(|(_, kind)| {
            params.policies_to_sync.iter().any(|resource| {
                (&resource.group, &resource.kind) == (&kind.profile.group, &kind.profile.kind)
            })
        })
        .map(|(position, _)| position)
        .collect()
}

/// Reports policies on a Gateway of ours whose class does not sync their kind, and policies of synced kinds on a
/// Gateway of another class.
pub fn report_unsynced(
    attachments: &Attachments<'_>,
    synced: &Synced,
    routes: &SyncedRoutes<'_>,
    hub: &Hub,
    ours: &Ours<'_>,
    findings: &mut Findings,
) {
    for policy in &attachments.policies {
        for declared in &policy.targets {
            let Target::Attached(node) = declared.target else {
                continue;
            };
            let (Node::Gateway(number) | Node::Listener(number, _)) = node else {
                findings.extend(match of_route(node).and_then(|route| routes.get(route)) {
                    Some(route) => on_synced_route(policy, declared, route, synced, (hub, ours)),
                    None => target_stays(attachments, policy, declared, node, synced),
                });
                continue;
            };
            match synced.ours(node) {
                Some(gateway) if !synced.syncs(gateway, policy.kind) => {
                    findings.extend(not_synced(policy, declared, gateway, hub, ours));
                }
                Some(_) => {}
                None if synced.any(policy.kind) => {
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
    synced: &Synced,
) -> Option<Finding> {
    let gateways = gateways_of(&attachments.topology, node);
    let behind_ours = gateways
        .into_iter()
        .filter_map(|gateway| synced.ours(Node::Gateway(gateway)))
        .any(|gateway| synced.syncs(gateway, policy.kind));
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
const fn of_route(node: Node) -> Option<u32> {
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
    synced: &Synced,
    (hub, ours): (&Hub, &Ours<'_>),
) -> Option<Finding> {
    let gateways = route.gateways();
    let is_synced = gateways.iter().any(|gateway| synced.syncs(*gateway, policy.kind));
    let first = gateways.first().copied()?;
    if is_synced || policy.local {
        return None;
    }
    not_synced(policy, declared, first, hub, ours)
}

fn not_synced(
    policy: &Policy<'_>,
    declared: &Declared,
    gateway: usize,
    hub: &Hub,
    ours: &Ours<'_>,
) -> Option<Finding> {
    let gateway = &ours.gateways.get(gateway)?.gateway;
    let object = policy.object;
    let version = &object.api_version;
    let plural = hub.kinds.kind(&version.group, &object.kind)?.plural.to_string();
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
        "add {{\"group\": \"{}\", \"version\": \"{}\", \"resource\": \"{plural}\"}} to `policiesToSync` of `{class}`",
        version.group, version.version
    )))
}

fn other_class(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    gateway: u32,
    ours: &Ours<'_>,
) -> Option<Finding> {
    let gateway = attachments.topology.gateway(gateway)?.object;
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

/// Reports policies of synced kinds that reach Gateways of ours, none of which any cluster receives. `placed` says which
/// Gateways of [`Ours::gateways`] go anywhere.
pub fn report_unused(
    attachments: &Attachments<'_>,
    synced: &Synced,
    placed: &[bool],
    findings: &mut Findings,
) {
    for policy in &attachments.policies {
        let reached: BTreeSet<usize> = policy
            .nodes()
            .into_iter()
            .flat_map(|node| gateways_of(&attachments.topology, node))
            .filter_map(|gateway| synced.ours(Node::Gateway(gateway)))
            .filter(|gateway| synced.syncs(*gateway, policy.kind))
            .collect();
        let goes_anywhere = |gateway: &usize| placed.get(*gateway).copied().unwrap_or(false);
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
