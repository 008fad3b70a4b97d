//! The ways that traffic can take on clusters that are alike, and whether policies of a kind still apply on one.
//!
//! Owns: the parts of a way, and when a path has lost its policies. Flows in: a topology; a path of another
//! side; whether any settings apply on a path. Flows out: an answer. Must not know: kinds, settings.
//!
//! The detail of a path depends on the policies on it: with one on a listener, a route has a path for each of its
//! listeners. So a path that is gone proves nothing, and each way that it stood for is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::node_names::NodeNames;
use crate::topology::{Level, Node, Path, Start};

/// The ways on clusters that are alike. All names are locators.
#[derive(Debug)]
pub(super) struct Ways {
    starts: BTreeMap<Arc<str>, FromStart>,
    /// By route: its rules, each with its backends.
    rules: BTreeMap<Arc<str>, Vec<RuleOfWay>>,
}

/// A rule, and its backends.
type RuleOfWay = (Arc<str>, Vec<Arc<str>>);

/// The ways that begin at one Gateway or Service.
#[derive(Debug)]
struct FromStart {
    /// The start of every path from here.
    head: Vec<Arc<str>>,
    listeners: Vec<Arc<str>>,
    /// By route: the listeners that take it; none for a Service.
    routes: BTreeMap<Arc<str>, BTreeSet<Option<Arc<str>>>>,
}

/// The nodes that a path leads through.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Steps<'p> {
    start: &'p str,
    listener: Option<&'p str>,
    route: Option<&'p str>,
    rule: Option<&'p str>,
    backend: Option<&'p str>,
    port: Option<&'p str>,
}

impl<'p> Steps<'p> {
    /// The locators of a path, whose last ones are of these levels.
    pub(super) fn new(levels: &[Level], locators: &'p [Arc<str>]) -> Self {
        let mut steps = Self::default();
        let head = locators.len().saturating_sub(levels.len());
        for (level, locator) in levels.iter().zip(locators.iter().skip(head)) {
            match level {
                Level::Gateway | Level::Service => steps.start = locator,
                Level::Listener => steps.listener = Some(locator),
                Level::Route => steps.route = Some(locator),
                Level::Rule => steps.rule = Some(locator),
                Level::Backend => steps.backend = Some(locator),
                Level::Port => steps.port = Some(locator),
                // No path leads through them.
                _ => {}
            }
        }
        steps
    }
}

impl Ways {
    /// The ways of a topology from the starts that are asked for.
    pub(super) fn new(names: &mut NodeNames<'_, '_>, is_asked: impl Fn(&Path) -> bool) -> Self {
        let topology = names.topology;
        let mut ways = Self {
            starts: BTreeMap::new(),
            rules: BTreeMap::new(),
        };
        for start in topology.starts().filter(|start| is_asked(&Path::from(*start))) {
            let path = Path::from(start);
            let mut from = FromStart {
                head: names.path_locators(&path),
                listeners: Vec::new(),
                routes: BTreeMap::new(),
            };
            let attached: Vec<_> = match start {
                Start::Gateway(id) => {
                    let gateway = topology.gateways.get(id);
                    let listener = |listener| Node::Listener(id, listener);
                    from.listeners = gateway
                        .listeners
                        .iter()
                        .map(|id| names.locator(listener(*id)))
                        .collect();
                    let attached = gateway.attached.iter();
                    attached
                        .map(|(taker, route)| (Some(names.locator(listener(*taker))), *route))
                        .collect()
                }
                Start::Service(service) => {
                    let meshed = topology.backends.get(service).meshed.iter();
                    meshed.map(|route| (None, *route)).collect()
                }
            };
            for (listener, route) in attached {
                let name = names.locator(Node::Route(route));
                ways.rules.entry(name.clone()).or_insert_with(|| {
                    let rules = topology.routes.get(route).rules.iter();
                    rules
                        .map(|rule| {
                            let backends = topology.rules.get(*rule).backends.iter();
                            let backends = backends.map(|id| names.locator(Node::Backend(*id)));
                            let backends = backends.collect();
                            (names.locator(Node::Rule(route, *rule)), backends)
                        })
                        .collect()
                });
                from.routes.entry(name).or_default().insert(listener);
            }
            ways.starts.insert(names.locator(start.node()), from);
        }
        ways
    }

    /// Whether traffic still takes a path on which policies applied, and none applies there any longer according to
    /// `holds`: neither on the path nor, together, on the paths that it was divided into.
    pub(super) fn is_lost(&self, steps: &Steps<'_>, holds: impl Fn(&[Arc<str>]) -> bool) -> bool {
        let Some(start) = self.starts.get(steps.start) else {
            return false;
        };
        let on = |nodes: &[Option<&str>]| {
            let nodes = nodes.iter().flatten().map(|node| Arc::from(*node));
            holds(&start.head.iter().cloned().chain(nodes).collect::<Vec<_>>())
        };
        match steps.route {
            Some(route) => start
                .routes
                .get(route)
                .is_some_and(|listeners| self.is_route_lost(steps, route, listeners, &on)),
            None => start.is_listener_lost(self, steps, &on),
        }
    }

    fn is_route_lost(
        &self,
        steps: &Steps<'_>,
        route: &str,
        listeners: &BTreeSet<Option<Arc<str>>>,
        on: &dyn Fn(&[Option<&str>]) -> bool,
    ) -> bool {
        let none = Vec::new();
        let rules = self.rules.get(route).unwrap_or(&none);
        let asked = |rule: &&RuleOfWay| {
            steps.rule.is_none_or(|asked| *asked == *rule.0)
                && steps
                    .backend
                    .is_none_or(|backend| rule.1.iter().any(|known| **known == *backend))
        };
        let mut asked_rules: Vec<Option<&str>> = rules
            .iter()
            .filter(asked)
            .map(|(name, _)| Some(&**name))
            .collect();
        if rules.is_empty() && steps.rule.is_none() && steps.backend.is_none() {
            asked_rules.push(None);
        }
        let listeners = listeners
            .iter()
            .map(Option::as_deref)
            .filter(|listener| steps.listener.is_none() || *listener == steps.listener);
        let mut ways = listeners.flat_map(|listener| asked_rules.iter().map(move |rule| (listener, *rule)));
        ways.any(|(listener, rule)| {
            let ends: &[[Option<&str>; 2]] =
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
    fn is_listener_lost(&self, ways: &Ways, steps: &Steps<'_>, on: &dyn Fn(&[Option<&str>]) -> bool) -> bool {
        if on(&[]) {
            return false;
        }
        if self.listeners.is_empty() && steps.listener.is_none() {
            return true;
        }
        let asked = |listener: &&Arc<str>| steps.listener.is_none_or(|asked| *asked == ***listener);
        self.listeners.iter().filter(asked).any(|listener| {
            if on(&[Some(listener)]) {
                return false;
            }
            // What held for any route that comes may hold for each that has come.
            let takes = Some(Arc::clone(listener));
            let mut routes = self
                .routes
                .iter()
                .filter(|(_, listeners)| listeners.contains(&takes))
                .peekable();
            let only = BTreeSet::from([takes.clone()]);
            routes.peek().is_none()
                || routes.any(|(route, _)| {
                    let steps = Steps {
                        start: steps.start,
                        ..Steps::default()
                    };
                    ways.is_route_lost(&steps, route, &only, on)
                })
        })
    }
}
