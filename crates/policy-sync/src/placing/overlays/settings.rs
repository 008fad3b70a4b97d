//! What each entry of `set` of each overlay sets: on which clusters, in which objects, to which values.
//!
//! Owns: the clusters that an overlay selects, its targets, its paths, and the values of its clusters; the findings about
//! these. Flows in: the overlays as written, the hub. Flows out: [`Settings`]. Must not know: what several overlays come to.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use apimachinery::field_path::{NotFound, member};
use apimachinery::{GroupKind, Identity, Selector, Work, pointer};
use kube_json::Value;

use super::protected::{self, Part as Protected, first_difference, may_contain_parts, part_at};
use super::{
    ChangedField, ClusterNames, MOST_NAMES, Overlay, Overridden, STEPS_PER_CHANGE, SetValue, ValueHere, set,
};
use crate::api::crd::Scope;
use crate::api::gateway;
use crate::api::ocm::GROUP;
use crate::api::overlay::{
    Action, Change, ClusterField, ClusterOverlay, Clusters, NoValue, SetField, Target, Targeted, fill,
};
use crate::diagnostic::{
    Code, Finding, Findings, KnownNames, Place, counted, first_items, first_names, nearest, with_article,
};
use crate::hub::Hub;
use crate::object::{Object, OverlaidField};
use crate::placing::known_clusters;

/// What looking at one cluster costs an overlay with selectors.
const STEPS_PER_CLUSTER: u64 = 2;

/// The clusters of the input, by name; each has a number.
pub(super) struct Fleet<'a> {
    clusters: Vec<Cluster<'a>>,
}

struct Cluster<'a> {
    name: &'a str,
    managed: Option<Managed<'a>>,
    is_admitted: bool,
}

/// What selectors and values read.
struct Managed<'a> {
    object: &'a Object,
    /// Of a repeated name, the last one counts (docs/systems/ocm-placement.md#claim-selectors).
    claims: BTreeMap<&'a str, &'a str>,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(hub: &'a Hub, admits: impl Fn(&str) -> bool) -> Self {
        let names = known_clusters(hub).into_iter().filter(|name| !name.is_empty());
        let clusters = names.map(|name| Cluster {
            name,
            managed: hub
                .objects
                .find(GROUP, "ManagedCluster", None, name)
                .map(|object| {
                    let claims = object
                        .value
                        .pointer("/status/clusterClaims")
                        .and_then(Value::as_array);
                    let claims = claims.into_iter().flatten();
                    let text = |claim: &'a Value, key: &str| claim.get(key).and_then(Value::as_str);
                    let claims =
                        claims.filter_map(|claim| Some((text(claim, "name")?, text(claim, "value")?)));
                    Managed {
                        object,
                        claims: claims.collect(),
                    }
                }),
            is_admitted: admits(name),
        });
        Self {
            clusters: clusters.collect(),
        }
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.clusters
            .binary_search_by(|cluster| cluster.name.cmp(name))
            .ok()
    }

    /// The names of clusters, sorted.
    pub(super) fn sorted_names(&self, numbers: &[usize]) -> Vec<String> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        let clusters = numbers.iter().filter_map(|number| self.clusters.get(*number));
        clusters.map(|cluster| cluster.name.to_owned()).collect()
    }

    fn is_admitted(&self, number: usize) -> bool {
        self.clusters
            .get(number)
            .is_some_and(|cluster| cluster.is_admitted)
    }

    /// The clusters that an overlay selects, and those of which nobody knows. Nothing if that is too costly.
    fn selected(&self, wanted: &Clusters, work: &Work) -> Option<(Vec<usize>, Vec<usize>)> {
        let is_selective = is_selective(wanted);
        let mut candidates: Vec<usize> = match &wanted.names {
            Some(names) => names.iter().filter_map(|(name, _)| self.number(name)).collect(),
            None if is_selective => (0..self.clusters.len()).collect(),
            None => Vec::new(),
        };
        candidates.sort_unstable();
        candidates.dedup();
        if !work.pay(candidates.len(), STEPS_PER_CLUSTER) {
            return None;
        }
        if !is_selective {
            return Some((candidates, Vec::new()));
        }
        let matches = |selector: &Option<Selector>, value_of: &dyn Fn(&str) -> Option<&'a str>| {
            selector
                .as_ref()
                .is_none_or(|selector| selector.matches(value_of))
        };
        let (mut selected, mut unknown) = (Vec::new(), Vec::new());
        for number in candidates {
            match self
                .clusters
                .get(number)
                .and_then(|cluster| cluster.managed.as_ref())
            {
                None => unknown.push(number),
                Some(managed) => {
                    let by_labels = matches(&wanted.label_selector, &|key| managed.object.label(key));
                    let by_claims =
                        matches(&wanted.claim_selector, &|name| managed.claims.get(name).copied());
                    if by_labels && by_claims {
                        selected.push(number);
                    }
                }
            }
        }
        Some((selected, unknown))
    }
}

