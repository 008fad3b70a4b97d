//! ClusterOverlay: fields of hub objects that are different on some clusters.
//!
//! Here is every mistake that the object alone shows; whether a cluster, a target, or a path exists is decided in
//! `placing`.
//!
//! What users may write: docs/reference/overlays.md.

mod cluster_value;
#[cfg(test)]
mod tests;
mod written;

pub use cluster_value::{ClusterField, NoValue, Part, Template, ValueType, escaped, fill};
pub(super) use written::Clusters as SelectedClusters;
pub use written::Document;

use std::collections::BTreeSet;

use apimachinery::{FieldPath, Selector};
use crd_schema::Violation;
use kube_json::{Map, Text, Value};
use ocm_placement::GROUP as CLUSTER_GROUP;

use self::cluster_value::References;
use super::own_kinds::OVERLAY as KIND;
use super::schema::Labels;
use super::{crd, gateway, ocm_work, own_kinds, schema, violation};
use crate::diagnostic::{Code, Finding, Place, nearest, with_article};
use crate::object::Object;
use crate::object::well_known::{LOCAL_CONFIG_POINTER, is_local_config};

/// More wrong `${...}` of one value are not listed.
const MOST_MISTAKES: usize = 20;

/// What may be in `${...}`.
const VALUES: &str = "write `${cluster.name}`, `${cluster.labels[\"KEY\"]}`, `${cluster.annotations[\"KEY\"]}`, \
                      or `${cluster.claims[\"KEY\"]}`; `$${` is a literal `${`";

/// Changes of objects in the namespace of an overlay, for some clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterOverlay {
    /// Of two overlays that change a field on a cluster, the higher one decides.
    pub priority: i32,
    /// The clusters; none if something in the selection is wrong.
    pub clusters: Clusters,
    /// The changes that could be understood, in their order.
    pub changes: Vec<Change>,
    /// Whether nothing is wrong with it. Otherwise, no conclusion may be drawn from what it lacks.
    pub is_whole: bool,
}

/// The clusters that match all of the fields that are given; none if none is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clusters {
    /// Names, each with its JSON pointer in the overlay.
    pub names: Option<Vec<(String, String)>>,
    /// Over labels of ManagedClusters.
    pub label_selector: Option<Selector>,
    /// Over claims of ManagedClusters.
    pub claim_selector: Option<Selector>,
}

impl Clusters {
    /// Whether the names have this one, or there are none.
    pub fn has_name(&self, name: &str) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| names.iter().any(|(named, _)| named == name))
    }

    /// Whether the selectors match a cluster whose labels and claims have these values; its name is not looked at.
    pub fn has_matching_selectors<'v>(
        &self,
        label: impl Fn(&str) -> Option<&'v str>,
        claim: impl Fn(&str) -> Option<&'v str>,
    ) -> bool {
        let labels = self.label_selector.as_ref();
        let claims = self.claim_selector.as_ref();
        labels.is_none_or(|labels| labels.matches(label)) && claims.is_none_or(|claims| claims.matches(claim))
    }
}

/// Fields of one or several objects of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its JSON pointer in the overlay, such as `/spec/changes/0`.
    pub pointer: String,
    /// The objects.
    pub target: Target,
    /// The fields that could be understood, in their order.
    pub set: Vec<SetField>,
}

/// The objects of a change, which are in the namespace of the overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Which ones of the kind.
    pub objects: Targeted,
}

/// Objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targeted {
    /// The one with this name.
    Name(String),
    /// Those with these labels.
    Labels(Selector),
}

/// A field that is set or removed.
#[derive(Debug, Clone, PartialEq)]
pub struct SetField {
    /// Its JSON pointer in the overlay, such as `/spec/changes/0/set/1`.
    pub pointer: String,
    /// Where the field is in each object.
    pub path: FieldPath,
    /// What becomes of it.
    pub action: Action,
}

/// What becomes of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// It gets the result of [`fill`] with these.
    Set {
        /// The value; its texts may have values of the cluster, and an escaped `${` even if they have none.
        value: Value,
        /// The type that a text becomes.
        value_type: ValueType,
        /// The value if the cluster lacks one that it refers to.
        default: Option<Value>,
        /// The values of the cluster that it refers to.
        fields: BTreeSet<ClusterField>,
    },
    /// It is removed.
    Remove,
}

