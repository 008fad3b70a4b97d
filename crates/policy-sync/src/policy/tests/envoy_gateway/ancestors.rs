//! Which ancestors the statuses of Envoy Gateway have, in which order, and what a refused policy leaves out of them
//! (docs/systems/envoy-gateway.md#status).

use super::{BOTH, FIRST, GW, HTTP, ON_SET, ONE, PLAIN, SET, TOPOLOGY, of_kind, traffic, with};
use crate::hub::Hub;
use crate::policy::{AncestorStatus, accepted};
use crate::tests::{Seen, hub};

/// The ancestors of a policy at all Gateways.
fn ancestors_of(seen: &Seen<'_>, policy: &str) -> Vec<AncestorStatus> {
    let gateways = seen.attachments.topology.gateways.ids().collect();
    crate::policy::ancestors(&seen.attachments, seen.id(policy), &gateways, |_| None)
}

/// `kind namespace/name#section` of the ancestors of a policy.
fn named(hub: &Hub, policy: &str) -> Vec<String> {
    let ancestors = ancestors_of(&Seen::hub(hub), policy).into_iter();
    ancestors
        .map(|ancestor| {
            let known = ancestor.ancestor_ref;
            let section = known.section_name.map(|section| format!("#{section}"));
            let section = section.unwrap_or_default();
            format!("{} {}/{}{section}", known.kind, known.namespace, known.name)
        })
        .collect()
}

/// The messages of a policy's conditions, at whichever ancestor.
fn messages(hub: &Hub, policy: &str) -> Vec<String> {
    let ancestors = ancestors_of(&Seen::hub(hub), policy).into_iter();
    let conditions = ancestors.flat_map(|ancestor| ancestor.conditions);
    conditions
        .map(|condition| condition.message.to_string())
        .collect()
}

#[test]
fn ancestors_stand_in_the_order_in_which_targets_are_processed_rules_first_and_gateways_last() {
    let targets = [GW, HTTP, SET, ONE, BOTH, FIRST];
    let targets = targets.map(|target| format!("{{group: gateway.networking.k8s.io, {target}}}"));
    let policy = of_kind("BackendTrafficPolicy", "p", "SEVERAL", "")
        .replace("{group: gateway.networking.k8s.io, SEVERAL}", &targets.join(", "));
    assert_eq!(
        named(&hub(&with(&[policy]), &[]), "BackendTrafficPolicy infra/p"),
        [
            "Gateway infra/gw#http",
            "Gateway infra/gw",
            "ListenerSet infra/set#one",
            "ListenerSet infra/set",
        ]
    );
}

#[test]
fn a_backend_tls_policy_has_no_ancestor_by_a_parent_of_another_gateway_or_one_that_takes_no_route() {
    let gateway = |name: &str, listeners: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{gatewayClassName: eg, listeners: [{listeners}]}}\n"
        )
    };
    let route = |name: &str, parents: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{parentRefs: [{parents}], rules: [{{backendRefs: [{{name: s, port: 443}}]}}]}}\n"
        )
    };
    let class = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\n\
                 spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n\
                 ---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: infra}\nspec: {ports: [{name: https, port: 443}]}\n";
    let policy = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: p, namespace: infra}\n\
                  spec: {targetRefs: [{group: '', kind: Service, name: s}], validation: {hostname: a.example, wellKnownCACertificates: System}}\n";
    let text = class.to_owned()
        + &gateway(
            "one",
            "{name: a, port: 80, protocol: HTTP}, {name: grpc, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}",
        )
        + &gateway("two", "{name: b, port: 80, protocol: HTTP}")
        + &route(
            "r1",
            "{name: one, sectionName: a}, {name: one, sectionName: grpc}",
        )
        + &route("r2", "{name: two, sectionName: b}, {name: one, sectionName: a}")
        + policy;
    assert_eq!(
        named(&hub(&text, &[]), "BackendTLSPolicy infra/p"),
        ["Gateway infra/one#a", "Gateway infra/two#b"]
    );
}

#[test]
fn a_policy_that_is_conflicted_merges_with_nothing_and_overrides_nothing() {
    let aged = |policy: String, year: u16| {
        policy.replace(
            "namespace: infra}\nspec",
            &format!("namespace: infra, creationTimestamp: \"{year}-01-01T00:00:00Z\"}}\nspec"),
        )
    };
    let of = |settings: &str| {
        let text = with(&[
            traffic("g", GW, "retry: {numRetries: 1}"),
            aged(traffic("old", ON_SET, "retry: {numRetries: 2}"), 2025),
            aged(traffic("new", ON_SET, settings), 2026),
        ]);
        messages(&hub(&text, &[]), "BackendTrafficPolicy infra/g")
    };
    assert_eq!(of("mergeType: StrategicMerge"), of("useClientProtocol: true"));
}

