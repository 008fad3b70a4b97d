//! Losses: what of a policy does not hold on a path, and whose took its place.
//!
//! Owns: telling losses from what survives under another shape. Flows in: a policy and the result of a path.
//! Flows out: [`Loss`]es. Must not know: statuses, other paths.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ids::PolicyId;
use super::layer::{Content, Entry};
use super::merge_patch::starting_with;
use super::profile::{MergeUnit, Profile};

/// A unit of a policy that does not hold on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Whose it was.
    pub policy: PolicyId,
    /// Rule id or JSON pointer.
    pub key: Arc<str>,
    /// Whose took its place, sorted.
    pub by: Vec<PolicyId>,
}

/// What of a policy does not hold, and whose took its place: what stands under the same name now, else all that
/// holds there instead: a whole was dropped
/// (fixtures/policy/40-rlp-three-levels-gateway-atomic-override-wins).
pub(super) fn note_losses(profile: &Profile, entry: &Entry, content: &Content, losses: &mut Vec<Loss>) {
    let by_name = matches!(profile.unit, MergeUnit::Rules(_));
    let keys: BTreeSet<&Arc<str>> = entry
        .layers
        .iter()
        .flat_map(|layer| layer.content.keys())
        .collect();
    for key in keys {
        let mut by: BTreeSet<PolicyId> = BTreeSet::new();
        match content.get(key) {
            Some(leaf) if leaf.policy == entry.policy => continue,
            Some(leaf) => {
                by.insert(leaf.policy);
            }
            // Rules have no fields that could live on below another name.
            None if by_name => {}
            None => {
                let below = format!("{key}/");
                by.extend(starting_with(content, &below).map(|(_, leaf)| leaf.policy));
                let empty = entry.layers.iter().filter_map(|layer| layer.content.get(key));
                // An empty mapping that others filled is there still: nothing is lost.
                if !by.is_empty() && empty.clone().all(|leaf| leaf.value.is_object()) {
                    continue;
                }
                for (position, _) in key.match_indices('/').skip(1) {
                    let above = key.get(..position).and_then(|above| content.get(above));
                    by.extend(above.map(|leaf| leaf.policy));
                }
            }
        }
        by.remove(&entry.policy);
        if by.is_empty() {
            let others = content.values().map(|leaf| leaf.policy);
            by.extend(others.filter(|other| *other != entry.policy));
        }
        losses.push(Loss {
            policy: entry.policy,
            key: Arc::clone(key),
            by: by.into_iter().collect(),
        });
    }
}
