//! Why `diff` stops before it compares.
//!
//! Owns: these reasons, and how a wrong word on the command line is reported. Flows in: messages. Flows out: [`Stop`].
//! Must not know: what is compared.

use crate::cli::show;
use crate::cli::status::Status;

/// Why the command stops before it compares.
pub(in crate::cli) enum Stop {
    /// Everything was said.
    Said(Status),
    /// stdout is gone.
    Failed(anyhow::Error),
}

/// Says what is wrong with the arguments.
pub(in crate::cli) fn usage(message: &str, help: &str) -> Stop {
    show::line(&format!("error: {message}"));
    show::line(&format!("help: {help}"));
    Stop::Said(Status::Usage)
}
