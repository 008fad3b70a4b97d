//! `policies` and `explain`: which policy applies, and why (docs/policies.md).

use kube_json::Value;

use crate::scratch::{Scratch, copy, fixtures};

fn fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    scratch.remove("hub/shop/overlay.yaml");
    scratch
}

#[test]
fn explain_a_gateway_names_every_setting_with_its_policy_file_and_line() {
    let run = fleet().run(&["explain", "gateway/storefront", "-q"]);
    run.exits(0);
    for text in [
        "Gateway shop/storefront  hub/shop/gateway.yaml:",
        "clusters: eu-1, eu-2, us-1",
        "RateLimitPolicy (kuadrant.io)",
        "Gateway shop/storefront > listener api > HTTPRoute shop/catalogue > rule-1",
        "from ratelimitpolicy/shop/api-burst  hub/shop/limits.yaml:",
        "overridden: per-client of ratelimitpolicy/shop/per-client",
        "ratelimitpolicy/shop/api-burst wins: the more specific level wins over defaults",
        "AccessLogPolicy (edge.acme.example)",
    ] {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
}

#[test]
fn explain_a_policy_says_its_reach_and_what_would_change_without_it() {
    let run = fleet().run(&["explain", "ratelimitpolicy/shop/api-burst", "-q"]);
    run.exits(0);
    for text in [
        "Enforced=True (Enforced)",
        "affects 2 clusters, 1 Gateway, 1 listener, 1 route",
        "on eu-1: RateLimitPolicy is overridden by [kuadrant-shop/maintenance]",
        "If it were deleted",
        "per-client: added (from ratelimitpolicy/shop/per-client)\n      counters  ",
    ] {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
}

#[test]
fn explain_a_policy_of_a_cluster_lists_the_policies_that_it_overrides_and_where() {
    let scratch = fleet();
    let maintenance = "ratelimitpolicy/kuadrant-shop/maintenance";
    let run = scratch.run(&["explain", maintenance, "-o", "json"]);
    let explained: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let overrides: Vec<(&Value, &Value, &Value)> = explained["policy"]["overrides"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|loser| (&loser["policy"], &loser["clusters"], &loser["path"]))
        .collect();
    let (burst, client) = (
        Value::from("ratelimitpolicy.kuadrant.io:shop/api-burst"),
        Value::from("ratelimitpolicy.kuadrant.io:shop/per-client"),
    );
    let (clusters, path) = (Value::from(vec!["eu-1"]), Value::from("hub/shop/limits.yaml"));
    assert_eq!(
        overrides,
        [(&burst, &clusters, &path), (&client, &clusters, &path)]
    );
    let run = scratch.run(&["explain", maintenance, "-q"]);
    run.prints("  overrides ratelimitpolicy/shop/api-burst  hub/shop/limits.yaml:");
    run.prints("    on eu-1\n");
}

#[test]
fn explain_on_a_cluster_shows_what_lives_there() {
    let run = fleet().run(&["explain", "httproute/catalogue", "--cluster", "eu-1", "-q"]);
    run.exits(0);
    assert!(
        run.stdout
            .contains("from ratelimitpolicy/kuadrant-shop/maintenance  spokes/eu-1/limits.yaml:"),
        "{}",
        run.stdout
    );
    let elsewhere = fleet().run(&["explain", "httproute/catalogue", "--cluster", "us-1", "-q"]);
    assert!(!elsewhere.stdout.contains("maintenance"), "{}", elsewhere.stdout);
}

#[test]
fn an_object_that_is_not_there_is_a_usage_error_with_the_nearest() {
    let scratch = fleet();
    for (object, hint) in [
        ("gateway/storefrnt", "did you mean `gateway/shop/storefront`?"),
        ("gatway/storefront", "did you mean `gateway`?"),
        (
            "httproute/shop/catalog",
            "did you mean `httproute/shop/catalogue`?",
        ),
        ("storefront", "KIND/NAME"),
    ] {
        let run = scratch.run(&["explain", object, "-q"]);
        run.exits(2);
        assert!(
            run.stderr.contains(hint) || run.stderr.contains("storefront"),
            "{object}: {}",
            run.stderr
        );
        assert_eq!(run.stdout, "");
    }
    scratch
        .run(&["policies", "--cluster", "eu-9", "-q"])
        .exits(2)
        .says("eu-1");
}

#[test]
fn a_kind_may_carry_its_group_and_a_plural_is_a_kind() {
    let scratch = fleet();
    let plain = scratch
        .run(&["explain", "ratelimitpolicy/api-burst", "-q"])
        .stdout;
    for object in [
        "ratelimitpolicies/api-burst",
        "RateLimitPolicy.kuadrant.io/shop/api-burst",
    ] {
        assert_eq!(scratch.run(&["explain", object, "-q"]).stdout, plain, "{object}");
    }
}

#[test]
fn policies_as_json_is_a_policy_report() {
    let run = fleet().run(&["policies", "-o", "json", "-q"]);
    run.exits(0);
    let report: kube_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["kind"], "PolicyReport");
    let burst = report["policies"]
        .as_array()
        .and_then(|policies| {
            policies
                .iter()
                .find(|policy| policy["policy"] == "ratelimitpolicy.kuadrant.io:shop/api-burst")
        })
        .expect("the policy");
    assert_eq!(burst["clusters"], kube_json::json!(["eu-1", "eu-2", "us-1"]));
    assert_eq!(burst["enforced"]["reason"], "Enforced");
    assert_eq!(burst["onClusters"][0]["enforced"]["reason"], "Overridden");
}

#[test]
fn seen_from_a_cluster_a_policy_goes_to_that_cluster_only() {
    let run = fleet().run(&["policies", "--cluster", "eu-1", "-q"]);
    run.exits(0);
    assert!(
        run.stdout.contains("ratelimitpolicy/kuadrant-shop/maintenance\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("us-1"), "{}", run.stdout);
}

/// Each bad input of policies: a finding at its place, the rest still explained.
#[test]
fn bad_policies_are_findings_and_the_rest_is_still_explained() {
    let policy = |spec: &str| {
        format!(
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: bad, namespace: shop}}\nspec:\n{spec}\n"
        )
    };
    let target = "  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: storefront}\n";
    for (name, code, text, place) in [
        (
            "both wrappers",
            "policy/",
            policy(&format!(
                "{target}  defaults: {{limits: {{a: {{rates: [{{limit: 1, window: 1s}}]}}}}}}\n  overrides: {{limits: {{}}}}"
            )),
            "hub/shop/bad.yaml:",
        ),
        (
            "both target forms",
            "policy/",
            policy(&format!("{target}  targetRefs: []")).replace(
                "kuadrant.io/v1\nkind: RateLimitPolicy",
                "gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy",
            ),
            "hub/shop/bad.yaml:",
        ),
        (
            "an unknown strategy",
            "object/schema",
            policy(&format!(
                "{target}  defaults: {{strategy: fuse, limits: {{a: {{}}}}}}"
            )),
            "hub/shop/bad.yaml:",
        ),
        (
            "a group with a version",
            "policy/",
            policy(
                "  targetRef: {group: gateway.networking.k8s.io/v1, kind: Gateway, name: storefront}\n  limits: {}",
            ),
            "hub/shop/bad.yaml:5:",
        ),
        (
            "a kind that may not be targeted",
            "policy/",
            policy("  targetRef: {group: \"\", kind: Service, name: web}\n  limits: {}"),
            "hub/shop/bad.yaml:5:",
        ),
    ] {
        let scratch = fleet();
        scratch.write("hub/shop/bad.yaml", &text);
        let run = scratch.run(&["policies"]);
        assert!([3, 4].contains(&run.status), "{name}: {run:?}");
        run.says(&format!("error[{code}"))
            .says(&format!("--> {place}"))
            .does_not_say("panicked");
        assert!(
            run.stdout.contains("shop/api-burst"),
            "{name}: the rest is explained\n{}",
            run.stdout
        );
    }
}

#[test]
fn a_policy_that_lives_on_the_cluster_and_wins_wholly_is_named_with_what_holds_instead() {
    let scratch = fleet();
    let explain = |options: &[&str]| {
        let command = ["explain", "ratelimitpolicy/shop/api-burst", "-q"];
        let run = scratch.run(&[&command[..], options].concat());
        run.exits(0);
        run.stdout
    };
    let text = explain(&["--cluster", "eu-1"]);
    assert!(
        text.contains(
            "  affects nothing\n  ratelimitpolicy/kuadrant-shop/maintenance lives on the cluster, so this one is withheld  \
             spokes/eu-1/limits.yaml:4\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("from ratelimitpolicy/kuadrant-shop/maintenance"),
        "{text}"
    );
    assert!(!explain(&["--cluster", "us-1"]).contains("is withheld"));
    let json: Value = serde_json::from_str(&explain(&["--cluster", "eu-1", "-o", "json"])).expect("JSON");
    assert_eq!(
        json["policy"]["overriddenBy"][0],
        kube_json::json!({
            "policy": "ratelimitpolicy.kuadrant.io:kuadrant-shop/maintenance",
            "local": true,
            "path": "spokes/eu-1/limits.yaml",
            "line": 4,
        })
    );
}

#[test]
fn what_one_cluster_shows_is_no_advice_to_remove_a_policy() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}",
    );
    let gateway = scratch.read("hub/gateway.yaml");
    scratch.write(
        "hub/other.yaml",
        &gateway
            .replace("prod-web", "other")
            .replace("placement: edge", "placement: us"),
    );
    scratch.edit("hub/decisions.yaml", "{clusterName: us-1, reason: \"\"}", "");
    let decisions = scratch.read("hub/decisions.yaml");
    scratch.write(
        "hub/more.yaml",
        &decisions
            .replace("edge", "us")
            .replace("clusterName: eu-1", "clusterName: us-1"),
    );
    scratch.edit("hub/limits.yaml", "defaults:", "overrides:");
    scratch.write(
        "hub/routes.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: cart, namespace: gateways}\n\
         spec: {parentRefs: [{name: prod-web}, {name: other}], rules: [{}]}\n---\n\
         apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: cart, namespace: gateways}\nspec:\n  \
         targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}\n  \
         limits: {own: {rates: [{limit: 7, window: 10s}]}}\n",
    );
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\"",
        "\"resourcesToSync\": [{\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \
         \"httproutes\"}], \"policiesToSync\"",
    );
    let policies = |options: &[&str]| {
        let run = scratch.run(&[&["policies", "hub", "--color", "never"], options].concat());
        run.exits(0);
        assert!(!run.stderr.contains("policy/overridden"), "{}", run.stderr);
        run.stdout
    };
    // The findings are those of all clusters: on another one, the policy is in effect.
    let cart = "ratelimitpolicy/gateways/cart    httproute/gateways/cart        ";
    let on_cluster = policies(&["--cluster", "eu-1"]);
    assert!(on_cluster.contains(&format!("{cart}Overridden")), "{on_cluster}");
    let elsewhere = policies(&["--cluster", "us-1"]);
    let cart = "ratelimitpolicy/gateways/cart  httproute/gateways/cart  ";
    assert!(elsewhere.contains(&format!("{cart}Enforced")), "{elsewhere}");
    policies(&[]);
}

