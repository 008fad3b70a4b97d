//! Which settings apply where: one outcome for each path, which is the one that most clusters have, and the clusters with a
//! different one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{GroupKind, Work};
use indexmap::{IndexMap, IndexSet};

use super::entries::{
    InventoryScope, KindEntry, LostSetting, OutcomeEntry, OutcomeException, OutcomeSetting, PolicyReference,
    STEPS_PER_CELL, SourceLine, Spot,
};
use super::hierarchy::{Hierarchy, PlaceLists, narrow};
use crate::diagnostic::{Hidden, Locate, Place};
use crate::object::Object;
use crate::outcome::{PolicyView, Seen};
use crate::policy::{AuthoredId, Effective, KindId, Leaf, PathEffective, Rule};
use crate::sync::Withheld;
use crate::topology::{Level, Node, Start};

/// The position of an outcome; none: nothing applies.
type Outcome = Option<usize>;

/// The outcomes of each kind and spot: by the position of each evaluated topology, the position of the outcome there.
type Found = HashMap<(usize, Spot), Vec<(usize, usize)>>;

/// All outcomes, and where another one than the common one applies.
type Outcomes = (Vec<OutcomeEntry>, Vec<OutcomeException>);

/// A policy that is kept from clusters, and the policy that is there instead.
struct Displaced {
    policy: AuthoredId,
    winner: PolicyReference,
    rule: Rule,
    /// The target on the hub.
    node: Node,
}

/// The numbers of policies: those of the hub, then those that live on clusters, each in each place that was evaluated.
#[derive(Default)]
pub(super) struct PolicyNumbers {
    of_hub: HashMap<Arc<str>, usize>,
    /// By cluster and locator.
    of_clusters: HashMap<String, HashMap<Arc<str>, usize>>,
}

impl PolicyNumbers {
    pub(super) fn new(view: &PolicyView<'_>) -> Self {
        let mut numbers = Self::default();
        let mut next = 0..;
        for (policy, number) in view.hub.policies.rows().iter().zip(&mut next) {
            numbers.of_hub.entry(policy.locator()).or_insert(number);
        }
        for seen in view.seen().skip(1) {
            let policies = seen.attachments.policies.rows().iter();
            for (policy, number) in policies.filter(|policy| policy.local).zip(&mut next) {
                for cluster in seen.clusters {
                    let there = numbers.of_clusters.entry(cluster.clone()).or_default();
                    there.insert(policy.locator(), number);
                }
            }
        }
        numbers
    }

    /// The number of a policy of the hub, or of one that lives on a cluster.
    fn find(&self, locator: &str, cluster: Option<&str>) -> Option<usize> {
        let numbers = match cluster {
            Some(cluster) => self.of_clusters.get(cluster)?,
            None => &self.of_hub,
        };
        numbers.get(locator).copied()
    }
}

/// The results, before it is known which outcome is the common one.
pub(super) struct Search<'s, 'p> {
    view: &'p PolicyView<'p>,
    kinds: &'s [KindEntry],
    kind_positions: HashMap<GroupKind, usize>,
    numbers: &'s PolicyNumbers,
    locate: &'s dyn Locate,
    hidden: &'s mut Hidden,
    work: &'s Work,
    /// A setting is located once, on however many paths it applies.
    lines: HashMap<Place, Option<SourceLine>>,
    entries: IndexSet<OutcomeEntry>,
    /// By kind and settings: the first outcome.
    cores: HashMap<(usize, Vec<OutcomeSetting>), usize>,
    /// By outcome: the first one with the same settings from the same policies.
    core_of: Vec<usize>,
    found: Found,
}

/// An outcome of one place, by what it is made from: it is made once for all paths that share it.
/// The positions of outcomes by kind, settings, and displaced policies.
type OutcomeMemo = HashMap<(usize, *const Effective, Vec<usize>), usize>;

