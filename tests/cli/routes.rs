//! `resourcesToSync`: routes on the spokes, and the policies on them (design sections 5 and 8).

use serde_json::Value;
use spokewright::yaml::{Limits, read_all};

use crate::scratch::{Run, Scratch};

const LISTED: &str = r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}"#;

/// The worked example with HTTPRoutes synced, and a listener that takes them from every namespace.
fn hub() -> Scratch {
    let scratch = without_allowed_routes();
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    scratch
}

fn without_allowed_routes() -> Scratch {
    let scratch = Scratch::with_worked_example();
    sync(&scratch, LISTED);
    scratch
}

/// Puts entries into `resourcesToSync`.
fn sync(scratch: &Scratch, entries: &str) {
    scratch.edit(
        "hub/class.yaml",
        "{\"downstreamClass\": \"istio\",",
        &format!("{{\"downstreamClass\": \"istio\", \"resourcesToSync\": [{entries}],"),
    );
}

/// A route whose parents are as given.
fn route(name: &str, namespace: &str, parents: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
         metadata: {{name: {name}, namespace: {namespace}}}\n\
         spec:\n  parentRefs: [{parents}]\n  rules: [{{name: first, backendRefs: [{{name: s, port: 80}}]}}]\n"
    )
}

/// A RateLimitPolicy on something of Gateway API's.
fn limit(name: &str, namespace: &str, target: &str) -> String {
    format!(
        "---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}, \
         limits: {{x: {{rates: [{{limit: 5, window: 10s}}]}}}}}}\n"
    )
}

/// A second Gateway of ours with a placement of its own.
fn second_gateway(scratch: &Scratch, clusters: &str) {
    scratch.write(
        "hub/second.yaml",
        &format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: second\n  namespace: infra\n  \
             labels: {{cluster.open-cluster-management.io/placement: two}}\nspec:\n  gatewayClassName: multicluster\n  \
             listeners:\n  - {{name: web, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}\n---\n\
             apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n\
             metadata: {{name: two-1, namespace: infra, labels: {{cluster.open-cluster-management.io/placement: two}}}}\n\
             status: {{decisions: [{clusters}]}}\n"
        ),
    );
}

const OURS: &str = "{name: prod-web, namespace: gateways, sectionName: api}";
const SECOND: &str = "{name: second, namespace: infra}";

/// The manifests of a work.
fn manifests(scratch: &Scratch, path: &str) -> Vec<Value> {
    let work = read_all(&scratch.read(path), &Limits::default()).expect("YAML");
    work[0]["spec"]["workload"]["manifests"]
        .as_array()
        .expect("manifests")
        .clone()
}

fn names(manifests: &[Value]) -> Vec<String> {
    manifests
        .iter()
        .map(|manifest| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!(
                "{} {}/{}",
                text(&manifest["kind"]),
                text(&manifest["metadata"]["namespace"]),
                text(&manifest["metadata"]["name"])
            )
        })
        .collect()
}

fn render(scratch: &Scratch) -> Run {
    scratch.run(&["render", "hub", "-o", "rendered"])
}

