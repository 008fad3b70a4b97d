//! Names of the nodes on the paths of one side, each made once: ten thousand paths lead through one Gateway, which a
//! thousand classes of clusters may have.
//!
//! Owns: [`NodeNames`], and its numbers for names ([`NameId`]). Flows in: topologies, nodes, paths. Flows out: numbers,
//! and the names that they stand for. Must not know: what holds on a path.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::hub::{RowId as _, Table};
use crate::topology::{GatewayId, Level, Node, Path, Start, Topology};
use apimachinery::row_ids;

row_ids! {
    /// The name of a node. Another side has other numbers.
    pub(super) NameId,
}

/// What tells a name from all others of its side: what the node is on a path, for a rule and a port whose it is, and its
/// locator, or for those two their own name.
type Key = (Level, Option<NameId>, Arc<str>);

/// The names of one side.
#[derive(Debug, Default)]
pub(super) struct NodeNames {
    /// With the part that each is of the label of a path, if that is not its own name.
    names: Table<NameId, (Key, Option<String>)>,
    numbers: HashMap<Key, NameId>,
}

/// The same names, each by the number that it has on this side.
pub(super) type Elsewhere = Table<NameId, Option<NameId>>;

impl NodeNames {
    /// What a node is on a path.
    pub(super) fn level(&self, id: NameId) -> Level {
        let ((level, ..), _) = self.names.get(id);
        *level
    }

    /// The locator of a node.
    pub(super) fn locator(&self, id: NameId) -> Cow<'_, str> {
        match self.names.get(id) {
            ((_, Some(owner), name), _) => format!("{}#{name}", self.locator(*owner)).into(),
            ((_, None, locator), _) => Cow::Borrowed(locator),
        }
    }

    /// The part that a node is of the label of a path.
    pub(super) fn label(&self, id: NameId) -> &str {
        let ((.., name), label) = self.names.get(id);
        label.as_deref().unwrap_or(name)
    }

    /// What these names are on another side, where it has them.
    pub(super) fn on(&self, other: &Self) -> Elsewhere {
        let mut there = Elsewhere::default();
        for ((level, owner, name), _) in self.names.rows() {
            // An owner comes before what is its own.
            let number = match owner.map(|owner| *there.get(owner)) {
                Some(None) => None,
                owner => other.numbers.get(&(*level, owner.flatten(), Arc::clone(name))),
            };
            there.push(number.copied());
        }
        there
    }

    /// The names in a topology.
    pub(super) fn within<'n, 't, 'a>(&'n mut self, topology: &'t Topology<'a>) -> NamesWithin<'n, 't, 'a> {
        if self.names.is_empty() {
            // Growing would hash all names again.
            let nodes = [
                topology.routes.len(),
                topology.rules.len(),
                topology.backends.len(),
            ];
            self.numbers.reserve(nodes.into_iter().sum());
        }
        NamesWithin {
            topology,
            names: self,
            of_nodes: BTreeMap::new(),
            of_classes: HashMap::new(),
        }
    }

    fn number(&mut self, key: Key, label: impl FnOnce() -> Option<String>) -> NameId {
        let names = &mut self.names;
        let number = self.numbers.entry(key);
        let key = number.key().clone();
        *number.or_insert_with(|| names.push((key, label())))
    }
}

/// The names in one topology, as far as they were asked for.
pub(super) struct NamesWithin<'n, 't, 'a> {
    pub(super) topology: &'t Topology<'a>,
    names: &'n mut NodeNames,
    /// By what they are on a path, and by their number there.
    of_nodes: BTreeMap<Level, Vec<Option<NameId>>>,
    /// Of the class of a Gateway.
    of_classes: HashMap<GatewayId, NameId>,
}

impl NamesWithin<'_, '_, '_> {
    /// Where a path begins.
    pub(super) fn start(&mut self, start: Start) -> NameId {
        self.node(Path::from(start).end(), start.node())
    }

    /// A node, as what it is on a path.
    pub(super) fn node(&mut self, level: Level, node: Node) -> NameId {
        let row = row(node);
        let known = self.of_nodes.get(&level).zip(row);
        if let Some(Some(known)) = known.and_then(|(known, row)| known.get(row)) {
            return *known;
        }
        let topology = self.topology;
        let owner = match node {
            Node::Rule(route, _) => Some((Level::Route, Node::Route(route))),
            Node::Port(backend, _) => Some((Level::Backend, Node::Backend(backend))),
            _ => None,
        };
        let number = match (topology.section(node), owner) {
            (None, _) => {
                let identity = topology.identity(node);
                let key = (level, None, identity.locator().into());
                self.names.number(key, || Some(identity.to_string()))
            }
            // Most nodes are rules.
            (Some(section), Some((level_of_owner, owner))) => {
                let owner = self.node(level_of_owner, owner);
                let label = || (level != Level::Rule).then(|| topology.step_label(node));
                self.names.number((level, Some(owner), section.into()), label)
            }
            (Some(_), None) => {
                let key = (level, None, topology.locator(node).into());
                self.names.number(key, || Some(topology.step_label(node)))
            }
        };
        if let Some(row) = row {
            let known = self.of_nodes.entry(level).or_default();
            if known.len() <= row {
                known.resize(row.saturating_add(1), None);
            }
            if let Some(known) = known.get_mut(row) {
                *known = Some(number);
            }
        }
        number
    }

    /// The nodes of a path.
    pub(super) fn path(&mut self, path: &Path) -> Box<[NameId]> {
        let nodes = self.topology.levels(path).into_iter();
        nodes.map(|(level, node)| self.node(level, node)).collect()
    }

    /// The class of a Gateway.
    pub(super) fn class(&mut self, gateway: GatewayId) -> NameId {
        let (topology, names) = (self.topology, &mut *self.names);
        *self.of_classes.entry(gateway).or_insert_with(|| {
            // No label has it.
            let locator = topology.class_locator(gateway).into();
            names.number((Level::GatewayClass, None, locator), || None)
        })
    }
}

