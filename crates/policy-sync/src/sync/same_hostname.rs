//! Gateways on one cluster with the same hostname.
//!
//! Each Gateway has an address of its own, and DNS knows neither ports nor protocols. So if two Gateways of a cluster have
//! listeners with the same hostname, clients may reach the one or the other. A wildcard and a name that it covers are no
//! mistake, because DNS prefers the name (RFC 4592, section 2.2.1), and a listener without a hostname states none.

use std::collections::{BTreeMap, HashMap};

use super::synced_object::Syncing;
use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding, Findings, Place, first_names};
use crate::object::Object;
use crate::topology::Node;

/// So many clusters are named in a message.
const MOST_CLUSTERS: usize = 3;

/// A Gateway with a hostname.
struct Serving<'a> {
    gateway: &'a Object,
    /// The first of its listeners with the hostname.
    listener: Place,
    clusters: &'a [String],
    is_local: bool,
}

/// The Gateways with each hostname, in lower case.
type Hostnames<'a> = BTreeMap<String, Vec<Serving<'a>>>;

fn add<'a>(hostnames: &mut Hostnames<'a>, hostname: &str, serving: Serving<'a>) {
    let all = hostnames.entry(hostname.to_ascii_lowercase()).or_default();
    let last = all.last();
    if !last.is_some_and(|last| std::ptr::eq(last.gateway, serving.gateway)) {
        all.push(serving);
    }
}

/// Reports the hostnames of our Gateways that other Gateways of their clusters have, too.
pub fn report_same_hostnames(syncing: Syncing<'_>, findings: &mut Findings) {
    let topology = &syncing.attachments.topology;
    let mut hostnames = Hostnames::default();
    for (id, node) in topology.gateways.iter() {
        let Some(ours) = syncing.our_gateway(id) else {
            continue;
        };
        for listener_id in &node.listeners {
            let listener = topology.listeners.get(*listener_id);
            let owner = topology.object(Node::Listener(id, *listener_id));
            if let Some((hostname, owner)) = listener.hostname.zip(owner) {
                let serving = Serving {
                    gateway: node.object,
                    listener: owner.place(&format!("{}/hostname", listener.pointer)),
                    clusters: syncing.clusters.get(ours),
                    is_local: false,
                };
                add(&mut hostnames, hostname, serving);
            }
        }
    }
    for (cluster, objects) in syncing.hub.spokes.as_ref() {
        for gateway in objects.of_kind(GROUP, "Gateway") {
            for listener in gateway.root().get("spec").get("listeners").items() {
                let hostname = listener.get("hostname");
                if let Some(text) = hostname.str() {
                    let serving = Serving {
                        gateway,
                        listener: gateway.place(&hostname.pointer()),
                        clusters: std::slice::from_ref(cluster),
                        is_local: true,
                    };
                    add(&mut hostnames, text, serving);
                }
            }
        }
    }
    let several = hostnames.iter().filter(|(_, all)| all.len() > 1);
    for (hostname, all) in several {
        report(hostname, all, findings);
    }
}

/// Reports each Gateway after the first one of a cluster.
fn report(hostname: &str, all: &[Serving<'_>], findings: &mut Findings) {
    let mut first_on: HashMap<&str, &Serving<'_>> = HashMap::new();
    for serving in all {
        let mut shared: Vec<(&Serving<'_>, Vec<&str>)> = Vec::new();
        for cluster in serving.clusters {
            let first = *first_on.entry(cluster).or_insert(serving);
            let is_ours = !first.is_local || !serving.is_local;
            if !std::ptr::eq(first, serving) && is_ours && !share_address(first.gateway, serving.gateway) {
                match shared.iter_mut().find(|(other, _)| std::ptr::eq(*other, first)) {
                    Some((_, clusters)) => clusters.push(cluster),
                    None => shared.push((first, vec![cluster])),
                }
            }
        }
        for (first, clusters) in shared {
            // What lives on a cluster is somebody else's.
            let (here, other) = if serving.is_local {
                (first, serving)
            } else {
                (serving, first)
            };
            let message = format!(
                "{} and {} both have the hostname `{hostname}` on {}",
                here.gateway.identity(),
                other.gateway.identity(),
                first_names(clusters, MOST_CLUSTERS)
            );
            let finding = Finding::new(Code::GATEWAY_SAME_HOSTNAME, here.listener.clone(), message)
                .label("DNS cannot tell the two Gateways apart")
                .related(other.listener.clone(), "the other one")
                .help("give one of them another hostname, or place them on different clusters");
            findings.push(finding);
        }
    }
}

/// Whether two Gateways ask for the same addresses: then it does not matter which of them DNS answers with.
fn share_address(one: &Object, other: &Object) -> bool {
    let addresses = |gateway: &Object| gateway.value.pointer("/spec/addresses").cloned();
    let own = addresses(one);
    own.is_some() && own == addresses(other)
}
