//! Which listeners take a route through one of its parentRefs.
//!
//! Owns: the four conditions of Gateway API together: section and port, kind, namespace, hostname.
//! Flows in: routes as read, Gateways with their listeners. Flows out: listeners.
//! Must not know: policies, and what the routes forward to.

use super::hierarchy::{GatewayNode, Topology};
use super::ids::{GatewayId, ListenerId};
use crate::api::gateway::GROUP;
use crate::api::route::{ParentRef, Route};

impl<'a> Topology<'a> {
    /// The listeners that take a route through one of its parents, and their Gateway.
    pub(super) fn listeners_for(
        &self,
        route: &Route<'a>,
        parent: &ParentRef<'a>,
        assumed: bool,
    ) -> Option<(GatewayId, Vec<ListenerId>)> {
        let own = route.object.namespace_or_empty();
        let namespace = parent.namespace.unwrap_or(own);
        let (gateway, set) = match (parent.group, parent.kind) {
            (GROUP, "Gateway") => (self.find_gateway(namespace, parent.name)?, None),
            (GROUP, "ListenerSet") => {
                let set = self.find_listener_set(namespace, parent.name)?;
                (self.listener_sets.get(set).gateway, Some(set))
            }
            _ => return None,
        };
        let node = self.gateways.get(gateway);
        let home = match set {
            Some(set) => self.listener_sets.get(set).object.namespace_or_empty(),
            None => gateway_home(node, assumed),
        };
        let takes = |listener: &ListenerId| {
            let listener = self.listeners.get(*listener);
            // `Same` is the namespace of whoever declares the listener: of the ListenerSet, not of its Gateway.
            listener.set == set
                && listener.is_meant(parent)
                && listener.admits_kind(route.object)
                && listener
                    .namespaces()
                    .admits(home, own, |key| self.namespace_label(own, key))
                && listener.serves(route)
        };
        Some((gateway, node.listeners.iter().copied().filter(takes).collect()))
    }
}

/// The namespace of a Gateway as a route sees it. Nobody knows how a route reaches the clusters that is not synced: it
/// hangs there on what it hangs on here.
fn gateway_home<'a>(gateway: &GatewayNode<'a>, assumed: bool) -> &'a str {
    let original = gateway.original.filter(|_| assumed);
    original.unwrap_or(gateway.object).namespace_or_empty()
}
