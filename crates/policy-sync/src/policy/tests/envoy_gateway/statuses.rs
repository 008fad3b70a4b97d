//! Predicted statuses, ancestor by ancestor (docs/systems/envoy-gateway.md#status).

use kube_json::json;

use super::{BOTH, FIRST, GW, HTTP, HTTPS, ON_SET, ONE, PLAIN, SET, TOPOLOGY, of_kind, spec, traffic, with};
use crate::outcome::PolicyEntry;
use crate::tests::{Seen, hub};
use crate::topology::Node;

/// `kind namespace/name#section: Type Reason message` of every ancestor's conditions.
fn ancestors(seen: &Seen<'_>, policy: &str) -> Vec<String> {
    let entry = seen.view(|view| PolicyEntry::of_hub(view, seen.id(policy)));
    let mut said = Vec::new();
    for ancestor in entry.ancestors {
        let known = ancestor.ancestor_ref;
        let section = known
            .section_name
            .map(|section| format!("#{section}"))
            .unwrap_or_default();
        assert_eq!(
            ancestor.controller_name,
            "gateway.envoyproxy.io/gatewayclass-controller"
        );
        for condition in ancestor.conditions {
            said.push(format!(
                "{} {}/{}{section}: {}={} {}: {}",
                known.kind,
                known.namespace,
                known.name,
                condition.kind,
                condition.status,
                condition.reason,
                condition.message
            ));
        }
    }
    said
}

