//! What there is to say about policies of one kind on one target: of the hub, and of the hub and a cluster.
//!
//! Owns: these findings.
//! Flows in: attachments, decisions, the local policies of a cluster. Flows out: findings.
//! Must not know: works.

use super::local_policies::Locals;
use super::same_target::{Decision, Displacer, ShippedSpec, decide};
use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::policy::attachment::{Attachments, PolicyId};
use crate::policy::findings::described;
use crate::policy::local_wins::without_rules_of;
use crate::policy::node::Node;
use crate::policy::precedence::Rule;
use crate::policy::profile::{SameTarget, Strategy};
use crate::policy::targets::Target;

/// Two policies of one kind on one target: each that is not the first choice, with the winner and the rule. Needs no
/// effective policies.
pub fn report_same_target(attachments: &Attachments<'_>, findings: &mut Findings) {
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
    if let ShippedSpec::Rewritten { sources, .. } = &shipped.content {
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

/// On a cluster, a merging synced policy and a local one whose own strategy is atomic share a target: which of them a
/// controller takes for the established one depends on when the synced copy is created.
pub fn report_local_conflicts(attachments: &Attachments<'_>, locals: &Locals<'_>, findings: &mut Findings) {
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
                let ships = without_rules_of(&synced.layers, std::slice::from_ref(&local.entry)).is_some();
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
