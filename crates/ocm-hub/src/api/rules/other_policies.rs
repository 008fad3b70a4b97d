//! The policies of NGINX Gateway Fabric, kgateway, Istio, and GKE (docs/systems/other-policies.md).

use super::complaints::{Complaints, has_text};
use apimachinery::Field;

/// A policy of NGINX Gateway Fabric (docs/systems/other-policies.md#nginx-gateway-fabric).
pub(super) fn nginx(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let targets = spec.get("targetRefs");
    match complaints.kind() {
        "ObservabilityPolicy" | "ProxySettingsPolicy" | "RateLimitPolicy" => {
            let words = ("the same target is listed twice", "keep one of them");
            complaints.repeated(&targets, |one| one.text("kind").zip(one.text("name")), words);
        }
        "SnippetsPolicy" | "UpstreamSettingsPolicy" | "WAFPolicy" => {
            let message = "two targets have the same name, and a policy of this kind cannot distinguish them";
            let words = (message, "write a policy for each");
            complaints.repeated(&targets, |target| target.text("name"), words);
        }
        _ => {}
    }
    match complaints.kind() {
        "ClientSettingsPolicy" => {
            let timeout = spec.get("keepAlive").get("timeout");
            if has_text(&timeout.get("header")) && !has_text(&timeout.get("server")) {
                let message = "a timeout for the header needs a timeout for the server";
                complaints.value(&timeout, message, "add `server`");
            }
        }
        "ProxySettingsPolicy" => gateways_or_routes(complaints, &targets),
        "RateLimitPolicy" => {
            gateways_or_routes(complaints, &targets);
            for rule in spec.get("rateLimit").get("local").get("rules").items() {
                if rule.get("delay").is_present() && is_true(&rule.get("noDelay")) {
                    let message = "a limit cannot have a delay and `noDelay: true`";
                    complaints.key(&rule.get("noDelay"), message, "keep one of them");
                }
            }
        }
        "ObservabilityPolicy" => {
            let ratio = spec.get("tracing").get("ratio");
            if ratio.is_present() && spec.get("tracing").text("strategy") != Some("ratio") {
                let message = "a ratio has an effect only with the strategy `ratio`";
                complaints.key(&ratio, message, "write `strategy: ratio`, or remove it");
            }
        }
        "SnippetsPolicy" => {
            let words = ("two snippets have the same context", "merge the two");
            complaints.repeated(&spec.get("snippets"), |snippet| snippet.text("context"), words);
        }
        "UpstreamSettingsPolicy" => {
            let method = spec.get("loadBalancingMethod");
            let hashes = ["hash", "hash consistent"].contains(&method.str().unwrap_or_default());
            if hashes && !spec.get("hashMethodKey").is_present() {
                complaints.value(&method, "the hash method has no key", "add `hashMethodKey`");
            }
        }
        "WAFPolicy" => waf(complaints, &spec),
        _ => {}
    }
}

fn is_true(field: &Field<'_>) -> bool {
    field.boolean() == Ok(Some(true))
}

/// Gateways and routes are not mixed.
fn gateways_or_routes(complaints: &mut Complaints<'_>, targets: &Field<'_>) {
    let help = "write a policy for the Gateway and one for the routes";
    let words = ("a policy targets both a Gateway and a route", help);
    let is_like = |one: &str, other: &str| (one == "Gateway") == (other == "Gateway");
    like_the_first(complaints, targets, is_like, words);
}

