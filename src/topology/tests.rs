//! Routes on listeners.

use crate::policy::testing::{Seen, hub};

fn gateway(listeners: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: gw, namespace: infra}}\n\
         spec: {{gatewayClassName: gc, listeners: [{listeners}]}}\n"
    )
}

fn route(kind: &str, namespace: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: r, namespace: {namespace}}}\n\
         spec: {{{spec}}}\n"
    )
}

/// Names of the listeners that take the only route.
fn taken_by(text: &str) -> Vec<String> {
    let hub = hub(text, &[]);
    let seen = Seen::hub(&hub);
    let topology = &seen.attachments.topology;
    let attached = topology.gateways.rows()[0].attached.iter();
    attached
        .map(|(listener, _)| topology.listeners.get(*listener).name.to_owned())
        .collect()
}

#[test]
fn section_name_and_port_of_a_parent_choose_listeners() {
    let two = gateway("{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}");
    let parents =
        |parents: &str| two.clone() + &route("HTTPRoute", "infra", &format!("parentRefs: [{parents}]"));
    assert_eq!(taken_by(&parents("{name: gw}")), ["a", "b"]);
    assert_eq!(taken_by(&parents("{name: gw, sectionName: b}")), ["b"]);
    assert_eq!(taken_by(&parents("{name: gw, port: 80}")), ["a"]);
    assert!(taken_by(&parents("{name: gw, port: 80, sectionName: b}")).is_empty());
    assert!(taken_by(&parents("{name: gw, kind: Service, group: \"\"}")).is_empty());
}

#[test]
fn hostnames_must_meet() {
    let two = gateway(
        "{name: a, port: 80, protocol: HTTP, hostname: \"*.shop.com\"}, {name: b, port: 81, protocol: HTTP, hostname: api.com}",
    );
    let hosts = |hosts: &str| {
        two.clone()
            + &route(
                "HTTPRoute",
                "infra",
                &format!("parentRefs: [{{name: gw}}], hostnames: [{hosts}]"),
            )
    };
    assert_eq!(taken_by(&hosts("cart.shop.com")), ["a"]);
    assert_eq!(taken_by(&hosts("api.com, cart.shop.com")), ["a", "b"]);
    assert!(taken_by(&hosts("shop.com")).is_empty());
}

#[test]
fn allowed_routes_choose_namespaces_and_kinds() {
    let listener = |allowed: &str| {
        gateway(&format!(
            "{{name: a, port: 80, protocol: HTTP, allowedRoutes: {{{allowed}}}}}"
        ))
    };
    let from = route("HTTPRoute", "apps", "parentRefs: [{name: gw, namespace: infra}]");
    assert!(
        taken_by(&(listener("") + &from)).is_empty(),
        "Same is the default"
    );
    assert_eq!(taken_by(&(listener("namespaces: {from: All}") + &from)), ["a"]);
    let selected = listener("namespaces: {from: Selector, selector: {matchLabels: {team: web}}}");
    assert!(taken_by(&(selected.clone() + &from)).is_empty());
    let labelled = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: apps, labels: {team: web}}\n";
    assert_eq!(taken_by(&(selected + &from + labelled)), ["a"]);
    let by_name = listener(
        "namespaces: {from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: apps}}}",
    );
    assert_eq!(
        taken_by(&(by_name + &from)),
        ["a"],
        "every Namespace carries its name as a label"
    );
    let kinds = listener("namespaces: {from: All}, kinds: [{kind: GRPCRoute}]");
    assert!(taken_by(&(kinds.clone() + &from)).is_empty());
    assert_eq!(
        taken_by(&(kinds + &from.replace("HTTPRoute", "GRPCRoute"))),
        ["a"]
    );
}

#[test]
fn every_route_kind_attaches_where_its_protocol_is_spoken() {
    for (kind, protocol) in [
        ("HTTPRoute", "HTTPS"),
        ("GRPCRoute", "HTTP"),
        ("TLSRoute", "TLS"),
        ("TCPRoute", "TCP"),
        ("UDPRoute", "UDP"),
    ] {
        let text = gateway(&format!("{{name: a, port: 80, protocol: {protocol}}}"))
            + &route(kind, "infra", "parentRefs: [{name: gw}]");
        assert_eq!(taken_by(&text), ["a"], "{kind}");
    }
    let text = gateway("{name: a, port: 80, protocol: UDP}")
        + &route("TCPRoute", "infra", "parentRefs: [{name: gw}]");
    assert!(taken_by(&text).is_empty());
}

#[test]
fn a_listener_set_adds_listeners_where_the_gateway_allows_it() {
    let set = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: ls, namespace: infra}\n\
               spec: {parentRef: {name: gw}, listeners: [{name: more, port: 82, protocol: HTTP}]}\n";
    let route = route(
        "HTTPRoute",
        "infra",
        "parentRefs: [{kind: ListenerSet, name: ls}]",
    );
    let closed = gateway("{name: a, port: 80, protocol: HTTP}");
    assert!(taken_by(&(closed.clone() + set + &route)).is_empty());
    let open = closed.replace(
        "gatewayClassName: gc",
        "gatewayClassName: gc, allowedListeners: {namespaces: {from: Same}}",
    );
    assert_eq!(taken_by(&(open + set + &route)), ["more"]);
}

#[test]
fn a_circle_of_parents_is_a_finding_on_each_of_its_routes_only() {
    let route = |name: &str, parents: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{parentRefs: [{parents}]}}\n"
        )
    };
    let text = gateway("{name: a, port: 80, protocol: HTTP}")
        + &route("one", "{kind: HTTPRoute, name: two}, {name: gw}")
        + &route("two", "{kind: HTTPRoute, name: one}")
        + &route("below", "{kind: HTTPRoute, name: one}")
        + &route("self", "{kind: HTTPRoute, name: self}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let messages: Vec<&str> = seen
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(
        messages
            .iter()
            .all(|message| message.ends_with("is, through its parents, its own parent"))
    );
    assert_eq!(
        seen.attachments.topology.gateways.rows()[0].attached.len(),
        1,
        "the rest still hangs on the Gateway"
    );
}

#[test]
fn a_backend_in_another_namespace_is_reached_only_with_a_grant() {
    let text = gateway("{name: a, port: 80, protocol: HTTP}")
        + &route(
            "HTTPRoute",
            "infra",
            "parentRefs: [{name: gw}], rules: [{backendRefs: [{name: s, namespace: data, port: 80}]}]",
        );
    let without = hub(&text, &[]);
    assert!(Seen::hub(&without).attachments.topology.backends.is_empty());
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: data}\n\
                 spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: infra}], to: [{group: \"\", kind: Service}]}\n";
    let with = hub(&(text + grant), &[]);
    assert_eq!(Seen::hub(&with).attachments.topology.backends.len(), 1);
}
