//! Reports about a run, for people and CI.
//!
//! Owns: the versioned JSON shapes of docs/reference/json.md.
//! Flows in: plans, decisions and findings. Flows out: serializable reports.
//! Must not know: the command line, or files.

// The report about a rendering, and where it came from.
mod render_report;
mod source_line;

// Placements.
mod funnel;
mod placement;

// Policies: one object in words, all of them as a picture.
mod effective_policy;
mod policies;
mod policy_view;

mod explain;
mod explain_text;
mod graph;

// Statuses of hub objects: predicted, or aggregated from what the clusters report.
mod status;

mod exported;
mod predicted;
mod whose;

mod aggregate;

mod prune;
mod status_gate;
mod status_report;
mod status_text;

// The effects of a change.
pub mod diff;

// All of it, to look at.
mod page;

#[cfg(test)]
mod schemas;

/// A request, for [`explain_request`].
pub use crate::topology::{NoRequest, Request, is_request};
pub(crate) use aggregate::Aggregation;
pub use aggregate::{Aggregated, WorkProblem, WorkSummary};
pub use explain::{
    Answer, AttachedPolicy, ChangePart, ClusterPart, ExplainedLoss, ExplainedPaths, ExplainedSetting, Loser,
    ObjectExplanation, PolicyPart, ReachPart, RefusedPolicy, RequestExplanation, RuleLine, SettingIfDeleted,
    UnknownRule, Winner, explain, explain_request,
};
pub use explain_text::{explanation_text, policies_text, request_text};
pub use exported::ExportedWorks;
pub(crate) use exported::{ExportedObject, Shared};
pub use graph::{Graph, Only};
pub use page::{Compared, FleetPage, PageOptions};
pub(crate) use page::{Page, Without, policy_report};
pub use placement::{PlacementExplanation, PlacementReport, placement_table, why_text};
pub use policies::{EffectiveEntry, EffectiveResult, PolicyEntry, PolicyReport};
pub use policy_view::PolicyView;
pub(crate) use policy_view::SpokeView;
pub(crate) use predicted::{Prediction, placements_not_found};
pub use prune::{Prunable, PruneList};
pub(crate) use prune::{Pruning, prunable};
pub use render_report::{RenderReport, WithheldPolicy, kept_by_local_policies};
#[cfg(test)]
pub(crate) use schemas::schema_documents;
pub use source_line::SourceLine;
pub use status::{
    Address, FeedbackOnCluster, ListenerOnCluster, ManifestProblem, ObjectStatus, StatusGroup,
    UnknownOnCluster, WorkOnCluster, WorkState,
};
pub use status_gate::{Required, works_in_the_way};
pub use status_report::{StatusReport, StatusSource};
pub use status_text::status_text;
