//! Merging: many policies on one path become one result.
//!
//! Owns: which way a kind merges, what routes take from every policy, and kinds whose policies add up.
//! Flows in: layers by level, established first. Flows out: leaves with their sources.
//! Must not know: objects, paths, statuses.

use std::sync::Arc;

use super::ids::PolicyId;
use super::layer::{Content, Entry, Leaf};
use super::leaves::unflatten;
use super::merge_patch::starting_with;
use super::oldest_wins::oldest_wins;
use super::per_field::per_field;
use super::profile::{Dictates, Filled, Precedence, Profile, SameTarget};
use super::right_fold::{challenger_first, right_fold};

/// Folds the policies of one path, levels from least to most specific, each level in role order.
#[must_use]
pub(crate) fn merge(
    profile: &Profile,
    levels: &[&[Entry]],
    locator: &dyn Fn(PolicyId) -> Arc<str>,
) -> Arc<Content> {
    if profile.same_target == SameTarget::AddUp {
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
