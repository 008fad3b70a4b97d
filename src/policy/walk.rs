//! Walking the paths of one Gateway for one policy kind.
//!
//! Owns: which paths there are (down to where the profile says, sections only where they matter), and folding each
//! distinct chain of policies once.
//! Flows in: attachments. Flows out: [`PathEffective`]s.
//! Must not know: other Gateways, statuses.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::attachment::{Attachments, PolicyId};
use super::effective::{Effective, Loss, PathEffective};
use super::merge::{self, Entry, starting_with};
use super::node::{Node, Path, index, number};
use super::profile::{Class, Level, MergeUnit, Paths, Profile, SameTarget};
use super::settings::Content;
use super::topology::{GatewayNode, RouteNode, Topology};

/// The accepted policies on nodes, with those nodes exchanged that a policy would leave if it were deleted.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'l, 'a> {
    attachments: &'l Attachments<'a>,
    kind: usize,
    exchanged: Option<&'l BTreeMap<Node, Vec<Entry>>>,
}

impl<'l> Lists<'l, '_> {
    fn on(&self, node: Node) -> &'l [Entry] {
        match self.exchanged.and_then(|exchanged| exchanged.get(&node)) {
            Some(entries) => entries,
            None => self.attachments.on(self.kind, node),
        }
    }
}

/// The paths of one kind below one Gateway, with some nodes' policies exchanged.
#[must_use]
pub fn on_gateway(
    attachments: &Attachments<'_>,
    kind: usize,
    gateway: u32,
    exchanged: Option<&BTreeMap<Node, Vec<Entry>>>,
) -> Vec<PathEffective> {
    let (Some(kind_of), Some(node)) = (attachments.kinds.get(kind), attachments.topology.gateway(gateway))
    else {
        return Vec::new();
    };
    let lists = Lists {
        attachments,
        kind,
        exchanged,
    };
    let mut walk = Walk {
        profile: &kind_of.profile,
        topology: &attachments.topology,
        lists,
        number: gateway,
        gateway: node,
        known: HashMap::new(),
        found: Vec::new(),
    };
    if !kind_of.nodes.is_empty() {
        walk.gateway();
    }
    walk.found
}

/// A place on the way: its level, its node, who is there.
type Stop<'l> = (Level, Node, &'l [Entry]);

struct Walk<'l, 'a> {
    profile: &'l Profile,
    topology: &'l Topology<'a>,
    lists: Lists<'l, 'a>,
    number: u32,
    gateway: &'l GatewayNode<'a>,
    known: HashMap<Vec<(Level, Node)>, Arc<Effective>>,
    found: Vec<PathEffective>,
}