/// Whether labels or claims decide.
const fn is_selective(clusters: &Clusters) -> bool {
    clusters.label_selector.is_some() || clusters.claim_selector.is_some()
}

impl Cluster<'_> {
    /// The value that `${cluster....}` stands for.
    fn lookup(&self, field: &ClusterField) -> Option<String> {
        let managed = self.managed.as_ref();
        let value = match field {
            ClusterField::Name => Some(self.name),
            ClusterField::Label(key) => managed.and_then(|managed| managed.object.label(key)),
            ClusterField::Annotation(key) => managed.and_then(|managed| managed.object.annotation(key)),
            ClusterField::Claim(name) => {
                managed.and_then(|managed| managed.claims.get(name.as_str()).copied())
            }
        };
        value.map(str::to_owned)
    }
}

/// One entry of `set` of one overlay.
pub(super) struct Entry<'a> {
    pub(super) overlay: usize,
    change: usize,
    field: &'a SetField,
    /// Each distinct value; nothing where the field is removed.
    pub(super) values: Vec<Option<Value>>,
    clusters: ValueOf,
    /// Clusters whose values are unknown.
    unknown: Vec<usize>,
}

/// Which value of an entry a cluster has.
enum ValueOf {
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

/// All changes that overlays make.
pub(super) struct Settings<'a> {
    hub: &'a Hub,
    overlays: Vec<Selecting<'a>>,
    entries: Vec<Entry<'a>>,
    settings: Vec<Setting>,
}

/// What reading needs besides the overlay.
struct Reader<'r, 'a> {
    hub: &'a Hub,
    fleet: &'r Fleet<'a>,
    work: &'r Work,
    names: KnownNames<'a>,
    /// The ConfigMaps that have the parameters of a class, by namespace and name.
    params: BTreeSet<(&'a str, &'a str)>,
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
        let classes = hub.objects.of_kind(gateway::GROUP, "GatewayClass").iter();
        let params = classes.filter_map(|class| {
            let reference = class.value.pointer("/spec/parametersRef")?;
            let text = |key: &str| reference.get(key).and_then(Value::as_str);
            Some((text("namespace")?, text("name")?))
        });
        let reader = Reader {
            hub,
            fleet,
            work,
            names: KnownNames::of(fleet.clusters.iter().map(|cluster| cluster.name)),
            params: params.collect(),
        };
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
        let (clusters, unknown) = reader.fleet.selected(&written.clusters, reader.work)?;
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
        let mut by_cluster: BTreeMap<usize, (Vec<usize>, Vec<Option<usize>>)> = BTreeMap::new();
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
        let mut groups: BTreeMap<(Vec<usize>, Vec<Option<usize>>), Vec<usize>> = BTreeMap::new();
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

/// Lists of clusters, of which equal ones are one.
struct Lists<'f, 'a> {
    fleet: &'f Fleet<'a>,
    lists: BTreeSet<ClusterNames>,
}

impl<'f, 'a> Lists<'f, 'a> {
    const fn new(fleet: &'f Fleet<'a>) -> Self {
        let lists = BTreeSet::new();
        Self { fleet, lists }
    }

