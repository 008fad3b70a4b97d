//! Policy attachment: who is attached where, who wins, what results, and why.
//!
//! Owns: policy kinds and their profiles, the hierarchy, precedence, merging, effective policies with the source
//! of every field, predicted statuses (docs/systems/gep-713.md#status).
//! Flows in: a hub. Flows out: [`Attachments`] (cheap: enough to sync), [`EffectivePolicies`], statuses,
//! reach, findings.
//! Must not know: placements (it takes the clusters of each Gateway as given), works, output.
//!
//! ```
//! use spokewright::diagnostic::Findings;
//! use spokewright::hub::{Grants, Hub};
//! use spokewright::policy::{Attachments, EffectivePolicies, OnClusters, Options, PolicyReport, Statuses};
//!
//! let hub = Hub::default();
//! let mut findings = Findings::new();
//! let grants = Grants::new(&hub, &mut findings);
//! let attachments = Attachments::new(&hub.objects, &grants, &Options::default(), &mut findings);
//! let effective = EffectivePolicies::new(&attachments);
//! let statuses = Statuses::new(&attachments, &effective);
//! spokewright::policy::findings::outcomes(&attachments, &effective, &statuses, &mut findings);
//! let report = PolicyReport::new(&attachments, &effective, &statuses, OnClusters::default());
//! assert!(report.effective.is_empty() && findings.is_empty());
//! ```

pub mod affected;
pub mod attachment;
pub mod effective;
pub mod findings;
pub mod leaves;
pub mod listener;
pub(crate) mod local_wins;
pub(crate) mod locate;
mod lookup;
pub mod merge;
pub mod node;
mod parents;
pub mod precedence;
pub mod profile;
pub mod profiles;
pub mod reach;
pub(crate) mod reading;
pub mod report;
pub mod settings;
pub mod status;
pub mod targets;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod topology;
mod view;
mod walk;

pub use attachment::{Attachments, Options, Policy, PolicyId};
pub use effective::{Effective, EffectivePolicies, PathEffective};
pub use node::{Node, Path};
pub use precedence::{Ages, Rule};
pub use profile::{Level, Profile};
pub use profiles::{ProfileEntry, Profiles};
pub use reach::{Change, Clusters, Reach};
pub use report::{OnClusters, PolicyReport};
pub use status::{Condition, Outcome, PolicyStatus, Statuses};
pub use view::PolicyView;
