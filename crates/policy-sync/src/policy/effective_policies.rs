//! All effective policies: one result for each kind and path.
//!
//! Owns: computing them, in parallel, and finding those on the way through an object.
//! Flows in: attachments. Flows out: [`EffectivePolicies`].
//! Must not know: how anything is merged, statuses, clusters.

use std::collections::BTreeMap;

use apimachinery::Work;

use super::attachment::Attachments;
use super::effective::PathEffective;
use super::ids::KindId;
use super::paths::paths_from;
use crate::hub::Table;
use crate::parallel;
use crate::topology::{GatewayId, Node, Path, Start};

/// All effective policies, by where their paths begin and by kind.
#[derive(Debug, Default)]
pub struct EffectivePolicies {
    /// There is nothing for a start that was not requested.
    by_start: BTreeMap<Start, Table<KindId, Vec<PathEffective>>>,
    kinds: Vec<KindId>,
}

impl EffectivePolicies {
    /// Computes them for every Gateway of any class and every Service of a mesh, in parallel.
    pub fn new(attachments: &Attachments<'_>, work: &Work) -> Self {
        Self::of(attachments, work, |_| true)
    }

    /// Computes them for the starts that `wanted` chooses.
    pub fn of(attachments: &Attachments<'_>, work: &Work, wanted: impl Fn(Start) -> bool) -> Self {
        let starts = attachments.topology.starts();
        let starts: Vec<Start> = starts.filter(|start| wanted(*start)).collect();
        let by_start = parallel::map(&starts, |start| {
            let kinds = attachments.kinds.ids();
            let paths = kinds.map(|kind| {
                let [paths, _] = paths_from(attachments, kind, (*start, false), work);
                paths
            });
            (*start, Table::of(paths.collect()))
        });
        Self {
            by_start: by_start.into_iter().collect(),
            kinds: attachments.kinds.ids().collect(),
        }
    }

    /// Forgets every path, as not all were found.
    pub fn clear(&mut self) {
        for kinds in self.by_start.values_mut() {
            for paths in kinds.rows_mut() {
                *paths = Vec::new();
            }
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
        self.kinds
            .iter()
            .flat_map(move |kind| self.of_kind(*kind).map(move |path| (*kind, path)))
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
