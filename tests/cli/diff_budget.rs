//! `diff`: how much a change may do, and what is lost.

use kube_json::{Value, json};

use crate::scratch::{Scratch, copy, fixtures};

/// The example fleet as `fleet`, and once more as `before`.
fn fleet() -> Scratch {
    let scratch = Scratch::new();
    for name in ["fleet", "before"] {
        copy(&fixtures().join("../examples/fleet"), &scratch.path(name));
        scratch.remove(&format!("{name}/hub/shop/overlay.yaml"));
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

/// A policy that is said to live on a cluster, with the limit of a policy of the hub.
const CLAIMED: &str = "apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: claimed, namespace: kuadrant-shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: storefront}
  limits: {per-client: {rates: [{limit: 100, window: 10s}]}}
";

/// Lets a change say that each of these clusters has a policy of its own.
fn claim(scratch: &Scratch, clusters: &[&str]) {
    for cluster in clusters {
        scratch.write(&format!("fleet/spokes/{cluster}/claimed.yaml"), CLAIMED);
    }
}

#[test]
fn what_a_change_says_of_clusters_denies_no_loss() {
    let limits = "fleet/hub/shop/limits.yaml";
    let without_default = |scratch: &Scratch| {
        let text = scratch.read(limits);
        let (_, rest) = text.split_once("---\n").expect("two policies");
        scratch.write(limits, rest);
    };
    let budget = ["--max-lost-policies", "1"];
    let honest = fleet();
    without_default(&honest);
    diff(&honest, &budget)
        .exits(4)
        .says("2 paths lose their policies");
    // The same, and the clusters are said to have such a policy; then on some of them only, and no path counts twice.
    for clusters in [&["eu-1", "eu-2", "us-1"][..], &["eu-1"], &["_all"]] {
        let scratch = fleet();
        without_default(&scratch);
        claim(&scratch, clusters);
        diff(&scratch, &budget)
            .exits(4)
            .says("2 paths lose their policies");
        diff(&scratch, &["--max-lost-policies", "2"]).exits(1);
        diff(&scratch, &[&budget[..], &["--allow", "lost-policies"]].concat()).exits(1);
    }
    // The policy stays in the hub, and what is said of the clusters keeps it from them.
    let scratch = fleet();
    claim(&scratch, &["eu-1", "eu-2", "us-1"]);
    let run = diff(&scratch, &budget);
    run.exits(4).says(
        "= note: RateLimitPolicy shop/per-client on Gateway shop/storefront > listener web, \
         unless clusters are as only this change says",
    );
    let denied = "RateLimitPolicy loses per-client of shop/per-client on listener web of shop/storefront, on all 3 clusters; \
                  no RateLimitPolicy applies anymore, unless clusters are as only this change says\n";
    assert!(run.stdout.contains(denied), "{}", run.stdout);
    let report = json_of(&scratch, &[]);
    let policies = report["lost"]["policies"].as_array().expect("a list");
    assert!(!policies.is_empty(), "{report}");
    assert!(policies.iter().all(|lost| lost["denied"] == true), "{report}");
    // What the base says of clusters is believed: nothing is lost where a policy of theirs was and stays.
    let scratch = fleet();
    claim(&scratch, &["eu-1", "eu-2", "us-1"]);
    copy(&scratch.path("fleet/spokes"), &scratch.path("before/spokes"));
    without_default(&scratch);
    diff(&scratch, &["--max-lost-policies", "0"]).exits(0);
}

/// What stands above the rest in each format for people.
fn above(run: &crate::scratch::Run) -> &str {
    let rest = ["\nlost\n", "\n**Lost**", "\nobjects on each of", "\n<details>"];
    let end = rest.iter().filter_map(|title| run.stdout.find(title)).min();
    run.stdout
        .get(..end.unwrap_or(run.stdout.len()))
        .unwrap_or_default()
}

#[test]
fn a_change_of_how_it_is_judged_stands_first_in_every_format_and_is_a_difference() {
    let scratch = fleet();
    scratch
        .edit("fleet/spokewright.yaml", "source: Auto", "source: Decisions")
        .edit("fleet/spokewright.yaml", "output: rendered", "output: released")
        .edit(
            "fleet/spokewright.yaml",
            "secrets: Omit",
            "controllerName: kuadrant.io/mgc-gw-controller\nspokes: spokes\ncrds: []\nexclude: [charts]\n\
             precedence: {creationTimestamp: Ignore}\nfindings: {object/withdrawn: 'off'}\n\
             profiles: [{group: a.example, kind: APolicy}]\n\
             suppress: [{code: secret/not-rendered, reason: because}]\n\
             diff: {budget: {maxRemoved: 500}}\nsecrets: Copy",
        )
        .edit("fleet/spokewright.yaml", "spokes: spokes\n\n", "\n")
        .edit("fleet/spokewright.yaml", "hub: [hub]", "hub: [hub, hub/shop]")
        .write("fleet/spokes/_all/gift.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: gift}\n")
        .edit("fleet/spokes/eu-1/limits.yaml", "limit: 5", "limit: 6")
        .remove("fleet/spokes/us-1/platform.yaml")
        .edit(
            "fleet/hub/shop/limits.yaml",
            "  name: per-client\n",
            "  name: per-client\n  annotations: {spokewright.dev/suppress: 'object/withdrawn: nobody needs it'}\n",
        );
    let expected = [
        "precedence: added {\"creationTimestamp\": \"Ignore\"}",
        "placement.source: Auto -> Decisions",
        "output: rendered -> released",
        "exclude: added [\"charts\"]",
        "findings: added {\"object/withdrawn\": \"off\"}",
        "hub[1]: added hub/shop",
        "suppress: added [{\"code\": \"secret/not-rendered\"",
        "diff: added {\"budget\": {\"maxRemoved\": 500}}",
        "secrets: Omit -> Copy",
        "profiles: added [{",
        "Namespace gift is added in `spokes` of all 3 clusters",
        "RateLimitPolicy kuadrant-shop/maintenance is changed in `spokes` of eu-1",
        "ClusterIssuer letsencrypt is removed in `spokes` of us-1",
        "suppressed findings of RateLimitPolicy shop/per-client: added \"object/withdrawn: nobody needs it\"",
    ];
    for form in ["text", "semantic", "markdown"] {
        let run = diff(&scratch, &["--format", form]);
        let text = above(&run)
            .replace("&#91;", "[")
            .replace("&#95;", "_")
            .replace("&gt;", ">")
            .replace("&#96;", "`")
            .replace("<code>", "")
            .replace("</code>", "");
        for line in expected {
            assert!(
                text.contains(line),
                "{form}: {line}\n{}\n{}",
                run.stdout,
                run.stderr
            );
        }
    }
    let terms = &json_of(&scratch, &[])["terms"];
    let fields = terms["configuration"].as_array().expect("a list");
    let source = json!({"path": "placement.source", "old": "Auto", "new": "Decisions"});
    assert!(fields.contains(&source), "{terms}");
    assert_eq!(
        terms["suppressions"][0]["path"],
        "RateLimitPolicy shop/per-client"
    );
    let spokes = terms["spokes"].as_array().expect("a list");
    let changed = json!({
        "change": "changed", "group": "kuadrant.io", "kind": "RateLimitPolicy", "namespace": "kuadrant-shop",
        "name": "maintenance", "clusters": ["eu-1"],
    });
    assert!(spokes.contains(&changed), "{terms}");
    // Alone it is a difference, too: a budget that one change raises lets the next one pass.
    let scratch = fleet();
    scratch.edit(
        "before/spokewright.yaml",
        "secrets: Omit",
        "diff: {budget: {maxRemoved: 5}}",
    );
    scratch.edit(
        "fleet/spokewright.yaml",
        "secrets: Omit",
        "diff: {budget: {maxRemoved: 500}}",
    );
    for form in ["text", "semantic", "markdown", "json"] {
        let run = diff(&scratch, &["--format", form]);
        run.exits(1);
        assert!(
            run.stdout.contains("diff.budget.maxRemoved"),
            "{form}: {}",
            run.stdout
        );
    }
    // Another form of the same is none.
    scratch.edit(
        "fleet/spokewright.yaml",
        "{budget: {maxRemoved: 500}}",
        "{budget: {maxRemoved: 0x5}} # moved",
    );
    diff(&scratch, &[]).exits(0);
}

#[test]
fn many_changes_of_one_field_or_object_hide_no_other() {
    let scratch = fleet();
    let many: Vec<String> = (0..5_000).map(|number| format!("excluded-{number}")).collect();
    let profile = "p".repeat(3_000);
    scratch.edit(
        "fleet/spokewright.yaml",
        "secrets: Omit",
        &format!(
            "exclude: [{}]\nsuppress: [{{code: secret/not-rendered, reason: {profile}}}]\nsecrets: Copy",
            many.join(", ")
        ),
    );
    scratch.edit(
        "before/spokewright.yaml",
        "secrets: Omit",
        "exclude: [a]\nsecrets: Omit",
    );
    for number in 0..200 {
        let object = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: gift-{number}}}\n");
        scratch.write(&format!("fleet/spokes/eu-1/{number}.yaml"), &object);
    }
    for form in ["text", "semantic", "markdown"] {
        let run = diff(&scratch, &["--format", form]);
        let text = above(&run);
        for line in [
            "secrets: Omit -",
            "exclude",
            "changes",
            "in `spokes` of eu-1",
            "and 190 more local objects",
            "suppress: added",
        ] {
            let line = if form == "markdown" {
                line.replace('`', "&#96;")
            } else {
                line.to_owned()
            };
            assert!(text.contains(&line), "{form}: {line}\n{text}");
        }
        assert!(text.len() < 10_000, "{form}: {}", text.len());
    }
}