#[test]
fn statuses_say_what_is_merged_and_what_is_overridden_for_each_ancestor() {
    let text = with(&[
        traffic("g", GW, "retry: {numRetries: 1}"),
        traffic("h", HTTP, "retry: {numRetries: 2}"),
        traffic("s", SET, "retry: {numRetries: 3}"),
        traffic("o", ONE, "retry: {numRetries: 4}"),
        traffic("r", BOTH, "mergeType: StrategicMerge, useClientProtocol: true"),
        traffic("p", PLAIN, "useClientProtocol: true"),
        traffic("f", FIRST, "useClientProtocol: false"),
        traffic("q", ON_SET, "mergeType: JSONMerge"),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let said = |name: &str| ancestors(&seen, &format!("BackendTrafficPolicy infra/{name}"));
    let accepted = "Accepted=True Accepted: Policy has been accepted.";
    assert_eq!(
        said("g"),
        [
            format!("Gateway infra/gw: {accepted}"),
            "Gateway infra/gw: Merged=True Merged: This policy is being merged by other backendTrafficPolicies for these routes: [infra/both]".to_owned(),
            "Gateway infra/gw: Overridden=True Overridden: This policy is being overridden by other backendTrafficPolicies for \
             these gateway listeners: [infra/gw/http] and these listenersets: [infra/set] and these listenerset listeners: \
             [infra/set/one] and these routes: [infra/on-set infra/plain]".to_owned(),
        ]
    );
    assert_eq!(
        said("h"),
        [
            format!("Gateway infra/gw#http: {accepted}"),
            "Gateway infra/gw#http: Merged=True Merged: This policy is being merged by other backendTrafficPolicies for these routes: [infra/both]".to_owned(),
            "Gateway infra/gw#http: Overridden=True Overridden: This policy is being overridden by other backendTrafficPolicies for these routes: [infra/plain]".to_owned(),
        ]
    );
    assert_eq!(
        said("s"),
        [
            format!("ListenerSet infra/set: {accepted}"),
            "ListenerSet infra/set: Merged=True Merged: This policy is being merged by other backendTrafficPolicies for these routes: [infra/on-set]".to_owned(),
            "ListenerSet infra/set: Overridden=True Overridden: This policy is being overridden by other backendTrafficPolicies for these listenerset listeners: [infra/set/one]".to_owned(),
        ]
    );
    assert_eq!(
        said("r"),
        [
            "Gateway infra/gw#http: Merged=True Merged: Merged with policy infra/h".to_owned(),
            "Gateway infra/gw#https: Merged=True Merged: Merged with policy infra/g".to_owned(),
            format!("Gateway infra/gw: {accepted}"),
        ]
    );
    assert_eq!(
        said("p"),
        [
            format!("Gateway infra/gw#http: {accepted}"),
            "Gateway infra/gw#http: Overridden=True Overridden: This policy is being overridden by other backendTrafficPolicy for these route rules: [first]".to_owned(),
        ]
    );
    assert_eq!(said("f"), [format!("Gateway infra/gw#http: {accepted}")]);
    assert_eq!(
        said("q"),
        [
            "ListenerSet infra/set#one: Merged=True Merged: Merged with policy infra/o".to_owned(),
            "ListenerSet infra/set#two: Merged=True Merged: Merged with policy infra/s".to_owned(),
            format!("ListenerSet infra/set: {accepted}"),
        ]
    );
}

#[test]
fn the_oldest_of_two_policies_holds_and_the_other_is_conflicted_at_each_ancestor() {
    let aged = |kind: &str, name: &str, target: &str, day: u8| {
        of_kind(kind, name, target, "").replace(
            "namespace: infra}\nspec",
            &format!("namespace: infra, creationTimestamp: \"2026-01-0{day}T00:00:00Z\"}}\nspec"),
        )
    };
    for (kind, target, at, unable) in [
        ("BackendTrafficPolicy", GW, "Gateway infra/gw", "Gateway gw"),
        (
            "BackendTrafficPolicy",
            HTTP,
            "Gateway infra/gw#http",
            "Listener infra/gw/http",
        ),
        (
            "SecurityPolicy",
            HTTP,
            "Gateway infra/gw#http",
            "Listener gw/http",
        ),
        ("SecurityPolicy", SET, "ListenerSet infra/set", "ListenerSet set"),
        (
            "SecurityPolicy",
            ONE,
            "ListenerSet infra/set#one",
            "Listener set/one",
        ),
        (
            "EnvoyExtensionPolicy",
            PLAIN,
            "Gateway infra/gw#http",
            "HTTPRoute plain",
        ),
        (
            "EnvoyExtensionPolicy",
            FIRST,
            "Gateway infra/gw#http",
            "RouteRule plain/first",
        ),
        (
            "ClientTrafficPolicy",
            HTTPS,
            "Gateway infra/gw#https",
            "section of gw",
        ),
        ("ClientTrafficPolicy", GW, "Gateway infra/gw", "Gateway gw"),
    ] {
        let text = with(&[aged(kind, "a", target, 2), aged(kind, "b", target, 1)]);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        assert_eq!(
            ancestors(&seen, &format!("{kind} infra/b")),
            [format!("{at}: Accepted=True Accepted: Policy has been accepted.")]
        );
        assert_eq!(
            ancestors(&seen, &format!("{kind} infra/a")),
            [format!(
                "{at}: Accepted=False Conflicted: Unable to target {unable}, another {kind} has already attached to it"
            )]
        );
    }
}

#[test]
fn a_security_policy_with_http_settings_is_refused_on_a_tcp_route() {
    let tcp = "---\napiVersion: gateway.networking.k8s.io/v1alpha2\nkind: TCPRoute\nmetadata: {name: db, namespace: infra}\n\
               spec: {parentRefs: [{name: gw}], rules: [{name: only}]}\n";
    let policy =
        |name: &str, settings: &str| of_kind("SecurityPolicy", name, "kind: TCPRoute, name: db", settings);
    for (settings, expected) in [
        (
            "cors: {maxAge: 1s}",
            "Accepted=False Invalid: Invalid SecurityPolicy for TCP route: only authorization is supported for TCP (routes/listeners).",
        ),
        (
            "authorization: {defaultAction: Deny}",
            "Accepted=True Accepted: Policy has been accepted.",
        ),
    ] {
        let hub = hub(&(TOPOLOGY.to_owned() + tcp + &policy("s", settings)), &[]);
        let seen = Seen::hub(&hub);
        assert_eq!(
            ancestors(&seen, "SecurityPolicy infra/s"),
            [format!("Gateway infra/gw: {expected}")]
        );
    }
}

/// `envoyproxy/gateway internal/gatewayapi/securitypolicy.go`: a TCP route has no requests, so nothing but
/// `authorization` holds there; where a policy is refused, what is above it is still filled in.
#[test]
fn on_a_tcp_route_authorization_holds_alone_and_a_refused_policy_lifts_nothing() {
    let tcp = "---\napiVersion: gateway.networking.k8s.io/v1alpha2\nkind: TCPRoute\nmetadata: {name: db, namespace: infra}\n\
               spec: {parentRefs: [{name: gw, sectionName: tcp}], rules: [{name: only, backendRefs: [{name: s, port: 80}]}]}\n";
    let above = of_kind(
        "SecurityPolicy",
        "above",
        "kind: Gateway, name: gw",
        "authorization: {defaultAction: Deny}, cors: {maxAge: 1s}",
    );
    let deny = json!({"authorization": {"defaultAction": "Deny"}});
    let allow = json!({"authorization": {"defaultAction": "Allow"}});
    for (settings, expected, is_accepted) in [
        (None, &deny, true),
        (Some(""), &deny, true),
        (Some("authorization: {defaultAction: Allow}"), &allow, true),
        (
            Some("authorization: {defaultAction: Allow}, cors: {maxAge: 2s}"),
            &deny,
            false,
        ),
        // What it would be merged with makes it more than a TCP route takes.
        (
            Some("mergeType: StrategicMerge, authorization: {defaultAction: Allow}"),
            &deny,
            false,
        ),
    ] {
        let own =
            settings.map(|settings| of_kind("SecurityPolicy", "own", "kind: TCPRoute, name: db", settings));
        let topology = TOPOLOGY.replace(
            "  - {name: https,",
            "  - {name: tcp, port: 5432, protocol: TCP}\n  - {name: https,",
        );
        let hub = hub(&(topology + tcp + &above + &own.unwrap_or_default()), &[]);
        let seen = Seen::hub(&hub);
        let spec = seen.spec(&["gw", "db", "db#only"]);
        assert_eq!(spec.as_ref(), Some(expected), "{settings:?}");
        if settings.is_some() {
            let said = ancestors(&seen, "SecurityPolicy infra/own");
            assert_eq!(
                said.iter().all(|said| !said.contains("Accepted=False")),
                is_accepted,
                "{said:?}"
            );
        }
    }
}

#[test]
fn a_missing_section_is_said_and_a_missing_target_is_passed_over() {
    let text = with(&[
        traffic("section", "kind: Gateway, name: gw, sectionName: nope", ""),
        traffic("rule", "kind: HTTPRoute, name: plain, sectionName: nope", ""),
        traffic("missing", "kind: HTTPRoute, name: nope", ""),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let said = |name: &str| ancestors(&seen, &format!("BackendTrafficPolicy infra/{name}"));
    assert_eq!(
        said("section"),
        [
            "Gateway infra/gw#nope: Accepted=False TargetNotFound: No section name nope found for Gateway infra/gw"
        ]
    );
    assert_eq!(
        said("rule"),
        [
            "Gateway infra/gw#http: Accepted=False TargetNotFound: No section name nope found for HTTPRoute infra/plain"
        ]
    );
    assert!(said("missing").is_empty());
}

#[test]
fn deprecated_fields_are_a_warning_and_sections_of_client_traffic_are_named() {
    let old = traffic("old", PLAIN, "compression: [{type: Gzip}]")
        .replace("targetRefs: [", "targetRef: ")
        .replace("}], compression", "}, compression");
    let client = |name: &str, target: &str| of_kind("ClientTrafficPolicy", name, target, "");
    let text = with(&[
        old,
        client("g", GW),
        client("h", HTTP),
        client("s", SET),
        client("o", ONE),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        ancestors(&seen, "BackendTrafficPolicy infra/old")[1],
        "Gateway infra/gw#http: Warning=True DeprecatedField: spec.compression is deprecated, use spec.compressor instead; \
         spec.targetRef is deprecated, use spec.targetRefs instead"
    );
    for (policy, section) in [("g", "http"), ("s", "one")] {
        let said = ancestors(&seen, &format!("ClientTrafficPolicy infra/{policy}"));
        assert!(
            said[1].ends_with(&format!(
                "Overridden=True Overridden: There are existing ClientTrafficPolicies that are overriding these sections [{section}]"
            )),
            "{said:?}"
        );
    }
}

#[test]
fn more_than_sixteen_ancestors_are_truncated_those_first_that_are_refused_or_overridden() {
    let mut text = String::new();
    let mut targets = Vec::new();
    for number in 10..28 {
        text += &format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: gw{number}, namespace: infra, labels: {{all: \"1\"}}}}\n\
             spec: {{gatewayClassName: eg, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n"
        );
        targets.push(number);
    }
    text += "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: all, namespace: infra}\n\
             spec: {targetSelectors: [{kind: Gateway, matchLabels: {all: \"1\"}}]}\n";
    text += &of_kind(
        "ClientTrafficPolicy",
        "z",
        "kind: Gateway, name: gw27, sectionName: http",
        "",
    );
    let text = TOPOLOGY.to_owned() + &text;
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let entry = seen.view(|view| PolicyEntry::of_hub(view, seen.id("ClientTrafficPolicy infra/all")));
    assert_eq!(entry.ancestors.len(), 16);
    assert_eq!(entry.ancestors[0].ancestor_ref.name, "gw27");
    let last: Vec<&str> = entry.ancestors[15]
        .conditions
        .iter()
        .map(|condition| condition.kind.as_str())
        .collect();
    assert_eq!(last, ["Accepted", "Aggregated"]);
}

#[test]
fn selectors_reach_other_namespaces_that_have_agreed() {
    let labelled = |namespace: &str, name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}, labels: {{team: {namespace}}}}}\n---\n\
             apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: {namespace}, labels: {{limited: \"yes\"}}}}\n\
             spec: {{parentRefs: [{{name: gw, namespace: infra}}], rules: [{{name: only}}]}}\n"
        )
    };
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: shop}\n\
                 spec:\n  from: [{group: gateway.envoyproxy.io, kind: BackendTrafficPolicy, namespace: infra}]\n  \
                 to: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]\n";
    let policy = |namespaces: &str| {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: p, namespace: infra}}\n\
             spec: {{targetSelectors: [{{kind: HTTPRoute, matchExpressions: [{{key: limited, operator: Exists}}]{namespaces}}}], retry: {{numRetries: 1}}}}\n"
        )
    };
    let routes = labelled("shop", "in-shop") + &labelled("bank", "in-bank");
    let targets = |namespaces: &str, grant: &str| {
        let hub = hub(
            &(TOPOLOGY.to_owned() + &routes + grant + &policy(namespaces)),
            &[],
        );
        let seen = Seen::hub(&hub);
        let nodes = seen.attachments.policies.rows()[0].nodes();
        let names: Vec<String> = nodes
            .into_iter()
            .map(|node: Node| seen.attachments.topology.object(node).unwrap().key())
            .collect();
        let help: Vec<String> = seen
            .findings
            .iter()
            .filter_map(|finding| Some(finding.help.as_ref()?.to_string()))
            .collect();
        (names, help)
    };
    assert_eq!(
        targets(", namespaces: {from: All}", grant),
        (vec!["shop/in-shop".to_owned()], vec![])
    );
    assert_eq!(
        targets(
            ", namespaces: {from: Selector, selector: {matchLabels: {team: shop}}}",
            grant
        )
        .0,
        ["shop/in-shop"]
    );
    assert_eq!(
        targets(", namespaces: {from: Selector, selector: {matchLabels: {team: bank}}}", grant),
        (
            vec![],
            vec!["add a ReferenceGrant to namespace `bank`, from BackendTrafficPolicy.gateway.envoyproxy.io in namespace `infra` to HTTPRoute".to_owned()]
        )
    );
    for own in ["", ", namespaces: {from: Same}"] {
        let (names, help) = targets(own, grant);
        assert!(names.is_empty());
        assert_eq!(help, ["correct the labels, or remove the selector"], "{own}");
    }
}

