//! Tests of what goes to the spokes.

mod routes;
mod same_target;