#[test]
fn on_a_cluster_there_are_only_policies_that_go_or_live_there() {
    let scratch = fleet();
    let policies = |options: &[&str]| {
        let run = scratch.run(&[&["policies", "-q", "-o", "json"], options].concat());
        run.exits(0);
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let names = report["policies"].as_array().expect("a list").iter();
        let names: Vec<String> = names.map(|policy| policy["policy"].to_string()).collect();
        (names.join(" "), report["withoutPaths"].clone())
    };
    // us-1 has no folder of its own, and the Gateway of payments does not go there.
    let (names, without) = policies(&["--cluster", "us-1"]);
    assert!(
        names.contains("shop/api-burst") && !names.contains("payments"),
        "{names}"
    );
    assert_eq!(without, Value::Null);
    let (names, _) = policies(&["--cluster", "eu-1"]);
    assert!(names.contains("payments/ceiling"), "{names}");
    assert!(names.contains("kuadrant-shop/maintenance"), "{names}");
    let (names, _) = policies(&[]);
    assert!(names.contains("payments/ceiling"), "{names}");
}

#[test]
fn patches_are_explained_in_the_order_in_which_they_apply() {
    let scratch = Scratch::new();
    let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\n\
                   spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n---\n\
                   apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: storefront, namespace: shop}\n\
                   spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";
    let patch = |name: &str, priority: i8| {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyPatchPolicy\nmetadata: {{name: {name}, namespace: shop}}\n\
             spec:\n  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: storefront}}\n  \
             priority: {priority}\n  type: JSONPatch\n"
        )
    };
    let text = gateway.to_owned() + &patch("first-by-name", 5) + &patch("last-by-name", -5);
    scratch.write("all.yaml", &text);
    let run = scratch.run(&["explain", "gateway/shop/storefront", ".", "-q"]);
    let found = |name: &str| {
        run.stdout
            .find(&format!("from envoypatchpolicy/shop/{name}"))
            .expect("it is explained")
    };
    assert!(found("last-by-name") < found("first-by-name"), "{}", run.stdout);
}

