//! Which objects of an input are ours, and which clusters they go to: [`Placed`], computed once, and the same for a part of
//! the hub.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ocm_placement::{Detail, evaluate};

use super::loaded::Loaded;
use super::projections::Projection;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Grants, Hub, OurGatewayId, Ours, Table};
use crate::outcome::placements_not_found;
use crate::placing::{self, Clusters, Wave};
use crate::progress::Stage;
use crate::render::WorkKind;
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
    /// Those of them that this hub is for: ClusterOverlays change it for others.
    receiving: Table<OurGatewayId, Arc<[String]>>,
    /// The position of this hub among those that ClusterOverlays make of one, after the hub as it is written.
    projection: usize,
    /// The same by the name of the Gateway.
    pub(super) by_key: Clusters,
    /// Gateways whose placement is not in the input.
    pub(super) not_found: BTreeSet<OurGatewayId>,
    /// The order in which changes reach the clusters.
    pub(super) waves: Vec<Wave>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(loaded: &'a Loaded, findings: &mut Findings) -> Self {
        let (hub, controller_name) = (&loaded.hub, &loaded.config.controller_name);
        let ours = Ours::new(hub, controller_name);
        ours.report(hub, controller_name, findings);
        Grants::report(hub, findings);
        let (clusters, waves) = place(loaded, &ours, findings);
        let not_found = placements_not_found(&ours, findings);
        Self {
            not_found,
            waves,
            ..Self::of_hub(loaded, (hub, 0), ours, clusters)
        }
    }

    /// The hub of an input, a part of it, or one that ClusterOverlays make of it, with its position among these, and the
    /// clusters that its Gateways go to.
    fn of_hub(
        loaded: &'a Loaded,
        (hub, projection): (&'a Hub, usize),
        ours: Ours<'a>,
        clusters: Table<OurGatewayId, Arc<[String]>>,
    ) -> Self {
        let gateways = ours.gateways.iter();
        let by_key = gateways.map(|(id, ours)| (ours.gateway.object.key(), clusters.get(id).clone()));
        Self {
            loaded,
            hub,
            by_key: by_key.collect(),
            not_found: BTreeSet::new(),
            waves: Vec::new(),
            receiving: receiving(&clusters, |cluster| is_for(loaded, projection, cluster)),
            projection,
            clusters,
            ours,
            grants: Grants::new(&hub.objects),
        }
    }

    /// Our Gateways with all of their clusters.
    pub(super) fn gateways(&self) -> Table<OurGatewayId, PlacedGateway<'_>> {
        self.with_clusters(&self.clusters)
    }

    /// Our Gateways with those of their clusters that this hub is for.
    pub(super) fn receiving(&self) -> Table<OurGatewayId, PlacedGateway<'_>> {
        self.with_clusters(&self.receiving)
    }

    fn with_clusters(
        &self,
        clusters: &Table<OurGatewayId, Arc<[String]>>,
    ) -> Table<OurGatewayId, PlacedGateway<'_>> {
        self.ours.gateways.map(|(id, gateway)| PlacedGateway {
            everywhere: Arc::clone(self.clusters.get(id)),
            projection: self.projection,
            ..PlacedGateway::new(gateway, Arc::clone(clusters.get(id)))
        })
    }

    /// Whether this hub is for a cluster, and no other that ClusterOverlays make of it.
    pub(super) fn is_for(&self, cluster: &str) -> bool {
        is_for(self.loaded, self.projection, cluster)
    }

    /// The clusters of each Gateway that this hub is for.
    pub(super) const fn clusters_here(&self) -> &Table<OurGatewayId, Arc<[String]>> {
        &self.receiving
    }

    /// The same, without clusters that the run is not for: nobody computed what overlays change there.
    pub(super) fn clusters_judged(&self) -> Table<OurGatewayId, Arc<[String]>> {
        let no_overlay = self.loaded.projections.hubs.is_empty();
        receiving(&self.receiving, |cluster| {
            no_overlay || self.loaded.admits(cluster)
        })
    }

    /// The same hub as ClusterOverlays change it for some clusters: everything goes where it goes as it is written.
    pub(super) fn projected(&self, position: usize, projection: &'a Projection) -> Self {
        let hub = (&projection.hub, position.saturating_add(1));
        let ours = Ours::new(hub.0, &self.loaded.config.controller_name);
        Self {
            not_found: self.not_found.clone(),
            ..Self::of_hub(self.loaded, hub, ours, self.clusters.clone())
        }
    }

    /// The same of a part of the hub, whose Gateways go where they go with the rest, as far as requested.
    pub(super) fn part(&self, hub: &'a Hub, is_asked: impl Fn(&str) -> bool) -> Self {
        let ours = Ours::new(hub, &self.loaded.config.controller_name);
        let clusters = ours.gateways.map(|(_, ours)| {
            let everywhere = self.by_key.get(&ours.gateway.object.key());
            let clusters = everywhere.into_iter().flat_map(|clusters| clusters.iter());
            clusters.filter(|cluster| is_asked(cluster)).cloned().collect()
        });
        Self::of_hub(self.loaded, (hub, self.projection), ours, clusters)
    }
}

/// Whether a cluster gets the hub at this position: the one as it is written where overlays change nothing.
fn is_for(loaded: &Loaded, projection: usize, cluster: &str) -> bool {
    loaded.projections.position(cluster) == projection.checked_sub(1)
}

/// Of the clusters of each Gateway those that `is_here` accepts; Gateways with the same list share the result.
fn receiving(
    clusters: &Table<OurGatewayId, Arc<[String]>>,
    is_here: impl Fn(&str) -> bool,
) -> Table<OurGatewayId, Arc<[String]>> {
    // By address: a hub for each of a thousand clusters would compare a thousand names for each.
    let mut by_list: HashMap<*const [String], Arc<[String]>> = HashMap::new();
    clusters.map(|(_, all)| {
        let here = || {
            if all.iter().all(|cluster| is_here(cluster)) {
                return Arc::clone(all);
            }
            all.iter().filter(|cluster| is_here(cluster)).cloned().collect()
        };
        Arc::clone(by_list.entry(Arc::as_ptr(all)).or_insert_with(here))
    })
}

fn place(
    loaded: &Loaded,
    ours: &Ours<'_>,
    findings: &mut Findings,
) -> (Table<OurGatewayId, Arc<[String]>>, Vec<Wave>) {
    let _placing = loaded.progress.begin(Stage::Placing);
    let (hub, config) = (&loaded.hub, &loaded.config);
    let inventory = placing::inventory(hub, findings);
    let input = loaded.evaluation_input(&inventory);
    let source = config.placement.unwrap_or_default().source;
    let evaluation = LazyCell::new(|| evaluate(&input, Detail::Decisions));
    let clusters = placing::place(hub, ours, source, &inventory, &evaluation, findings);
    let receiving = clusters.rows().iter().flat_map(|clusters| clusters.iter());
    let waves = placing::waves(hub, config, &inventory, &evaluation, receiving, findings);
    let mut params = ours
        .classes
        .values()
        .filter_map(|class| class.params.as_deref().ok());
    let is_replicated = loaded.work_kind == WorkKind::ReplicaSet && !waves.is_empty();
    if is_replicated && params.any(|params| params.rollout.is_some()) {
        let message =
            "`waves` and `rollout` of the parameters both order the clusters of ManifestWorkReplicaSets";
        let finding = Finding::new(Code::CONFIG_INVALID, config.place("/waves"), message);
        findings.push(finding.help("remove `waves`: OCM rolls replica sets out as `rollout` says"));
    }
    (clusters, waves)
}
