//! What is needed on a cluster is there, or a finding says why not: the grants of routes, and policies beside their targets.
//!
//! Owns: this rule over one rendered hub, by the plain texts of what arrives. Flows in: a hub with its findings. Flows
//! out: what is wrong. Must not know: how anything is decided.

use std::collections::BTreeSet;

use kube_json::Value;

use super::compare::Breach;
use super::spokes::{Hub, Spoke, is_policy, locator, references};

/// The first thing that is missing on a cluster without a word.
pub(crate) fn judge(hub: &Hub) -> Option<Breach> {
    let mut spokes = hub.spokes.iter();
    spokes.find_map(|spoke| {
        let missing = ungranted(hub, spoke).or_else(|| unshipped(hub, spoke))?;
        let text = format!("on {}: {missing}\n{}", spoke.cluster, hub.said);
        Some(Breach::new("missing without a finding", text))
    })
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn items<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn backends(route: &Value) -> impl Iterator<Item = &Value> {
    items(route, "/spec/rules").flat_map(|rule| items(rule, "/backendRefs"))
}

/// A route that arrives, and that may not refer to one of its backends there.
fn ungranted(hub: &Hub, spoke: &Spoke) -> Option<String> {
    let there = || spoke.arriving.iter().map(|(value, _)| value).chain(&spoke.local);
    let routes = spoke.arriving.iter().map(|(value, _)| value);
    let routes = routes.filter(|value| value.pointer("/spec/parentRefs").is_some());
    routes
        .flat_map(|route| backends(route).map(move |backend| (route, backend)))
        .filter(|(route, backend)| {
            let (own, other) = (text(route, "/metadata/namespace"), text(backend, "/namespace"));
            let permits = |grant: &Value| {
                let from = |entry: &Value| {
                    text(entry, "/kind") == text(route, "/kind") && text(entry, "/namespace") == own
                };
                text(grant, "/kind") == "ReferenceGrant"
                    && text(grant, "/metadata/namespace") == other
                    && items(grant, "/spec/from").any(from)
                    && items(grant, "/spec/to").any(|to| text(to, "/kind") == "Service")
            };
            !other.is_empty() && other != own && !there().any(permits)
        })
        .find(|_| !hub.said.contains("reference/not-permitted"))
        .map(|(route, backend)| format!("{} may not refer to {backend}", locator(route)))
}

/// A policy whose target is there, and that is not.
fn unshipped(hub: &Hub, spoke: &Spoke) -> Option<String> {
    let arrived: BTreeSet<&String> = spoke.arriving.iter().flat_map(|(_, origins)| origins).collect();
    let routes = || {
        let routes = spoke.arriving.iter();
        routes.filter(|(value, _)| value.pointer("/spec/parentRefs").is_some())
    };
    let policies = hub.objects().filter(|object| {
        // Which of several counts is compared elsewhere.
        let is_alone = |other: &Value| text(other, "/kind") != text(object, "/kind");
        is_policy(object) && spoke.local.iter().all(is_alone)
    });
    policies
        .filter(|policy| {
            let own = text(policy, "/metadata/namespace");
            references(policy).iter().any(|target| {
                let namespace = target.get("namespace").and_then(Value::as_str).unwrap_or(own);
                let name = text(target, "/name");
                let is = |value: &Value| {
                    text(value, "/metadata/name") == name && text(value, "/metadata/namespace") == namespace
                };
                match text(target, "/kind") {
                    "Service" => routes().any(|(route, _)| {
                        let home = text(route, "/metadata/namespace");
                        backends(route).any(|backend| {
                            let there = backend.get("namespace").and_then(Value::as_str).unwrap_or(home);
                            text(backend, "/name") == name && there == namespace
                        })
                    }),
                    "Namespace" => routes().any(|(route, _)| text(route, "/metadata/namespace") == name),
                    "Gateway" => spoke.arriving.iter().any(|(value, _)| {
                        text(value, "/kind") == "Gateway"
                            && text(value, "/metadata/name") == name
                            && text(value, "/metadata/namespace") == format!("kuadrant-{namespace}")
                    }),
                    kind if kind.ends_with("Route") => routes().any(|(route, _)| is(route)),
                    _ => false,
                }
            })
        })
        .find(|policy| {
            let (kind, name) = (text(policy, "/kind"), text(policy, "/metadata/name"));
            let said = format!("{kind} {}/{name}", text(policy, "/metadata/namespace"));
            !arrived.contains(&locator(policy)) && !hub.said.contains(&said)
        })
        .map(locator)
}
