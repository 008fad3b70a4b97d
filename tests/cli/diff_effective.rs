//! `diff`: which policy takes over, for which paths, on which clusters.

use kube_json::{Value, json};

use crate::repository::{at_hand, commit, git};
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
      Gateway shop/storefront > listener api
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
fn a_route_that_goes_takes_its_own_settings_along_and_nothing_else() {
    // What applies to any route applied to this one, which is not shipped.
    let scratch = fleet();
    let run = scratch.run(&["diff", "fleet", "-q", "--without", "httproute/shop/catalogue"]);
    run.exits(0);
    assert_eq!(run.stdout, "nothing changes on any cluster\n");
    let head = head(&[ROUTE, &on_route()], &[]);
    assert!(
        head.contains(
            "\n  SecurityPolicy app/on-a goes with its paths on c1\n    Gateway gw/web > HTTPRoute app/shop\n"
        ),
        "{head}"
    );
    assert!(!head.contains("loses"), "{head}");
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
            !run.stdout.contains("ratelimitpolicy.kuadrant.io/"),
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

/// A Gateway with two listeners, a route on both, and a policy on the Gateway.
const TWO_LISTENERS: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: multi}
spec: {controllerName: kuadrant.io/mgc-gw-controller, parametersRef: {group: "", kind: ConfigMap, name: p, namespace: conf}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: p, namespace: conf}
data:
  params: '{"policiesToSync": [{"group": "gateway.envoyproxy.io", "version": "v1alpha1", "resource": "securitypolicies"}],
    "resourcesToSync": [{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}]}'
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: all-1, namespace: gw, labels: {cluster.open-cluster-management.io/placement: all}}
status: {decisions: [{clusterName: c1, reason: ""}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: gw, labels: {cluster.open-cluster-management.io/placement: all}}
spec:
  gatewayClassName: multi
  listeners:
  - {name: a, port: 80, protocol: HTTP, hostname: "*.a.example.com", allowedRoutes: {namespaces: {from: All}}}
  - {name: b, port: 80, protocol: HTTP, hostname: "*.b.example.com", allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: auth, namespace: gw}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}], basicAuth: {users: {name: u}}}
"#;

const ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop, namespace: app}\n\
    spec: {parentRefs: [{name: web, namespace: gw}], rules: [{backendRefs: [{name: x, port: 80}]}]}\n";