    fn names(&mut self, clusters: &[usize]) -> ClusterNames {
        let names = ClusterNames::from(self.fleet.sorted_names(clusters));
        if let Some(known) = self.lists.get(&names) {
            return Arc::clone(known);
        }
        self.lists.insert(Arc::clone(&names));
        names
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

fn path_place(overlay: &Object, field: &SetField) -> Place {
    overlay.place(&pointer::child(&field.pointer, "path"))
}

/// The values of an entry.
struct Values {
    distinct: Vec<Option<Value>>,
    clusters: ValueOf,
    unknown: Vec<usize>,
}

impl<'a> Reader<'_, 'a> {
    /// Names that no cluster has.
    fn unknown_clusters(&self, overlay: &Object, written: &ClusterOverlay) -> Vec<Finding> {
        let names = written.clusters.names.iter().flatten();
        let unknown = names.filter(|(name, _)| self.fleet.number(name).is_none());
        let findings = unknown.map(|(name, pointer)| {
            let finding = Finding::new(
                Code::OVERLAY_UNKNOWN_CLUSTER,
                overlay.place(pointer),
                format!(
                    "{} names cluster `{name}`, which the input does not have",
                    overlay.identity()
                ),
            );
            // If the ManagedCluster exists and cannot be read, its own finding says why.
            let refused = self.hub.refused.iter();
            let refused = refused.filter(|object| object.is(GROUP, "ManagedCluster") && object.name == *name);
            let finding = refused.fold(finding, |finding, object| finding.follows_from(object.place("")));
            match self.names.nearest(name) {
                Some(near) => {
                    let finding = finding.help(format!("did you mean `{near}`?"));
                    match self.hub.objects.find(GROUP, "ManagedCluster", None, near) {
                        Some(cluster) => {
                            finding.lacks(format!("ManagedCluster {name}"), cluster.place("/metadata/name"))
                        }
                        None => finding,
                    }
                }
                None => finding.help("correct the name, or add the ManagedCluster to the input"),
            }
        });
        findings.collect()
    }

    /// The objects that a change is for, by their positions in the hub.
    fn targets(&self, overlay: &Object, change: &Change, findings: &mut Findings) -> Option<Vec<usize>> {
        let Target {
            group,
            kind,
            objects: targeted,
        } = &change.target;
        let namespace = overlay.namespace_or_empty();
        let (mut objects, field): (Vec<&'a Object>, &str) = match targeted {
            Targeted::Name(name) => {
                let object = self.hub.objects.find(group, kind, Some(namespace), name);
                (object.into_iter().collect(), "name")
            }
            Targeted::Labels(labels) => {
                let all = self.in_namespace(group, kind, namespace);
                if !self.work.pay(all.len(), STEPS_PER_CLUSTER) {
                    return None;
                }
                let chosen = all
                    .iter()
                    .filter(|object| labels.matches(|key| object.label(key)));
                (chosen.collect(), "labelSelector")
            }
        };
        let not_allowed = |field: &str, what: &str, reason: &str| {
            let place = overlay.place(&format!("{}/target/{field}", change.pointer));
            let message = format!("an overlay cannot change {what}: {reason}");
            Finding::new(Code::OVERLAY_NOT_ALLOWED, place, message).help("change the object itself")
        };
        let info = self.hub.kinds.kind(group, kind);
        if info.is_some_and(|info| info.scope == Scope::Cluster) {
            let reason = "an overlay changes objects of its own namespace only";
            findings.push(not_allowed("kind", &with_article(kind), reason));
            return Some(Vec::new());
        }
        if objects.is_empty() {
            findings.push(self.target_not_found(overlay, change));
        }
        if (group.as_str(), kind.as_str()) == ("", "ConfigMap") {
            objects.retain(|object| {
                let is_for_class = self.params.contains(&(namespace, object.name.as_str()));
                if is_for_class {
                    let reason = "it has the parameters of a GatewayClass";
                    findings.push(not_allowed(field, &object.identity().to_string(), reason));
                }
                !is_for_class
            });
        }
        Some(
            objects
                .into_iter()
                .filter_map(|object| self.hub.objects.position(object))
                .collect(),
        )
    }

    fn in_namespace(&self, group: &str, kind: &str, namespace: &str) -> &'a [Object] {
        let all = self.hub.objects.of_kind(group, kind);
        let start = all.partition_point(|object| object.namespace_or_empty() < namespace);
        let end = all.partition_point(|object| object.namespace_or_empty() <= namespace);
        all.get(start..end).unwrap_or_default()
    }

