//! What there is to say about policies as a whole: same targets, targets on no path, settings that nowhere hold.
//!
//! Owns: the findings that need more than one policy. Those about a single field stand where it is read (`settings`,
//! `targets`, `topology`).
//! Flows in: attachments, effective policies, statuses. Flows out: findings.
//! Must not know: clusters, works.

use std::collections::BTreeSet;

use super::attachment::{Attachments, PolicyId};
use super::effective::EffectivePolicies;
use super::local::Locals;
use super::node::Node;
use super::precedence::Rule;
use super::profile::{SameTarget, Strategy};
use super::reach::gateways_of;
use super::shipping::{Decision, Displacer, decide};
use super::status::{MAX_ANCESTORS, Outcome, Statuses};
use super::targets::Target;
use crate::diagnostic::{Code, Finding, Findings, Place};

/// Two policies of one kind on one target: each that is not the first choice, with the winner and the rule. Needs no
/// effective policies.
pub fn same_target(attachments: &Attachments<'_>, findings: &mut Findings) {
    for (kind, known) in attachments.kinds.iter().enumerate() {
        if known.profile.same_target == SameTarget::AddUp {
            continue;
        }
        let mut nodes: Vec<Node> = known
            .nodes
            .iter()
            .filter(|(_, placed)| placed.accepted.len().saturating_add(placed.rejected.len()) > 1)
            .map(|(node, _)| *node)
            .collect();
        nodes.sort_unstable();
        for node in nodes {
            if let Some(decision) = decide(attachments, kind, node) {
                one_target(attachments, node, &decision, findings);
            }
        }
    }
}

fn one_target(attachments: &Attachments<'_>, node: Node, decision: &Decision, findings: &mut Findings) {
    let Some(shipped) = decision.shipped.first() else {
        return;
    };
    let winner = shipped.policy;
    let target = described(attachments, node);
    let place = |id: PolicyId| reference_place(attachments, id, node);
    let name = |id: PolicyId| {
        attachments
            .policy(id)
            .map(|policy| policy.object.identity().to_string())
    };
    let (Some(winner_name), Some(winner_place)) = (name(winner), place(winner)) else {
        return;
    };
    for withheld in &decision.withheld {
        let by = match &withheld.by {
            Displacer::Hub(by) => *by,
            Displacer::Local { .. } => winner,
        };
        let (Some(loser_name), Some(loser_place)) = (name(withheld.policy), place(withheld.policy)) else {
            continue;
        };
        let by_name = name(by).unwrap_or_else(|| winner_name.clone());
        findings.push(
            Finding::new(
                Code::POLICY_SAME_TARGET,
                loser_place,
                format!("{loser_name} and {by_name} both target {target}"),
            )
            .label("this one gives way")
            .related(place(by).unwrap_or_else(|| winner_place.clone()), "this one wins")
            .note(format!(
                "{by_name} wins because {} ({})",
                withheld.rule.because(),
                withheld.rule.name()
            ))
            .help("remove one of the two, merge them, or target another section"),
        );
    }
    if let super::shipping::ShippedSpec::Rewritten { sources, .. } = &shipped.content {
        for source in sources.iter().filter(|source| **source != winner) {
            let (Some(other_name), Some(other_place)) = (name(*source), place(*source)) else {
                continue;
            };
            let rule = established_rule(attachments, winner, *source);
            findings.push(
                Finding::new(
                    Code::POLICY_SAME_TARGET,
                    other_place,
                    format!("{other_name} and {winner_name} both target {target}"),
                )
                .label("merged into the other one")
                .related(winner_place.clone(), "this one is established")
                .note(format!(
                    "{winner_name} is established because {} ({}); its strategy merges, so one policy with its name is shipped",
                    rule.because(),
                    rule.name()
                ))
                .help("write one policy, or target another section"),
            );
        }
    }
}

/// Why one policy is established against another on the same target.
fn established_rule(attachments: &Attachments<'_>, established: PolicyId, other: PolicyId) -> Rule {
    let age = |id| attachments.policy(id).and_then(|policy| policy.rank.age);
    match (age(established), age(other)) {
        (Some(a), Some(b)) if a == b => Rule::FirstByName,
        (None, None) => Rule::FirstByName,
        _ => Rule::Older,
    }
}