/// The number of a node among those of its level; none for what no path leads through.
fn row(node: Node) -> Option<usize> {
    let row = match node {
        Node::Gateway(id) => id.row(),
        Node::Listener(_, id) => id.row(),
        Node::Route(id) => id.row(),
        Node::Rule(_, id) => id.row(),
        Node::Backend(id) => id.row(),
        Node::Port(_, id) => id.row(),
        Node::Mesh(_) | Node::Class(_) | Node::Namespace(_) | Node::ListenerSet(_) => return None,
    };
    usize::try_from(row).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Findings;
    use crate::hub::{Grants, Hub, Objects};
    use crate::object::Object;
    use crate::policy::{Attachments, Options};
    use crate::topology::Sources;

    fn text(routes: &[&str]) -> String {
        let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: infra}\n\
                       spec: {gatewayClassName: gc, listeners: [{name: web, port: 80, protocol: HTTP}]}\n";
        let routes = routes.iter().map(|name| {
            format!(
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: infra}}\n\
                 spec: {{parentRefs: [{{name: gw}}], rules: [{{backendRefs: [{{name: s, port: 80}}]}}]}}\n"
            )
        });
        gateway.to_owned() + &routes.collect::<String>()
    }

    /// The names of what a topology has, with their numbers, each by its level and locator.
    fn names(routes: &[&str]) -> (NodeNames, Vec<(Level, String, NameId)>) {
        let values = kube_yaml::read_all(&text(routes), &kube_yaml::Limits::default()).unwrap();
        let hub = Hub::of(Objects::new(values.into_iter().map(Object::alone).collect()));
        let mut findings = Findings::new();
        let grants = Grants::new(&hub, &mut findings);
        let sources = Sources::hub(&hub.objects);
        let (copied, options) = (HashMap::new(), Options::default());
        let attachments = Attachments::new(sources, &copied, &grants, &options, &mut findings);
        let topology = &attachments.topology;
        let mut names = NodeNames::default();
        // Twice, as for two classes of clusters.
        let mut ids = Vec::new();
        for _ in 0..2 {
            let mut within = names.within(topology);
            ids.clear();
            for (gateway, node) in topology.gateways.iter() {
                ids.push(within.start(Start::Gateway(gateway)));
                ids.push(within.class(gateway));
                let listeners = node.listeners.iter();
                let listeners =
                    listeners.map(|id| within.node(Level::Listener, Node::Listener(gateway, *id)));
                ids.extend(listeners);
            }
            for (route, node) in topology.routes.iter() {
                let rules = node.rules.iter();
                ids.extend(rules.map(|rule| within.node(Level::Rule, Node::Rule(route, *rule))));
                ids.push(within.node(Level::Route, Node::Route(route)));
            }
            let backends = topology.backends.ids();
            ids.extend(backends.map(|id| within.node(Level::Backend, Node::Backend(id))));
        }
        let found = ids
            .iter()
            .map(|id| (names.level(*id), names.locator(*id).into_owned(), *id));
        let found = found.collect();
        (names, found)
    }

    #[test]
    fn names_are_the_same_on_another_side_whatever_their_numbers_are() {
        let (old, of_old) = names(&["gone", "stays"]);
        let (new, of_new) = names(&["added", "new", "stays"]);
        let there = old.on(&new);
        for (level, locator, id) in &of_old {
            let same = of_new.iter().find(|(on, name, _)| (on, name) == (level, locator));
            assert_eq!(*there.get(*id), same.map(|(.., id)| *id), "{level:?} {locator}");
        }
        let gone = of_old.iter().filter(|(.., id)| there.get(*id).is_none());
        let gone: Vec<&str> = gone.map(|(_, locator, _)| locator.as_str()).collect();
        let route = "httproute.gateway.networking.k8s.io:infra/gone";
        assert_eq!(
            gone,
            [&format!("{route}#rule-1"), route],
            "its rule is not that of another route"
        );
    }

    #[test]
    fn names_read_like_those_of_the_topology_and_two_classes_share_them() {
        let (names, found) = names(&["r"]);
        let read = found
            .iter()
            .map(|(_, locator, id)| (locator.as_str(), names.label(*id)));
        let api = "gateway.networking.k8s.io";
        let expected = [
            (format!("gateway.{api}:infra/gw"), "Gateway infra/gw"),
            (format!("gatewayclass.{api}:gc"), ""),
            (format!("gateway.{api}:infra/gw#web"), "listener web"),
            (format!("httproute.{api}:infra/r#rule-1"), "rule-1"),
            (format!("httproute.{api}:infra/r"), "HTTPRoute infra/r"),
            ("service:infra/s".to_owned(), "Service infra/s"),
        ];
        // A class is in no label.
        let read: Vec<(String, &str)> = read
            .zip(&found)
            .map(|((locator, label), (level, ..))| {
                let label = if *level == Level::GatewayClass { "" } else { label };
                (locator.to_owned(), label)
            })
            .collect();
        assert_eq!(read, expected);
        assert_eq!(names.names.len(), expected.len());
    }
}
