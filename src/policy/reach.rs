//! How many things a policy affects.
//!
//! Owns: reach: Gateways, listeners, routes, backends. Flows in: attachments, effective policies. Flows out: [`Reach`].
//! Must not know: clusters, how it is printed.

use std::collections::BTreeSet;

use super::attachment::Attachments;
use super::effective_policies::EffectivePolicies;
use super::ids::PolicyId;
use crate::topology::{Node, Path};

/// What a policy reaches: the locators of every node of every path that it is on, at its own level or below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
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
    pub(crate) fn add(
        &mut self,
        attachments: &Attachments<'_>,
        effective: &EffectivePolicies,
        policy: PolicyId,
    ) {
        let kind = attachments.policy(policy).kind;
        for gateway in attachments.topology.gateways.ids() {
            for path in effective.on(kind, gateway) {
                if path.effective.chain.iter().any(|(_, on_it)| *on_it == policy) {
                    self.add_path(attachments, &path.path);
                }
            }
        }
    }

    fn add_path(&mut self, attachments: &Attachments<'_>, path: &Path) {
        let topology = &attachments.topology;
        let locator = |node| topology.locator(node);
        self.gateways.insert(locator(Node::Gateway(path.gateway)));
        self.listeners.extend(
            path.listener
                .map(|listener| locator(Node::Listener(path.gateway, listener))),
        );
        self.routes
            .extend(path.route.map(|route| locator(Node::Route(route))));
        self.backends
            .extend(path.backend.map(|backend| locator(Node::Backend(backend))));
        if path.listener.is_none()
            && let Some(route) = path.route
        {
            let attached = &topology.gateways.get(path.gateway).attached;
            let taken = attached.iter().filter(|(_, attached)| *attached == route);
            self.listeners
                .extend(taken.map(|(listener, _)| locator(Node::Listener(path.gateway, *listener))));
        }
    }
}
