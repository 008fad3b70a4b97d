//! Where the copies of a policy go: beside its target, with the Gateways that bring the target to a cluster.
//!
//! This is the only answer to whether and where a policy on a node ships. A Gateway moves to its downstream namespace, and
//! so does what is about its Namespace; routes, ListenerSets, Services, and their Namespaces keep their names, since the
//! references between them are shipped as they are.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::listener_sets::set_of;
use super::routes::SyncedRoutes;
use super::synced_kinds::SyncedKinds;
use crate::hub::{OurGatewayId, Table};
use crate::topology::{BackendId, NamespaceId, Node, Topology};

/// One namespace on the clusters that copies go to.
#[derive(Debug)]
pub(super) struct Destination<'t> {
    /// The Gateways of ours that they go with; never none.
    pub(super) gateways: BTreeSet<OurGatewayId>,
    /// The namespace, the same on the hub; `None`: the downstream namespace of the Gateways.
    pub(super) namespace: Option<&'t str>,
}

impl<'a> SyncedRoutes<'a> {
    /// Where what targets a node goes; nowhere if the node is on no cluster, or on all of them by itself.
    pub(super) fn destinations<'t>(
        &'t self,
        topology: &'t Topology<'a>,
        kinds: &SyncedKinds,
        node: Node,
    ) -> Vec<Destination<'t>> {
        let (with_gateways, in_place) = match node {
            Node::Route(route) | Node::Rule(route, _) => {
                let route = self.get(route);
                let in_place = route.map(|route| (route.gateways(), route.object.namespace_or_empty()));
                (BTreeSet::new(), in_place)
            }
            Node::Gateway(_) | Node::ListenerSet(_) | Node::Listener(..)
                if set_of(topology, node).is_some() =>
            {
                let set = self.sets().of_node(topology, node);
                let in_place =
                    set.map(|set| (BTreeSet::from([set.gateway]), set.object.namespace_or_empty()));
                (BTreeSet::new(), in_place)
            }
            Node::Gateway(_) | Node::ListenerSet(_) | Node::Listener(..) => {
                (kinds.gateway(node).into_iter().collect(), None)
            }
            Node::Backend(backend) | Node::Port(backend, _) => self.of_backend(topology, kinds, backend),
            Node::Namespace(namespace) => self.of_namespace(topology, kinds, namespace),
            // No work has a GatewayClass, and a mesh is not a Gateway's.
            Node::Class(_) | Node::Mesh(_) => (BTreeSet::new(), None),
        };
        let with_gateways = Destination {
            gateways: with_gateways,
            namespace: None,
        };
        let in_place = in_place.map(|(gateways, namespace)| Destination {
            gateways,
            namespace: Some(namespace),
        });
        let mut all: Vec<Destination<'t>> = std::iter::once(with_gateways).chain(in_place).collect();
        all.retain(|destination| !destination.gateways.is_empty());
        all
    }

    /// A Service or another backend is where the routes are that send requests to it, shipped or brought by another tool;
    /// and where it is shipped itself.
    fn of_backend<'t>(
        &'t self,
        topology: &'t Topology<'a>,
        kinds: &SyncedKinds,
        backend: BackendId,
    ) -> Places<'t> {
        let backend = topology.backends.get(backend);
        let mut in_place: BTreeSet<OurGatewayId> = BTreeSet::new();
        for id in &backend.routes {
            match self.get(*id) {
                Some(route) => in_place.extend(route.gateways()),
                None => {
                    let route = topology.routes.get(*id);
                    let gateways = route.gateways.iter();
                    let ours = gateways.filter_map(|gateway| kinds.gateway(Node::Gateway(*gateway)));
                    in_place.extend(ours.filter(|gateway| !kinds.syncs_route(*gateway, route.object)));
                }
            }
        }
        let mut with_gateways = BTreeSet::new();
        if let Some(chosen) = backend.object.and_then(|object| self.chosen().get(object)) {
            in_place.extend(&chosen.in_place);
            with_gateways.extend(&chosen.with_gateways);
        }
        let namespace = backend.name.namespace.as_deref();
        (with_gateways, namespace.map(|namespace| (in_place, namespace)))
    }

    /// A Namespace is wherever a Gateway, a ListenerSet, a route, or a chosen object of it is shipped.
    fn of_namespace<'t>(
        &'t self,
        topology: &'t Topology<'a>,
        kinds: &SyncedKinds,
        id: NamespaceId,
    ) -> Places<'t> {
        let namespace = topology.namespaces.get(id);
        let own = namespace.gateways.iter();
        let own = own.filter(|gateway| topology.gateways.get(**gateway).namespace == id);
        let with_gateways = own.filter_map(|gateway| kinds.gateway(Node::Gateway(*gateway)));
        let in_place = self.chosen().shipped_in(namespace.name).clone();
        (with_gateways.collect(), Some((in_place, namespace.name)))
    }

    /// The Gateways of ours with which something that targets a node goes.
    pub fn gateways_of(
        &self,
        topology: &Topology<'a>,
        kinds: &SyncedKinds,
        node: Node,
    ) -> BTreeSet<OurGatewayId> {
        let destinations = self.destinations(topology, kinds, node).into_iter();
        destinations
            .flat_map(|destination| destination.gateways)
            .collect()
    }

    /// The clusters where something that targets a node would be.
    pub fn clusters_of<'c>(
        &self,
        topology: &Topology<'a>,
        kinds: &SyncedKinds,
        clusters: &'c Table<OurGatewayId, Arc<[String]>>,
        node: Node,
    ) -> BTreeSet<&'c str> {
        let gateways = self.gateways_of(topology, kinds, node).into_iter();
        let clusters = gateways.flat_map(|gateway| clusters.get(gateway).iter());
        clusters.map(String::as_str).collect()
    }
}

/// The Gateways in whose downstream namespaces something is; and those with which it keeps its namespace.
type Places<'t> = (BTreeSet<OurGatewayId>, Option<(BTreeSet<OurGatewayId>, &'t str)>);
