//! `--work-kind replica-set` (docs/guides/replica-sets.md; docs/systems/ocm-work.md#manifestworkreplicaset).

use std::collections::BTreeMap;

use kube_json::{Value, json};
use kube_yaml::{Limits, read_all};
use spokewright::render::WorkValidation;

use crate::scratch::{Run, Scratch, copy, fixtures};

fn render(scratch: &Scratch, more: &[&str]) -> Run {
    let mut arguments = vec!["render", "hub", "-o", "rendered", "--work-kind", "replica-set"];
    arguments.extend(more);
    scratch.run(&arguments)
}

fn read(scratch: &Scratch, path: &str) -> Value {
    let mut documents = read_all(&scratch.read(path), &Limits::default()).expect("YAML");
    documents.pop().expect("a document")
}

fn files(scratch: &Scratch) -> Vec<String> {
    let tree = scratch.tree("rendered");
    let names = tree.into_iter().map(|(path, _)| path);
    names.filter(|path| path != ".spokewright-inventory").collect()
}

/// A Gateway of the class `multicluster` with a placement of its own on these clusters.
fn gateway(name: &str, namespace: &str, placement: &str, clusters: &[&str]) -> String {
    let decisions: Vec<String> = clusters
        .iter()
        .map(|cluster| format!("{{clusterName: {cluster}}}"))
        .collect();
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: {name}\n  \
         namespace: {namespace}\n  labels: {{cluster.open-cluster-management.io/placement: {placement}}}\n\
         spec:\n  gatewayClassName: multicluster\n  listeners:\n  - {{name: web, port: 80, protocol: HTTP}}\n---\n\
         apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n\
         metadata: {{name: {placement}-{name}, namespace: {namespace}, \
         labels: {{cluster.open-cluster-management.io/placement: {placement}}}}}\n\
         status: {{decisions: [{}]}}\n",
        decisions.join(", ")
    )
}

/// A policy on Gateways.
fn limit(name: &str, namespace: &str, target: &str) -> String {
    format!(
        "---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: {target}}}, \
         limits: {{x: {{rates: [{{limit: 5, window: 10s}}]}}}}}}\n"
    )
}

const SETS: &str = "rendered/_replica-sets";

#[test]
fn a_set_goes_from_cluster_to_cluster_as_the_class_says_and_its_rights_at_once() {
    let scratch = Scratch::with_worked_example();
    let class = scratch.read("hub/class.yaml");
    scratch.write(
        "hub/class.yaml",
        &class.replace(
            "{\"downstreamClass\"",
            "{\"rollout\": {\"type\": \"Progressive\", \"progressive\": {\"maxConcurrency\": \"25%\", \
             \"progressDeadline\": \"10m\"}}, \"downstreamClass\"",
        ),
    );
    render(&scratch, &[]).exits(0);
    let references =
        |file: &str| read(&scratch, &format!("{SETS}/gateways/{file}.yaml"))["spec"]["placementRefs"].clone();
    assert_eq!(
        references("gateway-gateways-prod-web"),
        json!([{"name": "edge", "rolloutStrategy": {
            "type": "Progressive", "progressive": {"maxConcurrency": "25%", "progressDeadline": "10m"},
        }}])
    );
    assert_eq!(references("gateway-rbac"), json!([{"name": "edge"}]));
}

/// OCM's hub waits for Progressing on each work of a set: one that no manifest of it says would be waited for in vain.
#[test]
fn every_work_and_set_has_a_rule_for_progressing() {
    for kind in ["manifest-work", "replica-set"] {
        let scratch = Scratch::new();
        copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
        scratch.remove("hub/shop/overlay.yaml");
        scratch
            .run(&["render", "hub", "-o", "rendered", "--work-kind", kind])
            .exits(0);
        let mut count = 0;
        for (path, text) in scratch.tree("rendered") {
            if !text.contains("kind: ManifestWork") {
                continue;
            }
            let work = read_all(&text, &Limits::default())
                .expect("YAML")
                .pop()
                .expect("a document");
            let spec = &work["spec"];
            let template = spec.get("manifestWorkTemplate").unwrap_or(spec);
            let configs = template["manifestConfigs"].as_array().expect("a list");
            let conditions = configs
                .iter()
                .flat_map(|config| config["conditionRules"].as_array().into_iter().flatten());
            assert!(
                conditions.clone().any(|rule| rule["condition"] == "Progressing"),
                "{path}"
            );
            let degraded = conditions.filter(|rule| rule["condition"] == "Degraded").count();
            assert!(degraded <= 1, "{path}: {degraded} manifests say Degraded");
            count += 1;
        }
        assert!(count >= 3, "{kind}: {count}");
    }
}

