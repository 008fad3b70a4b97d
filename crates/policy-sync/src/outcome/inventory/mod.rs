//! Everything that policies may apply to, and the outcome of the policies there: made once from a view, for the JSON report
//! and for the page.

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

pub use entries::{GatewayEntry, Inventory, InventoryScope, KindEntry, RouteEntry, SourceLine};
pub use hierarchy::shortened;

impl Inventory {
    /// The inventory of a view; `None` if there is too much.
    pub fn new(view: &PolicyView<'_>, locate: &dyn Locate, scope: InventoryScope<'_>) -> Option<Self> {
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
