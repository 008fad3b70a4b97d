//! The analysis behind every command: what is ours, which clusters it goes to, and what is attached to it. Each of these
//! stages runs once; a plan, policies, statuses, and a picture follow from an [`Analysis`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::loaded::Loaded;
use super::placed::Placed;
use super::policies::{Attached, SpokesOfHub, Teaching, attach, evaluate};
use crate::api::config::Secrets;
use crate::diagnostic::Findings;
use crate::hub::{Objects, OurGatewayId, Table};
use crate::object::Object;
use crate::parallel;
use crate::progress::Stage;
use crate::report::PolicyView;
use crate::sync::{
    self, PlacedGateway, SyncedObjects, Syncing, Variant, report_not_synced, report_other_versions,
};
use apimachinery::Identity;

/// The facts about an input, computed once for all commands.
///
/// It borrows the [`Loaded`] input. Each question has a collector for what it finds itself; nothing is found twice when
/// two questions are asked, because [`Findings::finish`] drops repeats.
#[derive(Debug)]
pub struct Analysis<'a> {
    pub(super) placed: Arc<Placed<'a>>,
    pub(super) attached: Attached<'a>,
    /// The same of the hubs that ClusterOverlays make of this one, for the clusters that each is for.
    pub(super) projected: Vec<Self>,
}

/// The objects that the clusters receive, by classes of clusters that are alike, and those that are withheld from them.
#[derive(Debug)]
pub struct Spokes<'a> {
    /// Of the hub as it is written, then of those that ClusterOverlays make of it.
    pub(super) by_hub: Vec<SpokesOfHub<'a>>,
    /// The one cluster that is looked at.
    pub(super) cluster: Option<&'a str>,
}

/// The synced objects, and their variants: of the hub as it is written, then of those that ClusterOverlays make of it.
#[derive(Debug)]
pub struct Received<'a>(pub(super) Vec<ReceivedOfHub<'a>>);

/// The same of one hub.
#[derive(Debug)]
pub(super) struct ReceivedOfHub<'a> {
    /// Our Gateways with their clusters.
    pub(super) gateways: Table<OurGatewayId, PlacedGateway<'a>>,
    pub(super) synced: SyncedObjects<'a>,
    /// By synced object, in the same order.
    pub(super) variants: Vec<Vec<Variant>>,
}

impl<'a> Analysis<'a> {
    /// Analyzes an input.
    pub fn new(loaded: &'a Loaded, findings: &mut Findings) -> Self {
        let (analysis, found) = Self::with_findings(loaded);
        findings.extend(found);
        analysis
    }

    /// The same, and what is wrong, for a caller that may have reported it.
    pub fn with_findings(loaded: &'a Loaded) -> (Self, Findings) {
        let mut all = Findings::new();
        let findings = &mut all;
        let placed = Placed::new(loaded, findings);
        let _attaching = loaded.progress.begin(Stage::Attaching);
        let teaching = Teaching::new(&placed, findings);
        let mut written = Findings::new();
        let attached = attach(&placed, teaching, &mut written);
        let hubs: Vec<_> = loaded.projections.hubs.iter().enumerate().collect();
        let projected = parallel::map(&hubs, |(position, projection)| {
            let placed = placed.projected(*position, projection);
            let mut found = Findings::new();
            let attached = attached.projected(&placed, &mut found);
            (Self::of_hub(placed, attached), found)
        });
        let (projected, found) = projected.into_iter().unzip();
        loaded
            .projections
            .add_findings(written, found, &loaded.sources, findings);
        let analysis = Self {
            projected,
            ..Self::of_hub(placed, attached)
        };
        (analysis, all)
    }

    fn of_hub(placed: Placed<'a>, attached: Attached<'a>) -> Self {
        Self {
            placed: Arc::new(placed),
            attached,
            projected: Vec::new(),
        }
    }

