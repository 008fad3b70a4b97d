//! `spokewright placement`, and rendering by evaluation (docs/placement.md).

use crate::scratch::{Scratch, copy, fixtures};

fn fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    scratch
}

/// The example without its PlacementDecisions.
fn undecided() -> Scratch {
    let scratch = fleet();
    for team in ["shop", "payments"] {
        let path = format!("hub/{team}/placement.yaml");
        let kept: Vec<String> = scratch
            .read(&path)
            .split("---\n")
            .filter(|document| !document.contains("kind: PlacementDecision"))
            .map(str::to_owned)
            .collect();
        scratch.write(&path, &kept.join("---\n"));
    }
    scratch
}

#[test]
fn the_table_names_every_placement_and_its_clusters() {
    let run = fleet().run(&["placement"]);
    run.exits(0);
    insta::assert_snapshot!(run.stdout, @r"
    PLACEMENT        CLUSTERS  DECIDED BY  EVALUATION             SELECTED
    payments/europe  2         decisions   AllDecisionsScheduled  eu-1, eu-2
    shop/everywhere  3         decisions   AllDecisionsScheduled  eu-1, eu-2, us-1
    ");
}

#[test]
fn why_answers_for_every_cluster_of_the_example_with_file_and_line() {
    let scratch = fleet();
    for cluster in ["eu-1", "eu-2", "us-1"] {
        let run = scratch.run(&["placement", "--why", cluster]);
        run.exits(0);
        for line in [
            "hub/shop/placement.yaml:",
            "hub/clusters/clusters.yaml:",
            "payments/europe: ",
            "shop/everywhere: ",
        ] {
            assert!(run.stdout.contains(line), "{cluster}: {line} in\n{}", run.stdout);
        }
    }
    let us = scratch.run(&["placement", "--why", "us-1"]).stdout;
    assert!(us.contains("payments/europe: not selected"), "{us}");
    assert!(
        us.contains("requires label region In [eu], it has region=us"),
        "{us}"
    );
    scratch
        .run(&["placement", "--why", "eu-7"])
        .exits(2)
        .says("did you mean `eu-1`?");
}

#[test]
fn without_decisions_the_same_clusters_are_rendered() {
    let given = fleet();
    given.run(&["render"]).exits(0);
    let evaluated = undecided();
    evaluated.run(&["render"]).exits(0).does_not_say("placement/");
    assert_eq!(given.tree("rendered"), evaluated.tree("rendered"));
    let forced = fleet();
    forced.run(&["render", "--placement", "evaluate"]).exits(0);
    assert_eq!(given.tree("rendered"), forced.tree("rendered"));
}

#[test]
fn decisions_only_refuses_a_placement_that_nobody_decided() {
    undecided()
        .run(&["render", "--placement", "decisions"])
        .exits(4)
        .says("error[placement/not-found]")
        .says("there is no PlacementDecision for placement");
}

#[test]
fn a_relabelled_cluster_shows_where_evaluation_differs() {
    let scratch = fleet();
    let clusters = scratch.read("hub/clusters/clusters.yaml");
    assert!(clusters.contains("region: us"), "{clusters}");
    scratch.edit("hub/clusters/clusters.yaml", "region: us", "region: eu");
    scratch
        .run(&["render"])
        .exits(0)
        .says("warning[placement/differs]")
        .says("only in the evaluation: us-1");
    assert!(
        !scratch.exists("rendered/us-1/gateway-payments-payments.yaml"),
        "the decisions win"
    );
    scratch
        .run(&["render", "--placement", "evaluate", "--force"])
        .exits(0);
    assert!(scratch.exists("rendered/us-1/gateway-payments-payments.yaml"));
}

#[test]
fn written_decisions_are_what_the_next_run_takes_as_given() {
    let scratch = undecided();
    scratch
        .run(&["placement", "--write", "hub/decisions"])
        .exits(0)
        .says("2 files written");
    let europe = scratch.read("hub/decisions/payments/europe.yaml");
    assert!(
        europe.contains("name: europe-decision-1") && europe.contains("clusterName: eu-2"),
        "{europe}"
    );
    scratch
        .run(&["placement", "--write", "hub/decisions"])
        .exits(0)
        .says("0 files written, 2 unchanged");
    scratch.run(&["render", "--placement", "decisions"]).exits(0);
    fleet()
        .run(&["placement", "--write", "hub/decisions"])
        .exits(3)
        .says("error[object/duplicate]");
}

#[test]
fn a_time_that_decides_needs_now() {
    let scratch = undecided();
    scratch.edit("hub/clusters/clusters.yaml", "  name: us-1\n", "  name: us-1\n");
    let clusters = scratch.read("hub/clusters/clusters.yaml");
    let tainted = clusters.replace(
        "spec:\n",
        "spec:\n  taints: [{key: maintenance, effect: NoSelect, timeAdded: \"2026-01-01T00:00:00Z\"}]\n",
    );
    scratch.write("hub/clusters/clusters.yaml", &tainted);
    let placement = scratch.read("hub/shop/placement.yaml");
    let spec = "spec:\n  tolerations: [{key: maintenance, operator: Exists, tolerationSeconds: 3600}]\n";
    scratch.write("hub/shop/placement.yaml", &placement.replacen("spec:\n", spec, 1));
    scratch
        .run(&["placement"])
        .exits(4)
        .says("error[placement/needs-now]")
        .says("--now");
    let early = scratch.run(&["placement", "--now", "2026-01-01T00:59:59Z"]);
    early.exits(0);
    assert!(early.stdout.contains("shop/everywhere  3"), "{}", early.stdout);
    let late = scratch.run(&["placement", "--now", "2026-01-01T01:00:00Z"]);
    assert!(
        late.stdout.contains("shop/everywhere  0"),
        "at the boundary it has expired:\n{}",
        late.stdout
    );
}

#[test]
fn json_and_yaml_are_one_document_of_the_same_kind() {
    let scratch = fleet();
    let json = scratch.run(&["placement", "-o", "json"]);
    json.exits(0);
    let value: kube_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(value["kind"], "PlacementReport");
    assert_eq!(value["placements"][0]["decisions"][0]["clusterName"], "eu-1");
    let yaml = scratch.run(&["placement", "-o", "yaml"]);
    let read = kube_yaml::read_all(&yaml.stdout, &kube_yaml::Limits::default()).expect("YAML");
    assert_eq!(read, vec![value]);
}

/// Each bad input of placements: an error or the condition that OCM would set, never a crash.
#[test]
fn a_misconfigured_placement_that_is_a_warning_still_makes_the_result_empty() {
    let scratch = Scratch::new();
    scratch.run(&["init", "."]).exits(0);
    scratch.edit(
        "hub/placement.yaml",
        "  clusterSets: [edge]\n",
        "  clusterSets: [edge]\n  prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Spread}}]}\n",
    );
    let configuration = scratch.read("spokewright.yaml");
    scratch.write(
        "spokewright.yaml",
        &format!("{configuration}\nfindings: {{placement/misconfigured: warning}}\n"),
    );
    let run = scratch.run(&["render"]);
    run.exits(4)
        .says("error[empty/nothing-rendered]: no cluster would receive anything")
        .says("warning[placement/misconfigured]: OCM would call Placement shop/everywhere misconfigured")
        .says("correct the Placement")
        .does_not_say("place a Gateway");
    assert!(!scratch.exists("rendered"), "{run:?}");
    // Where it is meant, the warning is all that is left.
    let run = scratch.run(&["render", "--allow-empty"]);
    run.exits(0).says("warning[placement/misconfigured]");
}

#[test]
fn bad_placements_are_errors_or_conditions() {
    let spec = |text: &str| {
        let scratch = undecided();
        let placement = scratch.read("hub/payments/placement.yaml");
        scratch.write(
            "hub/payments/placement.yaml",
            &placement.replacen("spec:\n", &format!("spec:\n{text}"), 1),
        );
        scratch
    };
    let policy = |text: &str| spec(&format!("  prioritizerPolicy: {{configurations: [{text}]}}\n"));
    for (scratch, code) in [
        (
            policy("{scoreCoordinate: {builtIn: Spread}, weight: 1}"),
            "placement/misconfigured",
        ),
        (
            policy("{scoreCoordinate: {builtIn: Steady}, weight: 11}"),
            "object/schema",
        ),
        (
            policy("{scoreCoordinate: {type: AddOn}, weight: 1}"),
            "placement/misconfigured",
        ),
        (
            spec("  tolerations: [{operator: Equal}]\n"),
            "placement/misconfigured",
        ),
        (spec("  numberOfClusters: -1\n"), "object/schema"),
        (
            spec("  decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: \"150%\"}}\n"),
            "object/schema",
        ),
    ] {
        let run = scratch.run(&["placement"]);
        assert!([3, 4].contains(&run.status), "{code}: {run:?}");
        run.says(&format!("error[{code}]")).does_not_say("panicked");
    }

    let scratch = undecided();
    scratch.edit(
        "hub/clusters/clusters.yaml",
        "spec:\n",
        "status: {allocatable: {cpu: lots}, capacity: {cpu: 4}}\nspec:\n",
    );
    scratch.run(&["placement"]).exits(3).says("error[object/schema]");

    let scratch = undecided();
    scratch.write(
        "hub/binding.yaml",
        "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n\
         metadata: {name: nowhere, namespace: other}\nspec: {clusterSet: nowhere}\n---\n\
         apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n\
         metadata: {name: lost, namespace: other}\nspec: {}\n",
    );
    let run = scratch.run(&["placement"]);
    run.exits(0).says("warning[placement/no-clusters]");
    assert!(
        run.stdout.contains("NoManagedClusterSetBindings"),
        "{}",
        run.stdout
    );

    let scratch = undecided();
    let clusters = scratch.read("hub/clusters/clusters.yaml");
    scratch.write("hub/clusters/again.yaml", &clusters);
    scratch
        .run(&["placement"])
        .exits(3)
        .says("error[object/duplicate]");
}

#[test]
fn a_cluster_whose_name_no_namespace_has_is_an_error_where_a_placement_chooses_it() {
    let clusters = "hub/clusters/clusters.yaml";
    let named = |scratch: &Scratch| {
        scratch.edit(clusters, "name: eu-2", "name: eu.2");
    };
    // An API server takes it, and committed decisions do not choose it.
    let decided = fleet();
    named(&decided);
    for file in ["shop", "payments"] {
        let path = format!("hub/{file}/placement.yaml");
        decided.edit(&path, "  - {clusterName: eu-2, reason: \"\"}\n", "");
    }
    let run = decided.run(&["check", "--placement", "decisions"]);
    run.exits(0);
    let evaluated = undecided();
    named(&evaluated);
    let run = evaluated.run(&["check"]);
    run.exits(3);
    let expected = "error[object/invalid-name]: cluster `eu.2` can have no works: they belong in a namespace of its name, \
                    and no namespace can have that name";
    assert!(run.stdout.starts_with(expected), "{}", run.stdout);
    assert!(
        run.stdout.contains("--> hub/clusters/clusters.yaml:18:9"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("help: register it under another name, such as `eu-2`"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
    // OCM's webhook reads the name of a cluster that has client configs, and of no other.
    let configured = decided;
    configured.edit(
        clusters,
        "spec:\n  hubAcceptsClient: true\n---",
        "spec:\n  managedClusterClientConfigs: [{url: \"https://eu\"}]\n---",
    );
    configured.edit(clusters, "name: eu-1", "name: eu.1");
    let run = configured.run(&["check", "--placement", "decisions", "-q"]);
    run.exits(3);
    assert!(
        run.stdout
            .contains("ManagedCluster eu.1: metadata.name format is not correct: "),
        "{}",
        run.stdout
    );
}

#[test]
fn a_taint_takes_a_list_for_a_time_as_an_api_server_does() {
    let scratch = undecided();
    scratch.edit(
        "hub/clusters/clusters.yaml",
        "hubAcceptsClient: true",
        "taints: [{key: a, effect: PreferNoSelect, timeAdded: []}]",
    );
    scratch.run(&["check", "--deny", "warnings"]).exits(0);
    scratch.edit("hub/clusters/clusters.yaml", "timeAdded: []", "timeAdded: {}");
    let run = scratch.run(&["check"]);
    run.exits(3);
    assert!(
        run.stdout.contains(
            "spec.taints[0].timeAdded: Invalid value: \"\": spec.taints[0].timeAdded in body must be of type date-time: \"\""
        ),
        "{}",
        run.stdout
    );
}

/// Two Placements that take one cluster each of three, and nothing was decided.
fn choosing(policy: &str) -> Scratch {
    let scratch = undecided();
    for (team, name) in [("shop", "everywhere"), ("payments", "europe")] {
        let path = format!("hub/{team}/placement.yaml");
        let spec = format!("  clusterSets: [edge]\n  numberOfClusters: 1\n{policy}");
        scratch.edit(&path, "  clusterSets: [edge]\n", &spec);
        assert!(scratch.read(&path).contains(name));
    }
    scratch
}

#[test]
fn a_placement_that_the_order_decides_is_a_warning_until_its_decisions_are_committed() {
    let scratch = choosing("");
    let run = scratch.run(&["check"]);
    run.exits(0);
    for (path, key) in [
        ("hub/payments/placement.yaml:9:21", "payments/europe"),
        ("hub/shop/placement.yaml:9:21", "shop/everywhere"),
    ] {
        let expected = format!(
            "warning[placement/order-dependent]: the order in which OCM schedules Placements decides which clusters {key} gets"
        );
        let finding = run
            .stdout
            .split("\n\n")
            .find(|finding| finding.contains(&expected));
        let finding = finding.unwrap_or_else(|| panic!("{key} in\n{}", run.stdout));
        assert!(finding.contains(&format!("--> {path}")), "{finding}");
        assert!(
            finding.contains("in some orders and not in others: eu-1, eu-2"),
            "{finding}"
        );
        assert!(finding.contains("help: commit its decisions"), "{finding}");
    }
    assert!(
        scratch
            .run(&["placement"])
            .stderr
            .contains("placement/order-dependent")
    );
    scratch.run(&["placement", "--write", "hub/decided"]).exits(0);
    let run = scratch.run(&["check"]);
    assert!(!run.stdout.contains("placement/"), "{}", run.stdout);
}

#[test]
fn a_placement_that_keeps_no_cluster_for_being_there_never_settles() {
    let policy = "  prioritizerPolicy:\n    configurations:\n    - scoreCoordinate: {builtIn: Steady}\n      weight: 0\n";
    let run = choosing(policy).run(&["check"]);
    run.exits(0);
    assert!(
        run.stdout.contains(
            "warning[placement/unsettled]: OCM would keep moving Placement shop/everywhere between clusters"
        ),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("--> hub/shop/placement.yaml:13:15"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("help: give the prioritizer Steady a weight above 0"),
        "{}",
        run.stdout
    );
    assert!(
        !run.stdout.contains("placement/order-dependent"),
        "{}",
        run.stdout
    );
}

#[test]
fn rounds_until_nothing_changes_are_the_default() {
    let scratch = choosing("");
    let selected = |arguments: &[&str]| scratch.run(arguments).stdout;
    let default = selected(&["placement"]);
    assert_eq!(default, selected(&["placement", "--mode", "fixpoint"]));
    assert!(
        default.contains("payments/europe  1         evaluation  AllDecisionsScheduled  eu-1"),
        "{default}"
    );
    assert!(
        default.contains("shop/everywhere  1         evaluation  AllDecisionsScheduled  eu-2"),
        "{default}"
    );
    assert_ne!(default, selected(&["placement", "--mode", "snapshot"]));
}

#[test]
fn where_committed_decisions_decide_their_clusters_are_shown() {
    let scratch = fleet();
    scratch.edit(
        "hub/payments/placement.yaml",
        "  - {clusterName: eu-2, reason: \"\"}\n",
        "  - {clusterName: us-1, reason: \"\"}\n",
    );
    let run = scratch.run(&["placement"]);
    run.exits(0);
    insta::assert_snapshot!(run.stdout, @r"
    PLACEMENT        CLUSTERS  DECIDED BY          EVALUATION             SELECTED
    payments/europe  2         decisions (differ)  AllDecisionsScheduled  eu-1, us-1
    shop/everywhere  3         decisions           AllDecisionsScheduled  eu-1, +2 more
    ");
    let why = scratch.run(&["placement", "--why", "us-1"]).stdout;
    let text = "payments/europe: selected\n    PlacementDecisions of the input decide; by evaluation it is not selected:\n";
    assert!(why.contains(text), "{why}");
    let evaluated = scratch.run(&["placement", "--placement", "evaluate"]).stdout;
    assert!(
        evaluated.contains("payments/europe  2         evaluation  AllDecisionsScheduled  eu-1, eu-2\n"),
        "{evaluated}"
    );
    let json = |arguments: &[&str]| -> kube_json::Value {
        let run = scratch.run(&[&["placement", "-q", "-o", "json"], arguments].concat());
        serde_json::from_str(&run.exits(0).stdout).expect("JSON")
    };
    let report = json(&[]);
    let europe = &report["placements"][0];
    assert_eq!(europe["source"], "decisions");
    assert_eq!(europe["clusters"], kube_json::json!(["eu-1", "us-1"]));
    let dropped = &europe["steps"][1]["dropped"][0];
    assert_eq!(dropped["clusters"], kube_json::json!(["us-1"]));
    assert_eq!(
        (&dropped["path"], &dropped["line"]),
        (&"hub/payments/placement.yaml".into(), &13.into())
    );
    // Of those that lead to a cluster, as the decisions say.
    let narrowed = json(&["--clusters", "us-1"]);
    assert_eq!(narrowed["placements"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        json(&["--placement", "evaluate", "--clusters", "us-1"])["placements"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