#[test]
fn a_gateway_becomes_a_set_in_its_placements_namespace_and_so_does_rbac() {
    let scratch = Scratch::with_worked_example();
    render(&scratch, &[])
        .exits(0)
        .says("2 clusters; 1 Gateway; 1 policy: 1 RateLimitPolicy; 2 replica sets into rendered (6 files written, 0 unchanged, 0 deleted)");
    assert_eq!(
        files(&scratch),
        [
            "_replica-sets/gateways/gateway-gateways-prod-web.yaml",
            "_replica-sets/gateways/gateway-rbac.yaml",
            "_replica-sets/gateways/kustomization.yaml",
            "_replica-sets/kustomization.yaml",
            "kustomization.yaml",
        ]
    );
    assert_eq!(
        read(&scratch, "rendered/kustomization.yaml")["resources"],
        json!(["_replica-sets"])
    );
    assert_eq!(
        read(&scratch, &format!("{SETS}/kustomization.yaml"))["resources"],
        json!(["gateways"])
    );
    assert_eq!(
        read(&scratch, &format!("{SETS}/gateways/kustomization.yaml"))["resources"],
        json!(["gateway-rbac.yaml", "gateway-gateways-prod-web.yaml"])
    );
    // The template is the spec of the ManifestWork.
    for work in ["gateway-gateways-prod-web", "gateway-rbac"] {
        let expected = fixtures().join(format!("worked-example/expected/{work}.yaml"));
        let expected = std::fs::read_to_string(expected).expect("the worked example");
        let expected = read_all(&expected, &Limits::default()).expect("YAML").remove(0);
        let set = read(&scratch, &format!("{SETS}/gateways/{work}.yaml"));
        assert_eq!(
            (set["apiVersion"].as_str(), set["kind"].as_str()),
            (
                Some("work.open-cluster-management.io/v1alpha1"),
                Some("ManifestWorkReplicaSet")
            )
        );
        assert_eq!(set["metadata"]["namespace"], "gateways");
        assert_eq!(set["metadata"]["labels"], expected["metadata"]["labels"]);
        assert_eq!(
            set["metadata"].get("annotations"),
            expected["metadata"].get("annotations")
        );
        assert_eq!(set["spec"]["manifestWorkTemplate"], expected["spec"]);
        assert_eq!(set["spec"]["placementRefs"], json!([{"name": "edge"}]));
        assert_eq!(WorkValidation::new().check(&set), vec![]);
    }
}

#[test]
fn the_kinds_replace_each_other_in_one_directory() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let works = scratch.tree("rendered");
    render(&scratch, &["--check"])
        .exits(1)
        .says("stale   rendered/eu-1/gateway-rbac.yaml");
    render(&scratch, &[]).exits(0).says("6 deleted");
    assert!(!scratch.exists("rendered/eu-1"));
    render(&scratch, &["--check"]).exits(0);
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), works);
}

#[test]
fn a_stream_and_a_report_hold_the_sets() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&[
        "render",
        "hub",
        "-o",
        "-",
        "--work-kind",
        "replica-set",
        "--report",
        "report.json",
        "-q",
    ]);
    let stream = read_all(&run.exits(0).stdout, &Limits::default()).expect("YAML");
    let names: Vec<_> = stream
        .iter()
        .map(|set| set["metadata"]["name"].as_str())
        .collect();
    assert_eq!(names, [Some("gateway-rbac"), Some("gateway-gateways-prod-web")]);
    let report: Value = serde_json::from_str(&scratch.read("report.json")).expect("JSON");
    assert_eq!(report["clusters"], json!([]));
    let set = &report["replicaSets"][0];
    assert_eq!(
        set["path"],
        "_replica-sets/gateways/gateway-gateways-prod-web.yaml"
    );
    assert_eq!(
        (&set["placement"], &set["clusters"]),
        (&json!("edge"), &json!(["eu-1", "us-1"]))
    );
    assert_eq!(set["objects"][1]["origins"][0]["path"], "limits.yaml");
    // Without the option nothing of it is there.
    scratch
        .run(&["render", "hub", "-o", "-", "--report", "report.json", "-q"])
        .exits(0);
    assert!(!scratch.read("report.json").contains("replicaSets"));
}

