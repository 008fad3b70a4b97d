//! The contents of each distinct planned work, and where an exported work differs from it.
//!
//! Owns: the feedback that the parameters request. Flows in: texts of the plan, exported works. Flows out:
//! [`PlannedWork`]s, descriptions of differences. Must not know: clusters.

use kube_json::Value;

use crate::api::feedback_path::FeedbackPath;
use crate::render::{ManifestSummary, Work};
use crate::report::exported::{ExportedWork, SpecDigest, list};

/// One distinct work of the plan.
#[derive(Debug, Default)]
pub(super) struct PlannedWork {
    /// Nothing of one that nobody could read.
    spec: Option<SpecDigest>,
    /// For each manifest, in order, the values that its feedback rules request.
    feedback: Vec<Vec<AskedFeedback>>,
}

/// One value that a feedback rule requests.
#[derive(Debug)]
pub(super) struct AskedFeedback {
    /// Its name.
    pub(super) name: String,
    /// Where it is read.
    pub(super) path: FeedbackPath,
    /// The value of its path in the object as it is shipped.
    pub(super) shipped: Option<Value>,
}

impl PlannedWork {
    /// Reads the text of a work: once for all clusters that get it.
    pub(super) fn read(work: &Work) -> Self {
        // The cluster's name is not part of the spec, so any will do.
        let mut text = Vec::new();
        work.text.write("x", &mut text);
        let text = String::from_utf8_lossy(&text);
        let limits = kube_yaml::Limits::default();
        let Ok(Value::Object(mut object)) = kube_yaml::read_document(&text, &limits) else {
            return Self::default();
        };
        Self::of_spec(&object.remove("spec").unwrap_or_default(), &work.manifests)
    }

    /// Of a spec whose manifests are these.
    pub(super) fn of_spec(spec: &Value, manifests: &[ManifestSummary]) -> Self {
        let feedback = manifests.iter().zip(list(spec, "/workload/manifests"));
        let feedback = feedback.map(|(summary, manifest)| asked(spec, summary, manifest));
        Self {
            feedback: feedback.collect(),
            spec: Some(SpecDigest::of(spec)),
        }
    }

    /// The values that the feedback rules of the manifest at a position request.
    pub(super) fn feedback(&self, position: usize) -> &[AskedFeedback] {
        self.feedback.get(position).map(Vec::as_slice).unwrap_or_default()
    }

    /// The difference of an exported work; `None` if there is none, or if its spec was not exported.
    pub(super) fn difference(&self, exported: &ExportedWork) -> Option<String> {
        self.spec.as_ref()?.difference(exported.spec.as_ref()?)
    }
}

/// The values that the feedback rules of a manifest request.
fn asked(spec: &Value, summary: &ManifestSummary, manifest: &Value) -> Vec<AskedFeedback> {
    let wanted = [
        &summary.group,
        &summary.resource,
        &summary.namespace,
        &summary.name,
    ];
    let keys = ["group", "resource", "namespace", "name"];
    let configs = list(spec, "/manifestConfigs").iter();
    let config = configs.into_iter().find(|config| {
        keys.iter().zip(wanted).all(|(key, wanted)| {
            let identifier = config.get("resourceIdentifier").and_then(|all| all.get(key));
            identifier.and_then(Value::as_str).unwrap_or_default() == wanted
        })
    });
    let Some(config) = config else {
        return Vec::new();
    };
    let rules = list(config, "/feedbackRules").iter();
    rules
        .flat_map(|rule| list(rule, "/jsonPaths"))
        .filter_map(|entry| {
            let path = FeedbackPath::parse(entry.get("path")?.as_str()?).ok()?;
            Some(AskedFeedback {
                name: entry.get("name")?.as_str()?.to_owned(),
                shipped: path.first(manifest),
                path,
            })
        })
        .collect()
}
