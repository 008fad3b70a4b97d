//! What becomes of each target of a policy: shipped with it, or said once why not; and errors in policies of others.

use crate::scratch::{Run, Scratch};

const OBJECTS: &str = r#"---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: gateways}
spec: {parentRef: {name: prod-web}, listeners: [{name: extra, port: 8443, protocol: HTTPS}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: istio}
spec: {controllerName: istio.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: theirs, namespace: others}
spec: {gatewayClassName: istio, listeners: [{name: a, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: stays, namespace: gateways}
spec: {parentRefs: [{name: prod-web}], rules: [{name: all, backendRefs: [{name: cart, port: 80}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: theirs, namespace: others}
spec: {parentRefs: [{name: theirs}], rules: [{backendRefs: [{name: theirs, port: 80}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: loose, namespace: gateways}
spec: {parentRefs: [{name: nowhere}], rules: [{backendRefs: [{name: loose, port: 80}]}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: gateways}
---
apiVersion: v1
kind: Service
metadata: {name: mesh, namespace: gateways}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: empty}
"#;

const GATEWAY_API: &str = "gateway.networking.k8s.io";

/// A hub with something of every kind that a policy can target.
fn hub() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:",
        "  allowedListeners: {namespaces: {from: All}}\n  listeners:",
    );
    scratch.add_colors(OBJECTS);
    scratch
}

/// A Color `<namespace>/p` with one target.
fn color(namespace: &str, (group, kind, name): (&str, &str, &str)) -> String {
    let (name, section) = name.split_once('#').unwrap_or((name, ""));
    format!(
        "apiVersion: c.io/v1\nkind: Color\nmetadata: {{name: p, namespace: {namespace}}}\nspec:\n  color: red\n  \
         targetRefs: [{{group: {group:?}, kind: {kind}, name: {name}, sectionName: {section:?}}}]\n"
    )
}

/// The codes of the findings at the policy, and whether a work holds it.
fn outcome(namespace: &str, target: (&str, &str, &str)) -> (Vec<String>, bool, Run) {
    let scratch = hub();
    scratch.write("hub/policy.yaml", &color(namespace, target));
    let run = scratch.run(&["render", "hub", "--output", "out", "--color", "never"]);
    let codes = run
        .stderr
        .split("\n\n")
        .filter(|finding| finding.contains("--> hub/policy.yaml"))
        .filter_map(|finding| Some(finding.split_once('[')?.1.split_once(']')?.0.to_owned()))
        .collect();
    let shipped = scratch
        .tree("out")
        .iter()
        .any(|(_, text)| text.contains("kind: Color"));
    (codes, shipped, run)
}

#[test]
fn every_target_of_a_synced_kind_is_shipped_or_said_once() {
    for (namespace, target, expected) in [
        ("gateways", (GATEWAY_API, "Gateway", "prod-web"), None),
        ("gateways", (GATEWAY_API, "Gateway", "prod-web#api"), None),
        (
            "gateways",
            (GATEWAY_API, "Gateway", "prod-web#nope"),
            Some("policy/target-not-found"),
        ),
        (
            "gateways",
            (GATEWAY_API, "Gateway", "nope"),
            Some("policy/target-not-found"),
        ),
        (
            "others",
            (GATEWAY_API, "Gateway", "theirs"),
            Some("policy/other-class"),
        ),
        (
            "others",
            (GATEWAY_API, "Gateway", "theirs#a"),
            Some("policy/other-class"),
        ),
        (
            "gateways",
            (GATEWAY_API, "GatewayClass", "multicluster"),
            Some("policy/not-synced"),
        ),
        (
            "gateways",
            (GATEWAY_API, "GatewayClass", "istio"),
            Some("policy/other-class"),
        ),
        (
            "gateways",
            (GATEWAY_API, "ListenerSet", "more"),
            Some("policy/not-synced"),
        ),
        (
            "gateways",
            (GATEWAY_API, "ListenerSet", "more#extra"),
            Some("policy/not-synced"),
        ),
        (
            "gateways",
            (GATEWAY_API, "HTTPRoute", "stays"),
            Some("policy/not-synced"),
        ),
        (
            "gateways",
            (GATEWAY_API, "HTTPRoute", "stays#all"),
            Some("policy/not-synced"),
        ),
        (
            "gateways",
            (GATEWAY_API, "HTTPRoute", "nope"),
            Some("policy/target-not-found"),
        ),
        (
            "others",
            (GATEWAY_API, "HTTPRoute", "theirs"),
            Some("policy/other-class"),
        ),
        ("gateways", ("", "Namespace", "gateways"), None),
        ("others", ("", "Namespace", "others"), Some("policy/other-class")),
        ("empty", ("", "Namespace", "empty"), Some("policy/unreachable")),
        ("gateways", ("", "Service", "cart"), None),
        ("others", ("", "Service", "theirs"), Some("policy/other-class")),
        ("gateways", ("", "Service", "mesh"), Some("policy/unreachable")),
        ("gateways", ("", "Secret", "key"), Some("policy/unreachable")),
        (
            "gateways",
            ("acme.io", "Backend", "queue"),
            Some("policy/not-synced"),
        ),
    ] {
        let (codes, shipped, run) = outcome(namespace, target);
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(
            (&codes, shipped),
            (&expected, expected.is_empty()),
            "{target:?}\n{}",
            run.stderr
        );
    }
    // A route that names a Gateway that is not there says so itself, and what follows for the policy.
    for target in [(GATEWAY_API, "HTTPRoute", "loose"), ("", "Service", "loose")] {
        let (codes, shipped, run) = outcome("gateways", target);
        assert!(codes.is_empty() && !shipped, "{codes:?}");
        run.says("warning[route/parent-not-found]: Gateway gateways/nowhere is not in the input")
            .says("= note: therefore Color gateways/p targets ");
    }
}

#[test]
fn a_listener_set_that_no_gateway_takes_is_not_called_missing() {
    let scratch = hub();
    scratch.edit("hub/gateway.yaml", "from: All", "from: None");
    scratch.write(
        "hub/policy.yaml",
        &color("gateways", (GATEWAY_API, "ListenerSet", "more")),
    );
    scratch
        .run(&["render", "hub", "--output", "out"])
        .exits(0)
        .says("[listener-set/not-attached]: ListenerSet gateways/more is not attached: Gateway gateways/prod-web accepts no ListenerSets")
        .says("`allowedListeners:")
        .does_not_say("policy/target-not-found")
        .does_not_say("ListenerSet gateways/more is not in the input");
}

#[test]
fn a_target_that_only_its_controller_knows_is_named() {
    let (_, _, run) = outcome("gateways", ("acme.io", "Backend", "queue"));
    run.exits(0).says(
        "Color gateways/p is not shipped with its target Backend.acme.io gateways/queue: the input does not show which \
         clusters have it",
    );
}

/// A RateLimitPolicy in `others` with these targets and settings.
fn limit(target: &str, settings: &str) -> String {
    format!(
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: broken, namespace: others}}\nspec:\n  \
         {target}\n  {settings}\n"
    )
}

const THEIRS: &str = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: theirs}";
/// Settings that exclude each other.
const EXCLUSIVE: &str = "defaults: {limits: {}}\n  overrides: {limits: {}}";

#[test]
fn an_error_in_a_policy_of_another_class_only_is_a_warning() {
    let good = "limits: {}";
    for (code, target, settings) in [
        ("policy/invalid", THEIRS, EXCLUSIVE),
        (
            "policy/invalid",
            "targetRef: {group: gateway.networking.k8s.io, kind: GatewayClass, name: istio}",
            good,
        ),
        (
            "policy/target-not-found",
            &format!("{}, sectionName: nope}}", THEIRS.trim_end_matches('}')),
            good,
        ),
    ] {
        let scratch = hub();
        scratch.write("hub/policy.yaml", &limit(target, settings));
        let run = scratch.run(&["render", "hub", "--output", "out", "--color", "never"]);
        run.exits(0)
            .says(&format!("warning[{code}]"))
            .says("it is not shipped: only Gateways of other classes lead to its target");
        assert!(scratch.exists("out/eu-1"), "{}", run.stderr);
    }
}

#[test]
fn an_error_in_a_policy_that_may_be_ours_stops_the_run() {
    for (what, target) in [
        (
            "ours",
            "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, namespace: gateways, name: prod-web}",
        ),
        (
            "not in the input",
            "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: nope}",
        ),
        (
            "of a kind that nobody knows",
            "targetRef: {group: acme.io, kind: Backend, name: queue}",
        ),
        (
            "broken beside one of theirs",
            "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: theirs}, {name: x}]",
        ),
    ] {
        let scratch = hub();
        scratch.write("hub/policy.yaml", &limit(target, EXCLUSIVE));
        let run = scratch.run(&["render", "hub", "--output", "out", "--color", "never"]);
        assert_eq!(run.status, 3, "{what}\n{}", run.stderr);
        assert!(!scratch.exists("out"), "{what}");
    }
    // A Gateway whose class is not in the input may be ours.
    let scratch = hub();
    scratch.edit(
        "hub/colors.yaml",
        "gatewayClassName: istio",
        "gatewayClassName: unknown",
    );
    scratch.write("hub/policy.yaml", &limit(THEIRS, EXCLUSIVE));
    scratch.run(&["render", "hub", "--output", "out"]).exits(3);
}

#[test]
fn the_copy_of_a_policy_in_a_namespace_selects_there_alone_and_only_by_what_selected_something_there() {
    let scratch = Scratch::with_worked_example();
    let resource = |group: &str, version: &str, name: &str| {
        format!("{{\"group\": \"{group}\", \"version\": \"{version}\", \"resource\": \"{name}\"}}")
    };
    let traffic = resource("gateway.envoyproxy.io", "v1alpha1", "backendtrafficpolicies");
    let routes = resource(GATEWAY_API, "v1", "httproutes");
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        &format!("\"resourcesToSync\": [{routes}], \"policiesToSync\": [{traffic}, "),
    );
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    let route = |namespace: &str, label: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {label}, namespace: {namespace}, labels: \
             {{app: {label}}}}}\nspec: {{parentRefs: [{{name: prod-web, namespace: gateways}}], hostnames: \
             [{label}.example.com], rules: [{{name: all}}]}}\n---\n"
        )
    };
    let selector =
        |label: &str, more: &str| format!("{{kind: HTTPRoute, matchLabels: {{app: {label}}}{more}}}");
    let policy = format!(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: p, namespace: gateways}}\nspec: \
         {{targetSelectors: [{}, {}], tcpKeepalive: {{probes: 3}}}}\n---\n",
        selector("near", ""),
        selector("far", ", namespaces: {from: All}")
    );
    let grant = format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: shop}}\nspec: {{from: \
         [{{group: gateway.envoyproxy.io, kind: BackendTrafficPolicy, namespace: gateways}}], to: [{{group: {GATEWAY_API}, kind: \
         HTTPRoute}}]}}\n"
    );
    scratch.write(
        "hub/selected.yaml",
        &(route("gateways", "near") + &route("shop", "far") + &policy + &grant),
    );
    scratch.run(&["render", "hub", "-q", "-o", "rendered"]).exits(0);
    let work = scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml");
    let copies: Vec<&str> = work.split("kind: BackendTrafficPolicy").skip(1).collect();
    let copies: Vec<&str> = copies
        .iter()
        .map(|copy| copy.split("tcpKeepalive").next().unwrap_or_default())
        .collect();
    let [home, other] = copies.as_slice() else {
        panic!("two copies:\n{work}");
    };
    for (copy, metadata, labels) in [
        (
            home,
            "name: p\n        namespace: gateways\n",
            ["app: near", "app: far"].as_slice(),
        ),
        (
            other,
            "name: gateways.p\n        namespace: shop\n",
            &["app: far"],
        ),
    ] {
        assert!(copy.contains(metadata) && !copy.contains("namespaces:"), "{copy}");
        assert_eq!(copy.matches("app: ").count(), labels.len(), "{copy}");
        assert!(labels.iter().all(|label| copy.contains(label)), "{copy}");
    }
}

