//! The form of a report on stdout: what commands have in common whose result is data.

use clap::{Args, ValueEnum};

use super::show;

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// What the result looks like.
#[derive(Debug, Args)]
pub(crate) struct Reporting {
    /// Form of the result
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output"
    )]
    pub(crate) output: Format,
}

impl Reporting {
    /// A report in the chosen form; `text` makes the one for people.
    pub(crate) fn write<T: serde::Serialize>(&self, report: &T, text: impl FnOnce(&T) -> String) -> String {
        match self.output {
            Format::Text => text(report),
            Format::Json => show::json(report),
            Format::Yaml => serde_json::to_value(report)
                .map(|value| spokewright::yaml::write_document(&value))
                .unwrap_or_default(),
        }
    }
}
