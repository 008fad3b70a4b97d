//! What ClusterOverlays change, for reports: the hub's value of each field, and the one that clusters get instead. Fields
//! with equal values on the same clusters are one entry.

use std::collections::BTreeMap;

use apimachinery::Identity;
use kube_json::Value;
use serde::Serialize;

use super::inventory::SourceLine;
use crate::diagnostic::{Locate, Part};
use crate::placing::overlays::{ChangedField, Overlay, Overlays};

/// What one ClusterOverlay changes in one object, on clusters that get the same values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl OverlayChanges {
    /// The same on one cluster, or on all if none is named; nothing if it changes nothing there.
    #[must_use]
    pub fn on(mut self, cluster: Option<&str>) -> Option<Self> {
        self.clusters
            .retain(|name| cluster.is_none_or(|only| only == name));
        (!self.clusters.is_empty()).then_some(self)
    }

    /// Whether no higher priority overrides all of it.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        self.fields.iter().any(|field| !field.overridden)
    }
}

/// A field that a ClusterOverlay changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// What the overlays change in the fields that `is_wanted` accepts, on the clusters that `is_there` accepts for the object.
pub fn overlay_changes(
    overlays: &Overlays,
    is_wanted: impl Fn(&Overlay, &ChangedField) -> bool,
    is_there: impl Fn(&Identity, &str) -> bool,
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
            for (reports, clusters) in by_values(&fields, |cluster| is_there(object, cluster)) {
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

/// Groups the clusters that `is_there` accepts by the values that the overlay gives them, without those of the hub.
fn by_values<'f>(
    fields: &[&'f ChangedField],
    is_there: impl Fn(&str) -> bool,
) -> Vec<(Vec<OverlaidFieldReport>, Vec<&'f str>)> {
    let mut there: BTreeMap<&str, Vec<OverlaidFieldReport>> = BTreeMap::new();
    for field in fields {
        for value in field.here.iter().filter(|value| value.value != field.hub) {
            let clusters = value.clusters.iter();
            for cluster in clusters.filter(|cluster| is_there(cluster)) {
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
