//! `spokewright check`: reports every error and warning, and writes nothing.
//!
//! Only its options and the summary line are here.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use clap::Args;
use spokewright::diagnostic::{Findings, Severity, counted};
use spokewright::pipeline::{self, EmptyResult, Request};

use super::options::{ClustersOption, ReadOptions};
use super::print::{Status, UNWRITTEN, to_stdout};
use super::watch::watch;
use super::{print, reporting};

const AFTER_HELP: &str = "\
Examples:
  spokewright check --deny warnings                      fail on warnings too
  spokewright check --watch                              while you edit
  spokewright check --inputs git-index                   in a pre-commit hook
  spokewright check --message-format sarif > check.sarif
  spokewright check --message-format github              on a pull request
  spokewright check --message-format junit > junit.xml   for other CI systems";

/// Report errors and warnings in the input; write nothing
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Check {
    /// Check again on every change, until Ctrl-C
    #[arg(long)]
    watch: bool,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        if self.watch {
            self.options.check_watchable()?;
            let request = self.clusters.request(&self.options)?;
            return watch(&request, self.options.speech, "checking", &mut || self.once());
        }
        self.once()
    }

    fn once(&self) -> anyhow::Result<Status> {
        let request = Request {
            search_outputs: true,
            ..self.clusters.request(&self.options)?
        };
        let loaded = self.options.load(&request, EmptyResult::Refused)?;
        print::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        pipeline::check(&loaded, &mut findings);
        loaded.finish(&mut findings);
        self.options.write_also(&mut findings, &loaded.sources);
        // For this command the findings are the data (docs/reference/exit-statuses.md).
        let (speech, terminal) = (self.options.speech, std::io::stdout().is_terminal());
        to_stdout(|out| {
            print::write_findings(out, &findings, &loaded.sources, speech, terminal).context(UNWRITTEN)
        })?;
        print::passed_over(&loaded, &print::unused(&loaded, speech), speech);
        if !self.options.speech.quiet {
            print::line(&format!(
                "{} in {}: {}, {}{}",
                counted(loaded.hub.objects.len(), "object"),
                counted(loaded.sources.files().len(), "file"),
                counted(findings.count(Severity::Error), "error"),
                counted(findings.count(Severity::Warning), "warning"),
                print::suppressed(&findings)
            ));
        }
        print::without_schema(&loaded, self.options.speech);
        print::explained(&findings, self.options.speech, std::io::stdout().is_terminal());
        for directory in &self.options.paths {
            reporting::without_owner(directory, self.options.speech);
        }
        let status = Status::of(&findings);
        if status == Status::Done && !self.watch {
            reporting::after_clean_check(&loaded, &self.options);
        }
        if !self.watch {
            // The process ends here, so freeing the input would only cost time.
            let _ = reporting::never_freed(loaded);
        }
        Ok(status)
    }
}
