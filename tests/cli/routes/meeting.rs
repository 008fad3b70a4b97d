//! What meets on a route, what is wrong with parameters, and what reports say of routes.

use kube_json::Value;

use super::*;

#[test]
fn a_policy_of_a_kind_that_is_not_synced_is_missed_on_a_shipped_route() {
    let scratch = hub();
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "shop", OURS),
            "---\napiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: a, namespace: shop}\n\
             spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}, rules: {authorization: {}}}\n"
                .to_owned(),
        ]
        .concat(),
    );
    render(&scratch).exits(0).says(
        "warning[policy/not-synced]: AuthPolicy shop/a is not synced: its kind is not in the parameters",
    );
}

#[test]
fn what_lives_on_a_cluster_beats_a_policy_on_a_route_and_is_never_overwritten() {
    let scratch = hub();
    limited_cart(&scratch);
    scratch.write(
        "hub/spokes/eu-1/limits.yaml",
        &limit("mine", "shop", "kind: HTTPRoute, name: cart"),
    );
    let run = scratch.run(&["render", "hub", "-o", "rendered", "--report", "report.json"]);
    run.exits(0);
    assert!(!names(&manifests(&scratch, WORK)).contains(&"RateLimitPolicy shop/cart".to_owned()));
    let other = names(&manifests(
        &scratch,
        "rendered/us-1/gateway-gateways-prod-web.yaml",
    ));
    assert!(other.contains(&"RateLimitPolicy shop/cart".to_owned()));
    let report: Value = serde_json::from_str(&scratch.read("report.json")).expect("JSON");
    assert_eq!(
        report["withheld"][0]["target"],
        "httproute.gateway.networking.k8s.io:shop/cart"
    );
    assert_eq!(report["withheld"][0]["cluster"], "eu-1");

    scratch.write("hub/spokes/us-1/route.yaml", &route("cart", "shop", OURS));
    render(&scratch)
        .exits(3)
        .says("error[spoke/name-taken]: HTTPRoute shop/cart on cluster us-1 would be overwritten");
    // An export of what was shipped is no such thing: its work owns it.
    scratch.edit(
        "hub/spokes/us-1/route.yaml",
        "namespace: shop}",
        "namespace: shop, ownerReferences: [{apiVersion: work.open-cluster-management.io/v1, \
         kind: AppliedManifestWork, name: abc-gateway-gateways-prod-web, uid: x}]}",
    );
    render(&scratch).exits(0);
}

#[test]
fn policies_of_several_namespaces_meet_on_a_route_under_names_of_their_own() {
    let scratch = hub();
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\n\
                 metadata: {name: g, namespace: shop}\nspec: {from: [{group: networking.gke.io, kind: GCPBackendPolicy, \
                 namespace: platform}], to: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]}\n";
    let color = "---\n\
         apiVersion: c.io/v1\nkind: Color\nmetadata: {name: red, namespace: platform}\nspec: {hue: red, targetRefs: \
         [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, namespace: shop}, \
         {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web, namespace: gateways}]}\n";
    let grants = format!(
        "{}{}",
        grant
            .replace("networking.gke.io", "c.io")
            .replace("GCPBackendPolicy", "Color"),
        grant
            .replace("networking.gke.io", "c.io")
            .replace("GCPBackendPolicy", "Color")
            .replace("namespace: shop", "namespace: gateways")
            .replace("HTTPRoute", "Gateway")
    );
    scratch.add_colors(&format!("{color}{grants}"));
    scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
    render(&scratch).exits(0);
    let shipped = manifests(&scratch, WORK);
    let colors: Vec<&Value> = shipped
        .iter()
        .filter(|manifest| manifest["kind"] == "Color")
        .collect();
    assert_eq!(
        names(&shipped)[2..4],
        ["Color kuadrant-gateways/platform.red", "Color shop/platform.red"]
    );
    for (color, target) in colors.into_iter().zip(["Gateway", "HTTPRoute"]) {
        let targets = color["spec"]["targetRefs"].as_array().expect("targets");
        assert_eq!((targets.len(), &targets[0]["kind"]), (1, &Value::from(target)));
        assert_eq!(targets[0].get("namespace"), None);
    }
}

