//! Typed views of the objects that spokewright interprets, one module for each family of kinds.
//!
//! Owns: the fields that we read, their defaults, and what an API server would refuse. Flows in: objects.
//! Flows out: typed views and findings. Must not know: how objects refer to each other; that is `hub`.

pub mod ocm;
