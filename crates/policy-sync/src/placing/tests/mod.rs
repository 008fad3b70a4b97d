//! Objects of a hub, and what is reported about them.

mod overlays;
mod overlays_generated;
mod refused;

use std::cell::LazyCell;

use kube_json::Value;
use kube_yaml::{Limits, read_all};
use ocm_placement::{Detail, Input, Mode, Options, evaluate};

use super::place::report_decisions;
use super::*;
use crate::api::config::PlacementSource;
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
    Hub::of(Objects::new(objects.collect()))
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
            .map(|one| super::findings::differs(&hub, &inventory, one, None)),
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
        report_decisions(&hub(yaml), &mut findings);
        let codes = findings.iter().map(|finding| finding.code.name());
        codes.filter(|code| *code == "placement/unknown-cluster").count()
    };
    let given = decision("{clusterName: a}, {clusterName: gone}, {clusterName: ''}");
    assert_eq!(count(&[BOUND, &cluster("a", ""), &given].concat()), 1);
    assert_eq!(count(&[BOUND, &given].concat()), 0);
    let refused = cluster("gone", "spec: {taints: 1}");
    assert_eq!(count(&[BOUND, &cluster("a", ""), &refused, &given].concat()), 0);
}

/// Code, message and help of findings.
fn texts(findings: Vec<Finding>) -> Vec<[String; 3]> {
    let texts = findings.into_iter().map(|finding| {
        let help = finding.help.unwrap_or_default();
        [
            finding.code.name().to_owned(),
            finding.message.to_string(),
            help.into(),
        ]
    });
    texts.collect()
}

