//! Tests of what goes to the spokes.

mod any_order;
mod routes;
mod same_target;
