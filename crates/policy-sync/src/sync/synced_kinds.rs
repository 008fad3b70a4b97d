//! What goes with each of our Gateways: the kinds of policies (`policiesToSync` of its class), routes, and ListenerSets, and
//! the objects that `resources_to_sync` chooses.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::{GroupKind, Identity};

use crate::api::params::SyncedResource;
use crate::diagnostic::broken;
use crate::hub::{OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::policy::{Attachments, KindId, Profile};
use crate::topology::{GatewayId, Node, ObjectKey, object_key};

/// The policy kinds that the classes of our Gateways sync.
#[derive(Debug, Default)]
pub struct SyncedKinds {
    gateways: Table<OurGatewayId, SyncedWith>,
    ours: BTreeMap<GatewayId, OurGatewayId>,
}

/// The kinds that go with one Gateway.
#[derive(Debug)]
struct SyncedWith {
    /// The policy kinds.
    kinds: BTreeSet<KindId>,
    /// The kinds of routes and ListenerSets.
    routes: Vec<GroupKind>,
}

impl SyncedKinds {
    /// Finds our Gateways in the hierarchy, and the kinds of their classes among those of the input.
    pub fn new(attachments: &Attachments<'_>, ours: &Ours<'_>) -> Self {
        let mut in_hierarchy = BTreeMap::new();
        let gateways = ours.gateways.map(|(id, known)| {
            let object = known.gateway.object;
            let gateway = attachments
                .topology
                .find_gateway(object.namespace_or_empty(), &object.name)
                .unwrap_or_else(|| broken(format_args!("{} is not in the hierarchy", object.identity())));
            in_hierarchy.insert(gateway, id);
            let params = &known.params;
            let kinds = attachments.kinds.iter();
            let synced = kinds.filter(|(_, kind)| {
                let Profile { group, kind, .. } = kind.profile.as_ref();
                params.synced_policy(group, kind).is_some()
            });
            SyncedWith {
                kinds: synced.map(|(id, _)| id).collect(),
                routes: params
                    .resources_to_sync
                    .iter()
                    .map(SyncedResource::group_kind)
                    .collect(),
            }
        });
        Self {
            gateways,
            ours: in_hierarchy,
        }
    }

    /// The Gateway of ours that a node is or is a listener of; `None` for other nodes and Gateways.
    pub fn gateway(&self, node: Node) -> Option<OurGatewayId> {
        match node {
            Node::Gateway(gateway) | Node::Listener(gateway, _) => self.ours.get(&gateway).copied(),
            _ => None,
        }
    }

    /// Whether policies of a kind go with a Gateway.
    pub(crate) fn syncs(&self, gateway: OurGatewayId, kind: KindId) -> bool {
        self.gateways.get(gateway).kinds.contains(&kind)
    }

    /// Whether a route or a ListenerSet goes with a Gateway that it is attached to.
    pub(crate) fn syncs_route(&self, gateway: OurGatewayId, route: &Object) -> bool {
        let mut kinds = self.gateways.get(gateway).routes.iter();
        kinds.any(|kind| kind.group == route.api_version.group && kind.kind == route.kind)
    }

    /// Whether routes of the kind of this one go with any.
    pub(super) fn syncs_kind_of(&self, route: &Object) -> bool {
        let mut gateways = self.gateways.iter();
        gateways.any(|(gateway, _)| self.syncs_route(gateway, route))
    }

    /// The Gateways that policies of a kind go with.
    pub(super) fn gateways_with(&self, kind: KindId) -> impl Iterator<Item = OurGatewayId> + '_ {
        let gateways = self.gateways.iter();
        gateways
            .filter(move |(_, with)| with.kinds.contains(&kind))
            .map(|(id, _)| id)
    }

    /// Whether policies of a kind go with any.
    pub(super) fn any(&self, kind: KindId) -> bool {
        self.gateways_with(kind).next().is_some()
    }
}

/// The chosen objects.
#[derive(Debug, Default)]
pub struct ChosenObjects<'a> {
    /// Those that go anywhere, by kind, namespace, and name.
    pub(super) objects: BTreeMap<ObjectKey<'a>, ChosenObject<'a>>,
    /// By namespace of the hub: the Gateways that bring anything that keeps this namespace.
    pub(super) shipped_in: BTreeMap<&'a str, BTreeSet<OurGatewayId>>,
}

/// A chosen object, and the Gateways that it goes with.
#[derive(Debug)]
pub(super) struct ChosenObject<'a> {
    pub(super) object: &'a Object,
    /// In the downstream namespace of each.
    pub(super) with_gateways: Vec<OurGatewayId>,
    /// In its own namespace.
    pub(super) in_place: Vec<OurGatewayId>,
}

impl<'a> ChosenObjects<'a> {
    /// The chosen object that an object of the hub is, if it goes anywhere.
    pub(super) fn get<'s>(&'s self, object: &'s Object) -> Option<&'s ChosenObject<'a>> {
        self.objects.get(&object_key(object))
    }

    /// Whether an object is chosen to be in the namespace of a Gateway's copy.
    pub(super) fn goes_beside(&self, object: &Identity, gateway: OurGatewayId) -> bool {
        let kind = &object.group_kind;
        let namespace = object.namespace.as_deref().unwrap_or_default();
        let chosen = self
            .objects
            .get(&(&*kind.group, &*kind.kind, namespace, &*object.name));
        chosen.is_some_and(|chosen| chosen.with_gateways.contains(&gateway))
    }
}