#[test]
fn a_merge_type_has_no_place_in_a_policy_of_a_gateway() {
    let scratch = fleet();
    let text = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: s, namespace: shop}\n\
                spec:\n  mergeType: JSONMerge\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: storefront}]\n";
    scratch.write("hub/shop/security.yaml", text);
    let run = scratch.run(&["check"]);
    for text in [
        "[policy/invalid]: SecurityPolicy shop/s: a policy on a Gateway cannot have a `mergeType`",
        "--> hub/shop/security.yaml:5:",
        "remove `mergeType`, or target routes",
    ] {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
}

/// The report of a command as JSON.
fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let run = scratch.run(&[arguments, &["-q", "-o", "json"]].concat());
    serde_json::from_str(&run.exits(0).stdout).expect("JSON")
}

/// The entry of a list whose field is this text.
fn entry<'v>(list: &'v Value, field: &str, text: &str) -> &'v Value {
    let mut entries = list.as_array().expect("a list").iter();
    entries.find(|entry| entry[field] == text).expect(text)
}

const STOREFRONT: &str = "gateway.gateway.networking.k8s.io:shop/storefront";
const WEB: &str = "httproute.gateway.networking.k8s.io:shop/web";

#[test]
fn the_report_lists_what_there_is_also_where_no_policy_holds() {
    let scratch = fleet();
    for file in ["authentication.yaml", "limits.yaml"] {
        std::fs::remove_file(scratch.path("hub/shop").join(file)).expect("a file of the example");
    }
    // The paths do not depend on where the command runs.
    let report = json(
        &scratch,
        &["policies", scratch.path(".").to_str().expect("UTF-8")],
    );
    let gateway = entry(&report["gateways"], "gateway", STOREFRONT);
    assert_eq!(
        (&gateway["path"], &gateway["placement"]),
        (&"hub/shop/gateway.yaml".into(), &"shop/everywhere".into())
    );
    let listener = entry(&gateway["listeners"], "listener", &format!("{STOREFRONT}#web"));
    assert_eq!(
        (&listener["hostname"], &listener["port"]),
        (&"shop.acme.example".into(), &443.into())
    );
    let route = entry(&report["routes"], "route", WEB);
    assert_eq!(
        (&route["path"], &route["line"]),
        (&"hub/shop/routes.yaml".into(), &3.into())
    );
    assert_eq!(route["attached"][0]["listener"], format!("{STOREFRONT}#web"));
    assert_eq!(route["rules"][0]["matches"][0], "/");
    let outcomes = report["outcomes"].as_array().expect("a list").iter();
    let paths = outcomes
        .filter(|outcome| outcome["kind"] == "AuthPolicy")
        .flat_map(|outcome| outcome["paths"].as_array().expect("a list"));
    let on_the_route = |path: &&Value| path.as_array().expect("a path").contains(&WEB.into());
    assert_eq!(paths.filter(on_the_route).count(), 0, "nobody asks who calls");
}

