//! What an overlay means in a hub: its targets, where its paths lead to, and the values of its clusters.
//!
//! Owns: these, and the findings about what the hub lacks and what no overlay may change. Flows in: an overlay as written,
//! the hub. Flows out: positions, pointers, values. Must not know: other overlays.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use apimachinery::field_path::{NotFound, member};
use apimachinery::{GroupKind, Identity, Work, pointer};
use kube_json::Value;

use super::fleet::{Fleet, STEPS_PER_CLUSTER};
use super::protected::{self, Part as Protected, first_difference, may_contain_parts, part_at};
use super::settings::{Entry, ValueOf};
use super::{MOST_NAMES, STEPS_PER_CHANGE, set};
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
use crate::object::Object;

/// Reads overlays of one hub.
pub(super) struct Reader<'r, 'a> {
    hub: &'a Hub,
    fleet: &'r Fleet<'a>,
    work: &'r Work,
    names: KnownNames<'a>,
    /// The ConfigMaps that have the parameters of a class, by namespace and name.
    params: BTreeSet<(&'a str, &'a str)>,
}

/// The place of the path of an entry of `set`.
pub(super) fn path_place(overlay: &Object, field: &SetField) -> Place {
    overlay.place(&pointer::child(&field.pointer, "path"))
}

/// The values of an entry.
pub(super) struct Values {
    /// Each value once; nothing where the field is removed.
    pub(super) distinct: Vec<Option<Value>>,
    pub(super) clusters: ValueOf,
    /// Clusters without a ManagedCluster.
    pub(super) unknown: Vec<usize>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(hub: &'a Hub, fleet: &'r Fleet<'a>, work: &'r Work) -> Self {
        let classes = hub.objects.of_kind(gateway::GROUP, "GatewayClass").iter();
        let params = classes.filter_map(|class| {
            let reference = class.value.pointer("/spec/parametersRef")?;
            let text = |key: &str| reference.get(key).and_then(Value::as_str);
            Some((text("namespace")?, text("name")?))
        });
        Self {
            hub,
            fleet,
            work,
            names: KnownNames::of(fleet.clusters.iter().map(|cluster| cluster.name)),
            params: params.collect(),
        }
    }

    /// The clusters that an overlay selects, and those of which nobody knows. Nothing if that is too costly.
    pub(super) fn selected(&self, wanted: &Clusters) -> Option<(Vec<usize>, Vec<usize>)> {
        self.fleet.selected(wanted, self.work)
    }

    /// Names that no cluster has.
    pub(super) fn unknown_clusters(&self, overlay: &Object, written: &ClusterOverlay) -> Vec<Finding> {
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
    pub(super) fn targets(
        &self,
        overlay: &Object,
        change: &Change,
        findings: &mut Findings,
    ) -> Option<Vec<usize>> {
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
    pub(super) fn values(
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
    pub(super) fn pointers(
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
fn resolve(field: &SetField, object: &Value) -> Result<String, Box<NotFound>> {
    let found = field.path.resolve(object).map_err(Box::new)?;
    if !found.is_new || field.action != Action::Remove {
        return Ok(found.pointer);
    }
    let (parent, token) = found.pointer.rsplit_once('/').unwrap_or_default();
    let members = object.pointer(parent).and_then(Value::as_object);
    let names = members.into_iter().flat_map(|members| members.keys());
    Err(Box::new(NotFound {
        existing: pointer::dotted(parent),
        pointer: parent.to_owned(),
        step: pointer::unescape(token).into_owned(),
        missing: field.path.to_string(),
        names: names.map(ToString::to_string).collect(),
        matches: 0,
    }))
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
fn path_not_found(
    overlay: &Object,
    field: &SetField,
    missing: &[(&Object, Box<NotFound>)],
) -> Option<Finding> {
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
