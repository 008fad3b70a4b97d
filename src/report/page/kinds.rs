//! The kinds of policies on a page.
//!
//! Owns: their order, and where a page draws the cells of each. Flows in: a view. Flows out: rows and their positions.
//! Must not know: which settings apply.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::document::{Ends, KindRow, Position};
use super::interned::signed_or_none;
use crate::outcome::PolicyView;
use crate::policy::{KindId, Profile};
use crate::topology::Level;
use apimachinery::GroupKind;

/// The kinds of policies in the order of a page: by where their paths end, then by name.
#[derive(Default)]
pub(super) struct Kinds {
    pub(super) rows: Vec<KindRow>,
    known: HashMap<GroupKind, usize>,
    /// Whether a path of some kind may end at a backend.
    pub(super) reach_backends: bool,
}

impl Kinds {
    pub(super) fn of(view: &PolicyView<'_>) -> Self {
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
        let mut profiles: BTreeMap<(Ends, String, String), GroupKind> = BTreeMap::new();
        for (group_kind, (profile, there)) in found {
            let ends = ends_of(&profile, &there);
            let key = (ends, group_kind.kind.clone(), group_kind.group.clone());
            profiles.insert(key, group_kind);
        }
        let mut kinds = Self {
            reach_backends,
            ..Self::default()
        };
        for ((ends, kind, group), group_kind) in profiles {
            kinds.known.insert(group_kind, kinds.rows.len());
            kinds.rows.push(KindRow { kind, group, ends });
        }
        kinds
    }

    pub(super) fn find(&self, kind: &GroupKind) -> Option<usize> {
        self.known.get(kind).copied()
    }

    /// The columns of profiles.
    pub(super) fn of_rules(&self) -> Vec<usize> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.ends == Ends::Rule)
            .map(|(position, _)| position)
            .collect()
    }
}

/// Where a page draws the cells of a kind: as deep as its profile goes, if a path goes there. Policies that hold for what
/// they are attached to, and nothing below it, are no gap in the routes.
fn ends_of(profile: &Profile, found: &BTreeSet<Level>) -> Ends {
    const LEVELS: [(Ends, [Level; 2]); 4] = [
        (Ends::Rule, [Level::Rule, Level::Route]),
        (Ends::Backend, [Level::Backend, Level::Port]),
        (Ends::Listener, [Level::Listener, Level::Listener]),
        (Ends::Gateway, [Level::Gateway, Level::Gateway]),
    ];
    let deepest = |is_end: &dyn Fn(&Level) -> bool| {
        let mut levels = LEVELS.into_iter();
        levels.find_map(|(ends, levels)| levels.iter().any(is_end).then_some(ends))
    };
    let of_profile = |level: &Level| profile.ends.contains(level);
    deepest(&|level| of_profile(level) && found.contains(level))
        .or_else(|| deepest(&of_profile))
        .unwrap_or(Ends::Gateway)
}

/// The position of a kind by its names, or -1.
pub(super) fn kind_position(kinds: &Kinds, kind: &str, group: &str) -> Position {
    signed_or_none(kinds.find(&GroupKind::new(group, kind)))
}
