//! Settings that Envoy Gateway's translation refuses (docs/systems/envoy-gateway.md#refused-settings): which fields are
//! checked, how, and what the controller says.
//!
//! CRDs refuse some of these values, too; these rules are also for hubs without CRDs.
//! Each table names its source. What only the live system decides is not here: Secrets, ConfigMaps, backends, Wasm and Lua
//! code, and what an issuer answers.

#[cfg(test)]
mod tests;
use apimachinery::pointer;
use kube_json::Value;

use super::checks::{
    Refuses, authorized_path, back_off, bandwidth, buffer, buffered_upgrade, cipher, expression, header,
    headers, key_source, no_authority, no_selection, of_http, passed_through, path_match, providers,
    query_parameter, rate_limit_type, redirect_url, stat_name, table_size, token_endpoint, two_defaults,
    units,
};
use crate::topology::Node;

/// Why the controller refuses a policy on a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rejection {
    /// In its words.
    pub(crate) message: String,
    /// Where in the policy, if it is not the target.
    pub(crate) pointer: Option<String>,
    /// How to fix it.
    pub(crate) help: String,
    /// The place, if it is not the whole target.
    pub(crate) at: Option<Node>,
}

/// What traffic is, where a policy applies: some settings are translated only there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// HTTP.
    pub(crate) http: bool,
    /// TLS ends there.
    pub(crate) tls: bool,
}

impl Traffic {
    /// For kinds of which all settings are translated everywhere.
    pub(crate) const ANY: Self = Self {
        http: true,
        tls: true,
    };
}

/// Why settings are refused. All parts of a policy are translated, and all their errors are said.
pub(crate) fn refused(kind: &str, spec: &Value, traffic: Traffic) -> Option<Rejection> {
    let parts = match kind {
        "BackendTrafficPolicy" => BACKEND_TRAFFIC,
        "ClientTrafficPolicy" => CLIENT_TRAFFIC,
        "SecurityPolicy" => SECURITY,
        "EnvoyExtensionPolicy" => EXTENSION,
        _ => return None,
    };
    let translated = parts.iter().filter(|part| (part.is_translated)(traffic));
    checked(translated, spec, "")
}

/// Why a policy of a route is refused before it is translated, so that it does not even take the place of others
/// (`envoyproxy/gateway internal/gatewayapi/securitypolicy.go@v1.9.0`).
pub(crate) fn unfit_for_route(kind: &str, spec: &Value, route: &str) -> Option<Rejection> {
    let (parts, introduction) = match (kind, route) {
        ("SecurityPolicy", "TCPRoute") => (ON_TCP_ROUTES, "invalid SecurityPolicy for TCP route: "),
        ("SecurityPolicy", _) => (ON_HTTP_ROUTES, "invalid SecurityPolicy: "),
        _ => return None,
    };
    checked(parts.iter(), spec, introduction)
}

/// What is wrong with one part.
#[derive(Debug)]
struct Complaint {
    part: &'static str,
    message: String,
    pointer: String,
    help: &'static str,
}

/// What is wrong with the parts, in one message: as `errors.Join` puts errors together, and as a condition says them
/// (`envoyproxy/gateway internal/gatewayapi/status/conditions.go@v1.9.0`). The rest is about the first of them.
fn checked<'p>(parts: impl Iterator<Item = &'p Part>, spec: &Value, introduction: &str) -> Option<Rejection> {
    let mut complaints = Vec::new();
    for part in parts {
        part.check(spec, &mut complaints);
    }
    let mut message = introduction.to_owned();
    let mut last: Option<&Complaint> = None;
    for complaint in &complaints {
        if last.is_some() {
            message.push('\n');
        }
        if last.is_none_or(|last| last.part != complaint.part) && !complaint.part.is_empty() {
            message.push_str(complaint.part);
            message.push_str(": ");
        }
        message.push_str(&complaint.message);
        last = Some(complaint);
    }
    let first = complaints.first()?;
    Some(Rejection {
        message: sentence(&message),
        pointer: Some(format!("/spec{}", first.pointer)),
        help: first.help.to_owned(),
        at: None,
    })
}

