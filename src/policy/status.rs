//! Predicted statuses of policies: what their controllers would write.
//!
//! Owns: the condition Accepted, with Kuadrant's own messages for Kuadrant's kinds, and `status.ancestors`.
//! Flows in: attachments, what became of a policy. Flows out: [`Condition`]s, [`AncestorStatus`]es.
//! Must not know: clusters, and what happens there.

use std::collections::BTreeSet;

use serde::Serialize;

use super::attachment::Attachments;
use super::condition::Condition;
use super::declared_target::Target;
use super::ids::PolicyId;
use super::profile::StatusShape;
use crate::api::gateway::GROUP;
use crate::topology::{GatewayId, Node};

/// At most this many entries fit into `status.ancestors` (Gateway API's CRDs).
pub(super) const MAX_ANCESTORS: usize = 16;

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

/// `status.ancestors` of a policy, and how many there are in truth; none for kinds with flat conditions. `gateways` are the
/// hub's, on whose paths it is; `effect` says what became of it there.
pub(crate) fn ancestors(
    attachments: &Attachments<'_>,
    id: PolicyId,
    gateways: &BTreeSet<GatewayId>,
    effect: impl Fn(GatewayId) -> Condition,
) -> (Vec<AncestorStatus>, usize) {
    if attachments.profile(id).status != StatusShape::Ancestors {
        return (Vec::new(), 0);
    }
    let entries = gateways.iter().take(MAX_ANCESTORS).map(|gateway| {
        let accepted = accepted(attachments, id, Some(*gateway));
        let effect = accepted.is_true().then(|| effect(*gateway));
        let conditions = std::iter::once(accepted).chain(effect).collect();
        ancestor(attachments, *gateway, conditions)
    });
    (entries.collect(), gateways.len())
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
pub(crate) fn controller_name(attachments: &Attachments<'_>, gateway: GatewayId) -> String {
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
pub(crate) fn accepted(attachments: &Attachments<'_>, id: PolicyId, gateway: Option<GatewayId>) -> Condition {
    let policy = attachments.policy(id);
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
