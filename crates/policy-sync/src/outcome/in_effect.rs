//! What applies to traffic on each path of one place: the paths that traffic takes, policies or none, and the results of each
//! kind there. Rules and coverage ask about paths without a policy, too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::Work;

use super::Seen;
use crate::policy::{Effective, KindId, Profile, all_paths_from};
use crate::topology::{Level, Path};

/// The settings of each kind, by the paths that were evaluated.
pub(super) struct InEffect<'v> {
    pub(super) seen: Seen<'v>,
    by_kind: BTreeMap<KindId, HashMap<Path, &'v Arc<Effective>>>,
}

impl<'v> InEffect<'v> {
    pub(super) fn new(seen: Seen<'v>) -> Self {
        let mut by_kind: BTreeMap<KindId, HashMap<Path, &'v Arc<Effective>>> = BTreeMap::new();
        for (kind, path) in seen.effective.iter() {
            // Without content, nothing of the policies on the way applies.
            if !path.effective.content.is_empty() {
                let by_path = by_kind.entry(kind).or_default();
                by_path.insert(path.path, &path.effective);
            }
        }
        Self { seen, by_kind }
    }

    /// The paths that traffic takes: to each listener, and through each route to the last thing that is known of it.
    pub(super) fn paths(&self, work: &Work) -> Vec<Path> {
        let starts = self.seen.attachments.topology.starts();
        let starts = starts.filter(|start| self.seen.effective.has(*start));
        let all: Vec<Path> = starts
            .flat_map(|start| all_paths_from(self.seen.attachments, start, work))
            .collect();
        let above: HashSet<Path> = all.iter().filter_map(above).collect();
        let ends = |path: &Path| match path.route {
            Some(_) => !above.contains(path),
            None => path.end() == Level::Listener,
        };
        all.into_iter().filter(ends).collect()
    }

    /// The result of each kind that applies on one of these paths.
    pub(super) fn on(&self, path: &Path) -> Vec<(KindId, &'v Arc<Effective>)> {
        let candidates = shorter(path);
        let found = self.by_kind.iter().filter_map(|(kind, by_path)| {
            let profile = self.profile(*kind);
            let counts = |candidate: &&Path| {
                // A listener that no route of the kind is attached to tells what would apply to one, and not to other routes.
                (candidate.route.is_some() || path.route.is_none() || !is_about_routes(profile))
                    && profile.counts(candidate.end(), path.end())
            };
            let mut candidates = candidates.iter().filter(counts);
            candidates.find_map(|candidate| Some((*kind, *by_path.get(candidate)?)))
        });
        found.collect()
    }

    pub(super) fn profile(&self, kind: KindId) -> &'v Profile {
        &self.seen.attachments.kinds.get(kind).profile
    }
}

/// Whether routes are on the paths of a kind.
pub(super) fn is_about_routes(profile: &Profile) -> bool {
    let below = [Level::Route, Level::Rule, Level::Backend, Level::Port];
    below.iter().any(|level| profile.ends.contains(level))
}

/// The path that a path below a route goes on from.
fn above(path: &Path) -> Option<Path> {
    let mut above = *path;
    let is_below =
        above.port.take().is_some() || above.backend.take().is_some() || above.rule.take().is_some();
    is_below.then_some(above)
}

/// A path, and those that leave out levels of it, because a kind does not tell them apart; the longest first.
fn shorter(path: &Path) -> Vec<Path> {
    let mut found = vec![*path];
    let leave_out: [fn(&mut Path); 5] = [
        |path| path.port = None,
        |path| (path.port, path.backend) = (None, None),
        |path| path.rule = None,
        |path| path.via = None,
        |path| path.listener = None,
    ];
    for leave_out in leave_out {
        for mut path in found.clone() {
            leave_out(&mut path);
            found.push(path);
        }
    }
    let start = Path::from(path.start);
    let listener = path.listener;
    found.extend([Path { listener, ..start }, start]);
    let mut unique = HashSet::new();
    found.retain(|path| unique.insert(*path));
    found
}
