//! What becomes of policies and of the objects that carry them: settings in effect, and statuses, with their clusters.

mod across_kinds;
mod coverage;
pub mod effective_policy;
mod in_effect;
pub mod inventory;
mod overlay_changes;
mod policies;
mod policy_view;
pub mod predicted;
mod rules;
mod status;

pub use across_kinds::report_across_kinds;
pub use coverage::{CoverageReport, CoveredKind, Gap};
pub use inventory::SourceLine;
pub use overlay_changes::{OverlayChanges, overlay_changes};
pub use policies::{EffectiveEntry, EffectiveResult, OnCluster, PolicyEntry, PolicyReport, exception};
pub use policy_view::{
    ClusterLists, Found, OnPath, PolicyView, Refusals, Seen, SpokeView, on_paths, refusals, share,
};
pub use predicted::{Prediction, placements_not_found};
pub use rules::check_rules;
pub use status::{
    Address, FeedbackOnCluster, ListenerOnCluster, ManifestProblem, ObjectStatus, StatusGroup,
    UnknownOnCluster, WorkOnCluster, WorkState,
};
