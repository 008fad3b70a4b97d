//! `spokewright render`: one directory per cluster, or one stream. As a Git hook, it also asks Git which findings the last
//! commit already had, and which files the next one would lack.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use spokewright::diagnostic::{
    Code, Finding, Findings, Locate as _, Severity, Warnings, counted, one_or_many, shell_path, write_json,
};
use spokewright::output::{self, ChangeKind, Earlier, Options, Output, OutputError, Summary, Tree};
use spokewright::pipeline::{self, Analysis, Before, EmptyResult, InIndex, Loaded, Rendered, Request};
use spokewright::render::{FluxKustomizations, Layout, Shard};
use spokewright::report::{PolicyView, RenderReport, kept_by_local_policies, overlays_line};
use spokewright::source::{Files, IndexTree, Sources};

use super::diff::AllowOption;
use super::options::{ClustersOption, ReadOptions, WorkKindOption, check_clusters, empty_result, place};
use super::print::{self, MessageFormat, Speech, Status, UNWRITTEN, refuse, to_stdout};
use super::reporting::{self, is_stdout, to_file};
use super::watch::watch;

const AFTER_HELP: &str = "\
Examples:
  spokewright render hub -o rendered       write the tree
  spokewright render --check               exit 1 if it is out of date
  spokewright render hub -o - > all.yaml   one stream for kubectl or Argo CD
  spokewright render --clusters eu-1,us-*  only these; other files stay
  spokewright render --shard 1/4           the first of four parts
  spokewright render --exit-code           in a hook: exit 1 if it wrote
  spokewright render --watch               on every change, while you edit
  spokewright render --inputs git-index    what is staged, for a commit
  spokewright render --work-kind replica-set
                                           one replica set per Gateway
  spokewright render --report report.json  where every object came from";

/// Render the input into one directory of ManifestWorks per cluster
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Render {
    /// Directory, or `-` for stdout [default: rendered]
    #[arg(short, long, value_name = "DIR", value_parser = place())]
    output: Option<PathBuf>,

    /// Only shard I of N of the fleet, as in 1/4; the name of a cluster decides its shard
    #[arg(long, value_name = "I/N", help_heading = "Placement", hide_short_help = true)]
    shard: Option<Shard>,

    /// Exit 1 if a file was written or deleted, for hooks
    #[arg(long, conflicts_with = "check")]
    exit_code: bool,

    /// Render again on every change, until Ctrl-C
    #[arg(long, conflicts_with = "exit_code")]
    watch: bool,

    /// Write nothing; exit 1 if a file is out of date
    #[arg(long)]
    check: bool,

    /// Overwrite and delete output files edited by hand
    #[arg(long)]
    force: bool,

    /// Fail if another run is writing to the directory, instead of waiting
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    no_wait: bool,

    /// Accept an empty result and remove everything
    #[arg(long)]
    allow_empty: bool,

    #[command(flatten)]
    allow: AllowOption,

    /// Also write a JSON report of what was rendered and why
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Also write a Flux Kustomization for each cluster into DIR
    #[arg(long, value_name = "DIR", help_heading = "Output", hide_short_help = true, value_parser = place())]
    flux_kustomizations: Option<PathBuf>,

    #[command(flatten)]
    work_kind: WorkKindOption,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

/// One run: what it is asked for, and what it read.
struct Run<'a> {
    command: &'a Render,
    request: &'a Request,
    /// Git's index, where the input comes from there.
    index: Option<&'a IndexTree>,
    loaded: &'a Loaded,
    start: Instant,
}

