//! What people and CI read: reports about a run.
//!
//! Owns: the versioned JSON shapes of design section 10.
//! Flows in: plans, decisions and findings. Flows out: serialisable reports.
//! Must not know: the command line, or files.

pub mod diff;
mod explain;
mod explain_text;
mod placement;
mod render_report;
mod status;

pub use explain::{Explanation, explain};
pub use explain_text::{explanation_text, policies_text};
pub use placement::{PlacementExplanation, placement_table, why_text};
pub use render_report::{RenderReport, WithheldPolicy};
pub use status::ObjectStatus;
