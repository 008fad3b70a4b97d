//! What became of a Placement. How a run ended, what was wrong, and the intermediate results that explanations need.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::object::Location;
use crate::api::placement::LeftAlone;
use crate::decision_groups::Groups;
use crate::ids::ClusterId;
use crate::prioritizers::Prioritizer;

/// How the scheduler's run over a Placement ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub enum SchedulerStatus {
    /// Successfully.
    #[default]
    Success,
    /// With a warning: an add-on score has expired.
    Warning,
    /// It could not run: an eligible set has an invalid selector. Earlier decisions stay.
    Error,
    /// The Placement asks for something that makes no sense.
    Misconfigured,
    /// The scheduler leaves the Placement alone: deletion, or the annotation that disables scheduling. Earlier
    /// decisions stay.
    Skipped,
}

/// A time that would decide something, in a run without a clock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NeedsNow {
    /// The field: a toleration's seconds, a score's `validUntil`.
    pub(crate) at: Location,
    /// What it decides, a few words.
    pub(crate) decides: String,
}

/// The stages of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Stage {
    /// Bindings, eligible sets, membership.
    ClusterSet,
    /// Label, claim and CEL selectors.
    Predicate,
    /// Taints and tolerations.
    TaintToleration,
    /// Scores.
    Prioritizer,
    /// Order and cut.
    Ranking,
    /// Decision groups and objects.
    Decision,
    /// The Placement was not scheduled, or is misconfigured.
    Scheduler,
}

/// Something that is wrong with the Placement (or with a set that it needs).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Of the decision groups: then the selection stands.
    pub(crate) stage: Stage,
    pub(crate) message: String,
    pub(crate) at: Location,
}

impl Fault {
    /// OCM's plugin; weights and groups are none.
    pub(crate) const fn plugin(&self) -> Option<&'static str> {
        match self.stage {
            Stage::Predicate => Some("Predicate"),
            Stage::TaintToleration => Some("TaintToleration"),
            _ => None,
        }
    }
}

/// What became of a Placement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome<'a> {
    pub(crate) status: SchedulerStatus,
    pub(crate) left_alone: Option<LeftAlone>,
    pub(crate) fault: Option<Fault>,
    pub(crate) available: Arc<[ClusterId]>,
    /// How many of them its predicates left.
    pub(crate) matched: usize,
    pub(crate) groups: Groups,
    pub(crate) selected: usize,
    pub(crate) unscheduled: usize,
    pub(crate) requeue_at: Option<Timestamp>,
    pub(crate) needs_now: Vec<NeedsNow>,
    pub(crate) trace: Trace<'a>,
}

impl Outcome<'_> {
    /// Whether decisions and status of this Placement stay as they were.
    pub(crate) fn keeps(&self) -> bool {
        matches!(self.status, SchedulerStatus::Error | SchedulerStatus::Skipped)
    }
}

/// A candidate and its total, in the order of selection when sorted. The name is part of the key, not left to a
/// stable sort: OCM compares names on equal scores (open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/schedule.go@805fa6103d8bc1761dbc9cb4e420def42703ec53), and numbers compare as names.
pub(crate) type Ranked = (Reverse<i64>, ClusterId);

/// How the decisions were made. `None` if the pipeline stopped earlier, or if the caller did not ask for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace<'a> {
    /// What Predicate left.
    pub(crate) predicate: Option<Arc<[ClusterId]>>,
    /// What TaintToleration left: the candidates.
    pub(crate) tolerated: Option<Arc<[ClusterId]>>,
    pub(crate) prioritizers: Option<Vec<Scores<'a>>>,
    /// In the order of selection.
    pub(crate) ranking: Option<Vec<Ranked>>,
}

/// What one prioritizer gave.
#[derive(Debug, Clone)]
pub(crate) struct Scores<'a> {
    pub(crate) prioritizer: Prioritizer<'a>,
    /// Aligned with the candidates.
    pub(crate) scores: Arc<[i64]>,
    /// Balance: how often each candidate is in the decisions of others, and the largest such count of all.
    pub(crate) counts: Option<(Arc<[u32]>, u32)>,
}
