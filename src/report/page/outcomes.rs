//! Which settings apply where: one outcome for each path, and the clusters with a different one.
//!
//! Owns: which outcome is the common one, which clusters are exceptions, and what local objects keep from a cluster.
//! Flows in: a view, the [`Hierarchy`]. Flows out: outcomes, profiles, exceptions. Must not know: texts, works.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::document::{
    ExceptionRow, Interned, Kinds, LostRow, Numbers, OutcomeRow, Position, Profiled, SetRow, Tables, entry,
    signed,
};
use super::hierarchy::{Hierarchy, Map, Spot};
use crate::object::Object;
use crate::outcome::{PolicyView, Seen};
use crate::policy::{AuthoredId, Effective, KindId, Leaf, PathEffective, Rule};
use crate::sync::Withheld;
use crate::topology::{Level, Node};

/// All outcomes.
#[derive(Default)]
pub(super) struct Outcomes {
    pub(super) rows: Vec<OutcomeRow>,
    /// By outcome: the first one with the same settings from the same policies.
    cores: Vec<usize>,
    /// The common outcome of each kind and place.
    pub(super) common: BTreeMap<(usize, Spot), Position>,
    pub(super) exceptions: Vec<ExceptionRow>,
}

/// A policy that is kept from clusters, and who has its place.
struct Kept<'p> {
    policy: AuthoredId,
    winner: usize,
    rule: Rule,
    /// As it is on the hub.
    withheld: &'p Withheld<'p>,
}

/// The results, before it is known which outcome is the common one.
struct Finding<'f, 'p> {
    tables: &'f mut Tables<'p>,
    kinds: &'f Kinds,
    numbers: &'f Numbers,
    rows: Interned<String, OutcomeRow>,
    cores: Interned<String, usize>,
    core_of: Vec<usize>,
    /// By kind and place: each evaluated topology, by position, and the settings that apply there.
    found: HashMap<(usize, Spot), Vec<(usize, usize)>>,
}

/// An outcome of one place, by what it is made from: it is worked out once for all paths that share it.
type Known = HashMap<(usize, *const Effective, Vec<usize>), usize>;

