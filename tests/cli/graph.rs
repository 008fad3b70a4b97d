//! `graph`: the picture of the example fleet, states of policies, one cluster, counting, bad input.

use crate::scratch::{Scratch, copy, fixtures};

fn fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    scratch
}

fn golden(name: &str) -> String {
    std::fs::read_to_string(fixtures().join("graph").join(name)).expect("a committed picture")
}

#[test]
fn the_example_fleet_is_drawn_in_both_languages() {
    let scratch = fleet();
    let run = scratch.run(&["graph", "fleet"]);
    assert_eq!(run.exits(0).stdout, golden("fleet.mmd"));
    let run = scratch.run(&["graph", "fleet", "--format", "dot"]);
    assert_eq!(run.exits(0).stdout, golden("fleet.dot"));
}

#[test]
fn a_small_picture_is_the_same_with_all() {
    let scratch = fleet();
    let run = scratch.run(&["graph", "fleet", "--all"]);
    assert_eq!(run.exits(0).stdout, golden("fleet.mmd"));
    run.does_not_say("--all");
}

#[test]
fn one_cluster_shows_what_goes_there_and_what_lives_there() {
    let scratch = fleet();
    let run = scratch.run(&["graph", "fleet", "--cluster", "us-1"]);
    let drawn = &run.exits(0).stdout;
    assert!(drawn.contains("cluster us-1") && drawn.contains("Gateway shop/storefront"));
    assert!(!drawn.contains("payments") && !drawn.contains("eu-"), "{drawn}");
    let run = scratch.run(&["graph", "fleet", "--cluster", "eu-1"]);
    let drawn = &run.exits(0).stdout;
    assert!(
        drawn.contains("RateLimitPolicy kuadrant-shop/maintenance"),
        "{drawn}"
    );
    assert!(drawn.contains("shop/api-burst<br/>overridden"), "{drawn}");
}

#[test]
fn a_glob_leaves_out_clusters_and_what_goes_to_none_of_the_rest() {
    let run = fleet().run(&["graph", "fleet", "--clusters", "us-*"]);
    let drawn = &run.exits(0).stdout;
    assert!(
        drawn.contains("cluster us-1") && !drawn.contains("cluster eu-"),
        "{drawn}"
    );
    assert!(!drawn.contains("payments"), "{drawn}");
}

const ODD: &str = r#"
apiVersion: kuadrant.io/v1
kind: DNSPolicy
metadata: {name: names, namespace: gateways}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}
---
apiVersion: kuadrant.io/v1
kind: DNSPolicy
metadata: {name: other-names, namespace: gateways}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: lost, namespace: gateways}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: nothing}
  limits: {a: {rates: [{limit: 1, window: 1s}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: end, namespace: gateways}
spec: {parentRefs: [{name: prod-web}], rules: [{name: one, backendRefs: [{name: api, port: 80}]}]}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: rule, namespace: gateways}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: end, sectionName: one}
  limits: {a: {rates: [{limit: 1, window: 1s}]}}
"#;

#[test]
fn what_became_of_a_policy_stands_in_words_and_in_its_class() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/odd.yaml", ODD);
    let run = scratch.run(&["graph", "hub"]);
    for (label, class) in [
        ("DNSPolicy gateways/names<br/>not synced", "notSynced"),
        ("DNSPolicy gateways/other-names<br/>conflicted", "refused"),
        (
            "RateLimitPolicy gateways/lost<br/>not accepted: TargetNotFound",
            "refused",
        ),
        // Its route is not synced, and so it is not.
        ("RateLimitPolicy gateways/rule<br/>not synced", "notSynced"),
        ("RateLimitPolicy gateways/global<br/>Enforced", "holds"),
    ] {
        let line = run
            .stdout
            .lines()
            .find(|line| line.contains(&format!("\"{label}\"")));
        let line = line.unwrap_or_else(|| panic!("{label} in\n{}", run.stdout));
        let id = line.trim_start().split('>').next().expect("an id");
        let has_class = run.stdout.lines().any(|line| {
            line.strip_suffix(&format!(" {class}"))
                .and_then(|line| line.strip_prefix("  class "))
                .is_some_and(|ids| ids.split(',').any(|other| other == id))
        });
        assert!(has_class, "{id} {class} in\n{}", run.stdout);
    }
    assert!(run.stdout.contains("-.->|\"section one\"|"), "{}", run.stdout);
}

