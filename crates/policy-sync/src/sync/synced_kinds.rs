//! Which kinds go with each of our Gateways: policies (`policiesToSync` of its class), routes, and ListenerSets
//! (`resourcesToSync`).
//!
//! Owns: [`SyncedKinds`], and the mapping from Gateways of the hierarchy to ours.
//! Flows in: attachments, our Gateways with their parameters. Flows out: kinds, Gateways.
//! Must not know: clusters, single policies.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::params::{Params, SyncedResource};
use crate::diagnostic::broken;
use crate::hub::{OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::policy::{Attachments, KindId};
use crate::topology::{GatewayId, Node};
use apimachinery::GroupKind;

/// The policy kinds that the classes of our Gateways sync.
#[derive(Debug, Default)]
pub struct SyncedKinds {
    gateways: Table<OurGatewayId, SyncedWith>,
    ours: BTreeMap<GatewayId, OurGatewayId>,
}

/// The kinds that go with one Gateway.
#[derive(Debug)]
pub(super) struct SyncedWith {
    /// The Gateway in the hierarchy.
    pub(super) gateway: GatewayId,
    /// The policy kinds.
    pub(super) kinds: BTreeSet<KindId>,
    /// The kinds of routes and ListenerSets.
    routes: Vec<GroupKind>,
}

impl SyncedKinds {
    /// Finds our Gateways in the hierarchy, and the kinds of their classes among those of the input.
    pub fn new(attachments: &Attachments<'_>, ours: &Ours<'_>) -> Self {
        let gateways = ours.gateways.map(|(_, known)| {
            let object = known.gateway.object;
            let gateway = attachments
                .topology
                .find_gateway(object.namespace_or_empty(), &object.name)
                .unwrap_or_else(|| broken(format_args!("{} is not in the hierarchy", object.identity())));
            SyncedWith {
                gateway,
                kinds: kinds_of(attachments, &known.params),
                routes: known
                    .params
                    .resources_to_sync
                    .iter()
                    .map(SyncedResource::group_kind)
                    .collect(),
            }
        });
        let ours = gateways.iter().map(|(id, with)| (with.gateway, id)).collect();
        Self { gateways, ours }
    }

    /// The kinds that go with a Gateway.
    pub(super) fn of(&self, gateway: OurGatewayId) -> &SyncedWith {
        self.gateways.get(gateway)
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
        self.of(gateway).kinds.contains(&kind)
    }

    /// Whether a route or a ListenerSet goes with a Gateway that it is attached to.
    pub(super) fn syncs_route(&self, gateway: OurGatewayId, route: &Object) -> bool {
        let mut kinds = self.of(gateway).routes.iter();
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

/// The kinds that a class syncs.
fn kinds_of(attachments: &Attachments<'_>, params: &Params) -> BTreeSet<KindId> {
    let kinds = attachments.kinds.iter();
    kinds
        .filter(|(_, kind)| {
            params
                .synced_policy(&kind.profile.group, &kind.profile.kind)
                .is_some()
        })
        .map(|(id, _)| id)
        .collect()
}
