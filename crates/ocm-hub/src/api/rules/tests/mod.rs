//! The rules one by one; and, with the projects' own CRDs, all of them against an API server's answers.

#[cfg(feature = "real-crds")]
mod comparing;
#[cfg(feature = "real-crds")]
mod like_gateway_api;
#[cfg(feature = "real-crds")]
mod like_products;

use kube_json::{Value, json};

use super::broken;
use crate::diagnostic::{Finding, Severity};
use crate::tests::object;

fn made(api_version: &str, kind: &str, spec: &Value) -> crate::object::Object {
    object(
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "a"}, "spec": spec}),
    )
}

fn gateway_api(kind: &str, spec: &Value) -> crate::object::Object {
    made("gateway.networking.k8s.io/v1", kind, spec)
}

/// What is reported about one object: message, pointer of the place, help, severity.
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
        let message = finding.message.as_str();
        let message = message.split_once(": ").expect("the object first").1;
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
            "(warning) /spec/listeners/0: a listener of protocol HTTPS has no `tls`, so few controllers serve it"
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
        [
            "/spec/listeners/0/hostname: a listener of protocol UDP cannot have a hostname: the protocol has none"
        ]
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
        ["/spec/listeners/1: the listeners `a` and `b` have the same port, protocol, and hostname"]
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
        ["/spec/listeners/0/hostname: `a.*.com`: `*` can only replace whole labels at the front"]
    );
    assert_eq!(
        hostname("A.example.com"),
        ["/spec/listeners/0/hostname: `A.example.com` is not a hostname"]
    );
    assert_eq!(
        hostname("192.0.2.1"),
        ["(warning) /spec/listeners/0/hostname: `192.0.2.1` is an address, not a hostname"]
    );
    let route = gateway_api("TLSRoute", &json!({"hostnames": ["192.0.2.1"]}));
    assert_eq!(
        said(&route),
        ["/spec/hostnames/0: `192.0.2.1` is an address, not a hostname"]
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
        ["/spec/rules/0/filters/1/type: a redirected request cannot be rewritten"]
    );
    let mirror = json!({"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "s", "port": 80}}});
    assert_eq!(rule(&json!({"filters": [mirror, mirror]})), Vec::<String>::new());
    assert_eq!(
        rule(&json!({"filters": [{"type": "CORS", "cors": {}}, {"type": "CORS", "cors": {}}]})),
        ["/spec/rules/0/filters/1/type: two filters have type CORS"]
    );
}

#[test]
fn each_field_of_a_filter_has_rules_of_its_own() {
    let filter = |name: &str, field: &str, value: Value| {
        let mut filter = json!({"type": name});
        filter.as_object_mut().expect("a mapping").insert(field, value);
        rule(&json!({"filters": [filter]}))
    };
    for (name, field) in [
        ("RequestRedirect", "requestRedirect"),
        ("URLRewrite", "urlRewrite"),
    ] {
        assert_eq!(
            filter(name, field, json!({"path": {"type": "ReplaceFullPath"}})),
            [format!(
                "/spec/rules/0/filters/0/{field}/path: a path of type ReplaceFullPath has no `replaceFullPath`"
            )]
        );
    }
    let half = json!({"numerator": 3, "denominator": 2});
    assert_eq!(
        filter(
            "RequestMirror",
            "requestMirror",
            json!({"backendRef": {"name": "s"}, "fraction": half})
        ),
        [
            "/spec/rules/0/filters/0/requestMirror/backendRef: the backend Service s has no port",
            "/spec/rules/0/filters/0/requestMirror/fraction/numerator: the fraction of mirrored requests is greater than 1",
        ]
    );
    assert_eq!(
        filter(
            "CORS",
            "cors",
            json!({"allowMethods": ["GET", "*"], "allowOrigins": ["*"]})
        ),
        ["/spec/rules/0/filters/0/cors/allowMethods: `*` in `allowMethods` must be the only value"]
    );
    assert_eq!(
        filter(
            "ExternalAuth",
            "externalAuth",
            json!({"protocol": "GRPC", "backendRef": {"name": "s"}})
        ),
        [
            "/spec/rules/0/filters/0/externalAuth/backendRef: the backend Service s has no port",
            "/spec/rules/0/filters/0/externalAuth: external authorization of protocol GRPC has no `grpc`",
        ]
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
        ["/spec/parentRefs/1: `g` is listed as a parent twice"]
    );
    assert_eq!(
        parents(json!([{"name": "g"}, {"name": "g", "sectionName": "b"}])),
        ["/spec/parentRefs/1: `g` is listed as a parent both as a whole and by listener"]
    );
}

#[test]
fn a_service_has_a_port_and_a_backend_is_not_slower_than_its_request() {
    assert_eq!(
        rule(&json!({"backendRefs": [{"name": "s"}, {"name": "t", "kind": "Backend", "group": "x.org"}]})),
        ["/spec/rules/0/backendRefs/0: the backend Service s has no port"]
    );
    assert_eq!(
        rule(&json!({"timeouts": {"request": "1s", "backendRequest": "1500ms"}})),
        [
            "/spec/rules/0/timeouts/backendRequest: the timeout of a request to the backend is longer than that of the whole request"
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
        ["/spec/rules/0/matches/0/method/method: `a.b` is not the name of a gRPC method"]
    );
}

#[test]
fn policies_say_something_and_nothing_twice() {
    let kuadrant = |kind: &str, spec: Value| said(&made("kuadrant.io/v1", kind, &spec));
    assert_eq!(
        kuadrant("RateLimitPolicy", json!({"defaults": {"limits": {}}})),
        ["/spec/defaults: there are no limits"]
    );
    assert_eq!(
        kuadrant("AuthPolicy", json!({"rules": {"authentication": {}}})),
        ["/spec: there are no rules"]
    );
    assert_eq!(
        kuadrant("TLSPolicy", json!({"issuerRef": {"kind": "Isuer"}})),
        ["/spec/issuerRef/kind: `Isuer` is not a kind of certificate issuer"]
    );
    assert_eq!(
        kuadrant("DNSPolicy", json!({"healthCheck": {"port": 81}})),
        ["/spec/healthCheck/port: port 81 is not allowed for a health check"]
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
            "(warning) /spec/cors: on a TCPRoute, only `authorization` is allowed; a policy with other settings is refused"
        ]
    );
    let backend = gateway_api("BackendTLSPolicy", &json!({"validation": {"hostname": "a"}}));
    assert_eq!(
        said(&backend),
        ["/spec/validation: no trusted certificates are configured"]
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
            ["/spec/targetRefs/1: a policy targets both a Gateway and a route"]
        );
        assert!(nginx(kind, &[("GRPCRoute", "a"), ("HTTPRoute", "a")], json!({})).is_empty());
        assert_eq!(
            nginx(kind, &[("HTTPRoute", "a"), ("HTTPRoute", "a")], json!({})),
            ["/spec/targetRefs/1: the same target is listed twice"]
        );
    }
    let source = json!({"type": "HTTP", "policySource": {"httpSource": {"url": "http://a"}}});
    assert_eq!(
        nginx(
            "WAFPolicy",
            &[("GRPCRoute", "a"), ("HTTPRoute", "b")],
            source.clone()
        ),
        ["/spec/targetRefs/1: a policy has targets of two kinds"]
    );
    assert_eq!(
        nginx("WAFPolicy", &[("Gateway", "a"), ("Gateway", "a")], source),
        [
            "/spec/targetRefs/1: two targets have the same name, and a policy of this kind cannot distinguish them"
        ]
    );
    assert_eq!(
        nginx(
            "WAFPolicy",
            &[("Gateway", "a")],
            json!({"type": "NIM", "policySource": {"httpSource": {}, "validation": {"verifyChecksum": true}}})
        ),
        [
            "/spec/policySource/httpSource: `httpSource` is for policies of type HTTP",
            "/spec/policySource: a policy of type NIM needs `policySource.nimSource`",
            "/spec/policySource/validation/verifyChecksum: a checksum can be fetched only for a policy of type HTTP",
        ]
    );
    let twice = json!({"snippets": [{"context": "http"}, {"context": "http"}]});
    assert_eq!(
        nginx("SnippetsPolicy", &[("Gateway", "a")], twice),
        ["/spec/snippets/1: two snippets have the same context"]
    );
    assert_eq!(
        nginx(
            "UpstreamSettingsPolicy",
            &[],
            json!({"loadBalancingMethod": "hash"})
        ),
        ["/spec/loadBalancingMethod: the hash method has no key"]
    );
    assert_eq!(
        nginx(
            "ObservabilityPolicy",
            &[],
            json!({"tracing": {"ratio": 5, "strategy": "parent"}})
        ),
        ["/spec/tracing/ratio: a ratio has an effect only with the strategy `ratio`"]
    );
    assert_eq!(
        nginx(
            "ClientSettingsPolicy",
            &[],
            json!({"keepAlive": {"timeout": {"header": "1s"}}})
        ),
        ["/spec/keepAlive/timeout: a timeout for the header needs a timeout for the server"]
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
        ["/spec/autoHostRewrite: `autoHostRewrite` is only for routes, but a target is a GRPCRoute"]
    );
    assert!(kgateway(&both, "tracing").is_empty());
    assert_eq!(
        kgateway(&[("Gateway", "g")], "tracing"),
        ["/spec/tracing: `tracing` is only for routes, but a target is a Gateway"]
    );
    assert_eq!(
        kgateway(&[("HTTPRoute", "a"), ("Gateway", "g")], "retry"),
        ["/spec/targetRefs/1: retries on a Gateway need a listener, but the target is the whole Gateway"]
    );
    assert!(kgateway(&[], "retry").is_empty());
}

