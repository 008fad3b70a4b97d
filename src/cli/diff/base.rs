//! What `diff` and `page` compare with: a Git revision, another input or a rendered tree, and reading it.
//!
//! Only the option decides which of the three a word means, never what happens to be on disk: whoever opens a pull
//! request chooses the names in its checkout, even that of a directory named like the base.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use spokewright::diagnostic::{Code, Findings, Place, Severity, Warnings, counted, shell_word};
use spokewright::output::{self, TreeFiles};
use spokewright::pipeline::{self, Analysis, CONFIG_NAME, EmptyResult, Loaded, Rendered, Request};
use spokewright::render::{GROUP, MANIFEST_WORK};
use spokewright::report::RuleOutcome;
use spokewright::report::diff::{EffectiveChange, EffectiveSettings, Side};
use spokewright::source::{Files, GitTree, Sources};

use crate::cli::options::{ReadOptions, first_path};
use crate::cli::print::{self, Ended, Refusal, Speech, Status, refuse};
use crate::cli::reporting::is_same_file;

/// The base that is meant. At most one of them is present.
#[derive(Debug, Args)]
pub(in crate::cli) struct BaseOptions {
    /// Compare with this Git revision [default: HEAD]
    #[arg(long, value_name = "GIT-REV", group = GROUP_OF_BASES)]
    base: Option<String>,

    /// Compare with another input directory
    #[arg(long, value_name = "DIR", group = GROUP_OF_BASES)]
    base_dir: Option<PathBuf>,

    /// Compare with a rendered tree
    #[arg(long, value_name = "DIR", group = GROUP_OF_BASES)]
    base_tree: Option<PathBuf>,
}

/// How the options are told apart from others, which cannot go with them.
pub(in crate::cli) const GROUP_OF_BASES: &str = "a-base";

/// What the work tree is compared with, before it is rendered.
pub(in crate::cli) enum Base {
    /// An output tree.
    Tree(PathBuf),
    /// An input.
    Input(Input),
}

/// An input to compare with.
pub(in crate::cli) enum Input {
    /// On disk.
    Directory(PathBuf),
    /// In a revision.
    Git(Box<GitTree>),
}

/// An input and everything that is compared of it.
pub(in crate::cli) struct Evaluated {
    pub(in crate::cli) loaded: Loaded,
    pub(in crate::cli) rendered: Rendered,
    /// None: they are too many to be compared, and a finding says so.
    pub(in crate::cli) effective: Option<EffectiveSettings>,
    /// What the FleetRules come to.
    pub(in crate::cli) rules: Vec<RuleOutcome>,
    pub(in crate::cli) findings: Findings,
}

impl Evaluated {
    pub(in crate::cli) fn new(loaded: Loaded, empty: EmptyResult) -> Self {
        let mut findings = Findings::new();
        let analysis = Analysis::new(&loaded, &mut findings);
        let (received, spokes) = analysis.received(None);
        let (rendered, mut view) = analysis.results(received, &spokes, empty, &mut findings);
        let effective = EffectiveSettings::new(&view, |cluster| loaded.admits(cluster));
        let effective = effective.map_err(|too_much| findings.push(*too_much)).ok();
        let rules = std::mem::take(&mut view.rules);
        loaded.finish(&mut findings);
        Self {
            loaded,
            rendered,
            effective,
            rules,
            findings,
        }
    }

    /// The errors that leave the result incomplete. One that breaks a FleetRule lacks nothing.
    pub(in crate::cli) fn incomplete(&self) -> Findings {
        let mut errors = self.findings.only(Severity::Error);
        errors.retain(|finding| finding.code != Code::RULE_VIOLATED);
        errors
    }

    /// The settings that would apply to what this input ships if clusters were as `other` says.
    pub(in crate::cli) fn on_clusters_of(&mut self, other: &Self) -> Option<EffectiveSettings> {
        // What is wrong with it was found when it was evaluated.
        let (analysis, _) = Analysis::with_findings(&self.loaded);
        let spokes = analysis.spokes_as_in(&other.loaded);
        let view = analysis.evaluate(&spokes);
        EffectiveSettings::new(&view, |cluster| self.loaded.admits(cluster))
            .map_err(|too_much| self.findings.push(*too_much))
            .ok()
    }
}

