//! Makes a graph small enough to read: similar nodes are grouped instead of drawn.
//!
//! Owns: the order in which nodes are collapsed, and which of them are alike.
//! Flows in: a [`Graph`] of everything. Flows out: a smaller one that stands for the same things.
//! Must not know: how graphs are written.

use std::collections::BTreeMap;

use super::{Edge, Graph, Layer, Link, State, Vertex};

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

/// What a node has to have in common with one of its part: its kind, its state, and that in words.
type Alike = (String, State, String);

/// A node, and the section of it that a policy targets.
type Neighbour = (usize, Option<String>);

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
            let gateways = self.gateways();
            self.fold(*layer, gateways, |_| (String::new(), State::Plain, String::new()));
        }
    }

    fn fold_policies(&mut self) {
        let targets = self.neighbours(|edge| {
            (edge.link == Link::Targets).then(|| (edge.from, (edge.to, edge.label.clone())))
        });
        self.fold(Layer::Policy, targets, alike);
    }

    /// One node for the Gateways of a class, or for those among them that go to the same clusters; then everything
    /// that has become alike by that.
    fn fold_gateways(&mut self, by_clusters: bool) {
        let part_of: Vec<Layer> = self.vertices.iter().map(|vertex| vertex.part).collect();
        let is = |position: usize, part: Layer| part_of.get(position) == Some(&part);
        let around = self.neighbours(|edge| {
            if is(edge.to, Layer::Gateway) && is(edge.from, Layer::Class) {
                Some((edge.to, (edge.from, None)))
            } else if by_clusters && is(edge.from, Layer::Gateway) && is(edge.to, Layer::Cluster) {
                Some((edge.from, (edge.to, None)))
            } else {
                None
            }
        });
        self.fold(Layer::Gateway, around, alike);
        self.fold_by_gateways(&[
            Layer::ListenerSet,
            Layer::Listener,
            Layer::Route,
            Layer::Backend,
            Layer::Cluster,
        ]);
        let below = self.neighbours(|edge| is_leading(edge.link).then_some((edge.from, (edge.to, None))));
        self.fold(Layer::Namespace, below, alike);
        self.fold_policies();
    }

    /// For each node what the edges that count add to it, sorted, each once.
    fn neighbours(&self, mut of: impl FnMut(&Edge) -> Option<(usize, Neighbour)>) -> Vec<Vec<Neighbour>> {
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
    fn gateways(&self) -> Vec<Vec<Neighbour>> {
        let mut above: Vec<Vec<Neighbour>> = vec![Vec::new(); self.vertices.len()];
        for (position, vertex) in self.vertices.iter().enumerate() {
            if let (Layer::Gateway, Some(list)) = (vertex.part, above.get_mut(position)) {
                list.push((position, None));
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

    /// One node for those of a part that have the same things around them and are `alike`. It is where the first of them
    /// stood.
    fn fold(&mut self, part: Layer, around: Vec<Vec<Neighbour>>, alike: impl Fn(&Vertex) -> Alike) {
        let mut first_of: BTreeMap<(Alike, Vec<Neighbour>), usize> = BTreeMap::new();
        let mut moved: Vec<usize> = Vec::with_capacity(self.vertices.len());
        let mut kept: Vec<Vertex> = Vec::with_capacity(self.vertices.len());
        for (vertex, around) in std::mem::take(&mut self.vertices).into_iter().zip(around) {
            let key = (vertex.part == part).then(|| (alike(&vertex), around));
            let known = key.as_ref().and_then(|key| first_of.get(key)).copied();
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
                    kept.push(vertex);
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

fn alike(vertex: &Vertex) -> Alike {
    (vertex.what.clone(), vertex.state, vertex.note.clone())
}

fn is_leading(link: Link) -> bool {
    link == Link::Leads
}
