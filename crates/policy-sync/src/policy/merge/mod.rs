//! Merging: many policies of one kind, on one path, become one result.
//!
//! A path leads from a Gateway, or from a Service of a mesh, to a backend. Policies are on *levels* of it, the Gateway
//! being less specific than the route. On one level, the *established* policy is the one that comes first by priority,
//! age, and name; those after it are its *challengers*.
//!
//! **Unit.** The settings of a policy are [`Layer`](super::model::Layer)s, one for its defaults and one for its
//! overrides, of [`Leaf`]s. A leaf is the smallest thing that merges ([`MergeUnit`]): a named rule, or a field that is
//! not a mapping. Each leaf keeps the policy and the place that it comes from.
//!
//! **Strategies.** Atomic settings replace each other as a whole; patches do so leaf by leaf, by RFC 7386
//! ([`json_merge_patch`]) or, for lists with keys, by Kubernetes' rules ([`strategic_merge`]). Defaults give way to the
//! challenger, overrides do not. The four combinations are in [`gep713`].
//!
//! **Order.** The profile of a kind selects one ([`merge`]):
//! - [`gep713::right_fold`]: from the end of the path to its start, every policy is established against the result so
//!   far. On one level, the newer policy therefore wins among defaults, and the older one among overrides.
//! - [`gep713::oldest_wins`]: as the earlier text of GEP-713 has it, the oldest wins on one level.
//! - [`challenger_first`]: the most specific policy decides whether others are laid under it (Envoy Gateway). Only the
//!   closest policy on the other side of the border between Gateway and route is ([`levels_to_merge`]).
//! - [`mod@per_field`]: policies add up, as long as no two set one field (NGINX Gateway Fabric).
//! - [`inherited`](super::products::Product::inherited): an annotation of the Gateway or of the route decides (kgateway).
//!   `paths` calls it instead of [`merge`].
//! - Kinds whose policies all apply have no one result: each policy is an entry of its own.
//!
//! **Who wins, and what is lost.** The winner of a setting is the policy of its leaf. `effective` compares each policy
//! with the result: what is missing there is a loss, and the reason is a [`Rule`](super::model::Rule).

pub(crate) mod gep713;
pub(crate) mod json_merge_patch;
pub(crate) mod per_field;
pub(crate) mod strategic_merge;

use std::sync::Arc;

use super::model::{Content, Entry, Leaf, PolicyId};
use super::profile::{Dictates, Filled, ListKey, MergeUnit, Precedence, Profile, SameTarget, Strategy};
use crate::topology::Level;
use gep713::{oldest_wins, right_fold};
use json_merge_patch::{has, lay_under, starting_with, unflatten};
use per_field::per_field;
use strategic_merge::lay_under_strategically;

/// Folds the policies of one path, levels from least to most specific, each level in role order.
pub(crate) fn merge(
    profile: &Profile,
    levels: &[&[Entry]],
    locator: &dyn Fn(PolicyId) -> Arc<str>,
) -> Arc<Content> {
    if adds_up(profile, levels.iter().copied()) {
        return add_up(levels, locator);
    }
    if profile.same_target == SameTarget::PerField {
        return Arc::new(per_field(profile, levels));
    }
    // Most paths have one policy with one wrapper: whatever the strategy, that is the result, and needs no copy.
    let mut entries = levels.iter().flat_map(|level| level.iter());
    if let (Some(only), None) = (entries.next(), entries.next())
        && let [layer] = only.layers.as_ref()
    {
        return Arc::clone(&layer.content);
    }
    Arc::new(match (profile.precedence, profile.dictates) {
        (Precedence::OldestWins, _) => oldest_wins(&profile.unit, levels),
        (_, Dictates::Established) => right_fold(&profile.unit, levels),
        (_, Dictates::Challenger) => challenger_first(&profile.unit, &profile.list_keys, levels),
    })
}

/// Whether policies have no one result: all apply, or nobody knows what those of one target come to.
pub(crate) fn adds_up<'l>(profile: &Profile, mut levels: impl Iterator<Item = &'l [Entry]>) -> bool {
    match profile.same_target {
        SameTarget::AddUp => true,
        SameTarget::Unknown => levels.any(|level| level.len() > 1),
        SameTarget::Reject | SameTarget::PerField | SameTarget::Merge => false,
    }
}

/// Adds the settings that routes take from every policy on the way, the most specific one first.
pub(crate) fn fill(content: &mut Content, filled: &Filled, levels: &[&[Entry]]) {
    for entry in levels.iter().rev().flat_map(|level| level.iter().rev()) {
        for field in &filled.fields {
            let (at, below) = (format!("/{field}"), format!("/{field}/"));
            if has(content, &at) {
                continue;
            }
            for layer in entry.layers.iter() {
                let whole = layer.content.get_key_value(at.as_str());
                let parts = whole.into_iter().chain(starting_with(&layer.content, &below));
                content.extend(parts.map(|(key, leaf)| (Arc::clone(key), leaf.clone())));
            }
        }
    }
}

