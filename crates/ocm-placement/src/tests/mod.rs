//! Rules of the scheduler, with one named test for each.

mod bad_input;
mod decisions;
mod files;
mod properties;
mod quirks;
mod without_clock;

use kube_json::Value;

use super::*;

/// An object of the input: its number and its value.
#[derive(Debug, Clone)]
struct Document {
    id: ObjectId,
    value: Value,
}

/// Objects from YAML; each document is one.
fn objects(text: &str) -> Vec<Document> {
    let documents = kube_yaml::read_all(text, &kube_yaml::Limits::default()).unwrap_or_default();
    let numbered = documents.into_iter().enumerate();
    numbered
        .filter(|(_, value)| !value.is_null())
        .map(|(id, value)| object(id, value))
        .collect()
}

fn object(id: usize, value: Value) -> Document {
    Document {
        id: ObjectId(id),
        value,
    }
}

fn read(objects: &[Document]) -> (Inventory<'_>, Vec<InvalidField>) {
    Inventory::read(objects.iter().map(|one| Object::new(one.id, &one.value)))
}

/// One set `s`, bound to namespace `n`.
const BOUND: &str = "
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: s}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: s, namespace: 'n'}
spec: {clusterSet: s}
";

/// A cluster of that set; `more` are further lines of the object.
fn cluster(name: &str, more: &str) -> String {
    format!(
        "
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {{name: {name}, labels: {{cluster.open-cluster-management.io/clusterset: s, name: {name}}}}}
{more}
"
    )
}

fn clusters(names: &[&str]) -> String {
    names.iter().map(|name| cluster(name, "")).collect()
}

/// A Placement in namespace `n`; `spec` in flow style.
fn placement(name: &str, spec: &str) -> String {
    format!(
        "
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {{name: {name}, namespace: 'n'}}
spec: {spec}
"
    )
}

/// A PlacementDecision of a Placement in namespace `n`.
fn decision(placement: &str, number: usize, clusters: &[&str]) -> String {
    let decisions: Vec<String> = clusters
        .iter()
        .map(|cluster| format!("{{clusterName: {cluster}, reason: ''}}"))
        .collect();
    format!(
        "
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: {placement}-decision-{number}
  namespace: 'n'
  labels:
    cluster.open-cluster-management.io/placement: {placement}
    cluster.open-cluster-management.io/decision-group-name: ''
    cluster.open-cluster-management.io/decision-group-index: '0'
status: {{decisions: [{}]}}
",
        decisions.join(", ")
    )
}

/// What to run besides the objects.
#[derive(Clone, Copy)]
struct Setting {
    now: Option<&'static str>,
    mode: Mode,
    options: Options,
}

const SNAPSHOT: Setting = Setting {
    now: Some("2026-06-01T00:00:00Z"),
    mode: Mode::Snapshot,
    options: Options {
        unlabeled_join_default: false,
        derive_availability_taints: false,
    },
};

/// Evaluates objects and hands the evaluation to `look`.
fn with_evaluation<T>(objects: &[Document], setting: Setting, look: impl FnOnce(&Evaluation<'_>) -> T) -> T {
    let (inventory, _) = read(objects);
    let input = Input {
        inventory: &inventory,
        now: setting.now.and_then(parse_time),
        mode: setting.mode,
        options: setting.options,
    };
    look(&evaluate(&input, Detail::Full))
}

/// What reading the objects says.
fn complaints(yaml: &str) -> Vec<InvalidField> {
    read(&objects(yaml)).1
}

fn selected(report: &PlacementReport) -> Vec<&str> {
    report
        .decisions
        .iter()
        .map(|decision| decision.cluster_name.as_str())
        .collect()
}