/// Whether an object is a ClusterOverlay.
#[must_use]
pub fn is_one(object: &Object) -> bool {
    object.is(own_kinds::GROUP, KIND)
}

/// Reads an overlay. Every mistake is a finding `overlay/invalid` or `overlay/not-allowed` at its field; the overlay that
/// comes back lacks what is wrong.
#[must_use]
pub fn read(object: &Object) -> (Option<ClusterOverlay>, Vec<Finding>) {
    let value = with_required(object.value.clone());
    let schema::Typed { file, violations, .. } = schema::typed::<Document>(schema::overlay(), &value);
    let empty = without_selection(&value);
    let misspelled: Vec<String> = violations.iter().filter_map(violation::meant).collect();
    let is_misspelled =
        |at: &str| misspelled.iter().any(|meant| meant == at) && object.value.pointer(at).is_none();
    let mut wrong = violations;
    wrong.retain(|violation| Some(violation.pointer.as_str()) != empty && !is_misspelled(&violation.pointer));
    let mut check = Check::new(object, Code::OVERLAY_INVALID, &wrong);
    if let Some(at) = empty.filter(|at| !is_misspelled(at)) {
        let message = "`clusters` selects nothing: give `names`, `labelSelector`, or `claimSelector`";
        check.invalid(at, message, "");
    }
    if is_local_config(&object.value) {
        let message = "kustomize would drop it: it has the annotation `config.kubernetes.io/local-config`";
        check.invalid(LOCAL_CONFIG_POINTER, message, "remove the annotation");
    }
    let overlay = file.map(|document| check.overlay(&document));
    let overlay = overlay.map_err(|error| check.invalid("", &error.to_string(), ""));
    (overlay.ok(), check.findings)
}

/// The overlay with the two fields that its spec must have, empty if they are absent.
fn with_required(mut value: Value) -> Value {
    if let Some(Value::Object(spec)) = value.get_mut("spec") {
        spec.insert_if_absent("clusters", || Value::Object(Map::default()));
        spec.insert_if_absent("changes", || Value::Array(Vec::new()));
    }
    value
}

/// Where `clusters` selects nothing, if it does.
fn without_selection(value: &Value) -> Option<&'static str> {
    let clusters = value.pointer("/spec/clusters")?;
    let names = clusters.get("names").and_then(Value::as_array);
    if names.is_some_and(Vec::is_empty) {
        return Some("/spec/clusters/names");
    }
    let fields = clusters.as_object();
    let is_empty = fields.map_or(clusters.is_null(), |fields| fields.values().all(Value::is_null));
    is_empty.then_some("/spec/clusters")
}

/// One reading of an object of our group, whose mistakes have one code.
pub(super) struct Check<'o> {
    object: &'o Object,
    code: Code,
    /// Where the schema refuses something.
    refused: Vec<String>,
    pub(super) findings: Vec<Finding>,
}

impl<'o> Check<'o> {
    /// Reports what the schema refuses.
    pub(super) fn new(object: &'o Object, code: Code, violations: &[Violation]) -> Self {
        let refused = violations.iter().map(|violation| violation.pointer.clone());
        let mut check = Self {
            object,
            code,
            refused: refused.collect(),
            findings: Vec::new(),
        };
        for violation in violation::without_misspelled(violations.iter()) {
            check.violation(violation);
        }
        check
    }

    fn finding(&mut self, place: Place, message: &str, help: impl Into<Text>) {
        let message = format!("{} {}: {message}", self.object.kind, self.object.key());
        let mut finding = Finding::new(self.code, place, message);
        finding.help = Some(help.into()).filter(|help| !help.is_empty());
        self.findings.push(finding);
    }

    pub(super) fn invalid(&mut self, at: &str, message: &str, help: impl Into<Text>) {
        self.finding(self.object.place(at), message, help);
    }

