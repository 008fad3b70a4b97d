//! Makes a graph small enough to read: similar nodes are grouped instead of drawn.
//!
//! Owns: the order in which nodes are collapsed, and which of them are alike.
//! Flows in: a [`Graph`] of everything. Flows out: a smaller one that stands for the same things.
//! Must not know: how graphs are written.

use std::collections::BTreeMap;

use super::{Graph, Layer, Link, State};

/// A graph with more nodes is too large to read.
pub(super) const MOST_NODES: usize = 60;

/// A graph with more edges is too large to follow. Mermaid by itself refuses more than 500.
pub(super) const MOST_EDGES: usize = 200;

/// The nodes that are counted instead of drawn, one sort after the other, until the rest is readable.
const STEPS: [fn(&mut Graph); 6] = [
    // Clusters that receive the same Gateways.
    |graph| graph.fold_by_gateways(&[Layer::Cluster]),
    // Routes of one Gateway, and the backends behind them.
    |graph| graph.fold_by_gateways(&[Layer::Route, Layer::Backend]),
    // Its listeners.
    |graph| graph.fold_by_gateways(&[Layer::ListenerSet, Layer::Listener]),
    // Policies of one kind and state on the same targets.
    Graph::fold_policies,
    // Gateways of one class that go to the same clusters.
    |graph| graph.fold_gateways(true),
    // Gateways of one class.
    |graph| graph.fold_gateways(false),
];

/// The key that distinguishes nodes of one part.
type Key = (String, State, String, Vec<(usize, Option<String>)>);

impl Graph {
    /// Counts what is alike until at most 60 nodes and 200 edges are left, or nothing more can be counted.
    /// Whether anything is.
    pub fn collapse(&mut self) -> bool {
        self.collapse_to(MOST_NODES, MOST_EDGES)
    }

    pub(super) fn collapse_to(&mut self, nodes: usize, edges: usize) -> bool {
        for step in STEPS {
            if self.vertices.len() <= nodes && self.edges.len() <= edges {
                break;
            }
            step(self);
        }
        self.nodes() < self.things()
    }

    /// One node for those of a part that are attached to, or receive, the same Gateways.
    fn fold_by_gateways(&mut self, layers: &[Layer]) {
        for layer in layers {
            let mut gateways = self.gateways();
            self.fold(*layer, |_, position| {
                let gateways = gateways.get_mut(position).map(std::mem::take).unwrap_or_default();
                let gateways = gateways.into_iter().map(|gateway| (gateway, None)).collect();
                (String::new(), State::Plain, String::new(), gateways)
            });
        }
    }

    fn fold_policies(&mut self) {
        let mut targets = self.neighbours(|edge| {
            (edge.link == Link::Targets).then(|| (edge.from, (edge.to, edge.label.clone())))
        });
        self.fold(Layer::Policy, |graph, position| {
            let targets = targets.get_mut(position).map(std::mem::take).unwrap_or_default();
            graph.alike(position, targets)
        });
    }

    /// One node for the Gateways of a class, or for those among them that go to the same clusters; then everything
    /// that has become alike by that.
    fn fold_gateways(&mut self, by_clusters: bool) {
        let part_of: Vec<Layer> = self.vertices.iter().map(|vertex| vertex.part).collect();
        let is = |position: usize, part: Layer| part_of.get(position) == Some(&part);
        let mut around = self.neighbours(|edge| {
            if is(edge.to, Layer::Gateway) && is(edge.from, Layer::Class) {
                Some((edge.to, (edge.from, None)))
            } else if by_clusters && is(edge.from, Layer::Gateway) && is(edge.to, Layer::Cluster) {
                Some((edge.from, (edge.to, None)))
            } else {
                None
            }
        });
        self.fold(Layer::Gateway, |graph, position| {
            let around = around.get_mut(position).map(std::mem::take).unwrap_or_default();
            graph.alike(position, around)
        });
        self.fold_by_gateways(&[
            Layer::ListenerSet,
            Layer::Listener,
            Layer::Route,
            Layer::Backend,
            Layer::Cluster,
        ]);
        let mut below =
            self.neighbours(|edge| is_leading(edge.link).then_some((edge.from, (edge.to, None::<String>))));
        self.fold(Layer::Namespace, |graph, position| {
            let below = below.get_mut(position).map(std::mem::take).unwrap_or_default();
            graph.alike(position, below)
        });
        self.fold_policies();
    }

