//! What a run is asked for, and the findings about where its configuration, input, and output are: a missing or empty input,
//! and an output where nothing may be written or that the next run would read. They need names of files only, and no object.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ocm_placement as placement;

use crate::api::config::{HubObjects, PlacementMode, PlacementSource, RenderConfig, Secrets};
use crate::api::own_kinds;
use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, Place, SourceId, Warnings, did_you_mean, shell_path,
};
use crate::output::{RootFault, same_or_inside};
use crate::progress::Progress;
use crate::render::{ClusterNames, Shard, WorkKind};
use crate::source::{self, FileTree, Files, Sources};

pub use crate::api::config::FILE_NAME as CONFIG_NAME;

/// The default output.
pub(super) const DEFAULT_OUTPUT: &str = "rendered";

/// The values of a command line.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Files and directories to read.
    pub paths: Vec<PathBuf>,
    /// Instead of `hub` of the configuration, relative to its directory.
    pub hub: Option<Vec<String>>,
    /// The text from standard input.
    pub stdin: Option<Vec<u8>>,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--namespace`.
    pub namespace: Option<String>,
    /// `--spokes`.
    pub spokes: Option<PathBuf>,
    /// `--clusters`.
    pub clusters: Vec<String>,
    /// `--shard`.
    pub shard: Option<Shard>,
    /// `--placement`.
    pub placement: Option<PlacementSource>,
    /// `--mode`.
    pub mode: Option<PlacementMode>,
    /// Instead of `secrets` of the configuration.
    pub secrets: Option<Secrets>,
    /// Instead of `hubObjects` of the configuration.
    pub hub_objects: Option<HubObjects>,
    /// `--work-kind`.
    pub work_kind: WorkKind,
    /// What hub controllers other than the scheduler would add.
    pub placement_options: placement::Options,
    /// `--now`: the only clock.
    pub now: Option<jiff::Timestamp>,
    /// `--deny warnings`.
    pub warnings: Warnings,
    /// `--output`; `-` is a stream and no directory.
    pub output: Option<PathBuf>,
    /// Files and directories that are not input although they may be inside it: exported works.
    pub skip: Vec<PathBuf>,
    /// Whether a status is no part of the input, except that of the kinds that placement reads: a server wrote it, and it
    /// does not go into Git.
    pub without_status: bool,
    /// Whether output trees that the configuration does not name are reported, wherever they are below its directory.
    pub search_outputs: bool,
    /// The Git revision that shows where an output was before the change, `HEAD` by default.
    pub history: Option<String>,
    /// The observer of progress.
    pub progress: Progress,
}

impl Request {
    /// Whether the output is standard output.
    pub(super) fn is_stream(&self) -> bool {
        self.output.is_some() && self.named_output().is_none()
    }

    /// The directory that the command line names for the output.
    pub(super) fn named_output(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|output| output.as_os_str() != "-")
    }
}

/// Files of the input, from number `first` on, that can be read and are empty: the objects that were in them leave the
/// clusters.
pub(super) fn empty_files(
    sources: &Sources,
    first: usize,
    documents: &[source::Document],
    findings: &Findings,
) -> Vec<Finding> {
    let full: HashSet<SourceId> = documents.iter().map(|document| document.id.source).collect();
    // The contents of a file that could not be read are unknown.
    let (mut wrong, mut unread) = (HashSet::new(), HashSet::new());
    for finding in findings {
        match &finding.place {
            Place::Text { source, .. } => _ = wrong.insert(*source),
            Place::Path(path) => _ = unread.insert(path.as_str()),
            _ => {}
        }
    }
    let files = (0_u32..).zip(sources.files()).skip(first);
    let files = files.filter(|(_, file)| file.shown != source::STDIN);
    let empty = files.filter(|(number, file)| {
        let id = SourceId(*number);
        !full.contains(&id)
            && !wrong.contains(&id)
            && !sources.is_unread(id)
            && !unread.contains(file.shown.as_str())
    });
    let finding = |(_, file): (u32, &source::SourceFile)| {
        Finding::new(
            Code::OBJECT_EMPTY_FILE,
            Place::Path(file.shown.clone()),
            "this file contains no object",
        )
        .help("remove the file, or restore its content")
    };
    empty.map(finding).collect()
}

/// Configurations in files that nobody reads as such.
pub(super) fn unread_configs(documents: &[source::Document], sources: &Sources) -> Vec<Finding> {
    let unread = documents.iter().filter(|document| {
        let file = sources.file(document.id.source);
        let name = file.and_then(|file| Path::new(&file.shown).file_name());
        own_kinds::is_config(&document.value) && name.is_some_and(|name| name != CONFIG_NAME)
    });
    let finding = |document: &source::Document| {
        let message = format!("a RenderConfig is read from `{CONFIG_NAME}`: this one configures nothing");
        Finding::new(
            Code::CONFIG_ELSEWHERE,
            Place::value(document.id, "/kind"),
            message,
        )
        .help(format!(
            "rename the file to `{CONFIG_NAME}`, name it with `--config`, or remove it"
        ))
    };
    unread.map(finding).collect()
}

/// A second configuration beside the one that was `found`, with an extension that other programs accept.
pub(super) fn config_beside(found: &Path, files: Files<'_>) -> Option<Finding> {
    let mut others = ["yml", "json"]
        .iter()
        .map(|extension| found.with_extension(extension));
    let other = others.find(|other| files.has_name(other))?;
    let shown = other.display().to_string();
    let message = format!("`{shown}` configures nothing: only the `{CONFIG_NAME}` beside it is read");
    let help = format!("move what it says to `{CONFIG_NAME}`, and remove it");
    Some(Finding::new(Code::CONFIG_ELSEWHERE, Place::Path(shown), message).help(help))
}

/// A configuration below the input: one directory too high was named.
pub(super) fn config_below(
    sources: &Sources,
    first: usize,
    inputs: &[PathBuf],
    is_configured: bool,
) -> Option<Finding> {
    let below = || {
        let files = sources.files().iter().skip(first);
        files.map(|file| Path::new(&file.shown))
    };
    // A configuration with nothing beside it configures nothing that was read.
    let has_input = |config: &Path| {
        let inside = |path: &Path| config.parent().is_some_and(|parent| path.starts_with(parent));
        below().any(|path| path != config && inside(path))
    };
    // Of several inputs, no configuration counts.
    let is_input = |directory: &Path| {
        let is_here = |path: &Path| path.as_os_str().is_empty() || path.as_os_str() == ".";
        let mut inputs = inputs.iter();
        inputs.any(|input| input == directory || (is_here(input) && is_here(directory)))
    };
    let is_config = |path: &Path| {
        path.file_name().is_some_and(|name| name == CONFIG_NAME) && !path.parent().is_some_and(is_input)
    };
    let found = below().find(|path| is_config(path) && has_input(path))?;
    let input = inputs
        .iter()
        .find(|input| found.starts_with(input) || input.as_os_str() == ".")?;
    let directory = found.parent().unwrap_or(input).display().to_string();
    let shown = found.display().to_string();
    let (own, otherwise) = if is_configured {
        (
            "has its own",
            format!("leave it out: `exclude` in the {CONFIG_NAME} above"),
        )
    } else {
        (
            "has no configuration",
            format!("if this is one hub, write a {CONFIG_NAME} here"),
        )
    };
    let message = format!(
        "`{shown}` configures a directory below `{}`, which {own}",
        input.display()
    );
    Some(
        Finding::new(Code::CONFIG_ELSEWHERE, Place::Path(shown), message).help(format!(
            "name its directory: `spokewright check {}`; or, {otherwise}",
            shell_path(&directory)
        )),
    )
}

/// An output in a forbidden place (docs/reference/output.md): below a `.git`, or outside the repository whose
/// configuration, the `document`, names it.
pub(super) fn output_outside(output: &Path, fault: RootFault, document: Option<DocumentId>) -> Finding {
    let shown = output.display().to_string();
    let place = match document {
        Some(document) => Place::value(document, "/output"),
        None => Place::Path(shown.clone()),
    };
    let finding = |message| Finding::new(Code::OUTPUT_OUTSIDE, place, message);
    if fault == RootFault::Git {
        return finding(format!(
            "the output `{shown}` is in `.git`, where nothing is written"
        ))
        .help("name a directory of the work tree, such as `rendered`");
    }
    finding(format!("the output `{shown}` is outside the repository"))
        .note(format!(
            "{CONFIG_NAME} can name a directory of its repository, or, without a repository, of its own directory"
        ))
        .help(format!(
            "name a directory of the repository; or remove `output` here, and pass it on the command line: `-o {}`",
            shell_path(&shown)
        ))
}

/// An output that the configuration, the `document`, names outside its own directory, as it did not in a revision: a
/// stranger's commit could write between the files of others, or over the output of another configuration.
pub(super) fn output_beside(document: DocumentId, output: &Path, revision: &str) -> Finding {
    let shown = output.display().to_string();
    let message =
        format!("the output `{shown}` is outside the directory of its configuration, and new there");
    let help = format!(
        "name a directory below that of {CONFIG_NAME}, or pass it on the command line: `-o {}`",
        shell_path(&shown)
    );
    let note = format!("{CONFIG_NAME} does not name it in `{revision}`");
    Finding::new(Code::OUTPUT_OUTSIDE, Place::value(document, "/output"), message)
        .note(note)
        .help(help)
}

/// Submodules in an output: an empty directory for whoever checks it, and anything at all for whoever applies it.
pub(super) fn submodules(output: &Path) -> Vec<Finding> {
    let Ok(index) = source::IndexTree::open(output, None) else {
        return Vec::new();
    };
    let at = index.locate(output);
    let submodules = at.iter().flat_map(|at| index.submodules(at));
    let finding = |path: &str| {
        let shown = output.join(path).display().to_string();
        let message = format!("`{shown}` is a submodule in the output: its files are in another repository");
        let help = format!(
            "move it out of the output: `git rm --cached {}`",
            shell_path(&shown)
        );
        Finding::new(Code::OUTPUT_UNEXPECTED, Place::Path(shown), message)
            .note("tools that apply the output may fetch it")
            .help(help)
    };
    submodules.map(finding).collect()
}

/// An output that would be read again as input, or that would overwrite it (docs/reference/output.md).
pub(super) fn check_overlap(
    output: &Path,
    wanted: &source::Request,
    configured: &Path,
    findings: &mut Findings,
) {
    for input in &wanted.hub {
        let holds_input = same_or_inside(input, output).unwrap_or(false);
        let inside = same_or_inside(output, input).unwrap_or(false);
        // The configured output, and the default one, are skipped by every command; any other would be read.
        let known = output == configured || output == Path::new(DEFAULT_OUTPUT);
        if holds_input || (inside && !known) {
            let shown = output.display().to_string();
            let finding = Finding::new(
                Code::OUTPUT_OVERLAPS_INPUT,
                Place::Path(shown.clone()),
                format!("the output `{shown}` and the input `{}` overlap", input.display()),
            );
            findings.push(if holds_input {
                finding.help("choose a directory without input: `-o rendered`")
            } else {
                finding
                    .note("the next run would read the output of this one")
                    .help(format!(
                        "set `output` in {CONFIG_NAME}, which every command skips, or write elsewhere"
                    ))
            });
        }
    }
}

/// The default directory may be absent; one that the user names must exist, or policies would be shipped over its own.
pub(super) fn no_such_spokes(path: &Path) -> Finding {
    let shown = path.display().to_string();
    Finding::new(
        Code::INPUT_UNREADABLE,
        Place::Path(shown.clone()),
        format!("there is no directory `{shown}` of spoke-local objects"),
    )
    .help("name the directory that has one directory per cluster")
}

/// A configured directory that does not exist. It may be absent, because Git keeps no empty directories. But if there
/// is one with a similar name next to it, the name has a typo, and shipped objects would overwrite local ones.
pub(super) fn misspelled_spokes(
    document: DocumentId,
    (path, written): (&Path, &str),
    root: &Path,
    files: Files<'_>,
) -> Option<Finding> {
    // Another directory may be called nearly as the default, which nobody wrote.
    if written == RenderConfig::default().spokes || files.is_dir(path) {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let beside = files.directories_beside(path, root);
    let near = did_you_mean(name, beside.iter().map(String::as_str))?;
    let finding = Finding::new(
        Code::CONFIG_INVALID,
        Place::value(document, "/spokes"),
        format!("there is no directory `{written}` of local objects"),
    );
    Some(finding.help(near))
}

/// A named input must be in the index: otherwise, it would be left out silently.
pub(super) fn not_staged(tree: &dyn FileTree, path: &Path) -> Option<Finding> {
    if !Files::Tree(tree).lacks(path) {
        return None;
    }
    let shown = path.display().to_string();
    Some(
        Finding::new(
            Code::INPUT_UNREADABLE,
            Place::Path(shown.clone()),
            format!("`{shown}` is not in Git's index"),
        )
        .help(format!(
            "add it: `git add {}`, or {}",
            shell_path(&shown),
            tree.instead()
        )),
    )
}

pub(super) fn cluster_names(texts: &[String], findings: &mut Findings) -> Option<ClusterNames> {
    let names = ClusterNames::parse(texts.iter().map(String::as_str));
    names.unwrap_or_else(|error| {
        let finding = Finding::new(Code::CONFIG_INVALID, Place::Run, format!("`--clusters` {error}"));
        findings.push(finding.help("write names or globs, such as `eu-1,us-*`"));
        None
    })
}
