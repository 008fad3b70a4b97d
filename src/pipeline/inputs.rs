//! Finds and reads configuration, input, and output.
//!
//! Owns: which file is the configuration, what is input, and what is output. Flows in: a [`Request`]. Flows out:
//! [`Loaded`] input with all findings so far. Must not know: what is done with it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use kube_json::Value;

use super::loaded::Loaded;
use super::origins;
use super::request::Request;
use super::suppress::Suppressions;
use crate::api::config::{self, RenderConfig};
use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, Locate as _, Place, SourceId, nearest, shell_path,
};
use crate::hub;
use crate::output::{INVENTORY, RootFault, misplaced, same_or_inside};
use crate::render::{ClusterNames, Selection};
use crate::source::{self, Checkout, FileTree, Files, Sources, Watched};
use apimachinery::GroupKind;

/// The configuration's name at the root of the input.
pub const CONFIG_NAME: &str = "spokewright.yaml";
/// The default output.
const DEFAULT_OUTPUT: &str = "rendered";

/// Where things are.
struct Whereabouts {
    config_file: Option<PathBuf>,
    /// Whether the command line names that file; else it was found by its name.
    named_config: bool,
    root: PathBuf,
    /// Whether `hub` of the configuration names the inputs, and not the command line.
    configured_inputs: bool,
}

/// Reads configuration and input. Mistakes are in [`Loaded::findings`]; nothing here fails.
#[must_use]
pub fn load(request: &Request) -> Loaded {
    read(request, Files::Disk, Purpose::Write)
}

/// The same from files that need not be on disk: the paths of the request lead into `files`.
#[must_use]
pub fn load_from(request: &Request, files: Files<'_>) -> Loaded {
    read(request, files, Purpose::Compare)
}

/// The same from Git's index, a tree that represents the files on disk. The output is written to disk, so it must not
/// overlap the input, and a named path that the tree lacks is an error.
#[must_use]
pub fn load_staged(request: &Request, tree: &dyn FileTree) -> Loaded {
    read(request, Files::Tree(tree), Purpose::WriteStaged)
}

/// The same from a checkout: nothing outside it is read.
#[must_use]
pub fn load_checkout(request: &Request, checkout: &Checkout) -> Loaded {
    read(request, Files::Tree(checkout), Purpose::Write)
}

/// The purpose of reading the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To report or write its rendering.
    Write,
    /// The same of what is in Git's index for the files on disk.
    WriteStaged,
    /// To compare another input with it: what it lacks may be new in the other.
    Compare,
}

