//! The fewest paths that stand for those on which a change is the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::changes::{EffectiveChange, level};
use super::{EffectiveSettings, NodeName, PathNames, prefixes};
use crate::policy::Profile;
use crate::topology::Level;

/// What is right below each path of one side.
pub(super) type Below<'s> = HashMap<&'s [NodeName], BTreeSet<NodeName>>;

pub(super) fn below(settings: &EffectiveSettings) -> Below<'_> {
    let mut below = Below::new();
    for path in distinct(settings.all.iter()).into_iter().flatten() {
        for prefix in prefixes(path) {
            if let Some((last, above)) = prefix.split_last() {
                below.entry(above).or_default().insert(last.clone());
            }
        }
    }
    below
}

/// The paths of classes, without those of neighbors that are the same.
pub(super) fn distinct<'s>(
    all: impl Iterator<Item = &'s Arc<HashSet<PathNames>>>,
) -> Vec<&'s HashSet<PathNames>> {
    let mut all: Vec<&HashSet<PathNames>> = all.map(AsRef::as_ref).collect();
    all.dedup_by_key(|all| std::ptr::from_ref(*all));
    all
}

/// The paths that change in the same way.
pub(super) struct Changing<'c> {
    pub(super) settings: &'c EffectiveSettings,
    pub(super) below: &'c Below<'c>,
    pub(super) paths: &'c BTreeSet<PathNames>,
    /// These, and what is above them.
    pub(super) around: HashSet<&'c [NodeName]>,
    /// All paths on the clusters of the change.
    pub(super) all: Vec<&'c HashSet<PathNames>>,
    pub(super) profile: &'c Profile,
    /// Whether what comes or goes may be called by this path: it is not that of something that stays.
    pub(super) is_whole: &'c dyn Fn(&[NodeName]) -> bool,
}

/// How many of the paths below something change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    /// There are none.
    None,
    Some,
    All,
}

