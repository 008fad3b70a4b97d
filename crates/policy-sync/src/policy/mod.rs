//! Policy attachment: which policy is attached where, which one wins, the result, and why.
//!
//! Owns: policy kinds and their profiles, attachment, precedence, merging, effective policies with the source of every
//! field, the fate of each policy, predicted statuses.
//! Flows in: the objects of the hub or of a cluster. Flows out: [`Attachments`] (cheap: enough to sync),
//! [`EffectivePolicies`], [`Fates`], statuses, reach, findings.
//! Must not know: which clusters are alike, works, output.

mod told;

mod targeting;

mod open;

mod profile;

mod profiles;

mod ids;
mod layer;

mod openness;

mod leaves;
mod merge_patch;

mod precedence;
mod settings;

mod declared_target;
mod one_policy;
mod options;

mod conformance;
mod kinds;
mod local_wins;
mod merged_gateways;
mod reading;
mod selecting;
mod waypoints;
mod workloads;

mod targets;

mod placed;
mod scopes;

mod attachment;

mod envoy_gateway_compressors;
mod envoy_gateway_fit;
mod envoy_gateway_refusals;

mod merge_strategies;

mod per_field;

mod composed;
mod strategic_merge;

mod oldest_wins;
mod right_fold;

mod direct_inherited;
mod losses;
mod meeting;

mod inheritance;
mod kgateway_refusals;

mod merge;

mod effective;

mod paths;

mod effective_policies;
mod refinement;

mod ancestor;
mod condition;

mod envoy_gateway_status;
mod reach;
mod status;

mod fates;

mod affected;
mod findings;
mod no_effect;

// A crate's tests are no part of it for the next.
#[cfg(test)]
#[path = "../../../ocm-hub/src/api/testing.rs"]
mod fixture;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use affected::affecting;
pub use ancestor::{AncestorStatus, controller_name};
pub use attachment::Attachments;
pub(crate) use composed::Composed;
pub use condition::{Condition, ConditionMessage, Outcome, effect_of, nowhere};
pub use conformance::report_nonconforming_kinds;
pub use declared_target::{Declared, Target};
pub use effective::{Effective, PathEffective};
pub use effective_policies::EffectivePolicies;
pub use fates::{ClusterSet, Everywhere, Fate, Fates, KeptAway, Tally, Winner};
pub use findings::{no_path, outcomes};
pub use ids::{AuthoredId, KindId, PolicyId};
pub use kinds::learn_targets;
pub use layer::{Content, Entry, Layer, Leaf, Side};
pub(crate) use leaves::flatten;
pub use leaves::unflatten;
pub(crate) use local_wins::without_rules_of;
pub(crate) use merge_patch::defines;
pub use losses::Loss;
pub(crate) use merge::merge;
pub(crate) use no_effect::certificate_faults;
pub(crate) use oldest_wins::one_level;
pub use one_policy::{Authored, Copied, Policy};
pub use options::Options;
pub use paths::too_many_paths;
pub(crate) use per_field::{disagree, meet};
pub use precedence::Rule;
pub(crate) use profile::Dictates;
pub use profile::{MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy, Wrappers};
pub use profiles::{ProfileEntry, Profiles, configure};
pub use reach::Reach;
pub(crate) use reading::read_policy;
pub use refinement::Refinement;
pub use settings::{read as read_settings, rewritten, strategy_word, wrapped};
pub use status::{accepted, ancestors};
pub use targeting::Verdict;
pub(crate) use targets::resolve_targets;
