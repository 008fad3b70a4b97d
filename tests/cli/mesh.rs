//! Istio's policies and routes of a mesh, in every command. What they reach is Istio's
//! (docs/systems/other-policies.md#istio); a route whose parent is a Service is Gateway API's
//! (docs/systems/gateway-api.md#meshes).

use crate::scratch::{Run, Scratch, copy, fixtures};

/// A Service with a route that splits its traffic, a Gateway of Istio's, policies of the mesh, of a namespace and of what they
/// select.
const MESH: &str = include_str!("../../fixtures/mesh/hub/all.yaml");

fn mesh() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("hub/all.yaml", MESH);
    scratch
}

fn explained(scratch: &Scratch, object: &str) -> String {
    let run = scratch.run(&["explain", object, "hub"]);
    run.exits(0).stdout.clone()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

/// What is in effect on a path, as `policies --effective` lists it: `KIND: PATH`.
#[track_caller]
fn on(run: &Run, path: &str) -> String {
    let (kind, label) = path.split_once(": ").expect("a kind and a path");
    let mut parts = run.stdout.split("\n\n");
    let found =
        parts.find(|part| part.starts_with(&format!("{kind} (")) && part.contains(&format!("\n  {label}\n")));
    found
        .unwrap_or_else(|| panic!("no path {path} in\n{}", run.stdout))
        .to_owned()
}

#[test]
fn a_route_of_a_mesh_has_paths_from_its_service() {
    let scratch = mesh();
    let run = scratch.run(&["policies", "hub", "--effective"]);
    let canary = on(
        &run,
        "AuthorizationPolicy: Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2",
    );
    has(&canary, &["/istio-system/all  ", "/shop/shop  ", "/shop/v2  "]);
    let itself = on(
        &run,
        "AuthorizationPolicy: Service shop/cart > HTTPRoute shop/cart > Service shop/cart",
    );
    has(&itself, &["/istio-system/all  ", "/shop/shop  "]);
    assert!(!itself.contains("shop/v2"), "{itself}");
    has(
        &explained(&scratch, "service/shop/cart"),
        &["Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2"],
    );
    has(
        &explained(&scratch, "httproute/shop/cart"),
        &["Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2"],
    );
    let policy = explained(&scratch, "authorizationpolicy/shop/v2");
    has(&policy, &["affects 1 route, 2 backends", "If it were deleted"]);
    has(
        &scratch.run(&["graph", "hub"]).stdout,
        &[
            "(\"Service shop/cart\")",
            "(\"HTTPRoute shop/cart\")",
            "mesh of istio-system",
        ],
    );
    let run = scratch.run(&["check", "hub"]);
    assert!(!run.stdout.contains("policy/unreachable"), "{}", run.stdout);
    has(
        &scratch.run(&["status", "hub"]).stdout,
        &[
            "httproute/shop/cart  AuthorizationPolicyAffected",
            "service/shop/cart-v2",
        ],
    );
}

#[test]
fn a_service_entry_may_be_the_parent_of_a_route_as_a_service_may() {
    let scratch = Scratch::new();
    let of_entry = MESH.replace(
        "{group: \"\", kind: Service, name: cart, port: 80}",
        "{group: networking.istio.io, kind: ServiceEntry, name: outside}",
    );
    scratch.write("hub/all.yaml", &of_entry);
    has(
        &explained(&scratch, "httproute/shop/cart"),
        &["ServiceEntry shop/outside > HTTPRoute shop/cart > Service shop/cart-v2"],
    );
}

#[test]
fn a_mesh_that_lives_on_one_cluster_has_its_paths_there_and_on_no_other_one() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    scratch.write("spokes/us-1/mesh.yaml", MESH);
    let path = "AuthorizationPolicy: Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2";
    let there = scratch.run(&["policies", "-q", "--effective", "--cluster", "us-1"]);
    has(
        &on(&there, path),
        &["/istio-system/all  ", "/shop/shop  ", "/shop/v2  "],
    );
    let elsewhere = scratch.run(&["policies", "-q", "--effective", "--cluster", "eu-1"]);
    assert!(
        !elsewhere.stdout.contains("AuthorizationPolicy"),
        "{}",
        elsewhere.stdout
    );
    let explain = ["explain", "service/shop/cart", "-q", "--cluster", "us-1"];
    has(
        &scratch.run(&explain).exits(0).stdout,
        &["Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2"],
    );
}

#[test]
fn a_difference_is_told_on_a_path_of_the_mesh() {
    let scratch = Scratch::with_worked_example();
    for file in ["class", "gateway", "decisions", "limits"] {
        let file = format!("{file}.yaml");
        scratch.write(&format!("before/{file}"), &scratch.read(&format!("hub/{file}")));
    }
    scratch.write("hub/mesh.yaml", MESH);
    scratch.write(
        "before/mesh.yaml",
        &MESH.replace("paths: [/admin]", "paths: [/internal]"),
    );
    let run = scratch.run(&["diff", "--base-dir", "before", "hub"]);
    has(&run.stdout, &["Service shop/cart > HTTPRoute shop/cart > canary"]);
}