#[test]
fn a_backend_tls_policy_has_an_ancestor_for_each_parent_with_its_section() {
    let hub_of = |controller: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: c}}\nspec: {{controllerName: \
             {controller}}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: gw, namespace: \
             infra}}\nspec: {{gatewayClassName: c, listeners: [{{name: one, port: 80, protocol: HTTP}}, {{name: two, port: 81, \
             protocol: HTTP}}]}}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: s, namespace: infra}}\nspec: {{ports: \
             [{{name: https, port: 443}}]}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: \
             r, namespace: infra}}\nspec: {{parentRefs: [{{name: gw, sectionName: one}}, {{name: gw, sectionName: two}}], rules: \
             [{{backendRefs: [{{name: s, port: 443}}]}}]}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: \
             BackendTLSPolicy\nmetadata: {{name: p, namespace: infra}}\nspec: {{targetRefs: [{{group: \"\", kind: Service, name: \
             s, sectionName: https}}], validation: {{hostname: a.example, wellKnownCACertificates: System}}}}\n"
        )
    };
    let sections = |controller: &str| -> Vec<Option<String>> {
        let hub = hub(&hub_of(controller), &[]);
        let seen = Seen::hub(&hub);
        let (id, _) = seen.attachments.policies.iter().next().expect("the policy");
        let gateways = seen.attachments.topology.gateways.ids().collect();
        let ancestors = crate::policy::ancestors(&seen.attachments, id, &gateways, |_| None);
        ancestors
            .into_iter()
            .map(|ancestor| ancestor.ancestor_ref.section_name)
            .collect()
    };
    let both = vec![Some("one".to_owned()), Some("two".to_owned())];
    assert_eq!(sections("gateway.envoyproxy.io/gatewayclass-controller"), both);
    assert_eq!(sections("example.com/another"), [None]);
}

/// A class that merges its Gateways, or not, and two of them: `a` with listeners `one` and `two`, `b` with `three`, all
/// on one port.
fn on_one_port(merges: bool) -> String {
    let gateway = |name: &str, listeners: &[&str]| {
        let listeners = listeners.iter().map(|listener| {
            format!("{{name: {listener}, port: 80, protocol: HTTP, hostname: {listener}.example}}")
        });
        let listeners: Vec<String> = listeners.collect();
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{gatewayClassName: eg, listeners: [{}]}}\n",
            listeners.join(", ")
        )
    };
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: eg}}\nspec: {{controllerName: \
         gateway.envoyproxy.io/gatewayclass-controller, parametersRef: {{group: gateway.envoyproxy.io, kind: EnvoyProxy, name: p, \
         namespace: system}}}}\n---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyProxy\nmetadata: {{name: p, namespace: \
         system}}\nspec: {{mergeGateways: {merges}}}\n{}{}",
        gateway("a", &["one", "two"]),
        gateway("b", &["three"])
    )
}

