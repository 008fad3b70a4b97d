//! What people and CI read: reports about a run.
//!
//! Owns: the versioned JSON shapes of design section 10.
//! Flows in: plans, decisions and findings. Flows out: serialisable reports.
//! Must not know: the command line, or files.

mod aggregate;
pub mod diff;
mod explain;
mod explain_text;
mod exported;
mod graph;
mod placement;
mod predicted;
mod render_report;
mod status;
mod status_report;
mod status_text;

pub use aggregate::{Aggregated, Aggregation, WorkProblem, WorkSummary};
pub use explain::{Explanation, explain};
pub use explain_text::{explanation_text, policies_text};
pub use graph::Graph;
pub use placement::{PlacementExplanation, PlacementReport, placement_table, why_text};
pub use predicted::{Prediction, placements_not_found};
pub use render_report::{RenderReport, WithheldPolicy};
pub use status::{Address, Carrier, Group, Listener, ObjectStatus, WorkState};
pub use status_report::{StatusReport, StatusSource};
pub use status_text::status_text;
