//! Listeners that would refuse a route on the spokes, and routes that no listener takes.

use super::*;

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
        .says("to accept the routes of `gateways` there as on the hub, write `allowedRoutes: {namespaces: {from: Selector")
        .says("{matchLabels: {kubernetes.io/metadata.name: gateways}}");
    assert!(!scratch.exists("rendered"));
    // At allowedRoutes, where there is one.
    for (from, place, label) in [
        ("Same", "17:20", "only routes of its own namespace"),
        // A value that the schema refuses is the one mistake, at the value.
        ("None", "17:40", "Unsupported value: \"None\""),
    ] {
        let scratch = hub();
        scratch.edit("hub/gateway.yaml", "from: All", &format!("from: {from}"));
        scratch.write("hub/routes.yaml", &route("cart", "gateways", "{name: prod-web}"));
        let run = render(&scratch);
        run.exits(3)
            .says(&format!("--> hub/gateway.yaml:{place}"))
            .says(label);
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
            .says("`selector` is missing or unreadable");
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
        kube_json::json!({"name": "shop", "labels": {"team": "shop"}})
    );
    scratch.write("hub/namespace.yaml", &namespace("team: other"));
    render(&scratch).exits(3).says("or give the Namespace the labels");
    // A cluster that has the label by itself needs none; the other one is named.
    scratch.remove("hub/namespace.yaml");
    scratch.write("hub/spokes/eu-1/ns.yaml", &namespace("team: shop"));
    render(&scratch).exits(3).says("= note: on us-1\n");
    scratch.write("hub/spokes/us-1/ns.yaml", &namespace("team: shop"));
    render(&scratch).exits(0);
    assert_eq!(
        manifests(&scratch, WORK)[1]["metadata"],
        kube_json::json!({"name": "shop"})
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
        .says("accepts no HTTPRoute")
        .says("under `allowedRoutes.kinds`");
}

#[test]
fn a_route_that_no_listener_takes_stays_with_a_word() {
    let scratch = hub();
    let with_hostname = |parent: &str| {
        route("cart", "shop", parent).replace("spec:\n", "spec:\n  hostnames: [cart.example.org]\n")
    };
    let port = route("port", "shop", "{name: prod-web, namespace: gateways, port: 81}");
    scratch.write("hub/routes.yaml", &port);
    render(&scratch)
        .exits(3)
        .says("error[route/not-attached]: HTTPRoute shop/port is not shipped with Gateway gateways/prod-web: no listener has this port")
        .says("correct `port`, or leave it out");
    scratch.write(
        "hub/routes.yaml",
        &with_hostname("{name: prod-web, namespace: gateways}"),
    );
    render(&scratch)
        .exits(0)
        .says("warning[route/not-attached]: HTTPRoute shop/cart is not shipped with Gateway gateways/prod-web: they have no hostname in common")
        .says("--> hub/routes.yaml:7:16");
    assert_eq!(names(&manifests(&scratch, WORK)).len(), 3);
    // The listener that it names.
    scratch.write("hub/routes.yaml", &with_hostname(OURS));
    render(&scratch)
        .exits(0)
        .says("--> hub/routes.yaml:7:67")
        .says("::: hub/gateway.yaml:14:5");
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
        .says("warning[route/not-attached]: HTTPRoute shop/cart is not shipped: its ListenerSet")
        .says("name the Gateway as the parent");
    assert_eq!(names(&manifests(&scratch, WORK)).len(), 3);
}

#[test]
fn a_parent_named_twice_changes_nothing() {
    let scratch = hub();
    let parents = "{name: prod-web, namespace: gateways}, {name: prod-web, namespace: gateways, port: 443}";
    scratch.write("hub/routes.yaml", &route("cart", "shop", parents));
    // An API server refuses such references; who says that he knows gets the same as with one.
    render(&scratch).exits(3).says("error[route/invalid]");
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nfindings: {route/invalid: warning}\n",
    );
    render(&scratch).exits(0);
    let shipped = manifests(&scratch, WORK);
    assert_eq!(shipped[4]["spec"]["parentRefs"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        names(&shipped)
            .iter()
            .filter(|name| name.starts_with("HTTPRoute"))
            .count(),
        1
    );
}
