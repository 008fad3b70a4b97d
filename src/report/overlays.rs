//! What ClusterOverlays change, for reports: the hub's value of each field and the one that clusters get instead.
//!
//! Owns: entries with equal values on equal clusters, and their text. Flows in: [`Overlays`]. Flows out: serializable data
//! with places. Must not know: how overlays meet.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::{Identity, Locators};
use kube_json::Value;
use serde::Serialize;

use crate::diagnostic::{Lines, Locate, Part, counted, first_names, fitting_names};
use crate::outcome::SourceLine;
use crate::placing::overlays::{ChangedField, Overlay, Overlays};

/// So many clusters are named in one line; the rest is counted.
const MOST_CLUSTERS: usize = 3;

/// What one ClusterOverlay changes in one object, on clusters that get the same values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OverlayChanges {
    /// Locator of the overlay.
    pub overlay: String,
    /// File and line of the first field that it changes.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// The clusters, sorted.
    pub clusters: Vec<String>,
    /// Locator of the object.
    pub object: String,
    /// The fields, in the order of the overlay.
    pub fields: Vec<OverlaidFieldReport>,
}

/// A field that a ClusterOverlay changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OverlaidFieldReport {
    /// Where it is in the object.
    pub path: String,
    /// Its value on the hub; absent if the overlay adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Value>,
    /// Its value on these clusters; absent if the overlay removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<Value>,
    /// Whether an overlay with a higher priority decides instead.
    pub overridden: bool,
}

/// What the overlays change in the fields that `is_wanted` accepts, on all clusters or on one.
pub(super) fn overlay_changes(
    overlays: &Overlays,
    is_wanted: impl Fn(&Overlay, &ChangedField) -> bool,
    cluster: Option<&str>,
    locate: &dyn Locate,
) -> Vec<OverlayChanges> {
    let mut all = Vec::new();
    for overlay in &overlays.overlays {
        let fields = overlay.fields.iter().filter(|field| is_wanted(overlay, field));
        let mut by_object: BTreeMap<&Identity, Vec<&ChangedField>> = BTreeMap::new();
        for field in fields {
            by_object.entry(&field.object).or_default().push(field);
        }
        for (object, fields) in by_object {
            let place = fields.first().and_then(|field| {
                let path = [&field.entry, "/path"].concat();
                SourceLine::of(locate, overlay.origin.place(&path, Part::Value))
            });
            for (reports, clusters) in by_values(&fields, cluster) {
                all.push(OverlayChanges {
                    overlay: overlay.identity.locator(),
                    place: place.clone(),
                    clusters: clusters.into_iter().map(str::to_owned).collect(),
                    object: object.locator(),
                    fields: reports,
                });
            }
        }
    }
    all
}

/// All clusters, or the one that is asked for, by what the fields of one object become on them, as far as that is not
/// what the hub has.
fn by_values<'f>(
    fields: &[&'f ChangedField],
    asked: Option<&str>,
) -> Vec<(Vec<OverlaidFieldReport>, Vec<&'f str>)> {
    let mut there: BTreeMap<&str, Vec<OverlaidFieldReport>> = BTreeMap::new();
    for field in fields {
        for value in field.here.iter().filter(|value| value.value != field.hub) {
            let clusters = value.clusters.iter();
            for cluster in clusters.filter(|cluster| asked.is_none_or(|asked| asked == *cluster)) {
                there.entry(cluster).or_default().push(OverlaidFieldReport {
                    path: field.path.clone(),
                    hub: field.hub.clone(),
                    here: value.value.clone(),
                    overridden: field.overridden.contains_key(cluster),
                });
            }
        }
    }
    let mut groups: Vec<(Vec<OverlaidFieldReport>, Vec<&str>)> = Vec::new();
    for (cluster, reports) in there {
        match groups.iter_mut().find(|(known, _)| *known == reports) {
            Some((_, clusters)) => clusters.push(cluster),
            None => groups.push((reports, vec![cluster])),
        }
    }
    groups
}

/// One line about what overlays change: `1 overlay changes 1 object on eu-2`; none if they change nothing.
#[must_use]
pub fn overlays_line(overlays: &Overlays, is_effective: impl Fn(&Identity, &str) -> bool) -> Option<String> {
    let (mut changing, mut objects, mut clusters) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for overlay in &overlays.overlays {
        for field in &overlay.fields {
            let same = field.same_as_hub.iter();
            let without: BTreeSet<&String> = same.chain(field.overridden.keys()).collect();
            let here = field.here.iter().flat_map(|value| value.clusters.iter());
            let here = here.filter(|cluster| !without.contains(cluster));
            for cluster in here.filter(|cluster| is_effective(&field.object, cluster)) {
                changing.insert(&overlay.identity);
                objects.insert(&field.object);
                clusters.insert(cluster);
            }
        }
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
    let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), ToString::to_string);
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
