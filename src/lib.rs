//! Renders Gateway API hub objects into per-cluster OCM ManifestWorks, offline, and explains every decision.
//!
//! The pipeline, one module a stage; imports point upwards in this list only:
//! [`diagnostic`], [`progress`], [`source`], [`object`], [`api`], [`hub`], [`placing`], [`topology`], [`policy`],
//! [`sync`], [`output`], [`render`], [`report`]; [`pipeline`] runs them in order, and the command line is made of nothing
//! else.

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

pub mod api;
pub mod diagnostic;
pub mod hub;
pub mod object;
pub mod output;
pub mod pipeline;
pub mod placing;
pub mod policy;
pub mod progress;
pub mod render;
pub mod report;
pub mod source;
pub mod sync;
pub mod topology;
