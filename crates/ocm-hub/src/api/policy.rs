//! The target references and target selectors of a policy (GEP-713, "Targets"), in the shapes that policy kinds share.
//! Which kinds may be targeted, and which objects exist, is decided in `policy`.

use super::gateway::{AdmittedNamespaces, GROUP};
use super::{Reading, Typed, View};
use crate::diagnostic::{Code, Finding, Place};
use crate::object::Object;
use apimachinery::pointer::dotted;
use apimachinery::{Field, Selector};
use kube_json::{Text, Value};

/// The fields of a spec that name targets.
pub const TARGETS: [&str; 3] = ["targetRef", "targetRefs", "targetSelectors"];

/// A policy and the targets that it declares.
pub type DeclaredTargets<'a> = Typed<'a, Targets>;

/// The targets that a policy declares. Wrong ones are left out.
#[derive(Debug)]
pub struct Targets {
    /// `spec.targetRef` or `spec.targetRefs`, in their order. A policy without either has no targets; its kind decides
    /// whether that is allowed.
    pub references: Vec<TargetRef>,
    /// `spec.targetSelectors`, in their order.
    pub selectors: Vec<TargetSelector>,
}

/// One declared target of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRef {
    /// API group, `""` for core.
    pub group: Text,
    /// Kind.
    pub kind: Text,
    /// Name; empty where labels are in its place (GKE's `selector`).
    pub name: Text,
    /// Namespace as written; none means the policy's own.
    pub namespace: Option<Text>,
    /// Listener, route rule or port; none means the whole object.
    pub section_name: Option<Text>,
    /// Pointer of the reference inside the policy: `/spec/targetRef` or `/spec/targetRefs/0`.
    pub pointer: String,
}

impl TargetRef {
    /// The places of the fields that name no target because they are empty. A schema may refuse them: then nothing is
    /// known of the target.
    pub fn empty_fields(policy: &Object, pointer: &str) -> Vec<Place> {
        let places = ["namespace", "sectionName"].map(|field| format!("{pointer}/{field}"));
        let mut empty = Vec::from(places);
        empty.retain(|at| policy.value.pointer(at).and_then(Value::as_str) == Some(""));
        empty.iter().map(|at| policy.place(at)).collect()
    }
}

impl View for Targets {
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self> {
        Some(Self {
            references: target_refs(object, reading),
            selectors: target_selectors(object, reading),
        })
    }
}

fn target_refs<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Vec<TargetRef> {
    let spec = object.root().get("spec");
    let (single, plural) = (spec.get("targetRef"), spec.get("targetRefs"));
    if single.is_present() && plural.is_present() {
        let message = format!("{} has both `targetRef` and `targetRefs`", object.identity());
        let [one, other] = [&plural, &single].map(|field| object.key_place(&field.pointer()));
        let finding = Finding::new(Code::POLICY_INVALID, one, message);
        reading.wrong(finding.related(other, "the other form").help("keep one of them"));
    }
    let references = if single.is_present() {
        vec![single]
    } else {
        reading.items(&plural).collect()
    };
    let references = references.iter();
    let references =
        references.filter_map(|reference| reading.part(|reading| read_reference(reading, object, reference)));
    references.collect()
}

fn read_reference<'a>(
    reading: &mut Reading<'a>,
    object: &'a Object,
    reference: &Field<'a>,
) -> Option<TargetRef> {
    let group = reading.group(reference, "");
    if let Some((bare, _)) = group.split_once('/') {
        let message = format!("the group of a target must not contain a version: `{group}`");
        let place = object.place(&reference.get("group").pointer());
        let finding = Finding::new(Code::POLICY_INVALID, place, message);
        let finding = finding.label("a group, a slash and a version");
        reading.wrong(finding.help(format!("write `group: {bare}`")));
        return None;
    }
    Some(TargetRef {
        group,
        kind: reading.required_string(reference, "kind")?.clone(),
        name: if reference.get("selector").is_present() {
            reading.string(reference, "name").cloned().unwrap_or_default()
        } else {
            reading.required_string(reference, "name")?.clone()
        },
        namespace: reading.text(reference, "namespace").cloned(),
        section_name: reading.text(reference, "sectionName").cloned(),
        pointer: reference.pointer(),
    })
}

/// The groups and kinds that the references and selectors of an object name, whatever else is wrong with them.
pub fn target_kinds(object: &Object) -> Vec<(String, String)> {
    let spec = object.root().get("spec");
    let single = spec.get("targetRef");
    let lists = ["targetRefs", "targetSelectors"].map(|list| spec.get(list));
    let listed = lists.iter().flat_map(|list| list.items().collect::<Vec<_>>());
    let kind = |target: Field<'_>| {
        let group = target.text("group").unwrap_or_default().to_owned();
        Some((group, target.text("kind")?.to_owned()))
    };
    std::iter::once(single).chain(listed).filter_map(kind).collect()
}

/// One entry of `spec.targetSelectors` (Envoy Gateway, kgateway): targets by label.
#[derive(Debug, Clone)]
pub struct TargetSelector {
    /// API group; Gateway API's own when left out.
    pub group: Text,
    /// Kind.
    pub kind: Text,
    /// The labels that a target must have.
    pub selector: Selector,
    /// The namespaces that it may be in; the policy's own where nothing is said.
    pub namespaces: AdmittedNamespaces,
    /// Listener, route rule or port; none means the whole object.
    pub section_name: Option<Text>,
    /// Pointer of the entry inside the policy: `/spec/targetSelectors/0`.
    pub pointer: String,
}

fn target_selectors<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Vec<TargetSelector> {
    let entries = reading.items(&object.root().get("spec").get("targetSelectors"));
    let selectors =
        entries.filter_map(|entry| reading.part(|reading| read_selector(reading, object, &entry)));
    selectors.collect()
}

fn read_selector<'a>(
    reading: &mut Reading<'a>,
    object: &'a Object,
    entry: &Field<'a>,
) -> Option<TargetSelector> {
    let kind = reading.required_string(entry, "kind")?.clone();
    let group = reading.group(entry, GROUP);
    let section_name = reading.text(entry, "sectionName").cloned();
    let pointer = entry.pointer();
    let Some(selector) = Selector::read(entry) else {
        let (field, identity) = (dotted(&pointer), object.identity());
        let message = format!("`{field}` of {identity} is not a label selector");
        let help = "write `matchLabels`, or `matchExpressions` with In, NotIn, Exists or DoesNotExist";
        let finding = Finding::new(Code::POLICY_INVALID, object.place(&pointer), message);
        reading.wrong(finding.help(help));
        return None;
    };
    Some(TargetSelector {
        group,
        kind,
        selector,
        namespaces: AdmittedNamespaces::read(&entry.get("namespaces"), "Same"),
        section_name,
        pointer,
    })
}
