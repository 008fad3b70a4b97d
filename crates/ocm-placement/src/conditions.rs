//! The two conditions of a Placement (docs/systems/ocm-placement.md#conditions): their statuses, reasons, and messages.

use schemars::JsonSchema;
use serde::Serialize;

use crate::outcome::Fault;
use crate::problems::EmptiedBy;

/// The status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ConditionStatus {
    /// The condition is met.
    True,
    /// The condition is not met.
    False,
    /// Unknown.
    Unknown,
}

/// One of `status.conditions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Condition {
    /// `PlacementMisconfigured` or `PlacementSatisfied`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status.
    pub status: ConditionStatus,
    /// The reason.
    pub reason: String,
    /// The message, OCM's own.
    pub message: String,
}

fn condition(kind: &str, status: bool, reason: &str, message: impl Into<String>) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status: if status {
            ConditionStatus::True
        } else {
            ConditionStatus::False
        },
        reason: reason.to_owned(),
        message: message.into(),
    }
}

/// The conditions of a scheduled Placement: PlacementMisconfigured, then PlacementSatisfied.
pub(crate) fn conditions(
    fault: Option<&Fault>,
    emptied_by: Option<EmptiedBy>,
    unscheduled: usize,
) -> Vec<Condition> {
    vec![misconfigured(fault), satisfied(emptied_by, unscheduled)]
}

fn misconfigured(fault: Option<&Fault>) -> Condition {
    const KIND: &str = "PlacementMisconfigured";
    match fault {
        // Without a plugin the message begins with the colon, as OCM's does.
        Some(fault) => {
            let message = format!("{}:{}", fault.plugin().unwrap_or_default(), fault.message);
            condition(KIND, true, "Misconfigured", message)
        }
        None => condition(
            KIND,
            false,
            "Succeedconfigured",
            "Placement configurations check pass",
        ),
    }
}

/// The first step that leaves no cluster decides, in the order of `newSatisfiedCondition` (open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/scheduling_controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53). A
/// misconfiguration is not one of them: such a Placement reads NoManagedClusterMatched, because it selected nothing.
fn satisfied(emptied_by: Option<EmptiedBy>, unscheduled: usize) -> Condition {
    let (reason, message) = match emptied_by {
        Some(EmptiedBy::NotBound { .. }) => {
            let message = "No valid ManagedClusterSetBindings found in placement namespace".to_owned();
            ("NoManagedClusterSetBindings", message)
        }
        Some(EmptiedBy::NoIntersection { sets }) => {
            let sets = sets.join(",");
            let message = format!("None of ManagedClusterSets [{sets}] is bound to placement namespace");
            ("NoIntersection", message)
        }
        Some(EmptiedBy::EmptySets { sets }) => {
            let sets = sets.join(",");
            let message = format!("All ManagedClusterSets [{sets}] have no member ManagedCluster");
            ("AllManagedClusterSetsEmpty", message)
        }
        Some(EmptiedBy::Predicates { .. } | EmptiedBy::Taints { .. }) => {
            let message = "No ManagedCluster matches any of the cluster predicate".to_owned();
            ("NoManagedClusterMatched", message)
        }
        None if unscheduled == 0 => (
            "AllDecisionsScheduled",
            "All cluster decisions scheduled".to_owned(),
        ),
        None => {
            let message = format!("{unscheduled} cluster decisions unscheduled");
            ("NotAllDecisionsScheduled", message)
        }
    };
    let status = reason == "AllDecisionsScheduled";
    condition("PlacementSatisfied", status, reason, message)
}
