//! Options of every command that reads input, and their counterparts in the library; and how the name of an object on the
//! command line is resolved to one object of the input, and a kind alone to several.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context as _;
use apimachinery::names::check_cluster_name;
use apimachinery::{Locators, named_parts};
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use spokewright::Object;
use spokewright::diagnostic::{Findings, Locate, did_you_mean, first_items, nearest};
use spokewright::pipeline::{self, EmptyResult, Loaded, PlacementMode, PlacementSource, Request};
use spokewright::render::WorkKind;
use spokewright::source::{GitTree, IndexError, IndexTree};

use super::completions;
use super::print::{self, Also, Refusal, Speech, Status, refuse};

/// At most so many names are listed where none is near: so many can be read.
const MOST_NAMES: usize = 10;

/// What to read, and how to speak.
#[derive(Debug, Args)]
pub(crate) struct ReadOptions {
    /// Files or directories, or `-` for standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// State of the input to read
    #[arg(long, value_name = "STATE", default_value = "work-tree")]
    #[arg(help_heading = "Input", hide_short_help = true)]
    inputs: Inputs,

    /// Configuration, instead of spokewright.yaml in the input
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Namespace for namespaced objects that set none
    #[arg(long, value_name = "NS", help_heading = "Input", hide_short_help = true)]
    namespace: Option<String>,

    /// Objects that live on the clusters, one directory each
    #[arg(long, value_name = "DIR")]
    spokes: Option<PathBuf>,

    /// Where the clusters of a Placement come from [default: `placement.source` in the configuration, else auto]
    #[arg(long, value_name = "SOURCE", value_parser = choice(&SOURCES))]
    #[arg(help_heading = "Placement", hide_short_help = true)]
    placement: Option<PlacementSource>,

    /// How Placements see each other's results [default: `placement.mode` in the configuration, else fixpoint]
    #[arg(long, value_name = "MODE", value_parser = choice(&MODES))]
    #[arg(help_heading = "Placement", hide_short_help = true)]
    mode: Option<PlacementMode>,

    /// Put clusters without a cluster set label into the set `default`, as OCM's webhook does
    #[arg(long, alias = "unlabelled-join-default")]
    #[arg(help_heading = "Placement", hide_short_help = true)]
    unlabeled_join_default: bool,

    /// Taint clusters that are not available, as OCM's controller does
    #[arg(long, help_heading = "Placement", hide_short_help = true)]
    derive_availability_taints: bool,

    /// Current time for tolerations and scores (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    #[arg(help_heading = "Placement", hide_short_help = true)]
    now: Option<jiff::Timestamp>,

    #[command(flatten)]
    pub(crate) speech: Speech,

    /// Also write the findings to a file, as in `sarif=findings.sarif`
    #[arg(long, value_name = "FORMAT=FILE", value_parser = print::parse_also)]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    also: Vec<Also>,
}

/// Which clusters a run is for. Reports about policies look at all of them, or at one: they do not have it.
#[derive(Debug, Args)]
pub(crate) struct ClustersOption {
    /// Names or globs of clusters, as in `eu-1,us-*`
    #[arg(long, value_name = "CLUSTER", add = ArgValueCompleter::new(completions::clusters))]
    clusters: Vec<String>,
}

impl ClustersOption {
    /// The library's request, for these clusters.
    pub(crate) fn request(&self, options: &ReadOptions) -> anyhow::Result<Request> {
        Ok(Request {
            clusters: self.clusters.clone(),
            ..options.request()?
        })
    }

    /// Whether it asks for some clusters only.
    pub(crate) fn is_narrowed(&self) -> bool {
        !self.clusters.is_empty()
    }
}

/// Which kind of object the rendering consists of.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WorkKindOption {
    /// Kind of object to render
    #[arg(long, value_name = "KIND", default_value = "manifest-work", value_parser = choice(&WORK_KINDS))]
    #[arg(help_heading = "Output", hide_short_help = true)]
    work_kind: WorkKind,
}

