//! Exported works: what the hub knows about each cluster. Here a work's conditions, those of its manifests, and their status
//! feedback are read (docs/systems/ocm-work.md#feedback, docs/systems/ocm-work.md#what-a-work-says), and what a work agent
//! records about one work (docs/systems/ocm-work.md#appliedmanifestwork). [`ExportedWorks`] keep only the parts that a report
//! needs, and equal parts once: most of a hundred thousand works are the same.
//!
//! A hub cluster may have the works of several repositories, and of MGC, all with one label. They differ by the object
//! that each was made for: on a hub, a namespace and a name identify one Gateway ([`Ownership`]). A work whose object is not
//! in the input may be left over from this input, or wanted by another one: nothing in the work shows which.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use apimachinery::Field;
use kube_json::{Value, json};

use super::stored_work::SpecDigest;
use crate::api::ocm_work::{APPLIED_MANIFEST_WORK, GROUP, MANIFEST_WORK, REPLICA_SET_LABEL};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::Hub;
use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL, PARENT_ANNOTATION};
use crate::outcome::{ManifestProblem, WorkState, share};
use crate::render::{
    MANIFEST_KEY_LABEL, ManifestSummary, Rights, deletable, list, manifest_key, manifest_names, work_name,
};

/// The reason that an agent may give for a conflict, and how an API server begins to speak of one
/// (docs/systems/ocm-work.md#server-side-apply).
const CONFLICT: &str = "ApplyConflict";
const CONFLICT_WORDS: &str = "Apply failed with ";

/// How the reason of a condition begins that a rule of the work made.
const BY_RULE: &str = "ConditionRule";

/// The objects that were exported from a hub.
#[derive(Debug, Default)]
pub struct ExportedWorks {
    /// ManifestWorks of the clusters that are asked for, by namespace and name.
    #[expect(
        clippy::vec_box,
        reason = "to move a hundred thousand would take their memory twice"
    )]
    pub(super) works: Vec<Box<ExportedWork>>,
    pub(super) applied: Vec<AppliedWork>,
    /// All other objects, in order, without their contents.
    others: Vec<Object>,
    /// How many documents are not objects.
    pub passed_over: usize,
}

impl ExportedWorks {
    /// Of objects whose identities are unique.
    pub(crate) fn new(objects: Vec<ExportedObject>, passed_over: usize) -> Self {
        let mut exported = Self {
            passed_over,
            ..Self::default()
        };
        for object in objects {
            match object {
                ExportedObject::Work(work) => exported.works.push(work),
                ExportedObject::Applied(applied) => exported.applied.push(*applied),
                ExportedObject::Other(object) => exported.others.push(*object),
            }
        }
        let key = |object: &Object| (object.namespace.clone(), object.name.clone());
        exported.works.sort_by_cached_key(|work| key(&work.object));
        let applied = &mut exported.applied;
        applied.sort_by_cached_key(|applied| key(&applied.object));
        exported.others.sort_by_cached_key(Object::identity);
        exported
    }

    /// Whether there is no ManifestWork, of any cluster.
    pub fn has_no_work(&self) -> bool {
        let mut others = self.others.iter();
        self.works.is_empty() && !others.any(|object| object.is(GROUP, MANIFEST_WORK))
    }

    /// The objects that are not works.
    pub fn skipped(&self) -> impl Iterator<Item = &Object> {
        let is_work =
            |object: &&Object| object.is(GROUP, MANIFEST_WORK) || object.is(GROUP, APPLIED_MANIFEST_WORK);
        self.others.iter().filter(move |object| !is_work(object))
    }
}

/// The parts of an exported object that reports need. Lists of a hundred thousand are moved, so it is small.
#[derive(Debug)]
pub(crate) enum ExportedObject {
    /// A ManifestWork.
    Work(Box<ExportedWork>),
    /// An AppliedManifestWork.
    Applied(Box<AppliedWork>),
    /// Any other object, and a work of a cluster that was not requested.
    Other(Box<Object>),
}

impl AsRef<Object> for ExportedObject {
    fn as_ref(&self) -> &Object {
        match self {
            Self::Work(work) => &work.object,
            Self::Applied(applied) => &applied.object,
            Self::Other(object) => object,
        }
    }
}

