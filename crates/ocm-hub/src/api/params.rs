//! GatewayClass parameters: from `spec.parametersRef` to the settings of a class.
//!
//! The fields of `data.params`, their defaults, every check of them, and the status that MGC would give the class
//! ([`InvalidParameters`]). The caller finds ConfigMaps and CRDs.
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
