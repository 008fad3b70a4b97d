//! The end-to-end test's own parts, with stand-ins for the programs that it needs.

#![cfg(unix)]

mod clusters;
mod controllers;
mod needs;
mod programs;
mod report;
mod steps;
