//! ManifestWork (`work.open-cluster-management.io/v1`) and ManifestWorkReplicaSet (`v1alpha1`): what OCM
//! refuses.
//!
//! OCM's validation has two stages: the CRD's structural rules (the catalog has them), and the webhook's, with the size
//! formula ([`work_size`]). A [`Refusal`] has OCM's wording.
//!
//! Rules and messages: docs/systems/ocm-work.md. The executor's SubjectAccessReview is left out, because it needs a
//! hub.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use kube_json::{Number, Value};

use crate::api::{catalog, violation};
use crate::diagnostic::{Code, Finding};
use crate::object::Object;
use apimachinery::Field;
use crd_schema::{Crd, Violation};

/// API group of both kinds.
pub const GROUP: &str = "work.open-cluster-management.io";
/// The kind that the work agent applies on one cluster.
pub const MANIFEST_WORK: &str = "ManifestWork";
/// The kind from which the hub makes a work for each cluster of a Placement.
pub const MANIFEST_WORK_REPLICA_SET: &str = "ManifestWorkReplicaSet";
/// The kind in which an agent notes, on its cluster, what it applied of a work
/// (docs/systems/ocm-work.md#appliedmanifestwork).
pub const APPLIED_MANIFEST_WORK: &str = "AppliedManifestWork";
/// The label of a work that the hub made from a set: `<namespace>.<name>` of the set
/// (docs/systems/ocm-work.md#works-of-a-set).
pub const REPLICA_SET_LABEL: &str = "work.open-cluster-management.io/manifestworkreplicaset";
/// What OCM's webhook allows: the sum of all manifests in bytes; exactly this passes
/// (docs/systems/ocm-work.md#size).
pub(crate) const WEBHOOK_LIMIT: u64 = 500 * 1024;

/// Whether the work agent applied an object: its AppliedManifestWork then owns it
/// (docs/systems/ocm-work.md#appliedmanifestwork).
pub fn is_owned_by_work(object: &Object) -> bool {
    let owners = object.root().get("metadata").get("ownerReferences");
    owners.items().any(|owner| {
        let version = owner.text("apiVersion").unwrap_or_default();
        owner.text("kind") == Some(APPLIED_MANIFEST_WORK)
            && version.split_once('/').is_some_and(|(group, _)| group == GROUP)
    })
}

/// Which stage of OCM refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The CRD's schema. An API server stops here.
    Crd,
    /// The validating webhook, which only sees what the CRD lets through.
    Webhook,
}

/// Why OCM would refuse a work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Who refuses.
    pub stage: Stage,
    /// `work/invalid`, or `work/too-large` for the size.
    pub code: Code,
    /// RFC 6901 pointer inside the work.
    pub pointer: String,
    /// OCM's words, with the path where OCM gives one.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Refusal {
    /// The finding about `object`.
    pub fn into_finding(self, object: &Object) -> Finding {
        let message = format!("{} {}: {}", object.kind, object.key(), self.message);
        let finding = Finding::new(self.code, object.place(&self.pointer), message);
        let correct = || "correct the work: a hub refuses it".to_owned();
        finding.help(self.help.unwrap_or_else(correct))
    }
}

/// OCM's validation, for many works.
#[derive(Debug)]
pub struct WorkValidation {
    manifest_work: Option<Crd>,
    replica_set: Option<Crd>,
}

impl Default for WorkValidation {
    fn default() -> Self {
        Self::new()
    }
}

impl WorkValidation {
    /// Finds both definitions.
    pub fn new() -> Self {
        // That the catalog has both is tested.
        let definition = |kind| catalog::find(GROUP, kind)?.definition();
        Self {
            manifest_work: definition(MANIFEST_WORK),
            replica_set: definition(MANIFEST_WORK_REPLICA_SET),
        }
    }

