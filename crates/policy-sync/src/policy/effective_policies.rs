//! All effective policies, and what follows from them: which policies affect a target
//! (docs/systems/gep-713.md#discoverability), and how many things a policy affects.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::Work;

use super::attachment::Attachments;
use super::effective::PathEffective;
use super::model::{AuthoredId, KindId, PolicyId};
use super::paths::{all_paths_from, paths_from};
use super::profile::StatusShape;
use crate::hub::Table;
use crate::parallel;
use crate::topology::{GatewayId, Level, Node, Path, Start};

/// All effective policies, by where their paths begin and by kind.
#[derive(Debug, Default)]
pub struct EffectivePolicies {
    /// There is nothing for a start that was not requested.
    by_start: BTreeMap<Start, Table<KindId, Vec<PathEffective>>>,
}

impl EffectivePolicies {
    /// Computes them for every Gateway of any class and every Service of a mesh, in parallel.
    pub fn new(attachments: &Attachments<'_>, work: &Work) -> Self {
        Self::for_starts(attachments, work, |_| true)
    }

    /// Computes them for the starts that `wanted` chooses.
    pub fn for_starts(attachments: &Attachments<'_>, work: &Work, wanted: impl Fn(Start) -> bool) -> Self {
        Self::on_paths(attachments, work, false, wanted)
    }

    /// The same on every path in full detail: through each listener, to each rule or port, whether or not a policy names one.
    pub(crate) fn refined(
        attachments: &Attachments<'_>,
        work: &Work,
        wanted: impl Fn(Start) -> bool,
    ) -> Self {
        Self::on_paths(attachments, work, true, wanted)
    }

    fn on_paths(
        attachments: &Attachments<'_>,
        work: &Work,
        is_refined: bool,
        wanted: impl Fn(Start) -> bool,
    ) -> Self {
        let starts = attachments.topology.starts();
        let starts: Vec<Start> = starts.filter(|start| wanted(*start)).collect();
        let by_start = parallel::map(&starts, |start| {
            let kinds = attachments.kinds.ids();
            let paths = kinds.map(|kind| {
                let [paths, _] = paths_from(attachments, kind, (*start, is_refined), work);
                paths
            });
            (*start, Table::from_rows(paths.collect()))
        });
        Self {
            by_start: by_start.into_iter().collect(),
        }
    }

    /// Forgets every path, as not all were found.
    pub fn clear(&mut self) {
        for paths in self.by_start.values_mut().flat_map(Table::rows_mut) {
            *paths = Vec::new();
        }
    }

    /// Whether the paths from a start were asked for.
    pub fn has(&self, start: Start) -> bool {
        self.by_start.contains_key(&start)
    }

    /// The paths of one kind below one Gateway.
    pub fn on(&self, kind: KindId, gateway: GatewayId) -> &[PathEffective] {
        self.from(kind, Start::Gateway(gateway))
    }

    /// The paths of one kind from one start.
    pub(crate) fn from(&self, kind: KindId, start: Start) -> &[PathEffective] {
        match self.by_start.get(&start) {
            Some(kinds) => kinds.get(kind),
            None => &[],
        }
    }

    /// Every path with its kind: by kind, then Gateways, then Services of a mesh, then the order of the topology.
    pub fn iter(&self) -> impl Iterator<Item = (KindId, &PathEffective)> {
        let kinds = self.by_start.values().next().into_iter();
        kinds
            .flat_map(Table::ids)
            .flat_map(|kind| self.of_kind(kind).map(move |path| (kind, path)))
    }

    /// The same of one kind.
    pub fn of_kind(&self, kind: KindId) -> impl Iterator<Item = &PathEffective> {
        self.by_start.values().flat_map(move |kinds| kinds.get(kind))
    }

