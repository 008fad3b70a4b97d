//! Which ListenerSets go to the spokes, and whether their Gateways accept them there.
//!
//! Owns: the sets of kinds that a class syncs (`resourcesToSync`), each with its Gateway of ours, and the findings
//! about sets that give way to local objects there.
//! Flows in: the topology, our Gateways with their parameters. Flows out: [`SyncedSets`], findings.
//! Must not know: routes, the objects as they are there.
//!
//! A set stays in its own namespace, as a route does: its owner keeps its Secrets and its routes there
//! (docs/systems/why-we-differ.md#listenersets).

use std::collections::{BTreeMap, BTreeSet};

use super::synced_kinds::SyncedKinds;
use crate::diagnostic::{Findings, first_items};
use crate::hub::OurGatewayId;
use crate::object::Object;
use crate::topology::{GatewayId, ListenerSetId, Node, Topology};

/// Most clusters that one finding names.
const MOST_CLUSTERS: usize = 3;

/// The ListenerSets that go to the spokes.
#[derive(Debug, Default)]
pub struct SyncedSets<'a> {
    sets: BTreeMap<ListenerSetId, SyncedSet<'a>>,
}

/// A ListenerSet of a synced kind on a Gateway of ours.
#[derive(Debug, Clone, Copy)]
pub struct SyncedSet<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its Gateway of ours.
    pub gateway: OurGatewayId,
    /// The same in the hierarchy.
    pub node: GatewayId,
}

impl<'a> SyncedSets<'a> {
    pub(super) fn new(topology: &Topology<'a>, kinds: &SyncedKinds) -> Self {
        let sets = topology.listener_sets.iter();
        let sets = sets.filter_map(|(id, set)| {
            let gateway = kinds.gateway(Node::Gateway(set.gateway))?;
            let synced = SyncedSet {
                object: set.object,
                gateway,
                node: set.gateway,
            };
            kinds.syncs_route(gateway, set.object).then_some((id, synced))
        });
        Self { sets: sets.collect() }
    }

    /// The set, if it goes anywhere.
    pub fn get(&self, set: ListenerSetId) -> Option<&SyncedSet<'a>> {
        self.sets.get(&set)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &SyncedSet<'a>> {
        self.sets.values()
    }

    /// The set that a node is, or is a listener of; `None` for one that stays on the hub, and for other nodes.
    pub(crate) fn of_node(&self, topology: &Topology<'_>, node: Node) -> Option<&SyncedSet<'a>> {
        self.get(set_of(topology, node)?)
    }
}

/// Reports the listeners that are shipped to clusters where they give way to local objects, each once.
pub fn report_outdone_listeners<'t, 'a: 't>(
    spokes: impl Iterator<Item = (&'t [String], &'t Topology<'a>)>,
    findings: &mut Findings,
) {
    let mut outdone = BTreeMap::new();
    for (clusters, topology) in spokes {
        for (listener, winner) in topology.outdone_there() {
            let said = |listener| {
                let node = topology.listeners.get(listener);
                let set = node
                    .set
                    .map(|set| topology.listener_sets.get(set).object.identity());
                (set, node.name)
            };
            let (_, _, on) = outdone
                .entry((said(listener), said(winner)))
                .or_insert_with(|| (topology, (listener, winner), BTreeSet::new()));
            on.extend(clusters);
        }
    }
    for (topology, gives_way, clusters) in outdone.into_values() {
        findings.extend(topology.outdone(gives_way, &first_items(clusters, MOST_CLUSTERS)));
    }
}

/// The ListenerSet that a node is, or is a listener of.
pub(super) fn set_of(topology: &Topology<'_>, node: Node) -> Option<ListenerSetId> {
    match node {
        Node::ListenerSet(set) => Some(set),
        Node::Listener(_, listener) => topology.listeners.get(listener).set,
        _ => None,
    }
}
