//! `rollout`: how a ManifestWorkReplicaSet goes from cluster to cluster (OCM's RolloutStrategy).
//!
//! The patterns are narrower than OCM's. OCM accepts values that its controller then cannot read, and retries forever
//! (docs/systems/ocm-work.md#rollouts).

use kube_json::Value;
use serde::{Deserialize, Serialize};

use super::check::Check;
use crate::api::schema::List;

/// How changes go out with `--work-kind replica-set`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rollout {
    /// All clusters at once, some at a time, or one decision group after another.
    r#type: RolloutType,
    /// Settings of the type All.
    all: Option<All>,
    /// Settings of the type Progressive.
    progressive: Option<Progressive>,
    /// Settings of the type ProgressivePerGroup.
    progressive_per_group: Option<ProgressivePerGroup>,
    /// All of it, as OCM takes it: the value of `placementRefs[].rolloutStrategy`.
    #[serde(skip)]
    pub strategy: Value,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum RolloutType {
    #[default]
    All,
    Progressive,
    ProgressivePerGroup,
}

/// All clusters at once. Of its settings OCM looks at the deadline alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct All {
    /// As for the other types, but OCM ignores it here.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = DURATION)))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = DEADLINE)))]
    progress_deadline: Option<String>,
    /// As for the other types, but OCM ignores it here.
    #[cfg_attr(feature = "schema", schemars(schema_with = "count_or_percentage"))]
    max_failures: Option<Value>,
}

/// Some clusters at a time, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Progressive {
    /// How long a cluster must be done before the next one follows: 90s, 5m. Without it, 0.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = DURATION)))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = DEADLINE)))]
    progress_deadline: Option<String>,
    /// How many clusters may fail before it stops: a number, or a percentage of all. Without it, 0.
    #[cfg_attr(feature = "schema", schemars(schema_with = "count_or_percentage"))]
    max_failures: Option<Value>,
    /// How many clusters at a time: a number, or a percentage of all. Without it, all.
    #[cfg_attr(feature = "schema", schemars(schema_with = "some_or_percentage"))]
    max_concurrency: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    mandatory_decision_groups: List<Group>,
}

/// One decision group after another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ProgressivePerGroup {
    /// How long a group must be done before the next one follows: 90s, 5m. Without it, 0.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = DURATION)))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = DEADLINE)))]
    progress_deadline: Option<String>,
    /// How many clusters of a group may fail before it stops: a number, or a percentage of the group. Without it, 0.
    #[cfg_attr(feature = "schema", schemars(schema_with = "count_or_percentage"))]
    max_failures: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    mandatory_decision_groups: List<Group>,
}

/// A decision group, by its name or its index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Group {
    /// Its name in the Placement.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    group_name: Option<String>,
    /// Its index, from 0.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    group_index: Option<i32>,
}

/// As Go parses durations.
#[cfg(feature = "schema")]
const DURATION: &str = r"^(0|([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+)$";
/// One unit, unlike a duration.
#[cfg(feature = "schema")]
const DEADLINE: &str = "^([0-9]+[hms]|None)$";

#[cfg(feature = "schema")]
fn count_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]
    })
}

/// Not zero, which OCM takes for all.
#[cfg(feature = "schema")]
fn some_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^(100|[1-9][0-9]?)%$"}]
    })
}

impl Rollout {
    /// The decision groups that go first, by the field that they are in.
    fn groups(&self) -> impl Iterator<Item = (&'static str, usize, &Group)> {
        let progressive = self
            .progressive
            .as_ref()
            .map(|settings| &settings.mandatory_decision_groups);
        let per_group = self.progressive_per_group.as_ref();
        let per_group = per_group.map(|settings| &settings.mandatory_decision_groups);
        let lists = [("progressive", progressive), ("progressivePerGroup", per_group)];
        lists.into_iter().flat_map(|(field, groups)| {
            let groups = groups.into_iter().flat_map(List::items);
            groups.map(move |(index, group)| (field, index, group))
        })
    }

    /// The names of the decision groups that go first.
    pub fn mandatory_groups(&self) -> impl Iterator<Item = &str> {
        self.groups()
            .filter_map(|(_, _, group)| group.group_name.as_deref())
    }
}

impl Check<'_> {
    /// Checks what `rollout` asks for.
    pub(super) fn rollout(&mut self, rollout: &mut Rollout, value: &Value) {
        rollout.strategy = value.clone();
        if self.refuses("/rollout/type") {
            return;
        }
        let chosen = rollout.r#type;
        let of_chosen = match chosen {
            RolloutType::All => "all",
            RolloutType::Progressive => "progressive",
            RolloutType::ProgressivePerGroup => "progressivePerGroup",
        };
        for settings in ["all", "progressive", "progressivePerGroup"] {
            let pointer = format!("/rollout/{settings}");
            if settings != of_chosen && (value.get(settings).is_some() || self.refuses(&pointer)) {
                let message = format!("`rollout.{settings}` has no effect with `rollout.type: {chosen:?}`");
                let help = format!("move its fields to `{of_chosen}`, or choose another type");
                self.invalid(&pointer, message, help);
            }
        }
        for (field, index, group) in rollout.groups().filter(|(field, ..)| *field == of_chosen) {
            let pointer = format!("/rollout/{field}/mandatoryDecisionGroups/{index}");
            if group.group_name.is_some() == group.group_index.is_some() && !self.refuses(&pointer) {
                let message = "a decision group is named by `groupName` or by `groupIndex`";
                self.invalid(&pointer, message, "write one of the two");
            }
        }
    }
}