#[test]
fn whether_a_policy_is_accepted_is_said_in_the_words_of_its_controller() {
    let text = with(&[traffic("a", GW, ""), traffic("b", GW, "")]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let of = |policy: &str| {
        let condition = accepted(&seen.attachments, seen.id(policy), None);
        format!("{}/{}: {}", condition.status, condition.reason, condition.message)
    };
    assert_eq!(
        of("BackendTrafficPolicy infra/a"),
        "True/Accepted: Policy has been accepted."
    );
    assert_eq!(
        of("BackendTrafficPolicy infra/b"),
        "False/Conflicted: Unable to target Gateway gw, another BackendTrafficPolicy has already attached to it"
    );
}

#[test]
fn a_size_is_accepted_at_its_bounds_and_refused_beyond() {
    let window = |size: u32| {
        let settings = format!("http2: {{initialStreamWindowSize: {size}}}");
        let policy = of_kind("ClientTrafficPolicy", "p", GW, &settings);
        messages(&hub(&with(&[policy]), &[]), "ClientTrafficPolicy infra/p")
    };
    for size in [65_535, 2_147_483_647] {
        assert_eq!(window(size), ["Policy has been accepted."], "{size}");
    }
    for size in [65_534, 2_147_483_648] {
        assert!(window(size)[0].contains("is out of range"), "{size}");
    }
}

/// A TCPRoute below the listener `tcp`, a SecurityPolicy on the Gateway, and one on the route that merges with it.
fn on_tcp(above: &str) -> Hub {
    let tcp = "---\napiVersion: gateway.networking.k8s.io/v1alpha2\nkind: TCPRoute\nmetadata: {name: db, namespace: infra}\n\
               spec: {parentRefs: [{name: gw, sectionName: tcp}], rules: [{name: only, backendRefs: [{name: s, port: 80}]}]}\n";
    let topology = TOPOLOGY.replace(
        "  - {name: https,",
        "  - {name: tcp, port: 5432, protocol: TCP}\n  - {name: https,",
    );
    let own = "mergeType: StrategicMerge, authorization: {defaultAction: Allow}";
    let policies = of_kind("SecurityPolicy", "above", GW, above)
        + &of_kind("SecurityPolicy", "own", "kind: TCPRoute, name: db", own);
    hub(&(topology + tcp + &policies), &[])
}

#[test]
fn a_policy_of_a_tcp_route_merges_if_nothing_but_authorization_comes_of_it() {
    let fitting = on_tcp("authorization: {defaultAction: Deny}");
    let seen = Seen::hub(&fitting);
    assert_eq!(
        seen.spec(&["gw", "db", "db#only"]),
        Some(kube_json::json!({"authorization": {"defaultAction": "Allow"}}))
    );
    let refused = messages(&on_tcp("cors: {maxAge: 1s}"), "SecurityPolicy infra/own");
    assert_eq!(
        refused,
        ["Only authorization is supported for TCP (routes/listeners)."]
    );
}

#[test]
fn udp_routes_take_single_settings_from_above_and_keep_all_of_their_own() {
    let udp = "---\napiVersion: gateway.networking.k8s.io/v1alpha2\nkind: UDPRoute\nmetadata: {name: dns, namespace: infra}\n\
               spec: {parentRefs: [{name: gw, sectionName: udp}], rules: [{name: only, backendRefs: [{name: s, port: 80}]}]}\n";
    let topology = TOPOLOGY.replace(
        "  - {name: https,",
        "  - {name: udp, port: 53, protocol: UDP}\n  - {name: https,",
    );
    let policies = traffic(
        "above",
        GW,
        "loadBalancer: {type: Random}, retry: {numRetries: 1}",
    ) + &traffic(
        "own",
        "kind: UDPRoute, name: dns",
        "healthCheck: {panicThreshold: 9}",
    );
    let hub = hub(&(topology + udp + &policies), &[]);
    assert_eq!(
        Seen::hub(&hub).spec(&["gw", "dns", "dns#only"]),
        Some(kube_json::json!({"loadBalancer": {"type": "Random"}, "healthCheck": {"panicThreshold": 9}}))
    );
}

#[test]
fn gateways_are_merged_only_by_an_envoy_proxy_that_their_class_names_as_such() {
    let listeners = |name: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{gatewayClassName: eg, listeners: [{{name: l, port: 80, protocol: HTTP, hostname: {name}.example}}]}}\n"
        )
    };
    let said = |group: &str, kind: &str| {
        let class = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: eg}}\nspec: {{controllerName: \
             gateway.envoyproxy.io/gatewayclass-controller, parametersRef: {{group: {group}, kind: {kind}, name: p, namespace: system}}}}\n\
             ---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyProxy\nmetadata: {{name: p, namespace: system}}\n\
             spec: {{mergeGateways: true}}\n"
        );
        let policy = of_kind("ClientTrafficPolicy", "p", "kind: Gateway, name: a", "");
        let text = class + &listeners("a") + &listeners("b") + &policy;
        messages(&hub(&text, &[]), "ClientTrafficPolicy infra/p")
    };
    let (group, kind) = ("gateway.envoyproxy.io", "EnvoyProxy");
    assert!(
        said(group, kind)[0].contains("infra/b/l"),
        "{:?}",
        said(group, kind)
    );
    for (group, kind) in [(group, "Other"), ("example.com", kind)] {
        assert_eq!(said(group, kind), ["Policy has been accepted."], "{group} {kind}");
    }
}

#[test]
fn a_policy_of_a_route_that_merges_is_on_the_ancestors_of_its_route() {
    let text = with(&[traffic("r", PLAIN, "mergeType: StrategicMerge")]);
    assert_eq!(
        named(&hub(&text, &[]), "BackendTrafficPolicy infra/r"),
        ["Gateway infra/gw#http"]
    );
}
