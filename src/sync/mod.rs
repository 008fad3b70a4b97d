//! What each cluster receives.
//!
//! Owns: which routes and policies go to the spokes, whether listeners there admit the routes, the rule of policies on
//! one target, and what policies that live on a cluster take from synced ones.
//! Flows in: attached policies, our Gateways, the clusters of each. Flows out: [`Shipment`]s, findings.
//! Must not know: works, files.

pub mod allowed_routes;
mod conflicts;
pub mod consignment;
pub mod local_policies;
mod merged_policy;
pub mod routes;
pub mod same_target;
pub mod shipment;
#[cfg(test)]
mod tests;
mod unsynced;

pub use allowed_routes::{NamespaceLabels, check_admission};
pub use conflicts::{report_local_conflicts, report_same_target};
pub use consignment::{Consignee, Consignment, Consignments, WithheldFrom};
pub use local_policies::{LocalEffect, Locals};
pub use routes::{SyncedParent, SyncedRoute, SyncedRoutes};
pub use same_target::{Decision, Displacer, Shipped, ShippedSpec, Withheld};
pub use shipment::{Cargo, Home, Shipment, ShipmentTarget};
pub use unsynced::{Synced, report_unsynced, report_unused};
