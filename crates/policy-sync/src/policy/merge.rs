//! Merging: many policies on one path become one result.
//!
//! Owns: which way a kind merges, the settings that routes get from every policy, and kinds whose policies add up.
//! Flows in: layers by level, established first. Flows out: leaves with their sources.
//! Must not know: objects, paths, statuses.

use std::sync::Arc;

use super::ids::PolicyId;
use super::layer::{Content, Entry, Leaf};
use super::merge_patch::lay_under;
use super::strategic_merge::lay_under_strategically;
use super::leaves::unflatten;
use super::merge_patch::starting_with;
use super::oldest_wins::oldest_wins;
use super::per_field::per_field;
use super::profile::{ListKey, MergeUnit, Strategy, Dictates, Filled, Precedence, Profile, SameTarget};
use super::right_fold::right_fold;
use crate::topology::Level;

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
pub(super) fn adds_up<'l>(profile: &Profile, mut levels: impl Iterator<Item = &'l [Entry]>) -> bool {
    match profile.same_target {
        SameTarget::AddUp => true,
        SameTarget::Unknown => levels.any(|level| level.len() > 1),
        SameTarget::Reject | SameTarget::PerField | SameTarget::Merge => false,
    }
}

/// Adds the settings that routes take from every policy on the way, the most specific one first.
pub(super) fn fill(content: &mut Content, filled: &Filled, levels: &[&[Entry]]) {
    for entry in levels.iter().rev().flat_map(|level| level.iter().rev()) {
        for field in &filled.fields {
            let (at, below) = (format!("/{field}"), format!("/{field}/"));
            if content.contains_key(at.as_str()) || starting_with(content, &below).next().is_some() {
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
pub(super) fn fill_alone(
    merged: &Content,
    filled: &Filled,
    levels: &[(Level, &[Entry])],
) -> (Content, Vec<PolicyId>) {
    let fits = |content: &Content| content.keys().all(|key| filled.has(key));
    let merges = |entry: &Entry| entry.layers.iter().any(|layer| layer.strategy.merges());
    let is_refused = |(level, entries): &&(Level, &[Entry])| {
        matches!(level, Level::Route | Level::Rule)
            && entries.iter().any(|entry| {
                !entry.layers.iter().all(|layer| fits(&layer.content)) || (merges(entry) && !fits(merged))
            })
    };
    let standing = levels.iter().filter(|level| !is_refused(level));
    let standing: Vec<&[Entry]> = standing.map(|(_, entries)| *entries).collect();
    let refused = levels.iter().filter(is_refused);
    let refused = refused.flat_map(|(_, entries)| entries.iter().map(|entry| entry.policy));
    let refused = refused.collect();
    let is_merged = standing.len() == levels.len()
        && levels
            .last()
            .is_some_and(|(_, entries)| entries.iter().any(merges));
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
pub(super) fn challenger_first(unit: &MergeUnit, lists: &[ListKey], levels: &[&[Entry]]) -> Content {
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
        folded.retain(|_, leaf| !is_empty_list(leaf));
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
    let layers = entry.layers.iter();
    layers
        .flat_map(|layer| layer.content.iter())
        .map(|(key, leaf)| (key.clone(), leaf.clone()))
        .collect()
}

fn strategy(entry: &Entry) -> Strategy {
    entry
        .layers
        .first()
        .map_or(Strategy::Atomic, |layer| layer.strategy)
}

fn is_empty_list(leaf: &Leaf) -> bool {
    leaf.value.as_array().is_some_and(Vec::is_empty)
}