impl Outcomes {
    /// Works out everything. `maps` are those of the places of the view, in their order.
    pub(super) fn of<'p>(
        view: &'p PolicyView<'_>,
        (hierarchy, maps, of_hub): (&mut Hierarchy<'p>, &[Map], &Map),
        (kinds, numbers): (&Kinds, &Numbers),
        withheld: &'p [Withheld<'p>],
        tables: &mut Tables<'p>,
    ) -> Self {
        let mut finding = Finding {
            tables,
            kinds,
            numbers,
            rows: Interned::default(),
            cores: Interned::default(),
            core_of: Vec::new(),
            found: HashMap::new(),
        };
        for (number, (seen, map)) in view.seen().zip(maps).enumerate() {
            finding.look(view, (number, seen, map), (hierarchy, of_hub), withheld);
        }
        let found = finding.found;
        let mut outcomes = Self {
            rows: finding.rows.list,
            cores: finding.core_of,
            ..Self::default()
        };
        outcomes.settle(view, found, maps, finding.tables);
        outcomes
    }

    /// The core of an outcome: what counts when two are compared.
    fn core(&self, outcome: Position) -> Position {
        entry(&self.cores, outcome).map_or(-1, |core| signed(*core))
    }

    /// Decides which outcome is common, and where another one applies.
    fn settle(
        &mut self,
        view: &PolicyView<'_>,
        found: HashMap<(usize, Spot), Vec<(usize, usize)>>,
        maps: &[Map],
        tables: &mut Tables<'_>,
    ) {
        let inhabited: Vec<bool> = view.seen().map(has_local_or_overlaid_objects).collect();
        let mut present: HashMap<(usize, i32, i32), Vec<usize>> = HashMap::new();
        for (number, map) in maps.iter().enumerate() {
            for gateway in map.starts.values() {
                present.entry((*gateway, -1, -1)).or_default().push(number);
            }
            for (gateway, listener, route) in &map.attached {
                present
                    .entry((*gateway, *listener, *route))
                    .or_default()
                    .push(number);
            }
        }
        let mut exceptions: BTreeMap<(usize, Position, Position, Spot), Vec<usize>> = BTreeMap::new();
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by_key(|(key, _)| *key);
        for ((kind, spot), held) in found {
            let listener = if spot.route < 0 { -1 } else { spot.listener };
            let everywhere = present.get(&(spot.gateway, listener, spot.route));
            let held: BTreeMap<usize, usize> = held.into_iter().collect();
            let places = everywhere.map_or(0, Vec::len);
            if !tables.take(places.saturating_sub(held.len())) {
                return;
            }
            let everywhere: BTreeSet<usize> = everywhere.into_iter().flatten().copied().collect();
            let outcome = |place: &usize| held.get(place).map_or(-1, |outcome| signed(*outcome));
            let everywhere: Vec<usize> = everywhere
                .union(&held.keys().copied().collect())
                .copied()
                .collect();
            // What lives on a cluster, or an overlay, makes it an exception, however few have nothing of their own.
            let lonely = everywhere
                .iter()
                .copied()
                .filter(|place| !inhabited.get(*place).copied().unwrap_or_default());
            let lonely: Vec<usize> = lonely.collect();
            let voters = if lonely.is_empty() { &everywhere } else { &lonely };
            let mut cores: BTreeMap<Position, (usize, usize)> = BTreeMap::new();
            for (order, place) in voters.iter().enumerate() {
                let entry = cores.entry(self.core(outcome(place))).or_insert((0, order));
                let clusters = tables.of_places.get(*place).map_or(0, Vec::len);
                entry.0 = entry.0.saturating_add(clusters.max(1));
            }
            let most = cores
                .into_iter()
                .max_by_key(|(_, (weight, order))| (*weight, std::cmp::Reverse(*order)));
            let Some((core, _)) = most else { continue };
            let common = voters
                .iter()
                .map(outcome)
                .find(|outcome| self.core(*outcome) == core)
                .unwrap_or(-1);
            self.common.insert((kind, spot), common);
            for place in &everywhere {
                let there = outcome(place);
                if self.core(there) != core {
                    let key = (kind, common, there, spot);
                    exceptions.entry(key).or_default().push(*place);
                }
            }
        }
        let mut grouped: BTreeMap<(usize, Position, Position, usize), Vec<Spot>> = BTreeMap::new();
        for ((kind, old, new, spot), there) in exceptions {
            let clusters = tables.set_of_places(&there);
            grouped.entry((kind, old, new, clusters)).or_default().push(spot);
        }
        self.exceptions = grouped
            .into_iter()
            .map(|((kind, old, new, clusters), on)| ExceptionRow {
                clusters,
                kind,
                old,
                new,
                on: on.into_iter().map(Spot::row).collect(),
            })
            .collect();
    }

    /// The settings that apply above the routes, by Gateway.
    pub(super) fn own(&self) -> HashMap<usize, Vec<(Position, usize, Position)>> {
        let mut own: HashMap<usize, Vec<(Position, usize, Position)>> = HashMap::new();
        for ((kind, spot), outcome) in self.common.iter().filter(|((_, spot), _)| spot.route < 0) {
            let row = (spot.listener.into(), *kind, *outcome);
            own.entry(spot.gateway).or_default().push(row);
        }
        own
    }
}

fn has_local_or_overlaid_objects(seen: Seen<'_>) -> bool {
    let is_overlaid = |object: &Object| object.overlaid.is_some();
    let policies = seen.attachments.policies.rows();
    let topology = &seen.attachments.topology;
    policies
        .iter()
        .any(|policy| policy.local || is_overlaid(policy.object))
        || topology
            .gateways
            .rows()
            .iter()
            .any(|gateway| is_overlaid(gateway.object))
        || topology
            .routes
            .rows()
            .iter()
            .any(|route| is_overlaid(route.object))
}

/// Rule or -1, backend or -1, kind, outcome.
type OtherRow = (Position, Position, usize, Position);

/// The profiles of rules, and the settings that apply on paths that have no column.
#[derive(Default)]
pub(super) struct Profiles {
    pub(super) list: Interned<Vec<Position>, Vec<Position>>,
    /// By Gateway, listener and route: the outcomes of each rule by column, and the others.
    by_place: HashMap<(usize, i32, i32), OfRoute>,
    columns: usize,
}

