//! Reports about a run, for people and CI.
//!
//! The JSON shapes have versions and are described in docs/reference/json.md. Nothing here knows the command line, or files.

mod aggregate;
pub mod diff;
mod exported;
mod graph;
mod page;
mod placement;
mod policies_text;
mod prune;
mod render_report;
mod status;
mod stored_work;

pub use crate::outcome::{
    CoverageReport, ObjectStatus, PolicyReport, PolicyView, RuleOutcome, effective_paths, explain,
    explain_request,
};
/// A request, for [`explain_request`].
pub use crate::request_matching::{NoRequest, Request, is_request};
pub(crate) use aggregate::Aggregation;
pub use aggregate::{Aggregated, WaveProgress, WorkProblem, WorkSummary};
pub use exported::ExportedWorks;
pub(crate) use exported::{ExportedObject, Shared};
pub use graph::{Graph, Only};
pub(crate) use page::Page;
pub use page::{Compared, FleetPage, PageInput};
pub(crate) use placement::PlacementOnPage;
pub use placement::{PlacementExplanation, PlacementReport, placement_table, why_text};
pub use policies_text::{
    coverage_markdown, coverage_text, explanation_text, overlays_line, policies_text, request_text,
};
pub use prune::{Prunable, PruneList, WorksAndSets};
pub(crate) use prune::{Pruning, WorkOrSet};
pub use render_report::{RenderReport, kept_by_local_policies};
pub use status::{Required, StatusReport, StatusSource, status_text, works_in_the_way};
#[cfg(test)]
pub(crate) use tests::schemas::schema_documents;

#[cfg(test)]
mod tests {
    pub(super) mod schemas;
}
