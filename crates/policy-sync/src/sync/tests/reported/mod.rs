//! What is reported about objects that do not go to the spokes, or would not be in effect there.

mod kinds;
mod needed;
mod rules;
mod shipping;

use super::{Received, received};
use crate::diagnostic::{Findings, Warnings};
use crate::tests::{hub, small_with_params};

const GW: &str = "kind: Gateway, name: gw";
const LIMIT: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

/// `code message` of what is reported about a hub whose Gateway `infra/gw` goes to some clusters, with its help.
fn said_with_help(
    text: &str,
    spokes: &[(&str, &str)],
    clusters: &[&str],
    report: impl FnOnce(&Received<'_>, &mut Findings),
) -> Vec<[String; 2]> {
    let hub = hub(text, spokes);
    let mut findings = Findings::new();
    received(&hub, &[("infra/gw", clusters)], |received| {
        report(received, &mut findings);
    });
    findings.finish(&std::collections::BTreeMap::default(), Warnings::Reported);
    let said = findings.iter().map(|finding| {
        let message = format!("{} {}", finding.code.name(), finding.message);
        [message, finding.help.clone().unwrap_or_default().into()]
    });
    said.collect()
}

fn said(text: &str, clusters: &[&str], report: impl FnOnce(&Received<'_>, &mut Findings)) -> Vec<String> {
    let said = said_with_help(text, &[], clusters, report).into_iter();
    said.map(|[message, _]| message).collect()
}

/// A policy of this kind, on something of Gateway API's group.
fn policy(kind: &str, target: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: kuadrant.io/v1\nkind: {kind}\nmetadata: {{name: a, namespace: infra}}\n\
         spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}{spec}}}\n"
    )
}

/// A Gateway of a class that is not ours, with a route.
const FOREIGN: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: foreign, namespace: infra}\n\
     spec: {gatewayClassName: theirs, listeners: [{name: http, port: 80, protocol: HTTP}]}\n\
     ---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: away, namespace: infra}\n\
     spec: {parentRefs: [{name: foreign}], rules: [{backendRefs: [{name: s, port: 80}]}]}\n";

/// The same hub, with parameters that ask for another kind of policies, too.
fn asking_for(text: &str, plural: &str) -> String {
    let more =
        format!("resource: ratelimitpolicies}}, {{group: kuadrant.io, version: v1, resource: {plural}}}]");
    text.replace("resource: ratelimitpolicies}]", &more)
}

/// The same, with objects of this kind; `more` are further fields of the entry.
fn shipping(text: &str, group: &str, plural: &str, more: &str) -> String {
    let resources = format!(
        "{{resourcesToSync: [{{group: '{group}', version: v1, resource: {plural}{more}}}], policiesToSync:"
    );
    text.replace("{policiesToSync:", &resources)
}

/// The same, with HTTPRoutes.
fn shipping_routes(text: &str) -> String {
    shipping(text, "gateway.networking.k8s.io", "httproutes", "")
}

/// A hub whose Gateway lets ListenerSets in.
fn with_sets(text: &str) -> String {
    text.replace(
        "  gatewayClassName: gc\n",
        "  gatewayClassName: gc\n  allowedListeners: {namespaces: {from: Same}}\n",
    )
}

const SET: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: ls, namespace: infra}\n\
     spec: {parentRef: {name: gw}, listeners: [{name: extra, port: 8080, protocol: HTTP}]}\n";

/// A BackendTrafficPolicy, on something of Gateway API's group.
fn traffic(target: &str) -> String {
    format!(
        "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: b, namespace: infra}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], retry: {{numRetries: 1}}}}\n"
    )
}

/// A hub whose class asks for BackendTrafficPolicies.
fn asking_for_traffic() -> String {
    small_with_params().replace(
        "{group: kuadrant.io, version: v1, resource: ratelimitpolicies}",
        "{group: gateway.envoyproxy.io, version: v1alpha1, resource: backendtrafficpolicies}",
    )
}