#[test]
fn istio_takes_targets_or_a_selector() {
    let target = json!({"kind": "Service", "name": "s"});
    let selector = json!({"matchLabels": {"app": "a"}});
    for (version, kind, selecting) in [
        ("security.istio.io/v1", "AuthorizationPolicy", "selector"),
        ("security.istio.io/v1beta1", "RequestAuthentication", "selector"),
        ("telemetry.istio.io/v1", "Telemetry", "selector"),
        ("extensions.istio.io/v1alpha1", "WasmPlugin", "selector"),
        ("extensions.istio.io/v1alpha1", "TrafficExtension", "selector"),
        ("networking.istio.io/v1alpha3", "EnvoyFilter", "workloadSelector"),
    ] {
        let of = |fields: &[(&str, &Value)]| {
            let own = (kind == "TrafficExtension").then(|| ("wasm".to_owned(), json!({})));
            let fields = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).clone()));
            said(&made(version, kind, &Value::Object(fields.chain(own).collect())))
        };
        let targets = json!([target]);
        assert_eq!(
            of(&[("targetRefs", &targets), (selecting, &selector)]),
            [format!(
                "/spec/{selecting}: `targetRefs` and `{selecting}` cannot be used together"
            )],
        );
        assert!(of(&[("targetRefs", &targets)]).is_empty(), "{kind}");
        assert!(of(&[(selecting, &selector)]).is_empty(), "{kind}");
    }
}

