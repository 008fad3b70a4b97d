//! `diff`: which policy takes over, for which paths, on which clusters.

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

/// The part of `diff` about effective settings, one line for each field.
fn effective(scratch: &Scratch, arguments: &[&str]) -> String {
    let run = scratch.run(&[&["diff", "fleet", "-q", "--format", "semantic"], arguments].concat());
    let text = run.stdout;
    let part = text
        .split("effective settings that change\n")
        .nth(1)
        .unwrap_or_default();
    part.split("\n\n").next().unwrap_or_default().to_owned()
}

#[test]
fn without_a_policy_the_one_that_takes_over_is_named_with_paths_and_clusters() {
    let scratch = fleet();
    // On eu-1 a policy that lives there wins with it and without it.
    insta::assert_snapshot!(effective(&scratch, &["--without", "ratelimitpolicy/shop/api-burst"]), @r#"
    RateLimitPolicy shop/per-client instead of shop/api-burst on 2 clusters: eu-2, us-1
      Gateway shop/storefront > listener api > any route
      Gateway shop/storefront > listener api > HTTPRoute shop/catalogue > rule-1
      Gateway shop/storefront > listener api > HTTPRoute shop/catalogue > rule-2
        per-client: added {"counters": [{"expression": "request.headers[\"x-forwarded-for\"]"}], "rates": [{"limit": 100, "window": "10s"}]}
        reads: removed {"rates": [{"limit": 200, "window": "1s"}], "when": [{"predicate": "request.method == \"GET\""}]}
        writes: removed {"rates": [{"limit": 20, "window": "1s"}], "when": [{"predicate": "request.method != \"GET\""}]}
    "#);
    let text = effective(
        &scratch,
        &["--without", "ratelimitpolicy/kuadrant-shop/maintenance"],
    );
    assert!(
        text.starts_with("  RateLimitPolicy shop/api-burst instead of kuadrant-shop/maintenance on eu-1\n"),
        "{text}"
    );
    let text = effective(&scratch, &["--without", "accesslogpolicy/platform/access-log"]);
    assert!(
        text.starts_with("  AccessLogPolicy platform/access-log is lost on all 3 clusters\n"),
        "{text}"
    );
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn every_cluster_where_something_lives_is_looked_at_however_large_the_hub() {
    let scratch = fleet();
    let local = scratch.read("fleet/spokes/eu-1/limits.yaml");
    scratch.write("fleet/spokes/us-1/limits.yaml", &local);
    let many: String = (0..5_000)
        .map(|number| {
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n{number}, namespace: many}}\n")
        })
        .collect();
    scratch.write("fleet/hub/many.yaml", &many);
    let text = effective(&scratch, &["--without", "ratelimitpolicy/shop/api-burst"]);
    assert!(text.contains("eu-2"), "{text}");
    assert!(!text.contains("eu-1") && !text.contains("us-1"), "{text}");
}

#[test]
fn a_policy_that_lives_on_a_cluster_counts_there_and_nowhere_else() {
    let scratch = fleet();
    scratch.edit("fleet/spokes/eu-1/limits.yaml", "limit: 5", "limit: 6");
    let against = ["--base-dir", "before"];
    let text = effective(&scratch, &against);
    assert!(
        text.starts_with("  RateLimitPolicy kuadrant-shop/maintenance changes everything on eu-1\n"),
        "{text}"
    );
    assert!(text.contains("everything.rates[0].limit: 5 -> 6"), "{text}");
    // Nothing is shipped otherwise, and that is said.
    let run = scratch.run(&["diff", "fleet", "-q", "--base-dir", "before"]);
    run.exits(1);
    assert!(
        run.stdout
            .starts_with("no object changes, but effective settings do\n"),
        "{}",
        run.stdout
    );
    scratch.remove("fleet/spokes/eu-1/limits.yaml");
    let text = effective(&scratch, &against);
    assert!(
        text.starts_with("  RateLimitPolicy shop/api-burst instead of kuadrant-shop/maintenance on eu-1\n"),
        "{text}"
    );
}

