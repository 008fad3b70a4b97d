//! Losses that only the new side's `spokes` deny.
//!
//! Owns: which these are, and the wording. Flows in: effective changes on the new side's clusters, and on the old side's.
//! Flows out: those of the latter that are not among the former. Must not know: formats, or who said what.

use std::collections::HashMap;
use std::sync::Arc;

use super::report::EffectiveChange;

/// What is said of a loss that only the new side's `spokes` deny.
pub(super) const DENIED: &str = ", unless clusters are as only this change says";

/// The losses of a comparison with the old side's clusters that are not among `with_new_spokes`, the losses of
/// the comparison with the new side's clusters.
pub fn denied(
    with_new_spokes: &[EffectiveChange],
    on_old_spokes: Vec<EffectiveChange>,
) -> Vec<EffectiveChange> {
    let mut by_path: HashMap<(&str, &str, &[String]), Vec<&EffectiveChange>> = HashMap::new();
    for change in with_new_spokes
        .iter()
        .filter(|change| !change.lost_settings.is_empty())
    {
        let of_path = by_path.entry((&change.kind, &change.group, &change.path));
        of_path.or_default().push(change);
    }
    let losses = on_old_spokes.into_iter().filter_map(|mut change| {
        // What is lost on a listener is lost on all that is behind it.
        let above = (1..=change.path.len()).filter_map(|length| change.path.get(..length));
        let same_path = above.filter_map(|path| by_path.get(&(&*change.kind, &*change.group, path)));
        let same_path: Vec<&EffectiveChange> = same_path.flatten().copied().collect();
        let is_counted = |cluster: &String| {
            same_path.iter().any(|counted| {
                let mut lost = change.lost_settings.iter();
                counted.clusters.contains(cluster)
                    && counted.is_lost >= change.is_lost
                    && lost.all(|setting| counted.lost_settings.contains(setting))
            })
        };
        let clusters = change.clusters.iter().filter(|cluster| !is_counted(cluster));
        let clusters: Vec<String> = clusters.cloned().collect();
        // A path counts once, however many clusters lose it.
        if same_path.iter().any(|counted| counted.is_lost) {
            change.paths = 0;
        }
        change.clusters = Arc::new(clusters);
        (!change.lost_settings.is_empty() && !change.clusters.is_empty()).then_some(change)
    });
    losses.collect()
}