impl Changing<'_> {
    fn is_there(&self, path: &[NodeName]) -> bool {
        self.all.iter().any(|all| all.contains(path))
    }

    fn ends(&self, level: Level) -> bool {
        self.profile.ends.contains(&level)
    }

    /// Whether a listener without routes has a path of its own, for any route that comes.
    fn has_any_route(&self) -> bool {
        !self.ends(Level::Gateway) && !self.ends(Level::Listener) && !self.profile.of_workloads
    }

    /// The fewest paths that stand for those on which a change is the same, on some classes of clusters.
    pub(super) fn collapse(&self) -> BTreeSet<PathNames> {
        let starts: BTreeSet<&[NodeName]> = self.paths.iter().filter_map(|path| path.get(..1)).collect();
        let mut found = BTreeSet::new();
        for start in starts {
            self.add(start, &mut found);
        }
        self.without_listeners(found)
    }

    /// What is right below a path on the clusters of a change.
    fn below(&self, path: &[NodeName]) -> impl Iterator<Item = PathNames> {
        let below = self.below.get(path);
        let paths = below
            .into_iter()
            .flatten()
            .map(move |next| [path, std::slice::from_ref(next)].concat().into());
        paths.filter(|path: &PathNames| self.is_there(path))
    }

    /// Whether policies of the kind have this path itself.
    fn is_path(&self, path: &[NodeName]) -> bool {
        let Some(end) = level(path) else {
            return false;
        };
        // A policy that affects its own target alone has no paths below that.
        let of_change = self.paths.first().and_then(|path| level(path));
        if !of_change.is_some_and(|of_change| self.profile.counts(of_change, end)) {
            return false;
        }
        self.ends(end)
            || match end {
                Level::Listener => self.ends(Level::Gateway),
                Level::Port => self.ends(Level::Backend),
                // A backend whose ports nobody knows stands for them.
                Level::Backend => self.ends(Level::Port) && self.below(path).next().is_none(),
                _ => false,
            }
    }

    fn has_paths(&self, path: &[NodeName]) -> bool {
        self.is_path(path)
            || self.is_for_any_route(path)
            || self.below(path).any(|below| self.has_paths(&below))
    }

    fn is_for_any_route(&self, path: &[NodeName]) -> bool {
        level(path) == Some(Level::Listener)
            && self.has_any_route()
            && !self.below(path).any(|below| self.has_paths(&below))
    }

    fn covered(&self, path: &[NodeName]) -> Covered {
        let mut covered = Covered::None;
        if self.is_path(path) || self.is_for_any_route(path) {
            if !self.paths.contains(path) {
                return Covered::Some;
            }
            covered = Covered::All;
        }
        for below in self.below(path) {
            let is_around = self.around.contains(&*below);
            match is_around.then(|| self.covered(&below)) {
                Some(Covered::Some) => return Covered::Some,
                Some(Covered::All) => covered = Covered::All,
                None if self.has_paths(&below) => return Covered::Some,
                Some(Covered::None) | None => {}
            }
        }
        covered
    }

    fn add(&self, path: &[NodeName], found: &mut BTreeSet<PathNames>) {
        if self.covered(path) == Covered::All && (self.is_whole)(path) {
            found.insert(path.into());
            return;
        }
        let count = found.len();
        for below in self.below(path) {
            if self.around.contains(&*below) {
                self.add(&below, found);
            }
        }
        // A whole is the rest of its parts; those say it where there are any.
        if found.len() == count && self.paths.contains(path) {
            found.insert(path.into());
        }
    }

    /// One path of a route for those through each of its listeners.
    fn without_listeners(&self, mut found: BTreeSet<PathNames>) -> BTreeSet<PathNames> {
        let mut by_rest: BTreeMap<PathNames, usize> = BTreeMap::new();
        for path in &found {
            if let [start, listener, rest @ ..] = &**path
                && listener.level == Level::Listener
                && !rest.is_empty()
            {
                let rest = [std::slice::from_ref(start), rest].concat().into();
                let count = by_rest.entry(rest).or_default();
                *count = count.saturating_add(1);
            }
        }
        for (path, count) in by_rest.into_iter().filter(|(_, count)| *count > 1) {
            let [start, rest @ ..] = &*path else { continue };
            let through = |listener: &[NodeName], length: usize| -> PathNames {
                [listener, rest.get(..length).unwrap_or_default()].concat().into()
            };
            let listeners: Vec<PathNames> = self
                .below(std::slice::from_ref(start))
                .filter(|listener| self.is_there(&through(listener, 1)))
                .collect();
            let is_found = |listener: &PathNames| {
                (0..=rest.len()).any(|length| found.contains(&through(listener, length)))
            };
            if count > 1 && listeners.iter().all(is_found) {
                for listener in &listeners {
                    found.remove(&through(listener, rest.len()));
                }
                found.insert(path.clone());
            }
        }
        found
    }

    /// A change on a path that stands for some.
    pub(super) fn on_path(&self, path: &[NodeName], change: EffectiveChange) -> EffectiveChange {
        let class = path.first().and_then(|start| self.settings.class_of.get(start));
        let locators = class.into_iter().chain(path.iter().map(|name| &name.locator));
        let any_route = (self.paths.contains(path)
            && self.has_any_route()
            && level(path) == Some(Level::Listener)
            && !self.below(path).any(|below| self.around.contains(&*below)))
        .then(|| "any route".to_owned());
        let labels = path.iter().map(|name| name.label.clone());
        let labels: Vec<String> = labels.chain(any_route.clone()).collect();
        let mut place: Vec<String> = path
            .iter()
            .map(|name| (name.level, &name.label))
            .map(|(level, label)| match level {
                Level::Gateway if path.len() > 1 => {
                    label.strip_prefix("Gateway ").unwrap_or(label).to_owned()
                }
                Level::Rule => format!("rule {label}"),
                _ => label.clone(),
            })
            .chain(any_route)
            .collect();
        place.reverse();
        let stands_for = |other: &&PathNames| match (path, &***other) {
            (_, other) if other.starts_with(path) => true,
            ([start, rest @ ..], [of, _, below @ ..]) => start == of && below.starts_with(rest),
            _ => false,
        };
        EffectiveChange {
            path: locators.cloned().collect(),
            label: labels.join(" > "),
            place: place.join(" of "),
            paths: self.paths.iter().filter(stands_for).count(),
            ..change
        }
    }
}
