//! Renders Gateway API hub objects into per-cluster OCM ManifestWorks, offline, and explains every decision.
//!
//! The pipeline, one module for each stage. A module imports only from those before it in this list:
//! `sandbox`, `parallel`, [`diagnostic`], [`progress`], `object`, [`source`], `api`, `hub` (in the crate `ocm-hub`);
//! `placing`, `topology`, `request_matching`, `policy`, `sync`, [`outcome`] (in the crate `policy-sync`); [`output`], [`render`], [`report`].
//! [`pipeline`] runs them in order, and the command line is made of nothing else.
//! An embedder begins at [`pipeline`]. Modules without a link are of no use to embedders.

// Input never causes a panic, and only `cli` speaks; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

pub mod output;
pub mod pipeline;
pub mod render;
pub mod report;

// The rooms that read the input, and those that decide, are crates of their own.
pub use ocm_hub::hub::{Hub, Objects, PassedOver};
pub use ocm_hub::object::{Object, Origin};
use ocm_hub::{api, hub, object, parallel, sandbox};
pub use ocm_hub::{diagnostic, progress, source};
pub use policy_sync::outcome;
use policy_sync::{placing, policy, request_matching, sync, topology};