impl WorkKindOption {
    /// What selects the kind, when it is not the default.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self.work_kind {
            WorkKind::ManifestWork => &[],
            WorkKind::ReplicaSet => &["--work-kind", "replica-set"],
        }
    }

    /// The kind. A set is for all clusters of its Placement: a part of them (`narrowed`) makes no sense.
    pub(crate) fn work_kind(self, narrowed: bool) -> anyhow::Result<WorkKind> {
        match self.work_kind {
            WorkKind::ReplicaSet if narrowed => refuse(
                "a ManifestWorkReplicaSet is for all clusters of its Placement, not for a part of them",
                "remove `--clusters` and `--shard`, or `--work-kind replica-set`",
            ),
            kind => Ok(kind),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Inputs {
    /// The files on disk
    WorkTree,
    /// The staged files, as the next commit would contain them
    GitIndex,
}

/// A value of an option: how it is typed, and its help.
pub(crate) type Choice<T> = (&'static str, &'static str, T);

/// An option with these values.
pub(crate) fn choice<T: Copy + Send + Sync>(
    all: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> + use<T> {
    let words = all
        .iter()
        .map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).try_map(|typed| {
        let found = all.iter().find(|(word, ..)| *word == typed);
        found.map(|(.., value)| *value).ok_or("unknown")
    })
}

#[rustfmt::skip] // one row a line
const SOURCES: [Choice<PlacementSource>; 3] = [
    ("auto", "PlacementDecisions if there are any, else an evaluation of the Placement", PlacementSource::Auto),
    ("decisions", "PlacementDecisions only", PlacementSource::Decisions),
    ("evaluate", "An evaluation of the Placement, regardless of earlier decisions", PlacementSource::Evaluate),
];

#[rustfmt::skip] // one row a line
const MODES: [Choice<PlacementMode>; 3] = [
    ("snapshot", "Each sees only the decisions in the input", PlacementMode::Snapshot),
    ("sequential", "Each sees the results of those before it, by namespace and name", PlacementMode::Sequential),
    ("fixpoint", "Repeat until nothing changes", PlacementMode::Fixpoint),
];

#[rustfmt::skip] // one row a line
const WORK_KINDS: [Choice<WorkKind>; 2] = [
    ("manifest-work", "A ManifestWork for each Gateway and cluster", WorkKind::ManifestWork),
    ("replica-set", "A ManifestWorkReplicaSet for each Gateway, from which the hub makes the works", WorkKind::ReplicaSet),
];

impl ReadOptions {
    /// Writes the findings in the forms that `--also` asks for, and adds what went wrong with that.
    pub(crate) fn write_also(&self, findings: &mut Findings, locate: &dyn Locate) {
        findings.extend(self.also(findings, locate));
    }

    /// The same, for callers that keep errors apart.
    pub(crate) fn also(&self, findings: &Findings, locate: &dyn Locate) -> Findings {
        print::write_also(&self.also, findings, locate, self.speech)
    }

    /// The library's request. Standard input is read here, because it can be read only once.
    pub(crate) fn request(&self) -> anyhow::Result<Request> {
        let stdin = self.reads_stdin().then(read_stdin).transpose()?;
        let paths = self.paths.iter().filter(|path| path.as_os_str() != "-");
        Ok(Request {
            paths: paths.cloned().collect(),
            stdin,
            config: self.config.clone(),
            namespace: self.namespace.clone(),
            spokes: self.spokes.clone(),
            placement: self.placement,
            mode: self.mode,
            placement_options: ocm_placement::Options {
                unlabeled_join_default: self.unlabeled_join_default,
                derive_availability_taints: self.derive_availability_taints,
            },
            now: self.now,
            warnings: self.speech.warnings(),
            // What we write is no input, wherever it stands.
            skip: self.also.iter().map(|also| also.file.clone()).collect(),
            progress: super::progress::progress(self.speech),
            ..Request::default()
        })
    }

    /// Whether the input is one that can be waited for: files on disk, read as often as they change.
    pub(crate) fn check_watchable(&self) -> Result<(), Refusal> {
        if self.reads_stdin() {
            return refuse(
                "standard input can be read only once, and `--watch` reads again",
                "name files or directories, or leave out `--watch`",
            );
        }
        match self.inputs {
            Inputs::WorkTree => Ok(()),
            Inputs::GitIndex => refuse(
                "`--watch` follows the files on disk, not Git's index",
                "leave out `--inputs git-index`, or run without `--watch` in a hook",
            ),
        }
    }

    /// Whether standard input is an input.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.paths.iter().any(|path| path.as_os_str() == "-")
    }

    /// Reads the input; refused where it has none of the clusters that `--clusters` asks for. A caller that accepts an
    /// empty result may ask for one that is gone.
    pub(crate) fn load(&self, request: &Request, empty: EmptyResult) -> anyhow::Result<Loaded> {
        let (loaded, _) = self.read(request)?;
        if empty == EmptyResult::Refused {
            check_clusters(&[&loaded])?;
        }
        Ok(loaded)
    }

    /// Reads the input in the state that `--inputs` says; and the index, where that is the state: it is large, and read
    /// once.
    pub(crate) fn read(&self, request: &Request) -> anyhow::Result<(Loaded, Option<IndexTree>)> {
        match self.inputs {
            Inputs::WorkTree => Ok((pipeline::load(request), None)),
            Inputs::GitIndex if request.stdin.is_some() => refuse(
                "standard input is not in Git's index",
                "name files or directories, or leave out `--inputs git-index`",
            ),
            Inputs::GitIndex => {
                let index = index(request)?;
                Ok((pipeline::load_staged(request, &index), Some(index)))
            }
        }
    }

    /// Whether that is what the next commit will hold.
    pub(crate) fn reads_index(&self) -> bool {
        self.inputs == Inputs::GitIndex
    }

    /// What selects that state, when it is not the default.
    pub(crate) fn state_option(&self) -> &'static [&'static str] {
        match self.inputs {
            Inputs::WorkTree => &[],
            Inputs::GitIndex => &["--inputs", "git-index"],
        }
    }

    /// What that state is called.
    pub(crate) fn state(&self) -> &'static str {
        match self.inputs {
            Inputs::WorkTree => "work tree",
            Inputs::GitIndex => "index",
        }
    }
}

