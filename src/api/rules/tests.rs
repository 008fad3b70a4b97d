//! The rules one by one; and, with the projects' own CRDs, all of them against what an API server says.

use serde_json::{Value, json};

use super::broken;
use crate::api::fixture::object;
use crate::diagnostic::{Finding, Severity};

fn made(api_version: &str, kind: &str, spec: &Value) -> crate::object::Object {
    object(
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "a"}, "spec": spec}),
    )
}

fn gateway_api(kind: &str, spec: &Value) -> crate::object::Object {
    made("gateway.networking.k8s.io/v1", kind, spec)
}

/// What is said about one object: message, pointer of the place, help, severity.
fn said(object: &crate::object::Object) -> Vec<String> {
    let said = |finding: &Finding| {
        let crate::diagnostic::Place::Field { pointer, .. } = &finding.place else {
            panic!("no field")
        };
        assert!(finding.help.is_some(), "{finding:?}");
        let word = if finding.severity == Severity::Error {
            ""
        } else {
            "(warning) "
        };
        let message = finding.message.split_once(": ").expect("the object first").1;
        format!("{word}{pointer}: {message}")
    };
    let mut found = broken(object);
    found.extend(super::conflicting(object));
    found.iter().map(said).collect()
}

fn listeners(listeners: &Value) -> Vec<String> {
    said(&gateway_api(
        "Gateway",
        &json!({"gatewayClassName": "c", "listeners": listeners}),
    ))
}

#[test]
fn a_listener_has_what_its_protocol_wants_and_nothing_else() {
    let certificate = json!({"certificateRefs": [{"name": "c"}]});
    let plain = json!([{"name": "a", "port": 80, "protocol": "HTTP"},
        {"name": "b", "port": 443, "protocol": "HTTPS", "tls": certificate},
        {"name": "c", "port": 444, "protocol": "TLS", "tls": {"mode": "Passthrough"}}]);
    assert_eq!(listeners(&plain), Vec::<String>::new());
    assert_eq!(
        listeners(&json!([{"name": "a", "port": 80, "protocol": "HTTP", "tls": {}}])),
        ["/spec/listeners/0/tls: a listener of protocol HTTP cannot have `tls`"]
    );
    assert_eq!(
        listeners(&json!([{"name": "a", "port": 80, "protocol": "HTTPS", "tls": {}}])),
        ["/spec/listeners/0/tls: a listener that terminates TLS needs a certificate"]
    );
    assert_eq!(
        listeners(&json!([{"name": "a", "port": 80, "protocol": "HTTPS"}])),
        [
            "(warning) /spec/listeners/0: a listener of protocol HTTPS has no `tls`, so that few controllers serve it"
        ]
    );
    assert_eq!(
        listeners(&json!([{"name": "a", "port": 80, "protocol": "HTTPS", "tls": {"mode": "Passthrough"}}])),
        ["/spec/listeners/0/tls/mode: a listener of protocol HTTPS terminates TLS"]
    );
    assert_eq!(
        listeners(&json!([{"name": "a", "port": 80, "protocol": "TLS"}])),
        ["/spec/listeners/0: a listener of protocol TLS has no `tls`"]
    );
    assert_eq!(
        listeners(&json!([{"name": "a", "port": 80, "protocol": "UDP", "hostname": "a.example.com"}])),
        ["/spec/listeners/0/hostname: a listener of protocol UDP cannot have a hostname: it sees none"]
    );
}

#[test]
fn listeners_differ_in_port_protocol_or_hostname_and_share_a_port_with_their_like_only() {
    let one = |name: &str, port: u16, protocol: &str, hostname: &str| {
        json!({"name": name, "port": port, "protocol": protocol, "hostname": hostname,
               "tls": if protocol == "HTTPS" { json!({"certificateRefs": [{"name": "c"}]}) } else { Value::Null }})
    };
    assert_eq!(
        listeners(&json!([
            one("a", 80, "HTTP", "a.example.com"),
            one("b", 80, "HTTP", "b.example.com")
        ])),
        Vec::<String>::new()
    );
    assert_eq!(
        listeners(&json!([
            one("a", 80, "HTTP", "a.example.com"),
            one("b", 80, "HTTP", "a.example.com")
        ])),
        ["/spec/listeners/1: the listeners `a` and `b` have one port, protocol and hostname"]
    );
    assert_eq!(
        listeners(&json!([
            one("a", 80, "HTTP", "a.example.com"),
            one("b", 80, "HTTPS", "a.example.com")
        ])),
        ["/spec/listeners/1/protocol: port 80 cannot serve HTTP and HTTPS"]
    );
    let tcp_and_udp =
        json!([{"name": "a", "port": 53, "protocol": "TCP"}, {"name": "b", "port": 53, "protocol": "UDP"}]);
    assert_eq!(listeners(&tcp_and_udp), Vec::<String>::new());
}

#[test]
fn a_hostname_is_a_name_and_a_wildcard_stands_in_front() {
    let hostname =
        |name: &str| listeners(&json!([{"name": "a", "port": 80, "protocol": "HTTP", "hostname": name}]));
    assert_eq!(hostname("*.example.com"), Vec::<String>::new());
    assert_eq!(
        hostname("a.*.com"),
        ["/spec/listeners/0/hostname: `a.*.com`: `*` stands for whole labels at the front only"]
    );
    assert_eq!(
        hostname("A.example.com"),
        ["/spec/listeners/0/hostname: `A.example.com` is no hostname"]
    );
    assert_eq!(
        hostname("192.0.2.1"),
        ["(warning) /spec/listeners/0/hostname: `192.0.2.1` is an address and no hostname"]
    );
    let route = gateway_api("TLSRoute", &json!({"hostnames": ["192.0.2.1"]}));
    assert_eq!(
        said(&route),
        ["/spec/hostnames/0: `192.0.2.1` is an address and no hostname"]
    );
}

fn rule(rule: &Value) -> Vec<String> {
    said(&gateway_api("HTTPRoute", &json!({"rules": [rule]})))
}

