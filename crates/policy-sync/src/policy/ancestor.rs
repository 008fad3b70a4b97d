//! An entry of a policy's `status.ancestors`.
//!
//! Owns: its shape, and whose controller writes it. Flows in: attachments. Flows out: [`AncestorStatus`]es, still without
//! conditions. Must not know: which conditions there are.

use serde::Serialize;

use super::attachment::Attachments;
use super::condition::Condition;
use crate::topology::{GatewayId, Node};

/// At most this many entries fit into `status.ancestors` (Gateway API's CRDs).
pub(super) const MAX_ANCESTORS: usize = 16;

/// The status of a policy for one ancestor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AncestorStatus {
    /// The Gateway, or the ListenerSet, or the GatewayClass.
    pub ancestor_ref: AncestorRef,
    /// `spec.controllerName` of its class; empty when the class is not in the input.
    pub controller_name: String,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

/// A ParentReference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AncestorRef {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; none for a GatewayClass.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The listener, if the status is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_name: Option<String>,
}

/// `spec.controllerName` of a Gateway's class; empty when the class is not in the input.
pub fn controller_name(attachments: &Attachments<'_>, gateway: GatewayId) -> String {
    let class = Node::Class(attachments.topology.gateways.get(gateway).class);
    attachments
        .topology
        .object(class)
        .and_then(|class| class.value.pointer("/spec/controllerName")?.as_str())
        .unwrap_or_default()
        .to_owned()
}