    /// This hub as it is written, then those that ClusterOverlays make of it.
    pub(super) fn hubs(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.projected)
    }

    /// The same input without one of its policies.
    #[must_use]
    pub fn without(&self, policy: &Object) -> Self {
        let without = |hub: &Self| hub.again(Arc::clone(&hub.placed), Some(policy.identity()));
        Self {
            projected: self.projected.iter().map(without).collect(),
            ..without(self)
        }
    }

    /// The results of this analysis about policies, applied to the same hub or a part of it. Mistakes have been
    /// reported before.
    pub(super) fn again(&self, placed: Arc<Placed<'a>>, without: Option<Identity>) -> Self {
        let attached = self.attached.again(&placed, without);
        Self {
            placed,
            attached,
            projected: Vec::new(),
        }
    }

    /// The objects that the clusters receive, and the spokes of all clusters or of one `cluster`: what
    /// [`results`](Self::results) and [`policies`](Self::policies) evaluate.
    #[must_use]
    pub fn received<'x>(&'x self, cluster: Option<&'x str>) -> (Received<'x>, Spokes<'x>) {
        let received = self.synced();
        let spokes = self.spokes_of(&received, cluster);
        (received, spokes)
    }

    /// What the clusters receive of this input, if they are as another one says: nobody has to believe a change that says
    /// what it does not ship.
    #[must_use]
    pub fn spokes_as_in<'x>(&'x self, other: &'x Loaded) -> Spokes<'x> {
        self.spokes_with(&self.synced(), Some(&other.hub.spokes), None)
    }

    pub(super) fn spokes_of<'x>(&'x self, received: &Received<'x>, cluster: Option<&'x str>) -> Spokes<'x> {
        self.spokes_with(received, None, cluster)
    }

    fn spokes_with<'x>(
        &'x self,
        Received(received): &Received<'x>,
        local: Option<&'x BTreeMap<String, Objects>>,
        cluster: Option<&'x str>,
    ) -> Spokes<'x> {
        let hubs: Vec<_> = self.hubs().zip(received).collect();
        Spokes {
            by_hub: parallel::map(&hubs, |(hub, received)| {
                hub.spokes_of_hub(received, local.unwrap_or(&hub.placed.hub.spokes), cluster)
            }),
            cluster,
        }
    }

    fn spokes_of_hub<'x>(
        &'x self,
        received: &ReceivedOfHub<'x>,
        local: &'x BTreeMap<String, Objects>,
        cluster: Option<&'x str>,
    ) -> SpokesOfHub<'x> {
        let everywhere = self.syncing_to(&self.placed.clusters);
        let labels = sync::Admission::new(everywhere).labels;
        let making = sync::Spokes {
            syncing: everywhere,
            local,
            gateways: &received.gateways,
            synced: &received.synced.objects,
            variants: &received.variants,
            labels: &labels,
        };
        let is_asked = |name: &str| cluster.is_none_or(|only| only == name) && self.placed.is_for(name);
        SpokesOfHub {
            placed: &self.placed,
            attached: &self.attached,
            spokes: making.build(cluster.is_some(), &is_asked),
            withheld: received.synced.withheld.clone(),
        }
    }

    /// Which policies apply on each path of each cluster, for a caller that does not ask what is wrong with them.
    pub fn evaluate<'x>(&'x self, spokes: &'x Spokes<'x>) -> PolicyView<'x> {
        self.evaluate_with_findings(spokes).0
    }

    /// The same, and what is wrong with them.
    pub(super) fn evaluate_with_findings<'x>(&'x self, spokes: &'x Spokes<'x>) -> (PolicyView<'x>, Findings) {
        let mut hubs: Vec<&SpokesOfHub<'x>> = spokes.by_hub.iter().collect();
        // For one cluster, the hub is the one that it gets.
        let own = spokes
            .cluster
            .and_then(|cluster| self.placed.loaded.projections.position(cluster));
        if let Some(position) = own.map(|position| position.saturating_add(1))
            && position < hubs.len()
        {
            hubs.swap(0, position);
        }
        let (view, found) = evaluate(&hubs, spokes.cluster);
        let written = spokes.by_hub.first();
        let view = PolicyView {
            withheld: written.map_or(view.withheld, |written| &written.withheld),
            ..view
        };
        (view, found)
    }

    fn synced(&self) -> Received<'_> {
        let hubs: Vec<&Self> = self.hubs().collect();
        Received(parallel::map(&hubs, |hub| hub.synced_of_hub()))
    }

    fn synced_of_hub(&self) -> ReceivedOfHub<'_> {
        let placed = self.placed.as_ref();
        let gateways = placed.receiving();
        let mut synced = SyncedObjects::new(self.attached.syncing(placed), &self.attached.locals);
        let mut variants = parallel::map(&synced.objects, |object| sync::variants(object, &gateways));
        sync::add_grants(
            &placed.grants,
            &gateways,
            &self.attached.routes.chosen,
            (&mut synced.objects, &mut variants),
            (placed.hub, placed.loaded.config.secrets == Secrets::Copy),
        );
        ReceivedOfHub {
            gateways,
            synced,
            variants,
        }
    }

    /// What decides about all that is synced, to these clusters of each Gateway.
    pub(super) fn syncing_to<'s>(&'s self, clusters: &'s Table<OurGatewayId, Arc<[String]>>) -> Syncing<'s> {
        Syncing {
            clusters,
            ..self.attached.syncing(&self.placed)
        }
    }

    pub(super) fn report_not_synced(&self, findings: &mut Findings) {
        let syncing = self.attached.syncing(&self.placed);
        report_not_synced(syncing, findings);
        report_other_versions(syncing, findings);
    }
}