#[test]
fn client_settings_are_refused_at_some_of_the_plain_listeners_of_a_port() {
    let accepted = |at: &str| {
        vec![format!(
            "Gateway infra/{at}: Accepted=True Accepted: Policy has been accepted."
        )]
    };
    let refused = |at: &str, others: &str| {
        vec![format!(
            "Gateway infra/{at}: Accepted=False Invalid: ClientTrafficPolicy is being applied to multiple http (non https) \
             listeners ({others}) on the same port, which is not allowed."
        )]
    };
    let said = |merges: bool, target: &str| {
        let text = on_one_port(merges) + &of_kind("ClientTrafficPolicy", "p", target, "");
        let hub = hub(&text, &[]);
        ancestors(&Seen::hub(&hub), "ClientTrafficPolicy infra/p")
    };
    let one = "kind: Gateway, name: a, sectionName: one";
    let whole = "kind: Gateway, name: a";
    assert_eq!(said(false, whole), accepted("a"));
    assert_eq!(said(false, one), refused("a#one", "infra/a/two"));
    assert_eq!(
        said(false, "kind: Gateway, name: b, sectionName: three"),
        accepted("b#three")
    );
    assert_eq!(said(true, whole), refused("a", "infra/b/three"));
    assert_eq!(said(true, one), refused("a#one", "infra/a/two, infra/b/three"));
}

#[test]
fn patches_have_the_gateway_of_their_targets_name_as_ancestor_or_the_class_of_merged_gateways() {
    let said_of = |merges: bool, target: &str| {
        let patch = format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyPatchPolicy\nmetadata: {{name: p, namespace: infra}}\n\
             spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}, type: JSONPatch}}\n"
        );
        let hub = hub(&(on_one_port(merges) + &patch), &[]);
        ancestors(&Seen::hub(&hub), "EnvoyPatchPolicy infra/p")
    };
    let said = |target: &str| said_of(true, target);
    for kind in ["HTTPRoute", "GatewayClass"] {
        assert_eq!(
            said_of(false, &format!("kind: {kind}, name: a")),
            [format!(
                "Gateway infra/a: Accepted=False Invalid: TargetRef.Group:gateway.networking.k8s.io TargetRef.Kind:{kind}, only \
                 TargetRef.Group:gateway.networking.k8s.io and TargetRef.Kind:Gateway is supported."
            )]
        );
    }
    let of_class = said("kind: GatewayClass, name: eg");
    assert_eq!(
        of_class[0],
        "GatewayClass /eg: Accepted=True Accepted: Policy has been accepted."
    );
    assert_eq!(
        said("kind: Gateway, name: a"),
        [
            "GatewayClass /a: Accepted=False Invalid: TargetRef.Group:gateway.networking.k8s.io TargetRef.Kind:Gateway, only \
             TargetRef.Group:gateway.networking.k8s.io and TargetRef.Kind:GatewayClass is supported."
        ]
    );
}

#[test]
fn sizes_that_the_controller_cannot_take_are_refused_in_its_words() {
    let said = |kind: &str, target: &str, settings: &str| {
        let hub = hub(&with(&[of_kind(kind, "p", target, settings)]), &[]);
        ancestors(&Seen::hub(&hub), &format!("{kind} infra/p"))
    };
    let windows = "http2: {initialStreamWindowSize: 1Ki, initialConnectionWindowSize: 1Ti}";
    assert_eq!(
        said("ClientTrafficPolicy", GW, windows),
        [
            "Gateway infra/gw: Accepted=False Invalid: HTTP2: InitialStreamWindowSize value 1Ki is out of range, must be between \
             65535 and 2147483647\nInitialConnectionWindowSize value 1Ti is out of range, must be between 65535 and 2147483647."
        ]
    );
    for limit in ["100G", "4294967296"] {
        let buffer = format!("connection: {{bufferLimit: {limit}}}, {windows}");
        assert_eq!(
            said("BackendTrafficPolicy", PLAIN, &buffer),
            [format!(
                "Gateway infra/gw#http: Accepted=False Invalid: BackendConnection: BufferLimit value {limit} is out of range\n\
                 HTTP2: InitialStreamWindowSize value 1Ki is out of range, must be between 65535 and 2147483647\n\
                 InitialConnectionWindowSize value 1Ti is out of range, must be between 65535 and 2147483647."
            )]
        );
    }
    let fitting = "connection: {bufferLimit: 4294967295}, http2: {initialStreamWindowSize: 64Ki, initialConnectionWindowSize: 32Mi}";
    assert_eq!(
        said("BackendTrafficPolicy", PLAIN, fitting),
        ["Gateway infra/gw#http: Accepted=True Accepted: Policy has been accepted."]
    );
}

#[test]
fn ports_of_a_service_import_are_named_like_those_of_a_service() {
    let text = |section: &str| {
        let import = "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: far, namespace: infra}\n\
                      spec: {type: ClusterSetIP, ports: [{name: web, port: 80}]}\n";
        let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: far, namespace: infra}\nspec: \
                     {parentRefs: [{name: gw, sectionName: http}], rules: [{backendRefs: [{group: multicluster.x-k8s.io, kind: \
                     ServiceImport, name: far, port: 80}]}]}\n";
        let policy = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {{name: p, namespace: infra}}\nspec: \
             {{targetRefs: [{{group: multicluster.x-k8s.io, kind: ServiceImport, name: far, sectionName: {section}}}], validation: \
             {{hostname: a.example, wellKnownCACertificates: System}}}}\n"
        );
        format!("{TOPOLOGY}---\n{import}---\n{route}---\n{policy}")
    };
    let said = |section: &str| {
        let hub = hub(&text(section), &[]);
        Seen::hub(&hub).said()
    };
    assert!(said("web").is_empty(), "{:?}", said("web"));
    assert_eq!(said("80").len(), 1, "{:?}", said("80"));
}

