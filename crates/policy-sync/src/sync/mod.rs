//! Decides what each cluster receives.

mod allowed_routes;
mod conflicts;
mod copies;
mod invalid;
mod local_policies;
mod not_synced;
mod on_spokes;
mod reference_fields;
mod references;
mod request_conflicts;
mod resources_to_sync;
mod routes;
mod same_target;
mod spokes;
mod synced_object;

#[cfg(test)]
mod tests;

pub use allowed_routes::{Admission, NamespaceLabels};
pub use conflicts::{report_local_conflicts, report_same_target};
pub use copies::{PlacedGateway, set_metadata, shipped};
pub use invalid::{report_broken_rules, report_other_versions, report_unknown_kinds};
pub use local_policies::LocalPolicies;
pub use not_synced::{is_on_hub_only, leave_others_alone, report_not_synced, report_unused};
pub use on_spokes::OnSpokes;
pub use references::{add_grants, redirected, report_misspelled_backends, report_references};
pub use request_conflicts::{report_redirects, report_same_hostnames, report_shadowed};
pub use resources_to_sync::report_chosen_nowhere;
pub use routes::{SyncedKinds, SyncedRoutes, report_outdone_listeners};
#[cfg(test)]
pub(crate) use same_target::{SyncedPolicy, SyncedSpec, resolve};
pub use spokes::{Spoke, Spokes};
pub use synced_object::{SyncedObject, SyncedObjects, Syncing, Variant, Withheld, variants};
