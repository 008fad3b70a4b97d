//! What ClusterOverlays change, as text: one line for the summary of `render`, and a paragraph for `explain`.

use std::collections::BTreeSet;

use apimachinery::Locators;

use crate::diagnostic::{Lines, counted, first_names, fitting_names};
use crate::outcome::OverlayChanges;

/// So many clusters are named in one line; the rest is counted.
const MOST_CLUSTERS: usize = 3;

/// One line about what overlays change: `1 overlay changes 1 object on eu-2`; none if they change nothing.
#[must_use]
pub fn overlays_line(changes: &[OverlayChanges]) -> Option<String> {
    let (mut changing, mut objects, mut clusters) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for change in changes.iter().filter(|change| change.is_effective()) {
        changing.insert(&change.overlay);
        objects.insert(&change.object);
        clusters.extend(&change.clusters);
    }
    let verb = if changing.len() == 1 { "changes" } else { "change" };
    let overlays = counted(changing.len(), "overlay");
    let objects = counted(objects.len(), "object");
    let clusters = first_names(clusters, MOST_CLUSTERS);
    (!changing.is_empty()).then(|| format!("{overlays} {verb} {objects} on {clusters}"))
}

/// What overlays change, below the title of an overlay or of an object.
pub(super) fn overlay_lines(text: &mut Lines, changes: &[OverlayChanges], width: usize) {
    let locators = Locators::default();
    let shown =
        |value: &Option<kube_json::Value>| value.as_ref().map_or("nothing".to_owned(), ToString::to_string);
    for change in changes {
        text.blank();
        let at = change.place.as_ref();
        let at = at.map_or_else(String::new, |at| format!("  {}:{}", at.path, at.line));
        let [overlay, object] = [&change.overlay, &change.object].map(|locator| locators.short(locator));
        text.push(format_args!("{overlay} changes {object}{at}"));
        let clusters = fitting_names(&change.clusters, width.saturating_sub(5));
        text.push(format_args!("  on {clusters}"));
        for field in &change.fields {
            let (hub, here) = (shown(&field.hub), shown(&field.here));
            let overridden = if field.overridden {
                ", which a higher priority overrides"
            } else {
                ""
            };
            text.push(format_args!("    {}: {hub} -> {here}{overridden}", field.path));
        }
    }
}