#[test]
fn a_name_of_an_entry_that_no_object_has_is_said_and_a_near_one_is_an_error() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    scratch.edit(
        "hub/class.yaml",
        "\"resourcesToSync\": [\n",
        "\"resourcesToSync\": [\n        {\"group\": \"\", \"version\": \"v1\", \"resource\": \"configmaps\", \"names\": [\"shop/texts\"]},\n",
    );
    scratch.run(&["render"]).exits(0).says(
        "warning[object/not-shipped]: ConfigMap shop/texts is chosen by its name, and is not in the input",
    );
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: texts, namespace: shop}\n";
    scratch.write("hub/texts.yaml", text);
    scratch.run(&["render", "--deny", "warnings"]).exits(0);
    scratch.write("hub/texts.yaml", &text.replace("name: texts", "name: text"));
    scratch
        .run(&["render"])
        .exits(3)
        .says("error[object/not-shipped]: ConfigMap shop/texts is chosen by its name")
        .says("did you mean `shop/text`?");
}

#[test]
fn a_name_is_not_taken_for_that_of_an_object_that_is_chosen_itself() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    scratch.edit(
        "hub/class.yaml",
        "\"resourcesToSync\": [\n",
        "\"resourcesToSync\": [\n        {\"group\": \"\", \"version\": \"v1\", \"resource\": \"configmaps\", \
         \"names\": [\"shop/ca-1\", \"shop/ca-2\"]},\n",
    );
    scratch.write(
        "hub/ca.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca-2, namespace: shop}\n",
    );
    scratch
        .run(&["render"])
        .exits(0)
        .says(
            "warning[object/not-shipped]: ConfigMap shop/ca-1 is chosen by its name, and is not in the input",
        )
        .does_not_say("did you mean");
}

