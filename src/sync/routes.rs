//! Which routes go to the spokes, and with which Gateways of ours.
//!
//! Owns: the routes of kinds that a class syncs (`resourcesToSync`), and for each the parentRefs that go along: those
//! to Gateways of ours, of a class that syncs the kind, where some listener takes the route by section, port and
//! hostname.
//! Flows in: the topology, our Gateways with their parameters. Flows out: [`SyncedRoutes`].
//! Must not know: clusters beyond those of each Gateway as given; whether a listener admits the route (`admission`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::unsynced::Synced;
use crate::api::gateway::GROUP;
use crate::api::route::{ParentRef, Route};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::Ours;
use crate::object::Object;
use crate::policy::attachment::Attachments;
use crate::policy::listener::ListenerNode;
use crate::policy::node::{Node, number};
use crate::policy::reach::Clusters;
use crate::policy::topology::{GatewayNode, Topology};

/// The routes that go to the spokes.
#[derive(Debug, Default)]
pub struct SyncedRoutes<'a> {
    /// By number in the topology.
    routes: BTreeMap<u32, SyncedRoute<'a>>,
    /// ParentRefs to Gateways of ours that no listener takes.
    loose: Vec<Loose<'a>>,
}

/// A route of a synced kind that hangs on a Gateway of ours.
#[derive(Debug)]
pub struct SyncedRoute<'a> {
    /// The object.
    pub object: &'a Object,
    /// The parentRefs that go along, in their order; never none.
    pub parents: Vec<SyncedParent>,
}

/// A parentRef to a Gateway of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncedParent {
    /// Pointer of the reference inside the route: `/spec/parentRefs/0`.
    pub pointer: String,
    /// Position in [`Ours::gateways`].
    pub gateway: usize,
    /// Number of the Gateway in the topology.
    pub number: u32,
    /// Positions of the Gateway's listeners that are meant and have a hostname in common with the route.
    pub listeners: Vec<u32>,
}

/// A parentRef that goes nowhere.
#[derive(Debug)]
struct Loose<'a> {
    object: &'a Object,
    pointer: String,
    gateway: usize,
    why: Why,
}

/// Why no listener takes a route through one of its parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// None has the port (and, where it is given, the name).
    Port,
    /// None has a hostname in common with it.
    Hostname,
    /// The parent is a ListenerSet, which stays on the hub.
    ListenerSet,
}

impl SyncedRoute<'_> {
    /// The Gateways that bring it, as positions in [`Ours::gateways`], each once.
    #[must_use]
    pub fn gateways(&self) -> BTreeSet<usize> {
        self.parents.iter().map(|parent| parent.gateway).collect()
    }
}

impl<'a> SyncedRoutes<'a> {
    /// Matches the routes of the topology with our Gateways. Linear in parents and the listeners behind them.
    #[must_use]
    pub fn new(attachments: &Attachments<'a>, synced: &Synced, ours: &Ours<'_>) -> Self {
        let mut found = Self::default();
        let kinds: BTreeSet<(&str, &str)> = ours
            .gateways
            .iter()
            .flat_map(|gateway| &gateway.params.resources_to_sync)
            .map(|resource| (resource.group.as_str(), resource.kind.as_str()))
            .collect();
        let topology = &attachments.topology;
        for (position, node) in topology.routes.iter().enumerate() {
            let object = node.object;
            let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
            if node.local || !kinds.contains(&(group, kind)) {
                continue;
            }
            // What is wrong with it was said when the topology read it.
            let Some(route) = Route::read(object, &mut Findings::new()) else {
                continue;
            };
            let mut parents = Vec::new();
            for parent in &route.parents {
                match found.parent(topology, (synced, ours), &route, parent) {
                    Parent::Goes(parent) => parents.push(parent),
                    Parent::Loose(loose) => found.loose.push(loose),
                    Parent::NotOurs => {}
                }
            }
            if !parents.is_empty() {
                found
                    .routes
                    .insert(number(position), SyncedRoute { object, parents });
            }
        }
        found
    }

    fn parent(
        &self,
        topology: &Topology<'a>,
        (synced, ours): (&Synced, &Ours<'_>),
        route: &Route<'a>,
        parent: &ParentRef<'_>,
    ) -> Parent<'a> {
        let object = route.object;
        let own = object.namespace_or_empty();
        let namespace = parent.namespace.unwrap_or(own);
        let (gateway, is_set) = match (parent.group, parent.kind) {
            (GROUP, "Gateway") => (ours.gateway(namespace, parent.name), false),
            (GROUP, "ListenerSet") => {
                let set = topology.find_listener_set(namespace, parent.name, false);
                (
                    set.and_then(|(gateway, _)| synced.ours(Node::Gateway(gateway))),
                    true,
                )
            }
            _ => (None, false),
        };
        let syncs = |gateway: &usize| {
            ours.gateways.get(*gateway).is_some_and(|known| {
                let (group, kind) = (&object.api_version.group, &object.kind);
                known.params.synced_route(group, kind).is_some()
            })
        };
        let Some(gateway) = gateway.filter(syncs) else {
            return Parent::NotOurs;
        };
        let number = synced.gateways.get(gateway).map(|(number, _)| *number);
        let Some((number, known)) = number.and_then(|number| Some((number, topology.gateway(number)?)))
        else {
            return Parent::NotOurs;
        };
        let loose = |why| {
            Parent::Loose(Loose {
                object,
                pointer: parent.pointer.clone(),
                gateway,
                why,
            })
        };
        if is_set {
            return loose(Why::ListenerSet);
        }
        let meant: Vec<(u32, bool)> = meant(known, parent)
            .map(|(position, listener)| (position, listener.serves(route)))
            .collect();
        let listeners: Vec<u32> = meant
            .iter()
            .filter(|(_, serves)| *serves)
            .map(|(position, _)| *position)
            .collect();
        if !listeners.is_empty() {
            return Parent::Goes(SyncedParent {
                pointer: parent.pointer.clone(),
                gateway,
                number,
                listeners,
            });
        }
        let has_section = parent
            .section_name
            .is_none_or(|section| own_listeners(known).any(|(_, listener)| listener.name == section));
        match (meant.is_empty(), has_section) {
            (false, _) => loose(Why::Hostname),
            // That the section does not exist is said of every route.
            (true, false) => Parent::NotOurs,
            (true, true) => loose(Why::Port),
        }
    }

