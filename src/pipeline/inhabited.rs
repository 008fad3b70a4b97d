//! Clusters on which something lives already: what is effective there is not what the hub alone says.
//!
//! Owns: which clusters are looked at one by one, and how many. Flows in: two sides of `diff`. Flows out: effective
//! changes. Must not know: how they are shown.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::analysis::Placed;
use super::inputs::Loaded;
use crate::diagnostic::Findings;
use crate::hub::Objects;
use crate::report::diff::{EffectiveChange, EffectiveSettings, SettingsOnCluster};

/// So many objects are attached once more for single clusters at most: the view of a cluster costs as much as the hub
/// has objects, and `diff` stays within a second of the render.
const MOST_OBJECTS: usize = 5_000;

/// What is effective otherwise on the new side, and on how many clusters where something lives already that could not be
/// looked at one by one.
#[must_use]
pub fn effective_changes(
    old: (&Loaded, &mut EffectiveSettings),
    new: (&Loaded, &mut EffectiveSettings),
) -> (Vec<EffectiveChange>, usize) {
    let changes = EffectiveSettings::changes(old.1, new.1);
    let (clusters, left_out) = to_look_at(old.0, new.0, &changes);
    if clusters.is_empty() {
        return (changes, left_out);
    }
    for (loaded, settings) in [(old.0, &mut *old.1), (new.0, &mut *new.1)] {
        // What is wrong with this side has been said where it was rendered.
        let placed = Placed::new(loaded, &mut Findings::new());
        let seen: Vec<SettingsOnCluster> = clusters
            .par_iter()
            .map(|cluster| {
                let attached = placed.attach(Some(cluster), &mut Findings::new());
                let view = placed.evaluate(&attached, Some(cluster), &mut Findings::new());
                SettingsOnCluster::new(cluster, &view)
            })
            .collect();
        for there in seen {
            settings.look_at(there);
        }
    }
    let changes = EffectiveSettings::changes(old.1, new.1);
    (changes, left_out)
}

/// The clusters to look at on both sides: first where what lives there changes, then where the hub alone changes
/// something. None where neither is another one.
fn to_look_at(old: &Loaded, new: &Loaded, changes: &[EffectiveChange]) -> (Vec<String>, usize) {
    let is_same = |old: Option<&Objects>, new: Option<&Objects>| {
        let (old, new) = (old.into_iter().flatten(), new.into_iter().flatten());
        old.map(|object| &object.value)
            .eq(new.map(|object| &object.value))
    };
    let same_hub = changes.is_empty() && is_same(Some(&old.hub.objects), Some(&new.hub.objects));
    let touched: BTreeSet<&String> = changes.iter().flat_map(|change| change.clusters.iter()).collect();
    let inhabited: BTreeSet<&String> = old.hub.spokes.keys().chain(new.hub.spokes.keys()).collect();
    let mut clusters: Vec<(bool, bool, &String)> = inhabited
        .into_iter()
        .filter(|cluster| new.admits(cluster))
        .map(|cluster| {
            let same = is_same(old.hub.spokes.get(cluster), new.hub.spokes.get(cluster));
            (same, !touched.contains(cluster), cluster)
        })
        .filter(|(same, ..)| !(*same && same_hub))
        .collect();
    clusters.sort_unstable();
    let objects = old.hub.objects.len().max(new.hub.objects.len()).max(1);
    let most = (MOST_OBJECTS / objects).max(1);
    let left_out = clusters.len().saturating_sub(most);
    let clusters = clusters
        .into_iter()
        .take(most)
        .map(|(.., cluster)| cluster.clone());
    (clusters.collect(), left_out)
}
