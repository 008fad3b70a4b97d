//! Renders Gateway API hub objects into per-cluster OCM ManifestWorks, offline, and explains every decision.
//!
//! The pipeline, one module for each stage. A module imports only from those before it in this list:
//! `beneath`, `parallel`, [`diagnostic`], [`progress`], `object`, [`source`], `api`, `hub`, `placing`, `topology`, `policy`, `sync`,
//! [`output`], [`render`], [`report`]; [`pipeline`] runs them in order, and the command line is made of nothing else.
//! An embedder begins at [`pipeline`]; the modules without a link are private.

// Input never causes a panic, and only `cli` speaks; tests may do both.
#![cfg_attr(
    not(test),
    warn(
        clippy::expect_used,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::print_stderr,
        clippy::print_stdout,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod api;
mod beneath;
pub mod diagnostic;
mod hub;
mod object;
pub mod output;
mod parallel;
pub mod pipeline;
mod placing;
mod policy;
pub mod progress;
pub mod render;
pub mod report;
pub mod source;
mod sync;
mod topology;

pub use hub::{Hub, Objects, PassedOver};
pub use object::{Object, Origin};
