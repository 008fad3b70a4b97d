//! Which listeners take a route through one of its parentRefs.
//!
//! Owns: the four conditions of Gateway API together: section and port, kind, namespace, hostname.
//! Flows in: routes as read, Gateways with their listeners. Flows out: listeners.
//! Must not know: policies, and what the routes forward to.

use std::borrow::Cow;

use super::hierarchy::{GatewayNode, SPOKE_PREFIX, Topology};
use super::ids::{GatewayId, ListenerId};
use crate::api::gateway::GROUP;
use crate::api::route::{ParentRef, Route};

impl<'a> Topology<'a> {
    /// The listeners that take a route through one of its parents, and their Gateway.
    pub(super) fn listeners_for(
        &self,
        route: &Route<'a>,
        parent: &ParentRef<'a>,
        local: bool,
    ) -> Option<(GatewayId, Vec<ListenerId>)> {
        let own = route.object.namespace_or_empty();
        let namespace = parent.namespace.unwrap_or(own);
        let (gateway, set) = match (parent.group, parent.kind) {
            (GROUP, "Gateway") => (self.find_gateway(namespace, parent.name, local)?, None),
            (GROUP, "ListenerSet") => {
                let set = self.find_listener_set(namespace, parent.name, local)?;
                (self.listener_sets.get(set).gateway, Some(set))
            }
            _ => return None,
        };
        let node = self.gateways.get(gateway);
        let home = match set {
            Some(set) => Cow::Borrowed(self.listener_sets.get(set).object.namespace_or_empty()),
            None => gateway_home(node, local),
        };
        let takes = |listener: &ListenerId| {
            let listener = self.listeners.get(*listener);
            // `Same` is the namespace of whoever declares the listener: of the ListenerSet, not of its Gateway.
            listener.set == set
                && listener.is_meant(parent)
                && listener.admits_kind(route.object)
                && listener
                    .namespaces()
                    .admits(&home, own, |key| self.namespace_label(own, key))
                && listener.serves(route)
        };
        Some((gateway, node.listeners.iter().copied().filter(takes).collect()))
    }
}

/// The namespace of a Gateway as an object sees it: on a spoke, a hub Gateway carries its spoke name.
pub(super) fn gateway_home<'a>(gateway: &GatewayNode<'a>, seen_on_spoke: bool) -> Cow<'a, str> {
    let namespace = gateway.object.namespace_or_empty();
    if seen_on_spoke && !gateway.local {
        format!("{SPOKE_PREFIX}{namespace}").into()
    } else {
        namespace.into()
    }
}