#[test]
fn why_a_placement_selects_nothing_is_said() {
    let picky = placement(
        "p",
        "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {no: one}}}}]}",
    );
    let said = |yaml: &[&str]| {
        let said = texts(evaluated(&yaml.concat()));
        let [[_, message, _]] = said.as_slice() else {
            panic!("{said:?}")
        };
        message.clone()
    };
    let one = cluster("a", "");
    let two = [cluster("a", ""), cluster("b", "")].concat();
    for (objects, reason) in [
        (
            &[BOUND, &one, &placement("p", "{clusterSets: [t]}")],
            "none of its cluster sets is bound to namespace `n`: t",
        ),
        (
            &[BOUND, &one, &picky],
            "the only cluster of its sets does not match its predicates",
        ),
        (
            &[BOUND, &two, &picky],
            "none of the 2 clusters of its sets matches its predicates",
        ),
    ] {
        let message = said(objects);
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn decisions_that_differ_follow_from_the_objects_that_were_left_out() {
    let named = |name: &str, namespace: &str, placement: &str| {
        let named = decision("{clusterName: b}").replace("placement: p", &format!("placement: {placement}"));
        named
            .replace("p-decision-1", name)
            .replace("namespace: 'n'", &format!("namespace: '{namespace}'"))
    };
    let others = ["d2", "d3", "d4"].map(|name| named(name, "n", "q")).concat();
    let away = ["d5", "d6"].map(|name| named(name, "m", "p")).concat();
    let refused = cluster("b", "spec: {taints: [{key: gpu, effect: Never}]}");
    let yaml = [
        BOUND,
        &cluster("a", ""),
        &placement("p", "{}"),
        &named("d1", "n", "p"),
        &others,
        &away,
        &refused,
    ];
    let findings = evaluated(&yaml.concat());
    let differs = findings
        .iter()
        .find(|finding| finding.code.name() == "placement/differs");
    let causes = &differs.expect("a finding").causes;
    assert_eq!(
        causes.len(),
        3,
        "its decisions, the cluster, and the Placement: {causes:?}"
    );
}

#[test]
fn a_label_that_is_nearly_one_that_ocm_reads_is_misspelled() {
    let said = |yaml: &str| texts(super::findings::misspelled_labels(&hub(yaml)));
    let misspelled = "cluster.open-cluster-management.io/clustersets";
    let typo = cluster("a", "").replace("cluster.open-cluster-management.io/clusterset", misspelled);
    assert_eq!(
        said(&typo),
        [[
            "object/unknown-field".to_owned(),
            format!("ManagedCluster a: OCM does not read the label `{misspelled}`"),
            "did you mean `cluster.open-cluster-management.io/clusterset`?".to_owned()
        ]]
    );
    assert!(said(&cluster("a", "")).is_empty());
    let both = cluster("a", "").replace("labels: {", &format!("labels: {{{misspelled}: s, "));
    assert!(said(&both).is_empty(), "it has the right one as well");
    let severity = |yaml: &str| super::findings::misspelled_labels(&hub(yaml))[0].severity;
    let decision = decision("").replace("io/placement: p", "io/placment: p");
    assert_eq!(
        [severity(&typo), severity(&decision)],
        [
            crate::diagnostic::Severity::Warning,
            crate::diagnostic::Severity::Error
        ],
        "a cluster may have labels of its own"
    );
}

#[test]
fn decisions_of_a_placement_that_is_not_there_are_for_a_near_one_without_decisions() {
    let said = |yaml: &[&str]| {
        let said = texts(super::findings::stray_decisions(&hub(&yaml.concat())));
        said.into_iter().map(|[_, _, help]| help).collect::<Vec<_>>()
    };
    let stray = decision("").replace("placement: p", "placement: edeg");
    assert_eq!(
        said(&[&placement("edge", "{}"), &stray]),
        ["did you mean `edge`?"]
    );
    assert!(
        said(&[&placement("edge", "{}"), &placement("edeg", "{}"), &stray]).is_empty(),
        "it is there"
    );
    assert!(
        said(&[&placement("else", "{}"), &stray]).is_empty(),
        "nothing is near"
    );
    let own = decision("")
        .replace("placement: p", "placement: edge")
        .replace("p-decision", "edge-decision");
    assert!(
        said(&[&placement("edge", "{}"), &own, &stray]).is_empty(),
        "it has decisions"
    );
    let away = placement("edeg", "{}").replace("namespace: 'n'", "namespace: shop");
    let stray_in = |namespace: &str| stray.replace("namespace: 'n'", &format!("namespace: {namespace}"));
    assert_eq!(
        said(&[&away, &stray_in("shpo")]),
        ["did you mean namespace `shop`?"]
    );
    let near_away = placement("edge", "{}").replace("namespace: 'n'", "namespace: shop");
    assert!(
        said(&[&near_away, &stray_in("shpo")]).is_empty(),
        "one typo at a time"
    );
}

#[test]
fn a_cluster_set_with_nearly_the_name_of_one_that_exists_is_misspelled() {
    let said = |yaml: &[&str]| texts(super::findings::unknown_sets(&hub(&yaml.concat())));
    let set = BOUND.replace("{name: s}", "{name: fleet}");
    let of = |name: &str| cluster("a", "").replace("clusterset: s", &format!("clusterset: {name}"));
    assert_eq!(
        said(&[
            &set,
            &of("fleat"),
            &placement("p", "{clusterSets: [fleet, flet]}")
        ]),
        [
            [
                "placement/unknown-set",
                "ManagedCluster a names the cluster set `fleat`, which is not in the input",
                "did you mean `fleet`?"
            ],
            [
                "placement/unknown-set",
                "Placement n/p names the cluster set `flet`, which is not in the input",
                "did you mean `fleet`?"
            ],
        ]
        .map(|one| one.map(str::to_owned))
    );
    assert!(said(&[&set, &of("other")]).is_empty());
    assert!(said(&[&of("fleat")]).is_empty(), "no set is in the input");
}

/// What is said about Gateway `n/gw` of ours, with its label `placement`.
fn placed(more: &str, label: &str, source: PlacementSource) -> (Vec<String>, Vec<[String; 3]>) {
    let gateway = format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: gc}}\n\
         spec: {{controllerName: kuadrant.io/mgc-gw-controller}}\n\
         ---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n\
         metadata: {{name: gw, namespace: 'n', labels: {{cluster.open-cluster-management.io/placement: {label}}}}}\n\
         spec: {{gatewayClassName: gc, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n---\n"
    );
    let hub = crate::tests::hub(
        &(gateway + BOUND + &cluster("a", "") + &cluster("b", "") + more),
        &[],
    );
    let mut findings = Findings::new();
    let ours = crate::hub::Ours::new(&hub, "kuadrant.io/mgc-gw-controller");
    let inventory = inventory(&hub, &mut findings);
    let input = Input {
        inventory: &inventory,
        now: None,
        mode: Mode::Snapshot,
        options: Options::default(),
    };
    let evaluation = LazyCell::new(|| evaluate(&input, Detail::Decisions));
    let clusters = place(&hub, &ours, source, &inventory, &evaluation, &mut findings);
    let clusters = clusters
        .rows()
        .iter()
        .flat_map(|clusters| clusters.iter().cloned());
    (clusters.collect(), texts(findings.iter().cloned().collect()))
}

#[test]
fn a_gateway_goes_to_the_clusters_of_its_placement_or_the_way_to_one_is_said() {
    use PlacementSource::{Auto, Decisions, Evaluate};
    let p = placement("edge", "{}");
    let given = decision("{clusterName: b}")
        .replace("placement: p", "placement: edge")
        .replace("p-decision", "edge-decision");
    for (objects, source, clusters) in [
        (p.clone(), Auto, "a b"),
        (p.clone(), Evaluate, "a b"),
        (p.clone(), Decisions, ""),
        (p.clone() + &given, Auto, "b"),
        (p.clone() + &given, Evaluate, "a b"),
        (p.clone() + &given, Decisions, "b"),
    ] {
        assert_eq!(
            placed(&objects, "edge", source).0.join(" "),
            clusters,
            "{source:?}"
        );
    }
    let help = |objects: &str, label: &str, source: PlacementSource| {
        let (_, said) = placed(objects, label, source);
        let [[code, _, help]] = said.as_slice() else {
            panic!("{said:?}")
        };
        assert_eq!(code, "placement/not-found");
        help.clone()
    };
    assert_eq!(help(&p, "edeg", Auto), "did you mean `edge`?");
    assert!(
        help(&p, "edeg", Decisions).starts_with("add the PlacementDecisions"),
        "no decision is near"
    );
    let away = p.replace("namespace: 'n'", "namespace: m");
    assert!(
        help(&away, "edeg", Auto).starts_with("correct the label"),
        "only a near one of its own namespace is meant"
    );
    assert!(help(&away, "edge", Auto).starts_with("move the placement or the Gateway"));
    assert!(help(&p, "else", Auto).starts_with("correct the label"));
    let (_, said) = placed(&placement("edge", "{clusterSets: [t]}"), "edge", Auto);
    assert_eq!(
        said.iter().map(|[code, ..]| code.as_str()).collect::<Vec<_>>(),
        ["placement/no-clusters"],
        "of the Placement that was evaluated"
    );
    let both = placement("edge", "{}") + &placement("other", "{clusterSets: [t]}");
    assert!(
        placed(&both, "edge", Auto).1.is_empty(),
        "no Gateway has the other one"
    );
}
