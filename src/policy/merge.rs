//! Merging: many policies on one path become one result.
//!
//! Owns: None, Atomic and Patch with defaults and overrides (GEP-713, merge strategies), named rules and RFC
//! 7386, the right fold of today's roles, and the order of GEP-713's earlier text on one level.
//! Flows in: layers by level, established first. Flows out: leaves with their sources.
//! Must not know: objects, statuses.

use std::ops::Bound;
use std::sync::Arc;

use super::attachment::PolicyId;
use super::leaves::unflatten;
use super::profile::{Dictates, MergeUnit, Precedence, Profile, SameTarget, Strategy};
use super::settings::{Content, Layer, Leaf, Side};

/// One policy in one place of the hierarchy.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// Its settings; shared unless a spoke-local policy took some away.
    pub layers: Arc<[Layer]>,
}

/// Folds the policies of one path, levels from least to most specific, each level in role order.
#[must_use]
pub fn fold(profile: &Profile, levels: &[&[Entry]], locator: &dyn Fn(PolicyId) -> Arc<str>) -> Arc<Content> {
    if profile.same_target == SameTarget::AddUp {
        return add_up(levels, locator);
    }
    let mut entries = levels.iter().flat_map(|level| level.iter());
    if let (Some(only), None) = (entries.next(), entries.next())
        && let [layer] = only.layers.as_ref()
    {
        return Arc::clone(&layer.content);
    }
    let mut folding = Folding {
        unit: &profile.unit,
        content: Content::new(),
    };
    match profile.precedence {
        Precedence::Roles => folding.by_roles(profile.dictates, levels),
        Precedence::Seed => {
            for level in levels.iter().rev() {
                folding.level_by_seed(level);
            }
        }
    }
    Arc::new(folding.content)
}

struct Folding<'p> {
    unit: &'p MergeUnit,
    content: Content,
}

impl Folding<'_> {
    /// The right fold of docs/systems/gep-713.md#the-right-fold: the most specific, newest policy first; each
    /// further one towards the root is established against what has been folded so far.
    fn by_roles(&mut self, dictates: Dictates, levels: &[&[Entry]]) {
        let mut child = Strategy::Atomic;
        for entry in levels.iter().rev().flat_map(|level| level.iter().rev()) {
            for layer in entry.layers.iter() {
                let strategy = match dictates {
                    Dictates::Established => layer.strategy,
                    Dictates::Challenger => child,
                };
                self.apply(layer.side, strategy, &layer.content);
            }
            child = entry.layers.first().map_or(child, |layer| layer.strategy);
        }
    }

    /// One level in the order of docs/systems/gep-713.md#conflicts-in-the-earlier-text. On it the oldest wins
    /// in defaults and in overrides alike, so its policies first become one; the oldest one's strategy
    /// counts, against its peers and against what is below.
    fn level_by_seed(&mut self, level: &[Entry]) {
        for side in [Side::Defaults, Side::Overrides] {
            let mut layers = level
                .iter()
                .flat_map(|entry| entry.layers.iter())
                .filter(|layer| layer.side == side);
            let Some(oldest) = layers.next() else { continue };
            let mut together = (*oldest.content).clone();
            for newer in layers {
                if oldest.strategy == Strategy::Patch {
                    let mut older = newer.content.as_ref().clone();
                    patch(&mut older, &together, self.unit);
                    together = older;
                } else if is_empty(&together) {
                    together = newer.content.as_ref().clone();
                }
            }
            self.apply(side, oldest.strategy, &together);
        }
    }

    /// Merges an established policy's layer into what has been folded
    /// (docs/systems/gep-713.md#merge-strategies).
    fn apply(&mut self, side: Side, strategy: Strategy, established: &Content) {
        match (strategy, side) {
            (Strategy::None | Strategy::Atomic, Side::Defaults) => {
                if is_empty(&self.content) {
                    self.content = established.clone();
                }
            }
            (Strategy::None | Strategy::Atomic, Side::Overrides) => self.content = established.clone(),
            (Strategy::Patch, Side::Defaults) => {
                let challenger = std::mem::replace(&mut self.content, established.clone());
                patch(&mut self.content, &challenger, self.unit);
            }
            (Strategy::Patch, Side::Overrides) => patch(&mut self.content, established, self.unit),
        }
    }
}

/// Kuadrant's and the GEP's "empty": nothing that its kind is about.
fn is_empty(content: &Content) -> bool {
    !content.values().any(|leaf| leaf.essential)
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
            essential: true,
        };
        content.insert(locator(entry.policy), leaf);
    }
    Arc::new(content)
}

/// Lays `patch` over `target`: by name for rules, by RFC 7386 for fields.
pub fn patch(target: &mut Content, patch: &Content, unit: &MergeUnit) {
    for (key, leaf) in patch {
        if matches!(unit, MergeUnit::Rules(_)) {
            target.insert(Arc::clone(key), leaf.clone());
        } else {
            patch_field(target, key, leaf);
        }
    }
}

/// One leaf of an RFC 7386 patch. A scalar or a list replaces whatever stood there; a mapping replaces only what
/// is no mapping; null deletes.
fn patch_field(target: &mut Content, key: &Arc<str>, leaf: &Leaf) {
    let below = format!("{key}/");
    let is_mapping = leaf.value.as_object().is_some_and(serde_json::Map::is_empty);
    if is_mapping && starting_with(target, &below).next().is_some() {
        return;
    }
    let gone: Vec<Arc<str>> = starting_with(target, &below)
        .map(|(key, _)| Arc::clone(key))
        .collect();
    for key in gone {
        target.remove(&key);
    }
    for (position, _) in key.match_indices('/').skip(1) {
        if let Some(above) = key.get(..position) {
            target.remove(above);
        }
    }
    if leaf.value.is_null() {
        target.remove(key);
        keep_parent(target, key, leaf);
    } else {
        target.insert(Arc::clone(key), leaf.clone());
    }
}

/// A patch that only deletes still makes a mapping of what it stands in (RFC 7386).
fn keep_parent(target: &mut Content, key: &str, leaf: &Leaf) {
    let Some((parent, _)) = key.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) else {
        return;
    };
    let below = format!("{parent}/");
    if starting_with(target, &below).next().is_some() {
        return;
    }
    let parent: Arc<str> = Arc::from(parent);
    let mapping = Leaf {
        value: Arc::new(serde_json::Value::Object(serde_json::Map::new())),
        at: Arc::clone(&parent),
        ..leaf.clone()
    };
    target.insert(parent, mapping);
}

/// The entries whose key begins with `prefix`.
pub fn starting_with<'c>(
    content: &'c Content,
    prefix: &'c str,
) -> impl Iterator<Item = (&'c Arc<str>, &'c Leaf)> {
    content
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}