impl ExportedObject {
    /// Reads an object. `admits` selects the clusters. Also returns whether a report may find a mistake in its
    /// contents.
    pub(crate) fn read(
        object: &Object,
        admits: impl Fn(&str) -> bool,
        shared: &Shared,
        findings: &mut Findings,
    ) -> (Self, bool) {
        if object.is(GROUP, MANIFEST_WORK) && admits(object.namespace_or_empty()) {
            let work = ExportedWork::read(object, shared, findings);
            let is_odd = work.manifests.iter().any(|(_, manifest)| manifest.is_odd());
            return (Self::Work(Box::new(work)), is_odd);
        }
        if object.is(GROUP, APPLIED_MANIFEST_WORK)
            && let Some(applied) = AppliedWork::read(object, shared)
        {
            return (Self::Applied(Box::new(applied)), false);
        }
        (Self::Other(Box::new(object.with_value(Value::Null))), false)
    }
}

/// The values that many works share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(super) texts: Pool<str>,
    marks: Pool<Value>,
    names: Pool<ManifestName>,
    feedback: Pool<Feedback>,
    statuses: Pool<ManifestStatus>,
    specs: Pool<SpecDigest>,
    /// Group, kind, namespace and name of the manifests of works.
    pub(super) manifests: Pool<Vec<[Box<str>; 4]>>,
}

impl Shared {
    /// The parts of a work that show who owns it.
    pub(super) fn marks(&self, object: &Object) -> Value {
        Value::clone(&self.marks.share(marks(object)))
    }
}

/// A ManifestWork as it is on the hub.
#[derive(Debug)]
pub(crate) struct ExportedWork {
    /// The work. Its value has only the parts that show who owns it.
    pub(super) object: Object,
    /// Its condition Applied; `None` if it is not written yet.
    pub(super) applied: Option<Verdict>,
    /// Whether it is being deleted.
    pub(super) is_deleting: bool,
    /// Generations of the spec and of what the agent has looked at, where they differ.
    pub(super) unobserved: Option<(i64, i64)>,
    /// Why it is not available, if none of its manifests gives a reason.
    pub(super) unavailable: Option<Arc<str>>,
    /// The problems of its manifests: by state, and then in order.
    pub(super) wrong: Vec<(WorkState, ManifestProblem)>,
    /// Its spec, where it was exported.
    pub(super) spec: Option<Arc<SpecDigest>>,
    /// The deletions that its ClusterRoles grant; `None` if it has none.
    pub(super) deletable: Option<Rights>,
    /// By name.
    manifests: Vec<(Arc<ManifestName>, Arc<ManifestStatus>)>,
}

/// The names of a manifest.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ManifestName {
    /// Group, resource (the kind where that is missing), namespace and name.
    resource: [Box<str>; 4],
    kind: Box<str>,
}

impl ManifestName {
    fn resource(&self) -> [&str; 4] {
        self.resource.each_ref().map(|part| &**part)
    }
}

/// The values of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// It is True.
    Yes,
    /// It is not.
    No {
        /// Its reason.
        reason: Arc<str>,
        /// Its message, or its reason where it has none.
        because: Arc<str>,
    },
}

/// The report of a cluster about one manifest.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ManifestStatus {
    /// Its own condition Applied.
    pub(super) applied: Option<Verdict>,
    /// Its own condition Available.
    pub(super) available: Option<Verdict>,
    /// Why the agent could not read a value that it was asked for.
    pub(super) unreadable: Option<Arc<str>>,
    /// No list with room for more: collected from larger items, one would keep their memory.
    feedback: Box<[Arc<Feedback>]>,
}

/// One value of status feedback.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Feedback {
    name: Arc<str>,
    /// `jsonRaw`.
    raw: Option<Arc<str>>,
    /// The first of `string`, `integer` and `boolean`.
    plain: Option<Value>,
    integer: Option<i64>,
    boolean: Option<bool>,
    /// Position of the manifest and of the value: a pointer is needed only where something is wrong.
    at: (usize, usize),
}

impl ExportedWork {
    /// Reads a work. Invalid parts get a finding, and the rest is read all the same.
    pub(super) fn read(object: &Object, shared: &Shared, findings: &mut Findings) -> Self {
        let spec = object.value.get("spec").filter(|spec| !spec.is_null());
        Self {
            spec: spec.map(|spec| shared.specs.share(SpecDigest::from_spec(spec))),
            deletable: spec.and_then(|spec| deletable(list(spec, "/workload/manifests"))),
            ..Self::read_status(object, shared, findings)
        }
    }