impl Render {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        if !self.watch {
            return self.once();
        }
        if self.is_stream() {
            return refuse(
                "`--watch` writes a directory, not a stream",
                "name a directory: `-o rendered`",
            );
        }
        self.options.check_watchable()?;
        let request = self.request()?;
        watch(&request, self.options.speech, "rendering", &mut || self.once())
    }

    fn request(&self) -> anyhow::Result<Request> {
        if self.is_stream() && self.flux_kustomizations.is_some() {
            return refuse(
                "`--flux-kustomizations` names the directories of a tree, and `-o -` writes none",
                "name a directory: `-o rendered`",
            );
        }
        let mut request = self.clusters.request(&self.options)?;
        request.output.clone_from(&self.output);
        request.shard = self.shard;
        request.work_kind = self
            .work_kind
            .work_kind(self.clusters.is_narrowed() || self.shard.is_some())?;
        // What we write beside the output is not input, wherever it stands.
        request.skip.extend(self.report.clone());
        request.skip.extend(self.flux_kustomizations.clone());
        Ok(request)
    }

    fn once(&self) -> anyhow::Result<Status> {
        loop {
            if let Some(status) = self.attempt()? {
                return Ok(status);
            }
        }
    }

    /// One run; `None` if another run has changed the output since this one compared with it: what is lost, and whether the
    /// budget allows that, must be found out again.
    fn attempt(&self) -> anyhow::Result<Option<Status>> {
        let start = Instant::now();
        let request = self.request()?;
        let (loaded, index) = self.options.read(&request)?;
        let empty = empty_result(self.allow_empty);
        if empty == EmptyResult::Refused {
            check_clusters(&[&loaded])?;
        }
        let run = Run {
            command: self,
            request: &request,
            index: index.as_ref(),
            loaded: &loaded,
            start,
        };
        print::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        if !self.no_wait && !self.is_stream() {
            // While another run writes, the tree is neither its old one nor its new one, so nothing is judged by it. An output
            // that cannot be read stops the writing below, which says so.
            let _ = run.waiting(|options| output::wait(run.output(None), options));
        }
        let (analysis, earlier) = rayon::join(
            || Analysis::new(&loaded, &mut findings),
            || Earlier::open(&loaded.output, loaded.output_within.as_deref()).ok(),
        );
        let (received, spokes) = analysis.received(None);
        let (rendered, view) = analysis.results(received, &spokes, empty, &mut findings);
        let layout = rendered.layout(&loaded);
        run.report((&analysis, &view), (&rendered, &layout, earlier), findings)
    }

    /// Whether the output is standard output, which is in no index.
    fn is_stream(&self) -> bool {
        self.output.as_deref().is_some_and(is_stdout)
    }

    /// Whether a commit waits for the answer.
    fn is_hook(&self) -> bool {
        self.options.reads_index() && (self.exit_code || self.check)
    }
}