const WORK: &str = "rendered/eu-1/gateway-gateways-prod-web.yaml";

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
        .says("1 Gateway, 1 route, 1 policy: 4 works");
    let shipped = manifests(&scratch, WORK);
    assert_eq!(
        names(&shipped),
        [
            "Namespace /kuadrant-gateways",
            "Namespace /shop",
            "Gateway kuadrant-gateways/prod-web",
            "HTTPRoute shop/cart",
            "RateLimitPolicy kuadrant-gateways/global",
        ]
    );
    assert_eq!(
        shipped[3]["spec"]["parentRefs"],
        serde_json::json!([
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
        names(&shipped)[3..],
        [
            "HTTPRoute shop/cart",
            "RateLimitPolicy kuadrant-gateways/global",
            "RateLimitPolicy shop/rule",
            "RateLimitPolicy shop/whole",
        ]
    );
    assert_eq!(
        shipped[5]["spec"]["targetRef"],
        serde_json::json!({"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "cart", "sectionName": "first"})
    );
    assert_eq!(
        shipped[5]["metadata"]["annotations"]["kuadrant.io/policy-synced"],
        "true"
    );

    // Without the route on the list, the warning is back, and says how to sync it.
    scratch.edit("hub/class.yaml", &format!("\"resourcesToSync\": [{LISTED}],"), "");
    render(&scratch)
        .exits(0)
        .says("warning[policy/not-synced]: RateLimitPolicy shop/whole is not shipped")
        .says("list the route's kind in `resourcesToSync`");
    assert_eq!(names(&manifests(&scratch, WORK)).len(), 3);
}

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
fn a_listener_that_would_refuse_the_route_on_the_spokes_is_an_error_at_what_it_allows() {
    // By default a listener takes routes of its own namespace: on the hub it takes this one.
    let scratch = without_allowed_routes();
    scratch.write("hub/routes.yaml", &route("cart", "gateways", "{name: prod-web}"));
    render(&scratch)
        .exits(3)
        .says("error[route/not-allowed]: on the spokes, listener `api` of Gateway gateways/prod-web would refuse HTTPRoute gateways/cart")
        .says("--> hub/gateway.yaml:14:5")
        .says("::: hub/routes.yaml:6:16")
        .says("there the Gateway lives in `kuadrant-gateways`")
        .says("write `allowedRoutes: {namespaces: {from: All}}`; for `gateways` alone")
        .says("{matchLabels: {kubernetes.io/metadata.name: gateways}}");
    assert!(!scratch.exists("rendered"));
    // At allowedRoutes, where there is one.
    for (from, label) in [("Same", "its own namespace only"), ("None", "no namespace")] {
        let scratch = hub();
        scratch.edit("hub/gateway.yaml", "from: All", &format!("from: {from}"));
        scratch.write("hub/routes.yaml", &route("cart", "gateways", "{name: prod-web}"));
        let run = render(&scratch);
        run.exits(3).says("--> hub/gateway.yaml:17:20").says(label);
    }
}

#[test]
fn routes_that_one_listener_refuses_are_one_error() {
    let scratch = without_allowed_routes();
    let routes: Vec<String> = (0..20)
        .map(|number| route(&format!("r{number:02}"), "shop", OURS))
        .collect();
    scratch.write("hub/routes.yaml", &routes.concat());
    let run = render(&scratch);
    run.exits(3)
        .says("would refuse HTTPRoute shop/r00 and 19 more routes");
    assert_eq!(run.stderr.matches("error[route/not-allowed]").count(), 1);
    assert_eq!(run.stderr.matches("and this one").count(), 4);
}

#[test]
fn a_selector_that_cannot_be_read_selects_nothing_and_the_help_says_so() {
    for select in [
        "from: Selector",
        "from: Selector, selector: {matchExpressions: [{key: team, operator: Like, values: [shop]}]}",
    ] {
        let scratch = hub();
        scratch.edit("hub/gateway.yaml", "from: All", select);
        scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
        render(&scratch)
            .exits(3)
            .says("error[route/not-allowed]")
            .says("`selector` is missing or cannot be read");
    }
}

#[test]
fn a_selector_is_judged_by_the_labels_of_the_routes_namespace() {
    let select = "from: Selector, selector: {matchLabels: {team: shop}}";
    let scratch = hub();
    scratch.edit("hub/gateway.yaml", "from: All", select);
    scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
    render(&scratch)
        .exits(3)
        .says("error[route/not-allowed]")
        .says("the labels of Namespace `shop` are not known");
    let namespace = |labels: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {{{labels}}}}}\n")
    };
    // What the selector asks for goes along, so that it holds there too, and nothing else of it.
    scratch.write("hub/namespace.yaml", &namespace("team: shop, other: x"));
    render(&scratch).exits(0);
    assert_eq!(
        manifests(&scratch, WORK)[1]["metadata"],
        serde_json::json!({"name": "shop", "labels": {"team": "shop"}})
    );
    scratch.write("hub/namespace.yaml", &namespace("team: other"));
    render(&scratch).exits(3).says("give Namespace `shop` the labels");
    // A cluster that has the label by itself needs none; the other one is named.
    scratch.remove("hub/namespace.yaml");
    scratch.write("hub/spokes/eu-1/ns.yaml", &namespace("team: shop"));
    render(&scratch).exits(3).says("= note: on us-1\n");
    scratch.write("hub/spokes/us-1/ns.yaml", &namespace("team: shop"));
    render(&scratch).exits(0);
    assert_eq!(
        manifests(&scratch, WORK)[1]["metadata"],
        serde_json::json!({"name": "shop"})
    );
    // Every Namespace has its name as a label.
    scratch
        .remove("hub/spokes/eu-1/ns.yaml")
        .remove("hub/spokes/us-1/ns.yaml");
    scratch.edit(
        "hub/gateway.yaml",
        "team: shop",
        "kubernetes.io/metadata.name: shop",
    );
    render(&scratch).exits(0);
}

#[test]
fn a_listener_that_takes_the_route_on_the_hub_only_is_an_error_beside_one_that_takes_it_everywhere() {
    let scratch = hub();
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:\n",
        "  listeners:\n  - {name: plain, port: 80, protocol: HTTP}\n",
    );
    scratch.write("hub/routes.yaml", &route("cart", "gateways", "{name: prod-web}"));
    render(&scratch)
        .exits(3)
        .says("listener `plain` of Gateway gateways/prod-web would refuse");
    // From elsewhere it was never taken by that one.
    scratch.write(
        "hub/routes.yaml",
        &route("cart", "shop", "{name: prod-web, namespace: gateways}"),
    );
    render(&scratch).exits(0).does_not_say("route/");
}

#[test]
fn a_kind_that_the_listener_does_not_take_is_not_allowed_either() {
    let scratch = hub();
    scratch.edit(
        "hub/gateway.yaml",
        "{namespaces: {from: All}}",
        "{namespaces: {from: All}, kinds: [{kind: GRPCRoute}]}",
    );
    scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
    render(&scratch)
        .exits(3)
        .says("error[route/not-allowed]")
        .says("takes no HTTPRoute")
        .says("under `allowedRoutes.kinds`");
}

