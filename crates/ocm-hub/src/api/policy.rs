//! The target references and target selectors of a policy (GEP-713, "Targets").
//!
//! Owns: the shapes that policy kinds share. Flows in: objects. Flows out: [`TargetRef`]s and [`TargetSelector`]s;
//! findings at the fields that are wrong. Must not know: which kinds may be targeted, or which objects exist.

use super::Reading;
use super::gateway::GROUP;
use super::route::AdmittedNamespaces;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use apimachinery::pointer::dotted;
use apimachinery::{Field, Selector, core_group};

/// The fields of a spec that name targets.
pub const TARGETS: [&str; 3] = ["targetRef", "targetRefs", "targetSelectors"];

/// One declared target of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRef<'a> {
    /// API group, `""` for core.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Name; empty where labels are in its place (GKE's `selector`).
    pub name: &'a str,
    /// Namespace as written; none means the policy's own.
    pub namespace: Option<&'a str>,
    /// Listener, route rule or port; none means the whole object.
    pub section_name: Option<&'a str>,
    /// Pointer of the reference inside the policy: `/spec/targetRef` or `/spec/targetRefs/0`.
    pub pointer: String,
}

/// Reads `spec.targetRef` or `spec.targetRefs`, in their order.
///
/// Wrong references are findings and left out. A policy without either has no targets; its kind decides whether that is
/// allowed.
pub fn target_refs<'a>(object: &'a Object, findings: &mut Findings) -> Vec<TargetRef<'a>> {
    let spec = object.root().get("spec");
    let (single, plural) = (spec.get("targetRef"), spec.get("targetRefs"));
    let mut reading = Reading::new(object, findings);
    if single.is_present() && plural.is_present() {
        reading.wrong(
            Finding::new(
                Code::POLICY_INVALID,
                object.key_place(&plural.pointer()),
                format!("{} has both `targetRef` and `targetRefs`", object.identity()),
            )
            .related(object.key_place(&single.pointer()), "the other form")
            .help("keep one of them"),
        );
    }
    let references = if single.is_present() {
        reading.mapping(&single);
        vec![single]
    } else {
        reading.items(&plural).collect()
    };
    references
        .iter()
        .filter_map(|reference| read_reference(&mut reading, object, reference))
        .collect()
}

fn read_reference<'a>(
    reading: &mut Reading<'a, '_>,
    object: &'a Object,
    reference: &Field<'a>,
) -> Option<TargetRef<'a>> {
    let group = core_group(reading.string(reference, "group").unwrap_or_default());
    if let Some((bare, _)) = group.split_once('/') {
        let message = format!("the group of a target must not contain a version: `{group}`");
        let place = object.place(&reference.get("group").pointer());
        reading.wrong(
            Finding::new(Code::POLICY_INVALID, place, message)
                .label("a group, a slash and a version")
                .help(format!("write `group: {bare}`")),
        );
        return None;
    }
    Some(TargetRef {
        group,
        kind: reading.required_string(reference, "kind")?,
        name: if reference.get("selector").is_present() {
            reading.string(reference, "name").unwrap_or_default()
        } else {
            reading.required_string(reference, "name")?
        },
        namespace: reading.text(reference, "namespace"),
        section_name: reading.text(reference, "sectionName"),
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
pub struct TargetSelector<'a> {
    /// API group; Gateway API's own when left out.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// The labels that a target must have.
    pub selector: Selector,
    /// The namespaces that it may be in; the policy's own where nothing is said.
    pub namespaces: AdmittedNamespaces,
    /// Listener, route rule or port; none means the whole object.
    pub section_name: Option<&'a str>,
    /// Pointer of the entry inside the policy: `/spec/targetSelectors/0`.
    pub pointer: String,
}

/// Reads `spec.targetSelectors`, in their order. Wrong entries are findings and left out.
pub fn target_selectors<'a>(object: &'a Object, findings: &mut Findings) -> Vec<TargetSelector<'a>> {
    let mut reading = Reading::new(object, findings);
    let entries = reading.items(&object.root().get("spec").get("targetSelectors"));
    entries
        .filter_map(|entry| {
            let kind = reading.required_string(&entry, "kind")?;
            let group = core_group(reading.string(&entry, "group").unwrap_or(GROUP));
            let section_name = reading.text(&entry, "sectionName");
            let Some(selector) = Selector::read(&entry) else {
                let field = dotted(&entry.pointer());
                let message = format!("`{field}` of {} is not a label selector", object.identity());
                let help =
                    "write `matchLabels`, or `matchExpressions` with In, NotIn, Exists or DoesNotExist";
                let place = object.place(&entry.pointer());
                reading.wrong(Finding::new(Code::POLICY_INVALID, place, message).help(help));
                return None;
            };
            Some(TargetSelector {
                group,
                kind,
                selector,
                namespaces: AdmittedNamespaces::read(&entry.get("namespaces"), "Same"),
                section_name,
                pointer: entry.pointer(),
            })
        })
        .collect()
}