/// The kind of no target is unlike that of the first one.
fn like_the_first(
    complaints: &mut Complaints<'_>,
    targets: &Field<'_>,
    is_like: fn(&str, &str) -> bool,
    (message, help): (&str, &'static str),
) {
    let mut rest = targets.items();
    let Some(first) = rest.next() else { return };
    let kind = first.text("kind").unwrap_or_default();
    if let Some(other) = rest.find(|other| !is_like(kind, other.text("kind").unwrap_or_default())) {
        complaints.again((&other, &first), message, help);
    }
}

fn waf(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let message = "a policy has targets of two kinds";
    let words = (message, "write a policy for each kind");
    like_the_first(complaints, &spec.get("targetRefs"), str::eq, words);
    let (kind, source) = (spec.text("type"), spec.get("policySource"));
    for (name, field) in [("HTTP", "httpSource"), ("NIM", "nimSource"), ("N1C", "n1cSource")] {
        let there = source.get(field);
        match (kind == Some(name), there.is_present()) {
            (true, false) => {
                let message = format!("a policy of type {name} needs `policySource.{field}`");
                complaints.value(&source, message, format!("add `{field}`"));
            }
            (false, true) => {
                let message = format!("`{field}` is for policies of type {name}");
                complaints.key(&there, message, format!("remove it, or write `type: {name}`"));
            }
            _ => {}
        }
    }
    let verify = source.get("validation").get("verifyChecksum");
    if kind != Some("HTTP") && is_true(&verify) {
        let message = "a checksum can be fetched only for a policy of type HTTP";
        complaints.key(&verify, message, "write `expectedChecksum` instead, or remove it");
    }
    one_checksum(complaints, &source.get("validation"));
    complaints.exactly_one(&source.get("n1cSource"), &["policyName", "policyObjectID"]);
    complaints.exactly_one(&source.get("nimSource"), &["policyName", "policyUID"]);
    for log in spec.get("securityLogs").items() {
        let destinations = [("file", "file"), ("syslog", "syslog")];
        let what = ("a destination", "type");
        complaints.of_its_type(what, &log.get("destination"), &destinations, Field::is_present);
        let from = log.get("logSource");
        let sources = ["defaultProfile", "httpSource", "nimSource", "n1cSource"];
        complaints.exactly_one(&from, &sources);
        complaints.exactly_one(&from.get("n1cSource"), &["profileName", "profileObjectID"]);
        one_checksum(complaints, &from.get("validation"));
    }
}

fn one_checksum(complaints: &mut Complaints<'_>, validation: &Field<'_>) {
    let expected = validation.get("expectedChecksum");
    if expected.is_present() && is_true(&validation.get("verifyChecksum")) {
        let message = "a checksum is either given or fetched";
        complaints.key(&expected, message, "remove it, or `verifyChecksum`");
    }
}

/// A policy of kgateway (docs/systems/other-policies.md#kgateway).
pub(super) fn kgateway(complaints: &mut Complaints<'_>) {
    if complaints.kind() != "TrafficPolicy" {
        return;
    }
    let spec = complaints.spec();
    let (named, selected) = (spec.get("targetRefs"), spec.get("targetSelectors"));
    let targets = || named.items().chain(selected.items());
    let only_for = [
        ("autoHostRewrite", &["HTTPRoute"][..]),
        ("tracing", &["HTTPRoute", "GRPCRoute"]),
    ];
    for (field, kinds) in only_for {
        let mut others = targets().filter_map(|target| target.text("kind"));
        if let Some(setting) = spec.present(field)
            && let Some(other) = others.find(|kind| !kinds.contains(kind))
        {
            let message = format!("`{field}` is only for routes, but a target is a {other}");
            let help = format!("remove `{field}`, or target {} only", kinds.join(" or "));
            complaints.key(&setting, message, help);
        }
    }
    let is_whole = |target: &Field<'_>| target.text("kind") == Some("Gateway") && !target.has("sectionName");
    if let Some(gateway) = targets().find(is_whole).filter(|_| spec.has("retry")) {
        let message = "retries on a Gateway need a listener, but the target is the whole Gateway";
        complaints.value(&gateway, message, "add `sectionName`, or target routes");
    }
}

/// A policy of Istio that has targets or selects workloads (docs/systems/other-policies.md#istio).
pub(super) fn istio(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    match complaints.kind() {
        "AuthorizationPolicy" | "RequestAuthentication" | "Telemetry" | "WasmPlugin" => {
            complaints.at_most_one(&spec, &["targetRef", "targetRefs", "selector"]);
            whole_labels(complaints, &spec);
        }
        "TrafficExtension" => {
            complaints.at_most_one(&spec, &["targetRefs", "selector"]);
            complaints.exactly_one(&spec, &["wasm", "lua"]);
            whole_labels(complaints, &spec);
        }
        "EnvoyFilter" => complaints.at_most_one(&spec, &["targetRefs", "workloadSelector"]),
        "PeerAuthentication" => {
            whole_labels(complaints, &spec);
            port_modes(complaints, &spec);
        }
        _ => return,
    }
    for target in spec.get("targetRefs").items().chain([spec.get("targetRef")]) {
        let namespace = target.get("namespace");
        if has_text(&namespace) {
            let message = "Istio does not support targets in another namespace";
            let help = "remove `namespace`, and move the policy to the namespace of its target";
            complaints.key(&namespace, message, help);
        }
    }
}

/// Labels of workloads are not patterns.
fn whole_labels(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    for (key, value) in spec.get("selector").get("matchLabels").entries() {
        if key.is_empty() {
            complaints.key(&value, "a label needs a name", "name the label");
        }
        if key.contains('*') || value.str().is_some_and(|value| value.contains('*')) {
            let message = "Istio does not support wildcards in a selector";
            complaints.value(&value, message, "write the whole label and its value");
        }
    }
}

/// Modes of ports are for selected workloads.
fn port_modes(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let ports = spec.get("portLevelMtls");
    let is_selecting = spec.get("selector").get("matchLabels").entries().next().is_some();
    if ports.is_present() && !is_selecting {
        let message = "`portLevelMtls` has an effect only with a selector";
        complaints.key(&ports, message, "add `selector`, or remove `portLevelMtls`");
    }
    for (port, value) in ports.entries() {
        if !port.parse::<u32>().is_ok_and(|port| (1..=65_535).contains(&port)) {
            let help = "write a number from 1 to 65535 in quotes";
            complaints.key(&value, format!("`{port}` is not a port"), help);
        }
    }
}

/// A policy of GKE that selects its targets by labels (docs/systems/other-policies.md#gke).
pub(super) fn gke(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let targets = spec.get("targetRefs");
    match complaints.kind() {
        "GCPAuthzPolicy" => authz_targets(complaints, &targets),
        "GCPClientTLSPolicy" => {
            for target in targets.items() {
                let section = target.get("sectionName");
                if target.text("kind") == Some("Namespace") && has_text(&section) {
                    complaints.key(&section, "a Namespace has no sections", "remove `sectionName`");
                }
            }
        }
        "GCPServerTLSPolicy" => {
            let ports = spec.get("portOverrides");
            for selector in targets.items().map(|target| target.get("selector")) {
                let expressions = selector.get("matchExpressions");
                if expressions.items().next().is_some() {
                    let message = "GKE supports only `matchLabels`";
                    complaints.key(&expressions, message, "write `matchLabels`");
                }
                if ports.is_present() && selector.get("matchLabels").entries().next().is_none() {
                    let message = "`portOverrides` needs a selector with labels, but this policy is for a whole namespace";
                    complaints.key(&ports, message, "remove `portOverrides`, or add `matchLabels`");
                }
            }
        }
        _ => {}
    }
}

fn authz_targets(complaints: &mut Complaints<'_>, targets: &Field<'_>) {
    let of_gateway = "a Gateway must be targeted by name";
    let of_pods = "Pods must be targeted by their labels";
    let mut kinds = targets.items().map(|target| target.text("kind"));
    let first_pods = kinds.position(|kind| kind == Some("Pod"));
    for (at, target) in targets.items().enumerate() {
        let (name, selector) = (target.get("name"), target.get("selector"));
        match (target.text("kind"), name.is_present(), selector.is_present()) {
            (Some("Gateway"), _, true) => complaints.key(&selector, of_gateway, "remove `selector`"),
            (Some("Gateway"), false, false) => complaints.value(&target, of_gateway, "add `name`"),
            (Some("Pod"), true, _) => complaints.key(&name, of_pods, "remove `name`"),
            (Some("Pod"), false, false) => complaints.value(&target, of_pods, "add `selector`"),
            (Some("Pod"), ..) if first_pods < Some(at) => {
                let message = "Pods can be targeted by only one selector";
                complaints.value(&target, message, "write a policy for each");
            }
            _ => {}
        }
    }
}
