//! Options for messages: their format, their colors, and how many of them.
//!
//! Owns: these options. Flows in: arguments. Flows out: [`Speech`], which everything that prints messages consults.
//! Must not know: what is printed.

use clap::{Args, ValueEnum};
use spokewright::diagnostic::Warnings;

/// How findings are shown.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Speech {
    /// Format of findings
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub(crate) message_format: MessageFormat,

    /// Turn warnings into errors
    #[arg(long, value_name = "WHAT")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub(crate) deny: Option<Deny>,

    /// When to print in color
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub(crate) color: Color,

    /// Print only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Also print what was read and skipped
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Text for people
    Human,
    /// One JSON document
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// GitHub workflow commands
    Github,
    /// A Code Quality report of GitLab
    Gitlab,
    /// JUnit XML, with a test case for each finding code
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// Every warning
    Warnings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Speech {
    /// What `--deny` says of warnings.
    pub(crate) const fn warnings(self) -> Warnings {
        match self.deny {
            Some(Deny::Warnings) => Warnings::Denied,
            None => Warnings::Reported,
        }
    }

    /// Whether calm lines are wanted: by people only, and not when they asked for silence.
    pub(crate) fn is_calm(self) -> bool {
        !self.quiet && self.message_format == MessageFormat::Human
    }
}