/// What the outcome of all policies together shows: unreachable and wholly overridden policies, and those with more
/// ancestors than a status can list.
pub fn outcomes(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    statuses: &Statuses,
    findings: &mut Findings,
) {
    for (id, status) in statuses.iter() {
        let Some(policy) = attachments.policy(id) else {
            continue;
        };
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
    let Some(policy) = attachments.policy(id) else {
        return;
    };
    for declared in &policy.targets {
        let Target::Attached(node) = declared.target else {
            continue;
        };
        if !gateways_of(&attachments.topology, node).is_empty() {
            continue;
        }
        findings.push(
            Finding::new(
                Code::POLICY_UNREACHABLE,
                policy.object.place(&declared.pointer),
                format!(
                    "{} targets {}, which no Gateway of the input leads to",
                    policy.object.identity(),
                    described(attachments, node)
                ),
            )
            .label("on no path from a Gateway")
            .help("check the parentRefs of the route, and the listeners' hostnames and allowedRoutes"),
        );
    }
}

fn wholly_overridden(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    id: PolicyId,
    place: Place,
    findings: &mut Findings,
) {
    let Some(policy) = attachments.policy(id) else {
        return;
    };
    let winners = displacing(attachments, effective, id);
    let own: BTreeSet<Node> = policy.nodes().into_iter().collect();
    let elsewhere = winners.iter().any(|(winner, _)| {
        attachments
            .policy(*winner)
            .is_some_and(|winner| !winner.nodes().iter().any(|node| own.contains(node)))
    });
    // Policies with one target are already reported as such.
    if !elsewhere {
        return;
    }
    let mut finding = Finding::new(
        Code::POLICY_OVERRIDDEN,
        place,
        format!("nothing that {} says holds anywhere", policy.object.identity()),
    )
    .label("wholly overridden")
    .help("remove the policy, or ask the owner of the other one");
    for (winner, rule) in winners {
        let Some(winner) = attachments.policy(winner) else {
            continue;
        };
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
pub fn displacing(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    id: PolicyId,
) -> BTreeSet<(PolicyId, Rule)> {
    let Some(policy) = attachments.policy(id) else {
        return BTreeSet::new();
    };
    let gateways: BTreeSet<u32> = policy
        .nodes()
        .into_iter()
        .flat_map(|node| gateways_of(&attachments.topology, node))
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

/// On a cluster, a merging synced policy and a local one whose own strategy is atomic share a target: which of them a
/// controller takes for the established one depends on when the synced copy is created.
pub fn local_conflicts(attachments: &Attachments<'_>, locals: &Locals<'_>, findings: &mut Findings) {
    for (kind, known) in attachments.kinds.iter().enumerate() {
        if known.profile.same_target != SameTarget::Merge {
            continue;
        }
        let mut nodes: Vec<_> = known.nodes.iter().collect();
        nodes.sort_unstable_by_key(|(node, _)| **node);
        for (node, placed) in nodes {
            let there = locals.on(kind, *node);
            let Some(synced) = placed
                .accepted
                .first()
                .and_then(|entry| attachments.policy(entry.policy))
            else {
                continue;
            };
            for local in there {
                let layers = &local.entry.layers;
                let atomic = layers.iter().any(|layer| layer.strategy != Strategy::Patch);
                let ships =
                    super::local::without_rules_of(&synced.layers, std::slice::from_ref(&local.entry))
                        .is_some();
                if atomic && ships {
                    findings.push(
                        Finding::new(
                            Code::POLICY_SAME_TARGET,
                            local.object.place("/spec"),
                            format!(
                                "on cluster {}, {} and the synced {} both target {}",
                                locals.cluster,
                                local.object.identity(),
                                synced.object.identity(),
                                described(attachments, *node)
                            ),
                        )
                        .label("its strategy is atomic")
                        .related(synced.object.place("/spec"), "its strategy merges")
                        .note("the controller on the cluster merges or drops, depending on which of the two was created first")
                        .help("give the local policy a strategy that merges too"),
                    );
                }
            }
        }
    }
}

/// A node for people: `HTTPRoute shop/cart, rule rule-1`.
#[must_use]
pub fn described(attachments: &Attachments<'_>, node: Node) -> String {
    let identity = attachments
        .topology
        .identity(node)
        .map(|identity| identity.to_string())
        .unwrap_or_default();
    let word = match node {
        Node::Listener(..) => "listener",
        Node::Rule(..) => "rule",
        Node::Port(..) => "port",
        _ => return identity,
    };
    let section = attachments.topology.section(node).unwrap_or_default();
    format!("{identity}, {word} {section}")
}

fn reference_place(attachments: &Attachments<'_>, id: PolicyId, node: Node) -> Option<Place> {
    let policy = attachments.policy(id)?;
    let declared = policy
        .targets
        .iter()
        .find(|declared| declared.target == Target::Attached(node));
    Some(
        policy
            .object
            .place(declared.map_or("/spec", |declared| declared.pointer.as_str())),
    )
}