#[test]
fn a_cluster_where_something_lives_is_an_exception_with_what_is_overridden_there() {
    let report = json(&fleet(), &["policies"]);
    let exceptions = report["exceptions"].as_array().expect("a list");
    let [exception] = exceptions.as_slice() else {
        panic!("{exceptions:#?}");
    };
    assert_eq!(exception["clusters"], kube_json::json!(["eu-1"]));
    let outcome = |field: &str| {
        let position = exception[field].as_u64().expect("a position");
        &report["outcomes"][usize::try_from(position).expect("a short list")]
    };
    let usual = entry(&outcome("usual")["settings"], "setting", "writes");
    // The line of the name, and not that of the first line of the value.
    assert_eq!(
        (&usual["path"], &usual["line"]),
        (&"hub/shop/limits.yaml".into(), &35.into())
    );
    let here = outcome("here");
    let maintenance = "ratelimitpolicy.kuadrant.io:kuadrant-shop/maintenance";
    assert_eq!(here["settings"][0]["policy"], maintenance);
    let lost = entry(&here["overridden"], "setting", "writes");
    assert_eq!(lost["value"]["rates"][0]["limit"], 20);
    assert_eq!(lost["by"], kube_json::json!([maintenance]));
    assert_eq!(
        (&lost["path"], &lost["line"]),
        (&"hub/shop/limits.yaml".into(), &35.into())
    );
    let burst = entry(
        &report["policies"],
        "policy",
        "ratelimitpolicy.kuadrant.io:shop/api-burst",
    );
    assert_eq!(burst["targets"], kube_json::json!([format!("{STOREFRONT}#api")]));
    assert_eq!(burst["path"], "hub/shop/limits.yaml");
}

