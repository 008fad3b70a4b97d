//! Policy attachment: which policy is attached where, which one wins, the result, and why.

mod attachment;
mod cluster_outcomes;
mod condition;
mod effective;
mod effective_policies;
mod findings;
mod kinds;
mod merge;
mod model;
mod paths;
mod products;
mod profile;
mod profiles;
mod reading;
mod status;
mod targeting;
mod targets;

#[cfg(test)]
mod tests;

pub use attachment::Attachments;
pub use cluster_outcomes::{ClusterSet, Everywhere, Fate, Fates, KeptAway, Tally, Winner};
pub(crate) use condition::lower_first;
pub use condition::{AncestorStatus, Outcome, controller_name, effect_of, nowhere};
pub use effective::{Effective, Loss, PathEffective};
pub(crate) use effective_policies::affecting;
pub use effective_policies::{EffectivePolicies, Reach, Refinement};
pub use findings::{no_path, outcomes};
pub use kinds::{Options, learn_targets, report_nonconforming_kinds};
pub(crate) use merge::gep713::{Composed, one_level};
pub use merge::json_merge_patch::unflatten;
pub(crate) use merge::json_merge_patch::{defines, flatten};
pub(crate) use merge::merge;
pub(crate) use merge::per_field::{disagree, meet};
pub use model::{
    Authored, AuthoredId, Content, Copied, Declared, Entry, KindId, Layer, Leaf, Policy, PolicyId, Rule,
    Side, Target,
};
pub use paths::too_many_paths;
#[cfg(test)]
pub(crate) use products::ReferenceFields;
pub(crate) use products::{ReferenceType, certificate_faults, reference_fields};
#[cfg(test)]
pub(crate) use profile::Class;
pub(crate) use profile::Dictates;
pub use profile::{MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy, Wrappers};
pub use profiles::{ProfileEntry, Profiles, configure};
pub(crate) use reading::read_policy;
pub use reading::{read as read_settings, rewritten, strategy_word, wrapped};
pub use status::{accepted, ancestors};
pub use targeting::Verdict;
pub(crate) use targets::{referrer, resolve_targets};