impl Run<'_> {
    /// Writes what was rendered, and all that is reported about it.
    fn report(
        &self,
        (analysis, view): (&Analysis<'_>, &PolicyView<'_>),
        (rendered, layout, earlier): (&Rendered, &Layout<'_>, Option<Earlier>),
        mut findings: Findings,
    ) -> anyhow::Result<Option<Status>> {
        let (command, loaded) = (self.command, self.loaded);
        let speech = command.options.speech;
        let statuses = match command.report {
            Some(_) => analysis.statuses(view),
            None => Ok(Vec::new()),
        };
        let statuses = statuses.unwrap_or_else(|too_many| {
            findings.push(*too_many);
            Vec::new()
        });
        let compare_earlier = || {
            let earlier = earlier.as_ref()?;
            // A stream replaces nothing.
            let replaced = (!command.is_stream()).then_some(earlier);
            let allowed = &command.allow.allow;
            let beyond = replaced.map(|earlier| analysis.over_budget(layout, earlier, allowed, &findings));
            let before = Before::Tree(earlier);
            let leaving = analysis.compare_earlier((rendered, layout), &before, &mut findings);
            findings.extend(beyond.and_then(Result::ok).into_iter().flatten());
            leaving.ok().flatten().filter(|_| replaced.is_some())
        };
        let (unused, leaving) = rayon::join(|| print::unused(loaded, speech), compare_earlier);
        if command.report.is_some() && !findings.has_errors() {
            findings.extend(RenderReport::too_many_to_list(&rendered.plan));
        }
        loaded.finish(&mut findings);

        let sources = &loaded.sources;
        if let Some(path) = &command.report {
            let relative = sources.root_relative();
            let report = RenderReport::new(
                &rendered.plan,
                &statuses,
                &rendered.withheld,
                loaded.overlays(),
                &findings,
                &relative,
            );
            findings.extend(to_file(path, |file| write_json(&report, file))?);
        }
        command.options.write_also(&mut findings, sources);
        let is_refused = findings.has_errors();
        let in_index = self.in_index(&loaded.output, layout);
        let written = (!is_refused && !command.is_stream()).then(|| self.write(layout, earlier.as_ref()));
        if let Some(Err(overtaken @ OutputError::Overtaken { .. })) = &written {
            // Nothing else is printed: the next attempt prints it.
            self.say(&format!("{overtaken}; rendering again"));
            return Ok(None);
        }
        if let Some(leaving) = leaving {
            self.say(&leaving);
        }
        print::passed_over(loaded, &unused, speech);
        if speech.verbose && !command.is_stream() && loaded.config.budget().max_lost_policies.is_some() {
            print::line(
                "note: `diff` checks `maxLostPolicies`: the files of a tree do not say which policies applied",
            );
        }
        let known = if command.is_hook() && !is_refused {
            take_known(&mut findings, loaded, self.request)
        } else {
            0
        };
        print::findings(&findings, sources, speech);
        if is_refused {
            self.say_nothing_was_written(&findings);
            return Ok(Some(Status::of(&findings)));
        }
        if known > 0 {
            let (warnings, them) = (counted(known, "warning"), one_or_many(known, "it", "them"));
            self.say(&format!(
                "{warnings} of the last commit not shown again; `spokewright check` lists {them}"
            ));
        }
        let lines = [kept_by_local_policies(view), overlays_line(&view.overlays)];
        let lines = lines.iter().flatten().flat_map(|lines| lines.lines());
        lines.for_each(|line| self.say(line));
        let Some(written) = written else {
            to_stdout(|out| output::stream(layout, out).context(UNWRITTEN))?;
            self.say(&format!("{} in {}", counts(rendered), elapsed(self.start)));
            return Ok(Some(Status::Done));
        };
        let status = self.report_tree(rendered, written, in_index, findings);
        let flux = command.flux_kustomizations.as_ref();
        let flux = flux.filter(|_| matches!(status, Status::Done | Status::Differs));
        let written = flux.map_or(Status::Done, |directory| self.write_flux(directory, layout));
        Ok(Some(if written == Status::Done { status } else { written }))
    }

    /// The Kustomizations that apply the output, by the same rules as the output itself.
    fn write_flux(&self, directory: &Path, layout: &Layout<'_>) -> Status {
        let tree = FluxKustomizations::new(layout, &self.loaded.output_in_repository());
        let in_index = self.in_index(directory, &tree);
        let output = Output {
            exceptions: self.exceptions(None),
            ..Output::anywhere(directory)
        };
        let options = self.writing(self.command.no_wait);
        let summary = match output::write_into(output, &tree, options, &self.loaded.progress) {
            Ok(summary) => summary,
            Err(error) => return print::obstacles(&error, &self.loaded.sources, self.speech()),
        };
        let status = if self.command.check {
            self.report_check(directory, &summary, None)
        } else {
            if !summary.differing.is_empty() {
                let (shown, written) = (directory.display(), counted(summary.written, "file"));
                let deleted = summary.deleted;
                self.say(&format!(
                    "Flux Kustomizations in {shown}: {written} written, {deleted} deleted"
                ));
            }
            self.report_written(directory, &summary)
        };
        self.report_unstaged(status, output, in_index, &summary)
    }

    /// How a tree is written.
    const fn writing(&self, no_wait: bool) -> Options {
        Options {
            force: self.command.force,
            check: self.command.check,
            no_wait,
        }
    }

    /// The files that may be in an output besides ours. A person who names it on the command line may have anything there.
    fn exceptions(&self, within: Option<&Path>) -> Option<&[String]> {
        let must_be_alone = self.command.check || within.is_some();
        must_be_alone.then_some(self.loaded.config.output_exceptions.as_slice())
    }

    /// In a hook: a tree, and what the next commit holds of it.
    fn in_index<'t>(&'t self, output: &Path, tree: &'t dyn Tree) -> Option<InIndex<'t>> {
        let is_asked = self.command.is_hook() && !self.command.is_stream();
        let index = self.index.filter(|_| is_asked)?;
        InIndex::new(index, output, tree)
    }

    /// Where the tree of works goes.
    fn output<'o>(&'o self, judged: Option<&'o Earlier>) -> Output<'o> {
        let within = self.loaded.output_within.as_deref();
        Output {
            root: &self.loaded.output,
            within,
            exceptions: self.exceptions(within),
            judged,
        }
    }

    /// Does something to the output that fails while another run is at work there, unless it may wait for that.
    fn waiting<T>(&self, attempt: impl Fn(Options) -> Result<T, OutputError>) -> Result<T, OutputError> {
        match attempt(self.writing(true)) {
            Err(busy @ OutputError::Busy { .. }) if !self.command.no_wait => {
                self.say(&format!("waiting: {busy}"));
                attempt(self.writing(false))
            }
            result => result,
        }
    }

    /// Writes the tree over the `earlier` one, if that is still there.
    fn write(&self, tree: &dyn Tree, earlier: Option<&Earlier>) -> Result<Summary, OutputError> {
        let output = self.output(earlier);
        self.waiting(|options| output::write_into(output, tree, options, &self.loaded.progress))
    }

    /// Prints what writing the tree has come to.
    fn report_tree(
        &self,
        rendered: &Rendered,
        written: Result<Summary, OutputError>,
        in_index: Option<InIndex<'_>>,
        mut findings: Findings,
    ) -> Status {
        let (command, loaded) = (self.command, self.loaded);
        let summary = match written {
            Ok(summary) => summary,
            Err(error) => {
                let mut obstacles = Findings::new();
                obstacles.extend(error.findings());
                findings.extend(obstacles.clone());
                command.options.write_also(&mut findings, &loaded.sources);
                print::findings(&obstacles, &loaded.sources, self.speech());
                self.say_nothing_was_written(&obstacles);
                return Status::of(&obstacles);
            }
        };
        let status = if command.check {
            self.report_check(&loaded.output, &summary, Some(findings))
        } else {
            // The inventory is a file of the tree to whoever counts files.
            let listed = summary
                .differing
                .iter()
                .any(|change| change.path == output::INVENTORY);
            self.say(&format!(
                "{} into {} ({} written, {} unchanged, {} deleted) in {}",
                counts(rendered),
                shell_path(&loaded.output.display().to_string()),
                counted(summary.written.saturating_add(usize::from(listed)), "file"),
                summary.unchanged.saturating_add(usize::from(!listed)),
                summary.deleted,
                elapsed(self.start)
            ));
            if !command.exit_code {
                reporting::after_first_render(loaded, &summary, self.speech());
                reporting::after_deletions(&summary, &command.options);
                if summary.differing.is_empty() && !command.watch {
                    reporting::after_no_change(loaded, &command.options);
                }
            }
            self.report_written(&loaded.output, &summary)
        };
        self.report_unstaged(status, self.output(None), in_index, &summary)
    }

    /// In a hook that writes: the files, and what to type.
    fn report_written(&self, directory: &Path, summary: &Summary) -> Status {
        if !self.command.exit_code || summary.differing.is_empty() {
            return Status::Done;
        }
        for change in &summary.differing {
            let did = match change.kind {
                ChangeKind::Stale => "deleted",
                ChangeKind::Missing | ChangeKind::Changed => "wrote",
            };
            self.say(&format!("{did} {}", directory.join(&change.path).display()));
        }
        let add = add(directory);
        self.say(&format!(
            "the output was out of date; type `{add}`, and commit again"
        ));
        Status::Differs
    }

    /// One line a difference on stderr, and what to type. With what was `said` before, `--also` writes all.
    fn report_check(&self, directory: &Path, summary: &Summary, said: Option<Findings>) -> Status {
        let sources = &self.loaded.sources;
        let mut findings = Findings::new();
        findings.extend(
            summary
                .offenders
                .iter()
                .map(|offender| offender.finding(directory)),
        );
        if let Some(mut said) = said {
            said.extend(findings.clone());
            self.command.options.write_also(&mut said, sources);
        }
        print::findings(&findings, sources, self.speech());
        if summary.differing.is_empty() {
            let files = counted(summary.unchanged.saturating_add(1), "file");
            let directory = shell_path(&directory.display().to_string());
            self.say(&format!("up to date: {files} in {directory}"));
            return Status::of(&findings);
        }
        for change in &summary.differing {
            let difference = match change.kind {
                ChangeKind::Missing => "missing",
                ChangeKind::Changed => "changed",
                ChangeKind::Stale => "stale  ",
            };
            let path = directory.join(&change.path);
            print::line(&format!("{difference} {}", path.display()));
        }
        let files = counted(summary.differing.len(), "file");
        let are = one_or_many(summary.differing.len(), "is", "are");
        print::line(&format!(
            "{files} {are} not up to date; run the same without `--check` to write"
        ));
        Status::compared(true, &findings)
    }

    /// In a hook: one line for each file that the next commit would not hold as it is, and what to type. Files that `summary`
    /// names have been told of.
    fn report_unstaged(
        &self,
        status: Status,
        output: Output<'_>,
        in_index: Option<InIndex<'_>>,
        summary: &Summary,
    ) -> Status {
        let (Some(in_index), Status::Done | Status::Differs) = (in_index, status) else {
            return status;
        };
        let last_commit = || super::options::last_commit(self.request);
        let mut unstaged = in_index.unstaged(last_commit, output, summary.differing.is_empty());
        let told: BTreeSet<&String> = summary.differing.iter().map(|change| &change.path).collect();
        unstaged.retain(|change| !told.contains(&change.path));
        if unstaged.is_empty() {
            return status;
        }
        for change in &unstaged {
            let how = match change.kind {
                ChangeKind::Missing => "not added",
                ChangeKind::Changed => "changed, not added",
                ChangeKind::Stale => "deleted, not added",
            };
            print::line(&format!("{how}: {}", output.root.join(&change.path).display()));
        }
        let files = counted(unstaged.len(), "file");
        let add = add(output.root);
        print::line(&format!(
            "the next commit would not contain {files} of the output as rendered; type `{add}`, and commit again"
        ));
        Status::Differs
    }

    const fn speech(&self) -> Speech {
        self.command.options.speech
    }

    fn say(&self, text: &str) {
        self.speech().calm(text);
    }

    fn say_nothing_was_written(&self, findings: &Findings) {
        if self.speech().message_format != MessageFormat::Human {
            return;
        }
        let errors = counted(findings.count(Severity::Error), "error");
        let warnings = match findings.count(Severity::Warning) {
            0 => String::new(),
            _ if self.speech().quiet => String::new(),
            warnings => format!(" and {}", counted(warnings, "warning")),
        };
        // A disk that fills up is met half-way.
        let mut codes = findings.iter().map(|finding| finding.code);
        let is_begun = codes.any(|code| code == Code::OUTPUT_UNWRITABLE);
        let what = if is_begun {
            "not everything was written"
        } else {
            "nothing was written"
        };
        print::line(&format!("{errors}{warnings}; {what}"));
    }
}

