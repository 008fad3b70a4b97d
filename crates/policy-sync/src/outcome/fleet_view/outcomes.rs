//! Which settings apply where: one outcome for each path, which is the one that most clusters have, and the clusters with a
//! different one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{GroupKind, Work};
use indexmap::{IndexMap, IndexSet};

use super::entries::{FleetScope, KindEntry, Name, OutcomeEntry, OutcomeException, STEPS_PER_CELL, Spot};
use super::hierarchy::{Hierarchy, NodeNames, PlaceLists};
use crate::diagnostic::Locate;
use crate::outcome::settings::{AppliedSetting, SettingEntries};
use crate::outcome::{PolicyView, Seen};
use crate::policy::{Authored, Effective, EffectivePolicies, KindId, PathEffective, Rule};
use crate::sync::Withheld;

/// The position of an outcome; none: nothing applies.
type Outcome = Option<usize>;

/// The outcomes of each kind and spot: by the position of each evaluated topology, the position of the outcome there.
type Found = HashMap<(usize, Spot), Vec<(usize, usize)>>;

/// All outcomes, and where another one than the common one applies.
type Outcomes = (Vec<OutcomeEntry>, Vec<OutcomeException>);

/// A policy that is kept from clusters, and the locator of the policy that is there instead.
struct Displaced<'p> {
    policy: &'p Authored<'p>,
    winner: Arc<str>,
    rule: Rule,
}

/// What is kept from a place, by the position of the kind and the target.
type DisplacedFrom = HashMap<(usize, Name), Vec<usize>>;

/// The results, before it is known which outcome is the common one.
pub(super) struct Search<'s, 'p> {
    view: &'p PolicyView<'p>,
    kinds: &'s [KindEntry],
    kind_positions: HashMap<GroupKind, usize>,
    settings: SettingEntries<'s>,
    work: &'s Work,
    entries: IndexSet<OutcomeEntry>,
    /// By kind and settings: the first outcome.
    cores: HashMap<(usize, Vec<AppliedSetting>), usize>,
    /// By outcome: the first one with the same settings from the same policies.
    core_of: Vec<usize>,
    found: Found,
}

/// The position of an outcome of one place, by its kind, its settings, and the displaced policies: paths that share these
/// share one outcome.
type OutcomeMemo = HashMap<(usize, *const Effective, Vec<usize>), usize>;

impl Search<'_, '_> {
    /// Decides which outcome is common, and where another one applies. `None`: there is too much.
    fn settle(&mut self, hierarchy: &Hierarchy<'_, '_>, lists: &mut PlaceLists<'_>) -> Option<Outcomes> {
        let mut entries: Vec<OutcomeEntry> = std::mem::take(&mut self.entries).into_iter().collect();
        // What counts of an outcome when two are compared.
        let core_of = |outcome: Outcome| self.core_of.get(outcome?).copied();
        let is_inhabited: Vec<bool> = self.view.seen().map(has_local_or_overlaid_objects).collect();
        let mut exceptions: BTreeMap<(usize, Outcome, Outcome, Spot), Vec<usize>> = BTreeMap::new();
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_unstable_by_key(|(key, _)| **key);
        for ((kind, spot), there) in found {
            let there: BTreeMap<usize, usize> = there.iter().copied().collect();
            let everywhere = hierarchy.places(*spot);
            let others = everywhere.len().saturating_sub(there.len());
            if !self.work.pay(others, STEPS_PER_CELL) {
                return None;
            }
            let everywhere: BTreeSet<usize> = everywhere.into_iter().chain(there.keys().copied()).collect();
            let outcome = |place: &usize| there.get(place).copied();
            // What lives on a cluster, or an overlay, makes it an exception, however few have nothing of their own.
            let is_lonely = |place: &usize| is_inhabited.get(*place) != Some(&true);
            let mut voters: Vec<usize> = everywhere.iter().copied().filter(is_lonely).collect();
            if voters.is_empty() {
                voters.extend(&everywhere);
            }
            let mut cores: BTreeMap<Outcome, (usize, usize)> = BTreeMap::new();
            for (order, place) in voters.iter().enumerate() {
                let (weight, _) = cores.entry(core_of(outcome(place))).or_insert((0, order));
                let clusters = lists.places.get(*place).map_or(0, Vec::len);
                *weight = weight.saturating_add(clusters.max(1));
            }
            let most = cores
                .into_iter()
                .max_by_key(|(_, (weight, order))| (*weight, Reverse(*order)));
            let Some((core, _)) = most else { continue };
            let mut outcomes = voters.iter().map(outcome);
            let common = outcomes.find(|outcome| core_of(*outcome) == core).flatten();
            if let Some(entry) = common.and_then(|common| entries.get_mut(common)) {
                entry.paths.push(hierarchy.path(*spot));
            }
            for place in &everywhere {
                let here = outcome(place);
                if core_of(here) != core {
                    let key = (*kind, common, here, *spot);
                    exceptions.entry(key).or_default().push(*place);
                }
            }
        }
        let mut sets: IndexMap<*const String, Arc<[String]>> = IndexMap::new();
        let mut grouped: BTreeMap<(usize, Outcome, Outcome, usize), Vec<Spot>> = BTreeMap::new();
        for ((kind, usual, here, spot), places) in exceptions {
            // Equal lists are one.
            let clusters = lists.joined(&places);
            let (set, _) = sets.insert_full(clusters.as_ptr(), clusters);
            grouped.entry((kind, usual, here, set)).or_default().push(spot);
        }
        let grouped = grouped.into_iter();
        let exceptions = grouped.filter_map(|((position, usual, here, set), spots)| {
            let KindEntry { kind, group, .. } = self.kinds.get(position)?;
            Some(OutcomeException {
                clusters: Arc::clone(sets.get_index(set)?.1),
                kind: kind.clone(),
                group: group.clone(),
                usual,
                here,
                paths: spots.into_iter().map(|spot| hierarchy.path(spot)).collect(),
            })
        });
        let exceptions = exceptions.collect();
        (!self.work.is_spent()).then_some((entries, exceptions))
    }
}

