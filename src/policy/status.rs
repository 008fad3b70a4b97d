//! Predicted statuses of policies: what their controllers would write.
//!
//! Owns: the conditions Accepted, Enforced and Programmed with Kuadrant's own messages for Kuadrant's kinds,
//! `status.ancestors`, and the tally that they follow from.
//! Flows in: attachments and effective policies. Flows out: [`Statuses`].
//! Must not know: clusters, and what happens there.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::attachment::Attachments;
use super::condition::{Condition, Outcome, effect_of};
use super::declared_target::Target;
use super::effective_policies::EffectivePolicies;
use super::ids::PolicyId;
use super::one_policy::Policy;
use super::profile::StatusShape;
use crate::api::gateway::GROUP;
use crate::hub::Table;
use crate::topology::{GatewayId, Node};

/// At most this many entries fit into `status.ancestors` (Gateway API's CRDs).
pub(super) const MAX_ANCESTORS: usize = 16;

/// What became of a policy's units on the paths of a Gateway, or on all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Something of it holds somewhere.
    pub survived: bool,
    /// Something of it does not hold somewhere.
    pub lost: bool,
    /// Whose took its place.
    pub by: BTreeSet<PolicyId>,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.survived |= other.survived;
        self.lost |= other.lost;
        self.by.extend(&other.by);
    }

    /// The outcome in one word.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match (self.survived, self.lost) {
            (true, false) => Outcome::Whole,
            (true, true) => Outcome::Partial,
            (false, true) => Outcome::Overridden,
            (false, false) => Outcome::NoPath,
        }
    }
}

/// The status of a policy for one ancestor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AncestorStatus {
    /// The Gateway.
    pub ancestor_ref: AncestorRef,
    /// `spec.controllerName` of its class; empty when the class is not in the input.
    pub controller_name: String,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

/// A ParentReference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AncestorRef {
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// The predicted status of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyStatus {
    /// Condition Accepted.
    pub accepted: Condition,
    /// Condition Enforced or Programmed; absent when Accepted is False.
    pub effect: Option<Condition>,
    /// `status.ancestors`, at most [`MAX_ANCESTORS`]; none for kinds with flat conditions.
    pub ancestors: Vec<AncestorStatus>,
    /// How many ancestors there are in truth.
    pub ancestor_count: usize,
    /// What became of it over all paths.
    pub tally: Tally,
    /// Gateways on whose paths it is, by number.
    pub gateways: BTreeSet<GatewayId>,
}

/// The predicted statuses of all policies, by [`PolicyId`].
#[derive(Debug, Default)]
pub(crate) struct Statuses {
    by_policy: Table<PolicyId, PolicyStatus>,
}

impl Statuses {
    /// Predicts them.
    #[must_use]
    pub(crate) fn new(attachments: &Attachments<'_>, effective: &EffectivePolicies) -> Self {
        let tallies = tally(attachments, effective);
        let empty = BTreeMap::new();
        let by_policy = attachments
            .policies
            .iter()
            .map(|(id, policy)| status_of(attachments, id, policy, tallies.get(&id).unwrap_or(&empty)))
            .collect();
        Self {
            by_policy: Table::of(by_policy),
        }
    }

    /// The status of a policy.
    #[must_use]
    pub(crate) fn of(&self, id: PolicyId) -> &PolicyStatus {
        self.by_policy.get(id)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PolicyId, &PolicyStatus)> {
        self.by_policy.iter()
    }
}

/// For every policy and Gateway: what survived, what was lost. Each distinct result of a Gateway counts once.
fn tally(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
) -> BTreeMap<PolicyId, BTreeMap<GatewayId, Tally>> {
    let mut tallies: BTreeMap<PolicyId, BTreeMap<GatewayId, Tally>> = BTreeMap::new();
    for gateway in attachments.topology.gateways.ids() {
        for kind in attachments.kinds.ids() {
            let mut seen = HashSet::new();
            for path in effective.on(kind, gateway) {
                if !seen.insert(Arc::as_ptr(&path.effective)) {
                    continue;
                }
                for (_, policy) in &path.effective.chain {
                    tallies.entry(*policy).or_default().entry(gateway).or_default();
                }
                for policy in path.effective.sources() {
                    let by_gateway = tallies.entry(policy).or_default();
                    by_gateway.entry(gateway).or_default().survived = true;
                }
                for loss in &path.effective.losses {
                    let by_gateway = tallies.entry(loss.policy).or_default();
                    let tally = by_gateway.entry(gateway).or_default();
                    tally.lost = true;
                    tally.by.extend(&loss.by);
                }
            }
        }
    }
    if attachments.cluster.is_some() {
        tally_local(attachments, &mut tallies);
    }
    tallies
}

/// In a view of a cluster: what spoke-local policies took from synced ones.
fn tally_local(attachments: &Attachments<'_>, tallies: &mut BTreeMap<PolicyId, BTreeMap<GatewayId, Tally>>) {
    for kind in attachments.kinds.rows() {
        for (node, placed) in &kind.nodes {
            let locals: BTreeSet<PolicyId> = placed
                .accepted
                .iter()
                .map(|entry| entry.policy)
                .filter(|id| attachments.policy(*id).local)
                .collect();
            // Settings are shared until a local policy takes some away.
            let reduced = placed
                .accepted
                .iter()
                .filter(|entry| !Arc::ptr_eq(&attachments.policy(entry.policy).layers, &entry.layers));
            let losers = placed
                .overridden
                .iter()
                .map(|(loser, _)| *loser)
                .chain(reduced.map(|entry| entry.policy));
            for loser in losers {
                for gateway in attachments.topology.gateways_of(*node) {
                    let by_gateway = tallies.entry(loser).or_default();
                    let tally = by_gateway.entry(gateway).or_default();
                    tally.lost = true;
                    tally.by.extend(&locals);
                }
            }
        }
    }
}

