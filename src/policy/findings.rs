//! What there is to say about policies as a whole: targets on no path, settings that nowhere hold.
//!
//! Owns: the findings that need more than one policy. Those about a single field stand where it is read (`settings`,
//! `targets`, `topology`).
//! Flows in: attachments, effective policies, statuses. Flows out: findings.
//! Must not know: clusters, works.

use std::collections::BTreeSet;

use super::attachment::Attachments;
use super::condition::Outcome;
use super::declared_target::{Declared, Target};
use super::effective_policies::EffectivePolicies;
use super::ids::PolicyId;
use super::one_policy::Policy;
use super::precedence::Rule;
use super::status::{MAX_ANCESTORS, Statuses};
use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::topology::{GatewayId, Node};

/// What the outcome of all policies together shows: unreachable and wholly overridden policies, and those with more
/// ancestors than a status can list.
pub(crate) fn outcomes(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    statuses: &Statuses,
    findings: &mut Findings,
) {
    for (id, status) in statuses.iter() {
        let policy = attachments.policy(id);
        let object = policy.object;
        let place = policy.targets.first().map_or_else(
            || object.place("/spec"),
            |declared| object.place(&declared.pointer),
        );
        if status.ancestor_count > MAX_ANCESTORS {
            findings.push(
                Finding::new(
                    Code::POLICY_TOO_MANY_ANCESTORS,
                    place.clone(),
                    format!(
                        "{} has {} ancestors; a status lists {MAX_ANCESTORS}",
                        object.identity(),
                        status.ancestor_count
                    ),
                )
                .help("split the policy, or target fewer Gateways"),
            );
        }
        if !status.accepted.is_true() {
            continue;
        }
        match status.tally.outcome() {
            Outcome::Overridden => wholly_overridden(attachments, effective, id, place, findings),
            Outcome::NoPath => unreachable(attachments, id, findings),
            Outcome::Whole | Outcome::Partial => {}
        }
    }
}

/// A target that no Gateway leads to. A Gateway without routes is no such thing: its routes may live on spokes.
fn unreachable(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let policy = attachments.policy(id);
    for declared in &policy.targets {
        let Target::Attached(node) = declared.target else {
            continue;
        };
        if !attachments.topology.gateways_of(node).is_empty() {
            continue;
        }
        findings.push(no_path(attachments, policy, declared, node));
    }
}

/// A target that no Gateway leads to.
#[must_use]
pub(crate) fn no_path(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    node: Node,
) -> Finding {
    Finding::new(
        Code::POLICY_UNREACHABLE,
        policy.object.place(&declared.pointer),
        format!(
            "{} targets {}, which no Gateway of the input leads to",
            policy.object.identity(),
            attachments.topology.described(node)
        ),
    )
    .label("on no path from a Gateway")
    .help(match node {
        Node::Class(_) | Node::Namespace(_) => "target a class or a namespace that has Gateways or routes",
        Node::Backend(_) | Node::Port(..) => {
            "if a route leads there, check its backendRefs; else keep the policy where its target is: on the spokes"
        }
        _ => "check the parentRefs of the route, and the listeners' hostnames and allowedRoutes",
    })
}

fn wholly_overridden(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    id: PolicyId,
    place: Place,
    findings: &mut Findings,
) {
    let policy = attachments.policy(id);
    let winners = displacing(attachments, effective, id);
    let own: BTreeSet<Node> = policy.nodes().into_iter().collect();
    let elsewhere = winners.iter().any(|(winner, _)| {
        let nodes = attachments.policy(*winner).nodes();
        !nodes.iter().any(|node| own.contains(node))
    });
    // Policies with one target are already reported as such.
    if !elsewhere {
        return;
    }
    // What one cluster shows is no reason to remove what may hold on another.
    let (where_, help) = match attachments.cluster {
        Some(cluster) => (
            format!("on {cluster}"),
            "nothing to do if it is meant for other clusters; else ask the owner of the other one",
        ),
        None => (
            "anywhere".to_owned(),
            "remove the policy, or ask the owner of the other one",
        ),
    };
    let mut finding = Finding::new(
        Code::POLICY_OVERRIDDEN,
        place,
        format!("nothing that {} says holds {where_}", policy.object.identity()),
    )
    .label("wholly overridden")
    .help(help);
    for (winner, rule) in winners {
        let winner = attachments.policy(winner);
        finding = finding
            .related(winner.object.place("/spec"), "holds instead")
            .note(format!(
                "{} wins because {} ({})",
                winner.object.identity(),
                rule.because(),
                rule.name()
            ));
    }
    findings.push(finding);
}

/// Who displaced a policy on any path, with the rule, sorted by policy.
#[must_use]
pub(crate) fn displacing(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    id: PolicyId,
) -> BTreeSet<(PolicyId, Rule)> {
    let policy = attachments.policy(id);
    let gateways: BTreeSet<GatewayId> = policy
        .nodes()
        .into_iter()
        .flat_map(|node| attachments.topology.gateways_of(node))
        .collect();
    let mut found = BTreeSet::new();
    for gateway in gateways {
        for path in effective.on(policy.kind, gateway) {
            let losses = path.effective.losses.iter().filter(|loss| loss.policy == id);
            for winner in losses.flat_map(|loss| &loss.by) {
                let rule = path.effective.rule(attachments, *winner, id);
                found.extend(rule.map(|rule| (*winner, rule)));
            }
        }
    }
    found
}