/// Refuses what `--clusters` asks for and none of these inputs has. An input with errors may have it where nobody can
/// read it: then the errors are what there is to say.
pub(crate) fn check_clusters(inputs: &[&Loaded]) -> Result<(), Refusal> {
    if inputs.iter().any(|loaded| loaded.findings.has_errors()) {
        return Ok(());
    }
    let wanted = inputs
        .iter()
        .find_map(|loaded| loaded.selection.clusters.as_ref());
    let known: BTreeSet<&str> = inputs.iter().flat_map(|loaded| loaded.known_clusters()).collect();
    match wanted.and_then(|wanted| wanted.unknown(known.iter().copied())) {
        Some(unknown) => Err(unknown_cluster(unknown, &known)),
        None => Ok(()),
    }
}

/// The same words and the same status, whichever option names an unknown cluster.
pub(crate) fn unknown_cluster(name: &str, known: &BTreeSet<&str>) -> Refusal {
    let help = if known.is_empty() {
        "the input has no cluster: add ManagedClusters, as in `kubectl get managedcluster -o yaml`".to_owned()
    } else {
        // A glob is near to nothing.
        let near = did_you_mean(name, known.iter().copied()).filter(|_| check_cluster_name(name).is_ok());
        near.unwrap_or_else(|| format!("the clusters are: {}", first_items(known, MOST_NAMES)))
    };
    let message = format!("the input has no cluster `{name}`");
    Refusal::new(Status::Usage, &message, &help)
}

/// What `--allow-empty` says.
pub(crate) const fn empty_result(allow_empty: bool) -> EmptyResult {
    if allow_empty {
        EmptyResult::Allowed
    } else {
        EmptyResult::Refused
    }
}

/// All of standard input, or one byte more than is read of any file: then it is refused as one that is too large.
pub(crate) fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let most = u64::try_from(kube_yaml::Limits::default().document_bytes).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes);
    read.context("cannot read standard input")?;
    Ok(bytes)
}

/// Git's index around the input.
fn index(request: &Request) -> Result<IndexTree, Refusal> {
    // Git names the index that it commits to its hooks: not always the one that is in the repository.
    let file = std::env::var_os("GIT_INDEX_FILE").filter(|file| !file.is_empty());
    let file = file.map(PathBuf::from);
    IndexTree::open(first_path(request), file.as_deref()).map_err(|error| {
        let status = match error {
            IndexError::Repository(_) => Status::Usage,
            IndexError::Unreadable { .. } => Status::Io,
        };
        Refusal::new(status, &error.to_string(), &error.help())
    })
}

/// The last commit of the repository around the input; `None` where there is none yet.
pub(crate) fn last_commit(request: &Request) -> Option<GitTree> {
    GitTree::open(first_path(request), "HEAD").ok()
}

/// The first input; the current directory if only standard input is read.
pub(crate) fn first_path(request: &Request) -> &Path {
    request.paths.first().map_or(Path::new("."), PathBuf::as_path)
}

/// A directory, for options whose short form other commands have for a format: `-o json` is a typo here.
pub(crate) fn place() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str() {
        Some(word @ ("json" | "yaml" | "text" | "wide" | "name")) => Err(format!(
            "this is a directory, not a format: write `-o ./{word}` if it has that name, or `-o -` for YAML on stdout"
        )),
        _ => Ok(path),
    })
}

fn timestamp(text: &str) -> Result<jiff::Timestamp, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not an RFC 3339 time, such as 2026-06-01T12:00:00Z"))
}