    fn violation(&mut self, violation: &Violation) {
        let place = if violation::is_unknown_field(violation) {
            self.object.key_place(&violation.pointer)
        } else {
            self.object.place(&violation.pointer)
        };
        let help = violation::help(violation).unwrap_or_default();
        self.finding(place, &violation.to_string(), help);
    }

    /// Whether the schema refuses something here or below, so that what is left of it is not what the author meant.
    fn refuses(&self, at: &str) -> bool {
        schema::refuses(&self.refused, at)
    }

    /// Whether the schema refuses one of these fields of a mapping, or one that may be meant as such.
    pub(super) fn refuses_any_like(&self, at: &str, fields: &[&str]) -> bool {
        self.refused.iter().any(|refused| {
            let field = refused.strip_prefix(at).and_then(|rest| rest.strip_prefix('/'));
            field.is_some_and(|field| nearest(field, fields.iter().copied()).is_some())
        })
    }

    fn overlay(&mut self, document: &Document) -> ClusterOverlay {
        let changes = document.spec.changes.items();
        let changes = changes.filter_map(|change| self.change(change)).collect();
        ClusterOverlay {
            priority: document.spec.priority,
            clusters: self.clusters(&document.spec.clusters).unwrap_or_default(),
            changes,
            // Everything has been checked now.
            is_whole: self.findings.is_empty(),
        }
    }

    /// The selected clusters; none if something in the selection is wrong.
    pub(super) fn clusters(&mut self, written: &SelectedClusters) -> Option<Clusters> {
        const AT: &str = "/spec/clusters";
        let name = |(position, name): (usize, &String)| (name.clone(), format!("{AT}/names/{position}"));
        let names = || written.names.items().map(name).collect();
        let label_selector = self.selector(written.label_selector.as_ref(), &format!("{AT}/labelSelector"));
        let claim_selector = self.selector(written.claim_selector.as_ref(), &format!("{AT}/claimSelector"));
        let clusters = Clusters {
            names: written.names.is_given().then(names),
            label_selector: label_selector.ok()?,
            claim_selector: claim_selector.ok()?,
        };
        (!self.refuses(AT)).then_some(clusters)
    }

    /// The compiled selector, if there is one; an error, which has been reported, if it is wrong.
    fn selector(&mut self, labels: Option<&Labels>, at: &str) -> Result<Option<Selector>, ()> {
        if self.refuses(at) {
            return Err(());
        }
        let compiled = labels.map(|labels| labels.selector().compile()).transpose();
        compiled.map_err(|error| self.invalid(&format!("{at}{}", error.origin.pointer()), &error.message, ""))
    }

    fn change(&mut self, (position, change): (usize, &written::Change)) -> Option<Change> {
        let pointer = format!("/spec/changes/{position}");
        let target = self.target(&change.target, &format!("{pointer}/target"));
        let set = change.set.items();
        let set = set.filter_map(|(position, field)| self.field(field, format!("{pointer}/set/{position}")));
        Some(Change {
            set: set.collect(),
            target: target?,
            pointer,
        })
    }

    fn target(&mut self, target: &written::Target, at: &str) -> Option<Target> {
        if let Some(reason) = unchangeable(&target.group, &target.kind) {
            let what = with_article(&target.kind);
            let message = format!("an overlay cannot change {what}: {reason}");
            let place = self.object.place(&format!("{at}/kind"));
            let finding = Finding::new(Code::OVERLAY_NOT_ALLOWED, place, message);
            self.findings.push(finding.help("remove the change"));
            return None;
        }
        let labels = format!("{at}/labelSelector");
        let selector = self.selector(target.label_selector.as_ref(), &labels).ok()?;
        let objects = match (&target.name, selector) {
            (Some(name), None) => Targeted::Name(name.clone()),
            (None, Some(selector)) => Targeted::Labels(selector),
            (Some(_), Some(_)) => {
                let message = "a target has both `name` and `labelSelector`";
                self.invalid(&labels, message, "remove one of the two");
                return None;
            }
            (None, None) if self.refuses_any_like(at, &["name", "labelSelector"]) => return None,
            (None, None) => {
                let message = "a target has neither `name` nor `labelSelector`";
                self.invalid(at, message, "add one of the two");
                return None;
            }
        };
        Some(Target {
            group: target.group.clone(),
            kind: target.kind.clone(),
            objects,
        })
    }

