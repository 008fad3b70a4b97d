//! Policy attachment: who is attached where, who wins, what results, and why.
//!
//! Owns: policy kinds and their profiles, attachment, precedence, merging, effective policies with the source of every
//! field, predicted statuses.
//! Flows in: a hub. Flows out: [`Attachments`] (cheap: enough to sync), [`EffectivePolicies`], statuses,
//! reach, findings.
//! Must not know: clusters, works, output.
//!
//! ```
//! use spokewright::diagnostic::Findings;
//! use spokewright::hub::{Grants, Hub};
//! use spokewright::policy::{Attachments, EffectivePolicies, Options, Statuses, outcomes};
//!
//! let hub = Hub::default();
//! let mut findings = Findings::new();
//! let grants = Grants::new(&hub, &mut findings);
//! let attachments = Attachments::new(&hub.objects, &grants, &Options::default(), &mut findings);
//! let effective = EffectivePolicies::new(&attachments);
//! let statuses = Statuses::new(&attachments, &effective);
//! outcomes(&attachments, &effective, &statuses, &mut findings);
//! assert!(effective.is_empty() && findings.is_empty());
//! ```

mod profile;

mod profiles;

mod ids;
mod layer;

mod leaves;
mod merge_patch;

mod precedence;
mod settings;

mod declared_target;
mod options;
mod policy;

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

pub use affected::{Affected, affected, effective_policy_documents};
pub(crate) use affected::{affecting, effective_policy_stanza, extension_kinds};
pub use attachment::{Attachments, Kind, Placed};
pub(crate) use condition::effect_of;
pub use condition::{Condition, Outcome};
pub use declared_target::{Declared, Target};
pub use effective::{Effective, PathEffective};
pub use effective_policies::EffectivePolicies;
pub(crate) use findings::displacing;
pub use findings::outcomes;
pub use ids::{KindId, PolicyId};
pub use layer::{Content, Entry, Layer, Leaf, Side};
pub(crate) use leaves::{flatten, unflatten};
pub(crate) use local_wins::without_rules_of;
pub use losses::Loss;
pub(crate) use merge::merge;
pub use options::{Interpret, Options};
pub use policy::Policy;
pub use precedence::{Ages, Rank, Rule};
pub use profile::{
    AllowedTarget, Class, Dictates, MergeUnit, Paths, Precedence, Profile, RulePath, SameTarget, StatusShape,
    Strategy, TargetField, Wrappers,
};
pub use profiles::{ProfileEntry, ProfileError, Profiles, configure, entry_schema};
pub(crate) use reach::without;
pub use reach::{Change, Reach};
pub(crate) use reading::read_policy;
pub(crate) use settings::{exchanged, read as read_settings};
pub use status::{AncestorRef, AncestorStatus, PolicyStatus, Statuses, Tally};