/// The object that `text` names. Without a namespace, the only one of that kind and name, wherever it is; the kind may
/// be a plural or bear its group, as kubectl takes it. One object that is on several clusters counts once.
pub(crate) fn named<'a>(loaded: &Loaded, objects: &[&'a Object], text: &str) -> Result<&'a Object, Refusal> {
    let Some((kind, namespace, name)) = named_parts(text) else {
        // Whoever leaves out the kind means one of a few.
        let called = objects.iter().find(|object| object.name == text);
        let is_method = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_uppercase());
        let help = match called {
            Some(object) => {
                let name = Locators::default().short(&object.identity().locator());
                format!("did you mean `{name}`?")
            }
            None if is_method => {
                format!(
                    "a request is one argument: write it in quotes, as in '{text} https://shop.example.com/'"
                )
            }
            None => "write KIND/NAME or KIND/NAMESPACE/NAME, as in gateway/shop/web".to_owned(),
        };
        return refuse(&format!("`{text}` is not the name of an object"), &help);
    };
    let (of_kind, namespace) = match of_kind(loaded, objects, kind) {
        // Sentences leave out a kind that is clear, and so may whoever pastes from them.
        Err(_) if namespace.is_none() && objects.iter().any(|object| object.key() == text) => {
            (objects.to_vec(), Some(kind))
        }
        of_kind => (of_kind?, namespace),
    };
    let called = of_kind.iter().copied().filter(|object| object.name == name);
    let is_there = |object: &&Object| namespace.is_none_or(|wanted| object.namespace_or_empty() == wanted);
    let mut found: Vec<&'a Object> = called.filter(is_there).collect();
    found.sort_by_key(|object| object.identity());
    found.dedup_by_key(|object| object.identity());
    match found.as_slice() {
        [object] => Ok(object),
        [] => {
            let keys: Vec<String> = of_kind.iter().map(|object| object.key()).collect();
            let wanted = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
            let names = of_kind.iter().map(|object| object.name.as_str());
            let near = nearest(&wanted, keys.iter().map(String::as_str)).or_else(|| nearest(name, names));
            let help = near.map_or_else(
                || format!("the input has: {}", first_items(&keys, MOST_NAMES)),
                |near| format!("did you mean `{kind}/{near}`?"),
            );
            refuse(&format!("there is no {kind} `{wanted}`"), &help)
        }
        several => {
            let names = completions::short_names(several.iter().copied()).join(", ");
            let message = format!("several objects have the name `{text}`");
            refuse(&message, &format!("write one of: {names}"))
        }
    }
}

/// The objects of a kind, which is spelled as [`named`] takes it; refused where there is none.
pub(crate) fn of_kind<'a>(
    loaded: &Loaded,
    objects: &[&'a Object],
    kind: &str,
) -> Result<Vec<&'a Object>, Refusal> {
    let of_kind = objects
        .iter()
        .copied()
        .filter(|object| loaded.hub.is_of_kind(object, kind));
    let of_kind: Vec<&Object> = of_kind.collect();
    if !of_kind.is_empty() {
        return Ok(of_kind);
    }
    let kinds = objects.iter().map(|object| object.kind.as_str().to_lowercase());
    let kinds: BTreeSet<String> = kinds.collect();
    let near = did_you_mean(&kind.to_lowercase(), kinds.iter().map(String::as_str));
    let help = near.unwrap_or_else(|| {
        let kinds: Vec<String> = kinds.iter().cloned().collect();
        format!("the kinds of the input are: {}", kinds.join(", "))
    });
    refuse(&format!("the input contains no `{kind}`"), &help)
}

/// Removes the first path, which turned out to be a name; without any other, the input is the current directory.
pub(crate) fn without_first(paths: &mut Vec<PathBuf>) {
    paths.drain(..paths.len().min(1));
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
}

/// An object of a command line, as [`named`] takes it: kubectl's `KIND NAME` is one text, and the namespace of `-n` is in
/// it. What exists as a path is never a name.
pub(crate) fn one_text(object: &str, namespace: Option<&str>, paths: &mut Vec<PathBuf>) -> String {
    let mut text = object.to_owned();
    let next = paths.first().filter(|next| !next.exists());
    let both = next.map(|name| format!("{object}/{}", name.display()));
    if let Some(both) = both.filter(|both| !object.contains(['/', ' ']) && named_parts(both).is_some()) {
        text = both;
        without_first(paths);
    }
    match (named_parts(&text), namespace) {
        (Some((kind, _, name)), Some(namespace)) => format!("{kind}/{namespace}/{name}"),
        _ => text,
    }
}
