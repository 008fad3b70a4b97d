//! Losses that only the new side's `spokes` deny.
//!
//! Owns: which these are, and the wording. Flows in: effective changes on the new side's clusters, and on the old side's.
//! Flows out: those of the latter that are not among the former. Must not know: formats, or who said what.

use std::collections::HashMap;
use std::sync::Arc;

use super::report::EffectiveChange;

/// What is said of a loss that only the new side's `spokes` deny.
pub(super) const DENIED: &str = ", unless clusters are as only this change says";

/// The losses of a comparison with the old side's clusters that are not among the `known` ones, which are those with
/// the new side's.
#[must_use]
pub fn denied(known: &[EffectiveChange], on_old_spokes: Vec<EffectiveChange>) -> Vec<EffectiveChange> {
    let mut by_path: HashMap<(&str, &str, &[String]), Vec<&EffectiveChange>> = HashMap::new();
    for change in known.iter().filter(|change| !change.lost_settings.is_empty()) {
        let of_path = by_path.entry((&change.kind, &change.group, &change.path));
        of_path.or_default().push(change);
    }
    let losses = on_old_spokes.into_iter().filter_map(|mut change| {
        // What is lost on a listener is lost on all that is behind it.
        let above = (1..=change.path.len()).filter_map(|length| change.path.get(..length));
        let told = above.filter_map(|path| by_path.get(&(&*change.kind, &*change.group, path)));
        let told: Vec<&EffectiveChange> = told.flatten().copied().collect();
        let is_told = |cluster: &String| {
            told.iter().any(|known| {
                let mut lost = change.lost_settings.iter();
                known.clusters.contains(cluster)
                    && known.is_lost >= change.is_lost
                    && lost.all(|setting| known.lost_settings.contains(setting))
            })
        };
        let clusters = change.clusters.iter().filter(|cluster| !is_told(cluster));
        let clusters: Vec<String> = clusters.cloned().collect();
        // A path counts once, however many clusters lose it.
        if told.iter().any(|known| known.is_lost) {
            change.paths = 0;
        }
        change.clusters = Arc::new(clusters);
        (!change.lost_settings.is_empty() && !change.clusters.is_empty()).then_some(change)
    });
    losses.collect()
}