    /// The same without the spec.
    pub(super) fn read_status(object: &Object, shared: &Shared, findings: &mut Findings) -> Self {
        let root = object.root();
        let status = root.get("status");
        let conditions = items(object, &status.get("conditions"), findings);
        let applied = condition(&conditions, "Applied");
        let mut manifests = Vec::new();
        let mut is_any_unavailable = false;
        let mut wrong = Vec::new();
        let mut observed = applied.and_then(|applied| integer(&applied.get("observedGeneration")));
        let in_spec = manifests_of_spec(&root);
        let statuses = status.get("resourceStatus").get("manifests");
        for (position, manifest) in items(object, &statuses, findings).into_iter().enumerate() {
            let meta = manifest.get("resourceMeta");
            let text = |name: &'static str| meta.text(name).unwrap_or_default();
            let conditions = items(object, &manifest.get("conditions"), findings);
            let values = items(object, &manifest.get("statusFeedback").get("values"), findings);
            let of_manifest = condition(&conditions, "Applied");
            // The oldest counts: a condition about an older spec proves nothing about this one.
            let seen = of_manifest.and_then(|applied| integer(&applied.get("observedGeneration")));
            observed = observed.map(|observed| seen.unwrap_or(observed).min(observed));
            let verdict = |kind: &str| {
                let condition = condition(&conditions, kind);
                condition.map(|condition| Verdict::of(condition, shared))
            };
            let synced = verdict("StatusFeedbackSynced");
            let available = verdict("Available");
            is_any_unavailable |= matches!(available, Some(Verdict::No { .. }));
            let values = values.into_iter().enumerate();
            let values = values.filter_map(|(at, value)| Feedback::read(&value, (position, at), shared));
            let read = ManifestStatus {
                applied: verdict("Applied"),
                // The object's own conditions explain more than a rule of the work that summarizes them.
                available: available.filter(|available| !available.is_of_rule()),
                unreadable: match &synced {
                    Some(Verdict::No { because, .. }) => Some(Arc::clone(because)),
                    _ => None,
                },
                feedback: values.map(|feedback| shared.feedback.share(feedback)).collect(),
            };
            let mut report = |state: WorkState, reason: &str, message: &str| {
                let problem = ManifestProblem {
                    kind: text("kind").to_owned(),
                    namespace: text("namespace").to_owned(),
                    name: text("name").to_owned(),
                    reason: reason.to_owned(),
                    message: message.to_owned(),
                };
                wrong.push((state, problem));
            };
            let key = [text("group"), text("kind"), text("namespace"), text("name")];
            match (&read.applied, &read.available) {
                _ if in_spec.as_ref().is_some_and(|spec| !spec.contains(&key))
                    && !text("name").is_empty() =>
                {
                    let because = "its work no longer contains it, but still reports it";
                    report(WorkState::LeftBehind, "", because);
                }
                (Some(no @ Verdict::No { reason, because }), _) if no.is_conflict() => {
                    report(WorkState::Conflict, reason, because);
                }
                (Some(Verdict::No { reason, because }), _) => report(WorkState::NotApplied, reason, because),
                (_, Some(Verdict::No { reason, because })) => report(WorkState::Unavailable, reason, because),
                _ => {}
            }
            if let Some(Verdict::No { reason, because }) = &synced {
                report(WorkState::Unread, reason, because);
            }
            let [group, kind, namespace, name] = key;
            let resource = match text("resource") {
                "" => kind,
                resource => resource,
            };
            let name = shared.names.share(ManifestName {
                resource: [group, resource, namespace, name].map(Box::from),
                kind: kind.into(),
            });
            manifests.push((name, shared.statuses.share(read)));
        }
        // Of those with one name, the last counts.
        manifests.sort_by(|(a, _), (b, _)| a.resource.cmp(&b.resource));
        wrong.sort_by_key(|(state, _)| *state);
        let generation = integer(&root.get("metadata").get("generation"));
        let generations = generation.zip(observed);
        let unobserved = generations.filter(|(generation, observed)| observed < generation);
        // A manifest that failed, or is not there, explains it better.
        let is_failed =
            |(state, _): &(WorkState, _)| matches!(state, WorkState::Conflict | WorkState::NotApplied);
        let is_explained = is_any_unavailable || wrong.iter().any(is_failed);
        let available = condition(&conditions, "Available").filter(|_| !is_explained);
        Self {
            object: object.with_value(shared.marks(object)),
            applied: applied.map(|applied| Verdict::of(applied, shared)),
            is_deleting: root.get("metadata").get("deletionTimestamp").is_present(),
            unobserved,
            unavailable: available.and_then(|available| unavailable(available, generation, shared)),
            wrong,
            spec: None,
            deletable: None,
            manifests,
        }
    }