    fn target_not_found(&self, overlay: &Object, change: &Change) -> Finding {
        let Target { group, kind, objects } = &change.target;
        let namespace = overlay.namespace_or_empty();
        let finding = |field: &str, message: String| {
            let place = overlay.place(&format!("{}/target/{field}", change.pointer));
            Finding::new(Code::OVERLAY_TARGET_NOT_FOUND, place, message)
        };
        let (who, all) = (overlay.identity(), self.in_namespace(group, kind, namespace));
        let Targeted::Name(name) = objects else {
            let message = format!(
                "{who} changes objects of kind {kind} by their labels, and none in namespace `{namespace}` has these"
            );
            return match self.near_kind(namespace, &change.target) {
                Some((field, near)) => finding(field, message).help(format!("did you mean `{near}`?")),
                None => finding("labelSelector", message).help("correct the selector, or label the objects"),
            };
        };
        let target = Identity::new(group, kind, Some(namespace), name);
        let message = format!("{who} changes {target}, which is not in the input");
        // If the object exists and cannot be read, its own finding says why.
        let refused = self
            .hub
            .refused
            .iter()
            .filter(|object| object.identity() == target);
        let from = |finding: Finding| {
            refused
                .clone()
                .fold(finding, |finding, object| finding.follows_from(object.place("")))
        };
        if let Some(near) = nearest(name, all.iter().map(|object| object.name.as_str())) {
            let finding = finding("name", message).help(format!("did you mean `{near}`?"));
            let near = all.iter().find(|object| object.name == near);
            return from(match near {
                Some(near) => finding.lacks(target.to_string(), near.place("/metadata/name")),
                None => finding,
            });
        }
        let has_name = |object: &Object| object.name == *name;
        if let Some((field, near)) = self.near_kind(namespace, &change.target) {
            return from(finding(field, message).help(format!("did you mean `{near}`?")));
        }
        let elsewhere = self
            .hub
            .objects
            .of_kind(group, kind)
            .iter()
            .find(|object| has_name(object));
        from(match elsewhere {
            Some(object) => finding("name", message)
                .related(object.place("/metadata/name"), "this one has that name")
                .note("an overlay changes objects of its own namespace only")
                .help(format!(
                    "move the overlay into namespace `{}`, or correct the target",
                    object.namespace_or_empty()
                )),
            None => finding("name", message).help("correct the target, or add the object to the input"),
        })
    }

    /// The field of a target that is probably misspelled, and what it should be: the namespace has objects, of that name
    /// if one is given, of the other group or kind.
    fn near_kind(&self, namespace: &str, target: &Target) -> Option<(&'static str, String)> {
        let Target { group, kind, objects } = target;
        let name = match objects {
            Targeted::Name(name) => Some(name.as_str()),
            Targeted::Labels(_) => None,
        };
        let kinds = self.hub.objects.group_kinds().into_iter().filter(|other| {
            let there = || self.in_namespace(&other.group, &other.kind, namespace).iter();
            (other.group == *group) != (other.kind == *kind)
                && there().any(|object| name.is_none_or(|name| object.name == name))
        });
        let kinds: Vec<GroupKind> = kinds.collect();
        let same_kind = kinds.iter().find(|other| other.kind == *kind);
        if let Some(other) = same_kind {
            return Some(("group", other.group.clone()));
        }
        let near = nearest(kind, kinds.iter().map(|other| other.kind.as_str()))?;
        Some(("kind", near.to_owned()))
    }

