//! `spokewright diff`: what a change of the input does to every cluster.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spokewright::diagnostic::{self, Code, Finding, Findings, Place, Severity};
use spokewright::hub::Objects;
use spokewright::object::Object;
use spokewright::output::{self, TreeFile};
use spokewright::pipeline::{self, CONFIG_NAME, Detail, Loaded, Rendered, Request};
use spokewright::progress::Stage;
use spokewright::report::diff::{
    self, BothSides, DiffReport, EffectiveChange, EffectiveSettings, Side, Titles, Unreadable, Which,
};
use spokewright::source::Sources;
#[cfg(feature = "git")]
use spokewright::source::{FileTree as _, Files, GitTree};

use super::options::{Carrier, MessageFormat, ReadOptions};
use super::render::plural;
use super::show;
use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  spokewright diff                                   since the last commit
  spokewright diff hub --base origin/main            what would merging do?
  spokewright diff hub --base rendered               against a rendered tree
  spokewright diff hub --base ../other-checkout/hub  against another input
  spokewright diff --format markdown > comment.md    for a pull request
  spokewright diff --format semantic                 one line for each field
  spokewright diff --without Gateway/gateways/web    what would be lost?

A directory of the name wins over a revision: write refs/heads/NAME for a
branch. Values of Secrets never appear.
Exit status: 1 when something differs, 0 when nothing does.";

/// Show what a change of the input does to every cluster
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Diff {
    #[command(flatten)]
    options: ReadOptions,

    /// What to compare with: a rendered tree, an input directory, or a Git revision [default: HEAD]
    #[arg(
        long,
        value_name = "DIR|GIT-REV",
        conflicts_with = "without",
        help_heading = "Comparison"
    )]
    base: Option<String>,

    /// Compare the input with itself without this object
    #[arg(long, value_name = "KIND/[NS/]NAME", help_heading = "Comparison")]
    without: Option<String>,

    /// An empty result is what I mean: show everything as removed
    #[arg(long, help_heading = "Comparison")]
    allow_empty: bool,

    #[command(flatten)]
    carrier: Carrier,

    /// Form of the differences on stdout
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "human",
        help_heading = "Output"
    )]
    format: Form,

    /// Most bytes of `--format markdown`; GitHub takes comments of up to 65,536 characters
    #[arg(long, value_name = "BYTES", default_value_t = diff::DEFAULT_BUDGET, help_heading = "Output")]
    max_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A table of clusters, then unified hunks
    Human,
    /// One line for each field: `path: old -> new`
    Semantic,
    /// A comment for a pull request
    Markdown,
    /// One JSON document, kind DiffReport
    Json,
    /// SARIF 2.1.0: one result for each hub object
    Sarif,
    /// GitHub annotations: one for each hub object
    Github,
}

/// Why the command stops before it compares.
enum Stop {
    /// Everything was said.
    Said(Status),
    /// stdout is gone.
    Failed(anyhow::Error),
}

/// What the work tree is compared with, before it is rendered.
enum Base {
    /// An output tree.
    Tree(PathBuf),
    /// Another input on disk.
    Input(PathBuf),
    /// A revision.
    #[cfg(feature = "git")]
    Git(Box<GitTree>),
}

/// The base, rendered.
enum BaseSide {
    Files(Vec<TreeFile>),
    Input(Box<(Loaded, Rendered)>),
}

