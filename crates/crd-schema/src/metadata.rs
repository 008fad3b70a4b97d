//! ObjectMeta: the metadata of the root object and of embedded resources. Its fields, and the values that Kubernetes
//! refuses in them beyond their types.
//!
//! Source: kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go@v1.34.1 and
//! staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go@v1.34.1.

use std::borrow::Cow;
use std::sync::LazyLock;

use apimachinery::names::{ANNOTATIONS_MAX, NameRule};
use apimachinery::{Field, pointer};
use kube_json::{Value, json};

use crate::compile::{Node, compile};
use crate::format::Format;

/// The finalizers that decide what happens to dependents. Only one of them may be set.
const OF_DEPENDENTS: [&str; 2] = ["orphan", "foregroundDeletion"];

/// What an owner is good for in a file.
const OWNER_HELP: &str = "remove it: an owner is identified by its `uid`, which differs on every cluster";

/// The compiled schema of ObjectMeta. Every field is nullable, because decoding a null gives its zero.
///
/// Times are texts here, and [`problems`] reads them: metadata is decoded into Go's types, so the lists that pass for
/// a text with a format elsewhere do not.
pub(crate) static NODE: LazyLock<Node> = LazyLock::new(node);

fn node() -> Node {
    let string = json!({"type": "string", "nullable": true});
    let time = string.clone();
    let integer = json!({"type": "integer", "format": "int64", "nullable": true});
    let boolean = json!({"type": "boolean", "nullable": true});
    let strings = json!({"type": "object", "additionalProperties": string, "nullable": true});
    let any = json!({"x-kubernetes-preserve-unknown-fields": true, "nullable": true});
    let (node, _) = compile(&json!({
        "type": "object",
        "properties": {
            "annotations": strings,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": integer,
            "deletionTimestamp": time,
            "finalizers": {"type": "array", "items": string, "nullable": true},
            "generateName": string,
            "generation": integer,
            "labels": strings,
            "managedFields": {"type": "array", "nullable": true, "items": {"type": "object", "nullable": true, "properties": {
                "apiVersion": string, "fieldsType": string, "fieldsV1": any, "manager": string,
                "operation": string, "subresource": string, "time": time,
            }}},
            "name": string,
            "namespace": string,
            "ownerReferences": {"type": "array", "nullable": true, "items": {"type": "object", "nullable": true, "properties": {
                "apiVersion": string, "blockOwnerDeletion": boolean, "controller": boolean, "kind": string,
                "name": string, "uid": string,
            }}},
            "resourceVersion": string,
            "selfLink": string,
            "uid": string,
        },
    }));
    node
}

