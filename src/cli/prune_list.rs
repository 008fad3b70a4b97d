//! `spokewright prune-list`: the works on the hub that are ours and no longer planned.

use std::path::PathBuf;

use clap::Args;
use spokewright::diagnostic::Findings;
use spokewright::pipeline::{Analysis, load_works_and_sets};
use spokewright::report::PruneList;

use super::options::{ClustersOption, ReadOptions, WorkKindOption, empty_result, place};
use super::print::{self, Status};
use super::reporting::{WorksOption, never_freed};

const AFTER_HELP: &str = "\
Examples:
  kubectl get manifestworks,manifestworkreplicasets -A -o yaml > works.yaml
  spokewright prune-list hub --works works.yaml
  spokewright prune-list hub --works works.yaml | kubectl delete -f -
  spokewright prune-list hub --works works.yaml --sole
  spokewright prune-list                what `render` would remove";

/// At most so many works of one sort are named on stderr.
const MOST_NAMED: usize = 10;

/// List works on the hub that are no longer rendered
#[derive(Debug, Args)]
#[command(name = "prune-list", after_long_help = AFTER_HELP)]
pub(crate) struct PruneListCommand {
    #[command(flatten)]
    works: WorksOption,

    /// Claim all works of spokewright and MGC on this hub
    #[arg(long, requires = "works")]
    sole: bool,

    /// Rendered tree to compare with [default: rendered]
    #[arg(short, long, value_name = "DIR", value_parser = place())]
    output: Option<PathBuf>,

    /// Accept an empty result and list everything
    #[arg(long)]
    allow_empty: bool,

    #[command(flatten)]
    work_kind: WorkKindOption,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

impl PruneListCommand {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut request = self.clusters.request(&self.options)?;
        request.output.clone_from(&self.output);
        request.work_kind = self.work_kind.work_kind(self.clusters.is_narrowed())?;
        self.works.keep_out_of(&mut request, &self.options)?;
        let mut findings = Findings::new();
        let mut loaded = never_freed(self.options.load(&request, empty_result(self.allow_empty))?);
        let exported = self
            .works
            .read(|path, stdin| load_works_and_sets(&mut loaded, path, stdin, &mut findings, false));
        let analysis = Analysis::new(&loaded, &mut findings);
        let empty = empty_result(self.allow_empty);
        let list = analysis.prune_list(exported.as_deref(), self.sole, empty, &mut findings);
        let list = list.unwrap_or_else(|error| {
            findings.extend(error.findings());
            PruneList::default()
        });
        loaded.finish(&mut findings);
        self.options.write_also(&mut findings, &loaded.sources);
        if findings.has_errors() {
            // What is not planned because of a mistake must not be deleted for it.
            print::findings(&findings, &loaded.sources, self.options.speech);
            return Ok(Status::of(&findings));
        }
        print::text(&list.documents())?;
        self.say(&list);
        Ok(Status::of(&findings))
    }

    /// What is not listed, and why not.
    fn say(&self, list: &PruneList) {
        let speech = self.options.speech;
        if list.remove.is_empty() {
            let what = self.works.path().map_or("the rendered tree", |_| "the hub");
            speech.calm(&if list.waiting.is_empty() {
                format!("nothing to delete: {what} has no work of this input that is not planned")
            } else {
                "nothing to delete now".to_owned()
            });
        }
        let waiting = list.waiting.iter();
        let waiting = waiting.map(|(entry, because)| format!("{entry} must wait: {because}"));
        let unclaimed = list.unclaimed.iter();
        let unclaimed = unclaimed.map(|entry| format!("{entry} is not planned, and its owner is unknown"));
        for lines in [waiting.collect::<Vec<_>>(), unclaimed.collect()] {
            print::first_lines("note", &lines, MOST_NAMED, |line| speech.note(line));
        }
        if !list.unclaimed.is_empty() {
            speech.note("help: if no other input renders into this hub, add `--sole`");
        }
    }
}
