//! The two conditions of a Placement (docs/systems/ocm-placement.md#conditions).
//!
//! Owns: statuses, reasons, messages. Flows in: an outcome. Flows out: conditions. Must not know: how the outcome came
//! about.

use serde::Serialize;

/// The status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConditionStatus {
    /// The condition is met.
    True,
    /// The condition is not met.
    False,
    /// Unknown.
    Unknown,
}

/// One of `status.conditions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// What the conditions of a scheduled Placement depend on.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// The namespace has a binding to an existing set.
    pub(crate) bound: bool,
    /// `spec.clusterSets`, in the order of the spec.
    pub(crate) named_sets: &'a [&'a str],
    /// The eligible sets, sorted.
    pub(crate) eligible_sets: &'a [String],
    /// How many clusters those have.
    pub(crate) available: usize,
    pub(crate) selected: usize,
    pub(crate) unscheduled: usize,
    /// Plugin (none for weights and groups) and message of a misconfiguration.
    pub(crate) misconfigured: Option<(Option<&'a str>, &'a str)>,
}

/// PlacementMisconfigured, then PlacementSatisfied.
pub(crate) fn conditions(facts: &Facts<'_>) -> Vec<Condition> {
    vec![misconfigured(facts), satisfied(facts)]
}

fn misconfigured(facts: &Facts<'_>) -> Condition {
    const KIND: &str = "PlacementMisconfigured";
    match facts.misconfigured {
        // Without a plugin the message begins with the colon, as OCM's does.
        Some((plugin, message)) => {
            let message = format!("{}:{message}", plugin.unwrap_or_default());
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

/// The first case that holds decides, in the order of `newSatisfiedCondition` (open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/scheduling_controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53). A
/// misconfiguration is not one of them: such a Placement reads NoManagedClusterMatched, because it selected nothing.
fn satisfied(facts: &Facts<'_>) -> Condition {
    let (status, reason, message) = if !facts.bound {
        let message = "No valid ManagedClusterSetBindings found in placement namespace".to_owned();
        (false, "NoManagedClusterSetBindings", message)
    } else if facts.eligible_sets.is_empty() {
        let sets = facts.named_sets.join(",");
        let message = format!("None of ManagedClusterSets [{sets}] is bound to placement namespace");
        (false, "NoIntersection", message)
    } else if facts.available == 0 {
        let sets = facts.eligible_sets.join(",");
        let message = format!("All ManagedClusterSets [{sets}] have no member ManagedCluster");
        (false, "AllManagedClusterSetsEmpty", message)
    } else if facts.selected == 0 {
        let message = "No ManagedCluster matches any of the cluster predicate".to_owned();
        (false, "NoManagedClusterMatched", message)
    } else if facts.unscheduled == 0 {
        (
            true,
            "AllDecisionsScheduled",
            "All cluster decisions scheduled".to_owned(),
        )
    } else {
        let message = format!("{} cluster decisions unscheduled", facts.unscheduled);
        (false, "NotAllDecisionsScheduled", message)
    };
    condition("PlacementSatisfied", status, reason, message)
}
