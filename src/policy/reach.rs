//! How many things a policy affects, and what would change without it.
//!
//! Owns: reach (clusters, Gateways, listeners, routes, backends) and the recomputation of only those Gateways that a
//! policy reaches.
//! Flows in: attachments, effective policies, the clusters of each Gateway. Flows out: [`Reach`], [`Change`]s.
//! Must not know: how it is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attachment::{Attachments, PolicyId};
use super::effective::{Effective, EffectivePolicies};
use super::merge::Entry;
use super::node::{Node, Path, index};
use super::topology::Topology;
use super::walk::on_gateway;

/// The clusters of each Gateway, by `namespace/name`.
pub type Clusters = BTreeMap<String, Vec<String>>;

/// The Gateways that traffic through a node comes from, by number, sorted.
#[must_use]
pub fn gateways_of(topology: &Topology<'_>, node: Node) -> Vec<u32> {
    match node {
        Node::Gateway(gateway) | Node::Listener(gateway, _) => vec![gateway],
        Node::ListenerSet(set) => {
            let set = topology.listener_sets.get(index(set));
            set.map(|set| set.gateway).into_iter().collect()
        }
        Node::Route(route) | Node::Rule(route, _) => topology
            .route(route)
            .map_or_else(Vec::new, |route| route.gateways.clone()),
        Node::Backend(backend) | Node::Port(backend, _) => {
            let routes = topology
                .backends
                .get(index(backend))
                .map(|backend| &backend.routes);
            let gateways: BTreeSet<u32> = routes
                .into_iter()
                .flatten()
                .filter_map(|route| topology.route(*route))
                .flat_map(|route| route.gateways.iter().copied())
                .collect();
            gateways.into_iter().collect()
        }
        Node::Class(class) => topology
            .classes
            .get(index(class))
            .map_or_else(Vec::new, |class| class.gateways.clone()),
        Node::Namespace(namespace) => topology
            .namespaces
            .get(index(namespace))
            .map_or_else(Vec::new, |namespace| namespace.gateways.clone()),
    }
}

/// What a policy reaches: every node of every path that it is on, at its own level or below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Clusters, sorted.
    pub clusters: BTreeSet<String>,
    /// Gateways, by number.
    pub gateways: BTreeSet<u32>,
    /// Listeners: Gateway, position.
    pub listeners: BTreeSet<(u32, u32)>,
    /// Routes, by number.
    pub routes: BTreeSet<u32>,
    /// Backends, by number.
    pub backends: BTreeSet<u32>,
}

/// A path whose result would be another one without the policy.
#[derive(Debug, Clone)]
pub struct Change {
    /// The path.
    pub path: Path,
    /// Today's result; `None`: nothing holds there today.
    pub before: Option<Arc<Effective>>,
    /// The result without the policy; `None`: nothing would hold there.
    pub after: Option<Arc<Effective>>,
}

impl Reach {
    /// The reach of a policy. A policy that its kind refuses reaches nothing.
    #[must_use]
    pub fn of(
        attachments: &Attachments<'_>,
        effective: &EffectivePolicies,
        clusters: &Clusters,
        policy: PolicyId,
    ) -> Self {
        let mut reach = Self::default();
        let Some(kind) = attachments.policy(policy).map(|policy| policy.kind) else {
            return reach;
        };
        for gateway in candidates(attachments, policy) {
            for path in effective.on(kind, gateway) {
                if path.effective.chain.iter().any(|(_, on_it)| *on_it == policy) {
                    reach.add(attachments, &path.path);
                }
            }
        }
        for gateway in &reach.gateways {
            let key = attachments
                .topology
                .gateway(*gateway)
                .map(|gateway| gateway.object.key());
            reach.clusters.extend(
                key.and_then(|key| clusters.get(&key))
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        reach
    }

    fn add(&mut self, attachments: &Attachments<'_>, path: &Path) {
        self.gateways.insert(path.gateway);
        self.listeners
            .extend(path.listener.map(|listener| (path.gateway, listener)));
        self.routes.extend(path.route);
        self.backends.extend(path.backend);
        if path.listener.is_none()
            && let (Some(route), Some(gateway)) = (path.route, attachments.topology.gateway(path.gateway))
        {
            let taken = gateway.attached.iter().filter(|(_, attached)| *attached == route);
            self.listeners
                .extend(taken.map(|(listener, _)| (path.gateway, *listener)));
        }
    }
}

/// The Gateways that a policy can be on a path of.
fn candidates(attachments: &Attachments<'_>, policy: PolicyId) -> BTreeSet<u32> {
    let nodes = attachments
        .policy(policy)
        .map(super::attachment::Policy::nodes)
        .unwrap_or_default();
    nodes
        .into_iter()
        .flat_map(|node| gateways_of(&attachments.topology, node))
        .collect()
}

/// What would change if a policy were deleted. Only the Gateways that it reaches are computed again; policies that it
/// had displaced come back.
#[must_use]
pub fn without(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    policy: PolicyId,
) -> Vec<Change> {
    let Some(known) = attachments.policy(policy) else {
        return Vec::new();
    };
    let exchanged: BTreeMap<Node, Vec<Entry>> = known
        .nodes()
        .into_iter()
        .map(|node| (node, attachments.on_without(known.kind, node, policy).accepted))
        .collect();
    let mut changes = Vec::new();
    for gateway in candidates(attachments, policy) {
        let before = effective.on(known.kind, gateway);
        let after = on_gateway(attachments, known.kind, gateway, Some(&exchanged));
        let mut paths: BTreeMap<Path, [Option<&Arc<Effective>>; 2]> = BTreeMap::new();
        for path in before {
            paths.entry(path.path).or_default()[0] = Some(&path.effective);
        }
        for path in &after {
            paths.entry(path.path).or_default()[1] = Some(&path.effective);
        }
        for (path, [before, after]) in paths {
            let content = |effective: Option<&Arc<Effective>>| {
                effective.map(|effective| Arc::clone(&effective.content))
            };
            if content(before) != content(after) {
                changes.push(Change {
                    path,
                    before: before.cloned(),
                    after: after.cloned(),
                });
            }
        }
    }
    changes
}
