//! Kuadrant's policies (docs/systems/kuadrant.md#what-crds-say-in-rules). That `defaults`, `overrides`, and bare
//! settings exclude each other is reported where settings are read.

use super::complaints::{Complaints, has_text};
use apimachinery::Field;

/// A policy of Kuadrant or of its extensions.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    match complaints.kind() {
        "AuthPolicy" => each_wrapper(complaints, "rules", auth_rules),
        "RateLimitPolicy" | "TokenRateLimitPolicy" => each_wrapper(complaints, "limits", limits),
        "DNSPolicy" => dns(complaints, &spec),
        "TLSPolicy" => issuer(complaints, &spec.get("issuerRef").get("kind")),
        "OIDCPolicy" => provider(complaints, &spec.get("provider")),
        _ => {}
    }
}

/// Calls `check` with the settings of `defaults` and of `overrides`, or with bare ones where it has neither, and with
/// the mapping that they are in.
fn each_wrapper<'a>(
    complaints: &mut Complaints<'a>,
    field: &'a str,
    check: fn(&mut Complaints<'a>, &Field<'a>, &Field<'a>),
) {
    let spec = complaints.spec();
    let wrappers = [spec.get("defaults"), spec.get("overrides")];
    let mut present = wrappers.into_iter().filter(Field::is_present).peekable();
    if present.peek().is_none() {
        check(complaints, &spec.get(field), &spec);
    }
    for wrapper in present {
        check(complaints, &wrapper.get(field), &wrapper);
    }
}

fn limits<'a>(complaints: &mut Complaints<'a>, limits: &Field<'a>, holder: &Field<'a>) {
    if limits.entries().next().is_none() {
        let help = "add one under `limits`, or delete the policy";
        complaints.value(holder, "there are no limits", help);
    }
}

fn auth_rules<'a>(complaints: &mut Complaints<'a>, rules: &Field<'a>, holder: &Field<'a>) {
    let has = |field: &Field<'_>| field.entries().next().is_some();
    let response = rules.get("response");
    let success = response.get("success");
    let lists = ["authentication", "metadata", "authorization", "callbacks"];
    let has_rules = lists.iter().any(|list| has(&rules.get(list)))
        || response.get("unauthenticated").is_present()
        || response.get("unauthorized").is_present()
        || has(&success.get("headers"))
        || has(&success.get("filters"));
    if !has_rules {
        let help = "add one under `rules`, such as `authentication`, or delete the policy";
        complaints.value(holder, "there are no rules", help);
    }
    for (_, method) in rules.get("authentication").entries() {
        complaints.at_most_one(&method.get("jwt"), &["issuerUrl", "jwksUrl"]);
        let sources = ["xfccHeader", "clientCertHeader", "expression"];
        complaints.at_most_one(&method.get("x509").get("source"), &sources);
    }
    for (_, metadata) in rules.get("metadata").entries() {
        let fields = ["identitySource", "userInfoUrl"];
        complaints.at_most_one(&metadata.get("userInfo"), &fields);
    }
}

fn dns(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let (delegate, providers) = (spec.get("delegate"), spec.get("providerRefs"));
    if delegate.boolean() == Ok(Some(true)) && providers.is_present() {
        let message = "a policy that delegates its records cannot have providers";
        complaints.key(&providers, message, "remove `providerRefs`, or `delegate: true`");
    }
    let check = spec.get("healthCheck");
    let number = |field: &str| check.get(field).integer().ok().flatten();
    if let Some(port) = number("port").filter(|port| !matches!(port, 80 | 443 | 1024..=49151)) {
        let message = format!("port {port} is not allowed for a health check");
        let help = "write 80, 443, or a port of 1024 to 49151";
        complaints.value(&check.get("port"), message, help);
    }
    if number("failureThreshold").is_some_and(|threshold| threshold <= 0) {
        let message = "a health check needs a failure threshold above 0";
        complaints.value(&check.get("failureThreshold"), message, "write a number above 0");
    }
    let protocol = check.get("protocol");
    if let Some(name) = protocol.str().filter(|name| !["HTTP", "HTTPS"].contains(name)) {
        let message = format!("`{name}` is not a protocol of health checks");
        complaints.value(&protocol, message, "write `HTTP` or `HTTPS`");
    }
}

fn issuer(complaints: &mut Complaints<'_>, kind: &Field<'_>) {
    let is_unknown = |kind: &&str| !["Issuer", "ClusterIssuer"].contains(kind);
    if let Some(name) = kind.str().filter(is_unknown) {
        let message = format!("`{name}` is not a kind of certificate issuer");
        let help = "write `Issuer` or `ClusterIssuer`, or remove it to use Issuer";
        complaints.value(kind, message, help);
    }
}

fn provider(complaints: &mut Complaints<'_>, provider: &Field<'_>) {
    complaints.at_most_one(provider, &["issuerURL", "jwksURL"]);
    if !has_text(&provider.get("jwksURL")) {
        return;
    }
    for field in ["authorizationEndpoint", "tokenEndpoint"] {
        if !has_text(&provider.get(field)) {
            let message = format!("a provider with `jwksURL` needs `{field}`");
            complaints.value(provider, message, format!("add `{field}`"));
        }
    }
}