    /// The values of an entry on the clusters of its overlay. Nothing if that is too costly.
    fn values(
        &self,
        overlay: &Object,
        field: &SetField,
        clusters: &[usize],
        findings: &mut Findings,
    ) -> Option<Values> {
        let mut values = Values {
            distinct: Vec::new(),
            clusters: ValueOf::All,
            unknown: Vec::new(),
        };
        let Action::Set {
            value: written,
            value_type,
            default,
        } = &field.action
        else {
            values.distinct.push(None);
            return Some(values);
        };
        let filled = |lookup: &dyn Fn(&ClusterField) -> Option<String>| {
            fill(written, *value_type, default.as_ref(), lookup)
        };
        let (refers, needs_managed) = (Cell::new(false), Cell::new(false));
        let asked = filled(&|field| {
            refers.set(true);
            needs_managed.set(needs_managed.get() || *field != ClusterField::Name);
            Some(String::new())
        });
        if !refers.get() {
            values.distinct.extend(asked.ok().map(Some));
            return Some(values);
        }
        let mut numbers: HashMap<Value, usize> = HashMap::new();
        let mut by_cluster = BTreeMap::new();
        let mut without: BTreeMap<NoValue, Vec<usize>> = BTreeMap::new();
        for number in clusters.iter().filter(|number| self.fleet.is_admitted(**number)) {
            let cluster = self.fleet.clusters.get(*number)?;
            if needs_managed.get() && cluster.managed.is_none() {
                values.unknown.push(*number);
                continue;
            }
            if !self.work.keep(written) || !self.work.pay(1, STEPS_PER_CHANGE) {
                return None;
            }
            match filled(&|field| cluster.lookup(field)) {
                Ok(value) => {
                    let next = values.distinct.len();
                    let value_number = *numbers.entry(value.clone()).or_insert(next);
                    if value_number == next {
                        values.distinct.push(Some(value));
                    }
                    by_cluster.insert(*number, value_number);
                }
                Err(reason) => without.entry(reason).or_default().push(*number),
            }
        }
        values.clusters = ValueOf::Each(by_cluster);
        findings.extend(self.no_value(overlay, field, &without));
        Some(values)
    }

    /// One finding for all clusters without a value.
    fn no_value(
        &self,
        overlay: &Object,
        field: &SetField,
        without: &BTreeMap<NoValue, Vec<usize>>,
    ) -> Option<Finding> {
        let mut reasons: Vec<(&NoValue, &Vec<usize>)> = without.iter().collect();
        reasons.sort_by_key(|(_, clusters)| clusters.first().copied());
        let help = match reasons.first()?.0 {
            NoValue::Missing(ClusterField::Label(_)) => "label the cluster, or give `default`",
            NoValue::Missing(_) => "add it to the ManagedCluster, or give `default`",
            NoValue::Mismatch { .. } => "correct the ManagedCluster, or select other clusters",
        };
        let sentences = reasons.into_iter().map(|(reason, clusters)| {
            let names = first_names(self.fleet.sorted_names(clusters), MOST_NAMES);
            match reason {
                NoValue::Missing(field) if clusters.len() > 1 => format!("{names} have no {field}"),
                _ => reason.about(&names),
            }
        });
        let mut sentences = sentences.take(MOST_NAMES);
        let finding = Finding::new(
            Code::OVERLAY_NO_VALUE,
            overlay.place(&pointer::child(&field.pointer, "value")),
            sentences.next()?,
        )
        .help(help);
        Some(sentences.fold(finding, Finding::note))
    }

    /// Where an entry leads to in each of its objects. Nothing if that is too costly.
    fn pointers(
        &self,
        overlay: &Object,
        entry: &Entry<'a>,
        targets: &[usize],
        findings: &mut Findings,
    ) -> Option<Vec<(usize, String)>> {
        let mut pointers = Vec::new();
        let mut missing = Vec::new();
        let mut refused: Option<Finding> = None;
        for position in targets {
            let object = self.hub.objects.iter().as_slice().get(*position)?;
            let pointer = match resolve(entry.field, &object.value) {
                Ok(pointer) => pointer,
                Err(lacks) => {
                    missing.push((object, lacks));
                    continue;
                }
            };
            match self.protected(object, &pointer, entry)? {
                None => pointers.push((*position, pointer)),
                Some((part, why)) if refused.is_none() => {
                    refused = Some(not_allowed(overlay, entry.field, object, (&pointer, &part, why)));
                }
                Some(_) => {}
            }
        }
        findings.extend(refused);
        findings.extend(path_not_found(overlay, entry.field, &missing));
        Some(pointers)
    }