/// A policy on one listener.
fn on_listener(name: &str) -> String {
    format!(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {{name: on-{name}, namespace: gw}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: web, sectionName: {name}}}], \
         cors: {{allowOrigins: [\"https://x.example.com\"]}}}}\n"
    )
}

/// A policy on the route.
fn on_route() -> String {
    let own = on_listener("a").replace(
        "kind: Gateway, name: web, sectionName: a",
        "kind: HTTPRoute, name: shop",
    );
    own.replace("namespace: gw}", "namespace: app}")
}

/// The first lines of `diff` of two listeners, before the objects.
fn head(old: &[&str], new: &[&str]) -> String {
    let scratch = Scratch::new();
    for (side, texts) in [("old", old), ("new", new)] {
        scratch.write(&format!("{side}/hub/all.yaml"), TWO_LISTENERS);
        for (number, text) in texts.iter().enumerate() {
            scratch.write(&format!("{side}/hub/{number}.yaml"), text);
        }
    }
    let run = scratch.run(&["diff", "new", "-q", "--base-dir", "old", "--format", "semantic"]);
    let objects = run.stdout.find("\n+ ").or_else(|| run.stdout.find("\n- "));
    run.stdout[..objects.unwrap_or(run.stdout.len())].to_owned()
}

#[test]
fn a_policy_on_one_listener_takes_from_that_one_what_it_does_not_set() {
    let head = head(&[ROUTE], &[ROUTE, &on_listener("a")]);
    insta::assert_snapshot!(head, @r#"
    1 of 1 cluster changes; in total, 1 object added, 0 changed, 0 removed

    lost
      SecurityPolicy loses basicAuth of gw/auth on listener a of gw/web, on c1

    new
      SecurityPolicy kuadrant-gw/on-a is added on c1

    changed
      SecurityPolicy gw/on-a instead of gw/auth on c1 (4 settings)

    objects on each of  added  changed  removed
    c1                      1        0        0

    effective settings that change
      SecurityPolicy gw/on-a instead of gw/auth on c1
        Gateway gw/web > listener a
          basicAuth.users.group: removed ""
          basicAuth.users.kind: removed Secret
          basicAuth.users.name: removed u
          cors.allowOrigins: added ["https://x.example.com"]
    "#);
}

#[test]
fn the_first_route_of_a_listener_takes_nothing_away() {
    let head = head(&[], &[ROUTE]);
    insta::assert_snapshot!(head, @r"
    1 of 1 cluster changes; in total, 2 objects added, 0 changed, 0 removed

    new
      Namespace app is added on c1
      HTTPRoute app/shop is added on c1

    objects on each of  added  changed  removed
    c1                      2        0        0
    ");
}

#[test]
fn a_new_route_that_opts_out_loses_what_applies_to_any_route() {
    let head = head(&[], &[ROUTE, &on_route()]);
    assert!(
        head.contains(
            "\nlost\n  SecurityPolicy loses basicAuth of gw/auth on HTTPRoute app/shop of gw/web, on c1\n"
        ),
        "{head}"
    );
}

#[test]
fn a_policy_that_is_overridden_everywhere_goes_without_a_loss() {
    let scratch = Scratch::new();
    scratch.write("hub/all.yaml", TWO_LISTENERS);
    scratch.write("hub/route.yaml", ROUTE);
    for name in ["a", "b"] {
        scratch.write(&format!("hub/{name}.yaml"), &on_listener(name));
    }
    let run = scratch.run(&[
        "diff",
        "-q",
        "--without",
        "securitypolicy/gw/auth",
        "--format",
        "json",
    ]);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["effectiveChanges"], json!([]), "{report}");
    assert_eq!(report["summary"]["objects"]["removed"], 1, "{report}");
    let run = scratch.run(&["explain", "securitypolicy/gw/auth", "-q"]);
    assert!(!run.stdout.contains("If it were deleted"), "{}", run.stdout);
    // Of the two that override it, each is in its place on one listener.
    let run = scratch.run(&["explain", "securitypolicy/gw/on-b", "-q"]);
    let part = run
        .stdout
        .split("If it were deleted\n")
        .nth(1)
        .unwrap_or_default();
    assert!(
        part.starts_with(
            "  Gateway gw/web > listener b\n    /basicAuth/users/group: nothing -> \"\" (from securitypolicy/gw/auth)\n"
        ),
        "{}",
        run.stdout
    );
}

#[test]
fn what_stays_in_the_input_and_leaves_all_clusters_comes_first_with_the_reason() {
    let scratch = Scratch::new();
    scratch.write("old/hub/all.yaml", TWO_LISTENERS);
    scratch.write("old/hub/route.yaml", ROUTE);
    scratch.write("new/hub/all.yaml", TWO_LISTENERS);
    scratch.write("new/hub/route.yaml", ROUTE);
    scratch.run(&["render", "new", "-o", "rendered", "-q"]).exits(0);
    scratch.edit(
        "new/hub/route.yaml",
        "rules:",
        "hostnames: [c.example.com], rules:",
    );
    let sentence = "HTTPRoute app/shop was shipped and is still in the input, but no cluster receives it any more: \
                    HTTPRoute app/shop is not shipped with Gateway gw/web: they have no hostname in common";
    for base in [["--base-dir", "old"], ["--base-tree", "rendered"]] {
        let run = scratch.run(&[&["diff", "new", "-q"], &base[..]].concat());
        let first = format!("\n\nlost\n  {sentence}\n");
        assert!(run.stdout.contains(&first), "{}", run.stdout);
    }
    let run = scratch.run(&["render", "new", "-o", "rendered"]);
    run.exits(0);
    assert!(
        run.stderr
            .starts_with(&format!("warning[object/withdrawn]: {sentence}\n")),
        "{}",
        run.stderr
    );
    // It is said once: the next output does not have it.
    let run = scratch.run(&["render", "new", "-o", "rendered"]);
    run.exits(0).does_not_say("object/withdrawn");
}

/// A Gateway with a second listener, which alone has an AuthPolicy, and a route on it.
fn hub_with_a_protected_listener() -> Option<Scratch> {
    at_hand()?;
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    let gateway = scratch.read("hub/gateway.yaml");
    let listener = &gateway[gateway.find("  - name: http").expect("a listener")..];
    let second = listener
        .replace("name: http", "name: inner")
        .replace("port: 80", "port: 8080");
    scratch.write("hub/gateway.yaml", &format!("{gateway}{second}"));
    scratch.edit(
        "hub/policies.yaml",
        "    name: web\n",
        "    name: web\n    sectionName: inner\n",
    );
    scratch.edit(
        "hub/route.yaml",
        "  - name: web\n",
        "  - name: web\n    sectionName: inner\n",
    );
    let root = scratch.path("");
    git(&root, &["init", "-q"]);
    commit(&root);
    Some(scratch)
}

#[test]
fn a_route_that_leaves_a_protected_listener_or_comes_to_another_one_too_loses_the_protection() {
    for parent in ["  - name: web\n    sectionName: http\n", "  - name: web\n"] {
        let Some(scratch) = hub_with_a_protected_listener() else {
            return;
        };
        scratch.edit(
            "hub/route.yaml",
            "  - name: web\n    sectionName: inner\n",
            parent,
        );
        let run = scratch.run(&["diff", "--max-lost-policies", "0"]);
        run.exits(4);
        let lost = run.stdout.split("\n\n").find(|part| part.starts_with("lost\n"));
        let lost = lost.unwrap_or_else(|| panic!("{}", run.stdout));
        assert!(
            lost.contains("AuthPolicy loses authentication#token of shop/signed-in on")
                && lost.contains("listener http"),
            "{lost}"
        );
    }
}

#[test]
fn a_route_that_comes_to_a_listener_with_more_loses_nothing() {
    let Some(scratch) = hub_with_a_protected_listener() else {
        return;
    };
    scratch.edit(
        "hub/route.yaml",
        "    sectionName: inner\n",
        "    sectionName: http\n",
    );
    commit(&scratch.path(""));
    scratch.edit(
        "hub/route.yaml",
        "    sectionName: http\n",
        "    sectionName: inner\n",
    );
    let run = scratch.run(&["diff", "--max-lost-policies", "0"]);
    run.exits(1);
    assert!(!run.stdout.contains("loses"), "{}", run.stdout);
}

#[test]
fn a_gateway_that_is_renamed_is_a_new_gateway_with_another_address() {
    let scratch = fleet();
    for entry in std::fs::read_dir(scratch.path("fleet/hub/shop")).unwrap() {
        let file = entry.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("name: storefront\n", "name: shopfront\n")).unwrap();
    }
    let access_log = "fleet/hub/platform/access-log.yaml";
    scratch.write(
        access_log,
        &scratch
            .read(access_log)
            .replace("name: storefront", "name: shopfront"),
    );
    let lost = |run: &crate::scratch::Run| {
        let text = run.stdout.clone();
        let line = text.lines().find(|line| line.contains("storefront leaves"));
        line.unwrap_or_default().to_owned()
    };
    let arguments = ["diff", "fleet", "--base-dir", "before", "--format", "semantic"];
    let renamed = "  Gateway kuadrant-shop/storefront leaves all 3 clusters; Gateway kuadrant-shop/shopfront comes with the \
                   same listeners: a new Gateway, at a new address";
    assert_eq!(lost(&scratch.run(&arguments)), renamed);
    // Another one is no rename.
    scratch.edit(
        "fleet/hub/shop/gateway.yaml",
        "hostname: shop.acme.example",
        "hostname: acme.example",
    );
    assert!(!lost(&scratch.run(&arguments)).contains("same listeners"));
}