/// What puts an output into Git's index, deletions as well.
fn add(output: &Path) -> String {
    format!("git add {}", shell_path(&output.display().to_string()))
}

/// `2 clusters; 1 Gateway; 3 policies: 1 AuthPolicy, 2 RateLimitPolicy; 4 works`, with the routes before the policies. Kinds
/// are named, so that one that is missing is seen.
fn counts(rendered: &Rendered) -> String {
    let plan = &rendered.plan;
    let mut parts = vec![
        counted(plan.clusters.len(), "cluster"),
        counted(plan.gateways, "Gateway"),
    ];
    if !plan.routes.is_empty() {
        parts.push(counted_by_kind(&plan.routes, "route"));
    }
    parts.push(counted_by_kind(&plan.policies, "policy"));
    if !plan.objects.is_empty() {
        parts.push(counted_by_kind(&plan.objects, "other object"));
    }
    parts.push(plan.replica_sets.as_ref().map_or_else(
        || counted(plan.work_count(), "work"),
        |sets| counted(sets.len(), "replica set"),
    ));
    parts.join("; ")
}

/// `3 policies: 1 AuthPolicy, 2 RateLimitPolicy`.
fn counted_by_kind(by_kind: &BTreeMap<String, usize>, what: &str) -> String {
    let all = counted(by_kind.values().sum::<usize>(), what);
    let kinds = by_kind.iter().map(|(kind, count)| format!("{count} {kind}"));
    match kinds.collect::<Vec<_>>().as_slice() {
        [] => all,
        kinds => format!("{all}: {}", kinds.join(", ")),
    }
}