#[test]
fn two_objects_that_would_be_one_on_the_spokes_are_an_error() {
    let scratch = hub();
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "kuadrant-gateways", OURS),
            route("between", "kuadrant-gateways", OURS),
            limit("between", "kuadrant-gateways", "kind: HTTPRoute, name: between"),
            limit("global", "kuadrant-gateways", "kind: HTTPRoute, name: cart"),
        ]
        .concat(),
    );
    render(&scratch)
        .exits(3)
        .says("error[work/name-taken]")
        .says("would both be `kuadrant-gateways/global` on cluster eu-1");
}

#[test]
fn a_route_kind_of_somebody_else_is_synced_by_its_crd() {
    let scratch = Scratch::with_worked_example();
    sync(
        &scratch,
        r#"{"group": "r.io", "version": "v1", "resource": "mqttroutes"}"#,
    );
    let crd = |field: &str, scope: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: mqttroutes.r.io}}\n\
             spec: {{group: r.io, scope: {scope}, names: {{kind: MQTTRoute, listKind: MQTTRouteList, plural: mqttroutes, \
             singular: mqttroute}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: \
             {{type: object, properties: {{spec: {{type: object, properties: {{rules: {{type: string}}, {field}: {{type: array, \
             items: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}}}}}}}}}}]}}\n"
        )
    };
    scratch.write("hub/crd.yaml", &crd("parentRefs", "Namespaced"));
    scratch.write(
        "hub/routes.yaml",
        "apiVersion: r.io/v1\nkind: MQTTRoute\nmetadata: {name: m, namespace: shop}\n\
         spec: {rules: topic, parentRefs: [{name: prod-web, namespace: gateways}]}\n",
    );
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    render(&scratch).exits(0);
    assert!(names(&manifests(&scratch, WORK)).contains(&"MQTTRoute shop/m".to_owned()));
    let explained = scratch.run(&["explain", "MQTTRoute/shop/m", "hub", "-q"]);
    assert!(
        explained.exits(0).stdout.contains("shipped to: eu-1, us-1"),
        "{explained:?}"
    );
    // A list of kinds rules it out; another schema makes it no route.
    scratch.edit(
        "hub/gateway.yaml",
        "{namespaces: {from: All}}",
        "{namespaces: {from: All}, kinds: [{kind: HTTPRoute}]}",
    );
    render(&scratch).exits(3).says("accepts no MQTTRoute");
    scratch.write("hub/crd.yaml", &crd("parents", "Namespaced"));
    scratch.edit("hub/routes.yaml", "parentRefs", "parents");
    render(&scratch)
        .exits(3)
        .says("error[params/resource]: parameters in ConfigMap gateways/params: mqttroutes.r.io has no spec.parentRefs, so the entry must name the objects to ship")
        .says("= help: add `names: [NAMESPACE/NAME]`");
    let status = scratch.run(&["status", "hub", "-o", "json", "-q"]);
    assert!(
        status.stdout.contains("\"reason\": \"InvalidParameters\""),
        "{}",
        status.stdout
    );
    assert!(
        status
            .stdout
            .contains("Invalid Parameters - mqttroutes.r.io has no spec.parentRefs"),
        "{}",
        status.stdout
    );
}

#[test]
fn lists_of_the_parameters_that_make_no_sense_are_errors_at_their_place() {
    for (entries, code, says) in [
        (
            r#"{"group": "", "version": "v1", "resource": "secrets"}"#,
            "params/resource",
            "secrets has no spec.parentRefs",
        ),
        (
            r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "gateways"}"#,
            "params/resource",
            "Gateways are placed by their Placement",
        ),
        (
            r#"{"group": "kuadrant.io", "version": "v1", "resource": "authpolicies"}"#,
            "params/resource",
            "list it in `policiesToSync`",
        ),
        (
            r#"{"group": "kuadrant.io", "version": "v1", "resource": "ratelimitpolicies"}"#,
            "params/invalid",
            "in policiesToSync and in resourcesToSync",
        ),
        (
            &format!("{LISTED}, {LISTED}"),
            "params/invalid",
            "is listed twice",
        ),
        (
            r#"{"group": "gateway.networking.k8s.io", "version": "v9", "resource": "httproutes"}"#,
            "params/resource",
            "served: v1",
        ),
    ] {
        let scratch = Scratch::with_worked_example();
        sync(&scratch, entries);
        render(&scratch)
            .exits(3)
            .says(&format!("error[{code}]"))
            .says("--> hub/class.yaml:14:")
            .says(says)
            .says("= help: ");
    }
}

