//! One ManifestWork, from its parts to a text that lacks only the cluster's name.
//!
//! Which clusters get it is not known here. The text is cut where the name goes, and has the annotation that keeps Flux from
//! substituting inside it.

use std::sync::Arc;

use kube_json::{Map, Value, json};
use kube_yaml::write_work;

use super::manifest::{Manifest, ManifestSummary, delete_option, manifest_configs};
use super::names::{MANIFEST_KEY_LABEL, manifest_key};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, manifest_size};
use crate::api::params::Params;
use crate::diagnostic::broken;
use crate::object::first_variable;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL, PARENT_ANNOTATION, SYNC_WAVE};
use crate::output::Turn;

/// The parts of a ManifestWork, the same on every cluster that gets it.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkParts {
    /// `metadata.name`.
    pub name: String,
    /// `kuadrant.io/parent`: `namespace/name` of the hub object; none for the RBAC work.
    pub parent: Option<String>,
    /// Argo CD's sync wave.
    pub wave: Option<i64>,
    /// When it is to be applied.
    pub turn: Turn,
    /// The manifests, Namespaces first.
    pub manifests: Vec<Arc<Manifest>>,
}

impl WorkParts {
    /// What reports say of the manifests.
    pub(super) fn summaries(&self) -> Vec<ManifestSummary> {
        let manifests = self.manifests.iter();
        manifests.map(|manifest| manifest.summary.clone()).collect()
    }
}

/// A ManifestWork as text, cut in two where the cluster's name goes, and what findings say of it. If nobody reads it,
/// both halves are empty.
///
/// A thousand clusters share one body: the text is made once and spliced for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkText {
    before: String,
    after: String,
    /// Whether Flux would substitute inside it, so that it has the guard annotation.
    pub guarded: bool,
    /// The first variable of those that it would put a value in for.
    pub variable: Option<String>,
    /// OCM's size of the manifests in bytes (docs/systems/ocm-work.md#size).
    pub size: u64,
}

impl WorkText {
    /// The text before and after the name of the cluster, the same for every cluster that gets it.
    pub fn halves(&self) -> (&str, &str) {
        (&self.before, &self.after)
    }

    /// Appends the whole text for `cluster`.
    pub fn write(&self, cluster: &str, buffer: &mut Vec<u8>) {
        let cluster = kube_yaml::scalar(cluster);
        buffer.extend_from_slice(self.before.as_bytes());
        buffer.extend_from_slice(cluster.as_bytes());
        buffer.extend_from_slice(self.after.as_bytes());
    }

    /// The value that the text is for `cluster`.
    pub(crate) fn value(&self, cluster: &str) -> Value {
        let text = [&*self.before, &kube_yaml::scalar(cluster), &self.after].concat();
        let value = kube_yaml::read_document(&text, &kube_yaml::Limits::default());
        value.unwrap_or_else(|error| broken(format_args!("a work cannot be read: {error}")))
    }

    /// How many bytes [`WorkText::write`] appends for `cluster`.
    pub fn len(&self, cluster: &str) -> usize {
        self.before
            .len()
            .saturating_add(kube_yaml::scalar(cluster).len())
            .saturating_add(self.after.len())
    }
}

/// Flux replaces `${...}` in everything that it applies unless the outer object turns that off
/// (docs/systems/gitops.md#flux-substitution).
pub(crate) const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// Stands where the name of the cluster goes until the text is cut there.
const CLUSTER: &str = "cluster";

/// Makes the text of a work. `params` are those of the class it belongs to, none for the RBAC work.
pub(super) fn work_text(parts: &WorkParts, params: Option<&Params>) -> WorkText {
    let spec = spec(parts, params);
    let (text, guarded) = written(parts, (&parts.name, CLUSTER), |metadata| {
        Value::from_iter([
            ("apiVersion", format!("{GROUP}/v1").into()),
            ("kind", MANIFEST_WORK.into()),
            ("metadata", metadata),
            ("spec", spec.clone()),
        ])
    });
    let variable = guarded.then(|| first_variable(spec_of(&text))).flatten();
    // The namespace is the second field of the metadata.
    let (before, after) = text
        .split_once(&format!("\n  namespace: {CLUSTER}\n"))
        .unwrap_or_default();
    WorkText {
        before: format!("{before}\n  namespace: "),
        after: format!("\n{after}"),
        guarded,
        variable: variable.map(str::to_owned),
        size: size(parts),
    }
}

/// OCM's size of the manifests of a work in bytes.
pub(super) fn size(parts: &WorkParts) -> u64 {
    let sizes = parts.manifests.iter();
    let sizes = sizes.map(|manifest| manifest_size(&manifest.value));
    sizes.fold(0, u64::saturating_add)
}

