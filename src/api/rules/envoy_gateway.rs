//! Envoy Gateway's policies.
//!
//! Owns: which of their fields exclude or need each other, at the top of the spec. Flows in: policies. Flows out:
//! complaints. Must not know: targets; what is wrong with a reference is said where targets are read.

use super::complaints::Complaints;
use apimachinery::Field;

/// The kinds whose policies merge and whose admission is controlled.
const HTTP_ROUTES: [&str; 2] = ["HTTPRoute", "GRPCRoute"];

/// A policy of Envoy Gateway.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let merges = spec.get("mergeType");
    let is_owner = |kind: &str| ["Gateway", "ListenerSet"].contains(&kind);
    if merges.is_present()
        && let Some(kind) = target_kinds(&spec).find(|kind| is_owner(kind))
    {
        let message = format!("a policy on a {kind} merges with nothing");
        complaints.key(&merges, message, "remove `mergeType`, or target routes");
    }
    match complaints.kind() {
        "BackendTrafficPolicy" => backend_traffic(complaints, &spec),
        "SecurityPolicy" => security(complaints, &spec),
        _ => {}
    }
}

fn backend_traffic(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let (old, new) = (spec.get("compression"), spec.get("compressor"));
    if old.is_present() && new.is_present() {
        complaints.key(
            &old,
            "`compression` is the older name of `compressor`",
            "keep `compressor`",
        );
    }
    let buffer = spec.get("requestBuffer");
    if buffer.is_present() && spec.get("httpUpgrade").items().next().is_some() {
        let message = "a connection that is upgraded cannot be buffered";
        complaints.key(&buffer, message, "remove `requestBuffer`, or `httpUpgrade`");
    }
    let admission = spec.get("admissionControl");
    let is_http = |kind: &str| ["Gateway", "ListenerSet"].contains(&kind) || HTTP_ROUTES.contains(&kind);
    if admission.is_present()
        && let Some(kind) = target_kinds(spec).find(|kind| !is_http(kind))
    {
        let message = format!("admission of a {kind} cannot be controlled: it is not HTTP");
        complaints.key(
            &admission,
            message,
            "remove `admissionControl`, or target Gateways and HTTP routes",
        );
    }
    let percent = spec.get("connection").get("preconnect").get("predictivePercent");
    let balancer = spec.get("loadBalancer").get("type");
    if percent.is_present() && !["Random", "RoundRobin"].contains(&balancer.str().unwrap_or_default()) {
        let message = "connections to come can be foreseen only where the load goes round or at random";
        let help = "write `loadBalancer: {type: RoundRobin}`, or remove `predictivePercent`";
        complaints.key(&percent, message, help);
    }
}

fn security(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let rules = spec.get("authorization").get("rules");
    let claims = rules
        .items()
        .map(|rule| rule.get("principal").get("jwt"))
        .find(Field::is_present);
    if let Some(claims) = claims.filter(|_| !spec.get("jwt").is_present()) {
        let message = "a rule goes by a JWT, and nothing says how one is verified";
        complaints.value(&claims, message, "add `jwt` with its providers");
    }
}

/// The kinds that a policy targets, by name or by label.
fn target_kinds<'a>(spec: &Field<'a>) -> impl Iterator<Item = &'a str> {
    let single = spec.get("targetRef").get("kind").str();
    let lists = ["targetRefs", "targetSelectors"].map(|list| spec.get(list));
    let listed = lists.into_iter().flat_map(|list| list.items());
    single
        .into_iter()
        .chain(listed.filter_map(|target| target.get("kind").str()))
}
