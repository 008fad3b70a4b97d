//! Decides what each cluster receives.
//!
//! Owns: which routes and policies go to the spokes, whether listeners there accept the routes, the rule for policies
//! on one target, which settings local policies override in synced ones, and Gateways, routes, and policies as they are
//! there.
//! Flows in: attached policies, our Gateways, the clusters of each. Flows out: [`SyncedObjects`], their [`Variant`]s for
//! works, [`Spoke`]s to evaluate, findings.
//! Must not know: works, files.

mod allowed_routes;
mod any_order;
mod backends;
mod beside_local;
mod broken_rules;
mod chosen_objects;
mod conflicts;
mod destinations;
mod downstream_route;
mod gateway;
mod grants;
mod left_alone;
mod listener_sets;
mod local_policies;
mod merged_policy;
mod metadata;
mod missing_grants;
mod not_synced;
mod on_spokes;
mod other_version;
mod per_reason;
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
mod touched;
mod undecided;
mod unknown_kinds;
mod variants;

#[cfg(test)]
mod tests;

pub use allowed_routes::NamespaceLabels;
pub use allowed_routes::check_admission;
pub use backends::report_misspelled_backends;
pub use broken_rules::report_broken_rules;
pub use conflicts::{is_synced, report_local_conflicts, report_same_target};
pub use gateway::PlacedGateway;
pub use grants::add_grants;
pub use left_alone::leave_others_alone;
pub use listener_sets::report_outdone_listeners;
pub use local_policies::LocalPolicies;
pub use metadata::{set_metadata, shipped};
pub use not_synced::{is_on_hub_only, report_not_synced, report_unused};
pub use on_spokes::OnSpokes;
pub use other_version::report_other_versions;
pub use redirects::report_redirects;
pub use references::{redirected, report_references};
pub use resources_to_sync::report_chosen_nowhere;
pub use routes::SyncedRoutes;
pub use same_hostname::report_same_hostnames;
#[cfg(test)]
pub(crate) use same_target::{SyncedSpec, resolve};
pub use shadowed::report_shadowed;
pub use spokes::Spoke;
pub use spokes::Spokes;
pub use synced_kinds::SyncedKinds;
pub use synced_object::{SyncedObject, SyncedObjects, Syncing, Withheld};
pub use unknown_kinds::report_unknown_kinds;
pub use variants::{Variant, variants};