    /// Everything that OCM would refuse in a ManifestWork or ManifestWorkReplicaSet, the CRD's reasons first.
    ///
    /// Other kinds are not refused.
    pub fn check(&self, work: &Value) -> Vec<Refusal> {
        let root = Field::new(work);
        let (definition, template) = match root.text("kind") {
            Some(MANIFEST_WORK) => (&self.manifest_work, root.get("spec")),
            Some(MANIFEST_WORK_REPLICA_SET) => {
                (&self.replica_set, root.get("spec").get("manifestWorkTemplate"))
            }
            _ => return Vec::new(),
        };
        let schema = definition
            .as_ref()
            .and_then(|crd| crd.versions.first()?.schema.as_ref());
        let violations = schema.map(|schema| schema.validate(work)).unwrap_or_default();
        let refusal = |violation: Violation| Refusal {
            stage: Stage::Crd,
            code: Code::WORK_INVALID,
            message: violation.to_string(),
            help: violation::help(&violation),
            pointer: violation.pointer,
        };
        // The status is the agent's, and not ours to judge.
        let of_spec = |violation: &Violation| !violation.pointer.starts_with("/status/");
        let violations = violations.into_iter().filter(of_spec);
        let mut refusals: Vec<Refusal> = violations.map(refusal).collect();
        check_identity(&root, &mut refusals);
        check_condition_rules(&template, &mut refusals);
        check_manifests(&template.get("workload").get("manifests"), &mut refusals);
        if root.text("kind") == Some(MANIFEST_WORK) {
            check_executor(&template, &mut refusals);
        }
        refusals
    }
}

fn refusal(stage: Stage, field: &Field<'_>, message: impl Into<String>, help: Option<&str>) -> Refusal {
    Refusal {
        stage,
        code: Code::WORK_INVALID,
        pointer: field.pointer(),
        message: message.into(),
        help: help.map(str::to_owned),
    }
}

fn webhook(field: &Field<'_>, message: impl Into<String>) -> Refusal {
    refusal(Stage::Webhook, field, message, None)
}

/// What the request itself must say: a version that is served, a name, a namespace.
fn check_identity(root: &Field<'_>, refusals: &mut Vec<Refusal>) {
    let mut refuse = |field: &Field<'_>, message: String, help: Option<&str>| {
        refusals.push(refusal(Stage::Crd, field, message, help));
    };
    let kind = root.text("kind").unwrap_or_default();
    let served = if kind == MANIFEST_WORK { "v1" } else { "v1alpha1" };
    let api_version = root.get("apiVersion");
    let written = api_version.str().unwrap_or_default();
    if written.split_once('/') != Some((GROUP, served)) {
        let message = format!("no matches for kind {kind:?} in version {written:?}");
        refuse(&api_version, message, Some(&format!("write {GROUP}/{served}")));
    }
    for (name, detail) in [("name", ": name or generateName is required"), ("namespace", "")] {
        let field = root.get("metadata").get(name);
        if field.str().is_none_or(str::is_empty) {
            refuse(&field, format!("metadata.{name}: Required value{detail}"), None);
        }
    }
}

/// The CRD's CEL rule, checked without an engine: a rule of type CEL names its condition.
fn check_condition_rules(template: &Field<'_>, refusals: &mut Vec<Refusal>) {
    for (config_index, config) in template.get("manifestConfigs").items().enumerate() {
        for (index, rule) in config.get("conditionRules").items().enumerate() {
            if rule.text("type") == Some("CEL") && rule.text("condition") == Some("") {
                let message = format!(
                    "spec.manifestConfigs[{config_index}].conditionRules[{index}]: Invalid value: \
                     Condition is required for CEL rules"
                );
                let help = Some("set condition, for example to Complete");
                refusals.push(refusal(Stage::Crd, &rule, message, help));
            }
        }
    }
}

fn check_manifests(manifests: &Field<'_>, refusals: &mut Vec<Refusal>) {
    let values = match manifests.value() {
        Some(Value::Array(values)) => values.as_slice(),
        None => &[],
        // Of another type: the schema has said so.
        Some(_) => return,
    };
    if values.is_empty() {
        refusals.push(webhook(manifests, "manifests should not be empty"));
        return;
    }
    let size = work_size(values);
    if size > WEBHOOK_LIMIT {
        let message =
            format!("the size of manifests is {size} bytes which exceeds the {WEBHOOK_LIMIT} limit");
        refusals.push(Refusal {
            code: Code::WORK_TOO_LARGE,
            help: Some("split the work".to_owned()),
            ..webhook(manifests, message)
        });
    }
    // apiVersion, kind, namespace, name; a missing namespace equals an empty one
    // (docs/systems/ocm-work.md#validation).
    let mut seen: HashMap<[&str; 4], usize> = HashMap::with_capacity(values.len());
    for (index, manifest) in manifests.items().enumerate() {
        let Some(kind) = manifest.text("kind").filter(|kind| !kind.is_empty()) else {
            let shown = manifest.value().map(Value::to_string).unwrap_or_default();
            let message = format!("Object 'Kind' is missing in '{shown}'");
            refusals.push(webhook(&manifest, message));
            continue;
        };
        let metadata = manifest.get("metadata");
        let Some(name) = metadata.text("name").filter(|name| !name.is_empty()) else {
            refusals.push(webhook(&metadata, "name must be set in manifest"));
            continue;
        };
        let generated = metadata.get("generateName");
        if generated.str().is_some_and(|name| !name.is_empty()) {
            refusals.push(webhook(&generated, "generateName must not be set in manifest"));
        }
        let api_version = manifest.text("apiVersion").unwrap_or_default();
        let namespace = metadata.text("namespace").unwrap_or_default();
        let first = *seen.entry([api_version, kind, namespace, name]).or_insert(index);
        if first != index {
            let message = format!(
                "duplicate manifest for resource {namespace}/{name} with resource type {api_version}.{kind}"
            );
            refusals.push(Refusal {
                help: Some(format!("remove it: manifest {first} is the same object")),
                ..webhook(&manifest, message)
            });
        }
    }
}

