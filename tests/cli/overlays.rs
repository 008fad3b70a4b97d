//! ClusterOverlays: what one cluster gets, what is said of it, and what is refused.

use crate::scratch::{Scratch, copy, fixtures};

/// A change of the rate limit that `init` writes, on these clusters.
fn overlay(name: &str, clusters: &str, more: &str, set: &str) -> String {
    format!(
        "apiVersion: spokewright.dev/v1alpha1\nkind: ClusterOverlay\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  \
         clusters: {clusters}\n{more}  changes:\n  - target: {{group: kuadrant.io, kind: RateLimitPolicy, name: \
         per-route}}\n    set:\n    - {set}\n"
    )
}

/// The same for the target of this kind and name.
fn overlay_of(target: &str, clusters: &str, set: &str) -> String {
    let limit = "{group: kuadrant.io, kind: RateLimitPolicy, name: per-route}";
    overlay("other", clusters, "", set)
        .replace(limit, &format!("{{group: gateway.networking.k8s.io, {target}}}"))
}

const LIMIT: &str = "{path: \"spec.limits.all.rates[0].limit\", value: 500}";

/// What `init` writes, and these overlays.
fn hub(overlays: &[String]) -> Scratch {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    scratch.write("hub/overlays.yaml", &overlays.join("---\n"));
    scratch
}

fn limit_on(scratch: &Scratch, cluster: &str) -> bool {
    scratch
        .read(&format!("rendered/{cluster}/ratelimitpolicy-shop-per-route.yaml"))
        .contains("limit: 500")
}

#[test]
fn one_cluster_gets_another_value_and_every_answer_says_so() {
    let scratch = hub(&[overlay("us", "{names: [us-1]}", "", LIMIT)]);
    scratch
        .run(&["render", "--report", "report.json"])
        .exits(0)
        .says("1 overlay changes 1 object on us-1");
    assert_eq!(
        (limit_on(&scratch, "us-1"), limit_on(&scratch, "eu-1")),
        (true, false)
    );
    let report: kube_json::Value = serde_json::from_str(&scratch.read("report.json")).expect("JSON");
    let change = &report["overlays"][0];
    assert_eq!(change["overlay"], "clusteroverlay.spokewright.dev:shop/us");
    assert_eq!(change["object"], "ratelimitpolicy.kuadrant.io:shop/per-route");
    assert_eq!(change["clusters"][0], "us-1");
    assert_eq!(change["fields"][0]["hub"], 100);
    assert_eq!(change["fields"][0]["here"], 500);
    for object in ["ratelimitpolicy/shop/per-route", "clusteroverlay/shop/us"] {
        scratch
            .run(&["explain", object])
            .exits(0)
            .prints("spec.limits.all.rates[0].limit: 100 -> 500");
    }
    let here = scratch.run(&["explain", "ratelimitpolicy/shop/per-route", "--cluster", "us-1"]);
    // Once for the policy, and once for each result that the field is a part of.
    let is_said = here.exits(0).stdout.matches("limit: 100 -> 500\n").count() > 1;
    assert!(is_said && !here.stdout.contains("500 -> 500"), "{here:?}");
    let policies = scratch.run(&["policies"]);
    policies.prints("\n    on us-1: clusteroverlay/shop/us changes it\n");
    scratch.run(&["graph"]).prints(", changed on us-1\"]");
    let elsewhere = scratch.run(&["explain", "clusteroverlay/shop/us", "--cluster", "eu-1"]);
    assert!(!elsewhere.stdout.contains("-> 500"), "{elsewhere:?}");
    let without = scratch.run(&["diff", "--without", "clusteroverlay/shop/us"]);
    let is_said = without.exits(1).stdout.contains("rates[0].limit: 500 -> 100");
    assert!(is_said, "{without:?}");
}

#[test]
fn an_object_that_no_cluster_gets_is_not_shipped() {
    let route = overlay(
        "web",
        "{names: [us-1]}",
        "",
        "{path: 'spec.hostnames[0]', value: a.example}",
    )
    .replace(
        "kuadrant.io, kind: RateLimitPolicy, name: per-route",
        "gateway.networking.k8s.io, kind: HTTPRoute, name: web",
    );
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    scratch.write("hub/shop/overlay.yaml", &route);
    scratch
        .run(&["check"])
        .exits(0)
        .prints("changes nothing on us-1: HTTPRoute shop/web is not shipped: another tool delivers it");
}

