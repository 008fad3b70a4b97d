//! What `diff` compares with: which of directory, rendered tree and revision somebody means, and reading it.
//!
//! Owns: that choice, and what is said of a base that is not whole. Flows in: `--base`. Flows out: a [`Base`], and
//! what it renders to. Must not know: how sides are compared.

use std::path::{Path, PathBuf};

use spokewright::diagnostic::{Code, Findings, Place, Severity, Warnings, counted};
use spokewright::output;
use spokewright::pipeline::{self, Analysis, Before, CONFIG_NAME, EmptyResult, Loaded, Rendered, Request};
use spokewright::render::{GROUP, MANIFEST_WORK};
use spokewright::report::diff::EffectiveSettings;
#[cfg(feature = "git")]
use spokewright::source::{Files, GitTree};

use super::stop::{Stop, usage};
use crate::cli::options::ReadOptions;
use crate::cli::show;
use crate::cli::speech::Speech;
use crate::cli::status::Status;

/// What the work tree is compared with, before it is rendered.
pub(super) enum Base {
    /// An output tree.
    Tree(PathBuf),
    /// An input.
    Input(Input),
}

/// An input to compare with.
pub(super) enum Input {
    /// On disk.
    Directory(PathBuf),
    /// In a revision.
    #[cfg(feature = "git")]
    Git(Box<GitTree>),
}

/// An input and everything that is compared of it.
pub(super) struct Evaluated {
    pub(super) loaded: Loaded,
    pub(super) rendered: Rendered,
    pub(super) effective: EffectiveSettings,
    pub(super) findings: Findings,
}

impl Evaluated {
    pub(super) fn new(loaded: Loaded, empty: EmptyResult) -> Self {
        let mut findings = Findings::new();
        let analysis = Analysis::new(&loaded, &mut findings);
        let (rendered, spokes) = analysis.render_and_spokes(empty, &mut findings);
        // What the policies alone would report is for `check`.
        let view = analysis.policies(&spokes, &mut Findings::new());
        let effective = EffectiveSettings::new(&view, |cluster| loaded.admits(cluster));
        loaded.finish(&mut findings);
        Self {
            loaded,
            rendered,
            effective,
            findings,
        }
    }
}

impl Evaluated {
    /// Rights that go before the objects that they are for, if this takes the place of what was rendered before.
    pub(super) fn lost_rights(&self, before: &Before<'_>) -> Findings {
        let mut findings = Findings::new();
        let analysis = Analysis::new(&self.loaded, &mut Findings::new());
        // A tree that cannot be read has been reported.
        let _ = analysis.compare_rights(&self.rendered, before, &mut findings);
        if !findings.is_empty() {
            self.loaded.finish(&mut findings);
        }
        // The others have been shown.
        let mut lost = Findings::new();
        lost.extend(
            findings
                .into_iter()
                .filter(|finding| finding.code == Code::RBAC_NARROWED),
        );
        lost
    }
}

impl Input {
    /// What it is called.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            #[cfg(feature = "git")]
            Self::Git(tree) => tree.revision().to_owned(),
        }
    }

    /// What stands in front of its paths.
    fn prefix(&self) -> String {
        match self {
            Self::Directory(_) => String::new(),
            #[cfg(feature = "git")]
            Self::Git(tree) => format!("{}:", tree.revision()),
        }
    }

    /// Renders it. What is wrong with it is over: that nothing comes out of it is no error.
    pub(super) fn evaluate(&self, request: &Request) -> Evaluated {
        let mut request = Request {
            warnings: Warnings::Reported,
            output: None,
            ..request.clone()
        };
        let loaded = match self {
            Self::Directory(path) => {
                if path.join(CONFIG_NAME).is_file() {
                    request.config = None;
                }
                request.stdin = None;
                request.paths = vec![path.clone()];
                pipeline::load(&request)
            }
            #[cfg(feature = "git")]
            Self::Git(tree) => pipeline::load_from(&request, Files::Tree(&**tree)),
        };
        Evaluated::new(loaded, EmptyResult::Allowed)
    }
}