impl Diff {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut request = self.options.request()?;
        request.work_kind = self.carrier.work_kind(self.options.is_narrowed())?;
        let outcome = if let Some(object) = &self.without {
            self.without(&request, object)
        } else {
            self.against_base(&request)
        };
        outcome.or_else(|stop| match stop {
            Stop::Said(status) => Ok(status),
            Stop::Failed(error) => Err(error),
        })
    }

    fn against_base(&self, request: &Request) -> Result<Status, Stop> {
        let base = self.find_base(request)?;
        let loaded = self.options.load(request).map_err(Stop::Failed)?;
        let rendered = self.render(&loaded)?;
        let (title, base) = self.render_base(request, base)?;
        let nothing = Sources::default();
        let (mut old, old_sources) = match &base {
            BaseSide::Files(files) => (Side::of_files(files), &nothing),
            BaseSide::Input(input) => (Side::of_plan(&input.1.plan), &input.0.sources),
        };
        old.retain_clusters(|cluster| loaded.admits(cluster));
        let titles = Titles {
            command: self.command(&["--base", &title]),
            old: title,
            new: self.options.state().to_owned(),
        };
        let new = Side::of_plan(&rendered.plan);
        let locate = BothSides::new(&loaded.sources, loaded.sources.files().len(), old_sources);
        let changes = match &base {
            BaseSide::Files(_) => Vec::new(),
            BaseSide::Input(input) => EffectiveSettings::changes(&effective(&input.0), &effective(&loaded)),
        };
        self.report(&loaded, titles, (&old, &new), changes, &locate)
    }

    /// What the work tree lacks without one object.
    fn without(&self, request: &Request, object: &str) -> Result<Status, Stop> {
        let mut loaded = self.options.load(request).map_err(Stop::Failed)?;
        let with = self.render(&loaded)?;
        let effective_with = effective(&loaded);
        let title = remove(&mut loaded, object)?;
        let mut findings = Findings::new();
        let without = pipeline::render(&loaded, true, Detail::Plan, &mut findings);
        loaded.finish(&mut findings);
        let titles = Titles {
            command: self.command(&["--without", object]),
            old: self.options.state().to_owned(),
            new: format!("without {title}"),
        };
        let (old, new) = (Side::of_plan(&with.plan), Side::of_plan(&without.plan));
        let locate = BothSides::new(&loaded.sources, loaded.sources.files().len(), &loaded.sources);
        let changes = EffectiveSettings::changes(&effective_with, &effective(&loaded));
        let status = self.report(&loaded, titles, (&old, &new), changes, &locate)?;
        // What would be wrong without it is part of the answer.
        if findings.has_errors() {
            let errors = findings.only(Severity::Error);
            show::findings(&errors, &loaded.sources, self.options.speech);
            self.say(&format!(
                "without {title} the input has {}",
                plural(errors.count(Severity::Error), "error")
            ));
            return Ok(Status::of(&errors));
        }
        Ok(status)
    }

    /// Renders the work tree; says what is wrong with it.
    fn render(&self, loaded: &Loaded) -> Result<Rendered, Stop> {
        let mut findings = Findings::new();
        let rendered = pipeline::render(loaded, self.allow_empty, Detail::Plan, &mut findings);
        loaded.finish(&mut findings);
        show::findings(&findings, &loaded.sources, self.options.speech);
        if findings.has_errors() {
            self.say(&format!(
                "{}; nothing was compared",
                plural(findings.count(Severity::Error), "error")
            ));
            return Err(Stop::Said(Status::of(&findings)));
        }
        Ok(rendered)
    }

    fn find_base(&self, request: &Request) -> Result<Base, Stop> {
        let Some(base) = &self.base else {
            return self.git_base(request, "HEAD");
        };
        let path = Path::new(base);
        if base.is_empty() {
            return Err(usage(
                "`--base` is empty",
                "name a rendered tree, an input directory or a Git revision",
            ));
        }
        if output::is_tree(path) {
            return Ok(Base::Tree(path.to_owned()));
        }
        if path.is_dir() {
            return Ok(Base::Input(path.to_owned()));
        }
        if path.is_file() {
            return Err(usage(
                &format!("`{base}` is a file"),
                "name a directory or a Git revision: `--base DIR`",
            ));
        }
        if path.is_absolute() || base.starts_with('.') {
            return Err(usage(
                &format!("there is no directory `{base}`"),
                "name a rendered tree, an input directory or a Git revision",
            ));
        }
        self.git_base(request, base)
    }

    #[cfg(feature = "git")]
    fn git_base(&self, request: &Request, revision: &str) -> Result<Base, Stop> {
        if request.stdin.is_some() {
            return Err(usage(
                "what comes from standard input has no older version in Git",
                "name a directory to compare with: `--base DIR`",
            ));
        }
        let here = PathBuf::from(".");
        let path = request.paths.first().unwrap_or(&here);
        GitTree::open(path, revision)
            .map(|tree| Base::Git(Box::new(tree)))
            .map_err(|error| usage(&error.to_string(), &error.help()))
    }

    #[cfg(not(feature = "git"))]
    fn git_base(&self, _: &Request, revision: &str) -> Result<Base, Stop> {
        Err(usage(
            &format!("`{revision}` is no directory, and this spokewright was built without `git`"),
            "name a directory to compare with: `--base DIR`",
        ))
    }

    /// Renders the base, and says what it is called.
    fn render_base(&self, request: &Request, base: Base) -> Result<(String, BaseSide), Stop> {
        // What is wrong with the base is over: only that it could not be read whole stops the run.
        let mut request = Request {
            deny_warnings: false,
            output: None,
            ..request.clone()
        };
        let (title, prefix, loaded) = match base {
            Base::Tree(path) => {
                return match output::read_tree(&path) {
                    Ok(files) => Ok((path.display().to_string(), BaseSide::Files(files))),
                    Err(error) => {
                        let mut findings = Findings::new();
                        findings.extend(error.findings());
                        show::findings(&findings, &Sources::default(), self.options.speech);
                        Err(Stop::Said(Status::of(&findings)))
                    }
                };
            }
            Base::Input(path) => {
                if path.join(CONFIG_NAME).is_file() {
                    request.config = None;
                }
                request.stdin = None;
                request.paths = vec![path.clone()];
                (
                    path.display().to_string(),
                    String::new(),
                    pipeline::load(&request),
                )
            }
            #[cfg(feature = "git")]
            Base::Git(tree) => {
                let loaded = pipeline::load_from(&request, Files::Tree(&*tree));
                (tree.name().to_owned(), format!("{}:", tree.name()), loaded)
            }
        };
        let mut findings = Findings::new();
        let rendered = pipeline::render(&loaded, true, Detail::Plan, &mut findings);
        loaded.finish(&mut findings);
        let works = loaded
            .hub
            .objects
            .of_kind("work.open-cluster-management.io", "ManifestWork");
        if rendered.plan.clusters.is_empty() && !works.is_empty() {
            return Err(usage(
                &format!("`{title}` holds ManifestWorks, but no `{}`", output::INVENTORY),
                "copy a rendered tree with its hidden files: many tools leave them out",
            ));
        }
        if findings.has_errors() {
            let errors = findings.only(Severity::Error);
            show::findings(&errors, &loaded.sources.prefixed(&prefix), self.options.speech);
            let status = Status::of(&errors);
            if status == Status::Io {
                self.say("the base could not be read; nothing was compared");
                return Err(Stop::Said(status));
            }
            self.say(&format!(
                "the base `{title}` has {}: what it could not render is shown as added",
                plural(errors.count(Severity::Error), "error")
            ));
        }
        Ok((title, BaseSide::Input(Box::new((loaded, rendered)))))
    }

    /// Compares and prints.
    fn report(
        &self,
        loaded: &Loaded,
        titles: Titles,
        (old, new): (&Side<'_>, &Side<'_>),
        effective_changes: Vec<EffectiveChange>,
        locate: &BothSides<'_>,
    ) -> Result<Status, Stop> {
        let comparing = loaded.progress.begin(Stage::Differences);
        let comparison = diff::compare(old, new);
        drop(comparing);
        let comparison = match comparison {
            Ok(comparison) => comparison,
            Err(error) => {
                let mut findings = Findings::new();
                findings.push(unreadable(&titles, &error));
                show::findings(&findings, &loaded.sources, self.options.speech);
                return Ok(Status::of(&findings));
            }
        };
        let report = DiffReport::new(titles, comparison, effective_changes);
        self.print(&report, locate).map_err(Stop::Failed)?;
        Ok(if report.is_empty() {
            Status::Done
        } else {
            Status::Differs
        })
    }

    fn print(&self, report: &DiffReport, locate: &BothSides<'_>) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        let text = match self.format {
            Form::Human => {
                let colour = show::colour(self.options.speech.color, std::io::stdout().is_terminal());
                diff::human(report, locate, colour)
            }
            Form::Semantic => diff::semantic(report, locate),
            Form::Markdown => diff::markdown(report, locate, self.max_bytes),
            Form::Json => diff::json(report, locate),
            Form::Sarif | Form::Github => {
                let findings = diff::annotations(report, locate);
                let format = if self.format == Form::Sarif {
                    diagnostic::Format::Sarif
                } else {
                    diagnostic::Format::Github
                };
                return format
                    .write(&findings, locate, &mut stdout)
                    .context("cannot write to stdout");
            }
        };
        stdout
            .write_all(text.as_bytes())
            .context("cannot write to stdout")
    }

    /// What somebody types to see all of it.
    fn command(&self, option: &[&str]) -> String {
        let mut words = vec!["spokewright".to_owned(), "diff".to_owned()];
        words.extend(
            self.options
                .paths
                .iter()
                .filter(|path| path.as_os_str() != ".")
                .map(|path| path.display().to_string()),
        );
        words.extend(self.options.state_option().iter().map(|word| (*word).to_owned()));
        words.extend(self.carrier.words().iter().map(|word| (*word).to_owned()));
        words.extend(option.iter().map(|word| (*word).to_owned()));
        let quote = |word: &String| {
            let is_plain =
                |character: char| character.is_ascii_alphanumeric() || "-_./~^@:=+,".contains(character);
            if !word.is_empty() && word.chars().all(is_plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
        };
        words.iter().map(quote).collect::<Vec<String>>().join(" ")
    }

    fn say(&self, text: &str) {
        let speech = self.options.speech;
        if !speech.quiet && speech.message_format == MessageFormat::Human {
            show::line(text);
        }
    }
}