fn status_of(
    attachments: &Attachments<'_>,
    id: PolicyId,
    policy: &Policy<'_>,
    by_gateway: &BTreeMap<GatewayId, Tally>,
) -> PolicyStatus {
    let shape = attachments.profile(id).status;
    let mut total = Tally::default();
    for tally in by_gateway.values() {
        total.add(tally);
    }
    let accepted = accepted(attachments, id, policy, None);
    let effect = accepted
        .is_true()
        .then(|| effect(attachments, policy, shape, &total));
    let mut gateways: BTreeSet<GatewayId> = by_gateway.keys().copied().collect();
    if gateways.is_empty() {
        gateways.extend(
            policy
                .nodes()
                .into_iter()
                .flat_map(|node| attachments.topology.gateways_of(node)),
        );
    }
    let ancestors = if shape == StatusShape::Ancestors {
        gateways
            .iter()
            .take(MAX_ANCESTORS)
            .map(|gateway| {
                let conditions = conditions_for(attachments, id, policy, *gateway, by_gateway.get(gateway));
                ancestor(attachments, *gateway, conditions)
            })
            .collect()
    } else {
        Vec::new()
    };
    PolicyStatus {
        accepted,
        effect,
        ancestor_count: if shape == StatusShape::Ancestors {
            gateways.len()
        } else {
            0
        },
        ancestors,
        tally: total,
        gateways,
    }
}

fn conditions_for(
    attachments: &Attachments<'_>,
    id: PolicyId,
    policy: &Policy<'_>,
    gateway: GatewayId,
    tally: Option<&Tally>,
) -> Vec<Condition> {
    let accepted = accepted(attachments, id, policy, Some(gateway));
    let nothing = Tally::default();
    let effect = accepted.is_true().then(|| {
        effect(
            attachments,
            policy,
            StatusShape::Ancestors,
            tally.unwrap_or(&nothing),
        )
    });
    std::iter::once(accepted).chain(effect).collect()
}

fn ancestor(attachments: &Attachments<'_>, gateway: GatewayId, conditions: Vec<Condition>) -> AncestorStatus {
    let node = attachments.topology.gateways.get(gateway);
    AncestorStatus {
        ancestor_ref: AncestorRef {
            group: GROUP,
            kind: "Gateway",
            namespace: node.object.namespace_or_empty().to_owned(),
            name: node.object.name.clone(),
        },
        controller_name: controller_name(attachments, gateway),
        conditions,
    }
}

/// `spec.controllerName` of a Gateway's class; empty when the class is not in the input.
#[must_use]
pub(super) fn controller_name(attachments: &Attachments<'_>, gateway: GatewayId) -> String {
    let class = Node::Class(attachments.topology.gateways.get(gateway).class);
    attachments
        .topology
        .object(class)
        .and_then(|class| class.value.pointer("/spec/controllerName")?.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// Accepted: True when one target is; else why the first is not (docs/systems/kuadrant.md#accepted). With a
/// Gateway, only the targets that lead there count.
fn accepted(
    attachments: &Attachments<'_>,
    id: PolicyId,
    policy: &Policy<'_>,
    gateway: Option<GatewayId>,
) -> Condition {
    let kind = policy.object.kind.as_str();
    let refused = |reason: &str, message: String| Condition::new("Accepted", false, reason, message);
    if let Some(why) = &policy.invalid {
        return refused("Invalid", format!("{kind} is invalid: {why}"));
    }
    let mut first = None;
    for declared in &policy.targets {
        let problem = match &declared.target {
            Target::Attached(node) => {
                let elsewhere = gateway
                    .is_some_and(|gateway| !attachments.topology.gateways_of(*node).contains(&gateway));
                if elsewhere {
                    continue;
                }
                attachments.conflicted_by(id, *node).map(|by| {
                    let by = &attachments.policy(by).rank.key;
                    refused(
                        "Conflicted",
                        format!("{kind} is conflicted by {by}: conflicting policy"),
                    )
                })
            }
            Target::Virtual | Target::Unresolved => None,
            Target::NotFound => {
                let message = format!("{kind} target {} was not found", declared.name);
                Some(refused("TargetNotFound", message))
            }
            Target::NotPermitted => {
                let message = format!(
                    "{kind} target is invalid: no ReferenceGrant permits {}",
                    declared.name
                );
                Some(refused("Invalid", message))
            }
            Target::NotAllowed(why) => Some(refused("Invalid", format!("{kind} target is invalid: {why}"))),
        };
        match problem {
            None => {
                first = None;
                break;
            }
            Some(problem) => {
                first.get_or_insert(problem);
            }
        }
    }
    first.unwrap_or_else(|| Condition::new("Accepted", true, "Accepted", format!("{kind} has been accepted")))
}

/// Enforced (Kuadrant) or Programmed (GEP-713).
fn effect(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    shape: StatusShape,
    tally: &Tally,
) -> Condition {
    let by = keys(attachments, tally.by.iter().copied());
    effect_of(&policy.object.kind, shape, tally.outcome(), &by)
}

/// `namespace/name` of policies, sorted.
#[must_use]
pub(super) fn keys(attachments: &Attachments<'_>, ids: impl Iterator<Item = PolicyId>) -> Vec<String> {
    let keys: BTreeSet<String> = ids.map(|id| attachments.policy(id).rank.key.clone()).collect();
    keys.into_iter().collect()
}