/// A message as a condition has it: with a capital letter and a period.
pub(crate) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    let period = (!message.ends_with('.')).then_some('.');
    first.into_iter().chain(characters).chain(period).collect()
}

/// `AwesomePolicy` is `awesomePolicy`.
pub(crate) fn lower_first(kind: &str) -> String {
    let mut characters = kind.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}

impl Part {
    /// Checks the part of the settings. It is translated up to its first error, unless its errors are joined.
    fn check(&self, spec: &Value, complaints: &mut Vec<Complaint>) {
        // One part may be listed twice, and then ends at the first error of both.
        if !self.joins && complaints.iter().any(|known| known.part == self.name) {
            return;
        }
        let mut places = Vec::new();
        each(spec, self.base, String::new(), &mut places);
        places.retain(|(base, _)| !(self.unless)(spec, base));
        for (base, settings) in places {
            for rule in self.rules.iter().copied().flatten() {
                let mut values = Vec::new();
                each(settings, rule.at, base.clone(), &mut values);
                for (pointer, value) in values {
                    let Some(message) = rule.refuses.message(value) else {
                        continue;
                    };
                    complaints.push(Complaint {
                        part: self.name,
                        message,
                        pointer,
                        help: rule.help,
                    });
                    if !self.joins {
                        return;
                    }
                }
            }
        }
    }
}