/// A problem of a metadata mapping.
pub(crate) struct MetadataProblem {
    /// RFC 6901, from the mapping on.
    pub(crate) pointer: String,
    /// The same as the API server writes it, which names no items.
    pub(crate) field: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl MetadataProblem {
    fn new(at: &Field<'_>, field: &str, message: String) -> Self {
        Self {
            pointer: at.pointer(),
            field: field.to_owned(),
            message,
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The owner of the metadata.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetadataOwner {
    /// An object's that is created: the API server writes some of it anew, whatever is there.
    Object,
    /// An embedded resource's, which is taken as it stands; its name may be missing, and need only be a path segment.
    Embedded,
}

/// What Kubernetes refuses in metadata whose types are right.
pub(crate) fn problems(metadata: &Value, whose: MetadataOwner) -> Vec<MetadataProblem> {
    let metadata = Field::new(metadata);
    let mut found = Vec::new();
    let rule = match whose {
        MetadataOwner::Object => NameRule::Rfc1123Subdomain,
        MetadataOwner::Embedded => NameRule::PathSegment,
    };
    for (name, rule) in [
        ("generateName", rule),
        ("name", rule),
        ("namespace", NameRule::Rfc1123Label),
    ] {
        let Some(text) = metadata.text(name).filter(|text| !text.is_empty()) else {
            continue;
        };
        // What is generated goes on behind the last hyphen.
        let checked = match text.strip_suffix('-') {
            Some(stem) if name == "generateName" && !stem.is_empty() => Cow::Owned(format!("{stem}a")),
            _ => Cow::Borrowed(text),
        };
        found.extend(misnamed(|| metadata.get(name), name, text, &checked, rule));
    }
    if whose == MetadataOwner::Embedded
        && let Some(generation) = metadata.present("generation")
        && let Some(number) = generation.integer().ok().flatten().filter(|number| *number < 0)
    {
        let message = format!("Invalid value: {number}: must be greater than or equal to 0");
        found.push(MetadataProblem::new(&generation, "generation", message));
    }
    if let Some(labels) = metadata.present("labels") {
        for (key, value) in labels.entries() {
            let text = value.str().unwrap_or_default();
            let labels = || labels.clone();
            found.extend(misnamed(labels, "labels", key, key, NameRule::LabelKey));
            found.extend(misnamed(|| value, "labels", text, text, NameRule::LabelValue));
        }
    }
    found.extend(metadata.present("annotations").iter().flat_map(annotations));
    found.extend(metadata.present("ownerReferences").iter().flat_map(owners));
    found.extend(metadata.present("finalizers").iter().flat_map(finalizers));
    let entries = metadata.present("managedFields");
    let entries: Vec<Field<'_>> = entries.iter().flat_map(Field::items).collect();
    if whose == MetadataOwner::Embedded {
        found.extend(entries.iter().flat_map(managed_fields));
    }
    let times = ["creationTimestamp", "deletionTimestamp"].map(|name| metadata.present(name));
    let times = times
        .into_iter()
        .chain(entries.iter().map(|entry| entry.present("time")));
    found.extend(times.flatten().filter_map(|time| not_a_time(&time)));
    found
}

fn misnamed<'f>(
    at: impl FnOnce() -> Field<'f>,
    field: &str,
    shown: &str,
    checked: &str,
    rule: NameRule,
) -> Option<MetadataProblem> {
    let error = rule.check(checked).err()?;
    let message = format!("Invalid value: {shown:?}: {}", error.problem);
    let problem = MetadataProblem::new(&at(), field, message);
    Some(match error.suggestion {
        Some(name) => problem.help(format!("for example {name:?}")),
        None => problem.help("choose another"),
    })
}

fn annotations(annotations: &Field<'_>) -> Vec<MetadataProblem> {
    let mut found = Vec::new();
    let mut bytes = 0_usize;
    for (key, value) in annotations.entries() {
        let annotations = || annotations.clone();
        found.extend(misnamed(
            annotations,
            "annotations",
            key,
            key,
            NameRule::AnnotationKey,
        ));
        let value = value.str().unwrap_or_default();
        bytes = bytes.saturating_add(key.len()).saturating_add(value.len());
    }
    if bytes > ANNOTATIONS_MAX {
        let message = format!("Too long: may not be more than {ANNOTATIONS_MAX} bytes");
        found.push(MetadataProblem::new(annotations, "annotations", message));
    }
    found
}

/// Each owner is named in full, none is an Event, and one at most is the controller.
fn owners(owners: &Field<'_>) -> Vec<MetadataProblem> {
    let mut found = Vec::new();
    let mut controller = None;
    for owner in owners.items() {
        let text = |name: &'static str| owner.text(name).unwrap_or_default();
        let version = version_of(text("apiVersion"));
        let checks = [
            ("apiVersion", version.is_some(), "version must not be empty"),
            ("kind", !text("kind").is_empty(), "must not be empty"),
            ("name", !text("name").is_empty(), "must not be empty"),
            ("uid", !text("uid").is_empty(), "must not be empty"),
        ];
        for (name, is_right, problem) in checks {
            if !is_right {
                let field = owner.get(name);
                // A missing field is reported at the item, so that an empty item is one mistake.
                let at = if field.is_present() { &field } else { &owner };
                let message = format!("Invalid value: {:?}: {problem}", text(name));
                let field = format!("ownerReferences.{name}");
                found.push(MetadataProblem::new(at, &field, message).help(OWNER_HELP));
            }
        }
        // The API server shows Go's own form of the value in the two that follow, pointers and all.
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            let message = "Invalid value: /v1, Kind=Event is disallowed from being an owner".to_owned();
            found.push(MetadataProblem::new(&owner, "ownerReferences", message).help(OWNER_HELP));
        }
        if owner.get("controller").boolean() == Ok(Some(true)) {
            let name = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                None => controller = Some(name),
                Some(first) => {
                    let message = format!(
                        "Invalid value: Only one reference can have Controller set to true. Found \"true\" in references \
                         for {first} and {name}"
                    );
                    let at = owner.get("controller");
                    found.push(MetadataProblem::new(&at, "ownerReferences", message).help(OWNER_HELP));
                }
            }
        }
    }
    found
}

/// The version in an `apiVersion`; none where it is empty, or where a second slash makes it no `apiVersion` at all.
fn version_of(api_version: &str) -> Option<&str> {
    let version = match api_version.split_once('/') {
        Some((_, version)) => version,
        None => api_version,
    };
    Some(version).filter(|version| !version.is_empty() && !version.contains('/'))
}

fn finalizers(finalizers: &Field<'_>) -> Vec<MetadataProblem> {
    let names: Vec<(Field<'_>, &str)> = finalizers
        .items()
        .map(|item| (item.clone(), item.str().unwrap_or_default()))
        .collect();
    let mut found: Vec<MetadataProblem> = names
        .iter()
        .filter_map(|(item, name)| misnamed(|| item.clone(), "finalizers", name, name, NameRule::LabelKey))
        .collect();
    if OF_DEPENDENTS
        .iter()
        .all(|wanted| names.iter().any(|(_, name)| name == wanted))
    {
        let list: Vec<String> = names.iter().map(|(_, name)| format!("{name:?}")).collect();
        let message = format!(
            "Invalid value: []string{{{}}}: finalizer {} cannot be both set",
            list.join(", "),
            OF_DEPENDENTS.join(" and ")
        );
        found.push(MetadataProblem::new(finalizers, "finalizers", message));
    }
    found
}

/// One entry of an embedded resource; those of an object are written anew when it is created.
fn managed_fields(entry: &Field<'_>) -> Vec<MetadataProblem> {
    let pointer = entry.pointer();
    let item = pointer::tokens(&pointer).last().unwrap_or_default();
    let checks: [(&str, &[&str], &str); 2] = [
        ("operation", &["Apply", "Update"], "must be `Apply` or `Update`"),
        ("fieldsType", &["", "FieldsV1"], "must be `FieldsV1`"),
    ];
    let wrong = checks.into_iter().filter_map(|(name, allowed, problem)| {
        let field = entry.get(name);
        let text = field.str().unwrap_or_default();
        (!allowed.contains(&text)).then(|| {
            let at = if field.is_present() { &field } else { entry };
            let message = format!("Invalid value: {text:?}: {problem}");
            MetadataProblem::new(at, &format!("managedFields[{item}].{name}"), message)
        })
    });
    wrong.collect()
}

fn not_a_time(time: &Field<'_>) -> Option<MetadataProblem> {
    let text = time.str().filter(|text| !Format::DateTime.accepts(text))?;
    let field = pointer::dotted(&time.pointer());
    let message =
        format!("Invalid value: {text:?}: must be a time of RFC 3339, such as 2006-01-02T15:04:05Z");
    Some(MetadataProblem::new(time, &field, message).help("remove it: the API server sets it"))
}