fn read(request: &Request, files: Files<'_>, purpose: Purpose) -> Loaded {
    let mut findings = Findings::new();
    let mut places = whereabouts(request, files);
    let staged = match files {
        Files::Tree(tree) if purpose == Purpose::WriteStaged => Some(tree),
        _ => None,
    };
    if let Some(tree) = staged {
        let named = request.config.iter().chain(&request.spokes);
        findings.extend(named.filter_map(|path| not_staged(tree, path)));
        // Never a configuration on disk that is not staged.
        places.config_file = places.config_file.filter(|path| !files.lacks(path));
    }
    let mut sources = Sources::default();
    let configured = read_config(&places, files, &mut sources, &mut findings);
    let document = configured.as_ref().map(|(_, document)| *document);
    let mut config = configured.map(|(config, _)| config).unwrap_or_default();
    config.placement_source = request.placement.unwrap_or(config.placement_source);
    config.placement_mode = request.mode.unwrap_or(config.placement_mode);
    config.secrets = request.secrets.unwrap_or(config.secrets);
    config.hub_objects = request.hub_objects.unwrap_or(config.hub_objects);
    let configured_output = under(&places.root, &config.output);
    let output = match &request.output {
        Some(output) if output.as_os_str() != "-" => output.clone(),
        _ if document.is_some() => configured_output.clone(),
        _ => PathBuf::from(DEFAULT_OUTPUT),
    };
    let is_named = request
        .output
        .as_ref()
        .is_some_and(|output| output.as_os_str() != "-");
    let output_within = document
        .filter(|_| !is_named)
        .and_then(|_| source::repository_or(&places.root));
    let roots = roots(&places, &config);
    let roots_base = places.root.clone();
    let mut wanted = wanted(request, places, &config, &output);
    // Any other tree has only the repository.
    wanted.within = wanted.within.filter(|_| matches!(files, Files::Disk));
    // What a base lacks may be new on disk.
    let there = if purpose == Purpose::Compare {
        Files::Disk
    } else {
        files
    };
    if let Some(tree) = staged {
        findings.extend(wanted.hub.iter().filter_map(|path| not_staged(tree, path)));
    } else if let Some(missing) = request.spokes.as_deref().filter(|path| !there.is_dir(path)) {
        findings.push(no_such_spokes(missing));
    }
    if let (Some(document), None) = (document, &request.spokes) {
        let spokes = under(&roots_base, &config.spokes);
        let written = &config.spokes;
        findings.extend(misspelled_spokes(
            document,
            (&spokes, written),
            &roots_base,
            files,
        ));
    }
    if !is_stream(request) && (purpose != Purpose::Compare || matches!(files, Files::Disk)) {
        match misplaced(&output, output_within.as_deref()) {
            Some(fault) => {
                let document = document.filter(|_| output_within.is_some());
                findings.push(output_outside(&output, fault, document));
            }
            None => check_overlap(&output, &wanted, &configured_output, &mut findings),
        }
    }
    let clusters = cluster_names(&request.clusters, &mut findings);
    let before = sources.files().len();
    let documents = files.documents(&wanted, request.stdin.as_deref(), &mut sources, &mut findings);
    findings.extend(empty_files(&sources, before, &documents, &findings));
    // Of a tree that is not on disk, the files beside it may be of another version.
    let roots = if matches!(files, Files::Disk) {
        roots.as_slice()
    } else {
        &[]
    };
    let unfound = origins::attribute_piped(&documents, &mut sources, roots);
    let options = hub::Options {
        sources: Some(&sources),
        namespace: request.namespace.clone(),
        taught: config.profiles.iter().filter_map(kind_of_profile).collect(),
        controller_name: Some(config.controller_name.clone()),
        progress: request.progress.clone(),
    };
    let mut hub = hub::build(documents, &options, &mut findings);
    hub::soften(&hub, &config.controller_name, &sources, &mut findings);
    let unread = hub::soften_unreadable(&hub, &config.controller_name, &sources, &mut findings);
    hub.passed_over.extend(unread);
    hub.passed_over.sort_by_cached_key(|passed| {
        let position = sources.position(&passed.place);
        position.map(|(path, line, _)| (path.to_owned(), line))
    });
    findings.extend(hub::changed_by_kustomize(&hub, &config.controller_name, &sources));
    let suppressions = Suppressions::new(&config.suppress, &hub, request.now, &mut findings);
    Loaded {
        overrides: config.findings.clone(),
        config,
        output,
        output_within,
        sources,
        hub,
        findings,
        now: request.now,
        placement_options: request.placement_options,
        selection: Selection {
            clusters,
            shard: request.shard,
        },
        progress: request.progress.clone(),
        work_kind: request.work_kind,
        is_stream: is_stream(request),
        warnings: request.warnings,
        shown: request.shown,
        suppressions,
        unfound,
    }
}

/// Files of the input, from number `first` on, that can be read and are empty: the objects that were in them leave the
/// clusters.
fn empty_files(
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

/// The kind that a profile of the configuration describes.
fn kind_of_profile(profile: &Value) -> Option<GroupKind> {
    let text = |key: &str| profile.get(key)?.as_str();
    Some(GroupKind::new(text("group")?, text("kind")?))
}

/// The input as it is on disk, for a caller that waits until it changes. A configuration that cannot be read counts as
/// none: the run reports what is wrong with it.
#[must_use]
pub fn watched(request: &Request) -> Watched {
    let places = whereabouts(request, Files::Disk);
    let config_file = places.config_file.clone();
    Watched::look(config_file.as_deref(), || {
        let (mut sources, mut findings) = (Sources::default(), Findings::new());
        let config = read_config(&places, Files::Disk, &mut sources, &mut findings);
        let config = config.map(|(config, _)| config).unwrap_or_default();
        // The output is skipped where it is, and where it would be without a configuration.
        let output = match &request.output {
            Some(output) if output.as_os_str() != "-" => output.clone(),
            _ => under(&places.root, &config.output),
        };
        wanted(request, places, &config, &output)
    })
}

/// A path of the configuration, as a user in the current directory would type it: `rendered`, not `./rendered`.
fn under(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    if root.as_os_str() == "." {
        path.as_ref().to_owned()
    } else {
        root.join(path)
    }
}

/// The directories that a path in what was piped in may be relative to.
fn roots(places: &Whereabouts, config: &RenderConfig) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    if places.config_file.is_some() {
        let root = &places.root;
        let is_here = root.as_os_str().is_empty();
        roots.push(if is_here { PathBuf::from(".") } else { root.clone() });
        roots.extend(config.hub.iter().map(|hub| under(root, hub)));
    }
    roots.push(PathBuf::from("."));
    roots
}

