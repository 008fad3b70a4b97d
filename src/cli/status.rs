//! Exit statuses (docs/reference/exit-statuses.md): stable, because scripts test them.
//!
//! Owns: the numbers, and the reason why a run ends before it begins ([`Refusal`]). Flows in: findings, errors. Flows
//! out: a [`Status`]. Must not know: commands.

use std::io::ErrorKind;

use spokewright::diagnostic::Findings;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, and nothing to say.
    Done,
    /// `--check` or `diff` found a difference.
    Differs,
    /// The arguments make no sense.
    Usage,
    /// The input has errors.
    Invalid,
    /// A conflict or a placement could not be resolved, or what `status` should make sure of does not hold.
    Unresolved,
    /// Reading or writing failed.
    Io,
    /// Our fault.
    Bug,
}

impl Status {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Differs => 1,
            Self::Usage => 2,
            Self::Invalid => 3,
            Self::Unresolved => 4,
            Self::Io => 5,
            Self::Bug => 70,
        }
    }

    /// The status of a run with these findings (the library knows the rule).
    pub(crate) fn of(findings: &Findings) -> Self {
        match findings.exit_status() {
            0 => Self::Done,
            4 => Self::Unresolved,
            5 => Self::Io,
            _ => Self::Invalid,
        }
    }

    /// The status of a comparison: whatever is wrong outranks a difference.
    pub(crate) fn compared(differs: bool, findings: &Findings) -> Self {
        match Self::of(findings) {
            Self::Done if differs => Self::Differs,
            status => status,
        }
    }
}

/// Why a command cannot begin, and how the run ends for it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    message: String,
    /// How to fix it.
    pub(crate) help: String,
    pub(crate) status: Status,
}

impl Refusal {
    pub(crate) fn new(status: Status, message: &str, help: &str) -> Self {
        Self {
            message: message.to_owned(),
            help: help.to_owned(),
            status,
        }
    }
}

/// Refuses what the arguments ask for.
pub(crate) fn refuse<T, E: From<Refusal>>(message: &str, help: &str) -> Result<T, E> {
    Err(Refusal::new(Status::Usage, message, help).into())
}

/// Whether an error only says that the reader of our output went away: no error for a command in a pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    })
}
