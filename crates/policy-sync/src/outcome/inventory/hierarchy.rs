//! The hierarchy that policies apply to: Gateways, their listeners, routes with their rules, backends. It has their order
//! and positions, and finds them in every evaluated topology.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{Identity, Work};
use indexmap::IndexMap;
use kube_json::Value;

use super::entries::{
    AttachedEntry, Backends, GatewayEntry, ListenerEntry, OutcomePath, RouteEntry, RuleEntry, STEPS_PER_CELL,
    SourceLine, Spot, entry, keyed_entry,
};
use crate::diagnostic::Locate;
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use crate::outcome::{ClusterLists, PolicyView, Seen};
use crate::topology::{BackendId, GatewayId, ListenerId, Node, Path, RouteId, Start, Topology, items};

/// The clusters of evaluated places, by the positions of these.
pub(super) struct PlaceLists<'l> {
    pub(super) places: &'l [Vec<String>],
    pub(super) lists: ClusterLists<'l>,
}

impl PlaceLists<'_> {
    /// The clusters of some places. Equal lists are the same one.
    pub(super) fn joined(&mut self, places: &[usize]) -> Arc<[String]> {
        let lists = places.iter().filter_map(|place| self.places.get(*place));
        self.lists.joined(&lists.map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// At most so many characters of an expression that a rule matches are shown.
const MOST_OF_A_MATCH: usize = 200;

/// A Gateway, or a Service of a mesh.
struct Gateway<'p> {
    object: Option<&'p Object>,
    entry: GatewayEntry,
    /// By locator.
    listeners: IndexMap<Arc<str>, ListenerEntry>,
    /// The evaluated places where it is, by position.
    places: Vec<usize>,
}

/// A route.
struct Route<'p> {
    object: &'p Object,
    entry: RouteEntry,
    /// The listeners of Gateways that it is attached to, and the places where it is.
    on: IndexMap<Spot, Vec<usize>>,
}

/// The positions of the nodes of one topology.
#[derive(Default)]
pub(super) struct Map {
    pub(super) starts: BTreeMap<Start, u32>,
    pub(super) listeners: HashMap<ListenerId, u32>,
    pub(super) routes: HashMap<RouteId, u32>,
    /// Attachments: Gateway, listener, route.
    pub(super) attached: BTreeSet<Spot>,
    /// The listeners of each route below each Gateway.
    by_route: HashMap<Spot, Vec<Option<u32>>>,
}

/// Everything, in the order of the inventory.
pub(super) struct Hierarchy<'p, 's> {
    gateways: IndexMap<Identity, Gateway<'p>>,
    routes: IndexMap<Identity, Route<'p>>,
    pub(super) backends: Backends,
    /// Positions on the hub, whether or not it goes to clusters.
    pub(super) of_hub: Map,
    /// Those in each evaluated place, in the order of the view.
    pub(super) maps: Vec<Map>,
    /// Whether rules list their backends.
    with_backends: bool,
    work: &'s Work,
}