/// What to read, and what to leave out.
fn wanted(request: &Request, places: Whereabouts, config: &RenderConfig, output: &Path) -> source::Request {
    let hub = if let Some(hub) = &request.hub {
        hub.iter().map(|path| under(&places.root, path)).collect()
    } else if places.configured_inputs {
        config.hub.iter().map(|path| under(&places.root, path)).collect()
    } else {
        request.paths.clone()
    };
    let spokes = request
        .spokes
        .clone()
        .unwrap_or_else(|| under(&places.root, &config.spokes));
    let repository = places
        .config_file
        .as_ref()
        .and_then(|_| source::repository_around(&places.root));
    let named = if request.hub.is_some() {
        hub.clone()
    } else {
        Vec::new()
    };
    source::Request {
        within: repository,
        from_command_line: named
            .into_iter()
            .chain(request.paths.clone())
            .chain(request.spokes.clone())
            .collect(),
        hub,
        spokes: Some(spokes),
        definitions: config.crds.iter().map(|path| under(&places.root, path)).collect(),
        skip: [output.to_owned(), under(&places.root, &config.output)]
            .into_iter()
            .chain(places.config_file)
            .chain(request.skip.iter().cloned())
            .collect(),
        output_marker: Some(INVENTORY),
        own_outputs: vec![output.to_owned(), under(&places.root, &config.output)],
        outputs_beside: (request.search_outputs && request.stdin.is_none()).then_some(CONFIG_NAME),
        exclude: config.exclude.clone(),
        root: places.root,
        keeps_values: request.keeps_values,
        progress: request.progress.clone(),
    }
}

/// Reads only the configuration: what [`load`] would find, without the input.
pub fn configuration(
    request: &Request,
    files: Files<'_>,
    sources: &mut Sources,
    findings: &mut Findings,
) -> RenderConfig {
    let config = read_config(&whereabouts(request, files), files, sources, findings);
    config.map(|(config, _)| config).unwrap_or_default()
}

fn whereabouts(request: &Request, files: Files<'_>) -> Whereabouts {
    let single = match request.paths.as_slice() {
        [path] if files.is_dir(path) => Some(path.clone()),
        [] if request.stdin.is_none() => Some(PathBuf::from(".")),
        _ => None,
    };
    if let Some(config) = &request.config {
        let root = config.parent().map_or_else(PathBuf::new, Path::to_owned);
        // `.` is the default of the command line.
        let configured_inputs = request.stdin.is_none() && request.paths == [PathBuf::from(".")];
        return Whereabouts {
            config_file: Some(config.clone()),
            named_config: true,
            root,
            configured_inputs,
        };
    }
    let config_file = single
        .as_ref()
        .map(|root| root.join(CONFIG_NAME))
        .filter(|path| files.has_name(path));
    let configured_inputs = config_file.is_some();
    let root = single.unwrap_or_else(|| match request.paths.as_slice() {
        [file] => file.parent().map_or_else(PathBuf::new, Path::to_owned),
        _ => PathBuf::new(),
    });
    Whereabouts {
        config_file,
        named_config: false,
        root,
        configured_inputs,
    }
}

/// Reads the configuration; the defaults where there is none.
fn read_config(
    places: &Whereabouts,
    files: Files<'_>,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<(RenderConfig, DocumentId)> {
    let path = places.config_file.as_ref()?;
    let (text, document) = if places.named_config {
        files.read_text(path, sources, findings)?
    } else {
        files.read_found_text(path, sources, findings)?
    };
    let (config, wrong) = config::read(&text, document);
    findings.extend(wrong);
    Some((config, document))
}

fn is_stream(request: &Request) -> bool {
    request
        .output
        .as_deref()
        .is_some_and(|output| output.as_os_str() == "-")
}

/// An output in a forbidden place (docs/reference/output.md): below a `.git`, or outside the repository whose
/// configuration, the `document`, names it.
fn output_outside(output: &Path, fault: RootFault, document: Option<DocumentId>) -> Finding {
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

/// An output that would be read again as input, or that would overwrite it (docs/reference/output.md).
fn check_overlap(output: &Path, wanted: &source::Request, configured: &Path, findings: &mut Findings) {
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
fn no_such_spokes(path: &Path) -> Finding {
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
fn misspelled_spokes(
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
    let near = nearest(name, beside.iter().map(String::as_str))?;
    let finding = Finding::new(
        Code::CONFIG_INVALID,
        Place::value(document, "/spokes"),
        format!("there is no directory `{written}` of local objects"),
    );
    Some(finding.help(format!("did you mean `{near}`?")))
}

/// A named input must be in the index: otherwise, it would be left out silently.
fn not_staged(tree: &dyn FileTree, path: &Path) -> Option<Finding> {
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

fn cluster_names(texts: &[String], findings: &mut Findings) -> Option<ClusterNames> {
    match ClusterNames::parse(texts.iter().map(String::as_str)) {
        Ok(names) => names,
        Err(error) => {
            findings.push(
                Finding::new(Code::CONFIG_INVALID, Place::Run, format!("`--clusters` {error}"))
                    .help("write names or globs, such as `eu-1,us-*`"),
            );
            None
        }
    }
}
