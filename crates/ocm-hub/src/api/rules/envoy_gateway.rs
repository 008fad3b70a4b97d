//! Envoy Gateway's policies (docs/systems/envoy-gateway.md#what-crds-say-in-rules). They say which fields exclude or
//! need each other. Targets are reported where they are read.

use super::complaints::{Complaints, Types};
use super::routes::backend_ref;
use apimachinery::Field;

/// A policy of Envoy Gateway.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let merges = spec.get("mergeType");
    let has_listeners = |kind: &String| ["Gateway", "ListenerSet"].contains(&kind.as_str());
    if merges.is_present()
        && let Some(kind) = complaints.target_kinds().find(has_listeners)
    {
        // Since 1.9 (docs/systems/envoy-gateway.md#merge-types): there is nothing above that it could merge with.
        let message = format!("a policy on a {kind} cannot have a `mergeType`");
        complaints.key(&merges, message, "remove `mergeType`, or target routes");
    }
    match complaints.kind() {
        "BackendTrafficPolicy" => backend_traffic(complaints, &spec),
        "ClientTrafficPolicy" => client_traffic(complaints, &spec),
        "SecurityPolicy" => security(complaints, &spec),
        _ => {}
    }
}

fn backend_traffic(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let (old, new) = (spec.get("compression"), spec.get("compressor"));
    if old.is_present() && new.is_present() {
        let message = "`compression` is the old name of `compressor`";
        complaints.key(&old, message, "keep `compressor`");
    }
    let buffer = spec.get("requestBuffer");
    if buffer.is_present() && spec.get("httpUpgrade").items().next().is_some() {
        let message = "an upgraded connection cannot be buffered";
        complaints.key(&buffer, message, "remove `requestBuffer`, or `httpUpgrade`");
    }
    let admission = spec.get("admissionControl");
    let is_http =
        |kind: &String| ["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute"].contains(&kind.as_str());
    if admission.is_present()
        && let Some(kind) = complaints.target_kinds().find(|kind| !is_http(kind))
    {
        let message = format!("a {kind} cannot have admission control: it is not HTTP");
        let help = "remove `admissionControl`, or target Gateways and HTTP routes";
        complaints.key(&admission, message, help);
    }
    load_balancer(complaints, &spec.get("loadBalancer"));
    let checked = spec.get("healthCheck").get("active");
    let (what, checks) = (("a health check", "type"), [("HTTP", "http"), ("TCP", "tcp")]);
    complaints.of_its_type(what, &checked, &checks, Field::is_present);
    let percent = spec.get("connection").get("preconnect").get("predictivePercent");
    let balancer = spec.get("loadBalancer").text("type");
    if percent.is_present() && !matches!(balancer, Some("Random" | "RoundRobin")) {
        let message = "connections can be predicted only with the load balancers RoundRobin and Random";
        let help = "write `loadBalancer: {type: RoundRobin}`, or remove `predictivePercent`";
        complaints.key(&percent, message, help);
    }
}

/// The fields of each type of load balancer, and of what a consistent hash is of.
const BALANCERS: Types<'_> = &[
    ("ConsistentHash", "consistentHash"),
    ("BackendUtilization", "backendUtilization"),
    ("DynamicModule", "dynamicModule"),
];
const HASHES: Types<'_> = &[
    ("Cookie", "cookie"),
    ("Header", "header"),
    ("Headers", "headers"),
    ("QueryParams", "queryParams"),
];

fn load_balancer(complaints: &mut Complaints<'_>, balancer: &Field<'_>) {
    let what = ("a load balancer", "type");
    complaints.of_its_type(what, balancer, BALANCERS, Field::is_present);
    let hash = balancer.get("consistentHash");
    complaints.of_its_type(("a hash", "type"), &hash, HASHES, Field::is_present);
    let starts_slowly = balancer.get("slowStart");
    let kind = balancer.text("type").unwrap_or_default();
    if starts_slowly.is_present() && ["Random", "ConsistentHash", "DynamicModule"].contains(&kind) {
        let message = format!("a load balancer of type {kind} cannot have `slowStart`");
        complaints.key(&starts_slowly, message, "remove it");
    }
}

fn client_traffic(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let (detection, headers) = (spec.get("clientIPDetection"), spec.get("headers"));
    let ways = ["xForwardedFor", "customHeader", "directSourceIP"];
    complaints.exactly_one(&detection, &ways);
    let forwarded = detection.get("xForwardedFor");
    complaints.exactly_one(&forwarded, &["numTrustedHops", "trustedCIDRs"]);
    complaints.at_most_one(&headers, &["preserveXRequestID", "requestID"]);
    let tls = spec.get("tls");
    let (lowest, highest) = (tls.get("minVersion"), tls.get("maxVersion"));
    // Without a lowest version it is 1.2.
    let rank = |version: &Field<'_>, auto: u8, default: u8| match version.str() {
        Some("1.0") => 1,
        Some("1.1") => 2,
        Some("1.2") => 3,
        Some("1.3") => 4,
        Some(_) => auto,
        None => default,
    };
    if highest.is_present() && rank(&lowest, 0, 3) > rank(&highest, 5, 5) {
        let message = "`maxVersion` is below `minVersion`, which is 1.2 by default";
        complaints.value(&highest, message, "raise `maxVersion`, or lower `minVersion`");
    }
    let ciphers = tls.get("ciphers");
    if ciphers.is_present() && lowest.str() == Some("1.3") {
        complaints.key(&ciphers, "TLS 1.3 chooses its own ciphers", "remove `ciphers`");
    }
}

fn security(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let (jwt, ext_auth) = (spec.get("jwt"), spec.get("extAuth"));
    complaints.at_most_one(&jwt, &["optional", "failOpen"]);
    for provider in jwt.get("providers").items() {
        complaints.exactly_one(&provider, &["remoteJWKS", "localJWKS"]);
    }
    for source in spec.get("apiKeyAuth").get("extractFrom").items() {
        complaints.exactly_one(&source, &["headers", "params", "cookies"]);
    }
    complaints.exactly_one(&ext_auth, &["grpc", "http"]);
    complaints.at_most_one(&ext_auth.get("http"), &["path", "pathOverride"]);
    for service in ["grpc", "http"].map(|field| ext_auth.get(field)) {
        backend_ref(complaints, &service.get("backendRef"));
        for backend in service.get("backendRefs").items() {
            backend_ref(complaints, &backend);
        }
    }
    // The CRD accepts it, the controller does not (docs/systems/envoy-gateway.md#status).
    let of_http = ["apiKeyAuth", "basicAuth", "cors", "extAuth", "jwt", "oidc"];
    if let Some(field) = of_http.into_iter().find_map(|field| spec.present(field))
        && complaints.target_kinds().any(|kind| kind == "TCPRoute")
    {
        let message =
            "on a TCPRoute, only `authorization` is allowed; a policy with other settings is refused";
        complaints.doubtful(&field, message, "target the TCPRoute with a policy of its own");
    }
    let mut rules = spec.get("authorization").get("rules").items();
    let claims = rules.find_map(|rule| rule.get("principal").present("jwt"));
    if let Some(claims) = claims.filter(|_| !jwt.is_present()) {
        let message = "a rule uses a JWT, but the policy has no JWT providers";
        complaints.value(&claims, message, "add `jwt` with its providers");
    }
}