#[test]
fn a_filter_has_the_field_of_its_type_and_no_other() {
    assert_eq!(
        rule(&json!({"filters": [{"type": "RequestRedirect"}]})),
        ["/spec/rules/0/filters/0: a filter of type RequestRedirect has no `requestRedirect`"]
    );
    assert_eq!(
        rule(&json!({"filters": [{"type": "CORS", "cors": {}, "urlRewrite": {}}]})),
        ["/spec/rules/0/filters/0/urlRewrite: a filter of type CORS cannot have `urlRewrite`"]
    );
    assert_eq!(
        rule(
            &json!({"filters": [{"type": "RequestRedirect", "requestRedirect": {}}, {"type": "URLRewrite", "urlRewrite": {}}]})
        ),
        ["/spec/rules/0/filters/1/type: what is redirected is not rewritten"]
    );
    let mirror = json!({"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "s", "port": 80}}});
    assert_eq!(rule(&json!({"filters": [mirror, mirror]})), Vec::<String>::new());
    assert_eq!(
        rule(&json!({"filters": [{"type": "CORS", "cors": {}}, {"type": "CORS", "cors": {}}]})),
        ["/spec/rules/0/filters/1/type: two filters are of type CORS"]
    );
}

#[test]
fn a_prefix_is_replaced_where_one_prefix_is_matched() {
    let with = |matches: Value| {
        rule(&json!({"matches": matches, "filters": [{"type": "URLRewrite",
            "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}}]}))
    };
    assert_eq!(with(Value::Null), Vec::<String>::new());
    assert_eq!(with(json!([{"path": {"value": "/a"}}])), Vec::<String>::new());
    for wrong in [
        json!([]),
        json!([{}, {}]),
        json!([{"path": {"type": "Exact", "value": "/a"}}]),
    ] {
        assert_eq!(with(wrong).len(), 1);
    }
}

#[test]
fn a_path_is_one_that_a_request_can_have() {
    let path = |value: &str| rule(&json!({"matches": [{"path": {"type": "Exact", "value": value}}]}));
    for right in ["/", "/a%20b", "/a.b/c"] {
        assert_eq!(path(right), Vec::<String>::new(), "{right}");
    }
    for wrong in [
        "a", "/a//b", "/a/./b", "/a/..", "/a%2Fb", "/a#b", "/a b", "/a%2", "",
    ] {
        assert_eq!(path(wrong).len(), 1, "{wrong}");
    }
    let regex = json!({"matches": [{"path": {"type": "RegularExpression", "value": "a//b"}}]});
    assert_eq!(rule(&regex), Vec::<String>::new());
}

#[test]
fn two_references_to_one_parent_name_parts_of_it() {
    let parents = |parents: Value| said(&gateway_api("TCPRoute", &json!({"parentRefs": parents})));
    assert_eq!(
        parents(json!([{"name": "g", "sectionName": "a"}, {"name": "g", "sectionName": "b"}])),
        Vec::<String>::new()
    );
    assert_eq!(
        parents(json!([{"name": "g"}, {"name": "g"}])),
        ["/spec/parentRefs/1: `g` is named as a parent twice"]
    );
    assert_eq!(
        parents(json!([{"name": "g"}, {"name": "g", "sectionName": "b"}])),
        ["/spec/parentRefs/1: `g` is a parent as a whole, and one of its listeners is, too"]
    );
}

#[test]
fn a_service_has_a_port_and_a_backend_is_not_slower_than_its_request() {
    assert_eq!(
        rule(&json!({"backendRefs": [{"name": "s"}, {"name": "t", "kind": "Backend", "group": "x.org"}]})),
        ["/spec/rules/0/backendRefs/0: the backend Service s is named without a port"]
    );
    assert_eq!(
        rule(&json!({"timeouts": {"request": "1s", "backendRequest": "1500ms"}})),
        [
            "/spec/rules/0/timeouts/backendRequest: a request to the backend may take longer than the request that it is part of"
        ]
    );
    assert_eq!(
        rule(&json!({"timeouts": {"request": "0s", "backendRequest": "1s"}})),
        Vec::<String>::new()
    );
}

#[test]
fn a_grpc_match_by_method_names_a_service_or_a_method() {
    let method = |method: Value| {
        said(&gateway_api(
            "GRPCRoute",
            &json!({"rules": [{"matches": [{"method": method}]}]}),
        ))
    };
    assert_eq!(method(json!({"service": "a.b.C"})), Vec::<String>::new());
    assert_eq!(
        method(json!({})),
        ["/spec/rules/0/matches/0/method: a match by method names neither a service nor a method"]
    );
    assert_eq!(
        method(json!({"method": "a.b"})),
        ["/spec/rules/0/matches/0/method/method: `a.b` is no name of a gRPC method"]
    );
}

#[test]
fn policies_say_something_and_nothing_twice() {
    let kuadrant = |kind: &str, spec: Value| said(&made("kuadrant.io/v1", kind, &spec));
    assert_eq!(
        kuadrant("RateLimitPolicy", json!({"defaults": {"limits": {}}})),
        ["/spec/defaults: there is no limit"]
    );
    assert_eq!(
        kuadrant("AuthPolicy", json!({"rules": {"authentication": {}}})),
        ["/spec: there is no rule"]
    );
    assert_eq!(
        kuadrant("TLSPolicy", json!({"issuerRef": {"kind": "Isuer"}})),
        ["/spec/issuerRef/kind: no issuer of certificates is a `Isuer`"]
    );
    assert_eq!(
        kuadrant("DNSPolicy", json!({"healthCheck": {"port": 81}})),
        ["/spec/healthCheck/port: port 81 cannot be checked for health"]
    );
    let envoy = made(
        "gateway.envoyproxy.io/v1alpha1",
        "BackendTrafficPolicy",
        &json!({"mergeType": "JSONMerge", "targetRefs": [{"kind": "Gateway"}]}),
    );
    assert_eq!(
        said(&envoy),
        ["/spec/mergeType: a policy on a Gateway cannot have a `mergeType`"]
    );
    let on_tcp = made(
        "gateway.envoyproxy.io/v1alpha1",
        "SecurityPolicy",
        &json!({"cors": {}, "targetRefs": [{"kind": "TCPRoute"}]}),
    );
    assert_eq!(
        said(&on_tcp),
        [
            "(warning) /spec/cors: on a TCPRoute only `authorization` counts; a policy with anything else is refused there"
        ]
    );
    let backend = gateway_api("BackendTLSPolicy", &json!({"validation": {"hostname": "a"}}));
    assert_eq!(
        said(&backend),
        ["/spec/validation: nothing says which certificates are trusted"]
    );
}

fn targets(kinds: &[(&str, &str)]) -> Value {
    let target = |(kind, name): &(&str, &str)| {
        let group = "gateway.networking.k8s.io";
        json!({"group": group, "kind": kind, "name": name})
    };
    kinds.iter().map(target).collect()
}

#[test]
fn a_policy_of_nginx_has_targets_that_go_together() {
    let nginx = |kind: &str, kinds: &[(&str, &str)], more: Value| {
        let mut spec = json!({"targetRefs": targets(kinds)});
        spec.as_object_mut()
            .expect("a spec")
            .extend(more.as_object().expect("settings").clone());
        said(&made("gateway.nginx.org/v1alpha1", kind, &spec))
    };
    let mixed = [("Gateway", "a"), ("HTTPRoute", "b")];
    for kind in ["ProxySettingsPolicy", "RateLimitPolicy"] {
        assert_eq!(
            nginx(kind, &mixed, json!({})),
            ["/spec/targetRefs/1: a Gateway and a route are targets of one policy"]
        );
        assert!(nginx(kind, &[("GRPCRoute", "a"), ("HTTPRoute", "a")], json!({})).is_empty());
        assert_eq!(
            nginx(kind, &[("HTTPRoute", "a"), ("HTTPRoute", "a")], json!({})),
            ["/spec/targetRefs/1: one target is named twice"]
        );
    }
    let source = json!({"type": "HTTP", "policySource": {"httpSource": {"url": "http://a"}}});
    assert_eq!(
        nginx(
            "WAFPolicy",
            &[("GRPCRoute", "a"), ("HTTPRoute", "b")],
            source.clone()
        ),
        ["/spec/targetRefs/1: targets of two kinds stand in one policy"]
    );
    assert_eq!(
        nginx("WAFPolicy", &[("Gateway", "a"), ("Gateway", "a")], source),
        ["/spec/targetRefs/1: two targets have one name, which a policy of this kind cannot tell apart"]
    );
    assert_eq!(
        nginx(
            "WAFPolicy",
            &[("Gateway", "a")],
            json!({"type": "NIM", "policySource": {"httpSource": {}, "validation": {"verifyChecksum": true}}})
        ),
        [
            "/spec/policySource/httpSource: `httpSource` is for policies of type HTTP",
            "/spec/policySource: a policy of type NIM comes from `policySource.nimSource`",
            "/spec/policySource/validation/verifyChecksum: a checksum is fetched only beside a policy of type HTTP",
        ]
    );
    let twice = json!({"snippets": [{"context": "http"}, {"context": "http"}]});
    assert_eq!(
        nginx("SnippetsPolicy", &[("Gateway", "a")], twice),
        ["/spec/snippets/1: one context has two snippets"]
    );
    assert_eq!(
        nginx(
            "UpstreamSettingsPolicy",
            &[],
            json!({"loadBalancingMethod": "hash"})
        ),
        ["/spec/loadBalancingMethod: nothing says what is hashed"]
    );
    assert_eq!(
        nginx(
            "ObservabilityPolicy",
            &[],
            json!({"tracing": {"ratio": 5, "strategy": "parent"}})
        ),
        ["/spec/tracing/ratio: a ratio counts only where the strategy is `ratio`"]
    );
    assert_eq!(
        nginx(
            "ClientSettingsPolicy",
            &[],
            json!({"keepAlive": {"timeout": {"header": "1s"}}})
        ),
        ["/spec/keepAlive/timeout: a timeout for the header needs one for the server"]
    );
    assert_eq!(
        nginx(
            "RateLimitPolicy",
            &[],
            json!({"rateLimit": {"local": {"rules": [{"delay": 1, "noDelay": true}]}}})
        ),
        ["/spec/rateLimit/local/rules/0/noDelay: a limit cannot have a delay and `noDelay: true`"]
    );
}

#[test]
fn some_settings_of_a_traffic_policy_are_for_some_targets_only() {
    let kgateway = |kinds: &[(&str, &str)], field: &str| {
        let spec = json!({"targetRefs": targets(kinds), field: {}});
        said(&made("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", &spec))
    };
    let both = [("HTTPRoute", "a"), ("GRPCRoute", "b")];
    assert_eq!(
        kgateway(&both, "autoHostRewrite"),
        ["/spec/autoHostRewrite: `autoHostRewrite` is for routes, and a GRPCRoute is a target"]
    );
    assert!(kgateway(&both, "tracing").is_empty());
    assert_eq!(
        kgateway(&[("Gateway", "g")], "tracing"),
        ["/spec/tracing: `tracing` is for routes, and a Gateway is a target"]
    );
    assert_eq!(
        kgateway(&[("HTTPRoute", "a"), ("Gateway", "g")], "retry"),
        ["/spec/targetRefs/1: retries are for one listener of a Gateway, and this is the whole"]
    );
    assert!(kgateway(&[], "retry").is_empty());
}

#[test]
fn istio_takes_targets_or_a_selector() {
    let kinds = [
        ("security.istio.io/v1", "AuthorizationPolicy"),
        ("security.istio.io/v1beta1", "RequestAuthentication"),
        ("telemetry.istio.io/v1", "Telemetry"),
        ("extensions.istio.io/v1alpha1", "WasmPlugin"),
        ("extensions.istio.io/v1alpha1", "TrafficExtension"),
    ];
    let target = json!({"kind": "Service", "name": "s"});
    let selector = json!({"matchLabels": {"app": "a"}});
    for (version, kind) in kinds {
        let of = |spec: &Value| said(&made(version, kind, spec));
        assert_eq!(
            of(&json!({"targetRefs": [target], "selector": selector})).len(),
            1,
            "{kind}"
        );
        assert_eq!(
            of(&json!({"targetRef": target, "selector": selector})).len(),
            1,
            "{kind}"
        );
        assert!(of(&json!({"targetRefs": [target]})).is_empty(), "{kind}");
        assert!(of(&json!({"selector": selector})).is_empty(), "{kind}");
    }
}

#[test]
fn gke_knows_gateways_by_name_and_pods_by_labels() {
    let gke = |kind: &str, target: Value| {
        let spec = json!({"targetRefs": target});
        said(&made("networking.gke.io/v1", kind, &spec))
    };
    let labels = json!({"matchLabels": {"a": "b"}});
    let pods = json!({"group": "", "kind": "Pod", "selector": labels});
    let authz = |target: Value| gke("GCPAuthzPolicy", json!([target]));
    assert!(authz(pods.clone()).is_empty());
    assert_eq!(
        authz(json!({"group": "", "kind": "Pod", "name": "x"})),
        ["/spec/targetRefs/0/name: Pods are targeted by their labels"]
    );
    assert_eq!(
        authz(json!({"kind": "Gateway", "selector": labels})),
        ["/spec/targetRefs/0/selector: a Gateway is targeted by its name"]
    );
    assert_eq!(
        gke("GCPAuthzPolicy", json!([pods, pods])),
        ["/spec/targetRefs/1: Pods are targeted by one selector only"]
    );
    assert_eq!(
        gke(
            "GCPClientTLSPolicy",
            json!([{"kind": "Namespace", "name": "x", "sectionName": "y"}])
        ),
        ["/spec/targetRefs/0/sectionName: a Namespace has no sections"]
    );
    assert_eq!(
        gke(
            "GCPServerTLSPolicy",
            json!([{"kind": "Pod", "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}])
        ),
        ["/spec/targetRefs/0/selector/matchExpressions: GKE selects by `matchLabels` alone"]
    );
}

#[cfg(feature = "real-crds")]
mod like_an_api_server {
    //! Objects that are right by their structure: our rules refuse exactly those that the CRD refuses.

    use std::cell::Cell;

    use proptest::prelude::*;
    use proptest::strategy::BoxedStrategy;
    use proptest::test_runner::{Config, TestRunner};
    use serde_json::{Map, Value, json};

    use super::super::broken;
    use crate::api::crd;
    use crate::api::fixture::{object, real_crds};
    use crate::diagnostic::Severity;

    type Made = BoxedStrategy<Value>;

    /// One of several values; null is an absent one.
    fn pick(values: &Value) -> Made {
        proptest::sample::select(values.as_array().expect("a list").clone()).boxed()
    }

    fn map(fields: Vec<(&'static str, Made)>) -> Made {
        let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        let made = move |values: Vec<Value>| {
            let entries = names.iter().map(|name| (*name).to_owned()).zip(values);
            Value::Object(
                entries
                    .filter(|(_, value)| !value.is_null())
                    .collect::<Map<_, _>>(),
            )
        };
        values.prop_map(made).boxed()
    }

    fn list(item: Made, count: std::ops::Range<usize>) -> Made {
        prop::collection::vec(item, count).prop_map(Value::Array).boxed()
    }

    fn maybe(made: Made) -> Made {
        prop_oneof![2 => Just(Value::Null), 1 => made].boxed()
    }

    /// Every object of the kind is refused by the CRDs at these paths, or by none, as by our rules.
    fn compare(file: &str, api_version: &'static str, kind: &'static str, spec: &Made) {
        let crds = real_crds();
        let found = crds
            .iter()
            .find(|(path, _)| path.ends_with(file))
            .unwrap_or_else(|| panic!("no {file}"));
        let (crd, _) = crd::read(&found.1);
        let crd = crd.expect("a CRD");
        let (accepted, refused) = (Cell::new(0), Cell::new(0));
        let mut runner = TestRunner::new(Config::with_cases(500));
        runner
            .run(spec, |spec| {
                let object = object(json!({"apiVersion": api_version, "kind": kind,
                    "metadata": {"name": "x", "namespace": "a"}, "spec": spec}));
                let theirs: Vec<String> = crd::check(&crd, &object, &apimachinery::Work::unlimited())
                    .into_iter()
                    .map(|finding| finding.message)
                    .collect();
                let found = broken(&object);
                let ours: Vec<&String> = found
                    .iter()
                    .filter(|finding| finding.severity == Severity::Error)
                    .map(|finding| &finding.message)
                    .collect();
                let count = if theirs.is_empty() { &accepted } else { &refused };
                count.set(count.get() + 1);
                prop_assert_eq!(
                    theirs.is_empty(),
                    ours.is_empty(),
                    "theirs {:#?}\nours {:#?}",
                    theirs,
                    ours
                );
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
        let counts = (accepted.get(), refused.get());
        assert!(
            counts.0 > 10 && counts.1 > 10,
            "{kind}: accepted and refused {counts:?}"
        );
    }

    fn names() -> Made {
        pick(&json!([
            null,
            null,
            "a.example.com",
            "*.example.com",
            "a.*.com",
            "A.com",
            "192.0.2.1",
            "*."
        ]))
    }

    fn gateway_listeners() -> Made {
        let listener = map(vec![
            ("port", pick(&json!([80, 443]))),
            (
                "protocol",
                pick(&json!(["HTTP", "HTTPS", "TLS", "TCP", "UDP", "x.org/own"])),
            ),
            (
                "hostname",
                pick(&json!([
                    null,
                    null,
                    "a.example.com",
                    "b.example.com",
                    "*.example.com",
                    "a.*.com"
                ])),
            ),
            (
                "tls",
                maybe(map(vec![
                    ("mode", pick(&json!([null, "Terminate", "Passthrough"]))),
                    ("certificateRefs", pick(&json!([null, [], [{"name": "c"}]]))),
                    ("options", pick(&json!([null, {}, {"x.org/a": "b"}]))),
                ])),
            ),
        ]);
        list(listener, 1..4)
            .prop_map(|listeners| {
                let named = listeners
                    .as_array()
                    .into_iter()
                    .flatten()
                    .enumerate()
                    .map(|(at, listener)| {
                        let mut listener = listener.clone();
                        listener["name"] = json!(format!("l{at}"));
                        listener
                    });
                Value::Array(named.collect())
            })
            .boxed()
    }

    #[test]
    fn gateways() {
        let address = map(vec![
            ("type", pick(&json!([null, "IPAddress", "Hostname", "x.org/own"]))),
            (
                "value",
                pick(&json!([null, "192.0.2.1", "192.0.2.2", "a.example.com"])),
            ),
        ]);
        let keys = pick(&json!([null, {"a": "b"}, {"x.org/a": "b"}, {"-a": "b"}, {"a/b/c": "d"}]));
        let port = map(vec![
            ("port", pick(&json!([443, 444]))),
            ("tls", pick(&json!([{}]))),
        ]);
        let spec = map(vec![
            ("gatewayClassName", pick(&json!(["c"]))),
            ("listeners", gateway_listeners()),
            ("addresses", maybe(list(address, 0..3))),
            (
                "infrastructure",
                maybe(map(vec![("labels", keys.clone()), ("annotations", keys)])),
            ),
            (
                "tls",
                maybe(map(vec![(
                    "frontend",
                    map(vec![
                        ("default", pick(&json!([{}]))),
                        ("perPort", list(port, 0..3)),
                    ]),
                )])),
            ),
        ]);
        let file = "gateway-api/experimental/gateway.networking.k8s.io_gateways.yaml";
        compare(file, "gateway.networking.k8s.io/v1", "Gateway", &spec);
    }

    #[test]
    fn listener_sets() {
        let spec = map(vec![
            ("parentRef", pick(&json!([{"name": "g"}]))),
            ("listeners", gateway_listeners()),
        ]);
        let file = "gateway-api/experimental/gateway.networking.k8s.io_listenersets.yaml";
        compare(file, "gateway.networking.k8s.io/v1", "ListenerSet", &spec);
    }

    fn parents() -> Made {
        let parent = map(vec![
            ("name", pick(&json!(["g", "g", "h"]))),
            ("namespace", pick(&json!([null, null, "b"]))),
            ("sectionName", pick(&json!([null, "s", "t"]))),
            ("port", pick(&json!([null, null, 80]))),
        ]);
        list(parent, 0..4)
    }

    fn backend(filter: Made) -> Made {
        map(vec![
            ("name", pick(&json!(["s"]))),
            ("port", pick(&json!([80, 80, 80, 80, null]))),
            ("kind", pick(&json!([null, "Service", "Backend"]))),
            ("group", pick(&json!([null, "", "x.org"]))),
            ("filters", maybe(list(filter, 0..3))),
        ])
    }

    /// Mostly the field that belongs to the type, sometimes another.
    fn filter(types: &'static [(&'static str, &'static str)], fields: impl Fn(&str) -> Made) -> Made {
        let right: Vec<Made> = types
            .iter()
            .map(|(name, field)| {
                let name = pick(&json!([name]));
                map(vec![("type", name), (field, fields(field))])
            })
            .collect();
        let wrong = map(types
            .iter()
            .map(|(_, field)| (*field, maybe(fields(field))))
            .chain([(
                "type",
                pick(&json!(types.iter().map(|(name, _)| name).collect::<Vec<_>>())),
            )])
            .collect());
        prop_oneof![8 => proptest::strategy::Union::new(right), 1 => wrong].boxed()
    }

    const HTTP_TYPES: [(&str, &str); 8] = [
        ("RequestHeaderModifier", "requestHeaderModifier"),
        ("ResponseHeaderModifier", "responseHeaderModifier"),
        ("RequestMirror", "requestMirror"),
        ("RequestRedirect", "requestRedirect"),
        ("URLRewrite", "urlRewrite"),
        ("ExtensionRef", "extensionRef"),
        ("CORS", "cors"),
        ("ExternalAuth", "externalAuth"),
    ];
    const GRPC_TYPES: [(&str, &str); 4] = [
        ("RequestHeaderModifier", "requestHeaderModifier"),
        ("ResponseHeaderModifier", "responseHeaderModifier"),
        ("RequestMirror", "requestMirror"),
        ("ExtensionRef", "extensionRef"),
    ];

    fn content(field: &str) -> Made {
        let service = || {
            map(vec![
                ("name", pick(&json!(["s"]))),
                ("port", pick(&json!([80, 80, 80, null]))),
                ("kind", pick(&json!([null, "Backend"]))),
            ])
        };
        let path = || {
            maybe(map(vec![
                ("type", pick(&json!(["ReplaceFullPath", "ReplacePrefixMatch"]))),
                ("replaceFullPath", pick(&json!([null, "/a"]))),
                ("replacePrefixMatch", pick(&json!([null, "/", "/b"]))),
            ]))
        };
        match field {
            "requestMirror" => map(vec![
                ("backendRef", service()),
                ("percent", pick(&json!([null, null, 10]))),
                (
                    "fraction",
                    maybe(map(vec![
                        ("numerator", pick(&json!([1, 50, 101]))),
                        ("denominator", pick(&json!([null, 10, 200]))),
                    ])),
                ),
            ]),
            "requestRedirect" | "urlRewrite" => map(vec![("path", path())]),
            "extensionRef" => pick(&json!([{"group": "x.org", "kind": "F", "name": "f"}])),
            "cors" => map(vec![
                ("allowMethods", pick(&json!([null, ["*"], ["GET"], ["*", "GET"]]))),
                ("allowHeaders", pick(&json!([null, ["*"], ["a", "*"]]))),
                (
                    "allowOrigins",
                    pick(&json!([null, ["*"], ["https://a.org", "*"]])),
                ),
            ]),
            "externalAuth" => map(vec![
                ("protocol", pick(&json!(["HTTP", "GRPC"]))),
                ("backendRef", service()),
                ("http", pick(&json!([null, {}]))),
                ("grpc", pick(&json!([null, {}]))),
            ]),
            _ => pick(&json!([{}])),
        }
    }

    fn headers() -> Made {
        maybe(list(
            map(vec![
                ("name", pick(&json!(["a", "b", "c"]))),
                ("value", pick(&json!(["x"]))),
            ]),
            0..3,
        ))
    }

    fn persistence() -> Made {
        maybe(map(vec![
            ("type", pick(&json!([null, "Cookie", "Header"]))),
            ("absoluteTimeout", pick(&json!([null, "1h"]))),
            (
                "cookieConfig",
                maybe(map(vec![(
                    "lifetimeType",
                    pick(&json!([null, "Session", "Permanent"])),
                )])),
            ),
        ]))
    }

    #[test]
    fn http_routes() {
        let path = map(vec![
            (
                "type",
                pick(&json!([null, "PathPrefix", "Exact", "RegularExpression"])),
            ),
            (
                "value",
                pick(&json!([
                    null, "/", "/a", "/a%20b", "/a/b.c", "a", "/a//b", "/./a", "/a/../b", "/a/.", "/a/..",
                    "/a#b", "/a%2fb", "/a%2Fb", "/a b", "/a%2", "/ä", ""
                ])),
            ),
        ]);
        let one = map(vec![
            (
                "path",
                prop_oneof![3 => pick(&json!([null, {"type": "PathPrefix", "value": "/a"}])), 1 => path]
                    .boxed(),
            ),
            ("headers", headers()),
            ("queryParams", headers()),
        ]);
        let filter = || filter(&HTTP_TYPES, content);
        let rule = map(vec![
            ("name", pick(&json!([null, "a", "b"]))),
            (
                "matches",
                prop_oneof![3 => Just(Value::Null), 1 => list(one.clone(), 0..1), 4 => list(one, 1..3)]
                    .boxed(),
            ),
            ("filters", maybe(list(filter(), 0..3))),
            ("backendRefs", maybe(list(backend(filter()), 0..2))),
            (
                "timeouts",
                maybe(map(vec![
                    ("request", pick(&json!([null, "0s", "1s", "1m30s", "500ms"]))),
                    ("backendRequest", pick(&json!([null, "0s", "1s", "90s", "1h"]))),
                ])),
            ),
            ("sessionPersistence", persistence()),
        ]);
        let spec = map(vec![
            ("parentRefs", parents()),
            (
                "hostnames",
                list(
                    names().prop_filter("a name", |name| !name.is_null()).boxed(),
                    0..2,
                ),
            ),
            (
                "rules",
                prop_oneof![1 => Just(Value::Null), 9 => list(rule, 1..3)].boxed(),
            ),
        ]);
        let file = "gateway-api/experimental/gateway.networking.k8s.io_httproutes.yaml";
        compare(file, "gateway.networking.k8s.io/v1", "HTTPRoute", &spec);
    }

    #[test]
    fn grpc_routes() {
        let method = map(vec![
            ("type", pick(&json!([null, "Exact", "RegularExpression"]))),
            (
                "service",
                pick(&json!([null, "a.b.C", ".a", "a..b", "1a", "a-b"])),
            ),
            ("method", pick(&json!([null, "Get", "a.b", "1a"]))),
        ]);
        let one = map(vec![("method", maybe(method)), ("headers", headers())]);
        let rule = map(vec![
            ("name", pick(&json!([null, "a", "b"]))),
            ("matches", maybe(list(one, 0..3))),
            ("filters", maybe(list(filter(&GRPC_TYPES, content), 0..3))),
            (
                "backendRefs",
                maybe(list(backend(filter(&GRPC_TYPES, content)), 0..2)),
            ),
            ("sessionPersistence", persistence()),
        ]);
        let spec = map(vec![("parentRefs", parents()), ("rules", list(rule, 1..3))]);
        let file = "gateway-api/experimental/gateway.networking.k8s.io_grpcroutes.yaml";
        compare(file, "gateway.networking.k8s.io/v1", "GRPCRoute", &spec);
    }

    #[test]
    fn tls_tcp_and_udp_routes() {
        let backend = || {
            list(
                backend(Just(Value::Null).boxed())
                    .prop_map(without_filters)
                    .boxed(),
                1..3,
            )
        };
        let rules = || list(map(vec![("backendRefs", backend())]), 1..2);
        let names = list(
            names().prop_filter("a name", |name| !name.is_null()).boxed(),
            1..3,
        );
        let tls = map(vec![
            ("parentRefs", parents()),
            ("hostnames", names),
            ("rules", rules()),
        ]);
        let other = map(vec![("parentRefs", parents()), ("rules", rules())]);
        for (kind, plural, spec) in [
            ("TLSRoute", "tlsroutes", &tls),
            ("TCPRoute", "tcproutes", &other),
            ("UDPRoute", "udproutes", &other),
        ] {
            let file = format!("gateway-api/experimental/gateway.networking.k8s.io_{plural}.yaml");
            compare(&file, "gateway.networking.k8s.io/v1", kind, spec);
        }
    }

    fn without_filters(mut backend: Value) -> Value {
        if let Some(fields) = backend.as_object_mut() {
            fields.remove("filters");
        }
        backend
    }

    #[test]
    fn backend_tls_policies() {
        let target = map(vec![
            ("group", pick(&json!([""]))),
            ("kind", pick(&json!(["Service"]))),
            ("name", pick(&json!(["s", "t"]))),
            ("sectionName", pick(&json!([null, "a", "b"]))),
        ]);
        let name = map(vec![
            ("type", pick(&json!(["Hostname", "URI"]))),
            ("hostname", pick(&json!([null, "a.org"]))),
            ("uri", pick(&json!([null, "spiffe://a/b"]))),
        ]);
        let certificate = json!([null, [], [{"group": "", "kind": "ConfigMap", "name": "c"}]]);
        let validation = map(vec![
            ("hostname", pick(&json!(["a.org"]))),
            ("caCertificateRefs", pick(&certificate)),
            ("wellKnownCACertificates", pick(&json!([null, "System"]))),
            ("subjectAltNames", maybe(list(name, 1..3))),
        ]);
        let spec = map(vec![
            ("targetRefs", list(target, 1..4)),
            ("validation", validation),
        ]);
        let file = "gateway-api/experimental/gateway.networking.k8s.io_backendtlspolicies.yaml";
        compare(file, "gateway.networking.k8s.io/v1", "BackendTLSPolicy", &spec);
    }

    #[test]
    fn backend_traffic_policies() {
        let interval = || pick(&json!([null, "0s", "500ms", "1s", "10m", "1h", "61m"]));
        let holder = || maybe(map(vec![("interval", interval())]));
        let retries = map(vec![("budget", holder()), ("minRetryRate", holder())]);
        let target = json!([{"group": "", "kind": "Service", "name": "s"}]);
        let spec = map(vec![
            ("targetRefs", pick(&json!([target]))),
            ("retryConstraint", maybe(retries)),
            ("sessionPersistence", persistence()),
        ]);
        let file = "gateway-api/experimental/gateway.networking.x-k8s.io_xbackendtrafficpolicies.yaml";
        let version = "gateway.networking.x-k8s.io/v1alpha1";
        compare(file, version, "XBackendTrafficPolicy", &spec);
    }

    fn target(kinds: &Value) -> Made {
        map(vec![
            ("group", pick(&json!(["gateway.networking.k8s.io"]))),
            ("kind", pick(kinds)),
            ("name", pick(&json!(["x"]))),
        ])
    }

    #[test]
    fn kuadrant_policies() {
        let limits = pick(&json!([null, {}, {"a": {"rates": [{"limit": 1, "window": "1s"}]}}]));
        let holder = || maybe(map(vec![("limits", limits.clone())]));
        let spec = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("limits", limits.clone()),
        ]);
        let wrapped = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("defaults", holder()),
        ]);
        let over = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("overrides", holder()),
        ]);
        let any = prop_oneof![spec, wrapped, over].boxed();
        compare(
            "kuadrant/kuadrant.io_ratelimitpolicies.yaml",
            "kuadrant.io/v1",
            "RateLimitPolicy",
            &any,
        );

        let jwt =
            pick(&json!([{}, {"jwt": {"issuerUrl": "a"}}, {"jwt": {"issuerUrl": "a", "jwksUrl": "b"}}]));
        let response = json!([null, {}, {"unauthorized": {}}, {"success": {}}, {"success": {"headers": {}}},
            {"success": {"headers": {"a": {"plain": {"value": "b"}}}}}]);
        let rules = maybe(map(vec![
            ("authentication", maybe(map(vec![("a", jwt)]))),
            (
                "authorization",
                pick(&json!([null, {}, {"a": {"opa": {"rego": "allow"}}}])),
            ),
            ("response", pick(&response)),
        ]));
        let bare = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("rules", rules.clone()),
        ]);
        let wrapped = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("defaults", map(vec![("rules", rules)])),
        ]);
        let any = prop_oneof![bare, wrapped].boxed();
        compare(
            "kuadrant/kuadrant.io_authpolicies.yaml",
            "kuadrant.io/v1",
            "AuthPolicy",
            &any,
        );

        let dns = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("delegate", pick(&json!([null, true, false]))),
            ("providerRefs", pick(&json!([null, [{"name": "p"}]]))),
            (
                "healthCheck",
                maybe(map(vec![
                    ("port", pick(&json!([null, 80, 81, 443, 1023, 1024, 49152]))),
                    ("protocol", pick(&json!([null, "HTTP", "HTTPS", "TCP"]))),
                    ("failureThreshold", pick(&json!([null, 0, 1]))),
                ])),
            ),
        ]);
        compare(
            "kuadrant/kuadrant.io_dnspolicies.yaml",
            "kuadrant.io/v1",
            "DNSPolicy",
            &dns,
        );

        let issuer = map(vec![
            ("name", pick(&json!(["i"]))),
            ("kind", pick(&json!([null, "Issuer", "ClusterIssuer", "X"]))),
        ]);
        let tls = map(vec![
            ("targetRef", target(&json!(["Gateway"]))),
            ("issuerRef", issuer),
        ]);
        compare(
            "kuadrant/kuadrant.io_tlspolicies.yaml",
            "kuadrant.io/v1",
            "TLSPolicy",
            &tls,
        );
    }

    /// Targets of one of these kinds each.
    fn targets(kinds: &Value, names: &Value) -> Made {
        let target = map(vec![
            ("group", pick(&json!(["gateway.networking.k8s.io"]))),
            ("kind", pick(kinds)),
            ("name", pick(names)),
        ]);
        list(target, 1..4)
    }

    #[test]
    fn nginx_policies() {
        let (version, names) = ("gateway.nginx.org/v1alpha1", json!(["a", "b", "c"]));
        let every = json!(["Gateway", "HTTPRoute", "GRPCRoute"]);
        let file = |plural: &str| format!("nginx-gateway-fabric/gateway.nginx.org_{plural}.yaml");
        let proxy = map(vec![("targetRefs", targets(&every, &names))]);
        compare(
            &file("proxysettingspolicies"),
            version,
            "ProxySettingsPolicy",
            &proxy,
        );

        let rule = map(vec![
            ("rate", pick(&json!(["1r/s"]))),
            ("key", pick(&json!(["$uri"]))),
            ("delay", pick(&json!([null, 1]))),
            ("noDelay", pick(&json!([null, true, false]))),
        ]);
        let local = map(vec![("rules", list(rule, 1..3))]);
        let limits = map(vec![
            ("targetRefs", targets(&every, &names)),
            ("rateLimit", maybe(map(vec![("local", local)]))),
        ]);
        compare(&file("ratelimitpolicies"), version, "RateLimitPolicy", &limits);

        let tracing = map(vec![
            ("strategy", pick(&json!(["ratio", "parent"]))),
            ("ratio", pick(&json!([null, 5]))),
        ]);
        let observability = map(vec![
            ("targetRefs", targets(&json!(["HTTPRoute", "GRPCRoute"]), &names)),
            ("tracing", maybe(tracing)),
        ]);
        let file_of = file("observabilitypolicies");
        compare(
            &file_of,
            "gateway.nginx.org/v1alpha2",
            "ObservabilityPolicy",
            &observability,
        );

        let snippet = map(vec![
            ("context", pick(&json!(["main", "http", "http.server"]))),
            ("value", pick(&json!(["a"]))),
        ]);
        let snippets = map(vec![
            ("targetRefs", targets(&json!(["Gateway"]), &names)),
            ("snippets", list(snippet, 1..4)),
        ]);
        compare(&file("snippetspolicies"), version, "SnippetsPolicy", &snippets);

        let time = || pick(&json!([null, "1s"]));
        let keep = map(vec![(
            "timeout",
            map(vec![("header", time()), ("server", time())]),
        )]);
        let client = map(vec![("targetRef", target(&every)), ("keepAlive", keep)]);
        compare(
            &file("clientsettingspolicies"),
            version,
            "ClientSettingsPolicy",
            &client,
        );
    }

    #[test]
    fn traffic_policies() {
        let target = map(vec![
            ("group", pick(&json!(["gateway.networking.k8s.io"]))),
            (
                "kind",
                pick(&json!(["Gateway", "HTTPRoute", "HTTPRoute", "GRPCRoute"])),
            ),
            ("name", pick(&json!(["a"]))),
            ("sectionName", pick(&json!([null, "s"]))),
        ]);
        let spec = map(vec![
            ("targetRefs", maybe(list(target, 1..3))),
            ("autoHostRewrite", pick(&json!([null, null, true]))),
            ("tracing", pick(&json!([null, null, {"disable": {}}]))),
            ("retry", pick(&json!([null, {"attempts": 1, "retryOn": ["5xx"]}]))),
        ]);
        let file = "kgateway/gateway.kgateway.dev_trafficpolicies.yaml";
        compare(file, "gateway.kgateway.dev/v1alpha1", "TrafficPolicy", &spec);
    }

    #[test]
    fn gke_policies() {
        let labels = json!({"matchLabels": {"a": "b"}});
        let target = map(vec![
            ("group", pick(&json!(["gateway.networking.k8s.io"]))),
            ("kind", pick(&json!(["Gateway", "Pod"]))),
            ("name", pick(&json!([null, "a"]))),
            ("selector", pick(&json!([null, labels]))),
        ]);
        let spec = map(vec![
            ("targetRefs", list(target, 1..3)),
            ("action", pick(&json!(["DENY_BY_DEFAULT"]))),
            ("enforcementLevel", pick(&json!(["L7"]))),
        ]);
        let file = "gke/networking.gke.io_gcpauthzpolicies.yaml";
        compare(file, "networking.gke.io/v1", "GCPAuthzPolicy", &spec);
    }

    #[test]
    fn envoy_gateway_policies() {
        let types = json!([
            "RoundRobin",
            "LeastRequest",
            "Random",
            "ConsistentHash",
            "ConsistentHash"
        ]);
        let hash = map(vec![
            ("type", pick(&json!(["SourceIP", "Header", "Cookie"]))),
            ("header", pick(&json!([null, null, {"name": "a"}]))),
            ("cookie", pick(&json!([null, null, {"name": "a"}]))),
        ]);
        let balancer = map(vec![
            ("type", pick(&types)),
            ("consistentHash", maybe(hash)),
            ("slowStart", pick(&json!([null, null, {"window": "1s"}]))),
        ]);
        let checked = map(vec![
            ("type", pick(&json!(["HTTP", "TCP"]))),
            ("http", pick(&json!([null, {"path": "/"}]))),
            ("tcp", pick(&json!([null, {}]))),
        ]);
        let kinds = json!(["Gateway", "HTTPRoute", "HTTPRoute", "TCPRoute"]);
        let spec = map(vec![
            ("targetRefs", list(target(&kinds), 1..3)),
            ("compression", pick(&json!([null, null, [{"type": "Gzip"}]]))),
            (
                "compressor",
                pick(&json!([null, null, [{"type": "Gzip", "gzip": {}}]])),
            ),
            ("requestBuffer", pick(&json!([null, null, {"limit": "1Mi"}]))),
            (
                "httpUpgrade",
                pick(&json!([null, null, [], [{"type": "websocket"}]])),
            ),
            ("admissionControl", pick(&json!([null, null, {}]))),
            (
                "connection",
                pick(&json!([null, null, {"preconnect": {"predictivePercent": 100}}])),
            ),
            ("loadBalancer", maybe(balancer)),
            ("healthCheck", maybe(map(vec![("active", checked)]))),
        ]);
        let file = "envoy-gateway/gateway.envoyproxy.io_backendtrafficpolicies.yaml";
        compare(
            file,
            "gateway.envoyproxy.io/v1alpha1",
            "BackendTrafficPolicy",
            &spec,
        );
        let rule = json!({"action": "Allow", "principal": {"jwt": {"provider": "p", "claims": [{"name": "a", "values": ["b"]}]}}});
        let other = json!({"action": "Allow", "principal": {"clientCIDRs": ["192.0.2.0/24"]}});
        let version = || pick(&json!([null, "Auto", "1.0", "1.1", "1.2", "1.3"]));
        let detection = map(vec![
            (
                "xForwardedFor",
                maybe(map(vec![
                    ("numTrustedHops", pick(&json!([null, 1]))),
                    ("trustedCIDRs", pick(&json!([null, ["192.0.2.0/24"]]))),
                ])),
            ),
            ("customHeader", pick(&json!([null, null, {"name": "a"}]))),
            ("directSourceIP", pick(&json!([null, null, {}]))),
        ]);
        let tls = map(vec![
            ("minVersion", version()),
            ("maxVersion", version()),
            ("ciphers", pick(&json!([null, null, ["a"]]))),
        ]);
        let ids = map(vec![
            ("preserveXRequestID", pick(&json!([null, true]))),
            ("requestID", pick(&json!([null, "Preserve"]))),
        ]);
        let spec = map(vec![
            ("targetRefs", list(target(&json!(["Gateway"])), 1..3)),
            ("clientIPDetection", maybe(detection)),
            ("tls", maybe(tls)),
            ("headers", maybe(ids)),
        ]);
        let file = "envoy-gateway/gateway.envoyproxy.io_clienttrafficpolicies.yaml";
        compare(
            file,
            "gateway.envoyproxy.io/v1alpha1",
            "ClientTrafficPolicy",
            &spec,
        );
        let service = map(vec![
            (
                "backendRefs",
                pick(&json!([[{"name": "s", "port": 80}], [{"name": "s", "port": 80}], [{"name": "s"}]])),
            ),
            ("path", pick(&json!([null, "/a"]))),
            ("pathOverride", pick(&json!([null, "/a"]))),
        ]);
        let external = map(vec![
            ("http", maybe(service)),
            (
                "grpc",
                pick(&json!([null, {"backendRefs": [{"name": "s", "port": 80}]}])),
            ),
        ]);
        let key = map(vec![
            ("headers", pick(&json!([null, ["a"]]))),
            ("params", pick(&json!([null, ["a"]]))),
        ]);
        let keys = map(vec![
            ("credentialRefs", pick(&json!([[{"name": "s"}]]))),
            ("extractFrom", list(key, 1..3)),
        ]);
        let spec = map(vec![
            (
                "targetRefs",
                list(target(&json!(["Gateway", "HTTPRoute", "HTTPRoute"])), 1..3),
            ),
            ("extAuth", maybe(external)),
            ("apiKeyAuth", maybe(keys)),
            (
                "authorization",
                pick(&json!([null, {"rules": [rule]}, {"rules": [other]}])),
            ),
            (
                "jwt",
                pick(
                    &json!([null, {"providers": [{"name": "p", "remoteJWKS": {"uri": "https://a.org/keys"}}]}]),
                ),
            ),
        ]);
        let file = "envoy-gateway/gateway.envoyproxy.io_securitypolicies.yaml";
        compare(file, "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", &spec);
    }
}