    /// The paths that lead through a node or end there, with their kinds: what an explanation of an object starts from.
    pub fn through(&self, attachments: &Attachments<'_>, node: Node) -> Vec<(KindId, &PathEffective)> {
        let topology = &attachments.topology;
        let starts = topology.starts_of(node);
        let on_path = |path: &Path| match node {
            // The starts were chosen by the node already.
            Node::Mesh(_) | Node::Class(_) | Node::Gateway(_) => true,
            Node::Namespace(namespace) => {
                let nodes = topology.nodes(path).into_iter();
                let mut routes = nodes.filter_map(|node| match node {
                    Node::Route(route) => Some(topology.routes.get(route).namespace),
                    _ => None,
                });
                let home = match path.start {
                    Start::Gateway(gateway) => Some(topology.gateways.get(gateway).namespace),
                    Start::Service(service) => topology.namespace_of(service),
                };
                home == Some(namespace) || routes.any(|of_route| of_route == namespace)
            }
            Node::ListenerSet(set) => path
                .listener
                .is_some_and(|listener| topology.listeners.get(listener).set == Some(set)),
            other => topology.nodes(path).contains(&other),
        };
        let mut found = Vec::new();
        for kind in attachments.kinds.ids() {
            for start in &starts {
                let paths = self.from(kind, *start).iter().filter(|path| on_path(&path.path));
                found.extend(paths.map(|path| (kind, path)));
            }
        }
        found
    }

    /// How many paths there are.
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }
}

/// The paths of one place in full detail.
///
/// Which paths a kind has elsewhere depends on its policies: with one on a listener, a route has a path for each of its
/// listeners. Here every path is divided as far as traffic can be told apart, and what would apply to anything that is not
/// there yet (another listener, any route, another rule) is kept as well.
#[derive(Debug, Default)]
pub struct Refinement {
    /// What applies on each path of a kind, and what would apply to anything that might come below the end of a path.
    pub by_kind: Vec<(KindId, [Vec<PathEffective>; 2])>,
    /// Every path, policies or none.
    pub all: Vec<Path>,
}

impl Refinement {
    /// The paths from the starts that `wanted` chooses, in parallel.
    pub fn new(attachments: &Attachments<'_>, work: &Work, wanted: impl Fn(Start) -> bool) -> Self {
        let starts = attachments.topology.starts();
        let starts: Vec<Start> = starts.filter(|start| wanted(*start)).collect();
        let parts = parallel::map(&starts, |start| {
            let kinds = attachments.kinds.ids();
            let paths = kinds.map(|kind| (kind, paths_from(attachments, kind, (*start, true), work)));
            Self {
                by_kind: paths.collect(),
                all: all_paths_from(attachments, *start, work),
            }
        });
        let mut refinement = Self::default();
        for part in parts {
            refinement.by_kind.extend(part.by_kind);
            refinement.all.extend(part.all);
        }
        refinement
    }
}

/// The work for a policy, or setting, on a path: a thousand paths below a Gateway with a thousand policies have a million.
const STEPS_ON_THE_WAY: u64 = 6;

