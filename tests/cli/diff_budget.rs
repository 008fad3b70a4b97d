//! `diff`: how much a change may do, and what is lost.

use kube_json::{Value, json};

use crate::scratch::{Scratch, copy, fixtures};

/// The example fleet as `fleet`, and once more as `before`.
fn fleet() -> Scratch {
    let scratch = Scratch::new();
    for name in ["fleet", "before"] {
        copy(&fixtures().join("../examples/fleet"), &scratch.path(name));
    }
    scratch
}

const BASE: [&str; 5] = ["diff", "fleet", "-q", "--base-dir", "before"];

fn diff(scratch: &Scratch, more: &[&str]) -> crate::scratch::Run {
    scratch.run(&[&BASE[..], more].concat())
}

fn json_of(scratch: &Scratch, more: &[&str]) -> Value {
    let run = diff(scratch, &[&["--format", "json"][..], more].concat());
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn a_path_without_its_policies_is_lost_and_one_that_is_gone_is_not() {
    let scratch = fleet();
    scratch.remove("fleet/hub/shop/limits.yaml");
    let report = json_of(&scratch, &[]);
    // eu-1 keeps its own policy on the listener api.
    let lost = report["lost"]["policies"].as_array().expect("a list");
    let of_api: Vec<&Value> = lost
        .iter()
        .filter(|lost| lost["policies"] == json!(["ratelimitpolicy.kuadrant.io:shop/api-burst"]))
        .collect();
    assert!(!of_api.is_empty(), "{report}");
    for lost in of_api {
        assert_eq!(lost["clusters"], json!(["eu-2", "us-1"]));
        assert_eq!(lost["kind"], "RateLimitPolicy");
    }
    let run = diff(&scratch, &[]);
    run.exits(1);
    let lost = run.stdout.split("\nlost\n").nth(1).unwrap_or_default();
    assert!(
        lost.starts_with(
            "  RateLimitPolicy loses reads, writes of shop/api-burst on listener api of shop/storefront, \
             on 2 clusters: eu-2, us-1; no RateLimitPolicy applies anymore\n"
        ),
        "{}",
        run.stdout
    );
    // With its route, a path is gone, and nothing on it is unprotected.
    let scratch = fleet();
    let run = diff(&scratch, &["--format", "json"]);
    run.exits(0);
    let arguments = [
        "diff",
        "fleet",
        "-q",
        "--without",
        "httproute/shop/catalogue",
        "--format",
        "json",
    ];
    let report: Value = serde_json::from_str(&scratch.run(&arguments).stdout).expect("JSON");
    assert_eq!(report["lost"]["settings"], json!([]), "{report}");
    assert_eq!(report["lost"]["policies"], json!([]), "{report}");
}

#[test]
fn another_policy_in_the_place_of_one_is_no_loss() {
    let scratch = fleet();
    let run = scratch.run(&[
        "diff",
        "fleet",
        "-q",
        "--without",
        "ratelimitpolicy/shop/api-burst",
        "--format",
        "json",
    ]);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["summary"]["lostPolicies"], 0, "{report}");
    assert_eq!(report["lost"]["policies"], json!([]));
}