impl Search<'_, '_> {
    /// Decides which outcome is common, and where another one applies. `None`: there is too much.
    fn settle(&mut self, hierarchy: &Hierarchy<'_, '_>, lists: &mut PlaceLists<'_>) -> Option<Outcomes> {
        let mut entries: Vec<OutcomeEntry> = std::mem::take(&mut self.entries).into_iter().collect();
        // What counts of an outcome when two are compared.
        let core_of = |outcome: Outcome| self.core_of.get(outcome?).copied();
        let is_inhabited: Vec<bool> = self.view.seen().map(has_local_or_overlaid_objects).collect();
        let mut present: HashMap<Spot, Vec<usize>> = HashMap::new();
        for (number, map) in hierarchy.maps.iter().enumerate() {
            let gateways = map.starts.values().map(|gateway| Spot {
                gateway: Some(*gateway),
                ..Spot::default()
            });
            for spot in gateways.chain(map.attached.iter().copied()) {
                present.entry(spot).or_default().push(number);
            }
        }
        let mut exceptions: BTreeMap<(usize, Outcome, Outcome, Spot), Vec<usize>> = BTreeMap::new();
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_unstable_by_key(|(key, _)| **key);
        for ((kind, spot), there) in found {
            let everywhere = present.get(&Spot {
                listener: spot.listener.filter(|_| spot.route.is_some()),
                rule: None,
                backend: None,
                ..*spot
            });
            let there: BTreeMap<usize, usize> = there.iter().copied().collect();
            let places = everywhere.map_or(0, Vec::len);
            let others = places.saturating_sub(there.len());
            if !self.work.pay(others, STEPS_PER_CELL) {
                return None;
            }
            let everywhere = everywhere.into_iter().flatten().copied();
            let everywhere: BTreeSet<usize> = everywhere.chain(there.keys().copied()).collect();
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
        (kinds, numbers): (&'s [KindEntry], &'s PolicyNumbers),
        locate: &'s dyn Locate,
        scope: InventoryScope<'s>,
    ) -> Self {
        let kind_positions = kinds.iter().zip(0..);
        let kind_positions = kind_positions.map(|(kind, at)| (GroupKind::new(&kind.group, &kind.kind), at));
        Self {
            view,
            kinds,
            kind_positions: kind_positions.collect(),
            numbers,
            locate,
            hidden: scope.hidden,
            work: scope.work,
            lines: HashMap::new(),
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
            self.look((number, seen), hierarchy);
        }
        self.settle(hierarchy, lists)
    }

    /// Records the settings that apply in one place.
    fn look(&mut self, (number, seen): (usize, Seen<'p>), hierarchy: &mut Hierarchy<'p, '_>) {
        let displaced = self.displaced(seen);
        let mut by_spot: HashMap<(usize, Spot), Vec<usize>> = HashMap::new();
        for (position, displaced) in displaced.iter().enumerate() {
            let policy = self.view.hub.policy(displaced.policy.policy);
            let kind = self.view.hub.kinds.get(policy.kind).profile.group_kind();
            let spot = spot_of(self.view, hierarchy, displaced.node);
            if let (Some(kind), Some(spot)) = (self.kind_positions.get(&kind), spot) {
                by_spot.entry((*kind, spot)).or_default().push(position);
            }
        }
        let mut memo = OutcomeMemo::new();
        // A rule may have a path of its own beside that of its route, which stands for the others.
        let paths = seen.effective.iter();
        let (own, whole): (Vec<_>, Vec<_>) =
            paths.partition(|(_, path)| path.path.rule.is_some() || path.path.route.is_none());
        for (kind, path) in own.into_iter().chain(whole) {
            let profile = &seen.attachments.kinds.get(kind).profile;
            let Some(position) = self.kind_positions.get(&profile.group_kind()).copied() else {
                continue;
            };
            for spot in hierarchy.spots((number, seen), &path.path) {
                let displaced_here = on_the_way(&by_spot, position, spot);
                let displaced = (displaced.as_slice(), displaced_here);
                let outcome = self.outcome((seen, kind, position), path, displaced, &mut memo);
                let stands_for_rules = spot.route.is_some() && spot.rule.is_none() && spot.backend.is_none();
                if !stands_for_rules || profile.ends.contains(&Level::Rule) {
                    let found = self.found.entry((position, spot)).or_default();
                    found.push((number, outcome));
                }
                if stands_for_rules {
                    for (rule, _) in (0..).zip(hierarchy.rules(spot.route)) {
                        let spot = Spot {
                            rule: Some(rule),
                            ..spot
                        };
                        let found = self.found.entry((position, spot)).or_default();
                        if found.last().is_none_or(|(last, _)| *last != number) {
                            found.push((number, outcome));
                        }
                    }
                }
            }
        }
    }

    /// What is kept from a place by what lives there, or by other policies of the hub wherever it would go.
    fn displaced(&self, seen: Seen<'_>) -> Vec<Displaced> {
        let Some(first) = seen.clusters.first() else {
            return Vec::new();
        };
        let is_here = |withheld: &&Withheld<'_>| withheld.cluster.is_none_or(|cluster| cluster == first);
        let displaced = self.view.withheld.iter().filter(is_here).filter_map(|withheld| {
            let winner = withheld.winner.identity().locator();
            let mut authors = self.view.hub.policy(withheld.policy).authors(withheld.policy);
            let (policy, _) = authors.next()?;
            Some(Displaced {
                policy,
                winner: self.reference(winner.into(), withheld.cluster)?,
                rule: withheld.rule,
                node: withheld.node,
            })
        });
        displaced.collect()
    }

    /// The position of the outcome of a path.
    fn outcome(
        &mut self,
        (seen, kind, kind_position): (Seen<'_>, KindId, usize),
        path: &PathEffective,
        (displaced, displaced_here): (&[Displaced], Vec<usize>),
        memo: &mut OutcomeMemo,
    ) -> usize {
        let key = (kind_position, Arc::as_ptr(&path.effective), displaced_here);
        if let Some(position) = memo.get(&key) {
            return *position;
        }
        let effective = &path.effective;
        let count = effective.content.len().saturating_add(effective.losses.len());
        if !self.work.pay(count, STEPS_PER_CELL) {
            return 0;
        }
        let profile = &seen.attachments.kinds.get(kind).profile;
        let mut settings: Vec<OutcomeSetting> = Vec::new();
        for (name, leaf) in effective.content.iter() {
            let author = seen.attachments.author_of(name, leaf);
            let Some(policy) = self.author(seen, author) else {
                continue;
            };
            let (authored, pointer) = seen.attachments.written_at(name, leaf);
            settings.push(OutcomeSetting {
                setting: name.to_string(),
                value: self.hidden.conceal(&leaf.value, false),
                policy,
                place: self.line(authored.object, &pointer),
            });
        }
        let mut overridden: Vec<LostSetting> = Vec::new();
        for loss in &effective.losses {
            let rule = loss.by.first();
            let rule = rule.and_then(|by| effective.rule(seen.attachments, *by, loss.policy));
            let by = loss.by.iter();
            let by: BTreeSet<PolicyReference> = by.filter_map(|by| self.author(seen, *by)).collect();
            let Some(policy) = self.author(seen, loss.policy) else {
                continue;
            };
            let authored = seen.attachments.authored(loss.policy);
            let leaf = seen.attachments.lost(loss.policy, &loss.key);
            let by = by.into_iter().collect();
            overridden.push(self.lost((&loss.key, leaf, authored.object), policy, by, rule));
        }
        for displaced in key.2.iter().filter_map(|position| displaced.get(*position)) {
            let authored = self.view.hub.authored(displaced.policy);
            let Some(policy) = self.reference(Arc::clone(&authored.locator), None) else {
                continue;
            };
            for (name, leaf) in authored.layers.iter().flat_map(|layer| layer.content.iter()) {
                let lost = overridden.iter().map(|lost| (&lost.policy, &lost.setting));
                let effective = settings.iter().map(|setting| (&setting.policy, &setting.setting));
                let mut all = lost.chain(effective);
                if !all.any(|(whose, known)| *whose == policy && **known == **name) {
                    let by = vec![displaced.winner.clone()];
                    let leaf = (name, Some(leaf), authored.object);
                    overridden.push(self.lost(leaf, policy.clone(), by, Some(displaced.rule)));
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

    fn lost(
        &mut self,
        (name, leaf, object): (&Arc<str>, Option<&Leaf>, &Object),
        policy: PolicyReference,
        by: Vec<PolicyReference>,
        rule: Option<Rule>,
    ) -> LostSetting {
        LostSetting {
            setting: name.to_string(),
            value: leaf.map(|leaf| self.hidden.conceal(&leaf.value, false)),
            policy,
            place: leaf.and_then(|leaf| self.line(object, &leaf.source_pointer())),
            by,
            rule: rule.map_or("", Rule::name),
            because: rule.map_or("", Rule::because),
        }
    }

    /// The line of the name of a field, where a reader looks.
    fn line(&mut self, object: &Object, pointer: &str) -> Option<SourceLine> {
        let line = self.lines.entry(object.key_place(pointer));
        line.or_insert_with_key(|place| SourceLine::slashed(self.locate, place.clone()))
            .clone()
    }

    /// A policy as written.
    fn author(&self, seen: Seen<'_>, author: AuthoredId) -> Option<PolicyReference> {
        let is_local = seen.attachments.policy(author.policy).local;
        let cluster = seen.clusters.first().filter(|_| is_local);
        let authored = seen.attachments.authored(author);
        self.reference(Arc::clone(&authored.locator), cluster.map(String::as_str))
    }

    fn reference(&self, locator: Arc<str>, cluster: Option<&str>) -> Option<PolicyReference> {
        let number = self.numbers.find(&locator, cluster)?;
        Some(PolicyReference { number, locator })
    }
}

/// Where a node of the hub is on the page; `None` for what is above Gateways or below rules.
fn spot_of(view: &PolicyView<'_>, hierarchy: &mut Hierarchy<'_, '_>, node: Node) -> Option<Spot> {
    let (topology, of_hub) = (&view.hub.topology, &hierarchy.of_hub);
    let mut spot = Spot::default();
    match node {
        Node::Gateway(gateway) => spot.gateway = Some(*of_hub.starts.get(&Start::Gateway(gateway))?),
        Node::Listener(gateway, listener) => {
            spot.gateway = Some(*of_hub.starts.get(&Start::Gateway(gateway))?);
            spot.listener = Some(*of_hub.listeners.get(&listener)?);
        }
        Node::Route(route) => spot.route = Some(*of_hub.routes.get(&route)?),
        Node::Rule(route, rule) => {
            let mut rules = topology.routes.get(route).rules.iter();
            spot.route = Some(*of_hub.routes.get(&route)?);
            spot.rule = Some(narrow(rules.position(|known| *known == rule)?));
        }
        Node::Backend(_) => spot.backend = Some(narrow(hierarchy.backends.position(topology, node))),
        _ => return None,
    }
    Some(spot)
}

/// What is kept away from the things on the way to a place.
fn on_the_way(displaced: &HashMap<(usize, Spot), Vec<usize>>, kind: usize, spot: Spot) -> Vec<usize> {
    let Spot {
        gateway,
        listener,
        route,
        rule,
        backend,
    } = spot;
    let none = Spot::default();
    let way = [
        Spot { gateway, ..none },
        Spot {
            gateway,
            listener,
            ..none
        },
        Spot { route, ..none },
        Spot { route, rule, ..none },
        Spot { backend, ..none },
    ];
    let found = way.iter().filter_map(|part| displaced.get(&(kind, *part)));
    let found: BTreeSet<usize> = found.flatten().copied().collect();
    found.into_iter().collect()
}