impl<'l> Walk<'l, '_> {
    fn ends(&self, level: Level) -> bool {
        self.profile.ends.contains(&level)
    }

    fn every_level(&self) -> bool {
        self.profile.paths == Paths::EveryLevel
    }

    fn stop(&self, level: Level, node: Node) -> Stop<'l> {
        (level, node, self.lists.on(node))
    }

    fn gateway(&mut self) {
        let head = [
            self.stop(Level::GatewayClass, Node::Class(self.gateway.class)),
            self.stop(Level::GatewayNamespace, Node::Namespace(self.gateway.namespace)),
            self.stop(Level::Gateway, Node::Gateway(self.number)),
        ];
        let path = Path::gateway(self.number);
        if self.ends(Level::Gateway) {
            self.emit(path, &head);
        }
        let listeners: Vec<[Stop<'l>; 2]> = self
            .gateway
            .listeners
            .iter()
            .enumerate()
            .map(|(position, listener)| {
                let set = listener.set.map_or(
                    (Level::Listener, Node::Gateway(self.number), Default::default()),
                    |set| self.stop(Level::Listener, Node::ListenerSet(set)),
                );
                [
                    set,
                    self.stop(Level::Listener, Node::Listener(self.number, number(position))),
                ]
            })
            .collect();
        let named = |stops: &[Stop<'l>; 2]| stops.iter().any(|(_, _, entries)| !entries.is_empty());
        let also_below_gateway = self.ends(Level::Gateway);
        for (position, stops) in listeners.iter().enumerate() {
            if self.ends(Level::Listener) || (also_below_gateway && named(stops)) {
                let path = Path {
                    listener: Some(number(position)),
                    ..path
                };
                self.emit(path, &join(&head, stops));
            }
        }
        if ![Level::Route, Level::Rule, Level::Backend, Level::Port]
            .iter()
            .any(|level| self.ends(*level))
        {
            return;
        }
        let inherited = self.profile.class == Class::Inherited;
        let split = self.every_level() || (inherited && listeners.iter().any(named));
        for (listener, route) in self.routes(split) {
            let Some(node) = self.topology.route(route) else {
                continue;
            };
            if !self.profile.concerns_route(&node.object.kind) {
                continue;
            }
            let stops = listener.and_then(|listener| listeners.get(index(listener)));
            let above = match stops {
                Some(stops) => join(&head, stops),
                None => head.to_vec(),
            };
            let path = Path {
                listener,
                route: Some(route),
                ..path
            };
            self.route(path, node, route, &above);
        }
    }

    /// The routes of the Gateway: per listener, or each once.
    fn routes(&self, split: bool) -> Vec<(Option<u32>, u32)> {
        let attached = self.gateway.attached.iter();
        if split {
            attached
                .map(|(listener, route)| (Some(*listener), *route))
                .collect()
        } else {
            let routes: BTreeSet<u32> = attached.map(|(_, route)| *route).collect();
            routes.into_iter().map(|route| (None, route)).collect()
        }
    }

    fn route(&mut self, path: Path, node: &'l RouteNode<'_>, route: u32, above: &[Stop<'l>]) {
        let own = [
            self.stop(Level::RouteNamespace, Node::Namespace(node.namespace)),
            self.stop(Level::Route, Node::Route(route)),
        ];
        let above = join(above, &own);
        if self.ends(Level::Route) {
            self.emit(path, &above);
        }
        let rules: Vec<Stop<'l>> = (0..number(node.rules.len()))
            .map(|rule| self.stop(Level::Rule, Node::Rule(route, rule)))
            .collect();
        let named = |(_, _, entries): &Stop<'l>| !entries.is_empty();
        if self.ends(Level::Rule) {
            for (position, stop) in rules.iter().enumerate() {
                let matters =
                    self.profile.class == Class::Inherited || !self.ends(Level::Route) || named(stop);
                if matters {
                    let path = Path {
                        rule: Some(number(position)),
                        ..path
                    };
                    self.emit(path, &join(&above, &[*stop]));
                }
            }
        }
        if !self.ends(Level::Backend) && !self.ends(Level::Port) {
            return;
        }
        let split = self.every_level() || (self.profile.class == Class::Inherited && rules.iter().any(named));
        if split {
            for (position, (rule, stop)) in node.rules.iter().zip(&rules).enumerate() {
                let path = Path {
                    rule: Some(number(position)),
                    ..path
                };
                let above = join(&above, &[*stop]);
                for backend in &rule.backends {
                    self.backend(path, *backend, &above);
                }
            }
        } else {
            let mut seen = BTreeSet::new();
            for backend in node.rules.iter().flat_map(|rule| &rule.backends) {
                if seen.insert(*backend) {
                    self.backend(path, *backend, &above);
                }
            }
        }
    }

    fn backend(&mut self, path: Path, backend: u32, above: &[Stop<'l>]) {
        let path = Path {
            backend: Some(backend),
            ..path
        };
        let above = join(above, &[self.stop(Level::Backend, Node::Backend(backend))]);
        let count = self
            .topology
            .backends
            .get(index(backend))
            .map_or(0, |backend| number(backend.ports.len()));
        let whole = self.ends(Level::Backend) || count == 0;
        if whole {
            self.emit(path, &above);
        }
        for port in 0..count {
            let stop = self.stop(Level::Port, Node::Port(backend, port));
            if self.ends(Level::Port) || !stop.2.is_empty() {
                let path = Path {
                    port: Some(port),
                    ..path
                };
                self.emit(path, &join(&above, &[stop]));
            }
        }
    }

    /// Adds a path if any policy is on it. A Direct policy counts only where the path ends at its own target or
    /// a section of it.
    fn emit(&mut self, path: Path, stops: &[Stop<'l>]) {
        let end = path.end();
        let direct = self.profile.class == Class::Direct;
        let counts = |(level, _, entries): &&Stop<'l>| {
            !entries.is_empty() && (!direct || owner_of(*level) == owner_of(end))
        };
        let occupied: Vec<&Stop<'l>> = stops.iter().filter(counts).collect();
        if occupied.is_empty() {
            return;
        }
        let key: Vec<(Level, Node)> = occupied.iter().map(|(level, node, _)| (*level, *node)).collect();
        let effective = match self.known.get(&key) {
            Some(effective) => Arc::clone(effective),
            None => {
                let effective = Arc::new(combine(self.profile, self.lists.attachments, &occupied));
                self.known.insert(key, Arc::clone(&effective));
                effective
            }
        };
        self.found.push(PathEffective { path, effective });
    }
}

/// The whole object that a level belongs to, as its most specific whole level.
const fn owner_of(level: Level) -> Level {
    match level {
        Level::GatewayClass | Level::GatewayNamespace | Level::Gateway | Level::Listener => Level::Gateway,
        Level::RouteNamespace => Level::RouteNamespace,
        Level::Route | Level::Rule => Level::Route,
        Level::Backend | Level::Port => Level::Backend,
    }
}

fn join<'l>(above: &[Stop<'l>], more: &[Stop<'l>]) -> Vec<Stop<'l>> {
    above
        .iter()
        .chain(more)
        .filter(|(_, _, entries)| !entries.is_empty())
        .copied()
        .collect()
}

fn combine(profile: &Profile, attachments: &Attachments<'_>, stops: &[&Stop<'_>]) -> Effective {
    let levels: Vec<&[Entry]> = stops.iter().map(|(_, _, entries)| *entries).collect();
    let content = merge::fold(profile, &levels, &|id| attachments.locator(id));
    let chain: Vec<(Level, PolicyId)> = stops
        .iter()
        .flat_map(|(level, _, entries)| entries.iter().map(move |entry| (*level, entry.policy)))
        .collect();
    let mut losses = Vec::new();
    if chain.len() > 1 && profile.same_target != SameTarget::AddUp {
        let mut seen = BTreeSet::new();
        for entry in levels.iter().flat_map(|level| level.iter()) {
            if seen.insert(entry.policy) {
                note_losses(profile, entry, &content, &mut losses);
            }
        }
    }
    Effective {
        content,
        chain,
        losses,
    }
}

/// What of a policy does not hold, and whose took its place: what stands under the same name now, else all that
/// holds there instead (a whole was dropped; `fixtures/policy/40-*`).
fn note_losses(profile: &Profile, entry: &Entry, content: &Content, losses: &mut Vec<Loss>) {
    let by_name = matches!(profile.unit, MergeUnit::Rules(_));
    let keys: BTreeSet<&Arc<str>> = entry
        .layers
        .iter()
        .flat_map(|layer| layer.content.keys())
        .collect();
    for key in keys {
        let mut by: BTreeSet<PolicyId> = BTreeSet::new();
        match content.get(key) {
            Some(leaf) if leaf.policy == entry.policy => continue,
            Some(leaf) => {
                by.insert(leaf.policy);
            }
            None if by_name => {}
            None => {
                let below = format!("{key}/");
                by.extend(starting_with(content, &below).map(|(_, leaf)| leaf.policy));
                let empty = entry.layers.iter().filter_map(|layer| layer.content.get(key));
                if !by.is_empty() && empty.clone().all(|leaf| leaf.value.is_object()) {
                    continue;
                }
                for (position, _) in key.match_indices('/').skip(1) {
                    let above = key.get(..position).and_then(|above| content.get(above));
                    by.extend(above.map(|leaf| leaf.policy));
                }
            }
        }
        by.remove(&entry.policy);
        if by.is_empty() {
            let others = content.values().map(|leaf| leaf.policy);
            by.extend(others.filter(|other| *other != entry.policy));
        }
        losses.push(Loss {
            policy: entry.policy,
            key: Arc::clone(key),
            by: by.into_iter().collect(),
        });
    }
}