#[test]
fn what_goes_beyond_a_budget_is_an_error_until_it_is_allowed() {
    let scratch = fleet();
    scratch.remove("fleet/hub/shop/limits.yaml");
    diff(
        &scratch,
        &[
            "--max-removed",
            "5",
            "--max-lost-policies",
            "5",
            "--max-clusters",
            "3",
        ],
    )
    .exits(1);
    let run = diff(
        &scratch,
        &[
            "--max-removed",
            "0",
            "--max-lost-policies",
            "4",
            "--max-clusters",
            "2",
        ],
    );
    run.exits(4)
        .says("error[diff/over-budget]: 5 objects are removed; the budget allows none")
        .says("= note: RateLimitPolicy kuadrant-shop/per-client on all 3 clusters")
        .says("= help: if this is meant, pass `--allow removed`, or raise the limit")
        .says("5 paths lose their policies; the budget allows at most 4")
        .says("3 clusters change; the budget allows at most 2");
    // The comparison is whole.
    assert!(run.stdout.contains("removed RateLimitPolicy"), "{}", run.stdout);
    diff(
        &scratch,
        &["--max-removed", "0", "--max-clusters", "2", "--allow", "removed"],
    )
    .exits(4)
    .does_not_say("objects are removed");
    let run = diff(
        &scratch,
        &[
            "--max-removed",
            "0",
            "--max-clusters",
            "2",
            "--allow",
            "removed,clusters",
            "--format",
            "markdown",
        ],
    );
    run.exits(1);
    assert!(
        run.stdout
            .contains("> [!NOTE]\n> Over budget: 5 objects are removed"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("CAUTION"), "{}", run.stdout);
    let run = diff(&scratch, &["--max-removed", "0", "--format", "markdown"]);
    assert!(
        run.stdout
            .contains("> [!CAUTION]\n> Over budget: 5 objects are removed"),
        "{}",
        run.stdout
    );
    let report = json_of(&scratch, &["--max-removed", "1", "--allow", "removed"]);
    assert_eq!(report["exceeded"][0]["limit"], "removed");
    assert_eq!(report["exceeded"][0]["allowed"], true);
}

#[test]
fn a_budget_of_the_configuration_holds_and_a_change_cannot_raise_its_own() {
    let scratch = fleet();
    let budget = |scratch: &Scratch, side: &str, most: &str| {
        let path = format!("{side}/spokewright.yaml");
        let text = std::fs::read_to_string(scratch.path(&path)).expect("a configuration");
        let kept = text.split("diff:").next().unwrap_or_default();
        scratch.write(
            &path,
            &format!("{kept}diff: {{budget: {{maxRemoved: {most}}}}}\n"),
        );
    };
    scratch.remove("fleet/hub/shop/limits.yaml");
    budget(&scratch, "before", "0");
    diff(&scratch, &[]).exits(4).says("the budget allows none");
    budget(&scratch, "fleet", "100");
    diff(&scratch, &[]).exits(4).says("the budget allows none");
    // Whoever types the command may.
    diff(&scratch, &["--max-removed", "100"]).exits(1);
    budget(&scratch, "fleet", "-1");
    diff(&scratch, &[]).exits(3).says("config/invalid");
}

#[test]
fn a_rendered_tree_does_not_say_what_applied() {
    let scratch = fleet();
    scratch.run(&["render", "before", "-o", "tree"]).exits(0);
    scratch
        .run(&["diff", "fleet", "--base-tree", "tree", "--max-lost-policies", "0"])
        .exits(2)
        .says("a rendered tree does not say which policies applied");
    scratch.remove("fleet/hub/shop/limits.yaml");
    scratch
        .run(&["diff", "fleet", "-q", "--base-tree", "tree", "--max-removed", "1"])
        .exits(4);
    scratch
        .run(&[
            "diff",
            "fleet",
            "--without",
            "httproute/shop/catalogue",
            "--max-removed",
            "1",
        ])
        .exits(2)
        .says("cannot be used with");
}

#[test]
fn a_gateway_that_leaves_a_cluster_comes_first_and_its_namespace_stays() {
    let scratch = fleet();
    scratch.edit(
        "fleet/hub/payments/placement.yaml",
        "  - {clusterName: eu-2, reason: \"\"}\n",
        "",
    );
    let run = diff(&scratch, &[]);
    run.exits(1);
    assert!(
        run.stdout
            .contains("\nlost\n  Gateway kuadrant-payments/payments leaves eu-2, with 3 other objects\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("  Namespace kuadrant-payments is no longer managed, and stays on eu-2\n"),
        "{}",
        run.stdout
    );
    // A Namespace that another work has is no news at all.
    let report = json_of(&scratch, &[]);
    assert_eq!(report["lost"]["namespaces"], json!([]));
    assert_eq!(report["lost"]["gateways"][0]["clusters"], json!(["eu-2"]));
}

#[test]
fn a_second_form_is_written_in_the_same_run() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/gateway.yaml",
        "gatewayClassName: multicluster",
        "gatewayClassName: nginx",
    );
    let run = scratch.run(&[
        "check",
        "hub",
        "-q",
        "--message-format",
        "junit",
        "--also",
        "gitlab=quality.json",
        "--also",
        "sarif=a.sarif",
    ]);
    assert!(run.stdout.starts_with("<?xml"), "{}", run.stdout);
    let issues: Value = serde_json::from_str(&scratch.read("quality.json")).expect("JSON");
    let issue = issues
        .as_array()
        .and_then(|issues| {
            issues
                .iter()
                .find(|issue| issue["check_name"] == "gateway/class-not-found")
        })
        .expect("the error, though the run is quiet");
    assert_eq!(
        issue["location"],
        json!({"path": "hub/gateway.yaml", "lines": {"begin": 12}})
    );
    assert_eq!(issue["severity"], "critical");
    assert!(scratch.read("a.sarif").contains("gateway/class-not-found"));
    // The same again is the same, also where the file stands in the input.
    let before = scratch.read("quality.json");
    for file in ["quality.json", "hub/quality.json", "hub/quality.json"] {
        let option = format!("gitlab={file}");
        scratch.run(&["check", "hub", "--also", &option]);
        assert_eq!(scratch.read(file), before);
    }
    for command in [
        ["policies", "hub"].as_slice(),
        &["placement", "hub"],
        &["status", "hub"],
        &["graph", "hub"],
        &["diff", "hub", "--base-dir", "hub"],
        &["render", "hub"],
        &["render", "hub", "--check"],
        &["explain", "gateway/prod-web", "hub"],
    ] {
        scratch.remove("quality.json");
        scratch.run(&[command, &["--also", "gitlab=quality.json"]].concat());
        assert!(scratch.exists("quality.json"), "{command:?}");
    }
    scratch
        .run(&["check", "hub", "--also", "gitlub=x"])
        .exits(2)
        .says("there is no format `gitlub`");
    scratch
        .run(&["check", "hub", "--also", "gitlab"])
        .exits(2)
        .says("write FORMAT=FILE");
}

#[cfg(unix)]
#[test]
fn a_second_form_goes_through_no_link_and_into_no_git_directory() {
    let scratch = Scratch::with_worked_example();
    scratch.write("elsewhere", "mine\n");
    std::os::unix::fs::symlink("elsewhere", scratch.path("link.json")).expect("a link");
    let run = scratch.run(&["check", "hub", "--also", "json=link.json"]);
    run.exits(5);
    assert!(run.stdout.contains("error[output/"), "{}", run.stdout);
    assert_eq!(scratch.read("elsewhere"), "mine\n");
    scratch.write(".git/config", "");
    scratch
        .run(&["check", "hub", "--also", "json=.git/hooks.json"])
        .exits(5);
    assert!(!scratch.exists(".git/hooks.json"));
}