#[test]
fn a_part_of_the_fleet_makes_no_sense() {
    let scratch = Scratch::with_worked_example();
    for part in [["--clusters", "eu-*"], ["--shard", "1/2"]] {
        render(&scratch, &part)
            .exits(2)
            .says("a ManifestWorkReplicaSet is for all clusters of its Placement")
            .says("remove `--clusters` and `--shard`");
    }
    scratch
        .run(&["diff", "hub", "--work-kind", "replica-set", "--clusters", "eu-*"])
        .exits(2);
    assert!(!scratch.exists("rendered"));
}

#[test]
fn what_differs_between_clusters_is_an_error_that_names_them() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/spokes/us-1/limits.yaml",
        &limit("mine", "kuadrant-gateways", "prod-web, sectionName: api"),
    );
    scratch.run(&["render", "hub", "-o", "-", "-q"]).exits(0);
    render(&scratch, &[])
        .exits(4)
        .says("error[placement/not-uniform]: a ManifestWorkReplicaSet cannot contain Gateway gateways/prod-web: it is not the same on every cluster")
        .says("--> hub/gateway.yaml:4:9")
        .says("is placed by Placement gateways/edge")
        .says("RateLimitPolicy kuadrant-gateways/global")
        .says("remove `--work-kind replica-set`");
    let run = render(&scratch, &[]);
    assert!(
        run.stderr
            .contains("= note: on eu-1, unlike on us-1: also RateLimitPolicy kuadrant-gateways/global")
            || run
                .stderr
                .contains("= note: on us-1, unlike on eu-1: no RateLimitPolicy kuadrant-gateways/global"),
        "{}",
        run.stderr
    );
    assert!(!scratch.exists("rendered"));
    // It cannot be switched off: there would be nothing to write.
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nfindings: {placement/not-uniform: off}\n",
    );
    render(&scratch, &[]).exits(3).says("config/");
}

#[test]
fn the_rights_of_several_placements_add_up_on_a_cluster_that_is_in_all_of_them() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/more.yaml",
        &[
            gateway("two", "gateways", "core", &["eu-1", "ap-1"]),
            gateway("three", "infra", "all", &["eu-1", "us-1", "ap-1"]),
            gateway("four", "infra", "all", &["eu-1", "us-1", "ap-1"]),
        ]
        .concat(),
    );
    render(&scratch, &[]).exits(0);
    assert_eq!(
        files(&scratch)[..9],
        [
            "_replica-sets/gateways/gateway-gateways-prod-web.yaml",
            "_replica-sets/gateways/gateway-gateways-two.yaml",
            "_replica-sets/gateways/gateway-rbac-core.yaml",
            "_replica-sets/gateways/gateway-rbac-edge.yaml",
            "_replica-sets/gateways/kustomization.yaml",
            "_replica-sets/infra/gateway-infra-four.yaml",
            "_replica-sets/infra/gateway-infra-three.yaml",
            "_replica-sets/infra/gateway-rbac.yaml",
            "_replica-sets/infra/kustomization.yaml",
        ]
    );
    // On no cluster do two works hold one object, and each Placement has the rights that its sets need.
    let mut on_cluster: BTreeMap<(String, String), String> = BTreeMap::new();
    for (path, text) in scratch.tree("rendered/_replica-sets") {
        if path.ends_with("kustomization.yaml") {
            continue;
        }
        let set = read_all(&text, &Limits::default()).expect("YAML").remove(0);
        let references = set["spec"]["placementRefs"].as_array().expect("references");
        assert_eq!(references.len(), 1);
        let clusters: &[&str] = match references[0]["name"].as_str() {
            Some("edge") => &["eu-1", "us-1"],
            Some("core") => &["eu-1", "ap-1"],
            _ => &["eu-1", "us-1", "ap-1"],
        };
        for manifest in set["spec"]["manifestWorkTemplate"]["workload"]["manifests"]
            .as_array()
            .expect("manifests")
        {
            if manifest["kind"] == "Namespace" {
                continue;
            }
            let name = format!("{} {}", manifest["kind"], manifest["metadata"]);
            for cluster in clusters {
                let other = on_cluster.insert(((*cluster).to_owned(), name.clone()), path.clone());
                assert_eq!(other, None, "{name} twice on {cluster}");
            }
        }
    }
    let edge = scratch.read(&format!("{SETS}/gateways/gateway-rbac-edge.yaml"));
    assert!(
        edge.contains("name: open-cluster-management:klusterlet-work:gateway:gateways:edge"),
        "{edge}"
    );
    assert!(edge.contains("- ratelimitpolicies"), "{edge}");
    let all = scratch.read(&format!("{SETS}/infra/gateway-rbac.yaml"));
    assert!(
        all.contains("- ratelimitpolicies"),
        "their class lists the kind: {all}"
    );
}

