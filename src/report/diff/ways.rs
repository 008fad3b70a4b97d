//! The ways that traffic can take on clusters that are alike, and whether policies of a kind still apply on one.
//!
//! Owns: the parts of a way, and when a path has lost its policies. Flows in: a topology; a path of another
//! side; whether any settings apply on a path. Flows out: an answer. Must not know: kinds, settings.
//!
//! The detail of a path depends on the policies on it: with one on a listener, a route has a path for each of its
//! listeners. So a path that is gone proves nothing, and each way that it stood for is checked.

use std::collections::{BTreeMap, BTreeSet};

use super::node_names::{NameId, NamesWithin};
use crate::topology::{Level, Node, Path, Start};

/// The ways on clusters that are alike.
#[derive(Debug)]
pub(super) struct Ways {
    starts: BTreeMap<NameId, FromStart>,
    /// By route: its rules, each with its backends.
    rules: BTreeMap<NameId, Vec<RuleOfWay>>,
}

/// A rule, and its backends.
type RuleOfWay = (NameId, Vec<NameId>);

/// The ways that begin at one Gateway or Service.
#[derive(Debug)]
struct FromStart {
    /// The start of every path from here.
    head: Box<[NameId]>,
    listeners: Vec<NameId>,
    /// By route: the listeners that take it; none for a Service.
    routes: BTreeMap<NameId, BTreeSet<Option<NameId>>>,
}

/// The nodes that a path leads through, by their names on the side of the ways.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Steps {
    start: Option<NameId>,
    listener: Option<NameId>,
    route: Option<NameId>,
    rule: Option<NameId>,
    backend: Option<NameId>,
    port: Option<NameId>,
}

impl Steps {
    /// The nodes of a path of another side; `None` if one of them is gone, so that no traffic takes it.
    pub(super) fn new(path: impl Iterator<Item = (Level, Option<NameId>)>) -> Option<Self> {
        // Of the routes that hand requests on to each other, the last one counts.
        let mut nodes: BTreeMap<Level, Option<NameId>> = path.collect();
        nodes.remove(&Level::GatewayClass);
        // Traffic for a port that is not named any more still comes to the backend.
        let port = nodes.remove(&Level::Port).flatten();
        if nodes.values().any(Option::is_none) {
            return None;
        }
        let node = |level| nodes.get(&level).copied().flatten();
        Some(Self {
            start: node(Level::Gateway).or_else(|| node(Level::Service)),
            listener: node(Level::Listener),
            route: node(Level::Route),
            rule: node(Level::Rule),
            backend: node(Level::Backend),
            port,
        })
    }
}

impl Ways {
    /// The ways of a topology from the starts that are asked for.
    pub(super) fn new(names: &mut NamesWithin<'_, '_, '_>, is_asked: impl Fn(&Path) -> bool) -> Self {
        let topology = names.topology;
        let mut ways = Self {
            starts: BTreeMap::new(),
            rules: BTreeMap::new(),
        };
        for start in topology.starts().filter(|start| is_asked(&Path::from(*start))) {
            let mut from = FromStart {
                head: names.path(&Path::from(start)),
                listeners: Vec::new(),
                routes: BTreeMap::new(),
            };
            let attached: Vec<_> = match start {
                Start::Gateway(id) => {
                    let gateway = topology.gateways.get(id);
                    let mut listener = |listener| names.node(Level::Listener, Node::Listener(id, listener));
                    from.listeners = gateway.listeners.iter().map(|id| listener(*id)).collect();
                    let attached = gateway.attached.iter();
                    attached
                        .map(|(taker, route)| (Some(listener(*taker)), *route))
                        .collect()
                }
                Start::Service(service) => {
                    let meshed = topology.backends.get(service).meshed.iter();
                    meshed.map(|route| (None, *route)).collect()
                }
            };
            for (listener, route) in attached {
                let name = names.node(Level::Route, Node::Route(route));
                ways.rules.entry(name).or_insert_with(|| {
                    let rules = topology.routes.get(route).rules.iter();
                    rules
                        .map(|rule| {
                            let backends = topology.rules.get(*rule).backends.iter();
                            let backends = backends.map(|id| names.node(Level::Backend, Node::Backend(*id)));
                            let backends = backends.collect();
                            (names.node(Level::Rule, Node::Rule(route, *rule)), backends)
                        })
                        .collect()
                });
                from.routes.entry(name).or_default().insert(listener);
            }
            ways.starts.insert(names.start(start), from);
        }
        ways
    }

