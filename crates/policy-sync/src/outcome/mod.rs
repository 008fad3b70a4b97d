//! What becomes of policies and of the objects that carry them: settings in effect, and statuses, with their clusters.

mod across_kinds;
pub mod attachment_graph;
mod coverage;
pub mod effective_policy;
mod effective_settings;
mod explanation;
pub mod fleet_view;
mod if_deleted;
mod policies;
mod policy_view;
mod rule_outcome;
mod rules;
mod settings;
pub mod status;

pub use crate::placing::share;
pub use across_kinds::report_across_kinds;
pub use coverage::{CoverageReport, CoveredKind, Gap, RouteCoverage};
pub use effective_settings::{EffectiveChange, EffectiveSettings, Presence, SettingChange, Which, conceal};
pub use explanation::{
    Answer, AttachedPolicy, ExplainedPaths, Loser, ObjectExplanation, PolicyPart, ReachPart, RefusedPolicy,
    RequestExplanation, RuleLine, UnknownRule, Winner, effective_paths, explain, explain_request,
};
pub use if_deleted::ChangeIfDeleted;
pub use policies::{EffectiveEntry, EffectiveResult, OnCluster, PolicyEntry, PolicyReport, exception};
pub use policy_view::{
    ClusterLists, Found, OnPath, OverlayChanges, PolicyView, Refusals, Seen, SpokeView, WithheldPolicy,
    key_of, on_paths, overlay_changes, refusals,
};
pub use rule_outcome::{ClusterNames, RuleOutcome, RuleState, RuleViolation};
pub use rules::check_rules;
pub use settings::{AppliedSetting, LostSetting, OverlaidSetting, SourceLine};
pub use status::{
    Address, FeedbackOnCluster, ListenerOnCluster, ManifestProblem, ObjectStatus, Prediction, StatusGroup,
    UnknownOnCluster, WorkOnCluster, WorkState, placements_not_found,
};
