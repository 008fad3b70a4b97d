//! Finds and reads configuration, input, and output.

use std::path::{Path, PathBuf};

use kube_json::Value;

use super::kustomize_origin;
use super::loaded::Loaded;
use super::projections::Projections;
use super::request::{
    CONFIG_NAME, DEFAULT_OUTPUT, Request, check_overlap, cluster_names, config_below, config_beside,
    empty_files, misspelled_spokes, no_such_spokes, not_staged, output_beside, output_outside, submodules,
    unread_configs,
};
use super::suppress::Suppressions;
use crate::api::config::{self, RenderConfig};
use crate::diagnostic::{DocumentId, Findings, Locate as _};
use crate::hub;
use crate::output::{INVENTORY, misplaced, same_or_inside};
use crate::placing::known_clusters;
use crate::render::Selection;
use crate::source::{self, Checkout, FileTree, Files, Sources, Watched};
use apimachinery::GroupKind;

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
pub fn load(request: &Request) -> Loaded {
    read(request, Files::Disk, Purpose::Write)
}

/// The same from files that need not be on disk: the paths of the request lead into `files`.
pub fn load_from(request: &Request, files: Files<'_>) -> Loaded {
    read(request, files, Purpose::Compare)
}

/// The same from Git's index, a tree that represents the files on disk. The output is written to disk, so it must not
/// overlap the input, and a named path that the tree lacks is an error.
pub fn load_staged(request: &Request, tree: &dyn FileTree) -> Loaded {
    read(request, Files::Tree(tree), Purpose::WriteStaged)
}

/// The same from a checkout: nothing outside it is read.
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
    let placement = config.placement.get_or_insert_default();
    placement.source = request.placement.unwrap_or(placement.source);
    placement.mode = request.mode.unwrap_or(placement.mode);
    config.secrets = request.secrets.unwrap_or(config.secrets);
    config.hub_objects = request.hub_objects.unwrap_or(config.hub_objects);
    let configured_output = under(&places.root, &config.output);
    let named_output = request.named_output();
    let output = match named_output {
        Some(output) => output.clone(),
        None if document.is_some() => configured_output.clone(),
        None => PathBuf::from(DEFAULT_OUTPUT),
    };
    let output_within = document
        .filter(|_| named_output.is_none())
        .and_then(|_| source::repository_or(&places.root));
    // In a tree that cannot be read, every file seems to exist.
    let is_found = document.is_some() && !places.named_config;
    let found = places.config_file.as_deref().filter(|_| is_found);
    findings.extend(found.and_then(|found| config_beside(found, files)));
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
    if purpose != Purpose::Compare || matches!(files, Files::Disk) {
        let document = document.filter(|_| output_within.is_some());
        match misplaced(&output, output_within.as_deref()) {
            Some(fault) => findings.push(output_outside(&output, fault, document)),
            None => {
                let revision = request.history.as_deref().unwrap_or("HEAD");
                match document.filter(|_| is_new_beside(request, &output, wanted.root(), revision)) {
                    Some(document) => findings.push(output_beside(document, &output, revision)),
                    None => check_overlap(&output, &wanted, &configured_output, &mut findings),
                }
                if !request.is_stream() {
                    findings.extend(submodules(&output));
                }
            }
        }
    }
    let clusters = cluster_names(&request.clusters, &mut findings);
    let before = sources.files().len();
    let mut documents = files.documents(&wanted, request.stdin.as_deref(), &mut sources, &mut findings);
    if request.without_status {
        let values = documents.iter_mut().map(|document| &mut document.value);
        values.for_each(super::start::drop_status);
    }
    findings.extend(empty_files(&sources, before, &documents, &findings));
    // Beside a configuration that the command line names, others may be for other runs.
    if request.config.is_none() {
        findings.extend(unread_configs(&documents, &sources));
    }
    // Of a tree that is not on disk, the files beside it may be of another version.
    let roots = if matches!(files, Files::Disk) {
        roots.as_slice()
    } else {
        &[]
    };
    let unfound = kustomize_origin::attribute_piped(&documents, &mut sources, roots);
    let options = hub::Options {
        sources: Some(&sources),
        namespace: request.namespace.clone(),
        taught: config.profiles.iter().filter_map(kind_of_profile).collect(),
        controller_name: Some(config.controller_name.clone()),
        progress: request.progress.clone(),
    };
    let mut hub = hub::build(documents, &options, &mut findings);
    let every = known_clusters(&hub).into_iter().map(str::to_owned).collect();
    hub.share_among(every);
    hub::soften(&hub, &sources, &mut findings);
    let inputs = wanted.hub.iter().chain(&wanted.spokes).chain(&wanted.definitions);
    let inputs: Vec<PathBuf> = inputs.cloned().collect();
    findings.extend(config_below(&sources, before, &inputs, document.is_some()));
    let unread = hub::soften_unreadable(&hub, &sources, &mut findings);
    hub.passed_over.extend(unread);
    hub.passed_over.sort_by_cached_key(|passed| {
        let position = sources.position(&passed.place);
        position.map(|(path, line, _)| (path.to_owned(), line))
    });
    findings.extend(hub::changed_by_kustomize(&hub, &sources));
    let selection = Selection {
        clusters,
        shard: request.shard,
    };
    let admits = |cluster: &str| selection.admits(cluster);
    let (projections, found) = Projections::new(&hub, &sources, admits, &findings);
    findings.extend(found);
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
        selection,
        projections,
        progress: request.progress.clone(),
        work_kind: request.work_kind,
        is_stream: request.is_stream(),
        warnings: request.warnings,
        suppressions,
        unfound,
    }
}

