//! The policy kinds that are built in, as plain data (docs/guides/teaching-a-kind.md), one file per product.
//!
//! Owns: the registry, and reading further profiles from the configuration. To teach a kind, add an expression to the
//! file of its product, or a file to `BUILT_IN` of `registry`.
//! Flows in: configuration entries. Flows out: [`Profiles`].
//! Must not know: objects.

pub(super) mod envoy_gateway;
mod gateway_api;
mod gke;
mod istio;
pub(super) mod kgateway;
mod kuadrant;
mod nginx;

mod registry;

mod config;

pub use config::{ProfileEntry, configure};
pub use registry::Profiles;
pub(crate) use registry::Written;