#[test]
fn a_policy_of_two_gateways_is_a_set_where_one_placement_has_both() {
    let scratch = Scratch::with_worked_example();
    let color = "---\n\
         apiVersion: c.io/v1\nkind: Color\nmetadata: {name: red, namespace: gateways}\nspec: {hue: red, targetRefs: \
         [{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}, \
         {group: gateway.networking.k8s.io, kind: Gateway, name: two}]}\n";
    scratch.add_colors(color);
    scratch.write(
        "hub/more.yaml",
        &gateway("two", "gateways", "edge", &["eu-1", "us-1"]),
    );
    render(&scratch, &[]).exits(0);
    let set = read(&scratch, &format!("{SETS}/gateways/color-gateways-red.yaml"));
    assert_eq!(set["spec"]["placementRefs"], json!([{"name": "edge"}]));
    // Where only some clusters have both, no Placement says which.
    scratch.write(
        "hub/more.yaml",
        &gateway("two", "gateways", "core", &["eu-1", "ap-1"]),
    );
    let run = render(&scratch, &[]);
    run.exits(4)
        .says("cannot contain Color gateways/red")
        .says("such a work exists for eu-1, but not for ap-1, us-1")
        .says("cannot contain Gateway gateways/prod-web")
        .says("cannot contain Gateway gateways/two");
}

#[test]
fn works_of_their_own_become_sets_of_their_own() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "\"workPer\": \"Gateway\"",
        "\"workPer\": \"Object\"",
    );
    render(&scratch, &[]).exits(0);
    let set = read(
        &scratch,
        &format!("{SETS}/gateways/ratelimitpolicy-gateways-global.yaml"),
    );
    assert_eq!(
        set["metadata"]["annotations"]["kuadrant.io/parent"],
        "gateways/global"
    );
    // The limit of the parameters holds.
    scratch.edit(
        "hub/class.yaml",
        "\"workPer\"",
        "\"maxWorkBytes\": 100, \"workPer\"",
    );
    render(&scratch, &[]).exits(3).says("error[work/too-large]");
}

#[test]
fn names_have_no_dots_and_fit_the_label_that_the_hub_makes_of_them() {
    let scratch = Scratch::with_worked_example();
    let long = "w".repeat(60);
    scratch.write(
        "hub/more.yaml",
        &[
            gateway("a.b", "gateways", "edge", &["eu-1", "us-1"]),
            gateway(&long, "gateways", "edge", &["eu-1", "us-1"]),
        ]
        .concat()
        .replace("edge-a.b", "edge-2")
        .replace(&format!("edge-{long}"), "edge-3"),
    );
    render(&scratch, &[]).exits(0);
    for (path, text) in scratch.tree("rendered/_replica-sets/gateways") {
        if path == "kustomization.yaml" {
            continue;
        }
        let set = read_all(&text, &Limits::default()).expect("YAML").remove(0);
        let name = set["metadata"]["name"].as_str().expect("a name");
        assert_eq!(path, format!("{name}.yaml"));
        assert!(
            !name.contains('.') && format!("gateways.{name}").len() <= 63,
            "{name}"
        );
        let key = set["metadata"]["labels"]["kuadrant.io/manifestKey"]
            .as_str()
            .unwrap_or_default();
        assert!(key.len() <= 63, "{key}");
    }
    assert_eq!(files(&scratch).len(), 7);
}

