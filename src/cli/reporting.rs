//! The form of a report on stdout: what commands have in common whose result is data.
//!
//! Owns: the forms, and which stream gets what. Flows in: a report, findings. Flows out: text and a [`Status`].
//! Must not know: what a report says.

use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spokewright::diagnostic::{Findings, write_json};
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
    /// Writes a report in the chosen form; `text` makes the one for people.
    pub(crate) fn write<T: serde::Serialize>(
        &self,
        out: &mut dyn Write,
        report: &T,
        text: impl FnOnce(&T) -> String,
    ) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => out.write_all(text(report).as_bytes()),
            ReportFormat::Json => write_json(report, out),
            ReportFormat::Yaml => {
                let value = serde_json::to_value(report)?;
                out.write_all(kube_yaml::write_document(&value).as_bytes())
            }
        }
    }
}

/// Prints a report: the data on stdout, while it is made, the findings on stderr, which decide the status.
pub(crate) fn finish(
    loaded: &Loaded,
    mut findings: Findings,
    options: &ReadOptions,
    data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<Status> {
    loaded.finish(&mut findings);
    print(data)?;
    show::findings(&findings, &loaded.sources, options.speech);
    Ok(Status::of(&findings))
}

/// No data: what there would be to say was refused.
pub(crate) fn nothing(_: &mut dyn Write) -> io::Result<()> {
    Ok(())
}

/// Writes data to stdout.
pub(crate) fn print(data: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    data(&mut out)
        .and_then(|()| out.flush())
        .context("cannot write to stdout")
}