#[derive(Default)]
struct OfRoute {
    rules: BTreeMap<i32, Vec<Position>>,
    others: Vec<(Position, Position, usize, Position)>,
}

impl Profiles {
    pub(super) fn of(outcomes: &Outcomes, kinds: &Kinds) -> Self {
        let of_rules = kinds.of_rules();
        let mut profiles = Self {
            columns: of_rules.len(),
            ..Self::default()
        };
        for ((kind, spot), outcome) in outcomes.common.iter().filter(|((_, spot), _)| spot.route >= 0) {
            let place = (spot.gateway, spot.listener, spot.route);
            let of_route = profiles.by_place.entry(place).or_default();
            let column = of_rules.iter().position(|of_rules| of_rules == kind);
            match column.filter(|_| spot.rule >= 0 && spot.backend < 0) {
                Some(column) => {
                    let none = || vec![-1; of_rules.len()];
                    let row = of_route.rules.entry(spot.rule).or_insert_with(none);
                    if let Some(cell) = row.get_mut(column) {
                        *cell = *outcome;
                    }
                }
                None => of_route
                    .others
                    .push((spot.rule.into(), spot.backend.into(), *kind, *outcome)),
            }
        }
        profiles
    }

    /// The profile of each rule of a route below a listener, and the rest.
    pub(super) fn on(&mut self, place: (usize, i32, i32), rules: usize) -> (Profiled, Option<Vec<OtherRow>>) {
        let Self {
            list,
            by_place,
            columns,
        } = self;
        let of_route = by_place.remove(&place).unwrap_or_default();
        let mut each: Vec<usize> = Vec::new();
        for rule in 0..rules {
            let none = || vec![-1; *columns];
            let rule = super::hierarchy::narrow(rule);
            let row = of_route.rules.get(&rule).cloned().unwrap_or_else(none);
            each.push(list.position(row.clone(), || row));
        }
        let others = Some(of_route.others).filter(|others| !others.is_empty());
        let profiled = match each.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => Profiled::All(*first),
            _ => Profiled::Each(each),
        };
        (profiled, others)
    }
}