#[test]
fn explain_as_json_has_values_and_places_of_what_is_overridden_and_what_would_be() {
    let scratch = fleet();
    let root = scratch.path(".");
    let explained = json(
        &scratch,
        &[
            "explain",
            "ratelimitpolicy/shop/api-burst",
            root.to_str().expect("UTF-8"),
        ],
    );
    assert_eq!(explained["path"], "hub/shop/limits.yaml");
    let lost = entry(&explained["effective"][0]["overridden"], "setting", "per-client");
    assert_eq!(lost["value"]["rates"][0]["limit"], 100);
    assert_eq!(
        (&lost["path"], &lost["line"]),
        (&"hub/shop/limits.yaml".into(), &15.into())
    );
    let changes = &explained["policy"]["ifDeleted"][0];
    assert_eq!(changes["clusters"], kube_json::json!(["eu-2", "us-1"]));
    let writes = entry(&changes["changes"], "setting", "writes");
    assert_eq!(writes["before"]["rates"][0]["limit"], 20);
    assert_eq!(writes.get("after"), None);
    let instead = entry(&changes["changes"], "setting", "per-client");
    assert_eq!(
        instead["afterFrom"],
        "ratelimitpolicy.kuadrant.io:shop/per-client"
    );
}

#[test]
fn a_policy_that_its_controller_refuses_is_said_to_be_refused_and_covers_nothing() {
    let scratch = Scratch::with_worked_example();
    // Its Gateway is one of others: nothing of it is rendered, so nothing of it stops a run.
    scratch.edit("hub/class.yaml", "kuadrant.io/mgc-gw-controller", "x.org/y");
    let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: gateways}\n\
                 spec: {parentRefs: [{name: prod-web}], rules: [{name: all}]}\n";
    let policy = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: p, namespace: \
                  gateways}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]\n  \
                  connection: {bufferLimit: 8Gi}\n";
    scratch
        .write("hub/route.yaml", route)
        .write("hub/policy.yaml", policy);
    let refused = "    refused: backendtrafficpolicy/gateways/p  hub/policy.yaml:1\n";
    let path = "  Gateway gateways/prod-web > HTTPRoute gateways/r > all\n";
    let all = scratch.run(&["policies", "hub", "--effective"]);
    all.prints(&format!("{path}{refused}"));
    for asked in ["httproute/gateways/r", "GET https://a.example.com/"] {
        scratch.run(&["explain", asked, "hub"]).prints(refused);
    }
    let own = scratch.run(&["explain", "backendtrafficpolicy/gateways/p", "hub"]);
    assert!(
        own.stdout.contains("  affects nothing\n") && own.stdout.contains(refused),
        "{}",
        own.stdout
    );
    let report: kube_json::Value =
        serde_json::from_str(&scratch.run(&["policies", "hub", "-o", "json"]).stdout).expect("a report");
    let entries = report["effective"].as_array().expect("entries").iter();
    let refused: Vec<&kube_json::Value> = entries.filter_map(|entry| entry.get("refused")).collect();
    assert_eq!(
        refused,
        [&kube_json::json!([
            "backendtrafficpolicy.gateway.envoyproxy.io:gateways/p"
        ])]
    );
}

