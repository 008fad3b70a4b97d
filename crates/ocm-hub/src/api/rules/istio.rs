//! Istio's policies that have targets or select workloads (docs/systems/other-policies.md#istio).

use super::complaints::{Complaints, at_most_one, exactly_one};
use apimachinery::Field;

/// A policy of Istio.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    match complaints.kind() {
        "AuthorizationPolicy" | "RequestAuthentication" | "Telemetry" | "WasmPlugin" => {
            at_most_one(complaints, &spec, &["targetRef", "targetRefs", "selector"]);
            selector(complaints, &spec);
        }
        "TrafficExtension" => {
            at_most_one(complaints, &spec, &["targetRefs", "selector"]);
            exactly_one(complaints, &spec, &["wasm", "lua"]);
            selector(complaints, &spec);
        }
        "EnvoyFilter" => at_most_one(complaints, &spec, &["targetRefs", "workloadSelector"]),
        "PeerAuthentication" => {
            selector(complaints, &spec);
            ports(complaints, &spec);
        }
        _ => return,
    }
    let targets = spec.get("targetRefs").items().chain([spec.get("targetRef")]);
    for target in targets {
        let namespace = target.get("namespace");
        if namespace.str().is_some_and(|namespace| !namespace.is_empty()) {
            complaints.key(
                &namespace,
                "Istio does not support targets in another namespace",
                "remove `namespace`, and move the policy to the namespace of its target",
            );
        }
    }
}

/// Labels of workloads are not patterns.
fn selector(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    for (key, value) in spec.get("selector").get("matchLabels").entries() {
        if key.is_empty() {
            complaints.key(&value, "a label needs a name", "name the label");
        }
        if key.contains('*') || value.str().is_some_and(|value| value.contains('*')) {
            complaints.value(
                &value,
                "Istio does not support wildcards in a selector",
                "write the whole label and its value",
            );
        }
    }
}

/// Modes of ports are for selected workloads.
fn ports(complaints: &mut Complaints<'_>, spec: &Field<'_>) {
    let ports = spec.get("portLevelMtls");
    let is_selecting = spec.get("selector").get("matchLabels").entries().next().is_some();
    if ports.is_present() && !is_selecting {
        complaints.key(
            &ports,
            "`portLevelMtls` has an effect only with a selector",
            "add `selector`, or remove `portLevelMtls`",
        );
    }
    for (port, value) in ports.entries() {
        if !port.parse::<u32>().is_ok_and(|port| (1..=65_535).contains(&port)) {
            complaints.key(
                &value,
                format!("`{port}` is not a port"),
                "write a number from 1 to 65535 in quotes",
            );
        }
    }
}
