//! Equal changes of neighboring paths as one change of what they have in common: of a route, a listener, a Gateway.
//!
//! A path may only stand for others if the change is the same on all of them: on every path below it that policies of the
//! kind have, on the clusters of the change.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

use super::effective::{EffectiveSettings, PathNames};
use super::node_names::NameId;
use crate::policy::Profile;
use crate::topology::Level;

/// The paths of one side, by what they have in common.
/// Whether a path stands for the whole of its end.
type IsWhole<'w> = &'w dyn Fn(&[NameId]) -> bool;

pub(super) struct Collapsing<'s> {
    settings: &'s EffectiveSettings,
    /// Made for the first change: mostly there is none.
    below: OnceLock<HashMap<&'s [NameId], BTreeSet<NameId>>>,
}

/// One path that stands for some.
pub(super) struct Collapsed {
    pub locators: Vec<String>,
    /// `Gateway gw/web > listener a`.
    pub label: String,
    /// `listener a of gw/web`.
    pub place: String,
    /// How many paths it stands for.
    pub paths: usize,
}

/// The paths that change in the same way.
struct Changing<'c> {
    paths: &'c BTreeSet<PathNames>,
    /// These, and what is above them.
    around: HashSet<&'c [NameId]>,
    /// All paths on the clusters of the change.
    all: Vec<&'c HashSet<PathNames>>,
    profile: &'c Profile,
    /// Whether what comes or goes may be called by this path: it is not that of something that stays.
    is_whole: &'c dyn Fn(&[NameId]) -> bool,
}

/// How many of the paths below something change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    /// There are none.
    None,
    Some,
    All,
}

/// A path and what is above it, the shortest first.
fn prefixes(path: &[NameId]) -> impl Iterator<Item = &[NameId]> {
    (1..=path.len()).filter_map(|length| path.get(..length))
}

impl Changing<'_> {
    fn is_there(&self, path: &[NameId]) -> bool {
        self.all.iter().any(|all| all.contains(path))
    }

    fn ends(&self, level: Level) -> bool {
        self.profile.ends.contains(&level)
    }

    /// Whether a listener without routes has a path of its own, for any route that comes.
    fn has_any_route(&self) -> bool {
        !self.ends(Level::Gateway) && !self.ends(Level::Listener) && !self.profile.of_workloads
    }
}

impl<'s> Collapsing<'s> {
    pub(super) fn new(settings: &'s EffectiveSettings) -> Self {
        Self {
            settings,
            below: OnceLock::new(),
        }
    }

