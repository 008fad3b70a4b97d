//! What every command follows from: what is ours, which clusters it goes to, and what is attached to it.
//!
//! Owns: the order of these stages, each of which runs once. Flows in: [`Loaded`] input. Flows out: an [`Analysis`], of
//! which a plan, policies, statuses and a picture are functions, and what the stages found.
//! Must not know: what a command makes of it.

use std::collections::BTreeSet;

use super::inputs::Loaded;
use super::policies::{Attached, attach, evaluate};
use crate::diagnostic::{Code, Findings};
use crate::hub::{Grants, OurGatewayId, Ours, Table};
use crate::placing;
use crate::progress::Stage;
use crate::report::{PolicyView, placements_not_found};

/// What of an input is ours, and where it goes: the same from wherever its policies are looked at.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) ours: Ours<'a>,
    pub(super) grants: Grants<'a>,
    /// The clusters of each Gateway.
    pub(super) clusters: Table<OurGatewayId, Vec<String>>,
    /// Gateways whose placement nobody has heard of.
    pub(super) not_found: BTreeSet<OurGatewayId>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(loaded: &'a Loaded, findings: &mut Findings) -> Self {
        let ours = Ours::new(&loaded.hub, &loaded.config.controller_name, findings);
        let grants = Grants::new(&loaded.hub, findings);
        let clusters = place(loaded, &ours, findings);
        let not_found = placements_not_found(&ours, findings);
        Self {
            loaded,
            ours,
            grants,
            clusters,
            not_found,
        }
    }

    /// Attaches every policy; on a cluster, also those that live there.
    pub(super) fn attach(&self, cluster: Option<&'a str>, findings: &mut Findings) -> Attached<'a> {
        attach(self.loaded, &self.ours, &self.grants, cluster, findings)
    }

    /// Evaluates what was attached, as seen on `cluster` where there is one.
    pub(super) fn evaluate<'x>(
        &self,
        attached: &'x Attached<'x>,
        cluster: Option<&str>,
        findings: &mut Findings,
    ) -> PolicyView<'x> {
        evaluate(attached, &self.ours, &self.clusters, cluster, findings)
    }
}

fn place(loaded: &Loaded, ours: &Ours<'_>, findings: &mut Findings) -> Table<OurGatewayId, Vec<String>> {
    let _placing = loaded.progress.begin(Stage::Placing);
    let inventory = placing::inventory(&loaded.hub, findings);
    let input = loaded.evaluation_input(&inventory);
    placing::place(
        &loaded.hub,
        ours,
        loaded.config.placement_source,
        &input,
        findings,
    )
}

/// What was found out about an input, once for everything that is asked of it.
///
/// It borrows the [`Loaded`] input. Each question has a collector for what it finds itself; nothing is found twice when two
/// questions are asked, because [`Findings::finish`] drops repeats.
#[derive(Debug)]
pub struct Analysis<'a> {
    pub(super) placed: Placed<'a>,
    pub(super) attached: Attached<'a>,
    /// The cluster that the policies are looked at from.
    cluster: Option<&'a str>,
}

impl<'a> Analysis<'a> {
    /// Analyses an input for rendering.
    pub fn new(loaded: &'a Loaded, findings: &mut Findings) -> Self {
        let placed = Placed::new(loaded, findings);
        let attached = placed.attach(None, findings);
        Self {
            placed,
            attached,
            cluster: None,
        }
    }

    /// Analyses an input for reports about its policies; with a `cluster`, as seen there: what is placed there, beside
    /// what already lives there. A Gateway that nobody places is no finding here, as it has policies all the same.
    pub fn of_policies(loaded: &'a Loaded, cluster: Option<&'a str>, findings: &mut Findings) -> Self {
        let mut found = Findings::new();
        let placed = Placed::new(loaded, &mut found);
        let found = found.into_iter();
        findings.extend(found.filter(|finding| finding.code != Code::GATEWAY_NOT_PLACED));
        let attached = placed.attach(cluster, findings);
        Self {
            placed,
            attached,
            cluster,
        }
    }

    /// Which policies hold on each path, and what their statuses say of it.
    pub fn policies(&self, findings: &mut Findings) -> PolicyView<'_> {
        self.placed.evaluate(&self.attached, self.cluster, findings)
    }

    /// Every cluster that is placed, registered, or has a folder of its own.
    #[must_use]
    pub fn known_clusters(&self) -> BTreeSet<&str> {
        let hub = &self.placed.loaded.hub;
        let managed = hub.objects.of_kind(ocm_placement::GROUP, "ManagedCluster");
        let managed = managed.iter().map(|object| object.name.as_str());
        let placed = self.placed.clusters.rows().iter().flatten().map(String::as_str);
        let inhabited = hub.spokes.keys().map(String::as_str);
        managed.chain(placed).chain(inhabited).collect()
    }
}
