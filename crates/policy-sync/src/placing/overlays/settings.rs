//! What each entry of `set` of each overlay sets: on which clusters, in which objects, to which values.
//!
//! Owns: these, by numbers, and the clusters that are alike to all overlays. Flows in: the overlays as written, the hub.
//! Flows out: [`Settings`]. Must not know: what several overlays come to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use apimachinery::Work;
use kube_json::Value;

use super::fleet::{Fleet, Lists};
use super::reading::{Reader, path_place};
use super::{ChangedField, ClusterNames, Overlay, Overridden, STEPS_PER_CHANGE, SetValue, ValueHere};
use crate::api::overlay::{ClusterOverlay, SetField};
use crate::diagnostic::{Findings, Place};
use crate::hub::Hub;
use crate::object::{Object, OverlaidField};

/// One entry of `set` of one overlay.
pub(super) struct Entry<'a> {
    pub(super) overlay: usize,
    change: usize,
    pub(super) field: &'a SetField,
    /// Each distinct value; nothing where the field is removed.
    pub(super) values: Vec<Option<Value>>,
    clusters: ValueOf,
    /// Clusters whose values are unknown.
    unknown: Vec<usize>,
}

/// Which value of an entry a cluster has.
pub(super) enum ValueOf {
    /// All clusters of the overlay have the only value.
    All,
    /// Clusters with their values, by cluster.
    Each(BTreeMap<usize, usize>),
}

impl Entry<'_> {
    fn value_on(&self, cluster: usize) -> Option<usize> {
        match &self.clusters {
            ValueOf::All => Some(0),
            ValueOf::Each(values) => values.get(&cluster).copied(),
        }
    }
}

/// An entry of `set` in one object.
pub(super) struct Setting {
    pub(super) entry: usize,
    /// The position of the object in the hub.
    object: usize,
    pub(super) pointer: String,
}

/// An overlay, and what it selects.
struct Selecting<'a> {
    object: &'a Object,
    written: &'a ClusterOverlay,
    clusters: Vec<usize>,
    unknown: Vec<usize>,
    entries: Range<usize>,
    settings: Range<usize>,
}

/// What clusters have in common that get the same changes: their overlays, and the values of entries with values of the
/// cluster.
type Alike = (Vec<usize>, Vec<Option<usize>>);

/// All changes that overlays make.
pub(super) struct Settings<'a> {
    hub: &'a Hub,
    overlays: Vec<Selecting<'a>>,
    entries: Vec<Entry<'a>>,
    settings: Vec<Setting>,
}