#[test]
fn a_route_that_goes_changes_settings_and_no_object() {
    let scratch = fleet();
    let run = scratch.run(&["diff", "fleet", "-q", "--without", "httproute/shop/catalogue"]);
    run.exits(1);
    assert!(
        run.stdout
            .contains("RateLimitPolicy kuadrant-shop/maintenance is lost on eu-1"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("removed HTTPRoute"), "{}", run.stdout);
}

#[test]
fn locators_stand_in_json_only_with_the_policies_of_both_sides() {
    let scratch = fleet();
    let arguments = [
        "diff",
        "fleet",
        "-q",
        "--without",
        "ratelimitpolicy/shop/api-burst",
    ];
    for format in ["human", "semantic", "markdown"] {
        let run = scratch.run(&[&arguments[..], &["--format", format]].concat());
        assert!(
            !run.stdout.contains("kuadrant.io:shop"),
            "{format}:\n{}",
            run.stdout
        );
        assert!(
            run.stdout
                .contains("RateLimitPolicy shop/per-client instead of shop/api-burst"),
            "{format}:\n{}",
            run.stdout
        );
    }
    let run = scratch.run(&[&arguments[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let change = &report["effectiveChanges"][0];
    assert_eq!(
        change["oldPolicies"],
        json!(["ratelimitpolicy.kuadrant.io:shop/api-burst"])
    );
    assert_eq!(
        change["newPolicies"],
        json!(["ratelimitpolicy.kuadrant.io:shop/per-client"])
    );
    assert_eq!(change["clusters"], json!(["eu-2", "us-1"]));
    assert_eq!(
        change["path"][1],
        "gateway.gateway.networking.k8s.io:shop/storefront"
    );
}

#[test]
fn a_new_gateway_a_renamed_policy_and_a_change_on_one_cluster_are_told_apart() {
    let scratch = fleet();
    scratch.edit(
        "fleet/hub/shop/limits.yaml",
        "name: per-client",
        "name: per-caller",
    );
    let text = effective(&scratch, &["--base-dir", "before"]);
    // The same settings under another name hold as before.
    assert_eq!(text, "");
    let run = scratch.run(&[
        "diff",
        "fleet",
        "-q",
        "--base-dir",
        "before",
        "--format",
        "semantic",
    ]);
    run.exits(1);
    for line in [
        "- RateLimitPolicy kuadrant-shop/per-client on all 3 clusters",
        "+ RateLimitPolicy kuadrant-shop/per-caller on all 3 clusters",
    ] {
        assert!(run.stdout.contains(line), "{}", run.stdout);
    }
    let scratch = fleet();
    let gateway = scratch.read("fleet/hub/payments/gateway.yaml");
    scratch.write(
        "fleet/hub/payments/second.yaml",
        &gateway.replacen("name: payments", "name: second", 1),
    );
    let run = scratch.run(&[
        "diff",
        "fleet",
        "-q",
        "--base-dir",
        "before",
        "--format",
        "semantic",
    ]);
    run.exits(1);
    assert!(
        run.stdout
            .contains("+ Gateway kuadrant-payments/second on 2 clusters: eu-1, eu-2"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_cluster_that_receives_a_gateway_for_the_first_time_has_no_old_value() {
    let scratch = fleet();
    scratch.edit(
        "fleet/hub/payments/placement.yaml",
        "  - {clusterName: eu-2, reason: \"\"}\n",
        "  - {clusterName: eu-2, reason: \"\"}\n  - {clusterName: us-1, reason: \"\"}\n",
    );
    scratch.edit("fleet/hub/payments/limits.yaml", "limit: 50", "limit: 60");
    let run = scratch.run(&["diff", "fleet", "-q", "--base-dir", "before", "--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let changes = report["effectiveChanges"].as_array().expect("a list");
    let of = |kind: &str, cluster: &str| -> Vec<&Value> {
        let is_meant = |change: &&Value| {
            let clusters = change["clusters"].as_array().expect("a list");
            change["kind"] == kind && clusters.contains(&cluster.into())
        };
        changes.iter().filter(is_meant).collect()
    };
    for kind in ["AuthPolicy", "RateLimitPolicy", "TLSPolicy"] {
        let new = of(kind, "us-1");
        assert!(!new.is_empty(), "what newly holds there is named: {kind}");
        for change in new {
            assert_eq!(
                (&change["old"], &change["oldPolicies"]),
                (&Value::Null, &json!([])),
                "{change:#}"
            );
        }
    }
    let known = of("RateLimitPolicy", "eu-1");
    assert!(
        !known.is_empty() && known.iter().all(|change| !change["old"].is_null()),
        "{known:#?}"
    );
    // Places depend on no directory.
    let origins = report["changes"].as_array().expect("a list").iter();
    let paths: Vec<&Value> = origins
        .flat_map(|change| change["origins"].as_array().expect("a list"))
        .map(|origin| &origin["path"])
        .collect();
    assert!(
        !paths.is_empty()
            && paths
                .iter()
                .all(|path| path.as_str().expect("a path").starts_with("hub/")),
        "{paths:?}"
    );
}
