//! The hubs of `tests/synced/`: what each cluster receives of them, what is reported, and what applies there.

use std::fmt::Write as _;

use kube_json::Value;
use test_sections::Section;

use super::{Received, locals, received};
use crate::diagnostic::{Findings, Warnings};
use crate::hub::Hub;
use crate::outcome::PolicyReport;
use crate::policy::{Options, PolicyId, Profiles};
use crate::sync::local_policies::beside_local;
use crate::sync::same_target::{SyncedPolicy, SyncedSpec, resolve};
use crate::sync::{
    OnSpokes, report_broken_rules, report_local_conflicts, report_misspelled_backends, report_not_synced,
    report_other_versions, report_references, report_shadowed, report_unknown_kinds, report_unused,
};
use crate::tests::Seen;
use crate::tests::hubs::{brief, hub_of, write_findings};
use crate::topology::Node;

/// What is shipped of the hub of a section, to the clusters that its document `gateways` has for each Gateway.
fn outcome(section: &Section<'_>) -> String {
    let (hub, settings) = hub_of(section);
    let mut text = String::new();
    let seen = Seen::hub(&hub);
    write_findings(&mut text, &seen.findings);
    for cluster in std::iter::once(None).chain(hub.spokes.keys().map(|name| Some(name.as_str()))) {
        write_decisions(&mut text, &seen, &hub, cluster);
    }
    let Some(gateways) = settings
        .iter()
        .find_map(|settings| settings["gateways"].as_object())
    else {
        return text;
    };
    let gateways: Vec<(&str, Vec<&str>)> = gateways
        .iter()
        .map(|(name, clusters)| {
            (
                &**name,
                clusters
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect(),
            )
        })
        .collect();
    let gateways: Vec<(&str, &[&str])> = gateways
        .iter()
        .map(|(name, clusters)| (*name, clusters.as_slice()))
        .collect();
    received(&hub, &gateways, |received| {
        write_findings(&mut text, &reported(received));
        write_copies(&mut text, received);
        write_spokes(&mut text, received, &hub);
        write_report(&mut text, "", &received.report(None));
        for cluster in hub.spokes.keys() {
            write_report(
                &mut text,
                &format!("{cluster}: "),
                &received.report(Some(cluster)),
            );
        }
    });
    text
}

/// What is shipped for each target, on a cluster or in general.
fn write_decisions<'a>(text: &mut String, seen: &Seen<'a>, hub: &'a Hub, cluster: Option<&str>) {
    let mut locals = locals(hub, &seen.attachments, &Options::default(), &mut Findings::new());
    let locals = cluster.and_then(|cluster| locals.remove(cluster));
    let topology = &seen.attachments.topology;
    let gateways = topology
        .gateways
        .ids()
        .flat_map(|gateway| topology.nodes_of_gateway(gateway));
    let routes = topology.routes.ids().map(Node::Route);
    let routes = routes.flat_map(|route| std::iter::once(route).chain(topology.sections(route)));
    let mut nodes: Vec<Node> = gateways.chain(routes).collect();
    nodes.sort();
    nodes.dedup();
    let place = cluster.map(|cluster| format!("{cluster}: ")).unwrap_or_default();
    let key = |policy: PolicyId| seen.attachments.policy(policy).rank.key.clone();
    for (kind, node) in seen
        .attachments
        .kinds
        .ids()
        .flat_map(|kind| nodes.iter().map(move |node| (kind, *node)))
    {
        let Some(resolution) = resolve(&seen.attachments, kind, node) else {
            continue;
        };
        let target = brief(&topology.locator(node));
        let _ = write!(text, "{place}{target} gets");
        let local: Vec<_> = locals.iter().flat_map(|locals| locals.on(kind, node)).collect();
        for mut synced in resolution.synced {
            if !local.is_empty() {
                let Some(spec) = beside_local(&seen.attachments, &synced, &local) else {
                    let _ = write!(text, ", not {} (spoke-local)", key(synced.policy));
                    continue;
                };
                synced.spec = spec;
            }
            let _ = write!(text, " {}", key(synced.policy));
            write_spec(text, &synced, &key);
        }
        for displaced in resolution.displaced {
            let _ = write!(
                text,
                ", not {} ({})",
                key(displaced.policy),
                displaced.rule.name()
            );
        }
        text.push('\n');
    }
}

