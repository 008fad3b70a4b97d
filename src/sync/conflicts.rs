//! What there is to say about policies of one kind on one target: of the hub, and of the hub and a cluster.
//!
//! Owns: these findings.
//! Flows in: attachments, what becomes of one target, the local policies of a cluster. Flows out: findings.
//! Must not know: works.

use super::local_policies::LocalPolicies;
use super::same_target::{Resolution, SyncedSpec, resolve};
use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::policy::{Attachments, PolicyId, Rule, SameTarget, Strategy, Target, without_rules_of};
use crate::topology::Node;

/// Two policies of one kind on one target: each that is not the first choice, with the winner and the rule. Needs no
/// effective policies.
pub(crate) fn report_same_target(attachments: &Attachments<'_>, findings: &mut Findings) {
    for (kind, known) in attachments.kinds.iter() {
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
            if let Some(resolution) = resolve(attachments, kind, node) {
                one_target(attachments, node, &resolution, findings);
            }
        }
    }
}

fn one_target(attachments: &Attachments<'_>, node: Node, resolution: &Resolution, findings: &mut Findings) {
    let Some(synced) = resolution.synced.first() else {
        return;
    };
    let target = attachments.topology.described(node);
    let place = |id: PolicyId| reference_place(attachments, id, node);
    let name = |id: PolicyId| attachments.policy(id).object.identity();
    for displaced in &resolution.displaced {
        let (loser, by) = (name(displaced.policy), name(displaced.by));
        findings.push(
            Finding::new(
                Code::POLICY_SAME_TARGET,
                place(displaced.policy),
                format!("{loser} and {by} both target {target}"),
            )
            .label("this one gives way")
            .related(place(displaced.by), "this one wins")
            .note(format!(
                "{by} wins because {} ({})",
                displaced.rule.because(),
                displaced.rule.name()
            ))
            .help("remove one of the two, merge them, or target another section"),
        );
    }
    if let SyncedSpec::Rewritten { sources, .. } = &synced.spec {
        let winner = synced.policy;
        for source in sources.iter().filter(|source| **source != winner) {
            let rule = established_rule(attachments, winner, *source);
            let (other, winner_name) = (name(*source), name(winner));
            findings.push(
                Finding::new(
                    Code::POLICY_SAME_TARGET,
                    place(*source),
                    format!("{other} and {winner_name} both target {target}"),
                )
                .label("merged into the other one")
                .related(place(winner), "this one is established")
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
    let age = |id| attachments.policy(id).rank.age;
    match (age(established), age(other)) {
        (Some(a), Some(b)) if a == b => Rule::FirstByName,
        (None, None) => Rule::FirstByName,
        _ => Rule::Older,
    }
}

/// On a cluster, a merging synced policy and a local one whose own strategy is atomic share a target: which of them a
/// controller takes for the established one depends on when the synced copy is created.
pub(crate) fn report_local_conflicts(
    attachments: &Attachments<'_>,
    locals: &LocalPolicies<'_>,
    findings: &mut Findings,
) {
    for (kind, known) in attachments.kinds.iter() {
        if known.profile.same_target != SameTarget::Merge {
            continue;
        }
        let mut nodes: Vec<_> = known.nodes.iter().collect();
        nodes.sort_unstable_by_key(|(node, _)| **node);
        for (node, placed) in nodes {
            let Some(first) = placed.accepted.first() else {
                continue;
            };
            let synced = attachments.policy(first.policy);
            for local in locals.on(kind, *node) {
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
                                attachments.topology.described(*node)
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

fn reference_place(attachments: &Attachments<'_>, id: PolicyId, node: Node) -> Place {
    let policy = attachments.policy(id);
    let mut targets = policy.targets.iter();
    let declared = targets.find(|declared| declared.target == Target::Attached(node));
    let pointer = declared.map_or("/spec", |declared| declared.pointer.as_str());
    policy.object.place(pointer)
}
