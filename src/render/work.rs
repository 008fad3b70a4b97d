//! One ManifestWork, from its parts to a text that lacks only the cluster's name.
//!
//! Which clusters get it is not known here. The text is cut where the name goes, and has the annotation that keeps Flux from
//! substituting inside it.

use std::sync::Arc;

use super::manifest::{Manifest, ManifestSummary, append_delete_option, append_manifest_configs};
use super::names::{MANIFEST_KEY_LABEL, manifest_key};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, manifest_size};
use crate::api::params::Params;
use crate::object::first_variable;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL, PARENT_ANNOTATION, SYNC_WAVE};
use crate::output::Turn;
use kube_yaml::{KeyOrder, append_item, append_key, append_text};

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

/// Makes the text of a work. `params` are those of the class it belongs to, none for the RBAC work.
pub(super) fn work_text(parts: &WorkParts, params: Option<&Params>) -> WorkText {
    let (spec, size) = spec_text(parts, params, 2);
    let (metadata, guarded) = metadata_text(parts, &spec);
    let variable = guarded.then(|| first_variable(&spec)).flatten();
    let variable = variable.map(str::to_owned);
    let mut before = format!("apiVersion: {GROUP}/v1\nkind: {MANIFEST_WORK}\nmetadata:\n");
    append_text(&mut before, "name", &parts.name, 2);
    before.push_str("  namespace: ");
    let head = format!("\n{metadata}spec:\n");
    // A copy has no unused room. An allocator need not give it back otherwise: mimalloc keeps up to half of a block.
    let after = head + &spec;
    WorkText {
        before,
        after,
        guarded,
        variable,
        size,
    }
}

/// The spec of a work, each line indented by `indent` columns, and OCM's size of its manifests in bytes.
pub(super) fn spec_text(parts: &WorkParts, params: Option<&Params>, indent: usize) -> (String, u64) {
    let sizes = parts.manifests.iter();
    let sizes = sizes.map(|manifest| manifest_size(&manifest.value));
    let size = sizes.fold(0, u64::saturating_add);
    let mut spec = String::new();
    if params.is_some() {
        append_delete_option(&mut spec, &parts.manifests, indent);
    }
    append_manifest_configs(&mut spec, &parts.manifests, params, indent);
    let below = indent.saturating_add(2);
    append_key(&mut spec, "workload", indent);
    append_key(&mut spec, "manifests", below);
    for manifest in &parts.manifests {
        append_item(&mut spec, &manifest.value, below, KeyOrder::Object);
    }
    (spec, size)
}

/// Annotations and labels of a work with this spec, and whether the annotation that keeps Flux out is among them.
pub(super) fn metadata_text(parts: &WorkParts, spec: &str) -> (String, bool) {
    // Flux would look for variables in it.
    let guarded = spec.contains("${");
    let wave = parts.wave.map(|wave| wave.to_string());
    let key = parts.parent.is_some().then(|| manifest_key(&parts.name));
    // In byte order.
    let annotations = [
        (SYNC_WAVE, wave.as_deref()),
        (PARENT_ANNOTATION, parts.parent.as_deref()),
        (SUBSTITUTE, guarded.then_some("disabled")),
    ];
    let labels = [
        (MANAGED_WORK_LABEL, Some(MANAGED)),
        (MANIFEST_KEY_LABEL, key.as_deref()),
    ];
    let mut text = String::new();
    for (field, entries) in [("annotations", annotations.as_slice()), ("labels", &labels)] {
        if entries.iter().any(|(_, value)| value.is_some()) {
            append_key(&mut text, field, 2);
        }
        for (name, value) in entries {
            if let Some(value) = value {
                append_text(&mut text, name, value, 4);
            }
        }
    }
    (text, guarded)
}

#[cfg(test)]
mod tests {
    use kube_json::{Value, json};

    use super::super::manifest::Reported;
    use kube_yaml::append_entry;

    use super::super::manifest::CONFIG_COLUMN;
    use super::*;

    fn manifest(name: &str, value: Value, feedback: Option<Value>) -> Arc<Manifest> {
        let feedback = feedback.map(|rules| {
            let mut text = String::new();
            append_entry(&mut text, "feedbackRules", &rules, CONFIG_COLUMN, KeyOrder::Bytes);
            text.into()
        });
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