    /// Whether its agent reports an object as applied: group, kind, namespace, and name.
    pub(super) fn applies(&self, [group, kind, namespace, name]: [&str; 4]) -> bool {
        let mut manifests = self.manifests.iter().rev();
        let found = manifests.find(|(manifest, _)| {
            let [of_group, _, of_namespace, of_name] = manifest.resource();
            [of_group, &manifest.kind, of_namespace, of_name] == [group, kind, namespace, name]
        });
        found.is_some_and(|(_, status)| status.applied == Some(Verdict::Yes))
    }

    fn find(&self, resource: [&str; 4]) -> Option<&ManifestStatus> {
        let manifests = &self.manifests;
        let after = manifests.partition_point(|(name, _)| name.resource() <= resource);
        let (name, status) = manifests.get(after.checked_sub(1)?)?;
        (name.resource() == resource).then_some(&**status)
    }

    /// Whether its agent has it among what it applied: group, plural, namespace and name.
    pub(super) fn has(&self, resource: [&str; 4]) -> bool {
        self.find(resource).is_some()
    }

    /// The report of the cluster about a manifest of the plan.
    pub(super) fn manifest(&self, planned: &ManifestSummary) -> Option<&ManifestStatus> {
        let find = |resource: &str| self.find([&planned.group, resource, &planned.namespace, &planned.name]);
        find(&planned.resource).or_else(|| find(&planned.kind))
    }

    /// `namespace/name` of the hub object that it was made for.
    pub(super) fn parent(&self) -> Option<&str> {
        self.object.annotation(PARENT_ANNOTATION)
    }
}

/// The parts of a work that show who owns it.
fn marks(object: &Object) -> Value {
    let labels = [MANAGED_WORK_LABEL, REPLICA_SET_LABEL, MANIFEST_KEY_LABEL];
    let labels = labels
        .into_iter()
        .filter_map(|name| Some((name, object.label(name)?.into())));
    let labels: Value = labels.collect();
    let parent = object.annotation(PARENT_ANNOTATION).into_iter();
    let annotations: Value = parent.map(|parent| (PARENT_ANNOTATION, parent.into())).collect();
    // The identities of the owners are not needed.
    let owners = object.root().get("metadata").get("ownerReferences");
    let owners: Vec<Value> = owners.items().take(1).map(|_| Value::Bool(true)).collect();
    json!({"metadata": {"labels": labels, "annotations": annotations, "ownerReferences": owners}})
}

impl ManifestStatus {
    /// The feedback of this name; names are compared without case, as MGC does
    /// (docs/systems/mgc.md#gateway-work).
    pub(super) fn get(&self, name: &str) -> Option<&Feedback> {
        let mut feedback = self.feedback.iter().map(|feedback| &**feedback);
        feedback.find(|feedback| feedback.name.eq_ignore_ascii_case(name))
    }

    /// A text, or raw JSON as text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// The status of a condition: fed back as a text, or as a Boolean.
    pub(super) fn condition(&self, name: &str) -> Option<&str> {
        let feedback = self.get(name)?;
        match feedback.boolean {
            Some(true) => Some("True"),
            Some(false) => Some("False"),
            None => feedback.text(),
        }
    }

    /// Whether a report may find a value that does not fit its name ([`Feedback::wrong`]).
    fn is_odd(&self) -> bool {
        self.feedback.iter().any(|feedback| {
            let name = feedback.name.to_ascii_lowercase();
            match feedback.text() {
                Some(text) if name == "addresses" => !text.trim_start().starts_with('['),
                None if name == "addresses" => true,
                _ => name.ends_with("attachedroutes") && feedback.integer().is_none(),
            }
        })
    }
}

