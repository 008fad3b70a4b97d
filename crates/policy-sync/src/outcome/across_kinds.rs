//! What Kuadrant needs of other policies, and of other clusters, to do what a policy asks.
//!
//! One policy alone, on one cluster, shows none of it: limits that read what authentication finds out, and records of DNS
//! that several clusters publish.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Value;

use super::PolicyView;
use crate::api::ocm;
use crate::diagnostic::{Code, Finding, Findings, first_names, fitting_names};
use crate::hub::Hub;
use crate::object::Object;
use crate::placing::is_among;
use crate::policy::PolicyId;
use crate::topology::{GatewayId, Node, Path};

/// Columns for the names of clusters in a message.
const CLUSTERS_WIDTH: usize = 40;
/// So many hostnames are named.
const MOST_NAMED: usize = 3;
const GROUP: &str = "kuadrant.io";
/// The label of a ManagedCluster that becomes the geo code of its records:
/// Kuadrant/kuadrant-operator api/v1/dnspolicy_types.go@v1.5.2.
const GEO_LABEL: &str = "kuadrant.io/lb-attribute-geo-code";

/// Reports what no policy says alone.
pub fn report_across_kinds(view: &PolicyView<'_>, hub: &Hub, findings: &mut Findings) {
    refused_on_clusters(view, findings);
    limits_without_identity(view, findings);
    records(view, hub, findings);
}

/// What a controller refuses for a reason that only clusters have.
fn refused_on_clusters(view: &PolicyView<'_>, findings: &mut Findings) {
    for (id, refused) in &view.refusals {
        let policy = view.hub.policy(*id);
        let clusters = refused.iter().flat_map(|(clusters, _)| *clusters);
        let mut clusters: Vec<&str> = clusters.map(String::as_str).collect();
        clusters.sort_unstable();
        let Some(((_, why), declared)) = refused.first().zip(policy.targets.first()) else {
            continue;
        };
        let (there, why) = (fitting_names(&clusters, CLUSTERS_WIDTH), why.message.to_string());
        let what = format!("is refused on {there}: {}", why.trim_end_matches('.'));
        findings.push(
            policy.object.finding(Code::POLICY_NO_EFFECT, &declared.pointer, what)
                .label("no setting of the policy takes effect there")
                .help("target all listeners of that port, or give this one a port of its own; an EnvoyProxy with `mergeGateways` makes one Gateway of all"),
        );
    }
}

/// A limit that reads `auth` where no AuthPolicy is in effect never matches, and its counters are empty: authentication
/// is what fills it (Kuadrant/kuadrant-operator doc/reference/ratelimitpolicy.md@v1.5.2).
fn limits_without_identity(view: &PolicyView<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(String, String), (&Object, BTreeSet<&str>)> = BTreeMap::new();
    for seen in view.seen().filter(|seen| !seen.clusters.is_empty()) {
        let auth = seen.attachments.kind_of(GROUP, "AuthPolicy");
        for limits in ["RateLimitPolicy", "TokenRateLimitPolicy"] {
            let Some(kind) = seen.attachments.kind_of(GROUP, limits) else {
                continue;
            };
            let mut known: BTreeMap<GatewayId, BTreeSet<&Path>> = BTreeMap::new();
            for path in seen.effective.of_kind(kind) {
                let Some(gateway) = path.path.gateway() else {
                    continue;
                };
                let settings = path.effective.content.iter();
                let mut reading = settings.filter(|(_, leaf)| reads_auth(&leaf.value)).peekable();
                if reading.peek().is_none() {
                    continue;
                }
                let protected = known.entry(gateway).or_insert_with(|| {
                    let paths = auth.map_or(&[][..], |auth| seen.effective.on(auth, gateway));
                    let paths = paths.iter().filter(|path| !path.effective.content.is_empty());
                    paths.map(|path| &path.path).collect()
                });
                if protected.contains(&path.path) {
                    continue;
                }
                for (name, leaf) in reading {
                    let (authored, pointer) = seen.attachments.written_at(name, leaf);
                    let key = (authored.locator.to_string(), pointer);
                    let new = || (authored.object, BTreeSet::new());
                    let (_, clusters) = found.entry(key).or_insert_with(new);
                    clusters.extend(seen.clusters.iter().map(String::as_str));
                }
            }
        }
    }
    for ((_, pointer), (policy, clusters)) in found {
        let (who, on) = (policy.identity(), fitting_names(clusters, CLUSTERS_WIDTH));
        let message = format!("{who} reads `auth` where no AuthPolicy is in effect, on {on}");
        findings.push(
            Finding::new(Code::POLICY_NO_EFFECT, policy.key_place(&pointer), message)
                .label("never matches, and counts for nobody")
                .help("add an AuthPolicy for the same routes, or limit by something else"),
        );
    }
}

/// Whether an expression in a value reads `auth`.
fn reads_auth(value: &Value) -> bool {
    match value {
        // Whoever asks whether it is there knows that it may not be.
        Value::String(text) if text.contains("has(auth.") => false,
        Value::String(text) => text.match_indices("auth").any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at..).and_then(|after| after.chars().nth("auth".len()));
            !before.is_some_and(|before| before.is_alphanumeric() || "._-\"'/".contains(before))
                && after.is_some_and(|after| ".[".contains(after))
        }),
        Value::Array(items) => items.iter().any(reads_auth),
        Value::Object(fields) => fields.values().any(reads_auth),
        _ => false,
    }
}

