//! Gateway API's own kinds, as its CRDs accept them.

use kube_json::{Value, json};
use proptest::prelude::*;

use super::comparing::{Made, compare, list, map, maybe, names, pick};

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
            prop_oneof![3 => pick(&json!([null, {"type": "PathPrefix", "value": "/a"}])), 1 => path].boxed(),
        ),
        ("headers", headers()),
        ("queryParams", headers()),
    ]);
    let filter = || filter(&HTTP_TYPES, content);
    let rule = map(vec![
        ("name", pick(&json!([null, "a", "b"]))),
        (
            "matches",
            prop_oneof![3 => Just(Value::Null), 1 => list(one.clone(), 0..1), 4 => list(one, 1..3)].boxed(),
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
