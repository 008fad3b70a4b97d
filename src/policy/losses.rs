//! Losses: what of a policy does not hold on a path, and whose took its place.
//!
//! Owns: telling losses from what survives under another shape. Flows in: a policy and the result of a path.
//! Flows out: [`Loss`]es. Must not know: statuses, other paths.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ids::AuthoredId;
use super::layer::{Content, Layer, Leaf};
use super::merge_patch::starting_with;
use super::profile::{MergeUnit, Profile};
use super::strategic_merge::Kept;

/// A unit of a policy that does not hold on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Whose it was.
    pub policy: AuthoredId,
    /// Rule id or JSON pointer.
    pub key: Arc<str>,
    /// Whose took its place, sorted.
    pub by: Vec<AuthoredId>,
}

/// What of a policy does not hold, and whose took its place: what stands under the same name now, else all that
/// holds there instead: a whole was dropped
/// (fixtures/policy/40-rlp-three-levels-gateway-atomic-override-wins).
pub(super) fn note_losses(
    profile: &Profile,
    (id, layers): (AuthoredId, &[Layer]),
    (content, kept): (&Content, &Kept<'_>),
    author_of: &dyn Fn(&str, &Leaf) -> AuthoredId,
    dictating: Option<AuthoredId>,
    losses: &mut Vec<Loss>,
) {
    let by_name = profile.unit.is_by_name();
    let keys: BTreeSet<&Arc<str>> = layers.iter().flat_map(|layer| layer.content.keys()).collect();
    for key in keys {
        let mut by: BTreeSet<AuthoredId> = BTreeSet::new();
        match content.get(key) {
            Some(leaf) if author_of(key, leaf) == id => continue,
            Some(leaf) => {
                by.insert(author_of(key, leaf));
            }
            // A field that was merged deeply lives on below its name.
            None if matches!(profile.unit, MergeUnit::Fields(_))
                && starting_with(content, &format!("{key}/"))
                    .any(|(key, leaf)| author_of(key, leaf) == id) =>
            {
                continue;
            }
            // Rules have no fields that could live on below another name.
            None if by_name => {}
            None => {
                let list = layers.iter().find_map(|layer| layer.content.get(key));
                let displaced = list.and_then(|list| kept.is_displaced(id, (key, list)));
                if displaced == Some(false) {
                    continue;
                }
                let below = format!("{key}/");
                by.extend(starting_with(content, &below).map(|(key, leaf)| author_of(key, leaf)));
                let empty = layers.iter().filter_map(|layer| layer.content.get(key));
                // An empty mapping that others filled is there still: nothing is lost.
                if !by.is_empty() && empty.clone().all(|leaf| leaf.value.is_object()) {
                    continue;
                }
                for (position, _) in key.match_indices('/').skip(1) {
                    let above = key.get(..position).and_then(|above| content.get_key_value(above));
                    by.extend(above.map(|(above, leaf)| author_of(above, leaf)));
                }
            }
        }
        by.remove(&id);
        if by.is_empty() {
            let others = content.iter().map(|(key, leaf)| author_of(key, leaf));
            by.extend(others.filter(|other| *other != id));
        }
        if by.is_empty() {
            // A policy that says nothing has no leaf to be known by, and yet takes the place of all others.
            by.extend(dictating.filter(|other| *other != id));
        }
        losses.push(Loss {
            policy: id,
            key: Arc::clone(key),
            by: by.into_iter().collect(),
        });
    }
}
