//! kgateway's route delegation, from `check` to the works: what a delegated route gets, and where it goes
//! (docs/systems/other-policies.md#route-delegation).

use crate::scratch::Scratch;

const ROUTES: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: parent, namespace: gateways}
spec:
  parentRefs: [{name: prod-web}]
  rules:
  - name: teams
    matches: [{path: {value: /team}}]
    backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: \"*\", namespace: team}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: child, namespace: team}
spec:
  rules:
  - name: cart
    matches: [{path: {value: /team/cart}}]
    backendRefs: [{name: s, port: 80}]
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: p, namespace: team}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]
  timeouts: {request: 3s}
";

#[test]
fn a_delegated_route_goes_along_with_the_gateway_of_its_parent_and_so_do_its_policies() {
    let scratch = Scratch::with_worked_example();
    let from = "{\"downstreamClass\": \"istio\",";
    let routes = r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}"#;
    scratch.edit(
        "hub/class.yaml",
        from,
        &format!("{{\"downstreamClass\": \"kgateway\", \"resourcesToSync\": [{routes}],"),
    );
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"gateway.kgateway.dev\", \"version\": \"v1alpha1\", \"resource\": \"trafficpolicies\"}, ",
    );
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    scratch.write("hub/routes.yaml", ROUTES);
    let check = scratch.run(&["check", "hub"]);
    for absent in ["route/delegated", "policy/unreachable", "policy/not-synced"] {
        assert!(!check.stdout.contains(absent), "{}", check.stdout);
    }
    let policies = scratch.run(&["policies", "hub", "--effective"]).stdout;
    assert!(
        policies.contains("HTTPRoute gateways/parent > teams > HTTPRoute team/child > cart"),
        "{policies}"
    );
    scratch.run(&["render", "hub", "-q", "-o", "rendered"]).exits(0);
    let work = scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml");
    for part in ["name: child", "kind: TrafficPolicy", "namespace: team"] {
        assert!(work.contains(part), "{part} is not in\n{work}");
    }

    // The class of the copies decides, and Istio hands nothing on.
    let class = scratch
        .read("hub/class.yaml")
        .replace("\"kgateway\"", "\"istio\"");
    scratch.write("hub/class.yaml", &class);
    let check = scratch.run(&["check", "hub"]);
    let reason =
        "istio.io/gateway-controller, which serves Gateway gateways/prod-web, accepts no routes as backends";
    assert!(check.stdout.contains(reason), "{}", check.stdout);
    scratch.run(&["render", "hub", "-q", "-o", "rendered"]);
    let work = scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml");
    assert!(!work.contains("name: child"), "{work}");
}
