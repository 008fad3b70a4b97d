//! A picture of a part: what is attached to a Gateway, a route, a policy, what lives in a namespace, what goes to a
//! cluster.
//!
//! Owns: which nodes belong to the requested part. Flows in: a [`Graph`] of everything. Flows out: a smaller one.
//! Must not know: how it was built, or how it is written.

use std::collections::BTreeSet;

use apimachinery::named_parts;

use super::{Edge, Graph, Layer, Link, Vertex};

/// The part that a picture shows, by the name of an object, ignoring case in the kind. A namespace
/// represents everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    kind: String,
    name: String,
}

impl Only {
    /// Reads the name of an object, or of a cluster.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, namespace, name) = named_parts(text)?;
        let namespace = namespace.map(|namespace| format!("{namespace}/"));
        Some(Self {
            // A group in the text does not distinguish nodes.
            kind: kind.split('.').next().unwrap_or(kind).to_lowercase(),
            name: namespace.unwrap_or_default() + name,
        })
    }

    fn means(&self, vertex: &Vertex) -> bool {
        let is_named = |name: &String| *name == self.name || name.rsplit('/').next() == Some(&self.name);
        if self.kind == "namespace" {
            let mut names = vertex.names.iter();
            return names.any(|name| {
                name.split_once('/')
                    .is_some_and(|(namespace, _)| namespace == self.name)
            });
        }
        vertex.what.to_lowercase() == self.kind && vertex.names.iter().any(is_named)
    }
}

impl Graph {
    /// Keeps what belongs to any of these: it, what it is attached to, what is attached to it, and the policies there.
    /// Whether there is any such thing.
    pub fn narrow(&mut self, wanted: &[Only]) -> bool {
        let meant = self.vertices.iter().enumerate();
        let meant = meant.filter(|(_, vertex)| wanted.iter().any(|only| only.means(vertex)));
        let mut seeds: BTreeSet<usize> = meant.map(|(position, _)| position).collect();
        if seeds.is_empty() {
            return false;
        }
        // A policy stands for its targets, a cluster for the objects that go there.
        let related = self.edges.iter().filter_map(|edge| match edge.link {
            Link::Targets if seeds.contains(&edge.from) => Some(edge.to),
            Link::Leads if seeds.contains(&edge.to) && self.part(edge.to) == Some(Layer::Cluster) => {
                Some(edge.from)
            }
            _ => None,
        });
        let related: Vec<usize> = related.collect();
        seeds.extend(related);
        let mut kept = seeds.clone();
        self.spread(&mut kept, |edge| (edge.from, edge.to));
        let mut above = seeds;
        self.spread(&mut above, |edge| (edge.to, edge.from));
        kept.extend(above);
        let policies = self.edges.iter();
        let policies = policies.filter(|edge| edge.link == Link::Targets && kept.contains(&edge.to));
        let policies: Vec<usize> = policies.map(|edge| edge.from).collect();
        kept.extend(policies);
        self.keep(&kept);
        true
    }

    /// Adds the far end of every edge whose near end is kept, until there is none.
    fn spread(&self, kept: &mut BTreeSet<usize>, ends: impl Fn(&Edge) -> (usize, usize)) {
        let leads = self.edges.iter().filter(|edge| edge.link == Link::Leads);
        let leads: Vec<(usize, usize)> = leads.map(ends).collect();
        loop {
            let before = kept.len();
            for (near, far) in &leads {
                if kept.contains(near) {
                    kept.insert(*far);
                }
            }
            if kept.len() == before {
                return;
            }
        }
    }

    fn keep(&mut self, kept: &BTreeSet<usize>) {
        let position = |old: usize| kept.contains(&old).then(|| kept.range(..old).count());
        let edges = self.edges.drain(..).filter_map(|edge| {
            Some(Edge {
                from: position(edge.from)?,
                to: position(edge.to)?,
                ..edge
            })
        });
        let edges: Vec<Edge> = edges.collect();
        let vertices = std::mem::take(&mut self.vertices).into_iter().enumerate();
        self.vertices = vertices
            .filter(|(old, _)| kept.contains(old))
            .map(|(_, vertex)| vertex)
            .collect();
        self.edges = edges;
    }
}