fn usage(message: &str, help: &str) -> Stop {
    show::line(&format!("error: {message}"));
    show::line(&format!("help: {help}"));
    Stop::Said(Status::Usage)
}

fn unreadable(titles: &Titles, error: &Unreadable) -> Finding {
    let side = match error.side {
        Which::Old => &titles.old,
        Which::New => &titles.new,
    };
    Finding::new(
        Code::YAML_SYNTAX,
        Place::Path(format!("{side}/{}/{}.yaml", error.cluster, error.work)),
        error.message.clone(),
    )
    .help("render the base again: `spokewright render --force`")
}

/// Takes an object out of the hub and says what it is called.
fn remove(loaded: &mut Loaded, wanted: &str) -> Result<String, Stop> {
    let parts: Vec<&str> = wanted.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some(*namespace), *name),
        _ => {
            return Err(usage(
                &format!("`{wanted}` names no object"),
                "write KIND/NAMESPACE/NAME, or KIND/NAME for an object without a namespace",
            ));
        }
    };
    let is_kind = |object: &Object| {
        kind.eq_ignore_ascii_case(&object.kind) || kind.eq_ignore_ascii_case(&object.group_kind().to_string())
    };
    let objects = &loaded.hub.objects;
    let found: Vec<&Object> = objects
        .iter()
        .filter(|object| object.name == name && object.namespace.as_deref() == namespace && is_kind(object))
        .collect();
    let identity = match found.as_slice() {
        [one] => one.identity(),
        [] => {
            let known: Vec<String> = objects
                .iter()
                .map(|object| format!("{}/{}", object.kind, object.key()))
                .collect();
            let help = diagnostic::nearest(wanted, known.iter().map(String::as_str)).map_or_else(
                || "write KIND/NAMESPACE/NAME, or KIND/NAME for an object without a namespace".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            return Err(usage(&format!("there is no `{wanted}` in the input"), &help));
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|object| format!("`{}/{}`", object.group_kind(), object.key()))
                .collect();
            return Err(usage(
                &format!("`{wanted}` is several objects"),
                &format!("name one of {}", names.join(", ")),
            ));
        }
    };
    let kept = objects
        .iter()
        .filter(|object| object.identity() != identity)
        .cloned()
        .collect();
    loaded.hub.objects = Objects::new(kept);
    Ok(identity.to_string())
}

/// What holds on every path of an input; what is wrong with it has been said already.
fn effective(loaded: &Loaded) -> EffectiveSettings {
    let view = pipeline::policies(loaded, &mut Findings::new());
    EffectiveSettings::new(&view, |cluster| loaded.admits(cluster))
}
