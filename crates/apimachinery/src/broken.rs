//! A broken promise between stages. It ends the run with a message that names the promise and the object, because
//! nothing after it could be trusted.

use std::fmt::Display;

/// Ends the run because of a bug of ours, which no input can reach: the message has the place in the code, and the
/// command line turns it into exit status 70. Continuing would silently leave something out.
///
/// # Panics
///
/// Always: that is what it is for.
#[cold]
#[track_caller]
#[allow(
    clippy::panic,
    reason = "no input reaches it, and nothing may be lost in silence"
)]
pub fn broken(what: impl Display) -> ! {
    panic!("a stage broke its promise: {what}")
}