/// Which of directory, rendered tree and revision `base` is; the last commit where nobody says.
pub(super) fn find_base(base: Option<&str>, request: &Request, options: &ReadOptions) -> Result<Base, Stop> {
    let Some(base) = base else {
        return git_base(request, "HEAD");
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
        say_if_same(request, path, options);
        return Ok(Base::Input(Input::Directory(path.to_owned())));
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
    git_base(request, base)
}

/// Nothing can differ from itself, unless it is read in another state.
fn say_if_same(request: &Request, base: &Path, options: &ReadOptions) {
    let same = |path: &PathBuf| match (std::fs::canonicalize(path), std::fs::canonicalize(base)) {
        (Ok(path), Ok(base)) => path == base,
        _ => false,
    };
    if let [path] = request.paths.as_slice()
        && same(path)
        && options.state_option().is_empty()
    {
        show::note(
            &format!(
                "note: the base `{}` is the input itself; name another directory or a revision",
                base.display()
            ),
            options.speech,
        );
    }
}

#[cfg(feature = "git")]
fn git_base(request: &Request, revision: &str) -> Result<Base, Stop> {
    if request.stdin.is_some() {
        return Err(usage(
            "what comes from standard input has no older version in Git",
            "name a directory to compare with: `--base DIR`",
        ));
    }
    let here = PathBuf::from(".");
    let path = request.paths.first().unwrap_or(&here);
    GitTree::open(path, revision)
        .map(|tree| Base::Input(Input::Git(Box::new(tree))))
        .map_err(|error| usage(&error.to_string(), &error.help()))
}

#[cfg(not(feature = "git"))]
fn git_base(_: &Request, revision: &str) -> Result<Base, Stop> {
    Err(usage(
        &format!("`{revision}` is no directory, and this spokewright was built without `git`"),
        "name a directory to compare with: `--base DIR`",
    ))
}

/// Says what is wrong with the base. Only that it could not be read whole stops the run.
pub(super) fn judge_base(input: &Input, base: &Evaluated, speech: Speech) -> Result<(), Stop> {
    let title = input.title();
    let works = base.loaded.hub.objects.of_kind(GROUP, MANIFEST_WORK);
    if base.rendered.plan.clusters.is_empty() && !works.is_empty() {
        return Err(usage(
            &format!("`{title}` holds ManifestWorks, but no `{}`", output::INVENTORY),
            "copy a rendered tree with its hidden files: many tools leave them out; \
             another tool's tree cannot be compared",
        ));
    }
    if base.findings.has_errors() {
        let prefix = input.prefix();
        let errors = prefixed(base.findings.only(Severity::Error), &prefix);
        let sources = base.loaded.sources.prefixed(&prefix);
        show::findings(&errors, &sources, speech);
        let status = Status::of(&errors);
        if status == Status::Io {
            show::note(
                &format!("the base `{title}` could not be read; nothing was compared"),
                speech,
            );
            return Err(Stop::Said(status));
        }
        show::note(
            &format!(
                "the base `{title}` has {}: what it could not render is shown as added",
                counted(errors.count(Severity::Error), "error")
            ),
            speech,
        );
    } else if base.loaded.hub.objects.is_empty() {
        show::note(
            &format!(
                "note: the base `{title}` holds no Kubernetes object of this input, so that all of it is new"
            ),
            speech,
        );
    }
    Ok(())
}

/// The findings with the side in front of a path that stands for itself, as it stands in front of all others.
fn prefixed(findings: Findings, prefix: &str) -> Findings {
    let mut all = Findings::new();
    all.extend(findings.into_iter().map(|mut finding| {
        if let Place::Path(path) = &mut finding.place {
            path.insert_str(0, prefix);
        }
        finding
    }));
    all
}
