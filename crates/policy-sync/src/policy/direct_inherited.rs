//! Direct and Inherited: whether a policy at one level of a path applies at its end.
//!
//! Owns: GEP-713's two classes. Flows in: a class and two levels. Flows out: yes or no.
//! Must not know: which policies there are.

use serde::{Deserialize, Serialize};

use crate::topology::Level;

/// What a policy of the kind affects (GEP-713: Direct and Inherited).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Class {
    /// Only its own target.
    Direct,
    /// Its target and what is below it.
    Inherited,
}

/// Whether a policy of this class, attached at `level`, counts on a path that ends at `end`. A Direct policy affects
/// its own target alone, and a section is a part of its target; an Inherited one what is below, too.
pub(super) fn counts(class: Class, level: Level, end: Level) -> bool {
    class == Class::Inherited || owner_of(level) == owner_of(end)
}

/// The whole object that a level belongs to, as its most specific whole level.
const fn owner_of(level: Level) -> Level {
    match level {
        Level::GatewayClass | Level::GatewayNamespace | Level::Gateway | Level::Listener => Level::Gateway,
        Level::Mesh | Level::Service | Level::RouteNamespace | Level::BackendNamespace => level,
        Level::Route | Level::Rule => Level::Route,
        Level::Backend | Level::Port => Level::Backend,
    }
}
