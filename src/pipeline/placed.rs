//! Which objects of an input are ours, and which clusters they go to.
//!
//! Owns: [`Placed`], computed once, and the same for a part of the hub. Flows in: [`Loaded`] input. Flows out: our
//! Gateways with their clusters. Must not know: policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::loaded::Loaded;
use crate::diagnostic::Findings;
use crate::hub::{Grants, Hub, OurGatewayId, Ours, Table};
use crate::outcome::placements_not_found;
use crate::placing::{self, Clusters};
use crate::progress::Stage;
use crate::sync::PlacedGateway;

/// Which objects of an input are ours, and where they go: the same for every view of its policies.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) loaded: &'a Loaded,
    /// The hub of that input, or what of it is looked at.
    pub(super) hub: &'a Hub,
    pub(super) ours: Ours<'a>,
    pub(super) grants: Grants<'a>,
    /// The clusters of each Gateway.
    pub(super) clusters: Table<OurGatewayId, Arc<[String]>>,
    /// The same by the name of the Gateway.
    pub(super) by_key: Clusters,
    /// Gateways whose placement is not in the input.
    pub(super) not_found: BTreeSet<OurGatewayId>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(loaded: &'a Loaded, findings: &mut Findings) -> Self {
        let ours = Ours::new(&loaded.hub, &loaded.config.controller_name, findings);
        let grants = Grants::new(&loaded.hub, findings);
        let clusters = place(loaded, &ours, findings);
        let not_found = placements_not_found(&ours, findings);
        let gateways = ours.gateways.iter();
        let by_key = gateways
            .map(|(id, ours)| (ours.gateway.object.key(), clusters.get(id).clone()))
            .collect();
        Self {
            loaded,
            hub: &loaded.hub,
            ours,
            grants,
            clusters,
            by_key,
            not_found,
        }
    }

    /// Our Gateways with their clusters.
    pub(super) fn gateways(&self) -> Table<OurGatewayId, PlacedGateway<'_>> {
        self.ours.gateways.map(|(id, gateway)| PlacedGateway {
            gateway: &gateway.gateway,
            params: &gateway.params,
            clusters: Arc::clone(self.clusters.get(id)),
        })
    }

    /// The same of a part of the hub, whose Gateways go where they go with the rest, as far as requested.
    pub(super) fn part(&self, hub: &'a Hub, is_asked: impl Fn(&str) -> bool) -> Self {
        let found = &mut Findings::new();
        let ours = Ours::new(hub, &self.loaded.config.controller_name, found);
        let nowhere = || Arc::from(Vec::new());
        let clusters = ours.gateways.map(|(_, ours)| {
            let known = self.by_key.get(&ours.gateway.object.key());
            known.map_or_else(nowhere, |clusters| {
                let asked = clusters.iter().filter(|cluster| is_asked(cluster));
                asked.cloned().collect()
            })
        });
        let gateways = ours.gateways.iter();
        let by_key = gateways
            .map(|(id, ours)| (ours.gateway.object.key(), clusters.get(id).clone()))
            .collect();
        Self {
            loaded: self.loaded,
            hub,
            grants: Grants::new(hub, found),
            clusters,
            by_key,
            not_found: BTreeSet::new(),
            ours,
        }
    }
}

fn place(loaded: &Loaded, ours: &Ours<'_>, findings: &mut Findings) -> Table<OurGatewayId, Arc<[String]>> {
    let _placing = loaded.progress.begin(Stage::Placing);
    let inventory = placing::inventory(&loaded.hub, findings);
    let input = loaded.evaluation_input(&inventory);
    placing::place(
        &loaded.hub,
        ours,
        loaded.config.placement.unwrap_or_default().source,
        &input,
        findings,
    )
}
