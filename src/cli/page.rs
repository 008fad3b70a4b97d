//! `spokewright page`: one HTML file that shows the fleet.

use std::path::{Component, Path, PathBuf};

use clap::Args;
use spokewright::diagnostic::{Code, Findings, counted};
use spokewright::output::TreeFiles;
use spokewright::pipeline::{Analysis, EmptyResult, Loaded, Rendered, Request, load_works};
use spokewright::report::diff::{self, BothSides, DiffReport, EffectiveSettings, Side, Titles};
use spokewright::report::{Compared, PageInput, PolicyView};
use spokewright::source::Sources;

use super::diff::base::{Base, BaseOptions, Evaluated, judge_base, read_tree};
use super::options::{ClustersOption, ReadOptions, WorkKindOption};
use super::print::{self, Refusal, Status};
use super::reporting::{WorksOption, is_stdout, never_freed, put};

const AFTER_HELP: &str = "\
Examples:
  spokewright page hub -o fleet.html             open it in a browser
  spokewright page -o fleet.html --base main     with what a change affects
  spokewright page -o fleet.html --works FILE    with what clusters report
  spokewright page -o fleet.html --source-url https://git.example/hub/blob/main/

The file needs no server and loads nothing. It contains the texts of
policies, Placements, Gateways, and routes as they are written, and nothing of
Secrets. If the input has errors, the page is still written, and shows them.";

/// What a page is called that shows the current directory.
const TITLE: &str = "fleet";

/// Write one HTML file that shows the fleet
#[derive(Debug, Args)]
// Without a base, `diff` compares with the last commit, and a page with nothing.
#[command(after_long_help = AFTER_HELP, mut_arg("base", |base| base.help("Compare with this Git revision")))]
pub(crate) struct PageCommand {
    /// The file to write; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    base: BaseOptions,

    #[command(flatten)]
    works: WorksOption,

    /// Link each file and line to this URL
    #[arg(long, value_name = "URL", value_parser = source_url)]
    source_url: Option<String>,

    /// Title of the page [default: the PATH]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    work_kind: WorkKindOption,

    #[command(flatten)]
    options: ReadOptions,
}

/// Data becomes an address nowhere else, so that nothing but these schemes ever does.
fn source_url(text: &str) -> Result<String, String> {
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    if !is_web || text.contains(|character: char| character.is_control() || character.is_whitespace()) {
        return Err("write the address of a directory, as in https://git.example/hub/blob/main/".to_owned());
    }
    let end = if text.ends_with('/') { "" } else { "/" };
    Ok(format!("{text}{end}"))
}

/// The side that a page is compared with.
enum OldSide {
    Tree(TreeFiles),
    Input(Box<Evaluated>),
}