/// How effective settings change from one input to another; none, if those of either are too many.
pub(in crate::cli) fn changes(old: &Evaluated, new: &Evaluated) -> Vec<EffectiveChange> {
    let both = old.effective.as_ref().zip(new.effective.as_ref());
    both.map_or_else(Vec::new, |(old, new)| EffectiveSettings::changes(old, new))
}

impl Input {
    /// What it is called.
    pub(in crate::cli) fn title(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Git(tree) => tree.revision().to_owned(),
        }
    }

    /// The revision.
    pub(in crate::cli) fn revision(&self) -> Option<&str> {
        match self {
            Self::Directory(_) => None,
            Self::Git(tree) => Some(tree.revision()),
        }
    }

    /// Reads it.
    pub(in crate::cli) fn load(&self, request: &Request) -> Loaded {
        let mut request = Request {
            warnings: Warnings::Unread,
            output: None,
            ..request.clone()
        };
        match self {
            Self::Directory(path) => {
                if path.join(CONFIG_NAME).is_file() {
                    request.config = None;
                }
                request.stdin = None;
                request.paths = vec![path.clone()];
                pipeline::load(&request)
            }
            Self::Git(tree) => pipeline::load_from(&request, Files::Tree(&**tree)),
        }
    }
}

impl BaseOptions {
    /// What they name; the last commit where they name nothing.
    pub(in crate::cli) fn find(&self, request: &Request, options: &ReadOptions) -> Result<Base, Refusal> {
        if let Some(path) = &self.base_tree {
            return tree_base(path);
        }
        if let Some(path) = &self.base_dir {
            return directory_base(path, request, options);
        }
        let Some(revision) = &self.base else {
            return git_base(request, "HEAD");
        };
        if revision.is_empty() {
            return refuse("`--base` is empty", "name a Git revision, such as `--base HEAD`");
        }
        refuse_path(revision)?;
        git_base(request, revision)
    }

    /// Whether they name anything.
    pub(in crate::cli) fn is_given(&self) -> bool {
        self.base.is_some() || self.base_dir.is_some() || self.base_tree.is_some()
    }

    /// As they were typed, with nothing of a shell: an option and its value.
    pub(in crate::cli) fn words(&self) -> (&'static str, String) {
        match (&self.base_tree, &self.base_dir) {
            (Some(path), _) => ("--base-tree", path.display().to_string()),
            (None, Some(path)) => ("--base-dir", path.display().to_string()),
            (None, None) => ("--base", self.base.clone().unwrap_or_else(|| "HEAD".to_owned())),
        }
    }
}

/// A word that names both a path and a revision means neither: the one who reads the answer may have the other in mind.
fn refuse_path(revision: &str) -> Result<(), Refusal> {
    let path = Path::new(revision);
    // A link to nothing has the name as well.
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let word = shell_word(revision);
    let (what, instead) = if output::is_tree(path) {
        (
            "rendered tree",
            format!("pass the rendered tree with `--base-tree {word}`"),
        )
    } else if path.is_dir() {
        (
            "directory",
            format!("pass the input in it with `--base-dir {word}`"),
        )
    } else {
        ("file", "pass another input with `--base-dir DIR`".to_owned())
    };
    // Git's own way to say that a name is a commit, whatever else is called so (gitrevisions(7)).
    let commit = shell_word(&format!("{revision}^{{commit}}"));
    refuse(
        &format!("`{revision}` is a {what} here, but `--base` expects a Git revision"),
        &format!("{instead}; pass a revision of that name with `--base {commit}`"),
    )
}

fn tree_base(path: &Path) -> Result<Base, Refusal> {
    let shown = path.display();
    if output::is_tree(path) {
        return Ok(Base::Tree(path.to_owned()));
    }
    check_directory(path, "name a rendered tree: `--base-tree DIR`")?;
    let word = shell_word(&shown.to_string());
    refuse(
        &format!(
            "`{shown}` is not a rendered tree: it has no `{}`",
            output::INVENTORY
        ),
        &format!(
            "copy a rendered tree with its hidden files, which many tools omit; pass an input with `--base-dir {word}`"
        ),
    )
}