#[test]
fn nothing_of_a_policy_with_a_wrong_size_takes_effect_nor_what_it_stands_before_and_check_says_who_refuses_it()
 {
    let text = with(&[
        traffic("wide", GW, "timeout: {http: {requestTimeout: 1s}}"),
        traffic(
            "narrow",
            PLAIN,
            "connection: {bufferLimit: 8Gi}, tcpKeepalive: {probes: 3}",
        ),
    ]);
    assert_eq!(spec(&text, &["gw", "plain", "plain#first"]), Some(json!({})));
    assert_eq!(
        spec(&text, &["gw", "both", "both#only"]),
        Some(json!({"timeout": {"http": {"requestTimeout": "1s"}}}))
    );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let finding = seen
        .findings
        .iter()
        .find(|finding| finding.code.name() == "policy/invalid");
    let finding = finding.expect("a finding");
    assert_eq!(
        finding.message,
        "Envoy Gateway refuses BackendTrafficPolicy infra/narrow on HTTPRoute infra/plain: BackendConnection: BufferLimit value 8Gi \
         is out of range"
    );
    assert_eq!(
        finding.help.as_deref(),
        Some("write a size from 0 to 4294967295 bytes")
    );
}

#[test]
fn nothing_of_a_policy_takes_effect_at_one_of_the_plain_listeners_of_a_port_and_all_of_it_at_the_gateway() {
    let policy = |target: &str| {
        of_kind(
            "ClientTrafficPolicy",
            "p",
            target,
            "connection: {bufferLimit: 1Mi}",
        )
    };
    let of = |target: &str| {
        let text = on_one_port(false) + &policy(target);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let settings = seen
            .effective
            .iter()
            .map(|(_, path)| path.effective.content.len())
            .sum::<usize>();
        let said: Vec<String> = seen
            .said()
            .into_iter()
            .filter(|said| said.starts_with("policy/invalid"))
            .collect();
        (settings, said)
    };
    let (settings, said) = of("kind: Gateway, name: a, sectionName: one");
    assert_eq!(settings, 0);
    assert_eq!(
        said,
        [
            "policy/invalid Envoy Gateway refuses ClientTrafficPolicy infra/p on Gateway infra/a, listener one: ClientTrafficPolicy is \
             being applied to multiple http (non https) listeners (infra/a/two) on the same port, which is not allowed"
        ]
    );
    let (settings, said) = of("kind: Gateway, name: a");
    assert!(settings > 0 && said.is_empty(), "{said:?}");
}

/// Gateway `gw` with a listener for each of these hostnames, `l0`, `l1`, …, each on a port of its own; routes as given.
fn with_hosts(hostnames: &[&str], routes: &str) -> String {
    let listeners = hostnames.iter().enumerate().map(|(index, hostname)| {
        format!(
            "{{name: l{index}, port: {}, protocol: HTTP{hostname}}}",
            8000 + index
        )
    });
    let listeners: Vec<String> = listeners.collect();
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: eg}}\nspec: {{controllerName: \
         gateway.envoyproxy.io/gatewayclass-controller}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n\
         metadata: {{name: gw, namespace: infra}}\nspec: {{gatewayClassName: eg, listeners: [{}]}}\n{routes}",
        listeners.join(", ")
    )
}

fn on_listener(name: &str, listener: &str, hostnames: &str, rules: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: infra}}\n\
         spec: {{parentRefs: [{{name: gw, sectionName: {listener}}}], hostnames: [{hostnames}], rules: [{rules}]}}\n"
    )
}

const DEFAULT_HOST: &str = "http1: {http10: {useDefaultHost: true}}";
const NO_HOST: &str = "HTTP1: cannot set http10 default host on listener with only wildcard hostnames";

#[test]
fn a_default_host_is_that_of_the_listener_or_of_its_one_match_of_a_route() {
    let section = "kind: Gateway, name: gw, sectionName: l0";
    let said = |hostname: &str, routes: &str| {
        let policy = of_kind("ClientTrafficPolicy", "p", section, DEFAULT_HOST);
        let hub = hub(&(with_hosts(&[hostname], routes) + &policy), &[]);
        ancestors(&Seen::hub(&hub), "ClientTrafficPolicy infra/p").concat()
    };
    let accepted = "Gateway infra/gw#l0: Accepted=True Accepted: Policy has been accepted.".to_owned();
    let refused = |why: &str| format!("Gateway infra/gw#l0: Accepted=False Invalid: {NO_HOST}{why}.");
    let too_many = refused(" and more than one possible default route");
    let one = on_listener("one", "l0", "a.example.com", "{}");
    let wild = on_listener("wild", "l0", "\"*.example.com\"", "{}, {}");
    let other = on_listener("other", "l0", "b.example.com", "{}");
    assert_eq!(said(", hostname: a.example.com", ""), accepted);
    for hostname in ["", ", hostname: \"*.example.com\""] {
        assert_eq!(said(hostname, ""), refused(""), "{hostname}");
        assert_eq!(said(hostname, &wild), refused(""), "{hostname}");
        assert_eq!(said(hostname, &(one.clone() + &wild)), accepted, "{hostname}");
        assert_eq!(said(hostname, &(one.clone() + &other)), too_many, "{hostname}");
    }
    // Of a route that two hostnames, rules or matches lead to, each counts.
    for (hostnames, rules) in [
        ("a.example.com, b.example.com", "{}"),
        ("a.example.com", "{}, {}"),
        (
            "a.example.com",
            "{matches: [{path: {value: /a}}, {path: {value: /b}}]}",
        ),
    ] {
        let route = on_listener("one", "l0", hostnames, rules);
        assert_eq!(said("", &route), too_many, "{hostnames} {rules}");
    }
    // A host that the listener does not serve is none.
    let two = on_listener("one", "l0", "a.example.com, a.example.org", "{}");
    assert_eq!(said(", hostname: \"*.example.com\"", &two), accepted);
    // Nobody asks for a host.
    let policy = of_kind("ClientTrafficPolicy", "p", section, "http1: {http10: {}}");
    let hub = hub(&(with_hosts(&[""], "") + &policy), &[]);
    assert_eq!(
        ancestors(&Seen::hub(&hub), "ClientTrafficPolicy infra/p"),
        [accepted]
    );
}