/// Whether an output is not below the directory of the configuration, and was none in a revision.
fn is_new_beside(request: &Request, output: &Path, root: &Path, revision: &str) -> bool {
    !same_or_inside(output, root).unwrap_or(true) && !was_output(request, output, root, revision)
}

/// Whether the configuration named an output in a revision.
fn was_output(request: &Request, output: &Path, root: &Path, revision: &str) -> bool {
    match source::GitTree::open(root, revision) {
        Ok(tree) => {
            let (config, _) = configuration(request, Files::Tree(&tree), &mut Sources::default());
            under(root, &config.output) == output
        }
        // Nothing of others is there yet.
        Err(error) => error == source::GitError::NoCommit,
    }
}

/// The kind that a profile of the configuration describes.
fn kind_of_profile(profile: &Value) -> Option<GroupKind> {
    let text = |key: &str| profile.get(key)?.as_str();
    Some(GroupKind::new(text("group")?, text("kind")?))
}

/// The input as it is on disk, for a caller that waits until it changes. A configuration that cannot be read counts as
/// none: the run reports what is wrong with it.
pub fn watched(request: &Request) -> Watched {
    let places = whereabouts(request, Files::Disk);
    let config_file = places.config_file.clone();
    Watched::look(config_file.as_deref(), || {
        let (config, _) = configuration_at(&places, Files::Disk, &mut Sources::default());
        // The output is skipped where it is, and where it would be without a configuration.
        let output = request.named_output().cloned();
        let output = output.unwrap_or_else(|| under(&places.root, &config.output));
        wanted(request, places, &config, &output)
    })
}

/// A path of the configuration, as a user in the current directory would type it: `rendered`, not `./rendered`, and
/// `hub`, not `hub/.`.
fn under(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    if root.as_os_str() == "." {
        path.as_ref().to_owned()
    } else {
        root.join(path).components().collect()
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
    let named = request.hub.as_ref().map(|_| hub.clone()).unwrap_or_default();
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
        progress: request.progress.clone(),
    }
}

/// Reads only the configuration: what [`load`] would find, without the input.
pub fn configuration(request: &Request, files: Files<'_>, sources: &mut Sources) -> (RenderConfig, Findings) {
    configuration_at(&whereabouts(request, files), files, sources)
}

fn configuration_at(
    places: &Whereabouts,
    files: Files<'_>,
    sources: &mut Sources,
) -> (RenderConfig, Findings) {
    let mut findings = Findings::new();
    let config = read_config(places, files, sources, &mut findings);
    let config = config.map(|(config, _)| config).unwrap_or_default();
    (config, findings)
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
    let read = if places.named_config {
        files.read_text(path, sources)
    } else {
        files.read_found_text(path, sources)
    };
    let (text, document) = read.map_err(|finding| findings.push(*finding)).ok()?;
    let (config, wrong) = config::read(&text, document);
    findings.extend(wrong);
    Some((config, document))
}