    /// The route with this number in the topology, if it goes anywhere.
    #[must_use]
    pub fn get(&self, route: u32) -> Option<&SyncedRoute<'a>> {
        self.routes.get(&route)
    }

    /// All of them, by number in the topology.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &SyncedRoute<'a>)> {
        self.routes.iter().map(|(number, route)| (*number, route))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// The clusters that a route goes to, sorted; `clusters` are those of each Gateway. None for a route that stays.
    #[must_use]
    pub fn clusters<'c>(
        &self,
        attachments: &Attachments<'_>,
        clusters: &'c Clusters,
        route: u32,
    ) -> BTreeSet<&'c str> {
        let parents = self.get(route).into_iter().flat_map(|route| &route.parents);
        parents
            .filter_map(|parent| attachments.topology.gateway(parent.number))
            .filter_map(|gateway| clusters.get(&gateway.object.key()))
            .flatten()
            .map(String::as_str)
            .collect()
    }

    /// The nodes of every route that goes anywhere, with the policy kinds that go along: those of the classes of its
    /// Gateways.
    #[must_use]
    pub fn nodes<'s>(
        &'s self,
        attachments: &'s Attachments<'_>,
        synced: &'s Synced,
    ) -> Vec<(Node, Cow<'s, BTreeSet<usize>>)> {
        let mut nodes = Vec::new();
        for (number, route) in self.iter() {
            let gateways = route.gateways();
            let mut kinds = gateways
                .iter()
                .filter_map(|gateway| synced.gateways.get(*gateway))
                .map(|(_, kinds)| kinds);
            let Some(first) = kinds.next() else { continue };
            let mut all = Cow::Borrowed(first);
            for kinds in kinds {
                if !kinds.is_subset(&all) {
                    all.to_mut().extend(kinds);
                }
            }
            let of_route = attachments.topology.nodes_of_route(number);
            nodes.extend(of_route.into_iter().map(|node| (node, all.clone())));
        }
        nodes
    }

    /// Reports parentRefs that no listener takes, where the Gateway goes anywhere.
    pub fn report_loose(&self, ours: &Ours<'_>, clusters: &[Vec<String>], findings: &mut Findings) {
        for loose in &self.loose {
            let goes = clusters
                .get(loose.gateway)
                .is_some_and(|clusters| !clusters.is_empty());
            if let (Some(gateway), true) = (ours.gateways.get(loose.gateway), goes) {
                findings.push(loose.finding(gateway.gateway.object));
            }
        }
    }
}

/// What becomes of one parentRef.
enum Parent<'a> {
    /// It goes along.
    Goes(SyncedParent),
    /// It is a Gateway of ours, and no listener takes the route.
    Loose(Loose<'a>),
    /// It is nothing that is synced, or something that was said elsewhere.
    NotOurs,
}

impl Loose<'_> {
    fn finding(&self, gateway: &Object) -> Finding {
        let route = self.object.identity();
        let gateway_name = gateway.identity();
        let (field, message, label, help) = match self.why {
            Why::Port => (
                "/port",
                format!("{route} is not shipped with {gateway_name}: no listener has this port"),
                "no such port",
                "correct `port`, or leave it out".to_owned(),
            ),
            Why::Hostname => (
                "",
                format!("{route} is not shipped with {gateway_name}: they have no hostname in common"),
                "no listener serves its hostnames",
                "correct `hostnames` of the route, or `hostname` of a listener".to_owned(),
            ),
            Why::ListenerSet => (
                "",
                format!("{route} is not shipped through a ListenerSet: those stay on the hub"),
                "a ListenerSet",
                format!("name the Gateway as the parent, and give {gateway_name} the listener"),
            ),
        };
        let place = self.object.place(&format!("{}{field}", self.pointer));
        Finding::new(Code::ROUTE_NOT_ATTACHED, place, message)
            .label(label)
            .related(gateway.place("/spec/listeners"), "the listeners")
            .help(help)
    }
}

/// The Gateway's own listeners, with their positions.
pub(super) fn own_listeners<'g, 'a>(
    gateway: &'g GatewayNode<'a>,
) -> impl Iterator<Item = (u32, &'g ListenerNode<'a>)> {
    (0_u32..)
        .zip(&gateway.listeners)
        .filter(|(_, listener)| listener.set.is_none())
}

/// The listeners that a parentRef to the Gateway means.
fn meant<'g, 'a>(
    gateway: &'g GatewayNode<'a>,
    parent: &'g ParentRef<'_>,
) -> impl Iterator<Item = (u32, &'g ListenerNode<'a>)> {
    own_listeners(gateway).filter(|(_, listener)| listener.is_meant(parent))
}
