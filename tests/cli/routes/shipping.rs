//! Which works hold a route, and what of it is shipped.

use kube_json::Value;

use super::*;

#[test]
fn a_route_rides_with_its_gateway_in_its_own_namespace() {
    let scratch = hub();
    let parents =
        format!("{OURS}, {{name: elsewhere, namespace: other}}, {{group: \"\", kind: Service, name: cart}}");
    scratch.write("hub/routes.yaml", &route("cart", "shop", &parents));
    scratch.write(
        "hub/other.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: elsewhere, namespace: other}\n\
         spec: {gatewayClassName: theirs, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n\
         apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: theirs}\n\
         spec: {controllerName: example.com/other}\n",
    );
    render(&scratch)
        .exits(0)
        .says("1 Gateway; 1 route: 1 HTTPRoute; 1 policy: 1 RateLimitPolicy; 4 works");
    let shipped = manifests(&scratch, WORK);
    assert_eq!(
        names(&shipped),
        [
            "Namespace /kuadrant-gateways",
            "Namespace /shop",
            "RateLimitPolicy kuadrant-gateways/global",
            "Gateway kuadrant-gateways/prod-web",
            "HTTPRoute shop/cart",
        ]
    );
    assert_eq!(
        shipped[4]["spec"]["parentRefs"],
        kube_json::json!([
            {"name": "prod-web", "namespace": "kuadrant-gateways", "sectionName": "api"},
            {"group": "", "kind": "Service", "name": "cart"},
        ]),
        "a Gateway of another class is dropped, a Service stays"
    );
    let text = scratch.read(WORK);
    assert!(
        text.contains("name: shop\n        namespace: \"\"\n        resource: namespaces"),
        "{text}"
    );
    let rbac = scratch.read("rendered/eu-1/gateway-rbac.yaml");
    assert!(rbac.contains("- gateways\n        - httproutes\n"), "{rbac}");
}

#[test]
fn feedback_of_a_route_is_what_the_parameters_ask_for_and_nothing_else() {
    let scratch = hub();
    scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
    render(&scratch).exits(0);
    assert!(!scratch.read(WORK).contains("resource: httproutes"));
    scratch.edit(
        "hub/class.yaml",
        "\"resource\": \"httproutes\"",
        "\"resource\": \"httproutes\", \"feedback\": [{\"name\": \"accepted\", \
         \"path\": \".status.parents[0].conditions[?(@.type==\\\"Accepted\\\")].status\"}]",
    );
    render(&scratch).exits(0);
    let text = scratch.read(WORK);
    assert!(
        text.contains(
            "      - name: accepted\n        path: .status.parents[0].conditions[?(@.type==\"Accepted\")].status\n      \
             type: JSONPaths\n    resourceIdentifier:\n      group: gateway.networking.k8s.io\n      name: cart\n      \
             namespace: shop\n      resource: httproutes"
        ),
        "{text}"
    );
}

#[test]
fn policies_on_a_shipped_route_and_its_rules_go_along_and_the_warning_goes_away() {
    let scratch = hub();
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "shop", OURS),
            limit("whole", "shop", "kind: HTTPRoute, name: cart"),
            limit("rule", "shop", "kind: HTTPRoute, name: cart, sectionName: first"),
        ]
        .concat(),
    );
    render(&scratch).exits(0).does_not_say("policy/not-synced");
    let shipped = manifests(&scratch, WORK);
    assert_eq!(
        names(&shipped)[2..],
        [
            "RateLimitPolicy kuadrant-gateways/global",
            "RateLimitPolicy shop/rule",
            "RateLimitPolicy shop/whole",
            "Gateway kuadrant-gateways/prod-web",
            "HTTPRoute shop/cart",
        ]
    );
    assert_eq!(
        shipped[3]["spec"]["targetRef"],
        kube_json::json!({"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "cart", "sectionName": "first"})
    );
    assert_eq!(
        shipped[3]["metadata"]["annotations"]["kuadrant.io/policy-synced"],
        "true"
    );

    // Without the route on the list, the warning is back, and says how to sync it. The agents may still delete it.
    let retained =
        "\"retainedResources\": [{\"group\": \"gateway.networking.k8s.io\", \"resource\": \"httproutes\"}],";
    scratch.edit(
        "hub/class.yaml",
        &format!("\"resourcesToSync\": [{LISTED}],"),
        retained,
    );
    render(&scratch)
        .exits(0)
        .says("warning[policy/not-synced]: RateLimitPolicy shop/whole is not shipped")
        .says("\"resource\": \"httproutes\"} to `resourcesToSync` of `multicluster`, target the Gateway");
    assert_eq!(names(&manifests(&scratch, WORK)).len(), 3);
}

#[test]
fn a_route_of_two_gateways_on_one_cluster_has_a_work_of_its_own_there() {
    let scratch = hub();
    second_gateway(&scratch, "{clusterName: eu-1}, {clusterName: ap-1}");
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "shop", &format!("{OURS}, {SECOND}")),
            limit("cart", "shop", "kind: HTTPRoute, name: cart"),
        ]
        .concat(),
    );
    render(&scratch).exits(0);
    let own = "rendered/eu-1/httproute-shop-cart.yaml";
    let shipped = manifests(&scratch, own);
    assert_eq!(names(&shipped), ["Namespace /shop", "HTTPRoute shop/cart"]);
    assert_eq!(shipped[1]["spec"]["parentRefs"][1]["namespace"], "kuadrant-infra");
    let text = scratch.read(own);
    assert!(text.contains("kuadrant.io/parent: shop/cart"), "{text}");
    assert!(text.contains("propagationPolicy: SelectivelyOrphan"), "{text}");
    assert_eq!(
        names(&manifests(
            &scratch,
            "rendered/eu-1/ratelimitpolicy-shop-cart.yaml"
        )),
        ["Namespace /shop", "RateLimitPolicy shop/cart"]
    );
    // With one of them it rides along, and knows that one only.
    for (path, home) in [
        (
            "rendered/us-1/gateway-gateways-prod-web.yaml",
            "kuadrant-gateways",
        ),
        ("rendered/ap-1/gateway-infra-second.yaml", "kuadrant-infra"),
    ] {
        let there = manifests(&scratch, path);
        let route = there
            .iter()
            .find(|manifest| manifest["kind"] == "HTTPRoute")
            .expect("the route");
        let parents = route["spec"]["parentRefs"].as_array().expect("parents");
        assert_eq!((parents.len(), &parents[0]["namespace"]), (1, &Value::from(home)));
        assert!(names(&there).contains(&"RateLimitPolicy shop/cart".to_owned()));
    }
    assert!(!scratch.exists("rendered/us-1/httproute-shop-cart.yaml"));
}

