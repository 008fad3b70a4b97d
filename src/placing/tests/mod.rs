//! Objects of a hub, and what is reported about them.

mod refused;

use kube_json::Value;
use kube_yaml::{Limits, read_all};
use ocm_placement::{Detail, Input, Mode, Options, evaluate};

use super::given::GivenDecisions;
use super::*;
use crate::diagnostic::{DocumentId, Finding, Findings, SourceId};
use crate::hub::{Hub, Objects};
use crate::object::{Object, Origin};

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

fn cluster(name: &str, more: &str) -> String {
    format!(
        "
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {{name: {name}, labels: {{cluster.open-cluster-management.io/clusterset: s}}}}
{more}
"
    )
}

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

fn decision(clusters: &str) -> String {
    format!(
        "
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: p-decision-1
  namespace: 'n'
  labels: {{cluster.open-cluster-management.io/placement: p}}
status: {{decisions: [{clusters}]}}
"
    )
}

/// A hub of these values, each a document of one file.
fn hub_of(values: Vec<Value>) -> Hub {
    let objects = (0u32..).zip(values).map(|(index, value)| {
        let document = DocumentId {
            source: SourceId(0),
            index,
        };
        let pointer = String::new();
        Object::from_value(value, Origin { document, pointer })
    });
    Hub {
        objects: Objects::new(objects.collect()),
        ..Hub::default()
    }
}

fn hub(yaml: &str) -> Hub {
    let documents = read_all(yaml, &Limits::default()).expect("YAML");
    hub_of(documents.into_iter().filter(|value| !value.is_null()).collect())
}

/// The findings of an evaluation of these objects.
fn evaluated(yaml: &str) -> Vec<Finding> {
    let hub = hub(yaml);
    let inventory = inventory(&hub, &mut Findings::new());
    let input = Input {
        inventory: &inventory,
        now: None,
        mode: Mode::Snapshot,
        options: Options::default(),
    };
    let evaluation = evaluate(&input, Detail::Full);
    let mut findings = problems(&hub, &evaluation);
    findings.extend(unwritable(&hub, &evaluation));
    let differences = evaluation.differences();
    findings.extend(
        differences
            .iter()
            .map(|one| super::findings::differs(&hub, &inventory, one)),
    );
    findings
}

fn codes(yaml: &str) -> Vec<&'static str> {
    let findings = evaluated(yaml);
    assert!(
        findings.iter().all(|finding| finding.help.is_some()),
        "{findings:?}"
    );
    findings.iter().map(|finding| finding.code.name()).collect()
}

#[test]
fn what_is_wrong_becomes_findings_with_places() {
    let one = cluster("a", "");
    assert_eq!(
        codes(&[BOUND, &one, &placement("p", "{}")].concat()),
        Vec::<&str>::new()
    );
    assert_eq!(
        codes(&[BOUND, &one, &placement("p", "{numberOfClusters: 0}")].concat()),
        Vec::<&str>::new()
    );
    assert_eq!(
        codes(&[BOUND, &placement("p", "{}")].concat()),
        ["placement/no-clusters"]
    );
    let mode = placement("p", "{prioritizerPolicy: {mode: Fair}}");
    assert_eq!(codes(&[BOUND, &one, &mode].concat()), ["placement/misconfigured"]);
    let tainted = cluster(
        "a",
        "spec: {taints: [{key: gpu, effect: NoSelect, timeAdded: '2026-06-01T00:00:00Z'}]}",
    );
    let tolerant = placement(
        "p",
        "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]}",
    );
    assert_eq!(
        codes(&[BOUND, &tainted, &tolerant].concat()),
        ["placement/needs-now"]
    );
    let differs = [BOUND, &one, &placement("p", "{}"), &decision("{clusterName: b}")].concat();
    assert_eq!(codes(&differs), ["placement/differs"]);
}

#[test]
fn a_placement_whose_name_is_no_label_value_cannot_be_written() {
    let yaml = [BOUND, &cluster("a", ""), &placement(&"p".repeat(64), "{}")].concat();
    assert_eq!(codes(&yaml), ["object/invalid-name"]);
}

#[test]
fn decisions_for_unknown_clusters_are_listed_when_clusters_are_known_at_all() {
    let count = |yaml: &str| {
        let mut findings = Findings::new();
        GivenDecisions::new(&hub(yaml), &mut findings);
        let codes = findings.iter().map(|finding| finding.code.name());
        codes.filter(|code| *code == "placement/unknown-cluster").count()
    };
    let given = decision("{clusterName: a}, {clusterName: gone}, {clusterName: ''}");
    assert_eq!(count(&[BOUND, &cluster("a", ""), &given].concat()), 1);
    assert_eq!(count(&[BOUND, &given].concat()), 0);
    let refused = cluster("gone", "spec: {taints: 1}");
    assert_eq!(count(&[BOUND, &cluster("a", ""), &refused, &given].concat()), 0);
}