#[test]
fn what_takes_clusters_or_files_away_is_shown_as_a_loss() {
    let shows = |scratch: &Scratch, what: &str| {
        for form in ["text", "semantic", "markdown"] {
            let run = diff(scratch, &["--format", form]);
            run.exits(1);
            assert!(run.stdout.contains(what), "{form}: {what}\n{}", run.stdout);
        }
    };
    let scratch = fleet().in_a_repository();
    scratch.write("fleet/.gitignore", "limits.yaml\n");
    shows(&scratch, "per-client");
    shows(&scratch, "RateLimitPolicy kuadrant-shop/maintenance");
    // A directory that the configuration names is read whatever Git ignores, and a kustomization selects nothing.
    scratch
        .write("fleet/.gitignore", "spokes/\nspokewright.yaml\n")
        .write(
            "fleet/hub/shop/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [gateway.yaml]\n",
        );
    diff(&scratch, &[]).exits(0);
    let scratch = fleet();
    scratch.edit(
        "fleet/hub/shop/placement.yaml",
        "  - {clusterName: us-1, reason: \"\"}\n",
        "",
    );
    shows(&scratch, " leaves, and loses ");
}

/// `render` refuses what `diff` with the same tree refuses, and then no byte of the tree is another one.
#[test]
fn beyond_its_budget_a_change_writes_not_one_byte() {
    const FILES: [&str; 8] = [
        "shop/authentication.yaml",
        "shop/certificates.yaml",
        "shop/gateway.yaml",
        "shop/grant.yaml",
        "shop/limits.yaml",
        "shop/placement.yaml",
        "payments/limits.yaml",
        "payments/placement.yaml",
    ];
    let (mut refused, mut written) = (0, 0);
    for case in 0..24_usize {
        let scratch = fleet();
        // Each case in a way of its own: which files are gone, and how much may be removed or change.
        let bits = case.wrapping_mul(2_654_435_761) >> 3;
        for (bit, file) in FILES.iter().enumerate() {
            if bits >> bit & 3 == 3 {
                scratch.remove(&format!("fleet/hub/{file}"));
            }
        }
        if case % 3 == 0 && scratch.exists("fleet/hub/payments/placement.yaml") {
            // A renamed cluster.
            scratch.edit(
                "fleet/hub/payments/placement.yaml",
                "clusterName: eu-2",
                "clusterName: eu-9",
            );
        }
        let [removed, clusters] = [case % 5 * 4, case % 4];
        let budget = format!("diff: {{budget: {{maxRemoved: {removed}, maxClusters: {clusters}}}}}\n");
        let config = scratch.read("fleet/spokewright.yaml");
        scratch.write("fleet/spokewright.yaml", &format!("{config}\n{budget}"));
        let before = scratch.tree("fleet/rendered");
        let compared = scratch.run(&["diff", "fleet", "-q", "--base-tree", "fleet/rendered"]);
        let check = scratch.run(&["render", "fleet", "-q", "--check"]);
        assert_eq!(scratch.tree("fleet/rendered"), before, "case {case}");
        let run = scratch.run(&["render", "fleet", "-q"]);
        let after = scratch.tree("fleet/rendered");
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.contains("[diff/over-budget]"));
            // `render` prints all findings in one order.
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let beyond = lines(&compared.stderr);
        assert_eq!(lines(&run.stderr), beyond, "case {case}: {}", compared.stderr);
        assert_eq!(lines(&check.stderr), beyond, "case {case}");
        if run.status == 0 {
            written += 1;
            assert!(beyond.is_empty(), "case {case}");
            scratch.run(&["render", "fleet", "-q", "-o", "fresh"]).exits(0);
            assert_eq!(after, scratch.tree("fresh"), "case {case}");
        } else {
            refused += usize::from(!beyond.is_empty());
            assert_eq!(after, before, "case {case}: {}", run.stderr);
        }
    }
    assert!(
        refused >= 5 && written >= 3,
        "{refused} refused, {written} written"
    );
}
