//! The paths of one place in full detail, so that two places can be compared path by path whatever policies each has.
//!
//! Which paths a kind has elsewhere depends on its policies: with one on a listener, a route has a path for each of its
//! listeners. Here every path is divided as far as traffic can be told apart, and what would apply to anything that is not
//! there yet (another listener, any route, another rule) is kept as well.

use apimachinery::Work;

use super::attachment::Attachments;
use super::effective::PathEffective;
use super::ids::KindId;
use super::paths::{all_paths_from, paths_from};
use crate::parallel;
use crate::topology::{Path, Start};

/// The paths of one place in full detail.
#[derive(Debug, Default)]
pub struct Refinement {
    /// What applies on each path of a kind, and what would apply to anything that might come below the end of a path.
    pub by_kind: Vec<(KindId, [Vec<PathEffective>; 2])>,
    /// Every path, policies or none.
    pub all: Vec<Path>,
}

impl Refinement {
    /// The paths from the starts that `wanted` chooses, in parallel.
    pub fn new(attachments: &Attachments<'_>, work: &Work, wanted: impl Fn(Start) -> bool) -> Self {
        let starts = attachments.topology.starts();
        let starts: Vec<Start> = starts.filter(|start| wanted(*start)).collect();
        let parts = parallel::map(&starts, |start| {
            let kinds = attachments.kinds.ids();
            let paths = kinds.map(|kind| (kind, paths_from(attachments, kind, (*start, true), work)));
            Self {
                by_kind: paths.collect(),
                all: all_paths_from(attachments, *start, work),
            }
        });
        let mut refinement = Self::default();
        for part in parts {
            refinement.by_kind.extend(part.by_kind);
            refinement.all.extend(part.all);
        }
        refinement
    }
}
