//! Two policies on one target whose result depends on which is created first.
//!
//! Owns: the finding about them: both outcomes, and what to change.
//! Flows in: two policies. Flows out: a finding. Must not know: where they live.

use std::collections::BTreeMap;

use super::any_order::{alone_and_beside, holds_in_any_order};
use super::merged_policy::shipped;
use crate::diagnostic::{Code, Finding, Place};
use crate::policy::{Content, Entry, Layer, Profile, Strategy, Wrappers, strategy_word};

/// One of two policies on one target.
pub(super) struct Meeting {
    /// Its name.
    pub(super) name: String,
    /// `namespace/name`.
    pub(super) key: String,
    /// Where it is written.
    pub(super) place: Place,
    /// Its settings.
    pub(super) entry: Entry,
}

/// The finding, with both outcomes.
pub(super) fn undecided(profile: &Profile, target: &str, one: &Meeting, other: &Meeting) -> Finding {
    let finding = Finding::new(
        Code::POLICY_UNDECIDED,
        one.place.clone(),
        format!(
            "the result of {} and {} depends on which is created first: both target {target}",
            one.name, other.name
        ),
    )
    .label("this one")
    .related(other.place.clone(), "and this one");
    let orders = [[one, other], [other, one]].into_iter();
    orders.fold(finding, |finding, order| finding.note(outcome(profile, order)))
}

/// What to change so that two policies of the hub have one meaning.
pub(super) fn way_out(profile: &Profile, one: &Meeting, other: &Meeting) -> String {
    let rest = "write one policy, or target another section";
    let (Some(field), true) = (
        profile.strategy_fields.first(),
        merging_helps(profile, one, other),
    ) else {
        return rest.to_owned();
    };
    let strategy = format!("`{field}: {}`", strategy_word(profile, Strategy::Patch));
    let changes = [one, other].into_iter().filter_map(|meeting| {
        let name = &meeting.name;
        let whole = |layer: &&Layer| !layer.strategy.merges();
        let layer = meeting.entry.layers.iter().find(whole)?;
        Some(
            if layer.base == "/spec" && profile.wrappers == Wrappers::OneOfDefaultsOverrides {
                format!("put the settings of {name} into `defaults` with {strategy}")
            } else {
                format!("give {name} {strategy}")
            },
        )
    });
    let changes: Vec<String> = changes.collect();
    format!("{}, {rest}", changes.join(" and "))
}

/// Whether the two can be shipped once both merge, and did not both merge before.
fn merging_helps(profile: &Profile, one: &Meeting, other: &Meeting) -> bool {
    let merging = [one, other].map(|meeting| Entry {
        policy: meeting.entry.policy,
        layers: meeting
            .entry
            .layers
            .iter()
            .map(|layer| Layer {
                strategy: Strategy::Patch,
                ..layer.clone()
            })
            .collect(),
    });
    let layers = |meeting: &Meeting| meeting.entry.layers.to_vec();
    let was = layers(one).into_iter().chain(layers(other));
    let Some(objects) =
        shipped(profile, &merging).filter(|_| was.into_iter().any(|layer| !layer.strategy.merges()))
    else {
        return false;
    };
    let objects: Vec<Entry> = objects
        .into_iter()
        .map(|object| Entry {
            policy: object.name_giver.policy,
            layers: object
                .instead
                .map_or_else(|| object.name_giver.layers.clone(), Into::into),
        })
        .collect();
    holds_in_any_order(profile, &merging, &objects, &[])
}

/// The settings that apply if the first one is created first.
fn outcome(profile: &Profile, [first, second]: [&Meeting; 2]) -> String {
    // Numbers of local policies and of the hub's are not of one table: who says what goes by the position.
    let own = [first, second].map(|meeting| meeting.entry.layers.clone());
    let entries = [first, second].map(|meeting| meeting.entry.clone());
    let (alone, beside, holds) = alone_and_beside(profile, &entries);
    let described = |content: &Content| {
        let mut by: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (key, leaf) in content {
            let says = |layers: &[Layer]| {
                layers
                    .iter()
                    .any(|layer| layer.content.get(key).is_some_and(|own| own.value == leaf.value))
            };
            let position = own.iter().position(|layers| says(layers)).unwrap_or_default();
            by.entry(position).or_default().push(format!("`{key}`"));
        }
        let parts: Vec<String> = by
            .into_iter()
            .filter_map(|(position, keys)| {
                let meeting = [first, second].get(position).copied()?;
                Some(format!("{} of {}", keys.join(", "), meeting.key))
            })
            .collect();
        if parts.is_empty() {
            "no setting of either".to_owned()
        } else {
            parts.join(" and ")
        }
    };
    let (unset, set) = (described(&alone), described(&beside));
    let how = match holds {
        true if unset == set => format!("{unset}, and what more specific policies set"),
        false if unset == set => format!("{unset}, regardless of what more specific policies set"),
        true if beside.is_empty() => {
            format!("{unset} where no more specific policy sets anything, otherwise only what it sets")
        }
        true => {
            format!("{unset} where no more specific policy sets anything, otherwise {set} and what it sets")
        }
        false => format!("{unset} where no more specific policy sets anything, otherwise {set} in its place"),
    };
    format!("if {} is created first: {how}", first.key)
}