#[test]
fn hub_objects_reports_graphs_and_statuses_know_shipped_routes() {
    let scratch = hub();
    limited_cart(&scratch);
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhubObjects: Annotated\noutput: rendered\n",
    );
    scratch
        .run(&["render", "hub", "--report", "report.json", "-q"])
        .exits(0);
    let route = scratch.read("hub/rendered/_hub/httproute-shop-cart.yaml");
    assert!(
        route.contains(
            "spokewright.dev/routes-synced: '[{\"cluster\":\"eu-1\",\"name\":\"cart\",\"namespace\":\"shop\"},\
             {\"cluster\":\"us-1\",\"name\":\"cart\",\"namespace\":\"shop\"}]'"
        ) || route.contains("spokewright.dev/routes-synced: \"[{"),
        "{route}"
    );
    assert!(
        scratch
            .read("hub/rendered/_hub/ratelimitpolicy-shop-cart.yaml")
            .contains("kuadrant.io/policies-synced")
    );
    assert!(scratch.read("report.json").contains("\"kind\": \"HTTPRoute\""));
    let status = scratch.run(&["status", "hub", "-q"]);
    assert!(
        status.exits(0).stdout.contains("shipped to: eu-1, us-1"),
        "{}",
        status.stdout
    );
    let narrowed = scratch.run(&["status", "hub", "-q", "--clusters", "us-*", "-o", "json"]);
    assert!(
        narrowed
            .stdout
            .contains("\"shippedTo\": [\n        \"us-1\"\n      ]"),
        "{}",
        narrowed.stdout
    );
    let graph = scratch.run(&["graph", "hub", "-q"]);
    assert!(
        graph.exits(0).stdout.contains("HTTPRoute shop/cart<br/>shipped"),
        "{}",
        graph.stdout
    );
    let explained = scratch.run(&["explain", "HTTPRoute/shop/cart", "hub", "-q", "-o", "json"]);
    assert!(
        explained.stdout.contains("\"shippedTo\": ["),
        "{}",
        explained.stdout
    );
    let works = scratch.run(&["status", "hub", "-q", "--works", "hub/rendered/eu-1"]);
    assert!(
        works
            .stdout
            .contains("httproute/shop/cart\n    shipped to: eu-1, us-1\n"),
        "{}",
        works.stdout
    );
    // Without the route, its policy has no target, which would stop rendering.
    let diff = scratch.run(&[
        "diff",
        "hub",
        "-q",
        "--without",
        "HTTPRoute/shop/cart",
        "--format",
        "semantic",
    ]);
    assert!(
        diff.exits(3).stdout.contains("HTTPRoute shop/cart"),
        "{}",
        diff.stdout
    );
}

#[test]
fn objects_without_a_namespace_get_the_one_of_the_command_line() {
    let scratch = hub();
    let route = route("cart", "NS", "{name: prod-web}").replace(", namespace: NS", "");
    let limit = limit("cart", "NS", "kind: HTTPRoute, name: cart").replace(", namespace: NS", "");
    scratch.write("hub/routes.yaml", &format!("{route}{limit}"));
    scratch
        .run(&["render", "hub", "-o", "rendered", "--namespace", "gateways"])
        .exits(0);
    let there = names(&manifests(&scratch, WORK));
    assert_eq!(there[1..2], ["Namespace /kuadrant-gateways"]);
    assert!(there.contains(&"HTTPRoute gateways/cart".to_owned()), "{there:?}");
    assert!(
        there.contains(&"RateLimitPolicy gateways/cart".to_owned()),
        "{there:?}"
    );
}

#[test]
fn thousands_of_routes_take_no_longer_each() {
    let time = |count: usize| {
        let scratch = hub();
        let routes: Vec<String> = (0..count)
            .map(|number| route(&format!("r{number}"), &format!("n{}", number % 50), OURS))
            .collect();
        scratch.write("hub/routes.yaml", &routes.concat());
        scratch.edit(
            "hub/class.yaml",
            "\"workPer\": \"Gateway\"",
            "\"workPer\": \"Object\"",
        );
        let start = std::time::Instant::now();
        render(&scratch).exits(0);
        start.elapsed()
    };
    let (small, large) = (time(500), time(4000));
    assert!(
        large < small * 24 + std::time::Duration::from_secs(1),
        "{small:?}, {large:?}"
    );
}
