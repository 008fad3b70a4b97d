//! The copies of objects that parameters choose: their names, their namespaces, and where they go.

use super::received;
use crate::policy::testing::{hub, small_with_params};

/// `namespace/name: clusters` of the copies of Services.
fn services(text: &str, gateways: &[(&str, &[&str])]) -> Vec<String> {
    let hub = hub(text, &[]);
    received(&hub, gateways, |received| {
        let variants = received.making.variants.iter().flatten();
        let copies = variants.flat_map(|variant| variant.copies.iter().map(move |copy| (variant, copy)));
        let copies = copies.filter(|(_, copy)| copy.object.kind == "Service");
        copies
            .map(|(variant, copy)| {
                let object = &copy.object;
                let field = |name: &str| object.value["metadata"][name].as_text().unwrap().clone();
                assert_eq!(
                    (object.name.clone(), object.namespace.clone()),
                    (field("name"), Some(field("namespace")))
                );
                format!("{}: {}", object.key(), variant.clusters.join(" "))
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