    /// The part of an object that an entry would change and must not: its pointer, and why. The outer option is nothing if
    /// that is too costly.
    #[expect(
        clippy::option_option,
        reason = "the outer one is as in all functions that spend work"
    )]
    fn protected(
        &self,
        object: &Object,
        pointer: &str,
        entry: &Entry<'_>,
    ) -> Option<Option<(String, Protected)>> {
        if let Some(part) = part_at(&object.value, pointer) {
            return Some(Some((pointer.to_owned(), part)));
        }
        if !may_contain_parts(pointer) {
            return Some(None);
        }
        let before = protected::protected(&object.value);
        for value in &entry.values {
            if !self.work.keep(&object.value) {
                return None;
            }
            let mut changed = object.value.clone();
            set(&mut changed, pointer, value.as_ref());
            let difference = first_difference(&before, &protected::protected(&changed));
            if difference.is_some() {
                return Some(difference);
            }
        }
        Some(None)
    }
}

/// The pointer of a field that is set, or of one that exists if it is removed.
fn resolve(field: &SetField, object: &Value) -> Result<String, NotFound> {
    let found = field.path.resolve(object)?;
    if !found.is_new || field.action != Action::Remove {
        return Ok(found.pointer);
    }
    let (parent, token) = found.pointer.rsplit_once('/').unwrap_or_default();
    let members = object.pointer(parent).and_then(Value::as_object);
    let names = members.into_iter().flat_map(|members| members.keys());
    Err(NotFound {
        existing: pointer::dotted(parent),
        pointer: parent.to_owned(),
        step: pointer::unescape(token).into_owned(),
        missing: field.path.to_string(),
        names: names.map(ToString::to_string).collect(),
        matches: 0,
    })
}

fn not_allowed(
    overlay: &Object,
    field: &SetField,
    object: &Object,
    (pointer, part, why): (&str, &str, Protected),
) -> Finding {
    let path = field.path.to_string();
    let is_inside = pointer != part;
    let part = if is_inside {
        pointer::tokens(part).fold(String::new(), |path, token| member(&path, &token))
    } else {
        path.clone()
    };
    let message = format!("an overlay cannot change `{part}`: it {}", why.reason());
    let finding = Finding::new(Code::OVERLAY_NOT_ALLOWED, path_place(overlay, field), message);
    let finding = if is_inside {
        finding.label(format!("`{path}` contains it"))
    } else {
        finding
    };
    finding.help(why.help(object))
}

/// One finding for all objects that lack a field.
fn path_not_found(overlay: &Object, field: &SetField, missing: &[(&Object, NotFound)]) -> Option<Finding> {
    let (object, lacks) = missing.first()?;
    let (identity, path) = (object.identity(), &lacks.missing);
    let message = match lacks.matches {
        0 => format!("{identity} has no `{path}`"),
        matches => format!("{identity} has {matches} entries `{path}`"),
    };
    let finding = Finding::new(Code::OVERLAY_PATH_NOT_FOUND, path_place(overlay, field), message);
    let names = lacks.names.iter().map(|name| format!("`{name}`"));
    let finding = match first_items(names, MOST_NAMES) {
        names if names.is_empty() => finding.related(object.place(&lacks.pointer), "here"),
        names => finding.related(object.place(&lacks.pointer), format!("it has {names}")),
    };
    let finding = match nearest(&lacks.step, lacks.names.iter().map(String::as_str)) {
        Some(near) if lacks.matches == 0 => finding.help(format!("did you mean `{near}`?")),
        _ if lacks.matches > 0 => finding.help("name the entry by its position, such as `[0]`"),
        _ if field.action == Action::Remove => finding.help("remove this entry, or correct `path`"),
        _ => finding.help("correct `path`: only its last name may be new"),
    };
    Some(match missing.len().saturating_sub(1) {
        0 => finding,
        others => finding.note(format!("{} without it", counted(others, "more object"))),
    })
}
