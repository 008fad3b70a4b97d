//! The conditions that a controller writes about a policy, in Kuadrant's wording and in GEP-713's
//! (docs/systems/kuadrant.md#conditions, docs/systems/gep-713.md#status), and the entries of `status.ancestors` that
//! contain them.

use schemars::JsonSchema;
use serde::Serialize;

use super::attachment::Attachments;
use super::profile::StatusShape;
use crate::api::condition::Condition;
use crate::topology::{GatewayId, Node, Topology};

/// What became of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All of it holds wherever it is attached.
    Whole,
    /// Some of it lost somewhere.
    Partial,
    /// Nothing of it holds anywhere.
    Overridden,
    /// It is on no path.
    NoPath,
}

/// The condition of a policy that no cluster receives, though it is accepted.
pub fn nowhere(kind: &str, shape: StatusShape) -> Option<Condition> {
    let condition = shape.outcome()?;
    let message = format!("{kind} is on no cluster");
    Some(Condition::new(condition, "False", "Unknown", message))
}

/// The condition for an outcome, if there is one; `by` are the keys of the policies that took the place, sorted.
#[rustfmt::skip] // one outcome a line
pub fn effect_of(kind: &str, shape: StatusShape, outcome: Outcome, by: &[String]) -> Option<Condition> {
    let overridden = format!("overridden by [{}]", by.join(" "));
    let condition = match shape {
        // Its controller reports only why a policy is not accepted.
        StatusShape::EnvoyGateway => "Overridden",
        _ => shape.outcome()?,
    };
    let says = |status, reason, message: &str| Some(Condition::new(condition, status, reason, message.to_owned()));
    let of_kind = |status, reason, what: &str| says(status, reason, &format!("{kind} {what}"));
    // kgateway: kgateway-dev/kgateway pkg/reports/policy.go@22423a253df5e9977427bdda8d09454b36803b95
    match (shape, outcome) {
        (StatusShape::EnvoyGateway, Outcome::Partial) => of_kind("True", "Overridden", &format!("is in part {overridden}")),
        (StatusShape::EnvoyGateway, Outcome::Overridden) => of_kind("True", "Overridden", &format!("is {overridden}")),
        (StatusShape::Kgateway, Outcome::Whole) => says("True", "Attached", "Attached to all targets"),
        (StatusShape::Kgateway, Outcome::Partial) => says("True", "Merged", "Merged with other policies in target(s) and attached"),
        (StatusShape::Kgateway, Outcome::Overridden) => says("False", "Overridden", "Overridden due to conflict with higher priority policy in target(s)"),
        (StatusShape::Kgateway, Outcome::NoPath) => of_kind("False", "Pending", "is on no path from a Gateway"),
        (_, Outcome::Overridden) => of_kind("False", "Overridden", &format!("is {overridden}")),
        (StatusShape::Kuadrant, Outcome::Whole) => of_kind("True", "Enforced", "has been successfully enforced"),
        (StatusShape::Kuadrant, Outcome::Partial) => of_kind("True", "Enforced", "has been partially enforced"),
        (StatusShape::Kuadrant, Outcome::NoPath) => of_kind("False", "Unknown", "is not in the path to any existing routes"),
        (StatusShape::Ancestors, Outcome::Whole) => of_kind("True", "Programmed", "is programmed"),
        (StatusShape::Ancestors, Outcome::Partial) => of_kind("True", "PartiallyProgrammed", &format!("is programmed, in part {overridden}")),
        (StatusShape::Ancestors, Outcome::NoPath) => of_kind("False", "Unknown", "is on no path from a Gateway"),
        _ => None,
    }
}

/// At most this many entries fit into `status.ancestors` (Gateway API's CRDs).
pub(super) const MAX_ANCESTORS: usize = 16;

/// The status of a policy for one ancestor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
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

impl AncestorRef {
    /// The reference to a node, or to a section of it.
    pub(super) fn new(topology: &Topology<'_>, whole: Node, section: Option<&str>) -> Self {
        let identity = topology.identity(whole);
        Self {
            group: identity.group_kind.group.to_string(),
            kind: identity.group_kind.kind.to_string(),
            namespace: identity.namespace.unwrap_or_default().to_string(),
            name: identity.name.to_string(),
            section_name: section.map(str::to_owned),
        }
    }
}

/// `AwesomePolicy` is `awesomePolicy`.
pub(crate) fn lower_first(kind: &str) -> String {
    let mut characters = kind.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
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
