//! How many things a policy affects, and what would change without it.
//!
//! Owns: reach (Gateways, listeners, routes, backends) and the recomputation of only those Gateways that a policy
//! reaches.
//! Flows in: attachments, effective policies. Flows out: [`Reach`], [`Change`]s.
//! Must not know: clusters, how it is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attachment::Attachments;
use super::effective::Effective;
use super::effective_policies::EffectivePolicies;
use super::ids::PolicyId;
use super::layer::Entry;
use super::paths::on_gateway;
use crate::topology::{BackendId, GatewayId, ListenerId, Node, Path, RouteId};

/// What a policy reaches: every node of every path that it is on, at its own level or below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Gateways.
    pub gateways: BTreeSet<GatewayId>,
    /// Listeners, each with its Gateway.
    pub listeners: BTreeSet<(GatewayId, ListenerId)>,
    /// Routes.
    pub routes: BTreeSet<RouteId>,
    /// Backends.
    pub backends: BTreeSet<BackendId>,
}

/// A path whose result would be another one without the policy.
#[derive(Debug, Clone)]
pub(crate) struct Change {
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
    pub(crate) fn of(attachments: &Attachments<'_>, effective: &EffectivePolicies, policy: PolicyId) -> Self {
        let mut reach = Self::default();
        let kind = attachments.policy(policy).kind;
        for gateway in candidates(attachments, policy) {
            for path in effective.on(kind, gateway) {
                if path.effective.chain.iter().any(|(_, on_it)| *on_it == policy) {
                    reach.add(attachments, &path.path);
                }
            }
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
            && let Some(route) = path.route
        {
            let attached = &attachments.topology.gateways.get(path.gateway).attached;
            let taken = attached.iter().filter(|(_, attached)| *attached == route);
            self.listeners
                .extend(taken.map(|(listener, _)| (path.gateway, *listener)));
        }
    }
}

/// The Gateways that a policy can be on a path of.
fn candidates(attachments: &Attachments<'_>, policy: PolicyId) -> BTreeSet<GatewayId> {
    let nodes = attachments.policy(policy).nodes().into_iter();
    nodes
        .flat_map(|node| attachments.topology.gateways_of(node))
        .collect()
}

/// What would change if a policy were deleted. Only the Gateways that it reaches are computed again; policies that it
/// had displaced come back.
#[must_use]
pub(crate) fn without(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    policy: PolicyId,
) -> Vec<Change> {
    let known = attachments.policy(policy);
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