fn check_executor(template: &Field<'_>, refusals: &mut Vec<Refusal>) {
    let subject = template.get("executor").get("subject");
    let account = subject.get("serviceAccount");
    if subject.text("type") == Some("ServiceAccount") && !account.is_present() {
        refusals.push(Refusal {
            help: Some("set serviceAccount to its namespace and name".to_owned()),
            ..webhook(&account, "executor service account can not be nil")
        });
    }
}

// The size of a work is the length of its manifests as the API server's compact JSON, with the protobuf framing around
// them (docs/systems/ocm-work.md#size). Nothing is serialized; only lengths are added up. The API server writes sorted
// keys, no spaces, `<`, `>`, `&`, U+2028 and U+2029 as `\u....`, and numbers as Go does. Key order does not change a
// length, so maps of either order count the same.

/// The size of all manifests of a work, in bytes.
pub fn work_size(manifests: &[Value]) -> u64 {
    manifests.iter().map(manifest_size).fold(0, u64::saturating_add)
}

/// The bytes that one manifest adds to the size of its work.
pub fn manifest_size(manifest: &Value) -> u64 {
    manifest_size_of_json(json_bytes(manifest))
}

/// The same, given the length of its compact JSON: a field tag, the length as a varint, the text.
fn manifest_size_of_json(json_bytes: u64) -> u64 {
    let significant = u64::BITS.saturating_sub(json_bytes.leading_zeros()).max(1);
    let varint = u64::from(significant.div_ceil(7));
    json_bytes.saturating_add(varint).saturating_add(1)
}

/// The length of a value as the API server's compact JSON, in bytes.
fn json_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number_bytes(number),
        Value::String(text) => string_bytes(text),
        Value::Array(items) => {
            let sizes = items.iter().map(json_bytes);
            sizes.fold(enclosing(items.len()), u64::saturating_add)
        }
        Value::Object(fields) => {
            // A colon is between a key and its value.
            let sizes = fields.iter().map(|(key, value)| {
                string_bytes(key)
                    .saturating_add(1)
                    .saturating_add(json_bytes(value))
            });
            sizes.fold(enclosing(fields.len()), u64::saturating_add)
        }
    }
}

/// Two brackets and the commas between `count` entries.
fn enclosing(count: usize) -> u64 {
    u64::try_from(count.saturating_sub(1))
        .unwrap_or(u64::MAX)
        .saturating_add(2)
}

/// Quotes, the text, and what its escapes take beside it.
fn string_bytes(text: &str) -> u64 {
    let escape = |character| match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 1,
        '<' | '>' | '&' | '\0'..='\u{1f}' => 5,
        // Three bytes of UTF-8 become six of escape.
        '\u{2028}' | '\u{2029}' => 3,
        _ => 0,
    };
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    text.chars()
        .map(escape)
        .fold(bytes.saturating_add(2), u64::saturating_add)
}

fn number_bytes(number: &Number) -> u64 {
    let text = match number.as_i64() {
        Some(integer) => integer.to_string(),
        None => go_float(number.as_f64().unwrap_or_default()),
    };
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// A float as Go's encoding/json writes it: shortest digits, an exponent below 1e-6 and from 1e21.
fn go_float(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = format!("{float:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        }
    } else if float == 0.0 && float.is_sign_negative() {
        "-0".to_owned()
    } else {
        float.to_string()
    }
}
