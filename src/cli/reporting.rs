//! The format of a report on stdout, for all commands whose result is data.
//!
//! Owns: the formats, and which stream gets what. Flows in: a report, findings. Flows out: text and a [`Status`]. Must
//! not know: the contents of a report.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;
use std::path::Path;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spokewright::diagnostic::{Findings, Locate, Severity, counted, write_json};
use spokewright::output;
use spokewright::pipeline::Loaded;
use spokewright::source::{RootRelative, Sources};

use super::next;
use super::options::ReadOptions;
use super::show;
use super::speech::MessageFormat;
use super::status::{Status, refuse};

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
    #[arg(short = 'o', long, alias = "output")]
    #[arg(value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
}

impl Reporting {
    /// The texts under the paths that the chosen form has: people open files from where they are, and a document depends
    /// on no directory.
    pub(crate) fn locate<'s>(&self, sources: &'s Sources, relative: &'s RootRelative<'s>) -> &'s dyn Locate {
        match self.format {
            ReportFormat::Text => sources,
            ReportFormat::Json | ReportFormat::Yaml => relative,
        }
    }

    /// How an answer in the chosen form is printed.
    pub(crate) const fn answer(&self) -> Answer {
        Answer {
            comment: match self.format {
                ReportFormat::Text => Some(""),
                ReportFormat::Json => None,
                ReportFormat::Yaml => Some("# "),
            },
            with_warnings: false,
            of_export: 0,
        }
    }

    /// Writes a report in the chosen form; `text` makes the one for people.
    pub(crate) fn write<T: serde::Serialize>(
        &self,
        out: &mut dyn Write,
        report: &T,
        text: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        let written = match self.format {
            ReportFormat::Text => out.write_all(text(report).as_bytes()),
            ReportFormat::Json => write_json(report, out),
            ReportFormat::Yaml => {
                refuse_large(report)?;
                let value = kube_json::to_value(report)?;
                out.write_all(kube_yaml::write_document(&value).as_bytes())
            }
        };
        written.context(UNWRITTEN)
    }
}

/// JSON is written while it is made. YAML is made as a whole, because its keys are sorted: of so many bytes of JSON at most.
const MOST_AS_YAML: usize = 16 << 20;

fn refuse_large(report: &impl serde::Serialize) -> anyhow::Result<()> {
    match write_json(report, &mut Room(MOST_AS_YAML)) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let message = format!(
                "the report has more than {MOST_AS_YAML} bytes of JSON, so it is not written as YAML"
            );
            refuse(&message, "`-o json` writes all of it")
        }
        written => written.context(UNWRITTEN),
    }
}

/// Takes so many more bytes: what is beyond is not made.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Data after a first line, which is written only if there is any data.
struct After<'o, F> {
    out: &'o mut dyn Write,
    first_line: Option<F>,
}

impl<F: FnOnce(&mut dyn Write) -> io::Result<()>> Write for After<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(first_line) = self.first_line.take_if(|_| !bytes.is_empty()) {
            first_line(self.out)?;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What a failure to print is called.
pub(crate) const UNWRITTEN: &str = "cannot write to stdout";

/// Prints a report: the data on stdout, while it is made, the findings on stderr, which decide the status.
pub(crate) fn finish(
    loaded: &Loaded,
    mut findings: Findings,
    options: &ReadOptions,
    data: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<Status> {
    loaded.finish(&mut findings);
    to_stdout(data)?;
    options.write_also(&mut findings, &loaded.sources);
    show::findings(&findings, &loaded.sources, options.speech);
    Ok(Status::of(&findings))
}

/// How an answer about an input is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// How a comment in the data begins; `None` if the data has no comments.
    pub(crate) comment: Option<&'static str>,
    /// Whether warnings are printed, because not all of them are about the input, whose warnings `check` lists.
    pub(crate) with_warnings: bool,
    /// How many errors are about an export, which `render` does not read.
    pub(crate) of_export: usize,
}

impl Answer {
    /// Prints an answer: as [`finish`] does, with a first line if `render` refuses the input.
    pub(crate) fn finish(
        self,
        loaded: &Loaded,
        mut findings: Findings,
        options: &ReadOptions,
        data: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<Status> {
        loaded.finish(&mut findings);
        let errors = findings.count(Severity::Error).saturating_sub(self.of_export);
        let refused = (errors > 0).then(|| {
            let errors = counted(errors, "error");
            format!("`spokewright render` refuses this input because of {errors}")
        });
        let (comment, speech) = (self.comment, options.speech);
        to_stdout(|out| {
            let first_line = refused.map(|refused| {
                move |out: &mut dyn Write| match comment {
                    Some(comment) => writeln!(out, "{comment}{refused}"),
                    None => {
                        show::note(&refused, speech);
                        Ok(())
                    }
                }
            });
            data(&mut After { out, first_line })
        })?;
        options.write_also(&mut findings, &loaded.sources);
        self.findings(loaded, &findings, options);
        Ok(Status::of(&findings))
    }

    /// Prints finished findings: the warnings about the input only as a number.
    pub(crate) fn findings(self, loaded: &Loaded, findings: &Findings, options: &ReadOptions) {
        let speech = options.speech;
        if self.with_warnings || speech.message_format != MessageFormat::Human {
            return show::findings(findings, &loaded.sources, speech);
        }
        show::findings(&findings.only(Severity::Error), &loaded.sources, speech);
        let warnings = findings.count(Severity::Warning);
        if warnings > 0 {
            let them = if warnings == 1 { "it" } else { "them" };
            let check = next::command("check", &options.paths);
            let suppressed = show::suppressed(findings);
            let warnings = counted(warnings, "warning");
            show::calm(&format!("{warnings}{suppressed}; `{check}` lists {them}"), speech);
        }
    }
}

/// A text as data.
pub(crate) fn whole(text: &str) -> impl FnOnce(&mut dyn Write) -> anyhow::Result<()> {
    |out| out.write_all(text.as_bytes()).context(UNWRITTEN)
}

/// Writes data to stdout.
pub(crate) fn to_stdout(data: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    data(&mut out)?;
    out.flush().context(UNWRITTEN)
}

/// Whether a file is standard output.
pub(crate) fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Writes a text to a file that the command line names, and returns what went wrong with that.
pub(crate) fn put(file: &Path, text: &str) -> anyhow::Result<Findings> {
    if is_stdout(file) {
        to_stdout(whole(text))?;
        return Ok(Findings::new());
    }
    to_file(file, |out| out.write_all(text.as_bytes()))
}

/// The same of data that is written while it is made.
pub(crate) fn to_file(
    file: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<Findings> {
    let mut findings = Findings::new();
    // What the shell has opened (`/dev/stdout`, `/dev/fd/63`), or a device: there is no file to replace.
    if file.starts_with("/dev") || file.starts_with("/proc") {
        let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
            fill(&mut out)?;
            out.flush()
        });
        written.with_context(|| format!("cannot write `{}`", file.display()))?;
    } else if let Err(error) = output::write_named(file, fill) {
        findings.extend(error.findings());
    }
    Ok(findings)
}
