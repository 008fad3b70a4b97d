//! `spokewright diff`: what a change of the input does to every cluster. Here are its options, also those for change budgets
//! and for `--without`, and which two sides are compared.

pub(super) mod base;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use base::{Base, BaseOptions, Evaluated, GROUP_OF_BASES, Input, changes, judge_base, read_tree};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use spokewright::diagnostic::{
    Code, Finding, Findings, Locate, Place, Severity, counted, shell_path, shell_word,
};
use spokewright::output::Earlier;
use spokewright::pipeline::{self, Before, Budget, EmptyResult, Loaded, Request};
use spokewright::progress::Stage;
use spokewright::render::WorkKind;
use spokewright::report::RuleOutcome;
use spokewright::report::diff::{
    self, BothSides, DiffReport, EffectiveSettings, Limit, Look, Side, Terms, Titles, Unreadable,
};
use spokewright::source::{RootRelative, Sources};
use spokewright::{Hub, Object};

use super::completions;
use super::options::{
    Choice, ClustersOption, ReadOptions, WorkKindOption, check_clusters, choice, empty_result, named,
};
use super::print::{self, Ended, Refusal, Speech, Status, refuse};
use super::reporting::{WorksOption, is_stdout, located, never_freed, put};

const AFTER_HELP: &str = "\
Examples:
  spokewright diff                                 since the last commit
  spokewright diff hub --base origin/main          what merging would do
  spokewright diff hub --base-tree rendered        against a rendered tree
  spokewright diff hub --base-dir ../other/hub     against another input
  kubectl get manifestworks,manifestworkreplicasets -A -o yaml > works.yaml
  spokewright diff hub --base-works works.yaml     against the live hub
  spokewright diff hub --base-spokes live          against live/CLUSTER/*.yaml
  spokewright diff --format markdown --output-file comment.md
                                                   for a pull request
  spokewright diff --format semantic               one line per field
  spokewright diff --without Gateway/gateways/web  what removing it would do

--base refuses a name that is also a path: write NAME^{commit} for the
revision. Values of Secrets never appear.
Exit status: 1 if anything differs, 0 if not, 4 beyond the change budget.";

/// Show what a change to the input does to every cluster
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Diff {
    #[command(flatten)]
    base: BaseOptions,

    /// Compare with exported works of the hub, or `-`
    #[arg(long, value_name = "PATH", group = GROUP_OF_BASES)]
    base_works: Option<PathBuf>,

    /// Compare with objects of clusters, in DIR/CLUSTER
    #[arg(long, value_name = "DIR", group = GROUP_OF_BASES, hide_short_help = true)]
    base_spokes: Option<PathBuf>,

    /// Show what removing this object would do
    #[arg(long, value_name = "OBJECT", add = ArgValueCompleter::new(completions::objects))]
    #[arg(conflicts_with = GROUP_OF_BASES)]
    without: Option<String>,

    /// Accept an empty result: show all as removed
    #[arg(long)]
    allow_empty: bool,

    #[command(flatten)]
    budget: BudgetOptions,

    #[command(flatten)]
    work_kind: WorkKindOption,

    /// Format of the differences
    #[arg(short = 'o', long, alias = "output")]
    #[arg(value_name = "FORMAT", default_value = "text")]
    format: Form,

    /// Size limit of `--format markdown`; GitHub allows comments of 65,536 characters
    #[arg(long, value_name = "BYTES", default_value_t = diff::DEFAULT_BUDGET)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    max_bytes: usize,

    /// Write the differences to this file instead of stdout
    #[arg(long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    output_file: PathBuf,

    /// Name of the fleet, for the headline and the marker of a comment
    #[arg(long, value_name = "TEXT", help_heading = "Output", hide_short_help = true)]
    title: Option<String>,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A table of clusters, then unified hunks
    #[value(alias = "human")]
    Text,
    /// One line for each field: `path: old -> new`
    Semantic,
    /// A comment for a pull request
    Markdown,
    /// One JSON document, kind DiffReport
    Json,
    /// ClusterOverlays that keep what the base has, and comments
    Overlays,
}

impl Diff {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut request = self.clusters.request(&self.options)?;
        request.work_kind = self.work_kind.work_kind(self.clusters.is_narrowed())?;
        // What we write is no input, wherever it stands.
        let file = Some(&self.output_file).filter(|file| !is_stdout(file));
        request.skip.extend(file.cloned());
        if let Some(object) = &self.without {
            return self.without(&request, object);
        }
        if self.base_works.is_some() {
            return self.against_works(request);
        }
        if let Some(path) = &self.base_spokes {
            return self.against_spokes(request, path);
        }
        match self.base.find(&request, &self.options)? {
            Base::Tree(path) => self.against_tree(&request, &path),
            Base::Input(input) => {
                request.history = input.revision().map(str::to_owned);
                self.against_input(&request, input)
            }
        }
    }

    fn against_input(&self, request: &Request, input: Input) -> anyhow::Result<Status> {
        let (new, _) = self.options.read(request)?;
        let empty = empty_result(self.allow_empty);
        // The repository of a revision stays in this thread.
        let (mut new, base) = std::thread::scope(|scope| {
            let new = scope.spawn(|| never_freed(Evaluated::new(new, empty)));
            // What is wrong with it is over: that nothing comes out of it is no error.
            let base = never_freed(Evaluated::new(input.load(request), EmptyResult::Allowed));
            let new = new
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (new, base)
        });
        self.check_clusters(&[&new, &base])?;
        let terms = Terms::new(
            (&base.loaded.config, &base.loaded.hub, base.loaded.overlays()),
            (&new.loaded.config, &new.loaded.hub, new.loaded.overlays()),
            |cluster| new.loaded.admits(cluster),
        );
        let on_old_spokes = (!terms.spokes.is_empty())
            .then(|| new.on_clusters_of(&base))
            .flatten();
        self.judge(&new)?;
        let is_old_output = input.revision().is_some() && base.loaded.output != new.loaded.output;
        let old_output = is_old_output.then_some(&base.loaded);
        self.judge_outputs(&new, old_output)?;
        judge_base(&input, &base, self.options.speech)?;
        let layout = base.rendered.layout(&base.loaded);
        let before = Before::Rendered(&layout);
        let (changes, lost) = rayon::join(|| changes(&base, &new), || lost(&new, &before));
        let on_old_spokes = base.effective.as_ref().zip(on_old_spokes.as_ref());
        let on_old_spokes = on_old_spokes.map(|(old, new)| EffectiveSettings::changes(old, new));
        let denied = diff::denied(&changes, on_old_spokes.unwrap_or_default());
        let (old_sources, new_sources) = (&base.loaded.sources, &new.loaded.sources);
        let (old_relative, new_relative) = (old_sources.root_relative(), new_sources.root_relative());
        let old_texts = self.locate(old_sources, &old_relative);
        let new_texts = self.locate(new_sources, &new_relative);
        let mut old = Side::of_plan(&base.rendered.plan);
        old.retain_clusters(|cluster| new.loaded.admits(cluster));
        // Whoever raises the budget in a change does not raise it for that change.
        let budget = new.loaded.config.budget().and(base.loaded.config.budget());
        let budget = self.budget.of(budget);
        let violations = RuleOutcome::new_violations(&base.rules, &new.rules, new_texts);
        let report = DiffReport {
            titles: self.titles(input.title()),
            effective_changes: changes,
            denied,
            terms,
            violations,
            ..DiffReport::default()
        };
        let sides = (&old, &Side::of_plan(&new.rendered.plan));
        let found = self.report(&new.loaded, report, sides, &lost, &[old_texts, new_texts], budget)?;
        Ok(self.with_lost(found, &new, &lost))
    }

    fn against_tree(&self, request: &Request, path: &Path) -> anyhow::Result<Status> {
        let new = self.evaluate(request)?;
        let side = Side::of_plan(&new.rendered.plan);
        let files = read_tree(path, &side, self.options.speech)?;
        self.judge_outputs(&new, None)?;
        let mut old = Side::of_tree(&files, &side);
        old.retain_clusters(|cluster| new.loaded.admits(cluster));
        // It could be read a moment ago.
        let before = Earlier::open(path, None).ok();
        let lost = before.map_or_else(Findings::new, |before| lost(&new, &Before::Tree(&before)));
        self.against_files(&new, path, (&old, &side), &lost)
    }

    fn against_works(&self, mut request: Request) -> anyhow::Result<Status> {
        let option = WorksOption::for_base(self.base_works.clone());
        option.keep_out_of(&mut request, &self.options)?;
        let (mut new, mut findings) = (self.evaluate(&request)?, Findings::new());
        let works = option.read(|path, stdin| {
            pipeline::load_works_and_sets(&mut new.loaded, path, stdin, &mut findings, true)
        });
        let (Some(works), Some(path)) = (works, option.path()) else {
            return Ok(Status::of(&findings));
        };
        let side = Side::of_plan(&new.rendered.plan);
        let admits = |cluster: &str| new.loaded.admits(cluster);
        let old = Side::of_hub(&works, &new.loaded.hub, &side, admits);
        self.against_live(&new, path, (old, &side), &findings)
    }

    fn against_spokes(&self, mut request: Request, path: &Path) -> anyhow::Result<Status> {
        // On a cluster, the works of a set are works.
        request.work_kind = WorkKind::ManifestWork;
        request.skip.push(path.to_owned());
        let (mut new, mut findings) = (self.evaluate(&request)?, Findings::new());
        let (loaded, plan) = (&mut new.loaded, &new.rendered.plan);
        let directories = plan
            .clusters
            .keys()
            .map(|cluster| (cluster.clone(), path.join(cluster)));
        let directories = directories.filter(|(_, path)| path.is_dir());
        let is_verbose = self.options.speech.verbose;
        let objects = pipeline::load_base_spokes(loaded, plan, directories, &mut findings, is_verbose);
        let side = Side::of_plan(plan);
        self.against_live(&new, path, (objects.side(), &side), &findings)
    }

    fn against_live(
        &self,
        new: &Evaluated,
        path: &Path,
        (old, side): (Side<'_>, &Side<'_>),
        findings: &Findings,
    ) -> anyhow::Result<Status> {
        print::findings(findings, &new.loaded.sources, self.options.speech);
        if findings.has_errors() {
            let speech = self.options.speech;
            speech.note("the base could not be read; nothing was compared");
            return Err(Ended(Status::of(findings)).into());
        }
        if old.is_empty() {
            return refuse(
                &format!("`{}` has nothing of this input", path.display()),
                "export works with `kubectl get manifestworks,manifestworkreplicasets -A -o yaml`, or objects to DIR/CLUSTER",
            );
        }
        self.against_files(new, path, (&old, side), &Findings::new())
    }

    /// Compares with files that were read.
    fn against_files(
        &self,
        new: &Evaluated,
        path: &Path,
        (old, side): (&Side<'_>, &Side<'_>),
        lost: &Findings,
    ) -> anyhow::Result<Status> {
        let (nothing, sources) = (Sources::default(), &new.loaded.sources);
        let relative = sources.root_relative();
        let texts = self.locate(sources, &relative);
        let configured = new.loaded.config.budget();
        let budget = self.budget.of_tree(configured, self.options.speech)?;
        let report = DiffReport {
            titles: self.titles(path.display().to_string()),
            ..DiffReport::default()
        };
        let found = self.report(&new.loaded, report, (old, side), lost, &[&nothing, texts], budget)?;
        Ok(self.with_lost(found, new, lost))
    }

    /// Says which rights go before the objects that they are for, and which updates clusters would refuse: `render` over
    /// this base would refuse both. The report has the objects that leave all clusters, or change their works.
    fn with_lost(&self, (differs, mut found): (bool, Findings), new: &Evaluated, lost: &Findings) -> Status {
        let mut refused = lost.clone();
        refused.retain(|finding| ![Code::OBJECT_WITHDRAWN, Code::OBJECT_MOVED].contains(&finding.code));
        print::findings(&refused, &new.loaded.sources, self.options.speech);
        found.extend(lost.clone());
        self.also(new, &mut found);
        found.extend(new.findings.only(Severity::Error));
        Status::compared(differs, &found)
    }

    /// Writes what `--also` asks for, the findings of the input and what else was `found`, and adds what went wrong with
    /// that.
    fn also(&self, input: &Evaluated, found: &mut Findings) {
        let mut all = input.findings.clone();
        all.extend(found.clone());
        let failed = self.options.also(&all, &input.loaded.sources);
        print::findings(&failed, &input.loaded.sources, self.options.speech);
        found.extend(failed);
    }

    /// The texts under the paths that the form has.
    fn locate<'s>(&self, sources: &'s Sources, relative: &'s RootRelative<'s>) -> &'s dyn Locate {
        located(self.format != Form::Json, sources, relative)
    }

    fn titles(&self, base: String) -> Titles {
        let (option, value) = match (&self.base_works, &self.base_spokes) {
            (Some(path), _) => ("--base-works", path.display().to_string()),
            (None, Some(path)) => ("--base-spokes", path.display().to_string()),
            (None, None) => self.base.words(),
        };
        Titles {
            command: self.command(option, &value),
            old: base,
            new: self.options.state().to_owned(),
            fleet: self.title.clone(),
        }
    }

    /// What the work tree lacks without one object.
    fn without(&self, request: &Request, object: &str) -> anyhow::Result<Status> {
        let with = self.evaluate(request)?;
        let (mut loaded, _) = self.options.read(request)?;
        let title = remove(&mut loaded, object)?;
        let without = Evaluated::new(loaded, EmptyResult::Allowed);
        let changes = changes(&with, &without);
        let titles = Titles {
            command: self.command("--without", object),
            new: format!("without {title}"),
            ..self.titles(self.options.state().to_owned())
        };
        let [old, new] = [&with, &without].map(|side| Side::of_plan(&side.rendered.plan));
        let loaded = &without.loaded;
        let relative = loaded.sources.root_relative();
        let texts = self.locate(&loaded.sources, &relative);
        let report = DiffReport {
            titles,
            effective_changes: changes,
            violations: RuleOutcome::new_violations(&with.rules, &without.rules, texts),
            ..DiffReport::default()
        };
        let (lost, locate) = (Findings::new(), [texts, texts]);
        // Nobody is about to merge it.
        let budget = Budget::default();
        let (differs, mut found) = self.report(loaded, report, (&old, &new), &lost, &locate, budget)?;
        self.also(&without, &mut found);
        // What would be wrong without it is part of the answer.
        if without.findings.has_errors() {
            let errors = without.findings.only(Severity::Error);
            print::findings(&errors, &loaded.sources, self.options.speech);
            let count = counted(errors.count(Severity::Error), "error");
            let note = format!("without {title} the input has {count}");
            self.options.speech.note(&note);
            found.extend(errors);
        }
        Ok(Status::compared(differs, &found))
    }

    /// One side alone; errors in it end the run.
    fn evaluate(&self, request: &Request) -> anyhow::Result<Evaluated> {
        let (loaded, _) = self.options.read(request)?;
        let evaluated = Evaluated::new(loaded, empty_result(self.allow_empty));
        self.check_clusters(&[&evaluated])?;
        self.judge(&evaluated)?;
        Ok(evaluated)
    }

    /// A cluster that joins or leaves is known to one of both sides.
    fn check_clusters(&self, sides: &[&Evaluated]) -> Result<(), Refusal> {
        if self.allow_empty {
            return Ok(());
        }
        check_clusters(&sides.iter().map(|side| &side.loaded).collect::<Vec<_>>())
    }

    /// Says what the output, and an `older` one, contain that no run wrote, which ends the run.
    fn judge_outputs(&self, new: &Evaluated, older: Option<&Loaded>) -> Result<(), Ended> {
        let mut findings = Findings::new();
        for output in [Some(&new.loaded), older].into_iter().flatten() {
            findings.extend(pipeline::unexpected(&new.loaded, &new.rendered, output));
        }
        if findings.is_empty() {
            return Ok(());
        }
        print::findings(&findings, &new.loaded.sources, self.options.speech);
        self.also(new, &mut findings);
        Err(Ended(Status::of(&findings)))
    }

    /// Says what is wrong with the work tree; errors that leave its result incomplete end the run.
    fn judge(&self, new: &Evaluated) -> Result<(), Ended> {
        let findings = &new.findings;
        print::findings(findings, &new.loaded.sources, self.options.speech);
        if new.incomplete().has_errors() {
            let mut found = Findings::new();
            self.also(new, &mut found);
            found.extend(findings.clone());
            let errors = counted(findings.count(Severity::Error), "error");
            let speech = self.options.speech;
            speech.note(&format!("{errors}; nothing was compared"));
            return Err(Ended(Status::of(&found)));
        }
        Ok(())
    }

    /// Compares and prints: whether anything differs, and what is wrong with that.
    fn report(
        &self,
        loaded: &Loaded,
        report: DiffReport,
        (old, new): (&Side<'_>, &Side<'_>),
        lost: &Findings,
        locate: &BothSides<'_>,
        budget: Budget,
    ) -> anyhow::Result<(bool, Findings)> {
        let comparing = loaded.progress.begin(Stage::Differences);
        let comparison = diff::compare(old, new);
        drop(comparing);
        let comparison = match comparison {
            Ok(comparison) => comparison,
            Err(error) => {
                let mut findings = Findings::new();
                findings.push(unreadable(&report.titles, &error));
                print::findings(&findings, &loaded.sources, self.options.speech);
                return Ok((true, findings));
            }
        };
        let mut report = report.with(comparison, locate);
        let withdrawn = lost.iter();
        let withdrawn = withdrawn.filter(|finding| finding.code == Code::OBJECT_WITHDRAWN);
        let withdrawn = withdrawn.filter(|finding| finding.suppressed.is_none());
        report.withdrawn = withdrawn.map(|finding| finding.message.to_string()).collect();
        report.exceeded = diff::exceeded(budget, &report, &self.budget.allow.allow);
        let mut found = diff::over_budget(&report.exceeded);
        found.extend(self.print(&report, &loaded.hub)?);
        print::findings(&found, &loaded.sources, self.options.speech);
        Ok((!report.is_empty(), found))
    }

    fn print(&self, report: &DiffReport, hub: &Hub) -> anyhow::Result<Findings> {
        let is_terminal = is_stdout(&self.output_file) && std::io::stdout().is_terminal();
        let look = Look {
            colour: print::colour(self.options.speech.color, is_terminal),
            width: is_terminal.then(print::width),
        };
        let text = match self.format {
            Form::Text => diff::human(report, look),
            Form::Semantic => diff::semantic(report, look),
            Form::Markdown => diff::markdown(report, self.max_bytes),
            Form::Json => diff::json(report),
            Form::Overlays => diff::overlays(report, hub),
        };
        put(&self.output_file, &text)
    }

    /// The command that shows all of it.
    fn command(&self, option: &str, value: &str) -> String {
        let mut words = vec!["spokewright".to_owned(), "diff".to_owned()];
        let named = self.options.paths.iter().filter(|path| path.as_os_str() != ".");
        words.extend(named.map(|path| shell_path(&path.display().to_string())));
        let ours = self.options.state_option().iter().chain(self.work_kind.words());
        words.extend(ours.map(|word| (*word).to_owned()));
        words.extend([option.to_owned(), shell_word(value)]);
        words.join(" ")
    }
}

/// What `render` over a base would refuse, and what it would take off all clusters; nothing if the base cannot be read,
/// which has been reported.
fn lost(new: &Evaluated, before: &Before<'_>) -> Findings {
    pipeline::lost_by_replacing(&new.loaded, &new.rendered, before, &new.findings).unwrap_or_default()
}

fn unreadable(titles: &Titles, error: &Unreadable) -> Finding {
    let titles = [&titles.old, &titles.new];
    let side = error.side.of(&titles);
    let path = format!("{side}/{}/{}.yaml", error.cluster, error.work);
    Finding::new(Code::YAML_SYNTAX, Place::Path(path), error.message.clone())
        .help("render the base again: `spokewright render --force`")
}

/// How much a change may do.
#[derive(Debug, Args)]
struct BudgetOptions {
    /// Objects that may be deleted [default: `diff.budget` in the configuration]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Budget", hide_short_help = true, conflicts_with = "without")]
    max_removed: Option<u32>,

    /// Clusters that may change
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Budget", hide_short_help = true, conflicts_with = "without")]
    max_clusters: Option<u32>,

    /// Paths that may lose the policies of a kind
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Budget", hide_short_help = true, conflicts_with = "without")]
    max_lost_policies: Option<u32>,

    #[command(flatten)]
    allow: AllowOption,
}

/// What may exceed its limit in this run.
#[derive(Debug, Args)]
pub(super) struct AllowOption {
    /// What is meant, however much it is
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    #[arg(value_parser = choice(&LIMITS), help_heading = "Budget", hide_short_help = true)]
    pub(super) allow: Vec<Limit>,
}

/// The limits, as they are typed.
const LIMITS: [Choice<Limit>; 3] = [
    (Limit::Removed.as_str(), "Deleted objects", Limit::Removed),
    (Limit::Clusters.as_str(), "Changed clusters", Limit::Clusters),
    (Limit::LostPolicies.as_str(), "Lost policies", Limit::LostPolicies),
];

impl BudgetOptions {
    /// The limits: these, else those of the configuration.
    fn of(&self, configured: Budget) -> Budget {
        let own = Budget {
            max_removed: self.max_removed,
            max_clusters: self.max_clusters,
            max_lost_policies: self.max_lost_policies,
        };
        own.or(configured)
    }

    /// The same against a rendered tree, which does not say what applied.
    fn of_tree(&self, configured: Budget, speech: Speech) -> Result<Budget, Refusal> {
        if self.max_lost_policies.is_some() {
            return refuse(
                "a rendered tree does not say which policies applied, so `--max-lost-policies` cannot be checked",
                "compare with an input: `--base GIT-REV` or `--base-dir DIR`",
            );
        }
        if configured.max_lost_policies.is_some() {
            speech.note(
                "note: `maxLostPolicies` is not checked: a rendered tree does not say which policies applied",
            );
        }
        Ok(Budget {
            max_lost_policies: None,
            ..self.of(configured)
        })
    }
}

/// Removes an object from the hub, or else from every cluster where it lives, and returns its name.
fn remove(loaded: &mut Loaded, wanted: &str) -> Result<String, Refusal> {
    let hub: Vec<&Object> = loaded.hub.objects.iter().collect();
    let spokes = loaded.hub.spokes.values().flatten();
    let anywhere: Vec<&Object> = hub.iter().copied().chain(spokes).collect();
    let object = named(loaded, &hub, wanted).or_else(|_| named(loaded, &anywhere, wanted))?;
    let identity = object.identity();
    loaded.remove(&identity);
    Ok(identity.to_string())
}
