//! `rollout`: how a ManifestWorkReplicaSet goes from cluster to cluster (OCM's RolloutStrategy).
//!
//! Owns: its fields, which of them exclude each other, and [`Rollout`]. Flows in: the field of the parameters, after
//! its schema accepted it. Flows out: the value of `rolloutStrategy`; faults. Must not know: Placements, works.
//!
//! The patterns are narrower than OCM's. OCM accepts values that its controller then cannot read, and retries forever
//! (docs/systems/ocm-work.md#rollouts).

use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use super::check::Check;

/// How changes go out, as OCM takes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Rollout(Value);

impl Rollout {
    /// The value of `placementRefs[].rolloutStrategy`.
    #[must_use]
    pub(crate) const fn strategy(&self) -> &Value {
        &self.0
    }

    /// The names of the decision groups that go first.
    pub(crate) fn mandatory_groups(&self) -> impl Iterator<Item = &str> {
        let settings = self.0.as_object().into_iter().flatten();
        settings
            .filter_map(|(_, settings)| settings.get("mandatoryDecisionGroups")?.as_array())
            .flatten()
            .filter_map(|group| group.get("groupName")?.as_str())
    }
}

/// How changes go out with `--work-kind replica-set`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
pub(super) struct RolloutFile {
    /// All clusters at once, some at a time, or one decision group after another.
    #[schemars(default)]
    r#type: RolloutType,
    /// Settings of the type All.
    #[schemars(default)]
    all: Option<AllFile>,
    /// Settings of the type Progressive.
    #[schemars(default)]
    progressive: Option<ProgressiveFile>,
    /// Settings of the type ProgressivePerGroup.
    #[schemars(default)]
    progressive_per_group: Option<PerGroupFile>,
}

#[derive(Default, Serialize, JsonSchema)]
enum RolloutType {
    #[default]
    All,
    #[expect(dead_code, reason = "read through its schema only")]
    Progressive,
    #[expect(dead_code, reason = "read through its schema only")]
    ProgressivePerGroup,
}

/// All clusters at once. Of its settings OCM looks at the deadline alone.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct AllFile {
    /// As for the other types, but OCM ignores it here.
    #[schemars(default, regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(default, regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// As for the other types, but OCM ignores it here.
    #[schemars(default, schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
}

/// Some clusters at a time, by name.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct ProgressiveFile {
    /// How long a cluster must be done before the next one follows: 90s, 5m. Without it, 0.
    #[schemars(default, regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(default, regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// How many clusters may fail before it stops: a number, or a percentage of all. Without it, 0.
    #[schemars(default, schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
    /// How many clusters at a time: a number, or a percentage of all. Without it, all.
    #[schemars(default, schema_with = "some_or_percentage")]
    max_concurrency: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    #[schemars(default)]
    mandatory_decision_groups: Option<Vec<GroupFile>>,
}

/// One decision group after another.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct PerGroupFile {
    /// How long a group must be done before the next one follows: 90s, 5m. Without it, 0.
    #[schemars(default, regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(default, regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// How many clusters of a group may fail before it stops: a number, or a percentage of the group. Without it, 0.
    #[schemars(default, schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    #[schemars(default)]
    mandatory_decision_groups: Option<Vec<GroupFile>>,
}

/// A decision group, by its name or its index.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct GroupFile {
    /// Its name in the Placement.
    #[schemars(default, length(min = 1))]
    group_name: Option<String>,
    /// Its index, from 0.
    #[schemars(default, range(min = 0))]
    group_index: Option<i32>,
}

/// As Go parses durations.
const DURATION: &str = r"^(0|([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+)$";
/// One unit, unlike a duration.
const DEADLINE: &str = "^([0-9]+[hms]|None)$";

fn count_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]
    })
}

/// Not zero, which OCM takes for all.
fn some_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^(100|[1-9][0-9]?)%$"}]
    })
}

impl Check<'_> {
    /// What `rollout` asks for.
    pub(super) fn rollout(&mut self, value: &Value) -> Option<Rollout> {
        let rollout = value.as_object()?;
        let chosen = rollout.get("type").and_then(Value::as_str)?;
        let of_chosen = match chosen {
            "Progressive" => "progressive",
            "ProgressivePerGroup" => "progressivePerGroup",
            _ => "all",
        };
        for settings in rollout.keys().filter(|name| *name != "type") {
            if settings != of_chosen {
                let pointer = format!("/rollout/{settings}");
                let message = format!("`rollout.{settings}` has no effect with `rollout.type: {chosen}`");
                let help = format!("move its fields to `{of_chosen}`, or choose another type");
                self.invalid(&pointer, message, Some(help));
            }
        }
        let groups = rollout
            .get(of_chosen)
            .and_then(|settings| settings.get("mandatoryDecisionGroups"));
        for (index, group) in groups.and_then(Value::as_array).into_iter().flatten().enumerate() {
            if group.get("groupName").is_some() == group.get("groupIndex").is_some() {
                let pointer = format!("/rollout/{of_chosen}/mandatoryDecisionGroups/{index}");
                let message = "a decision group is named by `groupName` or by `groupIndex`";
                self.invalid(&pointer, message, Some("write one of the two".to_owned()));
            }
        }
        Some(Rollout(value.clone()))
    }
}
