//! The reach of a policy: how many things it affects.
//!
//! Owns: the counts of Gateways, listeners, routes, and backends. Flows in: attachments, effective policies. Flows out:
//! [`Reach`].
//! Must not know: clusters, how it is printed.

use std::collections::BTreeSet;

use super::attachment::Attachments;
use super::effective_policies::EffectivePolicies;
use super::ids::PolicyId;
use crate::topology::{Node, Path, Start};

/// The reach of a policy: the locators of every node of every path that it is on, at its own level or below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Gateways.
    pub gateways: BTreeSet<String>,
    /// Listeners.
    pub listeners: BTreeSet<String>,
    /// Routes.
    pub routes: BTreeSet<String>,
    /// Backends.
    pub backends: BTreeSet<String>,
}

impl Reach {
    /// Adds the reach of a policy on one cluster, or on the hub as one.
    pub fn add(&mut self, attachments: &Attachments<'_>, effective: &EffectivePolicies, policy: PolicyId) {
        let kind = attachments.policy(policy).kind;
        let paths = effective.iter().filter(|(of_kind, _)| *of_kind == kind);
        for (_, path) in paths {
            let mut chain = path.effective.chain.iter();
            if chain.any(|(_, on_it)| *on_it == policy) && !path.effective.refused.contains(&policy) {
                self.add_path(attachments, &path.path);
            }
        }
    }

    fn add_path(&mut self, attachments: &Attachments<'_>, path: &Path) {
        let topology = &attachments.topology;
        let locator = |node| topology.locator(node);
        if let Start::Service(service) = path.start {
            self.backends.insert(locator(Node::Backend(service)));
        }
        let nodes = topology.nodes(path).into_iter();
        let routes = nodes.filter(|node| matches!(node, Node::Route(_)));
        self.routes.extend(routes.map(locator));
        self.backends
            .extend(path.backend.map(|backend| locator(Node::Backend(backend))));
        let Start::Gateway(gateway) = path.start else {
            return;
        };
        self.gateways.insert(locator(Node::Gateway(gateway)));
        let attached = topology.gateways.get(gateway).attached.iter();
        let hanging = topology.hanging(path);
        let taken = attached.filter(|(_, attached)| path.listener.is_none() && hanging == Some(*attached));
        let listeners = taken.map(|(listener, _)| *listener).chain(path.listener);
        self.listeners
            .extend(listeners.map(|listener| locator(Node::Listener(gateway, listener))));
    }
}
