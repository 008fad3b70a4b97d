//! Where configuration, input and output are, and reading them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};

use crate::api::config::{self, PlacementMode, PlacementSource, RenderConfig};
use crate::api::ocm::Inventory;
use crate::diagnostic::{Code, Finding, Findings, Place, SeverityOverride};
use crate::hub::{self, Hub};
use crate::output::same_or_inside;
use crate::placement::{self, Mode};
use crate::source::{self, Sources};

/// The configuration's name at the root of the input.
pub const CONFIG_NAME: &str = "spokewright.yaml";
/// The output where nobody says another.
const DEFAULT_OUTPUT: &str = "rendered";

/// What a command line says.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Files and directories to read.
    pub paths: Vec<PathBuf>,
    /// What came from standard input.
    pub stdin: Option<Vec<u8>>,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--namespace`.
    pub namespace: Option<String>,
    /// `--spokes`.
    pub spokes: Option<PathBuf>,
    /// `--clusters`.
    pub clusters: Option<String>,
    /// `--placement`.
    pub placement: Option<PlacementSource>,
    /// `--mode`.
    pub mode: Option<PlacementMode>,
    /// What hub controllers other than the scheduler would add.
    pub placement_options: placement::Options,
    /// `--now`: the only clock.
    pub now: Option<jiff::Timestamp>,
    /// `--deny warnings`.
    pub deny_warnings: bool,
    /// `--output`; `-` is a stream and no directory.
    pub output: Option<PathBuf>,
    /// Files and directories that are no input although they may lie inside: exported works.
    pub skip: Vec<PathBuf>,
}

/// The input of a run.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration, command line included.
    pub config: RenderConfig,
    /// The output directory.
    pub output: PathBuf,
    /// The texts.
    pub sources: Sources,
    /// The objects.
    pub hub: Hub,
    /// What was wrong so far.
    pub findings: Findings,
    /// `--now`.
    pub now: Option<jiff::Timestamp>,
    /// What hub controllers other than the scheduler would add.
    pub placement_options: placement::Options,
    /// `--clusters`.
    pub(super) clusters: Option<GlobMatcher>,
    overrides: BTreeMap<Code, SeverityOverride>,
    deny_warnings: bool,
}

impl Loaded {
    /// Adds what loading found to `findings`, applies the configured severities, and sorts by position.
    pub fn finish(&self, findings: &mut Findings) {
        findings.extend(self.findings.clone());
        findings.finish(&self.overrides, self.deny_warnings);
        findings.order_by_position(&self.sources);
    }

    /// What an evaluation of this input's Placements starts from.
    #[must_use]
    pub fn evaluation_input<'a>(&self, inventory: &'a Inventory<'a>) -> placement::Input<'a> {
        placement::Input {
            inventory,
            now: self.now,
            mode: match self.config.placement_mode {
                PlacementMode::Snapshot => Mode::Snapshot,
                PlacementMode::Sequential => Mode::Sequential,
                PlacementMode::Fixpoint => Mode::Fixpoint,
            },
            options: self.placement_options,
        }
    }

    /// Whether `--clusters` admits this cluster.
    #[must_use]
    pub fn admits(&self, cluster: &str) -> bool {
        self.clusters.as_ref().is_none_or(|glob| glob.is_match(cluster))
    }
}

/// Where things are.
struct Whereabouts {
    config_file: Option<PathBuf>,
    root: PathBuf,
    /// Whether `hub` of the configuration names the inputs, and not the command line.
    configured_inputs: bool,
}

/// Reads configuration and input. What is wrong is in [`Loaded::findings`]; nothing here fails.
#[must_use]
pub fn load(request: &Request) -> Loaded {
    let mut findings = Findings::new();
    let places = whereabouts(request);
    let mut sources = Sources::default();
    let configured = read_config(&places, &mut sources, &mut findings);
    let has_config = configured.is_some();
    let mut config = configured.unwrap_or_default();
    config.placement_source = request.placement.unwrap_or(config.placement_source);
    config.placement_mode = request.mode.unwrap_or(config.placement_mode);
    let hub_paths = if places.configured_inputs {
        config.hub.iter().map(|path| places.root.join(path)).collect()
    } else {
        request.paths.clone()
    };
    let configured_output = places.root.join(&config.output);
    let output = match &request.output {
        Some(output) if output.as_os_str() != "-" => output.clone(),
        _ if has_config => configured_output.clone(),
        _ => PathBuf::from(DEFAULT_OUTPUT),
    };
    let spokes = request
        .spokes
        .clone()
        .unwrap_or_else(|| places.root.join(&config.spokes));
    let wanted = source::Request {
        hub: hub_paths,
        spokes: Some(spokes),
        skip: [
            output.clone(),
            configured_output.clone(),
            PathBuf::from(DEFAULT_OUTPUT),
        ]
        .into_iter()
        .chain(places.config_file)
        .chain(request.skip.iter().cloned())
        .collect(),
        exclude: config.exclude.clone(),
        root: places.root,
    };
    check_output(request, &output, &wanted, &configured_output, &mut findings);
    let clusters = request
        .clusters
        .as_deref()
        .and_then(|glob| cluster_glob(glob, &mut findings));
    let files = source::discover(&wanted, &mut findings);
    let documents = source::load(&files, request.stdin.as_deref(), &mut sources, &mut findings);
    let options = hub::Options {
        namespace: request.namespace.clone(),
    };
    let hub = hub::build(documents, &options, &mut findings);
    Loaded {
        overrides: config.findings.clone(),
        config,
        output,
        sources,
        hub,
        findings,
        now: request.now,
        placement_options: request.placement_options,
        clusters,
        deny_warnings: request.deny_warnings,
    }
}

/// Reads exported objects: a file, a directory, or what came from standard input. Their texts join those of the input,
/// so that findings about them have lines.
pub fn load_works(loaded: &mut Loaded, path: &Path, stdin: Option<&[u8]>, findings: &mut Findings) -> Hub {
    let wanted = source::Request {
        hub: if stdin.is_some() {
            Vec::new()
        } else {
            vec![path.to_owned()]
        },
        root: path.to_owned(),
        ..source::Request::default()
    };
    let files = source::discover(&wanted, findings);
    let documents = source::load(&files, stdin, &mut loaded.sources, findings);
    hub::build(documents, &hub::Options::default(), findings)
}

fn whereabouts(request: &Request) -> Whereabouts {
    let single = match request.paths.as_slice() {
        [path] if path.is_dir() => Some(path.clone()),
        [] if request.stdin.is_none() => Some(PathBuf::from(".")),
        _ => None,
    };
    if let Some(config) = &request.config {
        let root = config.parent().map_or_else(PathBuf::new, Path::to_owned);
        // `.` is what the command line says when it says nothing.
        let configured_inputs = request.stdin.is_none() && request.paths == [PathBuf::from(".")];
        return Whereabouts {
            config_file: Some(config.clone()),
            root,
            configured_inputs,
        };
    }
    let config_file = single
        .as_ref()
        .map(|root| root.join(CONFIG_NAME))
        .filter(|path| path.is_file());
    let configured_inputs = config_file.is_some();
    let root = single.unwrap_or_else(|| match request.paths.as_slice() {
        [file] => file.parent().map_or_else(PathBuf::new, Path::to_owned),
        _ => PathBuf::new(),
    });
    Whereabouts {
        config_file,
        root,
        configured_inputs,
    }
}

/// Reads the configuration; the defaults where there is none.
fn read_config(places: &Whereabouts, sources: &mut Sources, findings: &mut Findings) -> Option<RenderConfig> {
    let path = places.config_file.as_ref()?;
    let (text, document) = source::read_text(path, sources, findings)?;
    let (config, wrong) = config::read(&text, document);
    findings.extend(wrong);
    Some(config)
}

/// An output that would be read again as input, or that would overwrite it (design section 9).
fn check_output(
    request: &Request,
    output: &Path,
    wanted: &source::Request,
    configured: &Path,
    findings: &mut Findings,
) {
    let stream = request
        .output
        .as_deref()
        .is_some_and(|output| output.as_os_str() == "-");
    if stream {
        return;
    }
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
                finding.help("choose a directory that holds no input: `-o rendered`")
            } else {
                finding
                    .note("the next run would read what this one wrote")
                    .help(format!(
                        "set `output` in {CONFIG_NAME}, which every command skips, or write elsewhere"
                    ))
            });
        }
    }
}

fn cluster_glob(glob: &str, findings: &mut Findings) -> Option<GlobMatcher> {
    match Glob::new(glob) {
        Ok(glob) => Some(glob.compile_matcher()),
        Err(error) => {
            findings.push(
                Finding::new(
                    Code::CONFIG_INVALID,
                    Place::Run,
                    format!("`--clusters` has a bad glob: {error}"),
                )
                .help("write a glob such as `eu-*`"),
            );
            None
        }
    }
}