#[test]
fn istio_takes_no_patterns_no_targets_elsewhere_and_modes_of_ports_for_workloads_alone() {
    let security = |kind: &str, spec: &Value| said(&made("security.istio.io/v1", kind, spec));
    let elsewhere = json!([{"kind": "Service", "name": "s", "namespace": "b"}]);
    assert_eq!(
        security("AuthorizationPolicy", &json!({"targetRefs": elsewhere})),
        ["/spec/targetRefs/0/namespace: Istio does not support targets in another namespace"]
    );
    assert_eq!(
        security(
            "AuthorizationPolicy",
            &json!({"selector": {"matchLabels": {"app": "a*"}}})
        ),
        ["/spec/selector/matchLabels/app: Istio does not support wildcards in a selector"]
    );
    let selector = json!({"matchLabels": {"app": "a"}});
    assert_eq!(
        security(
            "PeerAuthentication",
            &json!({"portLevelMtls": {"80": {"mode": "STRICT"}}})
        ),
        ["/spec/portLevelMtls: `portLevelMtls` has an effect only with a selector"]
    );
    assert_eq!(
        security(
            "PeerAuthentication",
            &json!({"selector": selector, "portLevelMtls": {"0": {}}})
        ),
        ["/spec/portLevelMtls/0: `0` is not a port"]
    );
    assert_eq!(
        said(&made(
            "extensions.istio.io/v1alpha1",
            "TrafficExtension",
            &json!({})
        )),
        ["/spec: one of `wasm`, `lua` is required"]
    );
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
        ["/spec/targetRefs/0/name: Pods must be targeted by their labels"]
    );
    assert_eq!(
        authz(json!({"kind": "Gateway", "selector": labels})),
        ["/spec/targetRefs/0/selector: a Gateway must be targeted by name"]
    );
    assert_eq!(
        gke("GCPAuthzPolicy", json!([pods, pods])),
        ["/spec/targetRefs/1: Pods can be targeted by only one selector"]
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
        ["/spec/targetRefs/0/selector/matchExpressions: GKE supports only `matchLabels`"]
    );
}
