//! What became of a Placement.
//!
//! Owns: how a run ended, what was wrong, what is kept of the way. Flows in: what the pipeline found out.
//! Flows out: data for reports, findings and explanations.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::groups::Groups;
use super::prioritizers::Resource;
use super::ranking::Ranked;
use crate::api::ocm::LeftAlone;
use crate::diagnostic::Place;

/// How the scheduler's run over a Placement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum SchedulerStatus {
    /// As it should.
    Success,
    /// With a warning: an add-on score has expired.
    Warning,
    /// It could not run: an eligible set has an invalid selector. Earlier decisions stay.
    Error,
    /// The Placement says something that makes no sense.
    Misconfigured,
    /// The scheduler leaves the Placement alone: deletion, or the annotation that disables scheduling. Earlier
    /// decisions stay.
    Skipped,
}

/// A time that would decide something, in a run without a clock (design section 3, `placement/needs-now`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeedsNow {
    /// Namespace and name of the Placement.
    pub placement: (String, String),
    /// The field: a toleration's seconds, a score's `validUntil`.
    pub place: Place,
    /// What it decides, a few words.
    pub decides: String,
}

/// Plugin of a misconfiguration.
pub(super) const PREDICATE: &str = "Predicate";
pub(super) const TAINT_TOLERATION: &str = "TaintToleration";

/// Something that is wrong with the Placement (or with a set that it needs).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// `""` for weights and groups.
    pub(super) plugin: &'static str,
    pub(super) message: String,
    pub(super) place: Place,
}

/// What became of a Placement.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) status: SchedulerStatus,
    pub(super) left_alone: Option<LeftAlone>,
    pub(super) fault: Option<Fault>,
    /// Whether the fault lies in the decision groups: the selection stands.
    pub(super) group_fault: bool,
    pub(super) available: Arc<[u32]>,
    pub(super) groups: Groups,
    pub(super) selected: usize,
    pub(super) unscheduled: usize,
    pub(super) requeue_at: Option<Timestamp>,
    pub(super) needs_now: Vec<NeedsNow>,
    pub(super) trace: Option<Trace>,
}

impl Outcome {
    /// Whether decisions and status of this Placement stay as they were.
    pub(super) fn keeps(&self) -> bool {
        matches!(self.status, SchedulerStatus::Error | SchedulerStatus::Skipped)
    }

    pub(super) fn new(status: SchedulerStatus) -> Self {
        Self {
            status,
            left_alone: None,
            fault: None,
            group_fault: false,
            available: Arc::from([]),
            groups: Groups::default(),
            selected: 0,
            unscheduled: 0,
            requeue_at: None,
            needs_now: Vec::new(),
            trace: None,
        }
    }
}

/// The way to the decisions. `None`: the pipeline stopped before.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    /// What Predicate left.
    pub(super) predicate: Option<Arc<[u32]>>,
    /// What TaintToleration left: the candidates.
    pub(super) tolerated: Option<Arc<[u32]>>,
    pub(super) prioritizers: Option<Vec<Scores>>,
    /// In the order of selection.
    pub(super) ranking: Option<Vec<Ranked>>,
}

/// What one prioritizer gave.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) name: String,
    pub(super) weight: i64,
    /// Aligned with the candidates.
    pub(super) scores: Arc<[i64]>,
    /// A prioritizer of resources: clusters without them have no score.
    pub(super) resource: Option<Resource>,
    /// Balance: how often each candidate stands in the decisions of others, and the largest such count of all.
    pub(super) counts: Option<(Arc<[u32]>, u32)>,
    /// Which of the policy's configurations asks for it; `None`: a default.
    pub(super) configuration: Option<usize>,
}
