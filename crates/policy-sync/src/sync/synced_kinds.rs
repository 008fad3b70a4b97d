//! Which policy kinds go with each of our Gateways: `policiesToSync` of its class.
//!
//! Owns: [`SyncedKinds`], and the mapping from Gateways of the hierarchy to ours.
//! Flows in: attachments, our Gateways with their parameters. Flows out: kinds, Gateways.
//! Must not know: clusters, single policies.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::params::Params;
use crate::diagnostic::broken;
use crate::hub::{OurGatewayId, Ours, Table};
use crate::policy::{Attachments, KindId};
use crate::topology::{GatewayId, Node};

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
}

impl SyncedKinds {
    /// Finds our Gateways in the hierarchy, and the kinds of their classes among those of the input.
    #[must_use]
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
            }
        });
        let ours = gateways.iter().map(|(id, with)| (with.gateway, id)).collect();
        Self { gateways, ours }
    }

    /// Our Gateways, each with what goes with it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (OurGatewayId, &SyncedWith)> {
        self.gateways.iter()
    }

    /// The kinds that go with a Gateway.
    pub(super) fn of(&self, gateway: OurGatewayId) -> &SyncedWith {
        self.gateways.get(gateway)
    }

    /// The Gateway of ours that a node is or is a listener of; `None` for other nodes and Gateways.
    #[must_use]
    pub fn gateway(&self, node: Node) -> Option<OurGatewayId> {
        match node {
            Node::Gateway(gateway) | Node::Listener(gateway, _) => self.ours.get(&gateway).copied(),
            _ => None,
        }
    }

    /// Whether policies of a kind go with a Gateway.
    #[must_use]
    pub(crate) fn syncs(&self, gateway: OurGatewayId, kind: KindId) -> bool {
        self.of(gateway).kinds.contains(&kind)
    }

    /// Whether policies of a kind go with any.
    pub(super) fn any(&self, kind: KindId) -> bool {
        self.gateways.rows().iter().any(|with| with.kinds.contains(&kind))
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
