//! `spokewright status`: what the hub objects' status would say, or says by what the clusters report.
//!
//! Owns: its options, and whether statuses are predicted or aggregated. Flows in: arguments, exported works. Flows
//! out: tables or documents on stdout. Must not know: how a status comes about.

use std::path::{Path, PathBuf};

use clap::Args;
use spokewright::Hub;
use spokewright::diagnostic::{Findings, Locate as _};
use spokewright::pipeline::{self, Analysis, Loaded, Request};
use spokewright::render::{GROUP, MANIFEST_WORK};
use spokewright::report::{StatusReport, status_text};

use super::next;
use super::options::{ReadOptions, read_stdin};
use super::reporting::{ReportFormat, Reporting, finish};
use super::show;
use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  spokewright status            what every status would say once all is applied
  spokewright status -o json    with effectivePolicy and Affected conditions
  spokewright status -o yaml    an EffectivePolicy document for each target

  What the clusters report, as the status of the hub objects:
  kubectl get manifestwork -A -o yaml | spokewright status hub --works -";

/// Say what statuses will be, or are by what the clusters report
#[derive(Debug, Args)]
#[command(name = "status", after_help = AFTER_HELP)]
pub(crate) struct StatusCommand {
    #[command(flatten)]
    options: ReadOptions,

    #[command(flatten)]
    reporting: Reporting,

    /// Exported ManifestWorks to aggregate: a file, a directory, or `-` for standard input
    #[arg(long, value_name = "PATH", help_heading = "Input")]
    works: Option<PathBuf>,
}

impl StatusCommand {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let works = self.works.as_deref();
        let works_on_stdin = works == Some(Path::new("-"));
        if works_on_stdin && self.options.reads_stdin() {
            show::line("error: standard input can be read only once");
            show::line("help: name a file for the input or for `--works`");
            return Ok(Status::Usage);
        }
        let mut request = self.options.request()?;
        request
            .skip
            .extend(works.filter(|_| !works_on_stdin).map(Path::to_owned));
        let mut findings = Findings::new();
        let (loaded, data, has_none) = match works {
            Some(path) => {
                let (loaded, data) = self.aggregated(&request, path, works_on_stdin, &mut findings)?;
                (loaded, data, false)
            }
            None => self.predicted(&request, &mut findings)?,
        };
        let status = finish(&loaded, findings, &data, &self.options)?;
        if has_none {
            next::without_statuses(&loaded, self.options.speech);
        }
        Ok(status)
    }

    /// The input, the report, and whether it is empty.
    fn predicted(
        &self,
        request: &Request,
        findings: &mut Findings,
    ) -> anyhow::Result<(Loaded, String, bool)> {
        let loaded = self.options.load(request)?;
        let analysis = Analysis::new(&loaded, findings);
        let spokes = analysis.spokes();
        let view = analysis.policies(&spokes, findings);
        let statuses = analysis.statuses(&view);
        let has_none = statuses.is_empty();
        let data = if self.reporting.output == ReportFormat::Yaml {
            let documents = view.effective_policy_documents();
            let texts: Vec<String> = documents.iter().map(kube_yaml::write_document).collect();
            texts.join("---\n")
        } else {
            let report = StatusReport::predicted(&statuses);
            self.reporting
                .write(&report, |report| status_text(report, width()))
        };
        drop(view);
        drop(spokes);
        drop(analysis);
        Ok((loaded, data, has_none))
    }

    fn aggregated(
        &self,
        request: &Request,
        path: &Path,
        on_stdin: bool,
        findings: &mut Findings,
    ) -> anyhow::Result<(Loaded, String)> {
        let stdin = on_stdin.then(read_stdin).transpose()?;
        let mut loaded = self.options.load(request)?;
        let exported = pipeline::load_works(&mut loaded, path, stdin.as_deref(), findings);
        let none = exported.objects.of_kind(GROUP, MANIFEST_WORK).is_empty();
        if none && findings.has_errors() {
            // That every work is missing would be a lie: nobody could read them.
            return Ok((loaded, String::new()));
        }
        self.say_what_was_skipped(&exported, &loaded, path);
        let aggregated = Analysis::new(&loaded, findings).aggregate(&exported.objects, findings);
        let report = StatusReport::aggregated(&aggregated);
        let data = self
            .reporting
            .write(&report, |report| status_text(report, width()));
        Ok((loaded, data))
    }

    fn say_what_was_skipped(&self, exported: &Hub, loaded: &Loaded, path: &Path) {
        let speech = self.options.speech;
        if exported.objects.of_kind(GROUP, MANIFEST_WORK).is_empty() && !speech.quiet {
            show::line(&format!("note: there is no ManifestWork in `{}`", path.display()));
        }
        if !speech.verbose {
            return;
        }
        for object in &exported.objects {
            if !object.is(GROUP, MANIFEST_WORK) {
                let place = object.place("/kind");
                let at = loaded.sources.locate(&place);
                let at = at.map_or_else(String::new, |span| format!("{}:{}: ", span.path, span.line));
                let identity = object.identity();
                show::line(&format!("note: {at}{identity} is no ManifestWork; skipped"));
            }
        }
        if exported.skipped_documents > 0 {
            let count = exported.skipped_documents;
            show::line(&format!("note: documents that are no objects, skipped: {count}"));
        }
    }
}

/// Tables are read, not scanned: wider than this they only move apart.
fn width() -> usize {
    const WIDEST: usize = 80;
    show::width().min(WIDEST)
}
