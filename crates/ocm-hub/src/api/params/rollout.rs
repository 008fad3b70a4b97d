//! `rollout`: how a ManifestWorkReplicaSet goes from cluster to cluster (OCM's RolloutStrategy).
//!
//! Owns: its fields, which of them exclude each other, and [`Rollout`]. Flows in: the field of the parameters, after
//! its schema accepted it. Flows out: the value of `rolloutStrategy`; faults. Must not know: Placements, works.
//!
//! The patterns are narrower than OCM's. OCM accepts values that its controller then cannot read, and retries forever
//! (docs/systems/ocm-work.md#rollouts).

use kube_json::Value;

use super::check::Check;

/// How changes go out, as OCM takes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rollout(Value);

impl Rollout {
    /// The value of `placementRefs[].rolloutStrategy`.
    #[must_use]
    pub const fn strategy(&self) -> &Value {
        &self.0
    }

    /// The names of the decision groups that go first.
    pub fn mandatory_groups(&self) -> impl Iterator<Item = &str> {
        let settings = self.0.as_object().into_iter().flatten();
        settings
            .filter_map(|(_, settings)| settings.get("mandatoryDecisionGroups")?.as_array())
            .flatten()
            .filter_map(|group| group.get("groupName")?.as_str())
    }
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
