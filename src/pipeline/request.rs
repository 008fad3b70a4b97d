//! What a run is asked for.
//!
//! Owns: [`Request`]. Flows in: a command line. Flows out: the same as data. Must not know: which files there are, how anything is read.

use std::path::PathBuf;

use ocm_placement as placement;

use crate::api::config::{HubObjects, PlacementMode, PlacementSource, Secrets};
use crate::diagnostic::Warnings;
use crate::progress::Progress;
use crate::render::{Shard, WorkKind};

// The configuration's name at the root of the input.
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
    /// How many errors, and how many warnings, are shown, if nothing else is made of findings: the order of those behind
    /// them is not made out. `None`: all.
    pub shown: Option<usize>,
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