#[test]
fn without_a_default_host_a_policy_of_a_gateway_is_refused_and_takes_no_effect_at_that_listener_alone() {
    let hosts = [", hostname: a.example.com", "", ""];
    let of = |more: &str| {
        let policy = of_kind("ClientTrafficPolicy", "p", GW, DEFAULT_HOST);
        let text = with_hosts(&hosts, &on_listener("one", "l2", "b.example.com", "{}")) + &policy + more;
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let settings: Vec<usize> = seen
            .effective
            .iter()
            .filter(|(_, path)| {
                path.effective
                    .chain
                    .iter()
                    .all(|(_, id)| *id == seen.id("ClientTrafficPolicy infra/p"))
            })
            .map(|(_, path)| path.effective.content.len())
            .collect();
        let said = seen
            .said()
            .into_iter()
            .filter(|said| said.starts_with("policy/invalid"));
        (
            ancestors(&seen, "ClientTrafficPolicy infra/p")[0].clone(),
            settings,
            said.collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        of(""),
        (
            format!("Gateway infra/gw: Accepted=False Invalid: {NO_HOST}."),
            vec![1, 0, 1],
            vec![format!(
                "policy/invalid Envoy Gateway refuses ClientTrafficPolicy infra/p on Gateway infra/gw, listener l1: {NO_HOST}"
            )]
        )
    );
    // A listener with a policy of its own is none of its business.
    let own = of_kind(
        "ClientTrafficPolicy",
        "q",
        "kind: Gateway, name: gw, sectionName: l1",
        "http1: {enableTrailers: true}",
    );
    let (status, settings, said) = of(&own);
    assert!(status.starts_with("Gateway infra/gw: Accepted=True"), "{status}");
    assert_eq!((settings, said), (vec![1, 1], Vec::new()));
}

#[test]
fn a_rule_is_refused_at_the_parents_of_its_route_and_a_route_names_its_rules_in_the_plural_but_for_one_kind()
{
    let at_rule = |kind: &str| {
        let policies = [
            of_kind(kind, "r", PLAIN, ""),
            of_kind(kind, "f", FIRST, ""),
            of_kind(kind, "s", "kind: HTTPRoute, name: plain, sectionName: second", ""),
        ];
        let hub = hub(&with(&policies), &[]);
        ancestors(&Seen::hub(&hub), &format!("{kind} infra/r"))
            .pop()
            .unwrap()
    };
    for (kind, plural) in [
        ("SecurityPolicy", "securityPolicies"),
        ("EnvoyExtensionPolicy", "envoyExtensionPolicies"),
        ("BackendTrafficPolicy", "backendTrafficPolicy"),
    ] {
        assert_eq!(
            at_rule(kind),
            format!(
                "Gateway infra/gw#http: Overridden=True Overridden: This policy is being overridden by other {plural} for these \
                 route rules: [first second]"
            )
        );
    }
    let refused = traffic("f", FIRST, "connection: {bufferLimit: 8Gi}");
    let hub = hub(&with(&[refused]), &[]);
    assert_eq!(
        ancestors(&Seen::hub(&hub), "BackendTrafficPolicy infra/f"),
        [
            "Gateway infra/gw#http: Accepted=False Invalid: BackendConnection: BufferLimit value 8Gi is out of range."
        ]
    );
}

#[test]
fn a_wrong_size_of_a_gateway_is_refused_where_a_route_merges_with_it_unless_the_route_has_a_size_of_its_own()
{
    let text = |more: &str| {
        with(&[
            traffic(
                "g",
                GW,
                "connection: {bufferLimit: 8Gi}, tcpKeepalive: {probes: 3}",
            ),
            traffic(
                "r",
                PLAIN,
                &format!("mergeType: StrategicMerge, useClientProtocol: true{more}"),
            ),
        ])
    };
    let path = ["gw", "plain", "plain#first"];
    let said = |text: &str| {
        let hub = hub(text, &[]);
        ancestors(&Seen::hub(&hub), "BackendTrafficPolicy infra/r")
    };
    assert_eq!(spec(&text(""), &path), Some(json!({})));
    assert_eq!(
        said(&text("")),
        [
            "Gateway infra/gw#http: Accepted=False Invalid: BackendConnection: BufferLimit value 8Gi is out of range."
        ]
    );
    // The other settings of the Gateway's policy are not refused by being merged.
    let own = text(", connection: {bufferLimit: 1Mi}");
    assert_eq!(
        spec(&own, &path),
        Some(json!({
            "connection": {"bufferLimit": "1Mi"}, "tcpKeepalive": {"probes": 3}, "useClientProtocol": true,
        }))
    );
    assert_eq!(
        said(&own),
        [
            "Gateway infra/gw#http: Merged=True Merged: Merged with policy infra/g",
            "Gateway infra/gw#http: Accepted=True Accepted: Policy has been accepted."
        ]
    );
    // Elsewhere the Gateway's policy has no effect.
    assert_eq!(spec(&own, &["gw", "both", "both#only"]), Some(json!({})));
}

/// The listeners and routes on whose paths a policy is refused, and what a policy of its kind sets there.
fn refused_on(seen: &Seen<'_>, policy: &str) -> Vec<(String, String)> {
    let id = seen.id(policy);
    let (attachments, kind) = (&seen.attachments, seen.attachments.policy(id).kind);
    let paths = seen.effective.iter().filter(|(of_kind, _)| *of_kind == kind);
    let refused = paths.filter(|(_, path)| path.effective.refused.contains(&id));
    refused
        .map(|(kind, path)| {
            let spec = path.effective.spec(&attachments.kinds.get(kind).profile);
            (
                attachments.path_label(kind, &path.path),
                spec.unwrap_or_default().to_string(),
            )
        })
        .collect()
}

fn reach(seen: &Seen<'_>, policy: &str) -> crate::policy::Reach {
    let mut reach = crate::policy::Reach::default();
    reach.add(&seen.attachments, &seen.effective, seen.id(policy));
    reach
}

#[test]
fn a_refused_policy_is_named_on_its_paths_reaches_nothing_and_loses_to_nobody() {
    let client = of_kind(
        "ClientTrafficPolicy",
        "p",
        "kind: Gateway, name: a, sectionName: one",
        "tls: {}",
    );
    let hub_of_ports = hub(&(on_one_port(false) + &client), &[]);
    let seen = Seen::hub(&hub_of_ports);
    let policy = "ClientTrafficPolicy infra/p";
    let path = "Gateway infra/a > listener one".to_owned();
    assert_eq!(refused_on(&seen, policy), [(path, "{}".to_owned())]);
    assert_eq!(reach(&seen, policy), crate::policy::Reach::default());

    let text = with(&[
        traffic("g", GW, "timeout: {http: {requestTimeout: 1s}}"),
        traffic(
            "r",
            PLAIN,
            "connection: {bufferLimit: 8Gi}, tcpKeepalive: {probes: 3}",
        ),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let refused = refused_on(&seen, "BackendTrafficPolicy infra/r");
    let rule = |name: &str| format!("Gateway infra/gw > HTTPRoute infra/plain > {name}");
    assert_eq!(
        refused,
        [
            (rule("first"), "{}".to_owned()),
            (rule("second"), "{}".to_owned())
        ]
    );
    assert_eq!(
        reach(&seen, "BackendTrafficPolicy infra/r"),
        crate::policy::Reach::default()
    );
    assert!(!reach(&seen, "BackendTrafficPolicy infra/g").routes.is_empty());
    let id = seen.id("BackendTrafficPolicy infra/r");
    let losses = seen.effective.iter().flat_map(|(_, path)| &path.effective.losses);
    let losses: Vec<_> = losses.map(|loss| (loss.policy.policy, loss.by.len())).collect();
    assert!(
        losses.iter().all(|(loser, winners)| *loser != id && *winners > 0),
        "{losses:?}"
    );
}

#[test]
fn of_merged_gateways_a_policy_is_refused_at_shared_ports_alone_and_one_of_a_set_gives_its_place_back() {
    let another =
        "{name: one, port: 80, protocol: HTTP, hostname: one.example}, {name: own, port: 81, protocol: HTTP}";
    let text = on_one_port(true).replace(
        "{name: one, port: 80, protocol: HTTP, hostname: one.example}",
        another,
    );
    let policy = of_kind(
        "ClientTrafficPolicy",
        "p",
        "kind: Gateway, name: a",
        "connection: {bufferLimit: 1Mi}",
    );
    let hub_of_class = hub(&(text + &policy), &[]);
    let seen = Seen::hub(&hub_of_class);
    let labels: Vec<String> = refused_on(&seen, "ClientTrafficPolicy infra/p")
        .into_iter()
        .map(|(label, _)| label)
        .collect();
    assert_eq!(
        labels,
        ["Gateway infra/a > listener one", "Gateway infra/a > listener two"]
    );
    let listeners = reach(&seen, "ClientTrafficPolicy infra/p").listeners;
    assert_eq!(listeners.len(), 1, "{listeners:?}");

    // The listener `one` of the set and the Gateway's `http` are one to Envoy.
    let client = |name: &str, target: &str, size: &str| {
        of_kind(
            "ClientTrafficPolicy",
            name,
            target,
            &format!("connection: {{bufferLimit: {size}}}"),
        )
    };
    let text = with(&[client("g", GW, "1Mi"), client("s", SET, "2Mi")]).replace(
        "{name: one, port: 8081, protocol: HTTP",
        "{name: one, port: 80, protocol: HTTP, hostname: one.example",
    );
    let size = |listener: &str| spec(&text, &["gw", listener]);
    assert_eq!(
        size("set#one"),
        Some(json!({"connection": {"bufferLimit": "1Mi"}}))
    );
    assert_eq!(
        size("set#two"),
        Some(json!({"connection": {"bufferLimit": "2Mi"}}))
    );
    let hub = hub(&text, &[]);
    let said = ancestors(&Seen::hub(&hub), "ClientTrafficPolicy infra/s");
    assert!(
        said[0].contains("Accepted=False Invalid: ClientTrafficPolicy is being applied"),
        "{said:?}"
    );
}

#[test]
fn a_policy_is_accepted_as_a_whole_unless_every_merge_is_refused() {
    let accepted = |policies: &[String], policy: &str| {
        let hub = hub(&with(policies), &[]);
        let seen = Seen::hub(&hub);
        let entry = seen.view(|view| PolicyEntry::of_hub(view, seen.id(policy)));
        (entry.accepted.is_true(), entry.accepted.message.to_string())
    };
    let merging = |target: &str| traffic("r", target, "mergeType: StrategicMerge, useClientProtocol: true");
    let wrong = traffic("g", GW, "connection: {bufferLimit: 8Gi}");
    let policy = "BackendTrafficPolicy infra/r";
    let (is_accepted, why) = accepted(&[wrong.clone(), merging(BOTH)], policy);
    assert!(!is_accepted && why.contains("BufferLimit value 8Gi"), "{why}");
    // At one listener there is another policy to merge with.
    let fitting = traffic("h", HTTP, "retry: {numRetries: 1}");
    assert!(accepted(&[wrong.clone(), fitting, merging(BOTH)], policy).0);
    // Nothing of it is merged.
    let alone = traffic("r", BOTH, "useClientProtocol: true");
    assert!(accepted(&[wrong, alone], policy).0);
}

#[test]
fn old_names_of_client_traffic_are_a_warning() {
    let old = "enableProxyProtocol: true, headers: {preserveXRequestID: true}";
    let hub = hub(&with(&[of_kind("ClientTrafficPolicy", "p", GW, old)]), &[]);
    let said = ancestors(&Seen::hub(&hub), "ClientTrafficPolicy infra/p");
    assert_eq!(
        said[1],
        "Gateway infra/gw: Warning=True DeprecatedField: spec.enableProxyProtocol is deprecated, use spec.proxyProtocol \
         instead; spec.headers.preserveXRequestID is deprecated, use spec.headers.requestID instead"
    );
}

#[test]
fn a_setting_of_http_is_refused_at_listeners_of_http_and_leaves_those_of_tcp_alone() {
    let topology = TOPOLOGY.replace(
        "{name: https, port: 443, protocol: HTTPS, ",
        "{name: https, port: 443, protocol: TCP, ",
    );
    let policy = of_kind(
        "ClientTrafficPolicy",
        "p",
        GW,
        "headers: {lateResponseHeaders: {add: []}}, tcpKeepalive: {probes: 3}",
    );
    let hub = hub(&(topology + &policy), &[]);
    let seen = Seen::hub(&hub);
    let message =
        "Headers: LateResponseHeaders did not provide valid configuration to add/set/remove any headers";
    assert_eq!(
        ancestors(&seen, "ClientTrafficPolicy infra/p"),
        [format!("Gateway infra/gw: Accepted=False Invalid: {message}.")]
    );
    let refused = refused_on(&seen, "ClientTrafficPolicy infra/p");
    let listeners: Vec<&str> = refused.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        listeners,
        [
            "Gateway infra/gw > listener http",
            "Gateway infra/gw > ListenerSet infra/set > listener one",
            "Gateway infra/gw > ListenerSet infra/set > listener two"
        ]
    );
    assert_eq!(
        seen.spec(&["gw", "gw#https"]).expect("a path")["tcpKeepalive"],
        json!({"probes": 3})
    );
    let finding = seen
        .findings
        .iter()
        .find(|finding| finding.code.name() == "policy/invalid");
    let finding = finding.expect("a finding");
    assert_eq!(
        finding.message.as_str(),
        format!("Envoy Gateway refuses ClientTrafficPolicy infra/p on Gateway infra/gw: {message}")
    );
}

#[test]
fn a_security_policy_that_does_not_fit_its_route_gives_its_place_back_but_not_to_a_younger_one() {
    let policy = |name: &str, target: &str, settings: &str| of_kind("SecurityPolicy", name, target, settings);
    let cors = "cors: {allowOrigins: [\"*\"]}";
    let unfit = "targetRef: null, mergeType: StrategicMerge, oidc: {passThroughAuthHeader: true, provider: {issuer: a}}";
    let text = with(&[
        policy("g", GW, cors),
        policy("r", PLAIN, unfit),
        policy("s", PLAIN, "cors: {maxAge: 1s}"),
        policy("f", FIRST, "cors: {maxAge: 2s}"),
    ]);
    let of_gateway = json!({"cors": {"allowOrigins": ["*"]}});
    assert_eq!(spec(&text, &["gw", "plain", "plain#second"]), Some(of_gateway));
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        ancestors(&seen, "SecurityPolicy infra/r"),
        [
            "Gateway infra/gw#http: Accepted=False Invalid: Invalid SecurityPolicy: the OIDC.PassThroughAuthHeader setting must be \
             used in conjunction with JWT settings."
        ]
    );
    let younger = ancestors(&seen, "SecurityPolicy infra/s");
    assert!(younger[0].contains("Accepted=False Conflicted"), "{younger:?}");
    // On a Gateway, nobody checks that.
    let on_gateway = with(&[policy(
        "g",
        GW,
        "oidc: {passThroughAuthHeader: true, provider: {issuer: a}}",
    )]);
    let on_gateway = crate::tests::hub(&on_gateway, &[]);
    let said = ancestors(&Seen::hub(&on_gateway), "SecurityPolicy infra/g");
    assert!(said[0].contains("Accepted=True"), "{said:?}");
}

#[test]
fn rules_about_http_are_refused_on_a_tcp_route_and_those_of_its_gateway_apply() {
    let route = "---\napiVersion: gateway.networking.k8s.io/v1alpha2\nkind: TCPRoute\nmetadata: {name: tcp, namespace: infra}\n\
                 spec: {parentRefs: [{name: gw, sectionName: https}], rules: [{name: only, backendRefs: [{name: s, port: 80}]}]}\n";
    let topology = TOPOLOGY.replace(
        "{name: https, port: 443, protocol: HTTPS, ",
        "{name: https, port: 443, protocol: TCP, ",
    );
    let rules = |principal: &str| {
        format!(
            "authorization: {{defaultAction: Deny, rules: [{{action: Allow, principal: {{{principal}}}}}]}}"
        )
    };
    let found = |principal: &str| {
        let wide = of_kind("SecurityPolicy", "g", GW, &rules("clientCIDRs: [10.0.0.0/8]"));
        let narrow = of_kind(
            "SecurityPolicy",
            "t",
            "kind: TCPRoute, name: tcp",
            &rules(principal),
        );
        let text = topology.clone() + route + &wide + &narrow;
        let settings = spec(&text, &["gw", "tcp", "tcp#only"]).expect("a path");
        let hub = hub(&text, &[]);
        let said = ancestors(&Seen::hub(&hub), "SecurityPolicy infra/t");
        let principal = settings["authorization"]["rules"][0]["principal"].clone();
        (principal, said[0].clone())
    };
    let (principal, said) = found("clientCIDRs: [10.1.0.0/16]");
    assert_eq!(principal, json!({"clientCIDRs": ["10.1.0.0/16"]}));
    assert!(said.contains("Accepted=True"), "{said}");
    let (principal, said) = found("headers: [{name: a, values: [b]}]");
    assert_eq!(principal, json!({"clientCIDRs": ["10.0.0.0/8"]}));
    assert_eq!(
        said,
        "Gateway infra/gw#https: Accepted=False Invalid: Invalid SecurityPolicy for TCP route: rule 0: headers not supported for \
         TCP."
    );
}
