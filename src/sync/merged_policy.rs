//! Several policies on one target become one object: which gives its name, and what its spec says.
//!
//! Owns: the mergeable half of the same-target rule (docs/systems/why-we-differ.md#policies-on-one-target).
//! Flows in: the policies of one node. Flows out: the name-giver, merged settings, and the spec that holds them.
//! Must not know: clusters.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::broken;
use crate::policy::{
    Attachments, Content, Entry, Leaf, PolicyId, Precedence, Profile, Side, Strategy, exchanged, merge,
    unflatten,
};

/// Among policies that may merge: the one that gives the shipped object its name, and the merged content; no content:
/// it wins alone.
pub(super) fn contest<'e>(
    profile: &Profile,
    entries: &'e [Entry],
) -> Option<(&'e Entry, Option<Arc<Content>>)> {
    match profile.precedence {
        Precedence::EstablishedChallenger => established_challenger(profile, entries),
        Precedence::OldestWins => oldest_wins(profile, entries),
    }
}

/// An established policy whose strategy merges absorbs the others. One whose defaults are atomic gives way to them as a
/// whole, and the question is theirs; one whose overrides are atomic stands alone.
fn established_challenger<'e>(
    profile: &Profile,
    entries: &'e [Entry],
) -> Option<(&'e Entry, Option<Arc<Content>>)> {
    let mut rest = entries;
    loop {
        let (established, challengers) = rest.split_first()?;
        let strategy = strategy_of(profile, established);
        if challengers.is_empty() {
            return Some((established, None));
        }
        match strategy {
            Strategy::Patch => return Some((established, Some(fold_level(profile, rest)))),
            // Kuadrant folds from the right: the atomic defaults of an older policy give way to the newer one as a whole.
            // docs/systems/gep-713.md#the-right-fold
            Strategy::Atomic if side_of(established) == Side::Defaults && has_settings(challengers) => {
                rest = challengers;
            }
            Strategy::None | Strategy::Atomic => return Some((established, None)),
        }
    }
}

/// Where the oldest wins, overrides still go before defaults, so that even atomic policies of both sides can hold
/// together. The oldest gives its name where its strategy merges, else the oldest that anything is left of.
fn oldest_wins<'e>(profile: &Profile, entries: &'e [Entry]) -> Option<(&'e Entry, Option<Arc<Content>>)> {
    let (oldest, others) = entries.split_first()?;
    if others.is_empty() {
        return Some((oldest, None));
    }
    let content = fold_level(profile, entries);
    let merges = strategy_of(profile, oldest) == Strategy::Patch;
    let holds = |entry: &Entry| content.values().any(|leaf| leaf.policy == entry.policy);
    let mut left = entries.iter().filter(|entry| holds(entry));
    match (left.next(), left.next()) {
        _ if merges => Some((oldest, Some(content))),
        (Some(first), Some(_)) => Some((first, Some(content))),
        (only, _) => Some((only.unwrap_or(oldest), None)),
    }
}

fn strategy_of(profile: &Profile, entry: &Entry) -> Strategy {
    entry
        .layers
        .first()
        .map_or(profile.strategy, |layer| layer.strategy)
}

/// What the policies of one node come to among themselves.
fn fold_level(profile: &Profile, entries: &[Entry]) -> Arc<Content> {
    merge(profile, &[entries], &|_| Arc::from(""))
}

fn side_of(entry: &Entry) -> Side {
    entry.layers.last().map_or(Side::Defaults, |layer| layer.side)
}

fn has_settings(entries: &[Entry]) -> bool {
    entries
        .iter()
        .flat_map(|entry| entry.layers.iter())
        .any(|layer| layer.content.values().any(|leaf| leaf.essential))
}

/// Who is in a merged policy: its name-giver, and everybody whom a value comes from.
pub(super) fn contributors(winner: &Entry, content: &Content) -> BTreeSet<PolicyId> {
    content
        .values()
        .map(|leaf| leaf.policy)
        .chain(std::iter::once(winner.policy))
        .collect()
}

/// The name-giver's spec with the merged settings in its wrapper. Where the oldest wins, defaults and overrides stay
/// apart, because both may stand in one policy there; a side that the name-giver lacks brings its strategy along.
pub(super) fn merged_spec(
    attachments: &Attachments<'_>,
    profile: &Profile,
    winner: &Entry,
    entries: &[Entry],
    content: &Content,
) -> Value {
    let object = attachments.policy(winner.policy).object;
    let Some(spec) = object.value.get("spec") else {
        broken(format_args!("{} merges and has no spec", object.identity()))
    };
    if profile.precedence == Precedence::EstablishedChallenger {
        let base = winner.layers.first().map_or("/spec", |layer| layer.base);
        return exchanged(spec, profile, base, authored(attachments, content));
    }
    let mut together = spec.clone();
    for side in [Side::Defaults, Side::Overrides] {
        let one_side: Vec<Entry> = entries
            .iter()
            .map(|entry| Entry {
                policy: entry.policy,
                layers: entry
                    .layers
                    .iter()
                    .filter(|layer| layer.side == side)
                    .cloned()
                    .collect(),
            })
            .filter(|entry| !entry.layers.is_empty())
            .collect();
        let Some(oldest) = one_side.first().and_then(|entry| entry.layers.first()) else {
            continue;
        };
        let own = winner.layers.iter().find(|layer| layer.side == side);
        let mut settings = authored(attachments, &fold_level(profile, &one_side));
        let chosen = own.map_or(profile.strategy, |own| own.strategy);
        let base = match own {
            Some(own) => own.base,
            None if oldest.base == "/spec" && oldest.strategy != chosen => "/spec/defaults",
            None => oldest.base,
        };
        // A strategy in the name-giver's spec would count for this wrapper too.
        let inherited = winner
            .layers
            .iter()
            .any(|layer| layer.strategy != profile.strategy);
        let other_way = chosen != oldest.strategy || (own.is_none() && base != "/spec" && inherited);
        if let (true, Some(field), Value::Object(settings)) =
            (other_way, profile.strategy_fields.first(), &mut settings)
        {
            settings.insert(field.clone(), Value::from(word_of(oldest.strategy)));
        }
        together = exchanged(&together, profile, base, settings);
    }
    together
}

/// A strategy as GEP-713 writes it.
const fn word_of(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::None | Strategy::Atomic => "atomic",
        Strategy::Patch => "patch",
    }
}

/// Settings as their authors wrote them: without the defaults of a schema.
fn authored(attachments: &Attachments<'_>, content: &Content) -> Value {
    let leaves: Vec<Leaf> = content
        .values()
        .filter_map(|leaf| {
            let object = attachments.policy(leaf.policy).object;
            let value = object.value.pointer(&leaf.source_pointer())?;
            Some(Leaf {
                value: Arc::new(value.clone()),
                ..leaf.clone()
            })
        })
        .collect();
    unflatten(leaves.iter())
}
