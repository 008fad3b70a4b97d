//! The copies of objects that parameters choose: their names, their namespaces, and where they go.

use kube_json::{Value, json};

use super::received;
use crate::tests::{hub, small_with_params};

/// `namespace/name: clusters` of the copies of Services.
fn services(text: &str, gateways: &[(&str, &[&str])]) -> Vec<String> {
    let copies = copies(text, gateways, "Service").into_iter();
    copies.map(|(place, _)| place).collect()
}

/// `namespace/name: clusters` of the copies of a kind, with their specs.
fn copies(text: &str, gateways: &[(&str, &[&str])], kind: &str) -> Vec<(String, Value)> {
    let hub = hub(text, &[]);
    received(&hub, gateways, |received| {
        let variants = received.making.variants.iter().flatten();
        let copies = variants.flat_map(|variant| variant.copies.iter().map(move |copy| (variant, copy)));
        let copies = copies.filter(|(_, copy)| copy.object.kind == kind);
        copies
            .map(|(variant, copy)| {
                let object = &copy.object;
                let field = |name: &str| object.value["metadata"][name].as_text().unwrap().clone();
                assert_eq!(
                    (object.name.clone(), object.namespace.clone()),
                    (field("name"), Some(field("namespace")))
                );
                let place = format!("{}: {}", object.key(), variant.clusters.join(" "));
                (place, object.value["spec"].clone())
            })
            .collect()
    })
}

/// Parameters that choose these Services, and further resources.
fn choosing(names: &str, resources: &str) -> String {
    small_with_params().replace(
        "{policiesToSync:",
        &format!(
            "{{resourcesToSync: [{{group: '', version: v1, resource: services, names: [{names}]}}{resources}], policiesToSync:"
        ),
    )
}

fn service(namespace: &str, name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{ports: [{{port: 80}}]}}\n"
    )
}

#[test]
fn a_copy_is_in_the_namespace_of_its_gateway_and_named_after_its_own_if_that_is_another() {
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: far}\n\
                 spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}], to: [{group: '', kind: Service}]}\n";
    let text =
        choosing("infra/s, far/t, closed/u", "") + &service("far", "t") + &service("closed", "u") + grant;
    assert_eq!(
        services(&text, &[("infra/gw", &["c1", "c2"])]),
        ["kuadrant-infra/far.t: c1 c2", "kuadrant-infra/s: c1 c2"]
    );
}

#[test]
fn what_is_in_the_namespace_of_a_route_goes_wherever_a_gateway_of_the_route_goes() {
    let all = "protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}";
    let other = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: infra}\n\
                 spec: {gatewayClassName: gc, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";
    let route = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop}\n\
                 spec: {parentRefs: [{name: gw, namespace: infra}, {name: other, namespace: infra}], rules: [{backendRefs: [{name: cart, port: 80}]}]}\n";
    let routes = ", {group: gateway.networking.k8s.io, version: v1, resource: httproutes}";
    let text = (choosing("shop/cart", routes) + other + route + &service("shop", "cart"))
        .replace("protocol: HTTP}", all);
    let places: &[(&str, &[&str])] = &[("infra/gw", &["c1"]), ("infra/other", &["c2"])];
    let mut found = services(&text, places);
    found.retain(|copy| copy.contains("cart"));
    assert_eq!(found, ["shop/cart: c1", "shop/cart: c2"]);
}

const ALL: &str = "protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}";
const ROUTES: &str = ", {group: gateway.networking.k8s.io, version: v1, resource: httproutes}";

/// A route in namespace `shop` to a Service in namespace `far`.
const TO_FAR: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop}\n\
                      spec: {parentRefs: [{name: gw, namespace: infra}], rules: [{backendRefs: [{name: s, namespace: far, port: 80}]}]}\n";

fn grant(from: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: far}}\n\
         spec: {{from: [{from}], to: [{{group: '', kind: Service}}, {{group: '', kind: Secret}}]}}\n"
    )
}

#[test]
fn what_a_shipped_route_refers_to_in_another_namespace_goes_with_it_if_it_is_chosen() {
    let text = (choosing("far/s, away/s", ROUTES) + TO_FAR + &service("far", "s") + &service("away", "s"))
        .replace("protocol: HTTP}", ALL);
    assert_eq!(services(&text, &[("infra/gw", &["c1"])]), ["far/s: c1"]);
}

#[test]
fn a_grant_goes_where_a_route_needs_it_and_says_where_on_the_clusters_its_referrers_are() {
    let from = |kind: &str, namespace: &str| {
        format!("{{group: gateway.networking.k8s.io, kind: {kind}, namespace: {namespace}}}")
    };
    let all = [
        from("HTTPRoute", "shop"),
        from("Gateway", "infra"),
        from("HTTPRoute", "elsewhere"),
    ];
    let text = (choosing("", ROUTES) + TO_FAR).replace("protocol: HTTP}", ALL);
    let grants = |grant: &str| {
        copies(
            &(text.clone() + grant),
            &[("infra/gw", &["c1"])],
            "ReferenceGrant",
        )
    };
    let [(place, spec)] = &*grants(&grant(&all.join(", "))) else {
        panic!("one grant")
    };
    assert_eq!(place, "far/g: c1");
    let group = "gateway.networking.k8s.io";
    assert_eq!(
        spec["from"],
        json!([
            {"group": group, "kind": "HTTPRoute", "namespace": "shop"},
            {"group": group, "kind": "Gateway", "namespace": "kuadrant-infra"},
            {"group": group, "kind": "HTTPRoute", "namespace": "elsewhere"},
        ])
    );
    assert!(
        grants(&grant(&all[1..].join(", "))).is_empty(),
        "no route needs it"
    );
}

#[test]
fn a_grant_goes_where_a_gateway_needs_it_for_a_secret_that_is_not_copied() {
    let listener =
        "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c, namespace: far}]}}";
    let text = small_with_params().replace("{name: https, port: 443, protocol: HTTPS}", listener)
        + &grant("{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}");
    let [(place, spec)] = &*copies(&text, &[("infra/gw", &["c1"])], "ReferenceGrant") else {
        panic!("one grant")
    };
    assert_eq!(place, "far/g: c1");
    assert_eq!(spec["from"][0]["namespace"], "kuadrant-infra");
}
