//! Two policies on one target whose result depends on which is created first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::order_independence::{
    ABOVE, FOREIGN, another, another_setting, is_order_independent, merged, probes,
};
use super::same_target::shipped;
use crate::diagnostic::{Code, Finding, Place};
use crate::object::Object;
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

impl Meeting {
    pub(super) fn new(object: &Object, place: Place, entry: &Entry) -> Self {
        Self {
            name: object.identity().to_string(),
            key: object.key(),
            place,
            entry: entry.clone(),
        }
    }
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
    let orders = [[one, other], [other, one]];
    let mut said = orders.map(|order| outcome(profile, order, None));
    if let [first, second] = &said
        && first == second
    {
        let probes = probes(profile, &[&one.entry, &other.entry]);
        let differs = |probe: &&Content| {
            let [first, second] = orders.map(|order| described(profile, order, probe));
            first != second
        };
        let probe = probes.iter().find(differs);
        said = orders.map(|order| outcome(profile, order, probe));
    }
    let notes = orders.into_iter().zip(said);
    notes.fold(finding, |finding, ([first, _], said)| {
        finding.note(format!("if {} is created first: {said}", first.key))
    })
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
    let merging = [one, other].map(|meeting| {
        let layers = meeting.entry.layers.iter().map(|layer| Layer {
            strategy: Strategy::Patch,
            ..layer.clone()
        });
        Entry::new(meeting.entry.policy, layers.collect::<Vec<_>>())
    });
    let mut was = one.entry.layers.iter().chain(other.entry.layers.iter());
    if was.all(|layer| layer.strategy.merges()) {
        return false;
    }
    let Some(objects) = shipped(profile, &merging) else {
        return false;
    };
    let objects = objects.into_iter().map(|object| match object.instead {
        Some(layers) => Entry::new(object.name_giver.policy, layers),
        None => object.name_giver.clone(),
    });
    let objects: Vec<Entry> = objects.collect();
    is_order_independent(profile, &merging, &objects, &[])
}

/// What applies if the first one is created first: in general, and for the settings of one more specific policy.
fn outcome(profile: &Profile, order: [&Meeting; 2], probe: Option<&Content>) -> String {
    let unset = described(profile, order, &Content::new()).text;
    let Described {
        text: set,
        is_challenged,
    } = described(profile, order, &another_setting());
    let mut said = match is_challenged {
        true if unset == set => format!("{unset}, and what more specific policies set"),
        false if unset == set => format!("{unset}, regardless of what more specific policies set"),
        true if set == NOTHING => {
            format!("{unset} where no more specific policy sets anything, otherwise only what it sets")
        }
        true => {
            format!("{unset} where no more specific policy sets anything, otherwise {set} and what it sets")
        }
        false => format!("{unset} where no more specific policy sets anything, otherwise {set} in its place"),
    };
    if let Some(probe) = probe {
        let Described { text, is_challenged } = described(profile, order, probe);
        let keys = probe.keys().filter_map(|key| match key.strip_suffix(FOREIGN) {
            Some("") => None,
            Some(above) => Some(format!("another field of `{above}`")),
            None => Some(format!("`{key}`")),
        });
        let keys: Vec<String> = keys.collect();
        let theirs = if is_challenged { " and what it sets" } else { "" };
        let _ = write!(said, "; where one sets {}: {text}{theirs}", keys.join(", "));
    }
    said
}

/// No setting of two policies.
const NOTHING: &str = "no setting of either";

/// A result of two policies.
#[derive(PartialEq)]
struct Described {
    /// Their settings in it, and what is said of less specific policies.
    text: String,
    /// Whether anything of the more specific policy is in it.
    is_challenged: bool,
}

/// The result of two policies, the first of which is created first, for the settings of a more specific one.
fn described(profile: &Profile, order: [&Meeting; 2], challenger: &Content) -> Described {
    let mut result = merged(profile, &order.map(|meeting| meeting.entry.clone()), challenger);
    let is_above = result.remove(ABOVE).is_some();
    let own = result.len();
    result.retain(|_, leaf| leaf.policy != another());
    let is_challenged = result.len() < own;
    // What both say is one's in either order, so that equal results read alike.
    let mut meetings = order;
    meetings.sort_by_key(|meeting| &meeting.key);
    let layers = || {
        let numbered = (0_usize..).zip(meetings);
        numbered.flat_map(|(at, meeting)| meeting.entry.layers.iter().map(move |layer| (at, layer)))
    };
    let mut by: BTreeMap<(usize, &str), Vec<String>> = BTreeMap::new();
    for (key, leaf) in &result {
        let says =
            |(_, layer): &(usize, &Layer)| layer.content.get(key).is_some_and(|own| own.value == leaf.value);
        let said = layers()
            .find(says)
            .map_or((0, leaf.base), |(at, layer)| (at, layer.base));
        by.entry(said).or_default().push(format!("`{key}`"));
    }
    let parts = by.into_iter().filter_map(|((at, base), keys)| {
        let meeting = meetings.get(at)?;
        let of = match meeting.entry.layers.as_ref() {
            [_] => meeting.key.clone(),
            _ => format!(
                "`{}` of {}",
                base.trim_start_matches('/').replace('/', "."),
                meeting.key
            ),
        };
        Some(format!("{} of {of}", keys.join(", ")))
    });
    let above = is_above.then(|| "what less specific policies set".to_owned());
    let parts: Vec<String> = parts.chain(above).collect();
    Described {
        text: if parts.is_empty() {
            NOTHING.to_owned()
        } else {
            parts.join(" and ")
        },
        is_challenged,
    }
}
