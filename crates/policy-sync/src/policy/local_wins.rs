//! The rest of a synced policy if policies of its kind live on the cluster.
//!
//! Owns: removing the rules and fields that others define from settings.
//! Flows in: the settings of both. Flows out: the settings that are left.
//! Must not know: which cluster; which policy is synced.

use std::sync::Arc;

use super::merge::json_merge_patch::defines;
use super::policy::{Content, Entry, Layer, Side};
use super::profile::{Dictates, Precedence, Profile};

/// The settings of a synced policy that local ones of its kind on its target leave. `None`: there are none, and the
/// policy is withheld.
///
/// What is left comes to the same with the local ones whichever is created first: patches of other rules and fields. Beside
/// settings that hold or give way as a whole, that is nothing (docs/systems/policy-sync.md#local-policies-win).
pub(crate) fn without_rules_of(
    profile: &Profile,
    synced: &Arc<[Layer]>,
    locals: &[Entry],
) -> Option<Arc<[Layer]>> {
    if locals.is_empty() {
        return Some(Arc::clone(synced));
    }
    let local_layers = || locals.iter().flat_map(|local| local.layers.iter());
    let whole = |side: Side| local_layers().any(|layer| layer.side == side && !layer.strategy.merges());
    let taken = match profile.precedence {
        Precedence::EstablishedChallenger => {
            let taken =
                whole(Side::Defaults) || whole(Side::Overrides) || profile.dictates == Dictates::Challenger;
            [taken, taken]
        }
        // Policies of one level meet side by side there.
        Precedence::OldestWins => [whole(Side::Defaults), whole(Side::Overrides)],
    };
    let defined: Vec<&Content> = local_layers().map(|layer| layer.content.as_ref()).collect();
    let mut left: Vec<Layer> = Vec::new();
    for layer in synced.iter() {
        if !layer.strategy.merges() {
            return None;
        }
        if taken.get(layer.side as usize).is_some_and(|taken| *taken) {
            continue;
        }
        let content: Content = layer
            .content
            .iter()
            .filter(|(key, _)| !defined.iter().any(|local| defines(local, key)))
            .map(|(key, leaf)| (Arc::clone(key), leaf.clone()))
            .collect();
        if content.values().any(|leaf| leaf.essential) {
            left.push(Layer {
                content: Arc::new(content),
                ..layer.clone()
            });
        }
    }
    (!left.is_empty()).then(|| Arc::from(left))
}