impl<'a> Settings<'a> {
    /// Of all overlays. Nothing if reading them is too costly.
    pub(super) fn read(
        hub: &'a Hub,
        written: &'a [(&'a Object, ClusterOverlay)],
        fleet: &Fleet<'a>,
        work: &Work,
        findings: &mut Findings,
    ) -> Option<Self> {
        let reader = Reader::new(hub, fleet, work);
        let mut settings = Self {
            hub,
            overlays: Vec::with_capacity(written.len()),
            entries: Vec::new(),
            settings: Vec::new(),
        };
        for (object, overlay) in written {
            settings.add(object, overlay, &reader, findings)?;
        }
        Some(settings)
    }

    fn add(
        &mut self,
        object: &'a Object,
        written: &'a ClusterOverlay,
        reader: &Reader<'_, 'a>,
        findings: &mut Findings,
    ) -> Option<()> {
        let overlay = self.overlays.len();
        findings.extend(reader.unknown_clusters(object, written));
        let (clusters, unknown) = reader.selected(&written.clusters)?;
        let (entries, settings) = (self.entries.len(), self.settings.len());
        for (number, change) in written.changes.iter().enumerate() {
            let targets = reader.targets(object, change, findings)?;
            for field in &change.set {
                let values = reader.values(object, field, &clusters, findings)?;
                let entry = Entry {
                    overlay,
                    change: number,
                    field,
                    values: values.distinct,
                    clusters: values.clusters,
                    unknown: values.unknown,
                };
                let pointers = reader.pointers(object, &entry, &targets, findings)?;
                let settings = pointers.into_iter().map(|(object, pointer)| Setting {
                    entry: self.entries.len(),
                    object,
                    pointer,
                });
                self.settings.extend(settings);
                self.entries.push(entry);
            }
        }
        self.overlays.push(Selecting {
            object,
            written,
            clusters,
            unknown,
            entries: entries..self.entries.len(),
            settings: settings..self.settings.len(),
        });
        Some(())
    }

    /// Clusters that are alike to all overlays, after the overlays that select them: all changes and all values are equal.
    pub(super) fn groups(&self, fleet: &Fleet<'_>, work: &Work) -> Option<Vec<(Vec<usize>, Vec<usize>)>> {
        let mut by_cluster: BTreeMap<usize, Alike> = BTreeMap::new();
        for (number, overlay) in self.overlays.iter().enumerate() {
            let entries = self.entries.get(overlay.entries.clone()).unwrap_or_default();
            let entries = entries
                .iter()
                .filter(|entry| matches!(entry.clusters, ValueOf::Each(_)));
            let entries: Vec<&Entry<'_>> = entries.collect();
            let looks = entries
                .len()
                .saturating_add(1)
                .saturating_mul(overlay.clusters.len());
            if !work.pay(looks, STEPS_PER_CHANGE) {
                return None;
            }
            for cluster in overlay
                .clusters
                .iter()
                .filter(|cluster| fleet.is_admitted(**cluster))
            {
                let (overlays, values) = by_cluster.entry(*cluster).or_default();
                overlays.push(number);
                values.extend(entries.iter().map(|entry| entry.value_on(*cluster)));
            }
        }
        let mut groups: BTreeMap<Alike, Vec<usize>> = BTreeMap::new();
        for (cluster, alike) in by_cluster {
            groups.entry(alike).or_default().push(cluster);
        }
        let groups = groups.into_iter();
        Some(
            groups
                .map(|((overlays, _), clusters)| (overlays, clusters))
                .collect(),
        )
    }

    /// What these overlays change on a cluster that they select, by the position of the object.
    pub(super) fn changes(
        &self,
        overlays: &[usize],
        cluster: usize,
        work: &Work,
    ) -> Option<BTreeMap<usize, Vec<SetValue>>> {
        let mut changes: BTreeMap<usize, Vec<SetValue>> = BTreeMap::new();
        for overlay in overlays.iter().filter_map(|overlay| self.overlays.get(*overlay)) {
            if !work.pay(overlay.settings.len(), STEPS_PER_CHANGE) {
                return None;
            }
            for number in overlay.settings.clone() {
                let setting = self.settings.get(number)?;
                if let Some(value) = self.entries.get(setting.entry)?.value_on(cluster) {
                    changes.entry(setting.object).or_default().push((number, value));
                }
            }
        }
        Some(changes)
    }

    /// The object at a position in the hub.
    pub(super) fn object(&self, position: usize) -> Option<&'a Object> {
        self.hub.objects.iter().as_slice().get(position)
    }

    pub(super) fn setting(&self, number: usize) -> Option<&Setting> {
        self.settings.get(number)
    }

    pub(super) fn entry(&self, number: usize) -> Option<&Entry<'a>> {
        self.entries.get(number)
    }

    /// An overlay, by its number.
    pub(super) fn overlay(&self, number: usize) -> Option<(&'a Object, &'a ClusterOverlay)> {
        self.overlays
            .get(number)
            .map(|overlay| (overlay.object, overlay.written))
    }

    /// The place of a setting: its path.
    pub(super) fn place(&self, setting: &Setting) -> Option<Place> {
        let entry = self.entry(setting.entry)?;
        Some(path_place(self.overlay(entry.overlay)?.0, entry.field))
    }

    /// The path of a setting, as it is written.
    pub(super) fn path(&self, setting: &Setting) -> Option<String> {
        Some(self.entry(setting.entry)?.field.path.to_string())
    }

    /// A setting, as a changed object refers to it.
    pub(super) fn overlaid_field(&self, number: usize) -> Option<OverlaidField> {
        let setting = self.setting(number)?;
        let entry = self.entry(setting.entry)?;
        let overlay = self.overlay(entry.overlay)?.0;
        let (document, pointer) = overlay.origin.field(&entry.field.pointer);
        Some(OverlaidField {
            pointer: setting.pointer.clone(),
            overlay: overlay.identity(),
            document,
            entry: pointer.to_string(),
        })
    }

    /// The overlays with all of their changes.
    pub(super) fn overlays(&self, fleet: &Fleet<'_>, overridden: &Overridden) -> Vec<Overlay> {
        let mut lists = Lists::new(fleet);
        let overlays = self.overlays.iter().map(|overlay| {
            let object = overlay.object;
            let clusters = overlay.clusters.iter().copied();
            let admitted: Vec<usize> = clusters.filter(|cluster| fleet.is_admitted(*cluster)).collect();
            let here = overlay
                .entries
                .clone()
                .filter_map(|number| self.entries.get(number));
            let here: Vec<Here> = here
                .map(|entry| Here::new(entry, &admitted, &mut lists))
                .collect();
            let fields = overlay.settings.clone().filter_map(|number| {
                let setting = self.settings.get(number)?;
                let entry = self.entries.get(setting.entry)?;
                let here = here.get(setting.entry.checked_sub(overlay.entries.start)?)?;
                let target = self.object(setting.object)?;
                let hub = target
                    .value
                    .pointer(&setting.pointer)
                    .filter(|value| !value.is_null());
                let same = here.values.iter().find(|value| value.value.as_ref() == hub);
                let by = overridden.range((number, 0)..=(number, usize::MAX));
                let by = by.filter_map(|((_, by), clusters)| {
                    Some((lists.names(clusters), self.overlay(*by)?.0.identity()))
                });
                Some(ChangedField {
                    object: target.identity(),
                    path: entry.field.path.to_string(),
                    pointer: setting.pointer.clone(),
                    hub: hub.cloned(),
                    overridden: by.collect(),
                    same_as_hub: same.map(|same| Arc::clone(&same.clusters)).unwrap_or_default(),
                    here: Arc::clone(&here.values),
                    change: entry.change,
                    entry: entry.field.pointer.clone(),
                    unknown: Arc::clone(&here.unknown),
                })
            });
            let fields = fields.collect();
            Overlay {
                identity: object.identity(),
                origin: object.origin.clone(),
                priority: overlay.written.priority,
                clusters: lists.names(&overlay.clusters),
                named: overlay.written.clusters.names.clone().unwrap_or_default(),
                applied_on: lists.names(&admitted),
                is_whole: overlay.written.is_whole,
                unknown: lists.names(&overlay.unknown),
                fields,
            }
        });
        overlays.collect()
    }
}

/// The values of an entry with their clusters, which all objects share.
struct Here {
    values: Arc<[ValueHere]>,
    unknown: ClusterNames,
}

impl Here {
    fn new(entry: &Entry<'_>, admitted: &[usize], lists: &mut Lists<'_, '_>) -> Self {
        let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); entry.values.len()];
        for cluster in admitted {
            if let Some(list) = entry.value_on(*cluster).and_then(|value| clusters.get_mut(value)) {
                list.push(*cluster);
            }
        }
        let values = entry
            .values
            .iter()
            .zip(&clusters)
            .map(|(value, clusters)| ValueHere {
                value: value.clone(),
                clusters: lists.names(clusters),
            });
        Self {
            values: values.collect(),
            unknown: lists.names(&entry.unknown),
        }
    }
}