/// How many paths of how many kinds there are in one place in full detail, at most.
fn cells(seen: Seen<'_>) -> usize {
    let topology = &seen.attachments.topology;
    let starts = topology.starts().filter(|start| seen.effective.has(*start));
    let attached = starts.flat_map(|start| topology.attached(start));
    let paths = attached.fold(0_usize, |paths, (_, route)| {
        paths.saturating_add(topology.routes.get(route).rules.len().max(1))
    });
    let policies = seen.attachments.policies.rows().iter();
    let kinds: BTreeSet<KindId> = policies.map(|policy| policy.kind).collect();
    paths.saturating_mul(kinds.len())
}

fn has_local_or_overlaid_objects(seen: Seen<'_>) -> bool {
    let mut policies = seen.attachments.policies.rows().iter();
    let topology = &seen.attachments.topology;
    let gateways = topology.gateways.rows().iter().map(|gateway| gateway.object);
    let routes = topology.routes.rows().iter().map(|route| route.object);
    let objects = policies.clone().map(|policy| policy.object);
    let mut objects = objects.chain(gateways).chain(routes);
    policies.any(|policy| policy.local) || objects.any(|object| object.overlaid.is_some())
}

impl<'s, 'p> Search<'s, 'p> {
    pub(super) fn new(
        view: &'p PolicyView<'p>,
        kinds: &'s [KindEntry],
        locate: &'s dyn Locate,
        scope: FleetScope<'s>,
    ) -> Self {
        let kind_positions = kinds.iter().zip(0..);
        let kind_positions = kind_positions.map(|(kind, at)| (GroupKind::new(&kind.group, &kind.kind), at));
        Self {
            view,
            kinds,
            kind_positions: kind_positions.collect(),
            settings: SettingEntries::new(locate, Some(scope.hidden)),
            work: scope.work,
            entries: IndexSet::new(),
            cores: HashMap::new(),
            core_of: Vec::new(),
            found: Found::new(),
        }
    }

    /// Everything, unless there is too much.
    pub(super) fn run(
        mut self,
        hierarchy: &mut Hierarchy<'p, '_>,
        lists: &mut PlaceLists<'_>,
    ) -> Option<Outcomes> {
        for (number, seen) in self.view.seen().enumerate() {
            // All paths of a place are made at once, each with a cell for each kind of policies: they are paid before.
            if !self.work.pay(cells(seen), STEPS_PER_CELL) {
                return None;
            }
            self.look((number, seen), hierarchy);
        }
        self.settle(hierarchy, lists)
    }

