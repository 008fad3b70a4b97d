//! Policies of the products, as their CRDs accept them.

use kube_json::{Value, json};
use proptest::prelude::*;

use super::comparing::{Made, compare, list, map, maybe, pick};

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

    let jwt = pick(&json!([{}, {"jwt": {"issuerUrl": "a"}}, {"jwt": {"issuerUrl": "a", "jwksUrl": "b"}}]));
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
            pick(&json!([null, {"providers": [{"name": "p", "remoteJWKS": {"uri": "https://a.org/keys"}}]}])),
        ),
    ]);
    let file = "envoy-gateway/gateway.envoyproxy.io_securitypolicies.yaml";
    compare(file, "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", &spec);
}

#[test]
fn istio_policies() {
    let target = map(vec![
        ("group", pick(&json!([""]))),
        ("kind", pick(&json!(["Service"]))),
        ("name", pick(&json!(["a"]))),
        ("namespace", pick(&json!([null, null, null, "", "b"]))),
    ]);
    let labels = || {
        pick(&json!([
            null,
            {},
            {"app": "a"},
            {"app": "a"},
            {"app": "a", "version": ""},
            {"app*": "a"},
            {"app": "a*"},
            {"": "a"}
        ]))
    };
    let selector = || maybe(map(vec![("matchLabels", labels())]));
    let both = |more: Vec<(&'static str, Made)>| {
        let fields = vec![
            ("targetRefs", maybe(list(target.clone(), 1..3))),
            ("selector", selector()),
        ];
        map(fields.into_iter().chain(more).collect())
    };
    let either = || both(vec![("targetRef", maybe(target.clone()))]);
    for (file, version, kind) in [
        (
            "security.istio.io_authorizationpolicies",
            "security.istio.io/v1",
            "AuthorizationPolicy",
        ),
        (
            "security.istio.io_requestauthentications",
            "security.istio.io/v1",
            "RequestAuthentication",
        ),
        (
            "telemetry.istio.io_telemetries",
            "telemetry.istio.io/v1",
            "Telemetry",
        ),
    ] {
        compare(&format!("istio/{file}.yaml"), version, kind, &either());
    }
    let plugin = both(vec![
        ("targetRef", maybe(target.clone())),
        ("url", pick(&json!(["oci://example.com/a"]))),
    ]);
    let version = "extensions.istio.io/v1alpha1";
    compare(
        "istio/extensions.istio.io_wasmplugins.yaml",
        version,
        "WasmPlugin",
        &plugin,
    );
    let extension = both(vec![
        ("wasm", pick(&json!([null, {"url": "oci://example.com/a"}]))),
        ("lua", pick(&json!([null, {"inlineCode": "x"}]))),
    ]);
    let file = "istio/extensions.istio.io_trafficextensions.yaml";
    compare(file, version, "TrafficExtension", &extension);
    let filter = map(vec![
        ("targetRefs", maybe(list(target.clone(), 1..3))),
        (
            "workloadSelector",
            maybe(map(vec![("labels", pick(&json!([{"app": "a"}])))])),
        ),
    ]);
    let file = "istio/networking.istio.io_envoyfilters.yaml";
    compare(file, "networking.istio.io/v1alpha3", "EnvoyFilter", &filter);
    let ports =
        json!([null, null, {"80": {"mode": "STRICT"}}, {"0": {}}, {"65536": {}}, {"80": {}, "443": {}}]);
    let peer = map(vec![("selector", selector()), ("portLevelMtls", pick(&ports))]);
    let file = "istio/security.istio.io_peerauthentications.yaml";
    compare(file, "security.istio.io/v1", "PeerAuthentication", &peer);
}
