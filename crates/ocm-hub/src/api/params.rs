//! GatewayClass parameters: from `spec.parametersRef` to the settings of a class.
//!
//! Owns: the fields of `data.params`, their defaults, every check of them, and the status that MGC would give the class
//! ([`InvalidParameters`]). Flows in: a GatewayClass, a way to find ConfigMaps, a `ResourceCatalog`. Flows out:
//! [`Params`], findings, the predicted failure. Must not know: Gateways, placement, or where ConfigMaps and CRDs are
//! kept.
//!
//! What users may write: docs/reference/parameters.md. What MGC read and reported:
//! docs/systems/mgc.md#gatewayclass-parameters, docs/systems/mgc.md#gatewayclass-status.

mod entries;
mod values;

mod status;

mod check;
mod resources;
mod rollout;
mod update;

mod read;

#[cfg(test)]
mod tests;

pub use read::{ParamsPlace, read_class, written};
pub use status::{CONTROLLER_NAME, InvalidParameters};
pub use update::{IgnoreFields, ServerSideApply, UpdateStrategy};
pub use values::{Chosen, Params, Role, SyncedResource, WorkPer};
