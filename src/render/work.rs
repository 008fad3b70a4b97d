//! One ManifestWork, from its parts to a text that lacks only the cluster's name.
//!
//! Owns: the text of a work, where it is cut, and the annotation that keeps Flux from substituting inside it. Flows in:
//! [`WorkParts`], the parameters of a class. Flows out: [`WorkText`]. Must not know: which clusters get it.

use std::sync::Arc;

use kube_json::{Map, Value};

use super::manifest::Manifest;
use super::manifest_configs::manifest_configs;
use super::names::{MANIFEST_KEY_LABEL, manifest_key};
use super::orphaning::delete_option;
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, manifest_size};
use crate::api::params::Params;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL, PARENT_ANNOTATION, SYNC_WAVE};
use crate::object::{Object, first_variable};
use kube_yaml::{KeyOrder, append_entry, append_item};

/// The parts of a ManifestWork, the same on every cluster that gets it.
#[derive(Debug, Default)]
pub(super) struct WorkParts {
    /// `metadata.name`.
    pub name: String,
    /// `kuadrant.io/parent`: `namespace/name` of the hub object; none for the RBAC work.
    pub parent: Option<String>,
    /// Argo CD's wave: that of the hub object.
    pub wave: Option<i64>,
    /// The manifests, Namespaces first.
    pub manifests: Vec<Arc<Manifest>>,
}

/// A ManifestWork as text, cut in two where the cluster's name goes.
///
/// A thousand clusters share one body: the text is made once and spliced for each.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    #[must_use]
    pub fn halves(&self) -> (&str, &str) {
        (&self.before, &self.after)
    }

    /// Appends the whole text for `cluster`.
    pub fn write(&self, cluster: &str, buffer: &mut Vec<u8>) {
        let cluster = kube_yaml::scalar(cluster);
        buffer.reserve(
            self.before
                .len()
                .saturating_add(cluster.len())
                .saturating_add(self.after.len()),
        );
        buffer.extend_from_slice(self.before.as_bytes());
        buffer.extend_from_slice(cluster.as_bytes());
        buffer.extend_from_slice(self.after.as_bytes());
    }

    /// How many bytes [`WorkText::write`] appends for `cluster`.
    #[must_use]
    pub fn len(&self, cluster: &str) -> usize {
        self.before
            .len()
            .saturating_add(kube_yaml::scalar(cluster).len())
            .saturating_add(self.after.len())
    }
}

/// The wave that Argo CD is told of an object, where it is one: a user who orders Gateways means what Argo CD applies
/// for them, and inside a work waves do nothing.
#[must_use]
pub(super) fn wave(object: &Object) -> Option<i64> {
    object.annotation(SYNC_WAVE)?.parse().ok()
}

/// Flux replaces `${...}` in everything that it applies unless the outer object turns that off
/// (docs/systems/gitops.md#flux-substitution).
const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// Makes the text of a work. `params` are those of the class it belongs to, none for the RBAC work.
#[must_use]
pub(super) fn work_text(parts: &WorkParts, params: Option<&Params>) -> WorkText {
    let (mut spec, size) = spec_text(parts, params, 2);
    let (metadata, guarded) = metadata_text(parts, &spec);
    let variable = guarded.then(|| first_variable(&spec)).flatten();
    let variable = variable.map(str::to_owned);
    let mut before = format!("apiVersion: {GROUP}/v1\nkind: {MANIFEST_WORK}\nmetadata:\n");
    append_entry(&mut before, "name", &Value::from(&parts.name), 2, KeyOrder::Bytes);
    before.push_str("  namespace: ");
    before.shrink_to_fit();
    let head = format!("\n{metadata}spec:\n");
    let after = if spec.len() < MOST_COPIED {
        // A copy has no unused room. An allocator need not give it back otherwise: mimalloc keeps up to half of a block.
        head + &spec
    } else {
        // With twenty thousand routes, a second copy would be the most that a check holds.
        spec.insert_str(0, &head);
        spec
    };
    WorkText {
        before,
        after,
        guarded,
        variable,
        size,
    }
}

/// Bytes that most specs of works do not need.
const USUAL_SPEC: usize = 8 * 1024;
/// Texts of fewer bytes are copied. What a larger one does not use was never given by the system.
const MOST_COPIED: usize = 1024 * 1024;

/// The spec of a work, each line indented by `indent` columns, and OCM's size of its manifests in bytes.
pub(super) fn spec_text(parts: &WorkParts, params: Option<&Params>, indent: usize) -> (String, u64) {
    let size: u64 = {
        let sizes = parts
            .manifests
            .iter()
            .map(|manifest| manifest_size(&manifest.value));
        sizes.fold(0, u64::saturating_add)
    };
    // As YAML, it rarely takes more than twice the bytes of its JSON.
    let usual = usize::try_from(size).unwrap_or_default().saturating_mul(2);
    let mut spec = String::with_capacity(usual.max(USUAL_SPEC));
    if params.is_some()
        && let Some(option) = delete_option(&parts.manifests)
    {
        append_entry(&mut spec, "deleteOption", &option, indent, KeyOrder::Bytes);
    }
    let configs = Value::Array(manifest_configs(&parts.manifests, params));
    append_entry(&mut spec, "manifestConfigs", &configs, indent, KeyOrder::Bytes);
    let below = indent.saturating_add(2);
    let columns = |count: usize| " ".repeat(count);
    spec.push_str(&format!(
        "{}workload:\n{}manifests:\n",
        columns(indent),
        columns(below)
    ));
    for manifest in &parts.manifests {
        append_item(&mut spec, &manifest.value, below, KeyOrder::Object);
    }
    (spec, size)
}

/// Annotations and labels of a work with this spec, and whether the annotation that keeps Flux out is among them.
pub(super) fn metadata_text(parts: &WorkParts, spec: &str) -> (String, bool) {
    let mut annotations = Map::new();
    let mut labels = Map::new();
    labels.insert(MANAGED_WORK_LABEL, Value::from(MANAGED));
    if let Some(parent) = &parts.parent {
        annotations.insert(PARENT_ANNOTATION, Value::from(parent));
        labels.insert(MANIFEST_KEY_LABEL, Value::from(manifest_key(&parts.name)));
    }
    if let Some(wave) = parts.wave {
        annotations.insert(SYNC_WAVE, Value::from(wave.to_string()));
    }
    let guarded = spec.contains("${");
    if guarded {
        annotations.insert(SUBSTITUTE, Value::from("disabled"));
    }
    let mut text = String::new();
    if !annotations.is_empty() {
        append_entry(
            &mut text,
            "annotations",
            &Value::Object(annotations),
            2,
            KeyOrder::Bytes,
        );
    }
    append_entry(&mut text, "labels", &Value::Object(labels), 2, KeyOrder::Bytes);
    (text, guarded)
}
