//! The name and namespace of an object: Kubernetes' rules for names, labels, namespaces, and all other metadata, and the
//! namespace that an object ends up in.

use crate::api::crd::Scope;
use crate::api::kinds::KindTable;
use crate::api::violation::{self, METADATA_OF_HUB};
use crate::diagnostic::{Code, Finding, IdentityPart, holds_secret, nearest};
use crate::object::Object;
use apimachinery::Field;
use apimachinery::names::{InvalidName, NameRule, check_namespace};

/// Findings about the metadata of an object.
pub(super) fn metadata_findings(object: &Object) -> Vec<Finding> {
    let mut wrong = Vec::new();
    let rule = NameRule::for_kind(&object.api_version.group, &object.kind);
    if let Err(error) = rule.check(&object.name) {
        let finding = invalid_name(object, "/metadata/name", &object.name, &error);
        wrong.push(finding.leaves_unknown(IdentityPart::Name));
    }
    if let Some(namespace) = &object.namespace
        && let Err(error) = check_namespace(namespace)
    {
        let finding = invalid_name(object, "/metadata/namespace", namespace, &error);
        wrong.push(finding.leaves_unknown(IdentityPart::Namespace));
    }
    let metadata = object.root().get("metadata");
    for (section, is_label) in [("labels", true), ("annotations", false)] {
        if let Some(entries) = metadata.present(section) {
            entries_findings(object, &entries, section, is_label, &mut wrong);
        }
    }
    wrong.extend(violation::metadata_findings(object));
    wrong.extend(misspelled_key(object));
    wrong
}

/// A key of `metadata` with a typo. Of kinds with a schema, the schema reports it: this is for those of the core group.
fn misspelled_key(object: &Object) -> Option<Finding> {
    if !object.api_version.group.is_empty() {
        return None;
    }
    let metadata = object.root().get("metadata");
    // That the name or the namespace is missing is reported as such.
    let mut missing = ["annotations", "labels"].iter().filter(|key| !metadata.has(key));
    missing.find_map(|key| {
        let unknown = metadata.names().filter(|key| !METADATA_OF_HUB.contains(key));
        let near = nearest(key, unknown)?;
        let message = format!("{}: unknown field \"metadata.{near}\"", object.identity());
        let place = object.key_place(&metadata.get(near).pointer());
        let finding = Finding::new(Code::OBJECT_UNKNOWN_FIELD, place, message);
        Some(finding.help(format!("did you mean `{key}`?")))
    })
}

/// Labels and annotations are mappings of strings; keys, and values of labels, have rules of their own.
fn entries_findings(
    object: &Object,
    entries: &Field<'_>,
    section: &str,
    is_label: bool,
    wrong: &mut Vec<Finding>,
) {
    if let Err(mismatch) = entries.mapping() {
        let (identity, found) = (object.identity(), mismatch.found);
        let message = format!("`metadata.{section}` of {identity} must be a mapping, not {found}");
        let finding = Finding::new(Code::OBJECT_SCHEMA, object.place(&entries.pointer()), message);
        let help = format!("write `{section}:` and one `key: value` a line below it");
        wrong.push(finding.help(help).settles_field());
        return;
    }
    for (key, field) in entries.entries() {
        // Annotation keys are compared in lower case by Kubernetes; labels as they are.
        let folded = if is_label { key } else { &key.to_lowercase() };
        if let Err(error) = NameRule::LabelKey.check(folded) {
            let finding = invalid_name(object, &field.pointer(), key, &error);
            wrong.push(finding.label(format!("a key of `{section}`")));
        }
        match field.string() {
            Ok(Some(value)) if is_label => {
                if let Err(mut error) = NameRule::LabelValue.check(value) {
                    let is_secret = holds_secret(&object.value);
                    error.suggestion = error.suggestion.filter(|_| !is_secret);
                    let value = if is_secret { "(hidden)" } else { value };
                    wrong.push(invalid_name(object, &field.pointer(), value, &error));
                }
            }
            Ok(_) => {}
            Err(mismatch) => {
                let identity = object.identity();
                let message = format!("`{key}` in `metadata.{section}` of {identity} must be a string");
                let finding = Finding::new(Code::OBJECT_SCHEMA, object.place(&field.pointer()), message);
                let label = format!("YAML reads this as {}", mismatch.found);
                wrong.push(finding.label(label).help("put it in quotes").settles_field());
            }
        }
    }
}

/// Gives the object its effective namespace; `default` is for namespaced objects that name none. A namespaced object
/// needs one, a cluster-scoped one has none.
pub(super) fn settle_namespace(
    object: &mut Object,
    kinds: &KindTable,
    default: Option<&str>,
) -> Option<Finding> {
    let kind = kinds.kind(&object.api_version.group, &object.kind);
    match (kind.map(|kind| kind.scope), &object.namespace) {
        (Some(Scope::Cluster), _) => {
            // An API server clears it without a word.
            object.namespace = None;
            None
        }
        (Some(Scope::Namespaced), None) => {
            object.namespace = default.map(Into::into);
            object.namespace.is_none().then(|| {
                let (place, meant) = object.origin.missing(&object.value, "/metadata", "namespace");
                let message = format!("{} {} has no namespace", object.kind, object.name);
                let add = "add `namespace`, or pass `--namespace NS` for all objects without one";
                let finding = Finding::new(Code::OBJECT_NO_NAMESPACE, place, message);
                let finding = finding.label("no `namespace` here");
                finding.help(meant.unwrap_or_else(|| add.to_owned()))
            })
        }
        // An unknown kind is namespaced when it names a namespace (docs/reference/what-is-read.md).
        _ => None,
    }
}

fn invalid_name(object: &Object, pointer: &str, name: &str, error: &InvalidName) -> Finding {
    let message = format!("Kubernetes refuses `{name}` in this {}: {error}", object.kind);
    let finding = Finding::new(Code::OBJECT_INVALID_NAME, object.place(pointer), message);
    match &error.suggestion {
        Some(suggestion) => finding.help(format!("write `{suggestion}`")),
        None => finding.help("choose another name"),
    }
}