impl Feedback {
    fn read(value: &Field<'_>, at: (usize, usize), shared: &Shared) -> Option<Self> {
        let name = shared.texts.share(value.text("name")?);
        let value = value.get("fieldValue").value()?;
        let plain = ["string", "integer", "boolean"]
            .iter()
            .find_map(|kind| value.get(kind));
        let raw = value.get("jsonRaw").and_then(Value::as_str);
        Some(Self {
            name,
            raw: raw.map(|raw| shared.texts.share(raw)),
            plain: plain.cloned(),
            integer: value.get("integer").and_then(Value::as_i64),
            boolean: value.get("boolean").and_then(Value::as_bool),
            at,
        })
    }

    /// The value as it came; what came as raw JSON, as that.
    pub(super) fn value(&self) -> Option<Value> {
        match &self.raw {
            Some(raw) => Some(raw.parse().unwrap_or_else(|_| (&**raw).into())),
            None => self.plain.clone(),
        }
    }

    fn text(&self) -> Option<&str> {
        let plain = self.plain.as_ref().and_then(Value::as_str);
        plain.or(self.raw.as_deref())
    }

    /// An integer; one that came as text or raw JSON counts too.
    pub(super) fn integer(&self) -> Option<i64> {
        self.integer.or_else(|| self.text()?.trim().parse().ok())
    }

    /// A finding about the value.
    pub(super) fn wrong(&self, object: &Object, message: String) -> Finding {
        let (manifest, value) = self.at;
        let pointer =
            format!("/status/resourceStatus/manifests/{manifest}/statusFeedback/values/{value}/fieldValue");
        Finding::new(Code::OBJECT_SCHEMA, object.place(&pointer), message)
            .label(format!("feedback `{}`", self.name))
            .help("export the works again, `kubectl get manifestwork -A -o yaml`; if this remains, check the feedback rule of this name")
    }
}

/// The items of a list; of something else, a finding.
fn items<'w>(object: &Object, field: &Field<'w>, findings: &mut Findings) -> Vec<Field<'w>> {
    if let Err(mismatch) = field.list() {
        let message = format!("the status of {} cannot be read", object.identity());
        let label = format!("expected {}, found {}", mismatch.expected, mismatch.found);
        let finding = Finding::new(Code::OBJECT_SCHEMA, object.place(&field.pointer()), message);
        let help = "export the works again: `kubectl get manifestwork -A -o yaml`";
        findings.push(finding.label(label).help(help));
    }
    field.items().collect()
}

fn condition<'c, 'w>(conditions: &'c [Field<'w>], kind: &str) -> Option<&'c Field<'w>> {
    let mut conditions = conditions.iter();
    conditions.find(|condition| condition.text("type") == Some(kind))
}

fn integer(field: &Field<'_>) -> Option<i64> {
    field.integer().ok().flatten()
}

/// Group, kind, namespace and name of each manifest of the spec; `None` where the export has no spec.
fn manifests_of_spec<'w>(root: &Field<'w>) -> Option<HashSet<[&'w str; 4]>> {
    let manifests = root.value()?.pointer("/spec/workload/manifests")?.as_array()?;
    Some(manifests.iter().map(manifest_names).collect())
}

/// Why a work is not available by its own condition: the condition is not True, or it is about an older spec.
fn unavailable(condition: &Field<'_>, generation: Option<i64>, shared: &Shared) -> Option<Arc<str>> {
    if let Verdict::No { because, .. } = Verdict::of(condition, shared) {
        return Some(because);
    }
    let observed = integer(&condition.get("observedGeneration"))?;
    let generation = generation.filter(|generation| observed < *generation)?;
    Some(shared.texts.share(&*format!(
        "Available is about generation {observed}, but the work has generation {generation}"
    )))
}

impl Verdict {
    fn of(condition: &Field<'_>, shared: &Shared) -> Self {
        let words = |name: &'static str| condition.text(name).filter(|text| !text.is_empty());
        if condition.text("status") == Some("True") {
            return Self::Yes;
        }
        let reason = words("reason").unwrap_or_default();
        let because = words("message").or_else(|| words("reason"));
        Self::No {
            reason: shared.texts.share(reason),
            because: shared.texts.share(because.unwrap_or("its condition is not True")),
        }
    }