    fn field(&mut self, field: &written::Field, pointer: String) -> Option<SetField> {
        let path = FieldPath::parse(&field.path).map_err(|error| {
            let message = format!("`{}` is not a path: {error}", field.path);
            let help = "write it as `diff` prints it";
            self.invalid(&format!("{pointer}/path"), &message, help);
        });
        let action = self.action(field, &pointer);
        let (path, action) = (path.ok()?, action?);
        if action == Action::Remove && path.is_entry() {
            let message = format!("`{path}` is an element of a list, which cannot be removed by itself");
            let help = "set the list to the elements that remain";
            self.invalid(&format!("{pointer}/remove"), &message, help);
            return None;
        }
        Some(SetField {
            pointer,
            path,
            action,
        })
    }

    fn action(&mut self, field: &written::Field, at: &str) -> Option<Action> {
        let before = self.findings.len();
        let references = References::new(field.value.as_ref());
        let in_default = References::new(field.default.as_ref());
        let is_text = field.value.as_ref().is_some_and(Value::is_string);
        let remove = format!("{at}/remove");
        match (&field.value, field.remove) {
            (Some(_), Some(_)) => {
                let message = "`value` and `remove` exclude each other";
                self.invalid(&remove, message, "remove one of the two");
            }
            (None, Some(false)) => self.invalid(&remove, "`remove` is `true` or absent", "give a `value`"),
            (None, None) if !self.refuses_any_like(at, &["value", "remove"]) => {
                let message = "a field has neither `value` nor `remove`";
                let help = "give a `value`, or write `remove: true` to remove the field";
                self.invalid(at, message, help);
            }
            _ => {}
        }
        if field.value_type.is_some() && (references.is_empty() || !is_text) {
            let message = "`as` is for a `value` that is one text with a value of the cluster";
            let help = "remove `as`, and write a value of that type";
            self.invalid(&format!("{at}/as"), message, help);
        }
        let default = format!("{at}/default");
        if field.default.is_some() && references.is_empty() {
            let message = "`default` is for a `value` with a value of the cluster";
            self.invalid(&default, message, "remove it: every cluster gets `value`");
        }
        if !in_default.is_empty() || !in_default.keys.is_empty() {
            let message = "`default` is used as it is, without values of the cluster";
            self.invalid(&default, message, "write a value without `${...}`");
        }
        for key in references.keys.iter().take(MOST_MISTAKES) {
            let place = self.object.key_place(&format!("{at}/value{key}"));
            let message = "a key cannot contain a value of the cluster";
            self.finding(place, message, "write one overlay for each key");
        }
        for (text, wrong) in references.wrong.iter().take(MOST_MISTAKES) {
            let wrong: String = wrong.chars().take(80).collect();
            let message = format!("`{wrong}` is not a value of a cluster");
            self.invalid(&format!("{at}/value{text}"), &message, VALUES);
        }
        if self.findings.len() > before || self.refuses(at) {
            return None;
        }
        Some(field.value.clone().map_or(Action::Remove, |value| Action::Set {
            value,
            value_type: field.value_type.unwrap_or_default(),
            default: field.default.clone(),
            fields: references.fields,
        }))
    }
}

/// Why no overlay can change objects of a kind.
pub fn unchangeable(group: &str, kind: &str) -> Option<&'static str> {
    match (group, kind) {
        ("", "Secret") => Some("it would be in the works of clusters in clear text"),
        ("", "Namespace") => Some("its labels decide what its objects may be attached to"),
        (gateway::GROUP, "GatewayClass") => Some("it decides which Gateways are shipped, and with what"),
        (gateway::GROUP, "ReferenceGrant") => Some("it decides what may refer to what"),
        (crd::GROUP, "CustomResourceDefinition") => Some("it defines a kind"),
        (CLUSTER_GROUP, _) => Some("it decides where objects go"),
        (ocm_work::GROUP, _) => Some("works are written by spokewright"),
        (own_kinds::GROUP, _) => Some("it is not shipped"),
        _ => None,
    }
}