fn elapsed(start: Instant) -> String {
    let milliseconds = start.elapsed().as_millis();
    if milliseconds < 10_000 {
        format!("{milliseconds} ms")
    } else {
        format!("{:.1} s", start.elapsed().as_secs_f64())
    }
}

/// Takes out the warnings that the last commit's input has as well, and counts them: a user who changes a limit need
/// not read at every commit what was accepted long ago.
fn take_known(findings: &mut Findings, loaded: &Loaded, request: &Request) -> usize {
    // Lines move; a file and a message say what it is.
    fn identity(finding: &Finding, sources: &Sources) -> (&'static str, String, Option<String>) {
        let file = sources.locate(&finding.place).map(|span| span.path.to_owned());
        (finding.code.name(), finding.message.to_string(), file)
    }
    let is_warning = |finding: &Finding| finding.severity == Severity::Warning;
    if !findings.iter().any(is_warning) {
        return 0;
    }
    let Some(head) = super::options::last_commit(request) else {
        return 0;
    };
    let request = Request {
        warnings: Warnings::Reported,
        output: None,
        ..request.clone()
    };
    let before = pipeline::load_from(&request, Files::Tree(&head));
    let mut earlier = Findings::new();
    let analysis = Analysis::new(&before, &mut earlier);
    analysis.render(EmptyResult::Allowed, &mut earlier);
    before.finish(&mut earlier);
    let known = earlier.iter().map(|finding| identity(finding, &before.sources));
    let known: HashSet<_> = known.collect();
    let all = findings.iter().count();
    findings.retain(|finding| !is_warning(finding) || !known.contains(&identity(finding, &loaded.sources)));
    all.saturating_sub(findings.iter().count())
}