    /// Whether it comes from a rule of the work, and not from the agent (docs/systems/ocm-work.md#what-a-work-says).
    fn is_of_rule(&self) -> bool {
        matches!(self, Self::No { reason, .. } if reason.starts_with(BY_RULE))
    }

    /// Whether another manager owns a field that server-side apply sets.
    fn is_conflict(&self) -> bool {
        match self {
            Self::Yes => false,
            Self::No { reason, because } => {
                &**reason == CONFLICT || (because.contains(CONFLICT_WORDS) && because.contains("conflict"))
            }
        }
    }
}

/// The record of a work agent about one work.
#[derive(Debug)]
pub(crate) struct AppliedWork {
    /// The object, without its contents.
    pub(super) object: Object,
    /// The work's name.
    pub(super) work: String,
    /// Whether MGC, or we, made the work: agents copy its labels.
    pub(super) is_managed: bool,
    /// Group, plural, namespace and name of what was applied.
    pub(super) resources: Vec<[Arc<str>; 4]>,
}

impl AppliedWork {
    /// Reads an AppliedManifestWork; `None` if it does not name its work. `shared` keeps equal texts once.
    pub(super) fn read(object: &Object, shared: &Shared) -> Option<Self> {
        let root = object.root();
        let resources = root.get("status").get("appliedResources");
        let resources = resources.items().map(|resource| {
            ["group", "resource", "namespace", "name"]
                .map(|name| shared.texts.share(resource.text(name).unwrap_or_default()))
        });
        Some(Self {
            work: root.get("spec").text("manifestWorkName")?.to_owned(),
            is_managed: object.label(MANAGED_WORK_LABEL) == Some(MANAGED),
            resources: resources.collect(),
            object: object.with_value(Value::Null),
        })
    }
}

/// The objects of an input, as the works that were made for them name them.
#[derive(Debug)]
pub(super) struct Parents {
    /// The key of the work of an object, and its `namespace/name`.
    keys: BTreeSet<(String, String)>,
}

/// The owner of a work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// It was made for an object of this input.
    Ours,
    /// MGC or spokewright made it, and nothing shows for which input.
    Unclaimed,
    /// The hub made it from a set: it goes with its set.
    OfSet,
    /// Another owner's.
    Foreign,
}

impl Parents {
    /// The objects of a hub.
    pub(super) fn new(hub: &Hub) -> Self {
        let objects = hub.objects.iter();
        let keys = objects.map(|object| (manifest_key(&work_name(object)), object.key()));
        Self { keys: keys.collect() }
    }

    /// The owner of a work or a set.
    pub(super) fn owner(&self, work: &Object) -> Ownership {
        // Somebody who owns it deletes it, and makes it again.
        let owners = work.root().get("metadata").get("ownerReferences");
        if work.label(MANAGED_WORK_LABEL) != Some(MANAGED) || owners.items().next().is_some() {
            return Ownership::Foreign;
        }
        if work.label(REPLICA_SET_LABEL).is_some() {
            return Ownership::OfSet;
        }
        match (work.label(MANIFEST_KEY_LABEL), work.annotation(PARENT_ANNOTATION)) {
            (Some(key), Some(parent)) if self.keys.contains(&(key.to_owned(), parent.to_owned())) => {
                Ownership::Ours
            }
            _ => Ownership::Unclaimed,
        }
    }

    /// Whether a work has the key of an object's, regardless of which object that is: the works of a set name no
    /// parent.
    pub(super) fn knows_key(&self, work: &Object) -> bool {
        let Some(key) = work.label(MANIFEST_KEY_LABEL) else {
            return false;
        };
        let mut from_there = self.keys.range((key.to_owned(), String::new())..);
        from_there.next().is_some_and(|(known, _)| known == key)
    }
}

/// The values of one type.
#[derive(Debug)]
pub(super) struct Pool<T: ?Sized>(Mutex<HashSet<Arc<T>>>);

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Eq + Hash + ?Sized> Pool<T> {
    /// The value, or the equal one that was there before.
    pub(super) fn share(&self, value: impl Borrow<T> + Into<Arc<T>>) -> Arc<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        share(&mut known, value)
    }
}