    fn alike(&self, position: usize, around: Vec<(usize, Option<String>)>) -> Key {
        match self.vertices.get(position) {
            Some(vertex) => (vertex.what.clone(), vertex.state, vertex.note.clone(), around),
            None => (String::new(), State::Plain, String::new(), around),
        }
    }

    /// For each node what the edges that count add to it, sorted, each once.
    fn neighbours(
        &self,
        mut of: impl FnMut(&super::Edge) -> Option<(usize, (usize, Option<String>))>,
    ) -> Vec<Vec<(usize, Option<String>)>> {
        let mut found = vec![Vec::new(); self.vertices.len()];
        for (position, neighbour) in self.edges.iter().filter_map(&mut of) {
            if let Some(list) = found.get_mut(position) {
                list.push(neighbour);
            }
        }
        for list in &mut found {
            list.sort_unstable();
            list.dedup();
        }
        found
    }

    /// The Gateways above each node, sorted.
    fn gateways(&self) -> Vec<Vec<usize>> {
        let mut above: Vec<Vec<usize>> = vec![Vec::new(); self.vertices.len()];
        for (position, vertex) in self.vertices.iter().enumerate() {
            if let (Layer::Gateway, Some(list)) = (vertex.part, above.get_mut(position)) {
                list.push(position);
            }
        }
        for part in [Layer::Gateway, Layer::ListenerSet, Layer::Listener, Layer::Route] {
            for edge in &self.edges {
                if !is_leading(edge.link) || self.part(edge.from) != Some(part) {
                    continue;
                }
                let from = above.get(edge.from).cloned().unwrap_or_default();
                if let Some(list) = above.get_mut(edge.to) {
                    list.extend(from);
                }
            }
            for list in &mut above {
                list.sort_unstable();
                list.dedup();
            }
        }
        above
    }

    /// One node for those of a part that have the same key. It is where the first of them stood.
    fn fold(&mut self, part: Layer, mut key: impl FnMut(&Self, usize) -> Key) {
        let mut first_of: BTreeMap<Key, usize> = BTreeMap::new();
        let mut moved: Vec<usize> = Vec::with_capacity(self.vertices.len());
        let mut kept: Vec<super::Vertex> = Vec::with_capacity(self.vertices.len());
        for position in 0..self.vertices.len() {
            let key = (self.part(position) == Some(part)).then(|| key(self, position));
            let known = key.as_ref().and_then(|key| first_of.get(key)).copied();
            let Some(vertex) = self.vertices.get(position) else {
                continue;
            };
            match known.and_then(|known| Some((known, kept.get_mut(known)?))) {
                Some((known, first)) => {
                    first.names.extend_from_slice(&vertex.names);
                    if first.what != vertex.what {
                        // Routes of several kinds.
                        let what = if part == Layer::Route { "route" } else { "object" };
                        what.clone_into(&mut first.what);
                    }
                    moved.push(known);
                }
                None => {
                    if let Some(key) = key {
                        first_of.insert(key, kept.len());
                    }
                    moved.push(kept.len());
                    kept.push(vertex.clone());
                }
            }
        }
        let to = |old: usize| moved.get(old).copied().unwrap_or(usize::MAX);
        for edge in &mut self.edges {
            (edge.from, edge.to) = (to(edge.from), to(edge.to));
            // A rule of one among several routes is no longer that rule.
            if kept.get(edge.to).is_some_and(|vertex| vertex.names.len() > 1) {
                edge.label = None;
            }
        }
        self.vertices = kept;
        self.tidy();
    }
}

fn is_leading(link: Link) -> bool {
    link == Link::Leads
}