#[test]
fn a_work_for_each_object_is_one_for_each_route() {
    let scratch = hub();
    scratch.edit(
        "hub/class.yaml",
        "\"workPer\": \"Gateway\"",
        "\"workPer\": \"Object\"",
    );
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "shop", OURS),
            route("cart", "other", OURS),
            limit("cart", "shop", "kind: HTTPRoute, name: cart"),
        ]
        .concat(),
    );
    render(&scratch).exits(0);
    for (work, expected) in [
        ("httproute-shop-cart", "HTTPRoute shop/cart"),
        ("httproute-other-cart", "HTTPRoute other/cart"),
        ("ratelimitpolicy-shop-cart", "RateLimitPolicy shop/cart"),
    ] {
        let there = names(&manifests(&scratch, &format!("rendered/us-1/{work}.yaml")));
        assert_eq!(there[1..], [expected]);
        assert!(there[0].starts_with("Namespace /"), "{there:?}");
    }
    // Names that come out the same are an error, and the annotation resolves it.
    scratch.write(
        "hub/routes.yaml",
        &[route("a-b", "shop", OURS), route("b", "shop-a", OURS)].concat(),
    );
    render(&scratch)
        .exits(3)
        .says("error[work/name-taken]")
        .says("would share the work `httproute-shop-a-b`");
    scratch.edit(
        "hub/routes.yaml",
        "{name: b, namespace: shop-a}",
        "{name: b, namespace: shop-a, annotations: {spokewright.dev/work-name: b-of-a}}",
    );
    render(&scratch).exits(0);
    assert!(scratch.exists("rendered/eu-1/b-of-a.yaml"));
}

/// The copy for a cluster that has both Gateways has one parent.
#[test]
fn a_parent_that_is_left_behind_is_said_and_a_route_of_another_tool_is_not() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    let class = scratch.read("hub/class.yaml");
    let second = class
        .replace("name: multicluster", "name: second")
        .replace("name: gateway-params", "name: second-params")
        .replace(
            r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}"#,
            "",
        );
    scratch.write("hub/second.yaml", &second);
    let gateway = scratch.read("hub/gateway.yaml");
    let other = gateway
        .replace("name: web", "name: other")
        .replace("gatewayClassName: multicluster", "gatewayClassName: second")
        .replace("hostname: shop.example.com", "hostname: \"*.example.com\"");
    scratch.write("hub/other.yaml", &other);
    scratch.edit(
        "hub/route.yaml",
        "  - name: web\n",
        "  - name: web\n  - name: other\n",
    );
    scratch
        .run(&["render"])
        .exits(0)
        .says("warning[route/not-attached]: HTTPRoute shop/shop is not shipped with Gateway shop/other, whose class does not sync its kind")
        .says("hub/route.yaml:9:5")
        .says("its class");
    // Nobody ships a route of `other` alone, so that another tool may.
    scratch.edit("hub/route.yaml", "  - name: web\n", "");
    scratch
        .run(&["render"])
        .exits(0)
        .does_not_say("route/not-attached");
}
