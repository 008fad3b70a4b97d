//! `spokewright status`: the status of hub objects, predicted or aggregated from what the clusters report.

use std::io::Write;

use clap::Args;
use spokewright::Object;
use spokewright::diagnostic::{Findings, Severity, nearest};
use spokewright::pipeline::{Analysis, EmptyResult, Loaded, load_works};
use spokewright::report::{
    ExportedWorks, ObjectStatus, Required, StatusReport, status_text, works_in_the_way,
};

use super::options::{ClustersOption, ReadOptions, of_kind};
use super::print::{self, MessageFormat, Refusal, Status, refuse, whole};
use super::reporting::{self, Answer, ReportFormat, Reporting, WorksOption, never_freed};

const AFTER_HELP: &str = "\
Examples:
  spokewright status            the status of every object once all is applied
  spokewright status -o json    with effectivePolicy and Affected conditions
  spokewright status -o yaml    an EffectivePolicy document for each target

  Collect what the clusters report:
  kubectl get manifestwork -A -o yaml | spokewright status hub --works -

  Wait for a rollout; exits 4 until it is done:
  spokewright status hub --works works.yaml --exit-code
  spokewright status hub --works works.yaml --require gateway=Programmed";

/// At most so many objects or works are named on stderr; the report has them all.
const MOST_UNMET: usize = 10;

/// Predict the status of objects, or collect it from clusters
#[derive(Debug, Args)]
#[command(name = "status", after_long_help = AFTER_HELP)]
pub(crate) struct StatusCommand {
    #[command(flatten)]
    reporting: Reporting,

    #[command(flatten)]
    works: WorksOption,

    /// Exit 4 unless all of the kind meet it; repeatable
    #[arg(long, value_name = "KIND=COND", value_parser = requirement)]
    require: Vec<(String, String)>,

    /// Exit 4 unless the clusters have exactly what is planned
    #[arg(long, requires = "works")]
    exit_code: bool,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

/// What keeps the gate closed.
type Unmet = Result<Vec<String>, Refusal>;

fn requirement(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((kind, condition)) if !kind.is_empty() && !condition.is_empty() => {
            Ok((kind.to_owned(), condition.to_owned()))
        }
        _ => Err("write KIND=CONDITION, as in gateway=Programmed".to_owned()),
    }
}

