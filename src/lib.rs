//! Renders Gateway API hub objects into per-cluster OCM ManifestWorks, offline, and explains every decision.
//!
//! The pipeline, one module a stage; imports point upwards in this list only:
//! [`yaml`], [`diagnostic`], [`source`], [`object`], [`api`], [`hub`], [`placement`], [`policy`], [`render`],
//! [`output`], [`report`].

pub mod api;
pub mod diagnostic;
pub mod hub;
pub mod object;
pub mod policy;
pub mod source;
pub mod yaml;