    /// Whether traffic still takes a path on which policies applied, and none applies there any longer according to
    /// `holds`: neither on the path nor, together, on the paths that it was divided into.
    pub(super) fn is_lost(&self, steps: &Steps, holds: impl Fn(&[NameId]) -> bool) -> bool {
        let Some(start) = steps.start.and_then(|start| self.starts.get(&start)) else {
            return false;
        };
        let on = |nodes: &[Option<NameId>]| {
            let nodes = nodes.iter().flatten();
            holds(&start.head.iter().chain(nodes).copied().collect::<Vec<_>>())
        };
        match steps.route {
            Some(route) => start
                .routes
                .get(&route)
                .is_some_and(|listeners| self.is_route_lost(steps, route, listeners, &on)),
            None => start.is_listener_lost(self, steps, &on),
        }
    }

    fn is_route_lost(
        &self,
        steps: &Steps,
        route: NameId,
        listeners: &BTreeSet<Option<NameId>>,
        on: &dyn Fn(&[Option<NameId>]) -> bool,
    ) -> bool {
        let none = Vec::new();
        let rules = self.rules.get(&route).unwrap_or(&none);
        let asked = |rule: &&RuleOfWay| {
            steps.rule.is_none_or(|asked| asked == rule.0)
                && steps.backend.is_none_or(|backend| rule.1.contains(&backend))
        };
        let asked_rules = rules.iter().filter(asked).map(|(name, _)| Some(*name));
        let mut asked_rules: Vec<Option<NameId>> = asked_rules.collect();
        if rules.is_empty() && steps.rule.is_none() && steps.backend.is_none() {
            asked_rules.push(None);
        }
        let listeners = listeners
            .iter()
            .copied()
            .filter(|listener| steps.listener.is_none() || *listener == steps.listener);
        let mut ways = listeners.flat_map(|listener| asked_rules.iter().map(move |rule| (listener, *rule)));
        ways.any(|(listener, rule)| {
            let ends: &[[Option<NameId>; 2]] =
                &[[None, None], [steps.backend, None], [steps.backend, steps.port]];
            let through = [[None, None], [Some(route), None], [Some(route), rule]];
            let mut paths = [None, listener].into_iter().flat_map(|listener| {
                through.iter().flat_map(move |[route, rule]| {
                    ends.iter()
                        .map(move |end| [listener, *route, *rule, end[0], end[1]])
                })
            });
            !paths.any(|path| on(&path))
        })
    }
}

impl FromStart {
    fn is_listener_lost(&self, ways: &Ways, steps: &Steps, on: &dyn Fn(&[Option<NameId>]) -> bool) -> bool {
        if on(&[]) {
            return false;
        }
        if self.listeners.is_empty() && steps.listener.is_none() {
            return true;
        }
        let asked = |listener: &&NameId| steps.listener.is_none_or(|asked| asked == **listener);
        self.listeners.iter().filter(asked).any(|listener| {
            if on(&[Some(*listener)]) {
                return false;
            }
            // What held for any route that comes may hold for each that has come.
            let takes = Some(*listener);
            let mut routes = self
                .routes
                .iter()
                .filter(|(_, listeners)| listeners.contains(&takes))
                .peekable();
            let only = BTreeSet::from([takes]);
            routes.peek().is_none()
                || routes.any(|(route, _)| {
                    let steps = Steps {
                        start: steps.start,
                        ..Steps::default()
                    };
                    ways.is_route_lost(&steps, *route, &only, on)
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::RowId as _;

    #[test]
    fn no_traffic_takes_a_path_whose_node_is_gone_unless_that_is_its_class_or_port() {
        let whole = [
            Level::GatewayClass,
            Level::Gateway,
            Level::Listener,
            Level::Route,
            Level::Rule,
            Level::Backend,
            Level::Port,
        ];
        for gone in whole {
            let path = (0_u32..).zip(whole);
            let path = path.map(|(row, level)| (level, (level != gone).then(|| NameId::of_row(row))));
            let steps = Steps::new(path);
            let goes_on = matches!(gone, Level::GatewayClass | Level::Port);
            assert_eq!(steps.is_some(), goes_on, "{gone:?}");
            let port = steps.and_then(|steps| steps.port);
            assert_eq!(port.is_some(), gone == Level::GatewayClass, "{gone:?}");
        }
        // A route that hands requests on may go, if they come to the last one otherwise.
        let [start, last] = [1, 2].map(|row| Some(NameId::of_row(row)));
        let handed_on = [
            (Level::Service, start),
            (Level::Route, None),
            (Level::Route, last),
        ];
        let steps = Steps::new(handed_on.into_iter()).unwrap();
        assert_eq!((steps.start, steps.route), (start, last));
    }
}