    /// The fewest paths that stand for those on which a change is the same, on some classes of clusters.
    pub(super) fn collapse(
        &self,
        paths: &BTreeSet<PathNames>,
        classes: &BTreeSet<usize>,
        (profile, is_whole): (&Profile, IsWhole<'_>),
    ) -> Vec<Collapsed> {
        let all = classes.iter().filter_map(|class| self.settings.all.get(*class));
        let mut all: Vec<&HashSet<PathNames>> = all.map(AsRef::as_ref).collect();
        all.dedup_by_key(|all| std::ptr::from_ref(*all));
        let around = paths.iter().flat_map(|path| prefixes(path));
        let changing = Changing {
            paths,
            around: around.collect(),
            all,
            profile,
            is_whole,
        };
        self.below.get_or_init(|| {
            let mut below: HashMap<&[NameId], BTreeSet<NameId>> = HashMap::new();
            let mut all: Vec<&HashSet<PathNames>> = self.settings.all.iter().map(AsRef::as_ref).collect();
            all.dedup_by_key(|all| std::ptr::from_ref(*all));
            for path in all.into_iter().flatten() {
                for prefix in prefixes(path) {
                    if let Some((last, above)) = prefix.split_last() {
                        below.entry(above).or_default().insert(*last);
                    }
                }
            }
            below
        });
        let starts: BTreeSet<&[NameId]> = paths.iter().filter_map(|path| path.get(..1)).collect();
        let mut found = BTreeSet::new();
        for start in starts {
            self.add(&changing, start, &mut found);
        }
        self.without_listeners(&changing, found)
            .iter()
            .map(|path| self.described(&changing, path))
            .collect()
    }

    /// What is right below a path on the clusters of a change.
    fn below<'c>(
        &'c self,
        changing: &'c Changing<'_>,
        path: &'c [NameId],
    ) -> impl Iterator<Item = PathNames> + 'c {
        let below = self.below.get().and_then(|below| below.get(path));
        let paths = below
            .into_iter()
            .flatten()
            .map(move |next| [path, &[*next]].concat().into());
        paths.filter(|path: &PathNames| changing.is_there(path))
    }

    fn level(&self, path: &[NameId]) -> Option<Level> {
        path.last().map(|last| self.settings.names.level(*last))
    }

    /// Whether policies of the kind have this path itself.
    fn is_path(&self, changing: &Changing<'_>, path: &[NameId]) -> bool {
        let Some(level) = self.level(path) else {
            return false;
        };
        // A policy that affects its own target alone has no paths below that.
        let of_change = changing.paths.first().and_then(|path| self.level(path));
        if !of_change.is_some_and(|of_change| changing.profile.counts(of_change, level)) {
            return false;
        }
        changing.ends(level)
            || match level {
                Level::Listener => changing.ends(Level::Gateway),
                Level::Port => changing.ends(Level::Backend),
                // A backend whose ports nobody knows stands for them.
                Level::Backend => changing.ends(Level::Port) && self.below(changing, path).next().is_none(),
                _ => false,
            }
    }

    fn has_paths(&self, changing: &Changing<'_>, path: &[NameId]) -> bool {
        self.is_path(changing, path)
            || self.is_for_any_route(changing, path)
            || self
                .below(changing, path)
                .any(|below| self.has_paths(changing, &below))
    }

    fn is_for_any_route(&self, changing: &Changing<'_>, path: &[NameId]) -> bool {
        self.level(path) == Some(Level::Listener)
            && changing.has_any_route()
            && !self
                .below(changing, path)
                .any(|below| self.has_paths(changing, &below))
    }

    fn covered(&self, changing: &Changing<'_>, path: &[NameId]) -> Covered {
        let mut covered = Covered::None;
        if self.is_path(changing, path) || self.is_for_any_route(changing, path) {
            if !changing.paths.contains(path) {
                return Covered::Some;
            }
            covered = Covered::All;
        }
        for below in self.below(changing, path) {
            let is_around = changing.around.contains(&*below);
            match is_around.then(|| self.covered(changing, &below)) {
                Some(Covered::Some) => return Covered::Some,
                Some(Covered::All) => covered = Covered::All,
                None if self.has_paths(changing, &below) => return Covered::Some,
                Some(Covered::None) | None => {}
            }
        }
        covered
    }

    fn add(&self, changing: &Changing<'_>, path: &[NameId], found: &mut BTreeSet<PathNames>) {
        if self.covered(changing, path) == Covered::All && (changing.is_whole)(path) {
            found.insert(path.into());
            return;
        }
        let count = found.len();
        for below in self.below(changing, path) {
            if changing.around.contains(&*below) {
                self.add(changing, &below, found);
            }
        }
        // A whole is the rest of its parts; those say it where there are any.
        if found.len() == count && changing.paths.contains(path) {
            found.insert(path.into());
        }
    }

    /// One path of a route for those through each of its listeners.
    fn without_listeners(
        &self,
        changing: &Changing<'_>,
        mut found: BTreeSet<PathNames>,
    ) -> BTreeSet<PathNames> {
        let mut by_rest: BTreeMap<PathNames, usize> = BTreeMap::new();
        for path in &found {
            if let [start, listener, rest @ ..] = &**path
                && self.level(&[*listener]) == Some(Level::Listener)
                && !rest.is_empty()
            {
                let rest = [&[*start], rest].concat().into();
                let count = by_rest.entry(rest).or_default();
                *count = count.saturating_add(1);
            }
        }
        for (path, count) in by_rest.into_iter().filter(|(_, count)| *count > 1) {
            let [start, rest @ ..] = &*path else { continue };
            let through = |listener: &[NameId], length: usize| -> PathNames {
                [listener, rest.get(..length).unwrap_or_default()].concat().into()
            };
            let listeners: Vec<PathNames> = self
                .below(changing, &[*start])
                .filter(|listener| changing.is_there(&through(listener, 1)))
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

    fn described(&self, changing: &Changing<'_>, path: &[NameId]) -> Collapsed {
        let names = &self.settings.names;
        let class = path.first().and_then(|start| self.settings.class_of.get(start));
        let locators = class
            .into_iter()
            .chain(path)
            .map(|id| names.locator(*id).into_owned());
        let any_route = (changing.paths.contains(path)
            && changing.has_any_route()
            && self.level(path) == Some(Level::Listener)
            && !self
                .below(changing, path)
                .any(|below| changing.around.contains(&*below)))
        .then(|| "any route".to_owned());
        let labels = path.iter().map(|id| names.label(*id).to_owned());
        let labels: Vec<String> = labels.chain(any_route.clone()).collect();
        let mut place: Vec<String> = path
            .iter()
            .map(|id| match names.level(*id) {
                Level::Gateway if path.len() > 1 => {
                    let label = names.label(*id);
                    label.strip_prefix("Gateway ").unwrap_or(label).to_owned()
                }
                Level::Rule => format!("rule {}", names.label(*id)),
                _ => names.label(*id).to_owned(),
            })
            .chain(any_route)
            .collect();
        place.reverse();
        let stands_for = |other: &&PathNames| match (path, &***other) {
            (_, other) if other.starts_with(path) => true,
            ([start, rest @ ..], [of, _, below @ ..]) => start == of && below.starts_with(rest),
            _ => false,
        };
        Collapsed {
            locators: locators.collect(),
            label: labels.join(" > "),
            place: place.join(" of "),
            paths: changing.paths.iter().filter(stands_for).count(),
        }
    }
}
