//! GatewayClass parameters: from `spec.parametersRef` to the settings of a class.
//!
//! Owns: the fields of `data.params`, their defaults, every check of them, and the status that MGC would give the class
//! ([`InvalidParameters`]). Flows in: a GatewayClass, a way to find ConfigMaps, a [`ResourceCatalog`]. Flows out:
//! [`Params`], findings, the predicted failure. Must not know: Gateways, placement, or where ConfigMaps and CRDs are
//! kept.
//!
//! What users may write: docs/reference/parameters.md. What MGC read and reported:
//! docs/systems/mgc.md#gatewayclass-parameters, docs/systems/mgc.md#gatewayclass-status.

#[cfg(test)]
mod file;
mod values;

mod status;

mod check;
mod resources;
mod rollout;
mod update;

mod read;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use file::json_schema;
pub(crate) use read::{ParamsPlace, read_class, written};
pub(crate) use resources::{ResourceCatalog, ResourceLookup};
pub(crate) use status::{CONTROLLER_NAME, InvalidParameters};
pub(crate) use values::{Params, Role, SyncedResource, UpdateStrategy, WorkPer};