#[test]
fn a_policy_of_the_root_namespace_holds_for_the_mesh_and_another_for_its_namespace() {
    let scratch = mesh();
    let run = scratch.run(&["policies", "hub", "--effective"]);
    let edge = on(&run, "AuthorizationPolicy: Gateway edge/web");
    has(&edge, &["/istio-system/all  "]);
    assert!(!edge.contains("shop/shop"), "{edge}");
    // Another root namespace makes it a policy of one namespace like any other.
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nistio: {rootNamespace: shop}\n",
    );
    let run = scratch.run(&["policies", "--effective"]);
    let edge = on(&run, "AuthorizationPolicy: Gateway edge/web");
    has(&edge, &["/shop/shop  "]);
    assert!(!edge.contains("istio-system/all"), "{edge}");
}

#[test]
fn the_narrowest_peer_authentication_says_how_a_workload_takes_connections() {
    let run = mesh().run(&["policies", "hub", "--effective"]);
    let path = on(
        &run,
        "PeerAuthentication: Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2",
    );
    has(&path, &["/mtls/mode", "\"PERMISSIVE\"", "/shop/default  "]);
    assert!(
        !run.stdout.contains("  Gateway edge/web\n    /mtls"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_selector_reaches_the_pods_of_gateways_but_not_waypoints() {
    let scratch = mesh();
    let run = scratch.run(&["policies", "hub", "--effective"]);
    let edge = on(&run, "RequestAuthentication: Gateway edge/web");
    has(&edge, &["/istio-system/edge  "]);
    // What has no target never holds at a waypoint.
    scratch.write(
        "hub/all.yaml",
        &MESH.replace("gatewayClassName: istio", "gatewayClassName: istio-waypoint"),
    );
    let run = scratch.run(&["policies", "hub", "--effective"]);
    assert!(!run.stdout.contains("Gateway edge/web"), "{}", run.stdout);
    let waypoints = "---\napiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: waypoints, namespace: \
                     istio-system}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: GatewayClass, name: \
                     istio-waypoint}], action: DENY}\n";
    scratch.write("hub/waypoints.yaml", waypoints);
    let run = scratch.run(&["policies", "hub", "--effective"]);
    has(
        &on(&run, "AuthorizationPolicy: Gateway edge/web"),
        &["/istio-system/waypoints  "],
    );
}

#[test]
fn a_gateway_class_is_a_target_of_the_root_namespace_for_waypoints_alone() {
    let target = |namespace: &str, class: &str| {
        format!(
            "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {{name: p, namespace: {namespace}}}\nspec: \
             {{targetRefs: [{{group: gateway.networking.k8s.io, kind: GatewayClass, name: {class}}}], action: DENY}}\n---\n\
             apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: {class}}}\nspec: \
             {{controllerName: istio.io/mesh-controller}}\n"
        )
    };
    for (namespace, class, takes_effect) in [
        ("istio-system", "istio-waypoint", true),
        ("istio-system", "istio", false),
        ("shop", "istio-waypoint", false),
    ] {
        let scratch = Scratch::new();
        scratch.write("hub/all.yaml", &target(namespace, class));
        let run = scratch.run(&["check", "hub"]);
        let said = format!("has no effect: GatewayClass {class} is not a target that Istio supports");
        assert_eq!(
            !run.stdout.contains(&said),
            takes_effect,
            "{namespace} {class}\n{}",
            run.stdout
        );
    }
}

#[test]
fn nobody_waits_for_conditions_that_istio_does_not_write() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"security.istio.io\", \"version\": \"v1\", \"resource\": \
         \"authorizationpolicies\"}, ",
    );
    scratch.write(
        "hub/istio.yaml",
        "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: deny, namespace: gateways}\nspec: \
         {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}], action: DENY}\n",
    );
    scratch.run(&["render", "hub", "-q", "-o", "rendered"]).exits(0);
    let work = scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml");
    has(&work, &["kind: AuthorizationPolicy"]);
    let configs = work.split("workload:").next().unwrap_or_default();
    let of_policy = configs
        .split("  - conditionRules:")
        .find(|config| config.contains("resource: authorizationpolicies"));
    assert!(
        of_policy.is_none_or(|config| !config.contains("'Accepted'") && !config.contains("\"Accepted\"")),
        "{configs}"
    );
    let run = scratch.run(&["policies", "hub", "-o", "json"]);
    let policies: kube_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let all = policies["policies"].as_array().expect("policies");
    let ours = all
        .iter()
        .find(|policy| {
            policy["policy"]
                .as_str()
                .is_some_and(|name| name.ends_with("gateways/deny"))
        })
        .expect("the policy");
    assert!(
        ours.get("ancestors")
            .is_none_or(|ancestors| ancestors == &kube_json::json!([])),
        "{ours}"
    );
}
