//! NGINX Gateway Fabric's policies (docs/systems/other-policies.md#nginx-gateway-fabric).

use super::complaints::{Complaints, exactly_one, of_its_type, says};
use apimachinery::Field;

/// A policy of NGINX Gateway Fabric.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    match complaints.kind() {
        "ClientSettingsPolicy" => {
            let timeout = spec.get("keepAlive").get("timeout");
            if says(&timeout.get("header")) && !says(&timeout.get("server")) {
                let message = "a timeout for the header needs a timeout for the server";
                complaints.value(&timeout, message, "add `server`");
            }
        }
        "ProxySettingsPolicy" => {
            unique(complaints, &spec);
            one_side(complaints, &spec);
        }
        "RateLimitPolicy" => {
            unique(complaints, &spec);
            one_side(complaints, &spec);
            for rule in spec.get("rateLimit").get("local").get("rules").items() {
                if rule.get("delay").is_present() && rule.get("noDelay").boolean() == Ok(Some(true)) {
                    let message = "a limit cannot have a delay and `noDelay: true`";
                    complaints.key(&rule.get("noDelay"), message, "keep one of them");
                }
            }
        }
        "ObservabilityPolicy" => {
            unique(complaints, &spec);
            let tracing = spec.get("tracing");
            let strategy = tracing.get("strategy");
            if tracing.get("ratio").is_present() && strategy.str() != Some("ratio") {
                let message = "a ratio has an effect only with the strategy `ratio`";
                complaints.key(
                    &tracing.get("ratio"),
                    message,
                    "write `strategy: ratio`, or remove it",
                );
            }
        }
        "SnippetsPolicy" => {
            unique_names(complaints, &spec);
            let message = "two snippets have the same context";
            let context = |snippet: &Field<'_>| snippet.text("context").map(str::to_owned);
            complaints.repeated(&spec.get("snippets"), context, (message, "merge the two"));
        }
        "UpstreamSettingsPolicy" => {
            unique_names(complaints, &spec);
            let method = spec.get("loadBalancingMethod");
            let hashes = ["hash", "hash consistent"].contains(&method.str().unwrap_or_default());
            if hashes && !spec.get("hashMethodKey").is_present() {
                complaints.value(&method, "the hash method has no key", "add `hashMethodKey`");
            }
        }
        "WAFPolicy" => {
            unique_names(complaints, &spec);
            one_kind(complaints, &spec);
            waf(complaints, &spec);
        }
        _ => {}
    }
}

/// Nothing is named twice.
fn unique(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let key = |target: &Field<'_>| Some((target.text("kind")?.to_owned(), target.text("name")?.to_owned()));
    let words = ("the same target is listed twice", "keep one of them");
    complaints.repeated(&spec.get("targetRefs"), key, words);
}

/// No name is there twice, regardless of its kind.
fn unique_names(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let name = |target: &Field<'_>| target.text("name").map(str::to_owned);
    let message = "two targets have the same name, and a policy of this kind cannot distinguish them";
    complaints.repeated(
        &spec.get("targetRefs"),
        name,
        (message, "write a policy for each"),
    );
}

/// The first target, and the first other one that is not like it.
fn mixed<'a>(spec: &Field<'a>, alike: impl Fn(&str, &str) -> bool) -> Option<(Field<'a>, Field<'a>)> {
    let targets: Vec<Field<'a>> = spec.get("targetRefs").items().collect();
    let (first, rest) = targets.split_first()?;
    let kind = |target: &Field<'a>| target.text("kind").unwrap_or_default().to_owned();
    let own = kind(first);
    let other = rest.iter().find(|other| !alike(&own, &kind(other)))?;
    Some((other.clone(), first.clone()))
}

/// Gateways and routes are not mixed.
fn one_side(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let is_gateway = |kind: &str| kind == "Gateway";
    if let Some((other, first)) = mixed(spec, |one, other| is_gateway(one) == is_gateway(other)) {
        let message = "a policy targets both a Gateway and a route";
        complaints.again(
            (&other, &first),
            message,
            "write a policy for the Gateway and one for the routes",
        );
    }
}

/// All targets are of one kind.
fn one_kind(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    if let Some((other, first)) = mixed(spec, |one, other| one == other) {
        let message = "a policy has targets of two kinds";
        complaints.again((&other, &first), message, "write a policy for each kind");
    }
}

fn waf(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let (kind, source) = (spec.get("type"), spec.get("policySource"));
    let sources = [("HTTP", "httpSource"), ("NIM", "nimSource"), ("N1C", "n1cSource")];
    for (of, field) in sources {
        let there = source.get(field);
        match (kind.str() == Some(of), there.is_present()) {
            (true, false) => {
                let message = format!("a policy of type {of} needs `policySource.{field}`");
                complaints.value(&source, message, format!("add `{field}`"));
            }
            (false, true) => {
                let message = format!("`{field}` is for policies of type {of}");
                complaints.key(&there, message, format!("remove it, or write `type: {of}`"));
            }
            _ => {}
        }
    }
    let verify = source.get("validation").get("verifyChecksum");
    if kind.str() != Some("HTTP") && verify.boolean() == Ok(Some(true)) {
        let message = "a checksum can be fetched only for a policy of type HTTP";
        complaints.key(&verify, message, "write `expectedChecksum` instead, or remove it");
    }
    validation(complaints, &source.get("validation"));
    let n1c = source.get("n1cSource");
    exactly_one(complaints, &n1c, &["policyName", "policyObjectID"]);
    exactly_one(complaints, &source.get("nimSource"), &["policyName", "policyUID"]);
    for log in spec.get("securityLogs").items() {
        let destinations = [("file", "file"), ("syslog", "syslog")];
        let destination = log.get("destination");
        let what = ("a destination", "type");
        of_its_type(complaints, what, &destination, &destinations, Field::is_present);
        let from = log.get("logSource");
        let sources = ["defaultProfile", "httpSource", "nimSource", "n1cSource"];
        exactly_one(complaints, &from, &sources);
        let n1c = from.get("n1cSource");
        exactly_one(complaints, &n1c, &["profileName", "profileObjectID"]);
        validation(complaints, &from.get("validation"));
    }
}

fn validation(complaints: &mut Complaints<'_>, validation: &Field<'_>) {
    let expected = validation.get("expectedChecksum");
    if expected.is_present() && validation.get("verifyChecksum").boolean() == Ok(Some(true)) {
        let message = "a checksum is either given or fetched";
        complaints.key(&expected, message, "remove it, or `verifyChecksum`");
    }
}