#[test]
fn two_sets_of_one_name_are_an_error() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/more.yaml",
        &[
            gateway("edge", "rbac", "core", &["eu-1"]),
            gateway("x", "rbac", "edge", &["us-1"]),
        ]
        .concat(),
    );
    render(&scratch, &[])
        .exits(3)
        .says("error[work/name-taken]: the ManifestWorkReplicaSet rbac/gateway-rbac-edge would be made for Gateway rbac/edge and for the RBAC of a Placement")
        .says("spokewright.dev/work-name: NAME");
}

#[test]
fn a_tree_of_sets_is_compared_with_what_is_rendered() {
    let scratch = Scratch::with_worked_example();
    render(&scratch, &[]).exits(0);
    scratch
        .run(&[
            "diff",
            "hub",
            "--base-tree",
            "rendered",
            "--work-kind",
            "replica-set",
        ])
        .exits(0);
    scratch.edit("hub/limits.yaml", "limit: 100", "limit: 7");
    let run = scratch.run(&[
        "diff",
        "hub",
        "--base-tree",
        "rendered",
        "--work-kind",
        "replica-set",
        "--format",
        "semantic",
        "-q",
    ]);
    let text = &run.exits(1).stdout;
    assert!(
        text.contains("~ RateLimitPolicy kuadrant-gateways/global on _replica-sets/gateways"),
        "{text}"
    );
    assert!(text.contains("limit: 100 -> 7"), "{text}");
    assert!(
        text.starts_with("replica sets change; in total, 0 objects added, 1 changed, 0 removed\n"),
        "{text}"
    );
    // What the other kind would write is another thing.
    let run = scratch.run(&["diff", "hub", "--base-tree", "rendered", "--format", "json", "-q"]);
    let report: Value = serde_json::from_str(&run.exits(1).stdout).expect("JSON");
    let summary = report["summary"].to_string();
    assert!(summary.contains("removed"), "{summary}");
}

#[test]
fn works_that_the_hub_made_from_sets_are_known_to_status() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let mut works = String::new();
    for cluster in ["eu-1", "us-1"] {
        for (work, random) in [("gateway-gateways-prod-web", "x7k2p"), ("gateway-rbac", "9qw8e")] {
            let text = scratch
                .read(&format!("rendered/{cluster}/{work}.yaml"))
                .replacen(&format!("  name: {work}\n"), &format!("  name: {work}{random}\n"), 1)
                .replacen(
                    "  labels:\n",
                    &format!("  labels:\n    work.open-cluster-management.io/manifestworkreplicaset: gateways.{work}\n"),
                    1,
                );
            works.push_str(&format!(
                "{text}status: {{conditions: [{{type: Applied, status: \"True\", reason: x, message: x}}]}}\n---\n"
            ));
        }
    }
    scratch.write("works.yaml", &works);
    let run = scratch.run(&["status", "hub", "--works", "works.yaml", "-q"]);
    assert!(
        run.stdout.contains("4 of 4 planned works applied"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("stale"), "{}", run.stdout);
}

#[test]
fn hub_objects_stand_beside_the_sets() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhubObjects: Annotated\n",
    );
    render(&scratch, &[]).exits(0);
    assert_eq!(
        read(&scratch, "rendered/kustomization.yaml")["resources"],
        json!(["_hub", "_replica-sets"])
    );
}

/// The sets of the example fleet, in the directory `objects`.
pub(crate) fn sets_of_the_example_fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet/hub"), &scratch.path("hub"));
    scratch.remove("hub/shop/overlay.yaml");
    render(&scratch, &[]).exits(0);
    let mut count = 0;
    for (path, text) in scratch.tree("rendered/_replica-sets") {
        if !path.ends_with("kustomization.yaml") {
            let set = read_all(&text, &Limits::default()).expect("YAML").remove(0);
            assert_eq!(WorkValidation::new().check(&set), vec![], "{path}");
            scratch.write(&format!("objects/{path}"), &text);
            count += 1;
        }
    }
    assert_eq!(count, 12);
    scratch
}

#[test]
fn the_example_fleet_renders_to_sets_that_ocm_takes() {
    sets_of_the_example_fleet();
}
