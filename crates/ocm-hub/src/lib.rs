#![doc = include_str!("../README.md")]
//!
//! Owns: which files are input, what a document says, the typed views of the kinds, and findings about all of it. Flows
//! in: directories, a Git revision, one stream of text. Flows out: a [`hub::Hub`], [`diagnostic::Findings`]. Must not
//! know: what follows from the objects (which clusters receive what, which policies win).

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::restriction))]
#![cfg_attr(
    test,
    warn(
        clippy::dbg_macro,
        clippy::exit,
        clippy::iter_over_hash_type,
        clippy::mem_forget
    )
)]
#![cfg_attr(test, warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names))]

pub mod api;
pub mod beneath;
pub mod diagnostic;
pub mod hub;
pub mod object;
pub mod parallel;
pub mod progress;
pub mod source;