fn check_directory(path: &Path, help: &str) -> Result<(), Refusal> {
    if path.is_dir() {
        return Ok(());
    }
    refuse(&format!("there is no directory `{}`", path.display()), help)
}

fn directory_base(path: &Path, request: &Request, options: &ReadOptions) -> Result<Base, Refusal> {
    let shown = path.display();
    if output::is_tree(path) {
        let message = format!("`{shown}` is a rendered tree: it has a `{}`", output::INVENTORY);
        let word = shell_word(&shown.to_string());
        return refuse(&message, &format!("compare with it: `--base-tree {word}`"));
    }
    check_directory(path, "name another input: `--base-dir DIR`")?;
    say_if_same(request, path, options);
    Ok(Base::Input(Input::Directory(path.to_owned())))
}

/// Nothing can differ from itself, unless it is read in another state.
fn say_if_same(request: &Request, base: &Path, options: &ReadOptions) {
    if let [path] = request.paths.as_slice()
        && is_same_file(path, base)
        && options.state_option().is_empty()
    {
        options.speech.note(&format!(
            "note: the base `{}` is the input itself; name another directory or a revision",
            base.display()
        ));
    }
}

fn git_base(request: &Request, revision: &str) -> Result<Base, Refusal> {
    if request.stdin.is_some() {
        return refuse(
            "standard input has no older version in Git",
            "name another input to compare with: `--base-dir DIR`",
        );
    }
    match GitTree::open(first_path(request), revision) {
        Ok(tree) => Ok(Base::Input(Input::Git(Box::new(tree)))),
        Err(error) => refuse(&error.to_string(), error.help()),
    }
}

/// The files of a rendered tree; those that `expected` has as well are not kept.
pub(in crate::cli) fn read_tree(
    path: &Path,
    expected: &Side<'_>,
    speech: Speech,
) -> Result<TreeFiles, Ended> {
    let files = output::read_tree(path, None, |path, bytes| expected.expects(path, bytes));
    files.map_err(|error| Ended(print::obstacles(&error, &Sources::default(), speech)))
}

/// Says what is wrong with the base. Only that it could not be read whole stops the run.
pub(in crate::cli) fn judge_base(input: &Input, base: &Evaluated, speech: Speech) -> anyhow::Result<()> {
    let title = input.title();
    let works = base.loaded.hub.objects.of_kind(GROUP, MANIFEST_WORK);
    if base.rendered.plan.clusters.is_empty() && !works.is_empty() {
        return refuse(
            &format!("`{title}` contains ManifestWorks, but no `{}`", output::INVENTORY),
            "copy a rendered tree with its hidden files, which many tools omit; \
             another tool's tree cannot be compared",
        );
    }
    let errors = base.incomplete();
    if errors.has_errors() {
        let prefix = input
            .revision()
            .map_or_else(String::new, |revision| format!("{revision}:"));
        let errors = prefixed(errors, &prefix);
        let sources = base.loaded.sources.prefixed(&prefix);
        print::findings(&errors, &sources, speech);
        let status = Status::of(&errors);
        if status == Status::Io {
            speech.note(&format!(
                "the base `{title}` could not be read; nothing was compared"
            ));
            return Err(Ended(status).into());
        }
        speech.note(&format!(
            "the base `{title}` has {}: objects that it could not render are shown as added",
            counted(errors.count(Severity::Error), "error")
        ));
    } else if base.loaded.hub.objects.is_empty() {
        speech.note(&format!(
            "note: the base `{title}` contains no Kubernetes object of this input, so everything is new"
        ));
    }
    Ok(())
}

/// The findings with the side in front of a path that stands for itself, as it is in front of all others.
fn prefixed(findings: Findings, prefix: &str) -> Findings {
    let mut all = Findings::new();
    all.extend(findings.into_iter().map(|mut finding| {
        if let Place::Path(_) = finding.place
            && let Place::Path(path) = &mut Arc::make_mut(&mut finding).place
        {
            path.insert_str(0, prefix);
        }
        finding
    }));
    all
}