fn write_spec(text: &mut String, synced: &SyncedPolicy, key: &impl Fn(PolicyId) -> String) {
    if let SyncedSpec::Rewritten { spec, .. } = &synced.spec {
        let sources: Vec<String> = synced.sources().into_iter().map(key).collect();
        let _ = write!(text, " of {} as {spec}", sources.join(" "));
    }
}

/// All that is reported about what is shipped, and about what is not.
fn reported(received: &Received<'_>) -> Findings {
    let mut findings = Findings::new();
    let (hub, syncing) = (received.hub, received.syncing);
    report_not_synced(syncing, &mut findings);
    report_unused(syncing, &mut findings);
    report_broken_rules(syncing, |_, _| true, &mut findings);
    report_shadowed(syncing, &mut findings);
    report_misspelled_backends(hub, &mut findings);
    report_other_versions(syncing, &mut findings);
    report_unknown_kinds(syncing, &Profiles::built_in(), &mut findings);
    let (gateways, variants) = (received.making.gateways, received.making.variants);
    let there = OnSpokes::new(
        (hub, received.grants),
        std::iter::once((gateways, variants)),
        false,
    );
    let synced = (received.synced.objects.as_slice(), variants);
    for locals in locals(hub, received.attachments, &Options::default(), &mut findings).values() {
        report_local_conflicts(received.attachments, locals, &mut findings);
    }
    report_references(
        (hub, received.grants),
        syncing.ours,
        gateways,
        synced,
        &there,
        &mut findings,
    );
    findings.finish(&std::collections::BTreeMap::default(), Warnings::Reported);
    findings
}

/// Each copy with its clusters, and what is kept from clusters.
fn write_copies(text: &mut String, received: &Received<'_>) {
    for variant in received.making.variants.iter().flatten() {
        for copy in &variant.copies {
            let object = &copy.object;
            let spec = &object.value["spec"];
            let annotations = object.value.pointer("/metadata/annotations");
            let annotations = annotations
                .map(|annotations| format!(" {annotations}"))
                .unwrap_or_default();
            let clusters = variant.clusters.join(" ");
            let _ = writeln!(
                text,
                "{clusters} receive {} {}{annotations}: {spec}",
                object.kind,
                object.key()
            );
        }
    }
    for withheld in &received.synced.withheld {
        let policy = brief(&received.attachments.locator(withheld.policy));
        let place = withheld.cluster.unwrap_or("every cluster");
        let _ = writeln!(
            text,
            "{policy} is kept from {place} by {} ({})",
            withheld.winner.key(),
            withheld.rule.name()
        );
    }
}

/// The clusters that are evaluated together, with the Gateways and routes there.
fn write_spokes(text: &mut String, received: &Received<'_>, hub: &Hub) {
    for spoke in received.making.build(false, &|_| true) {
        let sources = spoke.sources(&hub.objects);
        let of_kind = |kind: &'static str| sources.of_kind("gateway.networking.k8s.io", kind);
        let there: Vec<String> = ["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute"]
            .into_iter()
            .flat_map(|kind| of_kind(kind).map(move |(object, _)| format!("{kind} {}", object.key())))
            .collect();
        let _ = writeln!(text, "{} have {}", spoke.clusters.join(" "), there.join(", "));
    }
}

/// The conditions of policies, and the settings in effect.
fn write_report(text: &mut String, place: &str, report: &PolicyReport) {
    for policy in &report.policies {
        let condition = policy.conditions.last().unwrap();
        let _ = write!(
            text,
            "{place}{}: {}={} {}: {}",
            brief(&policy.policy),
            condition.kind,
            condition.status,
            condition.reason,
            condition.message
        );
        for other in &policy.on_clusters {
            let there = other.condition().map(|condition| {
                format!(
                    "{}={} {}: {}",
                    condition.kind, condition.status, condition.reason, condition.message
                )
            });
            let _ = write!(text, "; on {}: {}", other.cluster, there.unwrap_or_default());
        }
        text.push('\n');
    }
    for entry in &report.effective {
        let path: Vec<String> = entry.path.iter().skip(1).map(|locator| brief(locator)).collect();
        let spec = entry
            .result
            .spec
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let _ = writeln!(text, "{place}{} {}: {spec}", entry.kind, path.join(" > "));
    }
}

#[test]
fn every_cluster_receives_what_the_snapshots_of_the_hubs_have() {
    crate::tests::hubs::check_all("tests/synced", outcome);
}
