//! The form of a report on stdout: what commands have in common whose result is data.
//!
//! Owns: the forms, and which stream gets what. Flows in: a report, findings. Flows out: text and a [`Status`].
//! Must not know: what a report says.

use std::io::Write as _;
use std::mem::ManuallyDrop;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spokewright::diagnostic::Findings;
use spokewright::pipeline::Loaded;

use super::options::ReadOptions;
use super::show;
use super::status::Status;

/// A value that is never freed. The process ends with the command, and freeing a large input piece by piece would take a
/// sixth of its time.
pub(crate) const fn kept<T>(value: T) -> ManuallyDrop<T> {
    ManuallyDrop::new(value)
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    Text,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// What the result looks like.
#[derive(Debug, Args)]
pub(crate) struct Reporting {
    /// Format of the report
    // `--output` is what kubectl calls it.
    #[arg(
        short = 'o',
        long,
        alias = "output",
        value_enum,
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub(crate) format: ReportFormat,
}

impl Reporting {
    /// A report in the chosen form; `text` makes the one for people.
    pub(crate) fn write<T: serde::Serialize>(&self, report: &T, text: impl FnOnce(&T) -> String) -> String {
        match self.format {
            ReportFormat::Text => text(report),
            ReportFormat::Json => show::json(report),
            ReportFormat::Yaml => serde_json::to_value(report)
                .map(|value| kube_yaml::write_document(&value))
                .unwrap_or_default(),
        }
    }
}

/// Prints a report: the data on stdout, the findings on stderr, which decide the status.
pub(crate) fn finish(
    loaded: &Loaded,
    mut findings: Findings,
    data: &str,
    options: &ReadOptions,
) -> anyhow::Result<Status> {
    loaded.finish(&mut findings);
    std::io::stdout()
        .lock()
        .write_all(data.as_bytes())
        .context("cannot write to stdout")?;
    options.write_also(&mut findings, &loaded.sources);
    show::findings(&findings, &loaded.sources, options.speech);
    Ok(Status::of(&findings))
}
