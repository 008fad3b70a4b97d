//! Tests of routes on listeners.
use super::Topology;
use super::route_attachment::Refusal;
use crate::tests::{Seen, hub};

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
fn a_route_is_refused_for_the_first_reason_that_leaves_no_listener() {
    let two = gateway(
        "{name: a, port: 80, protocol: HTTP, hostname: a.com}, {name: b, port: 81, protocol: TCP, hostname: b.com}",
    );
    let why = |kind: &str, namespace: &str, spec: &str| {
        let hub = hub(&(two.clone() + &route(kind, namespace, spec)), &[]);
        let seen = Seen::hub(&hub);
        let topology = &seen.attachments.topology;
        let route = &topology.routes.rows()[0].route;
        topology.listeners_for(*route, &route.parents[0], false).err()
    };
    let of_http = |spec: &str| why("HTTPRoute", "infra", spec);
    assert_eq!(of_http("parentRefs: [{name: gw}]"), None);
    assert_eq!(of_http("parentRefs: [{name: gone}]"), Some(Refusal::NotFound));
    assert_eq!(
        of_http("parentRefs: [{name: gw, group: \"\", kind: Service}]"),
        Some(Refusal::OtherKind)
    );
    assert_eq!(
        of_http("parentRefs: [{name: gw, sectionName: c}]"),
        Some(Refusal::Section)
    );
    assert_eq!(of_http("parentRefs: [{name: gw, port: 82}]"), Some(Refusal::Port));
    assert_eq!(of_http("parentRefs: [{name: gw, port: 81}]"), Some(Refusal::Kind));
    let elsewhere = why(
        "HTTPRoute",
        "other",
        "parentRefs: [{name: gw, namespace: infra}], hostnames: [a.com]",
    );
    assert_eq!(elsewhere, Some(Refusal::Namespace));
    assert_eq!(
        of_http("parentRefs: [{name: gw}], hostnames: [b.com]"),
        Some(Refusal::Hostname)
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
    let messages: Vec<_> = seen
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(
        messages
            .iter()
            .all(|message| message.ends_with("is its own parent, through its other parents"))
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

/// The routes of a hierarchy, with the backends of each rule.
fn forwards(topology: &Topology<'_>) -> Vec<String> {
    let routes = topology.routes.rows().iter().flat_map(|route| {
        let rules = route.rules.iter().map(|rule| topology.rules.get(*rule));
        rules.map(|rule| {
            let backends = rule.backends.iter();
            let backends: Vec<String> = backends
                .map(|id| topology.backends.get(*id).name.to_string())
                .collect();
            let (name, of) = (&rule.name, route.object.key());
            format!("{of} {name}: {}", backends.join(", "))
        })
    });
    routes.collect()
}

#[test]
fn only_rules_that_name_the_same_backends_have_the_same() {
    let refs = [
        "{name: s}, {name: t}",
        "{name: s}, {name: t}",
        "{name: t}, {name: s}",
        "{name: t}",
        "{name: t, group: g, kind: Other}",
        "{name: t, group: h, kind: Other}",
        "{name: t, group: h, kind: Other, namespace: data}",
    ];
    let rules = refs.map(|refs| format!("{{backendRefs: [{refs}]}}")).join(", ");
    let text = gateway("{name: a, port: 80, protocol: HTTP}")
        + &route(
            "HTTPRoute",
            "infra",
            &format!("parentRefs: [{{name: gw}}], rules: [{rules}]"),
        );
    let hub = hub(&text, &[]);
    let expected = [
        "Service infra/s, Service infra/t",
        "Service infra/s, Service infra/t",
        "Service infra/t, Service infra/s",
        "Service infra/t",
        "Other infra/t",
        "Other infra/t",
        "",
    ];
    let expected = (1..).zip(expected);
    let expected: Vec<String> = expected
        .map(|(rule, backends)| format!("infra/r rule-{rule}: {backends}"))
        .collect();
    let seen = Seen::hub(&hub);
    assert_eq!(forwards(&seen.attachments.topology), expected);
    // Two of them have a group of their own each.
    assert_eq!(seen.attachments.topology.backends.len(), 4);
}

mod listener_sets {
    //! ListenerSets of one Gateway, against a slow and simple account of Gateway API's order of listeners.

    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Seen, gateway, hub};

    const PROTOCOLS: [&str; 4] = ["HTTP", "HTTPS", "TCP", "UDP"];
    const HOSTS: [&str; 3] = ["", "a.example", "A.example"];

    /// Port, protocol, hostname.
    type ListenerOf = (u16, usize, usize);
    /// Year of creation, if any, and a listener.
    type SetOf = (Option<u16>, ListenerOf);

    fn listener() -> impl Strategy<Value = ListenerOf> {
        (1..3_u16, 0..PROTOCOLS.len(), 0..HOSTS.len())
    }

    fn written(name: &str, (port, protocol, host): ListenerOf) -> String {
        let host = match (PROTOCOLS[protocol], HOSTS[host]) {
            ("TCP" | "UDP", _) | (_, "") => String::new(),
            (_, host) => format!(", hostname: {host}"),
        };
        let tls = if protocol == 1 {
            ", tls: {certificateRefs: [{name: c}]}"
        } else {
            ""
        };
        format!(
            "{{name: {name}, port: {port}, protocol: {}{host}{tls}}}",
            PROTOCOLS[protocol]
        )
    }

    /// Whether two listeners cannot be beside each other.
    fn clash(one: ListenerOf, other: ListenerOf) -> bool {
        let (udp, tcp) = (3, 2);
        if one.0 != other.0 || (one.1 == udp) != (other.1 == udp) {
            return false;
        }
        one.1 != other.1 || one.1 == udp || one.1 == tcp || HOSTS[one.2].eq_ignore_ascii_case(HOSTS[other.2])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_listener_takes_routes_unless_the_gateway_or_an_earlier_set_has_its_place(
            own in listener(),
            sets in prop::collection::vec((prop::option::of(2020..2023_u16), listener()), 0..5),
        ) {
            let mut text = gateway(&written("own", own))
                .replace("gatewayClassName: gc", "gatewayClassName: gc, allowedListeners: {namespaces: {from: All}}");
            for (number, (year, listener)) in sets.iter().enumerate() {
                let created = year.map_or_else(String::new, |year| format!(", creationTimestamp: \"{year}-01-01T00:00:00Z\""));
                text += &format!(
                    "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {{name: s{number}, namespace: \
                     sets{created}}}\nspec: {{parentRef: {{name: gw, namespace: infra}}, listeners: [{}]}}\n",
                    written(&format!("l{number}"), *listener)
                );
            }
            let hub = hub(&text, &[]);
            let seen = Seen::hub(&hub);
            let topology = &seen.attachments.topology;
            let listeners = topology.listeners.rows().iter();
            let found: BTreeSet<&str> = listeners
                .filter(|listener| listener.gives_way_to.is_none())
                .map(|listener| listener.name)
                .collect();
            let mut order: Vec<(usize, &SetOf)> = sets.iter().enumerate().collect();
            order.sort_by_key(|(number, (year, _))| (year.unwrap_or(u16::MAX), *number));
            let mut standing = vec![("own".to_owned(), own)];
            for (number, (_, listener)) in order {
                if !standing.iter().any(|(_, other)| clash(*listener, *other)) {
                    standing.push((format!("l{number}"), *listener));
                }
            }
            let wanted: BTreeSet<&str> = standing.iter().map(|(name, _)| name.as_str()).collect();
            prop_assert_eq!(found, wanted, "{}", text);
        }
    }
}
