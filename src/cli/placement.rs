//! `spokewright placement`: which clusters OCM's scheduler selects, and why.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::ArgValueCompleter;
use ocm_placement::{Detail, Evaluation, GROUP, evaluate};
use spokewright::diagnostic::{Code, Finding, Findings, counted};
use spokewright::output::write_files;
use spokewright::pipeline::{self, EmptyResult, Loaded};
use spokewright::progress::Stage;
use spokewright::render::{PLACEMENT_LABEL_POINTER, decision_file, decision_files};
use spokewright::report::{PlacementExplanation, PlacementReport, placement_table, why_text};

use super::options::{ClustersOption, ReadOptions, unknown_cluster};
use super::print::{Refusal, Status, to_stdout};
use super::reporting::{Reporting, is_same_file};
use super::{completions, print, reporting};

const AFTER_HELP: &str = "\
Examples:
  spokewright placement                        what each Placement selects
  spokewright placement --why eu-1             why they select it, or do not
  spokewright placement -o json                filters, scores, decisions
  spokewright placement --write hub/decisions  PlacementDecisions for Git";

/// Evaluate Placements as OCM's scheduler does
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Placement {
    #[command(flatten)]
    reporting: Reporting,

    /// Explain why each Placement selects this cluster or not
    #[arg(long, value_name = "CLUSTER", add = ArgValueCompleter::new(completions::cluster))]
    why: Option<String>,

    /// Also write PlacementDecision files for the next run
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

impl Placement {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let request = self.clusters.request(&self.options)?;
        let loaded = self.options.load(&request, EmptyResult::Refused)?;
        print::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        let inventory = pipeline::inventory(&loaded.hub, &mut findings);
        let input = loaded.evaluation_input(&inventory);
        let stage = loaded.progress.begin(Stage::Placing);
        let evaluation = evaluate(&input, Detail::Full);
        drop(stage);
        findings.extend(pipeline::problems(&loaded.hub, &evaluation));
        let explanations = self.why.as_deref().map(|cluster| {
            let not_managed = || not_managed(cluster, &loaded);
            evaluation.explain(cluster).ok_or_else(not_managed)
        });
        let explanations = match explanations.transpose() {
            Ok(explanations) => explanations,
            Err(refusal) => {
                // It may be in a file that cannot be read: then this says so.
                loaded.finish(&mut findings);
                print::findings(&findings, &loaded.sources, self.options.speech);
                return Err(refusal.into());
            }
        };
        if let Some(directory) = &self.write {
            findings.extend(pipeline::unwritable(&loaded.hub, &evaluation));
            findings.extend(elsewhere(&evaluation, &loaded, directory));
        }
        let relative = loaded.sources.root_relative();
        let locate = self.reporting.locate(&loaded.sources, &relative);
        let source = loaded.config.placement.unwrap_or_default().source;
        loaded.finish(&mut findings);
        to_stdout(|out| match &explanations {
            Some(explanations) => {
                let cluster = self.why.as_deref().unwrap_or_default();
                let report = PlacementExplanation::new(cluster, explanations, &loaded.hub, source, locate);
                self.reporting.write(out, &report, why_text)
            }
            None => {
                let admits = |cluster: &str| loaded.admits(cluster);
                let is_narrowed = self.clusters.is_narrowed();
                let admits = is_narrowed.then_some(&admits as &dyn Fn(&str) -> bool);
                let report = PlacementReport::new(&evaluation, &loaded.hub, source, locate, admits);
                let text = |report: &PlacementReport<'_>| placement_table(report, print::width());
                self.reporting.write(out, &report, text)
            }
        })?;
        self.options.write_also(&mut findings, &loaded.sources);
        print::findings(&findings, &loaded.sources, self.options.speech);
        let status = Status::of(&findings);
        if self.why.is_none() && inventory.placements().next().is_none() {
            reporting::without_placements(&loaded, self.options.speech);
        }
        if let (Some(directory), Status::Done) = (&self.write, status) {
            let done = match write_files(directory, &decision_files(evaluation.decision_objects())) {
                Ok(done) => done,
                Err(error) => return Ok(print::obstacles(&error, &loaded.sources, self.options.speech)),
            };
            if !self.options.speech.quiet {
                let (written, unchanged) = (counted(done.written, "file"), done.unchanged);
                let directory = directory.display();
                print::line(&format!(
                    "{written} written, {unchanged} unchanged in `{directory}`"
                ));
            }
        }
        Ok(status)
    }
}

/// The refusal to explain the placement of a cluster that has no ManagedCluster: only decisions or a directory of local
/// objects name it, if anything does.
fn not_managed(cluster: &str, loaded: &Loaded) -> Refusal {
    let known = loaded.known_clusters();
    if !known.contains(cluster) {
        return unknown_cluster(cluster, &known);
    }
    let message =
        format!("the input has no ManagedCluster `{cluster}`, by which Placements would be evaluated");
    let help = format!("add it: `kubectl get managedcluster {cluster} -o yaml`");
    Refusal::new(Status::Usage, &message, &help)
}

/// Decisions that already are in another file would stand twice.
fn elsewhere(evaluation: &Evaluation<'_>, loaded: &Loaded, directory: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for object in evaluation.decision_objects() {
        let text = |pointer| {
            object
                .pointer(pointer)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
        };
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let placement = text(PLACEMENT_LABEL_POINTER);
        let target = directory.join(decision_file(namespace, placement));
        let objects = &loaded.hub.objects;
        let Some(existing) = objects.find(GROUP, "PlacementDecision", Some(namespace), name) else {
            continue;
        };
        let file = loaded.sources.file(existing.origin.document.source);
        if !file.is_some_and(|file| is_same_file(Path::new(&file.shown), &target)) {
            let message = format!("{} would be in `{}` twice", existing.identity(), target.display());
            findings.push(
                Finding::new(Code::OBJECT_DUPLICATE, existing.place("/metadata/name"), message)
                    .label("it is already here")
                    .help("remove it here: the new file contains the new decisions"),
            );
        }
    }
    findings
}