/// A DNSPolicy at a listener, and the clusters that publish its hostname.
struct Published<'v> {
    policy: &'v Object,
    gateway: &'v Object,
    clusters: &'v [String],
}

/// Records of one hostname that several Gateways or clusters publish, which have to agree
/// (Kuadrant/dns-operator docs/reference/dnsrecord.md@v0.15.0).
fn records(view: &PolicyView<'_>, hub: &Hub, findings: &mut Findings) {
    let mut by_host: BTreeMap<String, Vec<Published<'_>>> = BTreeMap::new();
    // As each cluster has them: a policy that lives there may publish what another one does elsewhere.
    for seen in view.seen().filter(|seen| !seen.clusters.is_empty()) {
        let attachments = seen.attachments;
        let Some(kind) = attachments.kind_of(GROUP, "DNSPolicy") else {
            continue;
        };
        for (gateway, node) in attachments.topology.gateways.iter() {
            for listener in &node.listeners {
                let nodes = [Node::Listener(gateway, *listener), Node::Gateway(gateway)];
                let first = |node: &Node| attachments.on(kind, *node).first().map(|entry| entry.policy);
                let policy: Option<PolicyId> = nodes.iter().find_map(first);
                let policy = policy.and_then(|id| attachments.policy(id).authors(id).next());
                let hostname = attachments.topology.listeners.get(*listener).hostname;
                if let Some(((_, policy), hostname)) = policy.zip(hostname) {
                    let published = by_host.entry(hostname.to_lowercase()).or_default();
                    published.push(Published {
                        policy: policy.object,
                        gateway: node.object,
                        clusters: seen.clusters,
                    });
                }
            }
        }
    }
    let mut said = BTreeSet::new();
    let mut alone: BTreeMap<String, (&Object, BTreeSet<&str>, Vec<&str>)> = BTreeMap::new();
    let is_balanced = |one: &&Published<'_>| one.policy.value.pointer("/spec/loadBalancing").is_some();
    for (hostname, published) in &by_host {
        let balanced = published.iter().find(is_balanced);
        for one in published.iter().filter(|one| !is_balanced(one)) {
            if let Some(other) = balanced {
                if !said.insert((hostname, one.policy.identity(), one.gateway.identity())) {
                    continue;
                }
                let with_it = other.policy.identity();
                let what = format!("publishes `{hostname}` without `loadBalancing`, and {with_it} with it");
                findings.push(
                    one.policy
                        .finding(Code::POLICY_NO_EFFECT, "/spec", what)
                        .label("a record has one form: Kuadrant refuses the other")
                        .related(other.policy.place("/spec/loadBalancing"), "it is balanced here")
                        .related(one.gateway.place("/metadata/name"), "the Gateway that is not")
                        .help("give both policies `loadBalancing`, or the Gateways different hostnames"),
                );
                continue;
            }
            let clusters = published.iter().flat_map(|one| one.clusters);
            let clusters: BTreeSet<&str> = clusters.map(String::as_str).collect();
            if clusters.len() > 1 {
                let known = alone.entry(one.policy.identity().locator());
                let (_, all, hostnames) = known.or_insert_with(|| (one.policy, BTreeSet::new(), Vec::new()));
                all.extend(clusters);
                if !hostnames.contains(&hostname.as_str()) {
                    hostnames.push(hostname);
                }
            }
        }
    }
    for (policy, clusters, hostnames) in alone.into_values() {
        let clusters = fitting_names(clusters, CLUSTERS_WIDTH);
        let hostnames = first_names(&hostnames, MOST_NAMED);
        let what = format!("has no `loadBalancing`, and {clusters} publish {hostnames}");
        findings.push(
            policy
                .finding(Code::POLICY_NO_EFFECT, "/spec", what)
                .label("such a record is that of one cluster")
                .help("add `loadBalancing`, or give each cluster a hostname of its own"),
        );
    }
    one_geo(by_host.values().flatten(), hub, findings);
}

/// One geo code in a policy for clusters whose labels say that they are elsewhere: all of them answer for it.
fn one_geo<'v>(published: impl Iterator<Item = &'v Published<'v>>, hub: &Hub, findings: &mut Findings) {
    let managed = hub.objects.of_kind(ocm::GROUP, "ManagedCluster");
    // Clusters that are not alike get copies of one policy.
    let mut by_policy: BTreeMap<_, (&Object, BTreeSet<String>)> = BTreeMap::new();
    for one in published {
        let geo = one.policy.value.pointer("/spec/loadBalancing/geo");
        let Some(geo) = geo.and_then(Value::as_str) else {
            continue;
        };
        let (_, elsewhere) = by_policy
            .entry((one.policy.identity(), geo))
            .or_insert_with(|| (one.policy, BTreeSet::new()));
        elsewhere.extend(managed.iter().filter_map(|cluster| {
            let label = cluster.label(GEO_LABEL).filter(|label| *label != geo)?;
            is_among(one.clusters, &cluster.name).then(|| format!("{} ({label})", cluster.name))
        }));
    }
    for ((_, geo), (policy, elsewhere)) in by_policy {
        if elsewhere.is_empty() {
            continue;
        }
        let clusters = first_names(&elsewhere, MOST_NAMED);
        let what = format!("says geo {geo} for clusters whose label says otherwise: {clusters}");
        findings.push(
            policy
                .finding(Code::POLICY_NO_EFFECT, "/spec/loadBalancing/geo", what)
                .label("on every cluster, whatever its label says")
                .help("write a policy for the Gateway of each region, with a Placement of its own"),
        );
    }
}