impl<'p> Finding<'_, 'p> {
    /// Records the settings that apply in one place.
    fn look(
        &mut self,
        view: &'p PolicyView<'_>,
        (number, seen, map): (usize, Seen<'p>, &Map),
        (hierarchy, of_hub): (&mut Hierarchy<'p>, &Map),
        withheld: &'p [Withheld<'p>],
    ) {
        let kept = self.kept_away(view, seen, withheld);
        let mut by_spot: HashMap<(usize, Spot), Vec<usize>> = HashMap::new();
        for (position, kept) in kept.iter().enumerate() {
            let policy = view.hub.policy(kept.policy.policy);
            let kind = view.hub.kinds.get(policy.kind).profile.group_kind();
            let spot = spot_of(view, of_hub, hierarchy, kept.withheld.node);
            if let (Some(kind), Some(spot)) = (self.kinds.find(&kind), spot) {
                by_spot.entry((kind, spot)).or_default().push(position);
            }
        }
        let mut known = Known::new();
        // A rule may have a path of its own beside that of its route, which stands for the others.
        let (own, whole): (Vec<_>, Vec<_>) = seen
            .effective
            .iter()
            .partition(|(_, path)| path.path.rule.is_some() || path.path.route.is_none());
        for (kind, path) in own.into_iter().chain(whole) {
            let profile = &seen.attachments.kinds.get(kind).profile;
            let Some(of_page) = self.kinds.find(&profile.group_kind()) else {
                continue;
            };
            for spot in hierarchy.spots((seen, map), &path.path, self.tables) {
                let kept_here = on_the_way(&by_spot, of_page, spot);
                let outcome = self.outcome(view, (seen, kind, of_page), path, (&kept, kept_here), &mut known);
                let stands_for_rules = spot.route >= 0 && spot.rule < 0 && spot.backend < 0;
                if !stands_for_rules || profile.ends.contains(&Level::Rule) {
                    self.found
                        .entry((of_page, spot))
                        .or_default()
                        .push((number, outcome));
                }
                if stands_for_rules {
                    for rule in 0..hierarchy.rules_of(spot.route) {
                        let spot = Spot {
                            rule: super::hierarchy::narrow(rule),
                            ..spot
                        };
                        let found = self.found.entry((of_page, spot)).or_default();
                        if found.last().is_none_or(|(last, _)| *last != number) {
                            found.push((number, outcome));
                        }
                    }
                }
            }
        }
    }

    /// What is kept from a place by what lives there, or by other policies of the hub wherever it would go.
    fn kept_away(
        &self,
        view: &PolicyView<'_>,
        seen: Seen<'_>,
        withheld: &'p [Withheld<'p>],
    ) -> Vec<Kept<'p>> {
        let Some(first) = seen.clusters.first() else {
            return Vec::new();
        };
        let here = withheld
            .iter()
            .filter(|withheld| withheld.cluster.is_none_or(|cluster| cluster == first));
        here.filter_map(|withheld| {
            let locator = withheld.winner.identity().locator();
            let winner = self.numbers.find(&locator, withheld.cluster)?;
            let mut authors = view.hub.policy(withheld.policy).authors(withheld.policy);
            let (policy, _) = authors.next()?;
            Some(Kept {
                policy,
                winner,
                rule: withheld.rule,
                withheld,
            })
        })
        .collect()
    }

    /// The position of the outcome of a path.
    fn outcome(
        &mut self,
        view: &PolicyView<'_>,
        (seen, kind, of_page): (Seen<'_>, KindId, usize),
        path: &PathEffective,
        (kept, kept_here): (&[Kept<'_>], Vec<usize>),
        known: &mut Known,
    ) -> usize {
        let key = (of_page, Arc::as_ptr(&path.effective), kept_here);
        if let Some(known) = known.get(&key) {
            return *known;
        }
        let effective = &path.effective;
        let settings = [effective.content.len(), effective.losses.len()];
        if !self.tables.take(settings.iter().sum()) {
            return 0;
        }
        let profile = &seen.attachments.kinds.get(kind).profile;
        let cluster = seen.clusters.first().map(String::as_str);
        let mut set: Vec<SetRow> = Vec::new();
        for (name, leaf) in effective.content.iter() {
            let author = seen.attachments.author_of(name, leaf);
            let Some(policy) = self.number(seen, author, cluster) else {
                continue;
            };
            let (authored, pointer) = seen.attachments.written_at(name, leaf);
            let (file, line) = self.place(authored.object, &pointer);
            let value = self.tables.value(&leaf.value);
            set.push((name.to_string(), value, policy, file, line));
        }
        let mut lost: Vec<LostRow> = Vec::new();
        for loss in &effective.losses {
            let rule = loss.by.first();
            let rule = rule.and_then(|by| effective.rule(seen.attachments, *by, loss.policy));
            let by = loss.by.iter();
            let by: BTreeSet<usize> = by.filter_map(|by| self.number(seen, *by, cluster)).collect();
            let Some(policy) = self.number(seen, loss.policy, cluster) else {
                continue;
            };
            let authored = seen.attachments.authored(loss.policy);
            let leaf = seen.attachments.lost(loss.policy, &loss.key);
            let row = self.lost((&loss.key, leaf, authored.object), policy, by, rule);
            lost.push(row);
        }
        for kept in key.2.iter().filter_map(|position| kept.get(*position)) {
            let authored = view.hub.authored(kept.policy);
            let Some(policy) = self.numbers.find(&authored.locator, None) else {
                continue;
            };
            for (name, leaf) in authored.layers.iter().flat_map(|layer| layer.content.iter()) {
                let is_known = lost
                    .iter()
                    .any(|(known, _, whose, ..)| *whose == policy && **known == **name);
                let holds = set
                    .iter()
                    .any(|(known, _, whose, ..)| *whose == policy && **known == **name);
                if !is_known && !holds {
                    let by = BTreeSet::from([kept.winner]);
                    let row = self.lost((name, Some(leaf), authored.object), policy, by, Some(kept.rule));
                    lost.push(row);
                }
            }
        }
        let open = profile.lets_everybody_in(&effective.content);
        let row = OutcomeRow {
            kind: of_page,
            set,
            lost,
            open,
        };
        let core = serde_json::to_string(&(of_page, &row.set)).unwrap_or_default();
        let text = serde_json::to_string(&row).unwrap_or_default();
        let position = self.rows.position(text, || row);
        if position == self.core_of.len() {
            let core = self.cores.position(core, || position);
            let first = self.cores.list.get(core).copied().unwrap_or(position);
            self.core_of.push(first);
        }
        known.insert(key, position);
        position
    }

    fn lost(
        &mut self,
        (name, leaf, object): (&Arc<str>, Option<&Leaf>, &Object),
        policy: usize,
        by: BTreeSet<usize>,
        rule: Option<Rule>,
    ) -> LostRow {
        let value = self.tables.value_or_none(leaf.map(|leaf| &*leaf.value));
        let (file, line) = match leaf {
            Some(leaf) => self.place(object, &leaf.source_pointer()),
            None => (-1, 0),
        };
        let by = by.into_iter().collect();
        (
            name.to_string(),
            value,
            policy,
            by,
            rule.map_or("", Rule::name),
            file,
            line,
        )
    }

    fn place(&mut self, object: &Object, pointer: &str) -> (Position, usize) {
        match self.tables.field(object, pointer) {
            Some((file, line)) => (signed(file), line),
            None => (-1, 0),
        }
    }

    /// The position of a policy as written.
    fn number(&self, seen: Seen<'_>, author: AuthoredId, cluster: Option<&str>) -> Option<usize> {
        let authored = seen.attachments.authored(author);
        let local = seen.attachments.policy(author.policy).local;
        self.numbers.find(&authored.locator, cluster.filter(|_| local))
    }
}

/// No place at all: what a place does not name, it takes from here.
const NOWHERE: Spot = Spot {
    gateway: usize::MAX,
    listener: -1,
    route: -1,
    rule: -1,
    backend: -1,
};

/// Where a node of the hub is on the page; `None` for what is above Gateways or below rules.
fn spot_of(view: &PolicyView<'_>, of_hub: &Map, hierarchy: &mut Hierarchy<'_>, node: Node) -> Option<Spot> {
    let topology = &view.hub.topology;
    Some(match node {
        Node::Gateway(gateway) => Spot {
            gateway: *of_hub.starts.get(&crate::topology::Start::Gateway(gateway))?,
            ..NOWHERE
        },
        Node::Listener(gateway, listener) => Spot {
            gateway: *of_hub.starts.get(&crate::topology::Start::Gateway(gateway))?,
            listener: *of_hub.listeners.get(&listener)?,
            ..NOWHERE
        },
        Node::Route(route) => Spot {
            route: *of_hub.routes.get(&route)?,
            ..NOWHERE
        },
        Node::Rule(route, rule) => {
            let rules = &topology.routes.get(route).rules;
            Spot {
                route: *of_hub.routes.get(&route)?,
                rule: super::hierarchy::narrow(rules.iter().position(|known| *known == rule)?),
                ..NOWHERE
            }
        }
        Node::Backend(backend) => Spot {
            backend: super::hierarchy::narrow(hierarchy.backend(topology, backend)),
            ..NOWHERE
        },
        _ => return None,
    })
}

/// What is kept away from the things on the way to a place.
fn on_the_way(kept: &HashMap<(usize, Spot), Vec<usize>>, kind: usize, spot: Spot) -> Vec<usize> {
    if kept.is_empty() {
        return Vec::new();
    }
    let Spot {
        gateway,
        listener,
        route,
        rule,
        backend,
    } = spot;
    let way = [
        Spot { gateway, ..NOWHERE },
        Spot {
            gateway,
            listener,
            ..NOWHERE
        },
        Spot { route, ..NOWHERE },
        Spot {
            route,
            rule,
            ..NOWHERE
        },
        Spot { backend, ..NOWHERE },
    ];
    let mut found: Vec<usize> = way
        .iter()
        .filter(|part| **part != NOWHERE)
        .filter_map(|part| kept.get(&(kind, *part)))
        .flatten()
        .copied()
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