#[test]
fn a_mistake_in_the_settings_of_a_policy_hides_none_in_its_target() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    scratch.edit(
        "hub/policies.yaml",
        "kind: HTTPRoute\n    name: shop\n",
        "kind: HTTPRoute\n    name: shpo\n  defaults: {limits: {}}\n  overrides: {limits: {}}\n",
    );
    let run = scratch.run(&["check"]);
    for said in [
        "cannot be used together in a RateLimitPolicy",
        "error[policy/target-not-found]",
    ] {
        assert!(run.exits(3).stdout.contains(said), "{said} is missing: {run:?}");
    }
}

#[test]
fn what_a_listener_refuses_hides_no_other_mistake() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    scratch.edit(
        "hub/gateway.yaml",
        "kubernetes.io/metadata.name: shop",
        "chosen: \"true\"",
    );
    scratch.write(
        "hub/other.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: other, namespace: shop}\nspec: \
         {parentRefs: [{name: web, port: 81}], rules: [{backendRefs: [{name: shop, port: 8080}]}]}\n",
    );
    let run = scratch.run(&["check"]);
    for said in [
        "error[route/not-allowed]",
        "error[route/not-attached]: HTTPRoute shop/other",
    ] {
        assert!(run.exits(3).stdout.contains(said), "{said} is missing: {run:?}");
    }
}
