//! Policy attachment: who is attached where, who wins, what results, and why.
//!
//! Owns: policy kinds and their profiles, attachment, precedence, merging, effective policies with the source of every
//! field, predicted statuses.
//! Flows in: a hub. Flows out: [`Attachments`] (cheap: enough to sync), [`EffectivePolicies`], statuses,
//! reach, findings.
//! Must not know: clusters, works, output.

mod profile;

mod profiles;

mod ids;
mod layer;

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
mod reading;
mod targets;

mod attachment;

mod merge_strategies;

mod oldest_wins;
mod right_fold;

mod direct_inherited;
mod losses;
mod merge;

mod effective;

mod paths;

mod effective_policies;

mod condition;

mod reach;
mod status;

mod affected;
mod findings;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use affected::effective_policy_documents;
pub(crate) use affected::{affected, affecting, effective_policy_stanza, extension_kinds};
pub(crate) use attachment::Attachments;
pub(crate) use condition::effect_of;
pub(crate) use condition::{Condition, Outcome};
pub(crate) use conformance::report_nonconforming_kinds;
pub(crate) use declared_target::{Declared, Target};
pub(crate) use effective::{Effective, PathEffective};
pub(crate) use effective_policies::EffectivePolicies;
pub(crate) use findings::{displacing, no_path, outcomes};
pub(crate) use ids::{KindId, PolicyId};
pub(crate) use layer::{Content, Entry, Layer, Leaf, Side};
pub(crate) use leaves::{flatten, unflatten};
pub(crate) use local_wins::without_rules_of;
pub(crate) use losses::Loss;
pub(crate) use merge::merge;
pub(crate) use one_policy::Policy;
pub(crate) use options::Options;
pub(crate) use precedence::{Ages, Rule};
pub(crate) use profile::{MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy};
#[cfg(test)]
pub(crate) use profiles::ProfileEntry;
pub(crate) use profiles::{Profiles, configure, entry_schema};
pub(crate) use reach::Reach;
pub(crate) use reach::without;
pub(crate) use reading::read_policy;
pub(crate) use settings::{exchanged, read as read_settings};
pub(crate) use status::{AncestorStatus, PolicyStatus, Statuses};