#[test]
fn a_route_that_no_listener_takes_stays_with_a_word() {
    let scratch = hub();
    let hostnames =
        route("cart", "shop", OURS).replace("spec:\n", "spec:\n  hostnames: [cart.example.org]\n");
    let port = route("port", "shop", "{name: prod-web, namespace: gateways, port: 81}");
    scratch.write("hub/routes.yaml", &format!("{hostnames}{port}"));
    render(&scratch)
        .exits(0)
        .says("warning[route/not-attached]: HTTPRoute shop/cart is not shipped with Gateway gateways/prod-web: they have no hostname in common")
        .says("--> hub/routes.yaml:7:16")
        .says("HTTPRoute shop/port is not shipped with Gateway gateways/prod-web: no listener has this port")
        .says("correct `port`, or leave it out");
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
        "{\"downstreamClass\"",
        "{\"workPer\": \"Object\", \"downstreamClass\"",
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

#[test]
fn what_lives_on_a_cluster_beats_a_policy_on_a_route_and_is_never_overwritten() {
    let scratch = hub();
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "shop", OURS),
            limit("cart", "shop", "kind: HTTPRoute, name: cart"),
        ]
        .concat(),
    );
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
    let color = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {name: colors.c.io, labels: {gateway.networking.k8s.io/policy: Direct}}\n\
         spec: {group: c.io, scope: Namespaced, names: {kind: Color, listKind: ColorList, plural: colors, singular: color}, \
         versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: \
         {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {targetRefs: {type: array, items: \
         {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}}]}\n---\n\
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
    scratch.write("hub/colors.yaml", &format!("{color}{grants}"));
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"c.io\", \"version\": \"v1\", \"resource\": \"colors\"}, ",
    );
    scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
    render(&scratch).exits(0);
    let shipped = manifests(&scratch, WORK);
    let colors: Vec<&Value> = shipped
        .iter()
        .filter(|manifest| manifest["kind"] == "Color")
        .collect();
    assert_eq!(
        names(&shipped)[4..6],
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
    render(&scratch).exits(3).says("takes no MQTTRoute");
    scratch.write("hub/crd.yaml", &crd("parents", "Namespaced"));
    scratch.edit("hub/routes.yaml", "parentRefs", "parents");
    render(&scratch)
        .exits(3)
        .says("error[params/resource]: parameters in ConfigMap gateways/params: mqttroutes.r.io has no spec.parentRefs, so MQTTRoute is no route")
        .says("= help: list a kind that attaches to Gateways");
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
            "Secret is no route",
        ),
        (
            r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "gateways"}"#,
            "params/resource",
            "Gateway is no route",
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
    scratch.write(
        "hub/routes.yaml",
        &[
            route("cart", "shop", OURS),
            limit("cart", "shop", "kind: HTTPRoute, name: cart"),
        ]
        .concat(),
    );
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
        diff.exits(1).stdout.contains("HTTPRoute shop/cart"),
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
fn an_error_about_a_route_that_the_configuration_turns_down_ships_it() {
    let scratch = without_allowed_routes();
    scratch.write("hub/routes.yaml", &route("cart", "shop", OURS));
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nfindings: {route/not-allowed: warning}\n",
    );
    render(&scratch).exits(0).says("warning[route/not-allowed]");
    assert!(names(&manifests(&scratch, WORK)).contains(&"HTTPRoute shop/cart".to_owned()));
}

#[test]
fn a_listener_set_stays_on_the_hub_and_what_hangs_on_it_too() {
    let scratch = hub();
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:\n",
        "  allowedListeners: {namespaces: {from: All}}\n  listeners:\n",
    );
    scratch.write(
        "hub/set.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: more, namespace: shop}\n\
         spec: {parentRef: {name: prod-web, namespace: gateways}, listeners: [{name: x, port: 81, protocol: HTTP}]}\n",
    );
    scratch.write(
        "hub/routes.yaml",
        &route("cart", "shop", "{kind: ListenerSet, name: more}"),
    );
    render(&scratch)
        .exits(0)
        .says("warning[route/not-attached]: HTTPRoute shop/cart is not shipped through a ListenerSet")
        .says("name the Gateway as the parent");
    assert_eq!(names(&manifests(&scratch, WORK)).len(), 3);
}

#[test]
fn an_empty_section_and_a_parent_named_twice_change_nothing() {
    let scratch = hub();
    let parents = "{name: prod-web, namespace: gateways, sectionName: \"\"}, {name: prod-web, namespace: gateways, port: 443}";
    scratch.write("hub/routes.yaml", &route("cart", "shop", parents));
    render(&scratch).exits(0);
    let shipped = manifests(&scratch, WORK);
    assert_eq!(shipped[3]["spec"]["parentRefs"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        names(&shipped)
            .iter()
            .filter(|name| name.starts_with("HTTPRoute"))
            .count(),
        1
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
            "{\"downstreamClass\"",
            "{\"workPer\": \"Object\", \"downstreamClass\"",
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