impl StatusCommand {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut request = self.clusters.request(&self.options)?;
        self.works.keep_out_of(&mut request, &self.options)?;
        let mut findings = Findings::new();
        let mut loaded = never_freed(self.options.load(&request, EmptyResult::Refused)?);
        let exported = self
            .works
            .read(|path, stdin| load_works(&mut loaded, path, stdin, &mut findings));
        match exported {
            Some(exported) => self.aggregated(&loaded, &exported, findings),
            None => self.predicted(&loaded, findings),
        }
    }

    /// Prints the data, and what keeps the gate closed; where there is no status at all, also what to do.
    fn finish(
        &self,
        loaded: &Loaded,
        mut findings: Findings,
        (answer, unmet, is_empty): (Answer, Unmet, bool),
        data: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<Status> {
        let unmet = match unmet {
            Ok(unmet) => unmet,
            Err(refusal) => {
                // A kind may be missing because its file cannot be read: then this says so.
                loaded.finish(&mut findings);
                answer.findings(loaded, &findings, &self.options);
                return Err(refusal.into());
            }
        };
        let status = answer.finish(loaded, findings, &self.options, data)?;
        if is_empty {
            let next = "next: `spokewright check` shows what is missing to render";
            reporting::nothing_to_show(loaded, "status", &[next], self.options.speech);
        }
        // Not between the findings of a document.
        if self.options.speech.message_format == MessageFormat::Human {
            print::first_lines("error", &unmet, MOST_UNMET, print::line);
        }
        Ok(if unmet.is_empty() || status != Status::Done {
            status
        } else {
            Status::Unresolved
        })
    }

    fn predicted(&self, loaded: &Loaded, mut findings: Findings) -> anyhow::Result<Status> {
        let analysis = never_freed(Analysis::new(loaded, &mut findings));
        let (received, spokes) = analysis.received(None);
        let spokes = never_freed(spokes);
        let view = never_freed(analysis.policies(received, &spokes, &mut findings));
        let (statuses, too_many) = match analysis.statuses(&view) {
            Ok(statuses) => (never_freed(statuses), None),
            Err(too_many) => (never_freed(Vec::new()), Some(*too_many)),
        };
        // Of objects without a status only because there are too many, an error says so: nothing is known of them.
        let unmet = match too_many {
            None => self.unmet(loaded, &statuses),
            Some(_) => Ok(self.unknown()),
        };
        let is_empty = statuses.is_empty() && too_many.is_none();
        let is_yaml = self.reporting.format == ReportFormat::Yaml;
        let too_much = view.too_much_to_list().filter(|_| is_yaml).or(too_many);
        let is_too_much = too_much.is_some();
        findings.extend(too_much);
        self.finish(
            loaded,
            findings,
            (self.reporting.answer(), unmet, is_empty),
            |out| {
                if is_too_much {
                    Ok(())
                } else if is_yaml {
                    // EffectivePolicy documents.
                    let documents = view.effective_policy_documents();
                    let documents = documents.map(|document| kube_yaml::write_document(&document));
                    whole(&documents.collect::<Vec<_>>().join("---\n"))(out)
                } else {
                    self.write(&StatusReport::predicted(&statuses), out)
                }
            },
        )
    }

    fn aggregated(
        &self,
        loaded: &Loaded,
        exported: &ExportedWorks,
        mut findings: Findings,
    ) -> anyhow::Result<Status> {
        let answer = Answer {
            with_warnings: true,
            of_export: findings.count(Severity::Error),
            ..self.reporting.answer()
        };
        if exported.has_no_work() && findings.has_errors() {
            // That every work is missing would be a lie: nobody could read them.
            return self.finish(loaded, findings, (answer, Ok(Vec::new()), false), whole(""));
        }
        self.say_what_was_skipped(exported, loaded);
        let aggregated = Analysis::new(loaded, &mut findings).aggregate(exported, &mut findings);
        let in_the_way = if self.exit_code {
            works_in_the_way(&aggregated.works)
        } else {
            Vec::new()
        };
        let unmet = self.unmet(loaded, &aggregated.objects);
        let unmet = unmet.map(|unmet| [in_the_way, unmet].concat());
        self.finish(loaded, findings, (answer, unmet, false), |out| {
            self.write(&StatusReport::aggregated(&aggregated), out)
        })
    }

    fn write(&self, report: &StatusReport<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
        self.reporting
            .write(out, report, |report| status_text(report, width()))
    }

    /// What is required, where there are too many statuses to look at.
    fn unknown(&self) -> Vec<String> {
        let required = self.require.iter();
        required
            .map(|(kind, condition)| {
                format!("{kind}={condition} is not checked: there are too many statuses")
            })
            .collect()
    }

    /// The objects that lack a condition which is required of their kind.
    fn unmet(&self, loaded: &Loaded, statuses: &[ObjectStatus]) -> Result<Vec<String>, Refusal> {
        let objects: Vec<&Object> = loaded.hub.objects.iter().collect();
        let mut unmet = Vec::new();
        for (kind, condition) in &self.require {
            let required = Required::new(statuses, &of_kind(loaded, &objects, kind)?);
            if required.is_empty() {
                return refuse(
                    &format!("no `{kind}` of the input is ours"),
                    "`controllerName` in the configuration decides which GatewayClasses and Gateways are ours",
                );
            }
            let lines = required.without(condition);
            let known = required.conditions();
            let misspelled = nearest(condition, known).filter(|near| !near.eq_ignore_ascii_case(condition));
            if let (Some(near), false) = (misspelled, lines.is_empty()) {
                return refuse(
                    &format!("no `{kind}` has a condition `{condition}`"),
                    &format!("did you mean `{kind}={near}`?"),
                );
            }
            unmet.extend(lines);
        }
        Ok(unmet)
    }

    fn say_what_was_skipped(&self, exported: &ExportedWorks, loaded: &Loaded) {
        let speech = self.options.speech;
        if let Some(path) = self
            .works
            .path()
            .filter(|_| exported.has_no_work() && !speech.quiet)
        {
            print::line(&format!("note: there is no ManifestWork in `{}`", path.display()));
        }
        if !speech.verbose {
            return;
        }
        for object in exported.skipped() {
            let at = print::at(loaded, &object.place("/kind"));
            let identity = object.identity();
            print::line(&format!("note: {at}{identity} is not a ManifestWork; skipped"));
        }
        let count = exported.passed_over;
        if count > 0 {
            print::line(&format!("note: documents that are not objects, skipped: {count}"));
        }
    }
}

/// Tables are read, not scanned: wider than this they only move apart.
fn width() -> usize {
    const WIDEST: usize = 80;
    print::width().min(WIDEST)
}
