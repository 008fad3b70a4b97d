//! Decides what each cluster receives.

mod allowed_routes;
mod ambiguous;
mod conflicts;
mod copies;
mod grants;
mod invalid;
mod local_policies;
mod not_synced;
mod on_spokes;
mod order_independence;
mod redirects;
mod reference_fields;
mod references;
mod resources_to_sync;
mod routes;
mod same_hostname;
mod same_target;
mod shadowed;
mod spokes;
mod synced_kinds;
mod synced_object;
mod variants;

#[cfg(test)]
mod tests;

pub use allowed_routes::{NamespaceLabels, check_admission};
pub use conflicts::{report_local_conflicts, report_same_target};
pub use copies::{PlacedGateway, set_metadata, shipped};
pub use grants::add_grants;
pub use invalid::{report_broken_rules, report_other_versions, report_unknown_kinds};
pub use local_policies::LocalPolicies;
pub use not_synced::{is_on_hub_only, leave_others_alone, report_not_synced, report_unused};
pub use on_spokes::OnSpokes;
pub use redirects::report_redirects;
pub use references::{redirected, report_misspelled_backends, report_references};
pub use resources_to_sync::report_chosen_nowhere;
pub use routes::{SyncedRoutes, report_outdone_listeners};
pub use same_hostname::report_same_hostnames;
#[cfg(test)]
pub(crate) use same_target::{SyncedPolicy, SyncedSpec, resolve};
pub use shadowed::report_shadowed;
pub use spokes::{Spoke, Spokes};
pub use synced_kinds::SyncedKinds;
pub use synced_object::{SyncedObject, SyncedObjects, Syncing, Withheld};
pub use variants::{Variant, variants};
