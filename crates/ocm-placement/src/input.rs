//! The input of an evaluation.

use jiff::Timestamp;

use crate::api::inventory::Inventory;

/// How Placements see each other's decisions (docs/systems/ocm-placement.md#the-order-of-placements).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// Each sees only the decisions of the input.
    Snapshot,
    /// In namespace/name order, each sees the earlier ones' results.
    Sequential,
    /// Rounds until nothing changes, which is closest to a live hub.
    #[default]
    Fixpoint,
}

impl Mode {
    /// The name in reports and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Sequential => "sequential",
            Self::Fixpoint => "fixpoint",
        }
    }
}

/// How much of the way to the decisions an evaluation keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Decisions, groups and conditions: what rendering needs. Scores are computed only where they choose.
    Decisions,
    /// Filters, scores and ranking as well: what the report shows.
    Full,
}

/// What hub controllers other than the scheduler would change before it looks (docs/systems/ocm-placement.md#what-other-controllers-change). All off by
/// default, because the input says what is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// Clusters without a cluster set label get `default`, as the mutating webhook does.
    pub unlabeled_join_default: bool,
    /// The taints `unavailable` and `unreachable` follow ManagedClusterConditionAvailable.
    pub derive_availability_taints: bool,
}

/// Everything that an evaluation depends on; equal inputs give equal results.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The objects.
    pub inventory: &'a Inventory<'a>,
    /// The time of the evaluation; without it, everything that depends on the time is reported
    /// ([`crate::ProblemKind::NeedsNow`]).
    pub now: Option<Timestamp>,
    /// The order.
    pub mode: Mode,
    /// What to add to the input.
    pub options: Options,
}
