//! The analysis behind every command: what is ours, which clusters it goes to, and what is attached to it.
//!
//! Owns: the order of these stages, each of which runs once. Flows in: [`Loaded`] input. Flows out: an [`Analysis`],
//! from which a plan, policies, statuses, and a picture follow, and the findings of the stages. Must not know: what a
//! command does with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::loaded::Loaded;
use super::placed::Placed;
use super::policies::{Attached, Decided, attach, evaluate};
use crate::api::config::Secrets;
use crate::diagnostic::Findings;
use crate::hub::{Objects, OurGatewayId, Table};
use crate::object::Object;
use crate::parallel;
use crate::report::PolicyView;
use crate::sync::{
    self, PlacedGateway, Spoke, SyncedObjects, Syncing, Variant, Withheld, report_not_synced,
    report_other_versions,
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
}

/// The objects that the clusters receive, by classes of clusters that are alike, and those that are withheld from them.
#[derive(Debug)]
pub struct Spokes<'a> {
    pub(super) spokes: Vec<Spoke<'a>>,
    pub(super) withheld: Vec<Withheld<'a>>,
    /// The one cluster that is looked at.
    pub(super) cluster: Option<&'a str>,
}

/// The synced objects, and their variants.
#[derive(Debug)]
pub struct Received<'a> {
    /// Our Gateways with their clusters.
    pub(super) gateways: Table<OurGatewayId, PlacedGateway<'a>>,
    pub(super) synced: SyncedObjects<'a>,
    /// By synced object, in the same order.
    pub(super) variants: Vec<Vec<Variant>>,
}

impl<'a> Analysis<'a> {
    /// Analyzes an input.
    pub fn new(loaded: &'a Loaded, findings: &mut Findings) -> Self {
        let placed = Arc::new(Placed::new(loaded, findings));
        let attached = attach(&placed, findings);
        Self { placed, attached }
    }

    /// The same input without one of its policies.
    #[must_use]
    pub fn without(&self, policy: &Object) -> Self {
        self.again(Arc::clone(&self.placed), Some(policy.identity()))
    }

    /// The results of this analysis about policies, applied to the same input or a part of it. Mistakes have been
    /// reported before.
    pub(super) fn again(&self, placed: Arc<Placed<'a>>, without: Option<Identity>) -> Self {
        let attached = self.attached.again(&placed, without);
        Self { placed, attached }
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
        self.spokes_with(&self.synced(), &other.hub.spokes, None)
    }

    pub(super) fn spokes_of<'x>(&'x self, received: &Received<'x>, cluster: Option<&'x str>) -> Spokes<'x> {
        self.spokes_with(received, &self.placed.hub.spokes, cluster)
    }

    fn spokes_with<'x>(
        &'x self,
        received: &Received<'x>,
        local: &'x BTreeMap<String, Objects>,
        cluster: Option<&'x str>,
    ) -> Spokes<'x> {
        let Placed {
            hub, ours, clusters, ..
        } = self.placed.as_ref();
        let Attached {
            attachments, routes, ..
        } = &self.attached;
        // What a listener refuses is reported about what is rendered.
        let said = &mut Findings::new();
        let labels = sync::check_admission(routes, attachments, hub, ours, clusters, said);
        let making = sync::Spokes {
            hub,
            local,
            attachments,
            ours,
            gateways: &received.gateways,
            synced: &received.synced.objects,
            variants: &received.variants,
            labels: &labels,
        };
        Spokes {
            spokes: making.build(cluster),
            withheld: received.synced.withheld.clone(),
            cluster,
        }
    }

    /// Which policies apply on each path of each cluster, for a caller that does not ask what is wrong with them.
    pub fn evaluate<'x>(&'x self, spokes: &'x Spokes<'x>, findings: &mut Findings) -> PolicyView<'x> {
        let decided = Decided {
            loaded: self.placed.loaded,
            hub: self.placed.hub,
            attached: &self.attached,
            grants: &self.placed.grants,
            ours: &self.placed.ours,
            clusters: &self.placed.clusters,
            by_key: &self.placed.by_key,
            cluster: spokes.cluster,
        };
        evaluate(decided, &spokes.spokes, &spokes.withheld, findings)
    }

    /// Our Gateways with their clusters.
    pub(super) fn gateways(&self) -> Table<OurGatewayId, PlacedGateway<'_>> {
        self.placed.gateways()
    }

    fn synced(&self) -> Received<'_> {
        let Placed {
            loaded, ours, grants, ..
        } = self.placed.as_ref();
        let gateways = self.gateways();
        let mut synced = SyncedObjects::new(Syncing {
            attachments: &self.attached.attachments,
            kinds: &self.attached.kinds,
            routes: &self.attached.routes,
            locals: &self.attached.locals,
            ours,
            clusters: &self.placed.clusters,
        });
        let mut variants = parallel::map(&synced.objects, |object| sync::variants(object, &gateways));
        sync::add_grants(
            grants,
            &gateways,
            self.attached.routes.chosen(),
            (&mut synced.objects, &mut variants),
            (self.placed.hub, loaded.config.secrets == Secrets::Copy),
        );
        Received {
            gateways,
            synced,
            variants,
        }
    }

    pub(super) fn report_not_synced(&self, findings: &mut Findings) {
        let Attached {
            attachments,
            kinds,
            routes,
            ..
        } = &self.attached;
        let Placed { hub, ours, .. } = self.placed.as_ref();
        report_not_synced(attachments, kinds, routes, hub, ours, findings);
        report_other_versions(attachments, kinds, hub, ours, findings);
    }
}