/// The spec of a work, which is also the template of a set.
pub(super) fn spec(parts: &WorkParts, params: Option<&Params>) -> Value {
    let manifests = parts.manifests.iter().map(|manifest| manifest.value.clone());
    let manifests = [("manifests", manifests.collect::<Value>())];
    let option = params.and_then(|_| delete_option(&parts.manifests));
    let fields = [
        ("deleteOption", option),
        (
            "manifestConfigs",
            Some(manifest_configs(&parts.manifests, params)),
        ),
        ("workload", Some(manifests.into_iter().collect())),
    ];
    let fields = fields.into_iter();
    fields.filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The text of a work or a set with this name and namespace, which `with` makes with its metadata; and whether these have
/// the annotation that keeps Flux out, which would look for variables in the spec.
pub(super) fn written(
    parts: &WorkParts,
    names: (&str, &str),
    with: impl Fn(Value) -> Value,
) -> (String, bool) {
    let text = |guarded| write_work(&with(metadata(parts, names, guarded)));
    let plain = text(false);
    // Flux's own syntax is not parsed here: a needless annotation does no harm, and a missing one changes what is
    // applied (docs/systems/gitops.md#flux-substitution).
    if spec_of(&plain).contains("${") {
        (text(true), true)
    } else {
        (plain, false)
    }
}

/// The part of a text of a work, or a set, that begins with its spec.
fn spec_of(text: &str) -> &str {
    text.split_once("\nspec:\n").map_or(text, |(_, spec)| spec)
}

fn metadata(parts: &WorkParts, (name, namespace): (&str, &str), guarded: bool) -> Value {
    let annotations = [
        (SYNC_WAVE, parts.wave.map(|wave| wave.to_string())),
        (PARENT_ANNOTATION, parts.parent.clone()),
        (SUBSTITUTE, guarded.then(|| "disabled".to_owned())),
    ];
    let annotations = annotations.into_iter();
    let annotations: Map = annotations
        .filter_map(|(name, value)| Some((name, value?.into())))
        .collect();
    let mut labels = Map::from_iter([(MANAGED_WORK_LABEL, MANAGED.into())]);
    if parts.parent.is_some() {
        labels.insert(MANIFEST_KEY_LABEL, manifest_key(&parts.name).into());
    }
    let mut metadata = json!({"name": name, "namespace": namespace, "labels": labels});
    if let (Value::Object(metadata), false) = (&mut metadata, annotations.is_empty()) {
        metadata.insert("annotations", Value::Object(annotations));
    }
    metadata
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Reported;
    use super::*;

    fn manifest(name: &str, value: Value, feedback: Option<Value>) -> Arc<Manifest> {
        Arc::new(Manifest {
            summary: ManifestSummary {
                kind: "Thing".to_owned(),
                group: "example.com".to_owned(),
                resource: "things".to_owned(),
                namespace: "shop".to_owned(),
                name: name.to_owned(),
                origins: Vec::new(),
            },
            value,
            feedback,
            reported: Reported::Nothing,
        })
    }

    #[test]
    fn a_work_is_judged_without_its_text_as_with_it() {
        let path =
            |path: &str| Some(json!([{"type": "JSONPaths", "jsonPaths": [{"name": "a", "path": path}]}]));
        let nothing = || manifest("nothing", json!({"a": {"b": ["c", 1, true, null]}}), None);
        let cases = [
            (manifest("cost", json!({"a": "$5", "b": "{}"}), None), None),
            (manifest("no-name", json!({"a": "${1}"}), None), None),
            (manifest("key", json!({"${KEY}": 1}), None), Some("${KEY}")),
            (
                manifest("value", json!({"a": ["x${VALUE:=1}y"]}), None),
                Some("${VALUE:=1}"),
            ),
            (
                manifest("lines", json!({"a": "x\ny ${LINE}\n${NEXT}\n"}), None),
                Some("${LINE}"),
            ),
            (manifest("escaped", json!({"a": "$${NO}"}), None), None),
            (manifest("open", json!({"a": "${OPEN", "b": "}"}), None), None),
            (manifest("${NAME}", json!({"a": 1}), path(".a")), Some("${NAME}")),
            (
                manifest("fed-back", json!({"a": "${LATER}"}), path("${PATH}")),
                Some("${PATH}"),
            ),
        ];
        for (manifest, variable) in cases {
            let name = manifest.summary.name.clone();
            let parts = WorkParts {
                name: "work".to_owned(),
                manifests: vec![nothing(), manifest, nothing()],
                ..WorkParts::default()
            };
            let made = work_text(&parts, None);
            assert_eq!(made.variable.as_deref(), variable, "{name}");
        }
    }
}