pub(super) fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl<'p, 's> Hierarchy<'p, 's> {
    /// The hierarchy of the hub. If a Gateway goes to clusters, the objects there count.
    pub(super) fn new(
        view: &'p PolicyView<'_>,
        is_listed: &dyn Fn(&str) -> bool,
        with_backends: bool,
        work: &'s Work,
    ) -> Self {
        let mut hierarchy = Self {
            gateways: IndexMap::new(),
            routes: IndexMap::new(),
            backends: Backends::default(),
            of_hub: Map::default(),
            maps: Vec::new(),
            with_backends,
            work,
        };
        // A Gateway that goes to clusters, but to none that is listed, is not there.
        let is_meant = |start: Start| match start {
            Start::Gateway(gateway) => {
                let clusters = view.clusters_of(&view.hub.topology.gateways.get(gateway).object.key());
                clusters.is_empty() || clusters.iter().any(|name| is_listed(name))
            }
            Start::Service(_) => true,
        };
        hierarchy.of_hub = hierarchy.add((0, view.seen_on_hub()), is_meant);
        for (place, seen) in view.seen().enumerate() {
            let is_evaluated = |start: Start| place > 0 || seen.effective.has(start);
            let map = hierarchy.add((place, seen), is_evaluated);
            hierarchy.maps.push(map);
        }
        hierarchy
    }

    /// Adds what one place has from the starts that `counts` chooses.
    fn add(&mut self, (place, seen): (usize, Seen<'p>), counts: impl Fn(Start) -> bool) -> Map {
        let topology = &seen.attachments.topology;
        // The hub is no cluster.
        let place = (place > 0).then_some(place);
        let mut map = Map::default();
        for start in topology.starts().filter(|start| counts(*start)) {
            let position = match start {
                Start::Gateway(gateway) => self.gateway(topology, gateway, &mut map),
                Start::Service(service) => self.service(topology, service),
            };
            map.starts.insert(start, narrow(position));
            if let Some((_, gateway)) = self.gateways.get_index_mut(position) {
                gateway.places.extend(place);
            }
            let attached = topology.attached(start);
            if self.work.pay(attached.len(), STEPS_PER_CELL) {
                for (listener, route) in attached {
                    // A Service is drawn with one listener.
                    let at = Spot {
                        gateway: Some(narrow(position)),
                        listener: match listener {
                            Some(listener) => map.listeners.get(&listener).copied(),
                            None => Some(0),
                        },
                        ..Spot::default()
                    };
                    self.attach(topology, route, at, place, &mut map);
                }
            }
        }
        // Those that are attached to nothing are a row, too.
        if place.is_none() {
            for (id, _) in topology.routes.iter() {
                let mut starts = topology.starts_of(Node::Route(id)).into_iter().peekable();
                if starts.peek().is_none() || starts.any(&counts) {
                    self.route(topology, id, true, &mut map);
                }
            }
        }
        map
    }

    fn gateway(&mut self, topology: &Topology<'p>, id: GatewayId, map: &mut Map) -> usize {
        let node = topology.gateways.get(id);
        let object = node.known_as();
        let class = node
            .original_class()
            .unwrap_or(topology.classes.get(node.class).name);
        let placement = object.label(PLACEMENT_LABEL);
        let known = self.gateways.entry(object.identity());
        let position = known.index();
        let gateway = known.or_insert_with(|| Gateway {
            object: Some(object),
            entry: GatewayEntry {
                local: node.local,
                class: class.to_owned(),
                placement: placement.map(|name| format!("{}/{name}", object.namespace_or_empty())),
                ..GatewayEntry::new(object.identity())
            },
            listeners: IndexMap::new(),
            places: Vec::new(),
        });
        for listener in &node.listeners {
            let row = topology.listeners.get(*listener);
            let locator = topology.locator(Node::Listener(id, *listener)).into();
            let known = gateway.listeners.entry(locator);
            let set = |set| topology.identity(Node::ListenerSet(set)).to_string();
            map.listeners.insert(*listener, narrow(known.index()));
            known.or_insert_with_key(|locator| ListenerEntry {
                listener: Arc::clone(locator),
                hostname: row.hostname.unwrap_or("*").to_owned(),
                port: row.port,
                protocol: row.protocol.to_owned(),
                listener_set: row.set.map(set),
            });
        }
        position
    }

    /// A Service of a mesh is drawn as a Gateway with one listener: requests come to it by its name.
    fn service(&mut self, topology: &Topology<'p>, id: BackendId) -> usize {
        let identity = topology.identity(Node::Backend(id));
        let known = self.gateways.entry(identity.clone());
        let position = known.index();
        known.or_insert_with(|| {
            let hostname = match &identity.namespace {
                Some(namespace) => format!("{}.{namespace}", identity.name),
                None => identity.name.to_string(),
            };
            let entry = GatewayEntry::new(identity);
            let listener = ListenerEntry {
                listener: Arc::clone(&entry.gateway),
                hostname,
                port: None,
                protocol: String::new(),
                listener_set: None,
            };
            Gateway {
                object: topology.backends.get(id).object,
                entry,
                listeners: IndexMap::from([(Arc::clone(&listener.listener), listener)]),
                places: Vec::new(),
            }
        });
        position
    }

    fn attach(
        &mut self,
        topology: &Topology<'p>,
        route: RouteId,
        at: Spot,
        place: Option<usize>,
        map: &mut Map,
    ) {
        let position = self.route(topology, route, place.is_none(), map);
        let route = Some(position);
        if !map.attached.insert(Spot { route, ..at }) {
            return;
        }
        let below = Spot {
            listener: None,
            route,
            ..at
        };
        map.by_route.entry(below).or_default().push(at.listener);
        if let Some((_, route)) = self.routes.get_index_mut(position as usize) {
            route.on.entry(at).or_default().extend(place);
        }
    }

    /// The position of a route. The hub is looked at first: what only a cluster has lives there.
    fn route(&mut self, topology: &Topology<'p>, id: RouteId, is_hub: bool, map: &mut Map) -> u32 {
        if let Some(known) = map.routes.get(&id) {
            return *known;
        }
        let node = topology.routes.get(id);
        let identity = node.object.identity();
        let entry = self.routes.entry(identity.clone());
        let position = entry.index();
        let hostnames = items(node.object.value.pointer("/spec/hostnames")).iter();
        let hostnames = hostnames.filter_map(Value::as_str);
        let route = entry.or_insert_with(|| Route {
            object: node.object,
            entry: RouteEntry {
                route: identity.locator().into(),
                place: None,
                local: !is_hub,
                hostnames: hostnames.map(str::to_owned).collect(),
                rules: Vec::new(),
                attached: Vec::new(),
                identity,
            },
            on: IndexMap::new(),
        });
        // A cluster may have its own route of this name, with more rules.
        let known = route.entry.rules.len();
        for (number, rule) in node.rules.iter().enumerate().skip(known) {
            let mut listed_backends = Vec::new();
            if self.with_backends {
                let backends = topology.rules.get(*rule).backends.iter();
                for node in backends.map(|backend| Node::Backend(*backend)) {
                    self.backends.position(topology, node);
                    listed_backends.push(topology.locator(node).into());
                }
            }
            let locator = topology.locator(Node::Rule(id, *rule)).into();
            let rule = rule_entry(locator, node.object, number, listed_backends);
            route.entry.rules.push(rule);
        }
        map.routes.insert(id, narrow(position));
        narrow(position)
    }

    /// The rules of a route.
    pub(super) fn rules(&self, route: Option<u32>) -> &[RuleEntry] {
        keyed_entry(&self.routes, route).map_or(&[], |(_, route)| &route.entry.rules)
    }

    /// Where a path ends, with a spot for every rule of every listener: what a path leaves out, as it does not matter,
    /// stands for all that there are.
    pub(super) fn spots(&mut self, (place, seen): (usize, Seen<'_>), path: &Path) -> Vec<Spot> {
        let topology = &seen.attachments.topology;
        let start = |map: &'_ Map| map.starts.get(&path.start).copied();
        let Some((map, gateway)) = self.maps.get(place).and_then(|map| Some((map, start(map)?))) else {
            return Vec::new();
        };
        let listener = path.listener.and_then(|listener| map.listeners.get(&listener));
        let mut whole = Spot {
            gateway: Some(gateway),
            listener: listener.copied(),
            ..Spot::default()
        };
        let Some(id) = path.route else {
            return vec![whole];
        };
        let Some(route) = map.routes.get(&id) else {
            return Vec::new();
        };
        whole.route = Some(*route);
        let rules = &topology.routes.get(id).rules;
        let position = |rule| rules.iter().position(|known| *known == rule);
        let rule = path.rule.and_then(position);
        let backend = path.backend.map(|backend| match path.port {
            Some(port) => Node::Port(backend, port),
            None => Node::Backend(backend),
        });
        let backend = backend.map(|node| narrow(self.backends.position(topology, node)));
        let listeners = match path.listener {
            Some(_) => vec![whole.listener],
            None => map.by_route.get(&whole).cloned().unwrap_or_default(),
        };
        let each = rule.map_or_else(|| self.rules(whole.route).len().max(1), |_| 1);
        let count = listeners.len().saturating_mul(each);
        if !self.work.pay(count, STEPS_PER_CELL) {
            return Vec::new();
        }
        let rules: Vec<Option<u32>> = match (rule, path.backend) {
            (Some(rule), _) => vec![Some(narrow(rule))],
            (None, Some(backend)) => {
                let backend = topology.locator(Node::Backend(backend));
                let rules = (0..).zip(self.rules(whole.route));
                let is_listed = |rule: &RuleEntry| rule.listed_backends.iter().any(|of| **of == *backend);
                let listed = rules.filter(|(_, rule)| is_listed(rule));
                listed.map(|(position, _)| Some(position)).collect()
            }
            (None, None) => vec![None],
        };
        let mut spots = Vec::new();
        for listener in listeners {
            spots.extend(rules.iter().map(|rule| Spot {
                listener,
                rule: *rule,
                backend,
                ..whole
            }));
        }
        spots
    }

    /// The locators of a spot, from its Gateway on.
    pub(super) fn path(&self, spot: Spot) -> OutcomePath {
        let gateway = keyed_entry(&self.gateways, spot.gateway);
        let listener = gateway.and_then(|(_, gateway)| keyed_entry(&gateway.listeners, spot.listener));
        let listener = listener.map(|(locator, _)| locator);
        let gateway = gateway.map(|(_, gateway)| &gateway.entry.gateway);
        let route = keyed_entry(&self.routes, spot.route).map(|(_, route)| &route.entry.route);
        let rule = entry(self.rules(spot.route), spot.rule).map(|rule| &rule.rule);
        let backend = keyed_entry(&self.backends.0, spot.backend).map(|(locator, _)| locator);
        // The one listener of a Service is the Service.
        let listener = listener.filter(|listener| Some(*listener) != gateway);
        let locators = [gateway, listener, route, rule, backend].into_iter().flatten();
        locators.cloned().collect()
    }

    /// Everything, with where it is.
    pub(super) fn entries(
        self,
        locate: &dyn Locate,
        lists: &mut PlaceLists<'_>,
    ) -> (Vec<GatewayEntry>, Vec<RouteEntry>, Vec<Identity>) {
        let line = |object: &Object| SourceLine::slashed(locate, object.place(""));
        let gateways = self.gateways.into_values().map(|gateway| GatewayEntry {
            place: gateway.object.and_then(line),
            clusters: lists.joined(&gateway.places),
            listeners: gateway.listeners.into_values().collect(),
            ..gateway.entry
        });
        let gateways: Vec<GatewayEntry> = gateways.collect();
        let routes = self.routes.into_values().map(|route| {
            let attached = route.on.into_iter().map(|(at, places)| {
                let gateway = entry(&gateways, at.gateway);
                let listener = gateway.and_then(|gateway| entry(&gateway.listeners, at.listener));
                let clusters = lists.joined(&places);
                let is_everywhere = gateway.is_none_or(|gateway| Arc::ptr_eq(&gateway.clusters, &clusters));
                let locator = listener.map(|listener| Arc::clone(&listener.listener));
                AttachedEntry {
                    listener: locator.unwrap_or_default(),
                    clusters: if is_everywhere { Arc::default() } else { clusters },
                }
            });
            RouteEntry {
                place: line(route.object),
                attached: attached.collect(),
                ..route.entry
            }
        });
        let routes = routes.collect();
        (gateways, routes, self.backends.0.into_values().collect())
    }
}

impl GatewayEntry {
    fn new(identity: Identity) -> Self {
        Self {
            gateway: identity.locator().into(),
            place: None,
            class: String::new(),
            placement: None,
            local: false,
            clusters: Arc::default(),
            listeners: Vec::new(),
            identity,
        }
    }
}

/// A rule of a route as it is written.
fn rule_entry(locator: Arc<str>, route: &Object, number: usize, listed_backends: Vec<Arc<str>>) -> RuleEntry {
    let rule = route.value.pointer(&format!("/spec/rules/{number}"));
    let list = |field: &str| items(rule.and_then(|rule| rule.get(field))).iter();
    let mut matches: Vec<String> = list("matches").map(matched).collect();
    if matches.is_empty() {
        let is_http = route.kind == "HTTPRoute";
        let all = if is_http { "/" } else { "everything" };
        matches.push(all.to_owned());
    }
    let backends = list("backendRefs").map(|backend| forwarded(backend, route.namespace_or_empty()));
    RuleEntry {
        rule: locator,
        matches,
        backends: backends.collect(),
        listed_backends,
    }
}

/// A match in words: `/cart`, `= /cart` where it is the whole path, `~ ^/cart` where it is an expression; then the
/// method, headers and query parameters.
fn matched(rule: &Value) -> String {
    let text = |pointer: &str| rule.pointer(pointer).and_then(Value::as_str);
    let mut words = Vec::new();
    match (text("/path/type").unwrap_or("PathPrefix"), text("/path/value")) {
        ("Exact", Some(path)) => words.push(format!("= {path}")),
        ("RegularExpression", Some(path)) => words.push(format!("~ {path}")),
        (_, Some(path)) => words.push(path.to_owned()),
        (_, None) => match (text("/method/service"), text("/method/method")) {
            (None, None) => words.push("/".to_owned()),
            (service, method) => {
                words.push(format!("{}/{}", service.unwrap_or("*"), method.unwrap_or("*")));
            }
        },
    }
    words.extend(text("/method").map(str::to_owned));
    for (field, sign) in [("headers", ""), ("queryParams", "?")] {
        for wanted in items(rule.get(field)) {
            let text = |field: &str| wanted.get(field).and_then(Value::as_str).unwrap_or_default();
            words.push(format!("{sign}{}={}", text("name"), text("value")));
        }
    }
    shortened(words.join(" "), MOST_OF_A_MATCH)
}

/// So many characters of a text at most.
pub fn shortened(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A backend in words: `cart:8080`, with its kind and namespace where these are not what anybody expects.
fn forwarded(backend: &Value, own: &str) -> String {
    let text = |field: &str| backend.get(field).and_then(Value::as_str);
    let kind = text("kind").filter(|kind| *kind != "Service");
    let namespace = text("namespace").filter(|namespace| *namespace != own);
    let port = backend.get("port").and_then(Value::as_i64);
    let words = [
        kind.map(|kind| format!("{kind} ")),
        namespace.map(|namespace| format!("{namespace}/")),
        text("name").map(str::to_owned),
        port.map(|port| format!(":{port}")),
    ];
    words.into_iter().flatten().collect()
}