#[test]
fn a_policy_has_one_line_and_below_it_where_it_fares_otherwise() {
    let run = fleet().run(&["policies", "-q"]);
    run.exits(0);
    assert_eq!(
        run.stdout,
        "\
POLICY                               TARGET                       STATE CLUSTERS
accesslogpolicy/platform/access-log  gateway/shop/storefront      Programmed   3
authpolicy/payments/tokens           gateway/payments/payments    Enforced     2
authpolicy/shop/api-keys             gateway/shop/storefront      Enforced     3
ratelimitpolicy/kuadrant-shop/maintenance
                                     gateway/shop/storefront#api  Enforced     1
    lives on: eu-1
ratelimitpolicy/payments/ceiling     gateway/payments/payments    Enforced     2
ratelimitpolicy/shop/api-burst       gateway/shop/storefront#api  Enforced     3
    on eu-1: RateLimitPolicy is overridden by [kuadrant-shop/maintenance]
ratelimitpolicy/shop/per-client      gateway/shop/storefront      Partial      3
    on eu-1: RateLimitPolicy has been partially enforced, in part overridden by
      [kuadrant-shop/maintenance]
tlspolicy/payments/certificates      gateway/payments/payments    Enforced     2
tlspolicy/shop/certificates          gateway/shop/storefront      Enforced     3
"
    );
    for line in run.stdout.lines() {
        assert!(line.len() <= 80, "{line}");
    }
}