/// The same for routes that take these fields and nothing else, and refuse a policy of theirs that has more, also by what it
/// was merged with: then nothing of it counts, and what it would have taken the place of holds. Also tells who is refused.
pub(crate) fn fill_alone(
    merged: &Content,
    filled: &Filled,
    levels: &[(Level, &[Entry])],
) -> (Content, Vec<PolicyId>) {
    let fits = |content: &Content| content.keys().all(|key| filled.has(key));
    let is_refused = |(level, entries): &(Level, &[Entry])| {
        matches!(level, Level::Route | Level::Rule)
            && entries.iter().any(|entry| {
                !entry.layers.iter().all(|layer| fits(&layer.content)) || (entry.merges() && !fits(merged))
            })
    };
    let (refused, standing): (Vec<_>, Vec<_>) = levels.iter().copied().partition(is_refused);
    let standing: Vec<&[Entry]> = standing.into_iter().map(|(_, entries)| entries).collect();
    let refused = refused.into_iter().flat_map(|(_, entries)| entries.iter());
    let refused: Vec<PolicyId> = refused.map(|entry| entry.policy).collect();
    let last = levels.last().filter(|_| refused.is_empty());
    let is_merged = last.is_some_and(|(_, entries)| entries.iter().any(Entry::merges));
    let mut content = if is_merged { merged.clone() } else { Content::new() };
    fill(&mut content, filled, &standing);
    (content, refused)
}

/// Every policy applies: one entry each, under its locator.
fn add_up(levels: &[&[Entry]], locator: &dyn Fn(PolicyId) -> Arc<str>) -> Arc<Content> {
    let mut content = Content::new();
    for entry in levels.iter().flat_map(|level| level.iter()) {
        let leaves = entry.layers.iter().flat_map(|layer| layer.content.values());
        let leaf = Leaf {
            value: Arc::new(unflatten(leaves)),
            at: Arc::from(""),
            base: "/spec",
            policy: entry.policy,
            element: None,
            essential: true,
        };
        content.insert(locator(entry.policy), leaf);
    }
    Arc::new(content)
}

/// Merges from the most specific policy on, which dictates: as long as one asks for it, the next one towards the root is
/// laid under. One that does not stands alone, even if it says nothing (docs/systems/envoy-gateway.md#merge-types).
fn challenger_first(unit: &MergeUnit, lists: &[ListKey], levels: &[&[Entry]]) -> Content {
    let mut entries = levels.iter().rev().flat_map(|level| level.iter().rev());
    let Some(first) = entries.next() else {
        return Content::new();
    };
    let (mut folded, mut strategy) = (content(first), strategy(first));
    for entry in entries {
        if !strategy.merges() {
            break;
        }
        // Go leaves out an empty list when it writes the patch (https://github.com/envoyproxy/gateway/issues/9233).
        folded.retain(|_, leaf| !leaf.value.as_array().is_some_and(Vec::is_empty));
        match strategy {
            Strategy::StrategicPatch => lay_under_strategically(&mut folded, &content(entry), unit, lists),
            _ => lay_under(&mut folded, &content(entry), unit),
        }
        strategy = self::strategy(entry);
    }
    folded
}

/// The settings of a policy, because these kinds have no overrides.
fn content(entry: &Entry) -> Content {
    let leaves = entry.layers.iter().flat_map(|layer| layer.content.iter());
    leaves.map(|(key, leaf)| (key.clone(), leaf.clone())).collect()
}

fn strategy(entry: &Entry) -> Strategy {
    let first = entry.layers.first();
    first.map_or(Strategy::Atomic, |layer| layer.strategy)
}

/// The levels of a path, least specific first, whose policies are merged at its end.
///
/// Where the most specific policy dictates, it meets the closest one on the other side of the border between Gateway and
/// route. Never does a rule's policy meet that of its route, nor that of a listener the one of its Gateway
/// (docs/systems/envoy-gateway.md#merge-types).
pub(crate) fn levels_to_merge<'l>(
    dictates: Dictates,
    levels: impl DoubleEndedIterator<Item = (Level, &'l [Entry])>,
) -> Vec<&'l [Entry]> {
    match dictates {
        Dictates::Established => levels.map(|(_, entries)| entries).collect(),
        Dictates::Challenger => {
            let mut from_leaf = levels.rev();
            let Some((level, dictating)) = from_leaf.next() else {
                return Vec::new();
            };
            let closest = from_leaf.find(|(above, _)| is_of_gateway(*above) != is_of_gateway(level));
            let closest = closest.map(|(_, entries)| entries);
            closest.into_iter().chain([dictating]).collect()
        }
    }
}

/// Whether a level is on the Gateway's side of a path.
pub(crate) fn is_of_gateway(level: Level) -> bool {
    level <= Level::Service
}