impl PageCommand {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut request = self.clusters.request(&self.options)?;
        request.work_kind = self.work_kind.work_kind(self.clusters.is_narrowed())?;
        self.works.keep_out_of(&mut request, &self.options)?;
        if !is_stdout(&self.output) {
            request.skip.push(self.output.clone());
        }
        let mut findings = Findings::new();
        let mut loaded = never_freed(self.options.load(&request, EmptyResult::Allowed)?);
        let exported = self
            .works
            .read(|path, stdin| load_works(&mut loaded, path, stdin, &mut findings));
        print::read(&loaded, self.options.speech);
        let analysis = never_freed(Analysis::new(&loaded, &mut findings));
        let (received, spokes) = analysis.received(None);
        let spokes = never_freed(spokes);
        let (rendered, view) = analysis.results(received, &spokes, EmptyResult::Allowed, &mut findings);
        let (rendered, mut view) = (never_freed(rendered), never_freed(view));
        view.retain_clusters(|cluster| loaded.admits(cluster));
        let works = exported.map(|exported| never_freed(analysis.aggregate(&exported, &mut findings)));
        loaded.finish(&mut findings);
        let side = Side::of_plan(&rendered.plan);
        let old = if self.base.is_given() && !findings.has_errors() {
            Some(never_freed(self.old_side(&request, &side)?))
        } else {
            None
        };
        if self.base.is_given() && old.is_none() {
            self.options
                .speech
                .note("note: the input has errors, so it is not compared with a base");
        }
        let sources = loaded.sources.root_relative();
        let nothing = Sources::default();
        let old_texts = match old.as_deref() {
            Some(OldSide::Input(base)) => &base.loaded.sources,
            _ => &nothing,
        };
        let old_sources = old_texts.root_relative();
        let locate: BothSides<'_> = [&old_sources, &sources];
        let report = old.as_deref();
        let report = report.map(|old| self.compare(old, (&loaded, &view), &side, &locate));
        let report = report.transpose()?;
        let input = PageInput {
            title: self.title(),
            source_url: self.source_url.clone(),
            plan: &rendered.plan,
            view: &view,
            locate: &sources,
            findings: &findings,
            works: works.as_deref(),
            compared: report.as_ref().map(|(report, too_much)| Compared {
                report,
                too_much: *too_much,
            }),
        };
        let mut page = analysis.page(input);
        let html = page.html();
        drop(report);
        self.write(&html, &loaded, &rendered, findings)
    }

    fn old_side(&self, request: &Request, new: &Side<'_>) -> anyhow::Result<OldSide> {
        match self.base.find(request, &self.options)? {
            Base::Tree(path) => Ok(OldSide::Tree(read_tree(&path, new, self.options.speech)?)),
            Base::Input(input) => {
                let base = Evaluated::new(input.load(request), EmptyResult::Allowed);
                judge_base(&input, &base, self.options.speech)?;
                Ok(OldSide::Input(Box::new(base)))
            }
        }
    }

    /// What differs, and whether that is too much to compare settings.
    fn compare(
        &self,
        old: &OldSide,
        (loaded, view): (&Loaded, &PolicyView<'_>),
        new: &Side<'_>,
        locate: &BothSides<'_>,
    ) -> Result<(DiffReport, bool), Refusal> {
        let (mut side, changes) = match old {
            OldSide::Tree(files) => (Side::of_tree(files, new), Some(Vec::new())),
            OldSide::Input(base) => {
                let changes = base.effective.as_ref().and_then(|base| {
                    let settings = EffectiveSettings::new(view, |cluster| loaded.admits(cluster));
                    Some(EffectiveSettings::changes(base, &settings.ok()?))
                });
                (Side::of_plan(&base.rendered.plan), changes)
            }
        };
        side.retain_clusters(|cluster| loaded.admits(cluster));
        let comparison = diff::compare(&side, new).map_err(|error| {
            let help = "render the base again: `spokewright render --force`";
            Refusal::new(Status::Usage, &error.to_string(), help)
        })?;
        let (_, base) = self.base.words();
        let titles = Titles {
            // Nothing of the machine.
            old: match Path::new(&base).file_name() {
                Some(name) if Path::new(&base).is_absolute() => name.to_string_lossy().into_owned(),
                _ => base,
            },
            new: self.options.state().to_owned(),
            command: String::new(),
            fleet: None,
        };
        let too_much = changes.is_none();
        let report = DiffReport {
            titles,
            effective_changes: changes.unwrap_or_default(),
            ..DiffReport::default()
        };
        Ok((report.with(comparison, locate), too_much))
    }

    /// Nothing of the machine: a page of equal input is equal wherever it is made.
    fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let [path] = self.options.paths.as_slice() else {
            return TITLE.to_owned();
        };
        let names = path
            .components()
            .filter(|part| matches!(part, Component::Normal(_)));
        let names = names.map(|name| name.as_os_str().to_string_lossy().into_owned());
        match names.collect::<Vec<_>>().as_slice() {
            _ if path.as_os_str() == "-" => TITLE.to_owned(),
            [] => TITLE.to_owned(),
            [.., last] if path.is_absolute() => last.clone(),
            names => names.join("/"),
        }
    }

    fn write(
        &self,
        html: &str,
        loaded: &Loaded,
        rendered: &Rendered,
        mut findings: Findings,
    ) -> anyhow::Result<Status> {
        findings.extend(put(&self.output, html)?);
        self.options.write_also(&mut findings, &loaded.sources);
        print::findings(&findings, &loaded.sources, self.options.speech);
        let mut codes = findings.iter().map(|finding| finding.code);
        if !is_stdout(&self.output) && !codes.any(|code| code == Code::OUTPUT_UNWRITABLE) {
            self.options.speech.calm(&format!(
                "{}: {}, {}",
                self.output.display(),
                counted(rendered.plan.gateways, "Gateway"),
                counted(rendered.plan.clusters.len(), "cluster")
            ));
        }
        Ok(Status::of(&findings))
    }
}