/// On eu-1, a local policy overrides the changed one as a whole: it does not get there.
#[test]
fn every_answer_names_the_clusters_that_get_the_changed_object_and_no_others() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    let overlay = scratch.read("hub/shop/overlay.yaml");
    let everywhere = overlay.replace("names: [eu-2]", "labelSelector: {}");
    scratch.write("hub/shop/overlay.yaml", &everywhere);
    let render = scratch.run(&["render"]);
    render.exits(0).says("1 overlay changes 1 object on eu-2, us-1\n");
    let policies = scratch.run(&["policies"]);
    policies.prints("\n    on eu-2, us-1: clusteroverlay/shop/eu-2-sale changes it\n");
    scratch.run(&["graph"]).prints(", changed on eu-2, us-1\"]");
    let on_eu_1 = scratch.run(&["policies", "--cluster", "eu-1"]);
    assert!(!on_eu_1.exits(0).stdout.contains("changes it"), "{on_eu_1:?}");
}

#[test]
fn a_change_of_an_overlay_stands_at_the_top_with_its_clusters() {
    let scratch = Scratch::new();
    for name in ["fleet", "before"] {
        scratch.run(&["init", name, "-q"]).exits(0);
    }
    scratch.write(
        "fleet/hub/overlays.yaml",
        &overlay("us", "{names: [us-1]}", "", LIMIT),
    );
    let run = scratch.run(&["diff", "fleet", "--base-dir", "before"]);
    let is_said = run
        .exits(1)
        .stdout
        .contains("ClusterOverlay shop/us is added, for us-1");
    assert!(is_said, "{run:?}");
}

#[test]
fn what_cannot_be_applied_is_an_error_at_its_field_and_nothing_is_written() {
    let us = "{names: [us-1]}";
    for (overlays, status, code, message) in [
        (
            vec![overlay("a", "{names: [us-2]}", "", LIMIT)],
            3,
            "overlay/unknown-cluster",
            "`us-2`",
        ),
        (
            vec![overlay("a", "{}", "", LIMIT)],
            3,
            "overlay/invalid",
            "`clusters` selects nothing",
        ),
        (
            vec![overlay("a", us, "", LIMIT).replace("per-route", "per-rout")],
            3,
            "overlay/target-not-found",
            "did you mean `per-route`?",
        ),
        (
            vec![overlay("a", us, "", &LIMIT.replace("rates", "rate"))],
            3,
            "overlay/path-not-found",
            "`rates`",
        ),
        (
            vec![overlay("a", us, "", "{path: spec.targetRef.name, value: x}")],
            3,
            "overlay/not-allowed",
            "spec.targetRef",
        ),
        (
            vec![overlay(
                "a",
                us,
                "",
                "{path: \"spec.limits.all.rates[0].window\", value: '${cluster.labels[\"x\"]}'}",
            )],
            3,
            "overlay/no-value",
            "us-1 has no label `x`",
        ),
        (
            vec![
                overlay("a", us, "", LIMIT),
                overlay("b", us, "", &LIMIT.replace("500", "400")),
            ],
            4,
            "overlay/conflict",
            "on us-1: 500 and 400",
        ),
        (
            vec![overlay("a", us, "", &LIMIT.replace("500", "many"))],
            3,
            "object/schema",
            "with ClusterOverlay shop/a",
        ),
    ] {
        let scratch = hub(&overlays);
        scratch
            .run(&["render"])
            .exits(status)
            .says(&format!("error[{code}]"))
            .says(message)
            .says("hub/overlays.yaml");
        assert!(!scratch.path("rendered").exists(), "{code}");
    }
}

#[test]
fn the_higher_priority_wins_and_the_other_one_is_said_to_have_no_effect() {
    let low = overlay("low", "{names: [us-1]}", "", &LIMIT.replace("500", "400"));
    let high = overlay("high", "{labelSelector: {}}", "  priority: 1\n", LIMIT);
    let scratch = hub(&[low, high]);
    scratch
        .run(&["render"])
        .exits(0)
        .says("warning[overlay/no-effect]")
        .says("ClusterOverlay shop/low");
    assert!(limit_on(&scratch, "us-1") && limit_on(&scratch, "eu-1"));
}

