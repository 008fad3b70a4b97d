//! Names of the things in one topology, each made once: ten thousand paths lead through one Gateway.
//!
//! Owns: [`NodeNames`]. Flows in: a topology, nodes, paths. Flows out: locators and labels, shared. Must not know: what
//! holds on a path.

use std::collections::HashMap;
use std::sync::Arc;

use crate::topology::{GatewayId, Node, Path, Topology};

/// The names that were asked for so far.
pub(super) struct NodeNames<'t, 'a> {
    pub(super) topology: &'t Topology<'a>,
    locators: HashMap<Node, Arc<str>>,
    labels: HashMap<Node, Arc<str>>,
    /// Of the class of a Gateway.
    classes: HashMap<GatewayId, Arc<str>>,
}

impl<'t, 'a> NodeNames<'t, 'a> {
    pub(super) fn new(topology: &'t Topology<'a>) -> Self {
        Self {
            topology,
            locators: HashMap::new(),
            labels: HashMap::new(),
            classes: HashMap::new(),
        }
    }

    /// The locator of a node.
    pub(super) fn locator(&mut self, node: Node) -> Arc<str> {
        if let Some(known) = self.locators.get(&node) {
            return Arc::clone(known);
        }
        let owner = match node {
            Node::Rule(route, _) => Some(Node::Route(route)),
            Node::Port(backend, _) => Some(Node::Backend(backend)),
            _ => None,
        };
        // Most nodes are rules: the name of their route is made once.
        let locator: Arc<str> = match (owner, self.topology.section(node)) {
            (Some(owner), Some(section)) => format!("{}#{section}", self.locator(owner)).into(),
            _ => self.topology.locator(node).into(),
        };
        self.locators.insert(node, Arc::clone(&locator));
        locator
    }

    /// As [`Topology::path_locators`].
    pub(super) fn path_locators(&mut self, path: &Path) -> Vec<Arc<str>> {
        let class = path.gateway().map(|gateway| {
            let locator = self.classes.entry(gateway);
            Arc::clone(locator.or_insert_with(|| self.topology.class_locator(gateway).into()))
        });
        let nodes = self.topology.nodes(path).into_iter();
        class
            .into_iter()
            .chain(nodes.map(|node| self.locator(node)))
            .collect()
    }

    /// The parts of [`Topology::path_label`].
    pub(super) fn path_label(&mut self, path: &Path) -> Vec<Arc<str>> {
        let nodes = self.topology.nodes(path).into_iter();
        nodes
            .map(|node| {
                let label = self.labels.entry(node);
                Arc::clone(label.or_insert_with(|| self.topology.step_label(node).into()))
            })
            .collect()
    }
}
