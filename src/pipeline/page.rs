//! A page of a fleet: everything that it shows, from one analysis.
//!
//! Owns: which evaluations a page needs, each made once. Flows in: an analysis, its rendering, its evaluated policies.
//! Flows out: the data of a page. Must not know: HTML, the command line.

use std::collections::BTreeSet;

use ocm_placement::{Detail, evaluate};

use super::analysis::{Analysis, Spokes};
use super::deleted::if_deleted;
use super::stages::Rendered;
use crate::diagnostic::Findings;
use crate::placing::{Decided, inventory};
use crate::report::{
    Aggregated, Compared, FleetPage, Page, PageOptions, PolicyReport, PolicyView, policy_report,
};

/// At most so many pairs of a Placement and a cluster are explained.
const MOST_STEPS: usize = 100_000;

/// The data that a page is made from, in addition to the analysis.
#[derive(Debug, Clone, Copy)]
pub struct PageInput<'p> {
    /// The rendering.
    pub rendered: &'p Rendered,
    /// The objects that the clusters receive.
    pub spokes: &'p Spokes<'p>,
    /// The policies, evaluated there.
    pub view: &'p PolicyView<'p>,
    /// Everything that was found, finished.
    pub findings: &'p Findings,
    /// The reports of the clusters.
    pub works: Option<&'p Aggregated>,
    /// The differences from a base.
    pub compared: Option<Compared<'p>>,
}

impl Analysis<'_> {
    /// The effective policies, with everything that they may apply to; `view` is that of the spokes.
    pub fn policy_report<'p>(&'p self, spokes: &'p Spokes<'p>, view: &'p PolicyView<'p>) -> PolicyReport {
        let loaded = self.placed.loaded;
        policy_report(view, spokes.withheld(), &loaded.sources)
            .with_overlays(loaded.overlays(), &loaded.sources.root_relative())
    }

    /// The data of a page. Equal input gives equal data.
    pub fn page(&self, input: PageInput<'_>, options: &PageOptions) -> FleetPage {
        let loaded = self.placed.loaded;
        let hub = &loaded.hub;
        let read = inventory(hub, &mut Findings::new());
        let of_kind = |kind| hub.objects.of_kind(ocm_placement::GROUP, kind).len();
        // With full detail, each Placement explains each cluster.
        let steps = of_kind("Placement").saturating_mul(of_kind("ManagedCluster"));
        let few = Some(Detail::Full).filter(|_| steps <= MOST_STEPS);
        let detail = few.unwrap_or(Detail::Decisions);
        let evaluation = evaluate(&loaded.evaluation_input(&read), detail);
        let decided = Decided::new(hub, loaded.config.placement.unwrap_or_default().source);
        let placed = self.placed.by_key.values().flat_map(|clusters| clusters.iter());
        let mut clusters: BTreeSet<&str> = loaded.known_clusters();
        clusters.extend(placed.map(String::as_str));
        clusters.retain(|cluster| loaded.admits(cluster));
        let page = Page {
            view: input.view,
            plan: &input.rendered.plan,
            withheld: input.spokes.withheld(),
            hub,
            sources: &loaded.sources,
            clusters: clusters.into_iter().collect(),
            evaluation: &evaluation,
            explains_placements: detail == Detail::Full,
            decided: &decided,
            statuses: self.gateway_statuses(input.view),
            if_deleted: if_deleted(self, input.view),
            overlays: &input.rendered.overlays,
            findings: input.findings,
            works: input.works,
        };
        page.data(options, input.compared.as_ref())
    }
}