    /// Records the settings that apply in one place, on every path that tells traffic apart.
    fn look(&mut self, (number, seen): (usize, Seen<'p>), hierarchy: &mut Hierarchy<'p, '_>) {
        let (displaced, displaced_from) = self.displaced(seen, hierarchy);
        let attachments = seen.attachments;
        let refined = EffectivePolicies::refined(attachments, self.work, |start| seen.effective.has(start));
        let (mut memo, mut names) = (OutcomeMemo::new(), NodeNames::new());
        let mut gateway_result = None;
        for (kind, path) in refined.iter() {
            let profile = &attachments.kinds.get(kind).profile;
            let Some(position) = self.kind_positions.get(&profile.group_kind()).copied() else {
                continue;
            };
            let spot = hierarchy.spot(&attachments.topology, &mut names, &path.path);
            let on_the_way = spot
                .names()
                .filter_map(|name| displaced_from.get(&(position, name)));
            let on_the_way: BTreeSet<usize> = on_the_way.flatten().copied().collect();
            let displaced = (displaced.as_slice(), on_the_way.into_iter().collect());
            let outcome = self.outcome((seen, kind, position), path, displaced, &mut memo);
            // A kind that ends at Gateways also has a path to each listener, mostly with the same result.
            if spot.route.is_none() {
                let result = Some((position, spot.gateway, outcome));
                if spot.listener.is_none() {
                    gateway_result = result;
                } else if gateway_result == result {
                    continue;
                }
            }
            let found = self.found.entry((position, spot)).or_default();
            found.push((number, outcome));
        }
    }

    /// What is kept from a place by what lives there, or by other policies of the hub wherever it would go.
    fn displaced(
        &self,
        seen: Seen<'_>,
        hierarchy: &mut Hierarchy<'p, '_>,
    ) -> (Vec<Displaced<'p>>, DisplacedFrom) {
        let (mut displaced, mut displaced_from) = (Vec::new(), DisplacedFrom::new());
        let Some(first) = seen.clusters.first() else {
            return (displaced, displaced_from);
        };
        let (hub, mut names) = (self.view.hub, NodeNames::new());
        let is_withheld = |withheld: &&Withheld<'_>| withheld.cluster.is_none_or(|cluster| cluster == first);
        for withheld in self.view.withheld.iter().filter(is_withheld) {
            let mut authors = hub.policy(withheld.policy).authors(withheld.policy);
            let kind = self
                .kind_positions
                .get(&hub.profile(withheld.policy).group_kind());
            let Some((kind, (_, policy))) = kind.zip(authors.next()) else {
                continue;
            };
            let target = hierarchy.name(&hub.topology, &mut names, withheld.node);
            let from = displaced_from.entry((*kind, target)).or_default();
            from.push(displaced.len());
            displaced.push(Displaced {
                policy,
                winner: withheld.winner.identity().locator().into(),
                rule: withheld.rule,
            });
        }
        (displaced, displaced_from)
    }

    /// The position of the outcome of a path.
    fn outcome(
        &mut self,
        (seen, kind, kind_position): (Seen<'_>, KindId, usize),
        path: &PathEffective,
        (displaced, on_the_way): (&[Displaced<'_>], Vec<usize>),
        memo: &mut OutcomeMemo,
    ) -> usize {
        let key = (kind_position, Arc::as_ptr(&path.effective), on_the_way);
        if let Some(position) = memo.get(&key) {
            return *position;
        }
        let effective = &path.effective;
        let count = effective.content.len().saturating_add(effective.losses.len());
        if !self.work.pay(count, STEPS_PER_CELL) {
            return 0;
        }
        let profile = &seen.attachments.kinds.get(kind).profile;
        let attachments = seen.attachments;
        let settings = effective.content.iter();
        let settings = settings.map(|(name, leaf)| self.settings.applied(attachments, name, leaf));
        let settings: Vec<AppliedSetting> = settings.collect();
        let mut overridden = self.settings.losses(attachments, effective);
        for displaced in key.2.iter().filter_map(|position| displaced.get(*position)) {
            let authored = displaced.policy;
            for (name, leaf) in authored.layers.iter().flat_map(|layer| layer.content.iter()) {
                let lost = overridden.iter().map(|lost| (&lost.policy, &lost.setting));
                let effective = settings.iter().map(|setting| (&setting.policy, &setting.setting));
                let mut all = lost.chain(effective);
                if !all.any(|(policy, setting)| *policy == authored.locator && setting == name) {
                    let by = vec![Arc::clone(&displaced.winner)];
                    let lost = self
                        .settings
                        .lost((name, Some(leaf), authored), by, Some(displaced.rule));
                    overridden.push(lost);
                }
            }
        }
        let core = (kind_position, settings.clone());
        let entry = OutcomeEntry {
            kind: profile.kind.clone(),
            group: profile.group.clone(),
            open: profile.lets_everybody_in(&effective.content),
            settings,
            overridden,
            paths: Vec::new(),
        };
        let (position, is_new) = self.entries.insert_full(entry);
        if is_new {
            self.core_of.push(*self.cores.entry(core).or_insert(position));
        }
        memo.insert(key, position);
        position
    }
}