#[test]
fn a_policy_that_is_not_in_effect_says_why_and_two_kinds_of_one_name_have_their_groups() {
    let scratch = Scratch::new();
    let policy = |group: &str, name: &str, target: &str| {
        format!(
            "apiVersion: {group}\nkind: RateLimitPolicy\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  \
             targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: {target}}}]\n---\n"
        )
    };
    let kuadrant = policy("kuadrant.io/v1", "a", "gone").replace("targetRefs: [", "targetRef: ");
    let kuadrant = kuadrant.replace("}]", "}\n  limits: {x: {rates: [{limit: 1, window: 1s}]}}");
    scratch.write(
        "all.yaml",
        &(kuadrant + &policy("gateway.nginx.org/v1alpha1", "a", "gone")),
    );
    let run = scratch.run(&["policies", "-q"]);
    for text in [
        "ratelimitpolicy.gateway.nginx.org/shop/a  <none>  TargetNotFound 0\n",
        "ratelimitpolicy.kuadrant.io/shop/a        <none>  TargetNotFound 0\n",
        "    RateLimitPolicy target gone was not found\n",
    ] {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
    let both = scratch.run(&["explain", "ratelimitpolicy/shop/a", "-q"]);
    both.exits(2).says(
        "help: write one of: ratelimitpolicy.gateway.nginx.org/shop/a, ratelimitpolicy.kuadrant.io/shop/a",
    );
}

#[test]
fn effective_settings_are_listed_once_for_all_paths_and_their_values_are_not_cut() {
    let run = fleet().run(&["policies", "--effective", "-q"]);
    run.exits(0);
    let expected = "\
AuthPolicy (kuadrant.io)
  Gateway shop/storefront > listener web > any route
  Gateway shop/storefront > listener api > any route
  Gateway shop/storefront > listener web > HTTPRoute shop/web > rule-1
  Gateway shop/storefront > listener api > HTTPRoute shop/catalogue > rule-1
  Gateway shop/storefront > listener api > HTTPRoute shop/catalogue > rule-2
    authentication#api-key
      apiKey
        allNamespaces  false
        selector  {\"matchLabels\":{\"acme.example/api-key\":\"storefront\"}}
      credentials  {\"authorizationHeader\":{\"prefix\":\"APIKEY\"}}
      metrics  false
      priority  0
      from authpolicy/shop/api-keys  hub/shop/authentication.yaml:17

";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    assert_eq!(run.stdout.matches("authentication#api-key").count(), 1);
    assert!(!run.stdout.contains("..."), "{}", run.stdout);
}

/// Whatever names an object is accepted wherever one is named.
#[test]
fn every_name_that_a_command_prints_can_be_pasted() {
    let scratch = fleet();
    let statuses = scratch.run(&["status", "-q"]).stdout;
    let table = scratch.run(&["policies", "-q"]).stdout;
    let report = json(&scratch, &["policies"]);
    let locators = report["policies"].as_array().expect("policies").iter();
    let locators = locators.map(|policy| policy["policy"].as_str().expect("a locator"));
    let texts = format!("{statuses}{table}");
    let words: Vec<&str> = texts.split_whitespace().collect();
    let mut names: std::collections::BTreeSet<String> = locators.map(str::to_owned).collect();
    for pair in words.windows(2) {
        let is_name = pair[1].contains('/')
            && pair[1]
                .chars()
                .all(|c| c.is_ascii_lowercase() || "/-#.1234567890".contains(c));
        // A sentence writes the kind before the name.
        let is_kind =
            pair[0].starts_with(|c: char| c.is_uppercase()) && pair[0].chars().any(char::is_lowercase);
        if is_name && is_kind && pair[1].matches('/').count() == 1 {
            names.insert(pair.join(" "));
        } else if is_name {
            names.insert(pair[1].to_owned());
        }
    }
    assert!(names.len() > 25, "{names:?}");
    let names: Vec<String> = names.into_iter().collect();
    std::thread::scope(|scope| {
        for some in names.chunks(names.len().div_ceil(4)) {
            let scratch = &scratch;
            scope.spawn(move || {
                for name in some {
                    scratch.run(&["explain", name, "-q"]).exits(0);
                }
            });
        }
    });
}

#[test]
fn one_object_has_one_answer_however_it_is_named_and_policies_gives_it_too() {
    let scratch = fleet();
    let answer = scratch.run(&["explain", "authpolicy/shop/api-keys", "-q"]);
    answer.exits(0).prints("AuthPolicy shop/api-keys  hub/shop/");
    for words in [
        "explain authpolicy/api-keys -n shop",
        "explain authpolicies api-keys -n shop .",
        "explain AuthPolicy shop/api-keys",
        "explain authpolicy.kuadrant.io/shop/api-keys",
        "explain shop/api-keys",
        "policies authpolicy/shop/api-keys",
        "policies AuthPolicy shop/api-keys .",
        "policies authpolicy/api-keys -n shop",
    ] {
        let arguments: Vec<&str> = words.split(' ').chain(["-q"]).collect();
        let run = scratch.run(&arguments);
        assert_eq!(run.exits(0).stdout, answer.stdout, "{words}");
    }
    let part = scratch.run(&["graph", "-q", "--only", "authpolicy/shop/api-keys"]);
    let same = scratch.run(&["graph", "-q", "--only", "AuthPolicies api-keys"]);
    assert_eq!(part.exits(0).stdout, same.exits(0).stdout);
    scratch
        .run(&["policies", "-n", "shop"])
        .exits(2)
        .says("error: `-n shop` has no object to go with");
    // What is on disk, or would be in a directory, is a path.
    scratch
        .run(&["policies", "hub", "-q"])
        .exits(0)
        .prints("authpolicy/shop/api-keys");
    scratch
        .run(&["policies", "hub/gone", "-q"])
        .says("cannot read `hub/gone`");
}

/// Of these kinds, no condition says that a policy is not on a cluster because another one lives there.
#[test]
fn a_policy_without_a_condition_about_its_effect_is_an_exception_where_another_lives() {
    for (controller, policy, kind, local) in [
        (
            "nginx",
            "clientsettingspolicy/shop/uploads ",
            "ClientSettingsPolicy",
            "kuadrant-shop/uploads-eu",
        ),
        (
            "gke",
            "gcpbackendpolicy/shop/timeouts ",
            "GCPBackendPolicy",
            "shop/timeouts-eu",
        ),
        (
            "gateway-api",
            "backendtlspolicy/shop/shop ",
            "BackendTLSPolicy",
            "shop/shop-eu",
        ),
    ] {
        let scratch = Scratch::new();
        scratch.run(&["init", "--policies", controller, "-q"]).exits(0);
        let below = |run: &crate::scratch::Run| {
            let mut lines = run.exits(0).stdout.lines().map(str::to_owned);
            lines
                .find(|line| format!("{line} ").starts_with(policy))
                .expect(policy);
            lines
                .take_while(|line| line.starts_with("  "))
                .collect::<Vec<_>>()
        };
        let message = format!("{kind} is overridden by [{local}]");
        let rows = below(&scratch.run(&["policies", "-q"]));
        assert_eq!(rows, [format!("    on eu-1: {message}")]);
        let rows = below(&scratch.run(&["status", "-q"])).concat();
        assert!(
            rows.starts_with("    on eu-1: Overridden True (Overridden): "),
            "{rows}"
        );
        scratch
            .run(&["explain", policy.trim(), "-q"])
            .prints(&format!("  on eu-1: {message}\n"));
        // On that cluster, nothing of it is in effect.
        let there = scratch.run(&["policies", "--cluster", "eu-1", "-q"]);
        assert_eq!(below(&there), [format!("    on eu-1: {message}")]);
        assert!(there.stdout.contains("Overridden"), "{}", there.stdout);
        // What is on no cluster has nothing to be accepted.
        let local = scratch.read("spokes/eu-1/policies.yaml");
        scratch.write("spokes/us-1/policies.yaml", &local);
        scratch.run(&["render", "-q"]).exits(0);
        let rows = below(&scratch.run(&["status", "-q", "--works", "rendered"])).concat();
        assert!(
            rows.starts_with("    on eu-1, us-1: Overridden True (Overridden): "),
            "{rows}"
        );
    }
}

/// The JSON has every outcome that the page shows, also of policies that apply to backends alone.
#[test]
fn outcomes_at_backends_are_in_the_json() {
    let scratch = Scratch::new();
    let hub = "said-and-shipped/policies-on-a-namespace-and-on-a-backend/hub";
    copy(&fixtures().join(hub), &scratch.path("hub"));
    let run = scratch.run(&["policies", "-o", "json", "-q"]);
    let report: Value = run.stdout.parse().expect("JSON");
    let outcomes = report["outcomes"].as_array().expect("outcomes");
    let mut of_backends = outcomes
        .iter()
        .filter(|outcome| outcome["kind"] == "BackendTLSPolicy");
    let path = &of_backends.next().expect("an outcome")["paths"][0];
    assert_eq!(
        path[path.as_array().expect("a path").len() - 1],
        "service:shop/cart"
    );
}