#[test]
fn a_set_cannot_differ_by_cluster_and_the_overlay_is_named() {
    let scratch = hub(&[overlay("us", "{names: [us-1]}", "", LIMIT)]);
    scratch
        .run(&["render", "--work-kind", "replica-set"])
        .exits(4)
        .says("error[placement/not-uniform]");
    let everywhere = overlay("all", "{labelSelector: {}}", "", LIMIT);
    let scratch = hub(&[everywhere]);
    let run = scratch.run(&["render", "--work-kind", "replica-set"]);
    assert!(
        !run.stderr
            .contains("RateLimitPolicy shop/per-route: it is not the same"),
        "{run:?}"
    );
}

/// The error is in the overlay, and what is wrong is the route: nothing else is concluded from the route, as if the hub held it.
#[test]
fn an_error_that_an_overlay_makes_in_a_route_explains_a_rule_that_is_not_found() {
    let rename = "{path: \"spec.rules[0].name\", value: shops}";
    let wrong = "{path: \"spec.rules[0].matches[0].path.value\", value: no-slash}";
    let missing = "error[policy/target-not-found]: HTTPRoute shop/shop has no rule `shop`";
    let route = |clusters: &str, sets: &str| overlay_of("kind: HTTPRoute, name: shop", clusters, sets);
    let is_said_of = |overlays: &[String], finding: &str| {
        let scratch = hub(overlays);
        scratch.edit(
            "hub/policies.yaml",
            "kind: HTTPRoute\n    name: shop\n",
            "kind: HTTPRoute\n    name: shop\n    sectionName: shop\n",
        );
        scratch.run(&["check"]).exits(3).stdout.contains(finding)
    };
    let is_said = |sets: &str, finding: &str| is_said_of(&[route("{names: [us-1]}", sets)], finding);
    assert!(is_said(rename, missing));
    let both = format!("{rename}\n    - {wrong}");
    assert!(is_said(
        &both,
        "error[route/invalid]: HTTPRoute shop/shop: the path `no-slash`"
    ));
    assert!(!is_said(&both, missing));
    let in_brackets = both.replace("spec.rules", "spec[\\\"rules\\\"]");
    assert!(!is_said(&in_brackets, missing));
    // An error on another cluster explains nothing here.
    let elsewhere = route("{names: [eu-1]}", wrong).replace("name: other", "name: elsewhere");
    let apart = [route("{names: [us-1]}", rename), elsewhere];
    assert!(is_said_of(
        &apart,
        "error[route/invalid]: HTTPRoute shop/shop: the path `no-slash`"
    ));
    assert!(is_said_of(&apart, missing));
}

#[test]
fn what_overlays_mend_on_every_cluster_is_wrong_nowhere() {
    let mended = |clusters: &str| {
        let rename = "{path: \"spec.rules[0].name\", value: items}";
        let scratch = hub(&[overlay_of("kind: HTTPRoute, name: shop", clusters, rename)]);
        scratch.edit(
            "hub/policies.yaml",
            "kind: HTTPRoute\n    name: shop\n",
            "kind: HTTPRoute\n    name: shop\n    sectionName: items\n",
        );
        scratch
    };
    let missing = "error[policy/target-not-found]: HTTPRoute shop/shop has no rule `items`";
    mended("{labelSelector: {}}").run(&["render"]).exits(0);
    let one = mended("{names: [us-1]}");
    one.run(&["render"]).exits(3).says(missing);
    one.run(&["render", "--clusters", "us-1"]).exits(0);
    one.run(&["render", "--clusters", "eu-1"]).exits(3).says(missing);
}

#[test]
fn what_an_overlay_breaks_on_a_cluster_that_gets_nothing_is_not_wrong() {
    let port = "{path: \"spec.listeners[name=http].port\", value: 8080}";
    let on = |clusters: &str| {
        let scratch = hub(&[overlay_of("kind: Gateway, name: web", clusters, port)]);
        scratch.edit(
            "hub/route.yaml",
            "  - name: web\n",
            "  - name: web\n    port: 80\n",
        );
        let placement = scratch.read("hub/placement.yaml");
        let us = "  predicates:\n  - requiredClusterSelector: {labelSelector: {matchLabels: {region: us}}}\n";
        let text = format!(
            "{}\n{us}",
            placement.split("  # To select").next().unwrap_or_default()
        );
        scratch.write("hub/placement.yaml", &text);
        scratch
    };
    let missing = "error[route/not-attached]";
    on("{names: [us-1]}").run(&["render"]).exits(3).says(missing);
    on("{names: [eu-1]}")
        .run(&["render"])
        .exits(0)
        .says("overlay/no-effect");
}