/// All values at a pointer in which `*` stands for each element or member.
fn each<'v>(value: &'v Value, at: &str, pointer: String, found: &mut Vec<(String, &'v Value)>) {
    let Some(rest) = at.strip_prefix('/') else {
        if !value.is_null() {
            found.push((pointer, value));
        }
        return;
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (step, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
    match value {
        Value::Array(items) if step == "*" => {
            for (position, item) in items.iter().enumerate() {
                each(item, rest, pointer::child(&pointer, &position.to_string()), found);
            }
        }
        Value::Object(members) if step == "*" => {
            for (name, member) in members {
                each(member, rest, pointer::child(&pointer, name), found);
            }
        }
        value => {
            if let Some(member) = value.get(step) {
                each(member, rest, pointer::child(&pointer, step), found);
            }
        }
    }
}

/// Groups of rules.
type Rules = &'static [&'static [Rule]];

/// A part of a policy, or settings of it at one place, that is translated by itself: its errors are said under its name.
#[derive(Debug)]
struct Part {
    name: &'static str,
    /// Whether it is translated for such traffic.
    is_translated: fn(Traffic) -> bool,
    /// Whether all of its errors are said, instead of the first.
    joins: bool,
    /// Where it is not translated, by the settings and the place of its own.
    unless: fn(&Value, &str) -> bool,
    /// The places of its settings; `*` stands for each element or member.
    base: &'static str,
    rules: Rules,
}

/// A rule about one field.
#[derive(Debug)]
struct Rule {
    /// Below the place of the part.
    at: &'static str,
    refuses: Refuses,
    help: &'static str,
}

const fn rule(at: &'static str, refuses: Refuses, help: &'static str) -> Rule {
    Rule { at, refuses, help }
}

const A_DURATION: &str = "write a duration such as `10s`, `500ms`, or `1m30s`";

const fn lasts(at: &'static str, name: &'static str) -> Rule {
    rule(at, Refuses::NoDuration(name), A_DURATION)
}

const fn counts(at: &'static str, name: &'static str) -> Rule {
    rule(at, Refuses::Number(name), "write a number from 0 to 4294967295")
}

const fn check(at: &'static str, says: fn(&Value) -> Option<String>, help: &'static str) -> Rule {
    rule(at, Refuses::If(says), help)
}

const fn part(name: &'static str, base: &'static str, rules: Rules) -> Part {
    Part {
        name,
        is_translated: |_| true,
        joins: false,
        unless: |_, _| false,
        base,
        rules,
    }
}

/// A part all of whose errors are said.
const fn joined(name: &'static str, base: &'static str, rules: Rules) -> Part {
    Part {
        joins: true,
        ..part(name, base, rules)
    }
}

/// Settings of clusters: `envoyproxy/gateway internal/gatewayapi/clustersettings.go@v1.9.0`.
const TIMEOUT: &[Rule] = &[
    lasts("/timeout/tcp/connectTimeout", "ConnectTimeout"),
    lasts("/timeout/http/connectionIdleTimeout", "ConnectionIdleTimeout"),
    lasts("/timeout/http/maxConnectionDuration", "MaxConnectionDuration"),
    lasts("/timeout/http/requestTimeout", "RequestTimeout"),
    lasts("/timeout/http/maxStreamDuration", "MaxStreamDuration"),
    lasts("/timeout/http/streamIdleTimeout", "StreamIdleTimeout"),
];
const A_SIZE: &str = "write a size from 0 to 4294967295 bytes";
#[rustfmt::skip] // one field a line
const CONNECTION: &[Rule] = &[
    rule("/connection/bufferLimit", Refuses::Size("BufferLimit", (0, u32::MAX), false), A_SIZE),
];
const TCP_KEEPALIVE: &[Rule] = &[
    lasts("/tcpKeepalive/idleTime", "IdleTime"),
    lasts("/tcpKeepalive/interval", "Interval"),
];
#[rustfmt::skip] // one field a line
const CIRCUIT_BREAKER: &[Rule] = &[
    counts("/circuitBreaker/maxConnections", "MaxConnections"),
    counts("/circuitBreaker/maxParallelRequests", "MaxParallelRequests"),
    counts("/circuitBreaker/maxPendingRequests", "MaxPendingRequests"),
    counts("/circuitBreaker/maxParallelRetries", "MaxParallelRetries"),
    counts("/circuitBreaker/maxRequestsPerConnection", "MaxRequestsPerConnection"),
];
#[rustfmt::skip] // one field a line
const LOAD_BALANCER: &[Rule] = &[
    check("/loadBalancer", table_size, "write a prime number up to 5000011, such as 65537"),
    lasts("/loadBalancer/slowStart/window", ""),
    lasts("/loadBalancer/backendUtilization/blackoutPeriod", "BlackoutPeriod"),
    lasts("/loadBalancer/backendUtilization/weightExpirationPeriod", "WeightExpirationPeriod"),
    lasts("/loadBalancer/backendUtilization/weightUpdatePeriod", "WeightUpdatePeriod"),
    lasts("/loadBalancer/backendUtilization/outOfBand/reportingPeriod", "OutOfBand ReportingPeriod"),
];
#[rustfmt::skip] // one field a line
const RETRY: &[Rule] = &[
    lasts("/retry/perRetry/timeout", ""),
    check("/retry/perRetry/backOff", back_off, "write intervals above zero, the base interval not above the maximal one"),
];

/// The bounds of a window of HTTP/2: Envoy's least, and the protocol's most
/// (`envoyproxy/gateway internal/gatewayapi/http.go@v1.9.0`).
const WINDOW: (u32, u32) = (65_535, 2_147_483_647);
const A_WINDOW: &str = "write a size from 65535 to 2147483647 bytes";
#[rustfmt::skip] // one field a line
const HTTP2: &[Rule] = &[
    rule("/http2/initialStreamWindowSize", Refuses::Size("InitialStreamWindowSize", WINDOW, true), A_WINDOW),
    rule("/http2/initialConnectionWindowSize", Refuses::Size("InitialConnectionWindowSize", WINDOW, true), A_WINDOW),
];

/// The same where a policy has them for a backend of its own.
#[rustfmt::skip] // the groups in a line
const CLUSTER: Rules = &[TIMEOUT, CONNECTION, TCP_KEEPALIVE, CIRCUIT_BREAKER, LOAD_BALANCER, HTTP2, RETRY];

/// `envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`.
#[rustfmt::skip] // one part a line
const BACKEND_TRAFFIC: &[Part] = &[
    part("RateLimit", "/rateLimit", &[&[check("", rate_limit_type, "remove `type`, and keep `local` or `global`")]]),
    LOCAL_LIMIT,
    Part { base: "/rateLimit/local/rules/*/clientSelectors/*", rules: &[SELECTORS], ..LOCAL_LIMIT },
    Part {
        unless: |spec, _| is_only(spec, "Local"),
        ..part("RateLimit", "/rateLimit/global/rules/*/clientSelectors/*", &[SELECTORS])
    },
    part("BandwidthLimit", "/bandwidthLimit", &[&[
        check("", bandwidth, "write at least 1 KiB for each second of the unit"),
    ]]),
    part("LoadBalancer", "", &[LOAD_BALANCER]),
    part("CircuitBreaker", "", &[CIRCUIT_BREAKER]),
    part("TCPKeepalive", "", &[TCP_KEEPALIVE]),
    part("Retry", "", &[RETRY]),
    joined("Timeout", "", &[TIMEOUT]),
    part("BackendConnection", "", &[CONNECTION]),
    joined("HTTP2", "", &[HTTP2]),
    part("RequestBuffer", "", &[&[
        check("/requestBuffer/limit", buffer, A_SIZE),
        check("", buffered_upgrade, "remove `requestBuffer`, or `httpUpgrade`"),
    ]]),
    part("Telemetry", "/telemetry/metrics/routeStatName", &[&[
        check("", stat_name, "use %ROUTE_NAME%, %ROUTE_NAMESPACE%, and %ROUTE_KIND%"),
    ]]),
];

const LOCAL_LIMIT: Part = Part {
    unless: |spec, _| is_only(spec, "Global"),
    ..part("RateLimit", "/rateLimit/local/rules", &[LOCAL_RULES])
};

fn is_only(spec: &Value, limited: &str) -> bool {
    spec.pointer("/rateLimit/type").and_then(Value::as_str) == Some(limited)
}

#[rustfmt::skip] // one rule a line
const LOCAL_RULES: &[Rule] = &[
    check("", two_defaults, "keep one rule without `clientSelectors`: it is the default"),
    check("", units, "give the rule without `clientSelectors` the smallest unit, in which the others are whole numbers"),
];
#[rustfmt::skip] // one field a line
const SELECTORS: &[Rule] = &[
    check("", no_selection, "select by `headers`, `methods`, `path`, `sourceCIDR`, or `queryParams`"),
    check("/headers/*", header, A_MATCH),
    check("/path", |path| path_match(path, "unable to translate rateLimit: invalid path type."), A_PATTERN),
    rule("/sourceCIDR/value", Refuses::NoCidr("unable to translate rateLimit: "), A_RANGE),
    check("/queryParams/*", query_parameter, A_MATCH),
];
const A_MATCH: &str = "write a `value` for Exact, a regular expression of RE2 for RegularExpression, and neither `value` nor \
                       `invert` for Distinct";
const A_PATTERN: &str = "write a regular expression of RE2, which has no lookaround and no backreferences";
const A_RANGE: &str = "write a range such as `10.0.0.0/8` or `2001:db8::/32`";

/// `envoyproxy/gateway internal/gatewayapi/clienttrafficpolicy.go@v1.9.0`.
#[rustfmt::skip] // one field a line
const CLIENT_TRAFFIC: &[Part] = &[
    part("TCP KeepAlive", "", &[TCP_KEEPALIVE]),
    part("Connection", "/connection", &[&[
        lasts("/connectionLimit/closeDelay", "CloseDelay"),
        lasts("/connectionLimit/maxConnectionDuration", "MaxConnectionDuration"),
        lasts("/connectionLimit/maxStreamDuration", "MaxStreamDuration"),
        rule("/bufferLimit", Refuses::Size("BufferLimit", (0, u32::MAX), true), A_SIZE),
    ]]),
    part("Timeout", "/timeout", &[&[
        lasts("/tcp/idleTimeout", "TCP IdleTimeout"),
        lasts("/http/requestReceivedTimeout", "HTTP RequestReceivedTimeout"),
        lasts("/http/idleTimeout", "HTTP IdleTimeout"),
        lasts("/http/streamIdleTimeout", "HTTP StreamIdleTimeout"),
    ]]),
    Part {
        is_translated: |traffic| traffic.http,
        ..joined("Headers", "/headers", &[&[
            check("/earlyRequestHeaders", |changes| headers(changes, "EarlyRequestHeaders"), HEADERS),
            check("/lateResponseHeaders", |changes| headers(changes, "LateResponseHeaders"), HEADERS),
        ]])
    },
    Part { is_translated: |traffic| traffic.http, ..joined("HTTP2", "", &[HTTP2]) },
    Part {
        is_translated: |traffic| traffic.tls,
        ..part("TLS", "/tls", &[&[
            check("/ciphers/*", cipher, "write a cipher suite that Envoy has, such as ECDHE-RSA-AES128-GCM-SHA256"),
            check("/clientValidation", no_authority, "name certificates in `caCertificateRefs`, or write `mode: RequireAny`"),
        ]])
    },
];
const HEADERS: &str =
    "write at least one header, with a name without `/` and `:`, and a value of visible ASCII characters";

/// `envoyproxy/gateway internal/gatewayapi/securitypolicy.go@v1.9.0`, in the order for Gateways; another one for routes changes
/// only the order of messages.
#[rustfmt::skip] // one field a line
const SECURITY: &[Part] = &[
    part("JWT", "/jwt/providers", &[&[
        check("", providers, "write issuers and addresses as URIs, and names that are unique"),
    ]]),
    part("JWT", "/jwt/providers/*/remoteJWKS/backendSettings", CLUSTER),
    part("OIDC", "/oidc/provider/tokenEndpoint", &[&[check("", token_endpoint, "write a URL with a domain name")]]),
    part("OIDC", "/oidc/provider/backendSettings", CLUSTER),
    part("OIDC", "/oidc", &[&[
        check("/redirectURL", redirect_url, "write a URL with a path, such as `https://shop.example/oauth2/callback`"),
        lasts("/defaultTokenTTL", "defaultTokenTTL"),
        lasts("/defaultRefreshTokenTTL", "defaultRefreshTokenTTL"),
        lasts("/csrfTokenTTL", "csrfTokenTTL"),
    ]]),
    part("Authorization", "/authorization/rules/*", &[&[
        rule("/principal/clientCIDRs/*", Refuses::NoCidr("unable to translate authorization rule: "), A_RANGE),
        check("/operation/path", authorized_path, A_PATTERN),
        check("/cel", expression, "write an expression that can be parsed"),
    ]]),
    // Without a mistake elsewhere, the rest of the policy applies if requests may pass without this part.
    Part { unless: fails_open, ..part("ExtAuth", "/extAuth/*/backendSettings", CLUSTER) },
];

/// `envoyproxy/gateway internal/gatewayapi/envoyextensionpolicy.go@v1.9.0`.
#[rustfmt::skip] // one part a line
const EXTENSION: &[Part] = &[
    Part { unless: fails_open, ..joined("ExtProc", "/extProc/*", &[&[lasts("/messageTimeout", "ExtProc MessageTimeout")]]) },
    Part { unless: fails_open, ..joined("ExtProc", "/extProc/*/backendSettings", CLUSTER) },
];

/// Whether requests pass without what is at a place: `failOpen` there, or above it.
fn fails_open(spec: &Value, at: &str) -> bool {
    let ends = at
        .match_indices('/')
        .map(|(position, _)| position)
        .chain([at.len()]);
    let mut above = ends.filter_map(|end| spec.pointer(at.get(..end)?));
    above.any(|settings| settings.get("failOpen") == Some(&Value::Bool(true)))
}

#[rustfmt::skip] // one field a line
const ON_HTTP_ROUTES: &[Part] = &[part("", "", &[&[
    check("/apiKeyAuth/extractFrom/*", key_source, "keep one of `headers`, `params`, and `cookies`"),
    check("", passed_through, "add a JWT provider that reads a header, or remove `passThroughAuthHeader`"),
]])];

#[rustfmt::skip] // one field a line
const ON_TCP_ROUTES: &[Part] = &[part("", "", &[&[
    check("/authorization", of_http, "keep rules with `clientCIDRs` alone, or target HTTP routes"),
]])];
