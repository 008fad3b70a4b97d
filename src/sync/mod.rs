//! What each cluster receives.
//!
//! Owns: which routes and policies go to the spokes, whether listeners there admit the routes, the rule of policies on
//! one target, and what policies that live on a cluster take from synced ones.
//! Flows in: attached policies, our Gateways, the clusters of each. Flows out: [`SyncedObjects`], findings.
//! Must not know: works, files.

mod synced_kinds;

mod routes;

mod allowed_routes;
mod left_alone;
mod not_synced;
mod other_version;

mod local_policies;

mod merged_policy;

mod same_target;

mod beside_local;
mod conflicts;

mod synced_object;

#[cfg(test)]
mod tests;

pub(crate) use allowed_routes::NamespaceLabels;
pub(crate) use allowed_routes::check_admission;
pub(crate) use conflicts::{report_local_conflicts, report_same_target};
pub(crate) use left_alone::leave_others_alone;
pub(crate) use local_policies::{LocalEffect, LocalPolicies};
pub(crate) use not_synced::{report_not_synced, report_unused};
pub(crate) use other_version::report_other_versions;
pub(crate) use routes::SyncedRoutes;
#[cfg(test)]
pub(crate) use same_target::{SyncedSpec, resolve};
pub(crate) use synced_kinds::SyncedKinds;
pub(crate) use synced_object::{SyncedObject, SyncedObjects, SyncedTarget, Syncing, Withheld};
