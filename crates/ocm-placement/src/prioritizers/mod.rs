//! Prioritizers: the scores that a cluster gets (docs/systems/ocm-placement.md#scores).

pub(crate) mod add_on;
pub(crate) mod balance;
pub(crate) mod resource_allocatable;
pub(crate) mod steady;