#[test]
fn what_nobody_could_read_is_counted_unless_all_is_asked_for() {
    let scratch = Scratch::with_worked_example();
    let mut routes = String::new();
    for number in 0..70 {
        routes += &format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
             metadata: {{name: r{number:02}, namespace: gateways}}\nspec: {{parentRefs: [{{name: prod-web}}]}}\n"
        );
    }
    scratch.write("hub/routes.yaml", &routes);
    let run = scratch.run(&["graph", "hub"]);
    run.exits(0).says("--all draws everything");
    assert!(
        run.stdout
            .contains("70 HTTPRoutes: gateways/r00, gateways/r01, gateways/r02 and 67 more"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("2 clusters: eu-1, us-1"), "{}", run.stdout);
    let run = scratch.run(&["graph", "hub", "--all"]);
    run.exits(0).does_not_say("--all");
    assert!(run.stdout.contains("HTTPRoute gateways/r69"), "{}", run.stdout);
}

#[test]
fn an_unknown_cluster_or_language_is_a_usage_error_and_draws_nothing() {
    let scratch = fleet();
    let run = scratch.run(&["graph", "fleet", "--cluster", "eu-3"]);
    run.exits(2).says("did you mean `eu-");
    assert_eq!(run.stdout, "");
    scratch
        .run(&["graph", "fleet", "--format", "svg"])
        .exits(2)
        .says("mermaid");
}

#[test]
fn an_empty_directory_is_an_empty_picture() {
    let scratch = Scratch::new();
    scratch.write("hub/.keep", "");
    let run = scratch.run(&["graph", "hub"]);
    assert_eq!(run.stdout, "flowchart LR\n", "{}", run.stderr);
}

#[test]
fn a_part_is_drawn_of_a_gateway_a_policy_a_namespace_or_a_cluster() {
    let scratch = fleet();
    let drawn = |only: &str| {
        scratch
            .run(&["graph", "fleet", "--only", only])
            .exits(0)
            .stdout
            .clone()
    };
    let gateway = drawn("gateway/payments/payments");
    for part in [
        "GatewayClass multicluster",
        "payments/transfers",
        "payments/ceiling",
        "cluster eu-1",
    ] {
        assert!(gateway.contains(part), "{part}\n{gateway}");
    }
    assert!(
        !gateway.contains("shop/") && !gateway.contains("us-1"),
        "{gateway}"
    );
    let policy = drawn("RateLimitPolicy.kuadrant.io/api-burst");
    assert!(
        policy.contains("shop/api-burst") && policy.contains("HTTPRoute shop/catalogue"),
        "{policy}"
    );
    assert!(
        policy.contains("Gateway shop/storefront") && !policy.contains("HTTPRoute shop/web"),
        "{policy}"
    );
    assert!(
        policy.contains("shop/per-client"),
        "what meets it above\n{policy}"
    );
    let namespace = drawn("namespace/payments");
    assert!(
        namespace.contains("payments/tokens") && !namespace.contains("shop/"),
        "{namespace}"
    );
    let cluster = drawn("cluster/us-1");
    assert!(
        cluster.contains("shop/storefront") && !cluster.contains("payments/"),
        "{cluster}"
    );
    let run = scratch.run(&["graph", "fleet", "--only", "gateway/nowhere"]);
    run.exits(2).says("nothing in the graph matches `--only`");
    scratch
        .run(&["graph", "fleet", "--only", "gateway"])
        .exits(2)
        .says("write KIND/NAMESPACE/NAME");
}

#[test]
fn what_mermaid_cannot_draw_is_refused_and_a_page_shows_it() {
    let scratch = Scratch::with_worked_example();
    let mut routes = String::new();
    for number in 0..600 {
        routes += &format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
             metadata: {{name: r{number:03}, namespace: gateways}}\nspec: {{parentRefs: [{{name: prod-web}}]}}\n"
        );
    }
    scratch.write("hub/routes.yaml", &routes);
    let run = scratch.run(&["graph", "hub", "--all"]);
    run.exits(2)
        .says("mermaid draws at most 500 edges")
        .says("spokewright page");
    scratch
        .run(&["graph", "hub", "--all", "--format", "dot"])
        .exits(0);
    scratch.run(&["graph", "hub"]).exits(0);
}