/// The policies that affect each node, by kind.
///
/// Kuadrant lists every accepted policy at the target or above it; for other kinds those that are wholly
/// overridden there are left out (docs/systems/gep-713.md#affected-conditions).
///
/// `None`: with all paths there are more policies on the way than anybody looks at.
pub(crate) fn affecting(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
) -> Option<BTreeMap<(Node, KindId), BTreeSet<AuthoredId>>> {
    let work = Work::default();
    let mut by_node: BTreeMap<(Node, KindId), BTreeSet<AuthoredId>> = BTreeMap::new();
    for (kind, path) in effective.iter() {
        let kind_of = attachments.kinds.get(kind);
        let every = kind_of.profile.status == StatusShape::Kuadrant;
        let most = path.effective.chain.len().max(path.effective.content.len());
        if !work.pay(most, STEPS_ON_THE_WAY) {
            return None;
        }
        let sources = path.effective.sources(attachments);
        let topology = &attachments.topology;
        let gateway = path.path.gateway();
        let class = gateway.map(|gateway| Node::Class(topology.gateways.get(gateway).class));
        let class = class.map(|class| (Level::GatewayClass, class));
        for (level, node) in class.into_iter().chain(topology.levels(&path.path)) {
            // A policy affects its own target and what is below it (docs/systems/gep-713.md#affected-conditions).
            let above = path.effective.chain.iter().filter(|(above, _)| *above <= level);
            let authors = above.flat_map(|(_, id)| attachments.policy(*id).authors(*id));
            let authors = authors.map(|(author, _)| author);
            let here: Vec<_> = authors
                .filter(|author| every || sources.contains(author))
                .collect();
            if !here.is_empty() {
                by_node.entry((node, kind)).or_default().extend(here);
            }
        }
    }
    for (kind, kind_of) in attachments.kinds.iter() {
        let every = kind_of.profile.status == StatusShape::Kuadrant;
        for (node, placed) in &kind_of.nodes {
            let gateways = attachments.topology.gateways_of(*node);
            // An object that no Gateway leads to, such as a Secret or a Service of a mesh, is affected by the policies
            // that target it.
            let mut starts = gateways.iter().map(|gateway| Start::Gateway(*gateway));
            let is_read = every && starts.any(|start| effective.has(start));
            if !gateways.is_empty() && !is_read {
                continue;
            }
            let accepted = placed.accepted.iter();
            let authors = accepted.flat_map(|entry| attachments.policy(entry.policy).authors(entry.policy));
            let accepted: Vec<AuthoredId> = authors.map(|(author, _)| author).collect();
            let mut nodes = vec![*node];
            // Without a path, its listeners have no other way to be affected.
            if let Node::Gateway(_) = node {
                let listeners = attachments.topology.listeners_at(*node).into_iter();
                nodes.extend(listeners.map(|(gateway, listener)| Node::Listener(gateway, listener)));
            }
            for node in nodes {
                by_node.entry((node, kind)).or_default().extend(&accepted);
            }
        }
    }
    by_node.retain(|_, policies| !policies.is_empty());
    Some(by_node)
}

/// The reach of a policy: the locators of every node of every path that it is on, at its own level or below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Gateways.
    pub gateways: BTreeSet<String>,
    /// Listeners.
    pub listeners: BTreeSet<String>,
    /// Routes.
    pub routes: BTreeSet<String>,
    /// Backends.
    pub backends: BTreeSet<String>,
}

impl Reach {
    /// Adds the reach of a policy on one cluster, or on the hub as one.
    pub fn add(&mut self, attachments: &Attachments<'_>, effective: &EffectivePolicies, policy: PolicyId) {
        let kind = attachments.policy(policy).kind;
        let paths = effective.iter().filter(|(of_kind, _)| *of_kind == kind);
        for (_, path) in paths {
            let mut chain = path.effective.chain.iter();
            // A policy that its controller refuses on a path affects nothing there.
            if chain.any(|(_, on_it)| *on_it == policy) && !path.effective.refused.contains(&policy) {
                self.add_path(attachments, &path.path);
            }
        }
    }

    fn add_path(&mut self, attachments: &Attachments<'_>, path: &Path) {
        let topology = &attachments.topology;
        let locator = |node| topology.locator(node);
        if let Start::Service(service) = path.start {
            self.backends.insert(locator(Node::Backend(service)));
        }
        let nodes = topology.nodes(path).into_iter();
        let routes = nodes.filter(|node| matches!(node, Node::Route(_)));
        self.routes.extend(routes.map(locator));
        self.backends
            .extend(path.backend.map(|backend| locator(Node::Backend(backend))));
        let Start::Gateway(gateway) = path.start else {
            return;
        };
        self.gateways.insert(locator(Node::Gateway(gateway)));
        let attached = topology.gateways.get(gateway).attached.iter();
        let hanging = topology.hanging(path);
        let taken = attached.filter(|(_, attached)| path.listener.is_none() && hanging == Some(*attached));
        let listeners = taken.map(|(listener, _)| *listener).chain(path.listener);
        self.listeners
            .extend(listeners.map(|listener| locator(Node::Listener(gateway, listener))));
    }
}
