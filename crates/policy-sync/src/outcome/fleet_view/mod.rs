//! The evaluated fleet by names: everything that policies may apply to, and the outcome of the policies there. It is made by
//! one walk over the places where policies were evaluated, owns all of its parts, and is the data of `policies -o json` and
//! of the page.
//!
//! - Kinds of policies, Gateways with their listeners, and routes with their rules and attachments are listed whether a
//!   policy applies to them or not (`hierarchy.rs`).
//! - An outcome is what the policies of one kind come to: settings in effect and overridden ones, each with its place
//!   (`outcomes.rs`). Each is listed once, with the paths where most clusters have it. Where clusters have another one, that is
//!   an exception, with the set of these clusters.
//! - Everything refers to everything by its locator. A path is a list of them, from the Gateway on, and equal lists of
//!   clusters are one list in memory. Nothing depends on the numbers of one evaluation.

mod entries;
mod hierarchy;
mod outcomes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::GroupKind;

use super::{ClusterLists, PolicyView};
use crate::diagnostic::Locate;
use crate::policy::{KindId, Profile};
use crate::topology::Level;
use hierarchy::PlaceLists;

pub use entries::{FleetScope, FleetView, GatewayEntry, KindEntry, RouteEntry};
pub use hierarchy::shortened;

impl FleetView {
    /// The view of an evaluated fleet; `None` if there is too much.
    pub fn new(view: &PolicyView<'_>, locate: &dyn Locate, scope: FleetScope<'_>) -> Option<Self> {
        let places = view.seen().map(|seen| {
            let listed = seen.clusters.iter().filter(|name| (scope.is_listed)(name));
            listed.cloned().collect()
        });
        let places: Vec<Vec<String>> = places.collect();
        let mut lists = PlaceLists {
            places: &places,
            lists: ClusterLists::default(),
        };
        let (kinds, reach_backends) = kinds(view);
        let mut hierarchy = hierarchy::Hierarchy::new(view, scope.is_listed, reach_backends, scope.work);
        let found = outcomes::Search::new(view, &kinds, locate, scope);
        let (outcomes, exceptions) = found.run(&mut hierarchy, &mut lists)?;
        let (gateways, routes, kind_names) = hierarchy.entries(locate, &mut lists);
        Some(Self {
            kinds,
            gateways,
            routes,
            outcomes,
            exceptions,
            kind_names,
        })
    }
}

/// The kinds of policies, by where their paths end, then by name; and whether a path of some kind may end at a backend.
fn kinds(view: &PolicyView<'_>) -> (Vec<KindEntry>, bool) {
    let mut found: BTreeMap<GroupKind, (Arc<Profile>, BTreeSet<Level>)> = BTreeMap::new();
    let mut reach_backends = false;
    for seen in view.seen() {
        let policies = seen.attachments.policies.rows().iter();
        for kind in policies.map(|policy| policy.kind).collect::<BTreeSet<KindId>>() {
            let profile = &seen.attachments.kinds.get(kind).profile;
            let ends = &profile.ends;
            reach_backends |= ends.contains(&Level::Backend) || ends.contains(&Level::Port);
            let new = || (Arc::clone(profile), BTreeSet::new());
            found.entry(profile.group_kind()).or_insert_with(new);
        }
        for (kind, path) in seen.effective.iter() {
            let profile = &seen.attachments.kinds.get(kind).profile;
            if let Some((_, ends)) = found.get_mut(&profile.group_kind()) {
                ends.insert(path.path.end());
            }
        }
    }
    let kinds = found
        .into_iter()
        .map(|(GroupKind { group, kind }, (profile, there))| {
            let (depth, ends) = end_of(&profile, &there);
            let (kind, group, ends) = (kind.to_string(), group.to_string(), ends.name());
            (depth, KindEntry { kind, group, ends })
        });
    let mut kinds: Vec<(usize, KindEntry)> = kinds.collect();
    kinds.sort_by(|(depth, one), (other_depth, other)| {
        (depth, &one.kind, &one.group).cmp(&(other_depth, &other.kind, &other.group))
    });
    (kinds.into_iter().map(|(_, kind)| kind).collect(), reach_backends)
}

/// Where the paths of a kind end, and its position in the order: as deep as its profile goes, if a path goes there. Policies
/// that apply to what they are attached to, and nothing below it, are no gap in the routes.
fn end_of(profile: &Profile, found: &BTreeSet<Level>) -> (usize, Level) {
    const LEVELS: [(Level, Level); 4] = [
        (Level::Rule, Level::Route),
        (Level::Backend, Level::Port),
        (Level::Listener, Level::Listener),
        (Level::Gateway, Level::Gateway),
    ];
    let deepest = |is_end: &dyn Fn(&Level) -> bool| {
        let mut levels = LEVELS.iter().zip(0..);
        let found = levels.find(|((level, other), _)| is_end(level) || is_end(other));
        found.map(|((level, _), depth)| (depth, *level))
    };
    let of_profile = |level: &Level| profile.ends.contains(level);
    let there = deepest(&|level| of_profile(level) && found.contains(level));
    there
        .or_else(|| deepest(&of_profile))
        .unwrap_or((3, Level::Gateway))
}
