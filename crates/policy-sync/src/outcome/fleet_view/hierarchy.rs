//! The hierarchy that policies apply to: Gateways, their listeners, routes with their rules, backends. It numbers their
//! locators in this order, and knows in which evaluated places each is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apimachinery::Work;
use indexmap::{IndexMap, IndexSet};
use kube_json::Value;

use super::entries::{
    AttachedEntry, GatewayEntry, ListenerEntry, Name, OutcomePath, RouteEntry, RuleEntry, STEPS_PER_CELL,
    Spot,
};
use crate::diagnostic::Locate;
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use crate::outcome::{ClusterLists, PolicyView, Seen, SourceLine};
use crate::topology::{BackendId, GatewayId, Node, Path, RouteId, Start, Topology, items};

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
    listeners: IndexMap<Name, ListenerEntry>,
    /// The evaluated places where it is, by position.
    places: Vec<usize>,
}

/// Evaluated places by position, each with the rules that a route has there.
type RulesByPlace = Vec<(usize, Arc<[Name]>)>;

/// A route.
struct Route<'p> {
    object: &'p Object,
    entry: RouteEntry,
    rules: IndexMap<Name, RuleEntry>,
    /// By Gateway and listener, the places where that listener accepts it.
    attached: IndexMap<(Name, Name), RulesByPlace>,
}

/// The numbers of the nodes of one topology, each found once.
pub(super) type NodeNames = HashMap<Node, Name>;

/// Everything, in the order of the view.
pub(super) struct Hierarchy<'p, 's> {
    locators: IndexSet<Arc<str>>,
    kind_names: BTreeMap<String, String>,
    gateways: IndexMap<Name, Gateway<'p>>,
    routes: IndexMap<Name, Route<'p>>,
    /// Whether rules list their backends.
    with_backends: bool,
    work: &'s Work,
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
            locators: IndexSet::new(),
            kind_names: BTreeMap::new(),
            gateways: IndexMap::new(),
            routes: IndexMap::new(),
            with_backends,
            work,
        };
        let topology = &view.hub.topology;
        // A Gateway that goes to clusters, but to none that is listed, is not there.
        let is_meant = |start: Start| match start {
            Start::Gateway(gateway) => {
                let clusters = view.clusters_of(&topology.gateways.get(gateway).object.key());
                clusters.is_empty() || clusters.iter().any(|name| is_listed(name))
            }
            Start::Service(_) => true,
        };
        // The hub is looked at first: what only a cluster has lives there.
        hierarchy.add(None, view.seen_on_hub(), is_meant);
        // Those that are attached to nothing are a row, too.
        for (id, _) in topology.routes.iter() {
            let starts = topology.starts_of(Node::Route(id));
            if starts.is_empty() || starts.into_iter().any(is_meant) {
                hierarchy.route(topology, id, false, &mut NodeNames::new());
            }
        }
        for (place, seen) in view.seen().enumerate() {
            hierarchy.add(Some(place), seen, |start| place > 0 || seen.effective.has(start));
        }
        hierarchy
    }

    /// The number of a locator.
    fn number(&mut self, locator: String) -> Name {
        let (position, _) = self.locators.insert_full(locator.into());
        Name::try_from(position).unwrap_or(Name::MAX)
    }

    /// The number of a node; `names` has those of its topology.
    pub(super) fn name(&mut self, topology: &Topology<'_>, names: &mut NodeNames, node: Node) -> Name {
        *names.entry(node).or_insert_with(|| {
            let locator = topology.locator(node);
            if let Some((kind, _)) = locator.split_once(':') {
                let written = topology.identity(node).group_kind.kind;
                self.kind_names.insert(kind.to_owned(), written.to_string());
            }
            self.number(locator)
        })
    }

    fn locator(&self, name: Name) -> Arc<str> {
        let locator = self.locators.get_index(name as usize);
        locator.cloned().unwrap_or_default()
    }

    /// Adds what one place has from the starts that `counts` chooses; without a place, what the hub has, whether or not it
    /// is evaluated there.
    fn add(&mut self, place: Option<usize>, seen: Seen<'p>, counts: impl Fn(Start) -> bool) {
        let topology = &seen.attachments.topology;
        let mut names = NodeNames::new();
        let mut rules: HashMap<RouteId, (Name, Arc<[Name]>)> = HashMap::new();
        let is_local = place.is_some_and(|place| place > 0);
        for start in topology.starts().filter(|start| counts(*start)) {
            let name = match start {
                Start::Gateway(gateway) => self.gateway(topology, gateway, &mut names),
                Start::Service(service) => self.service(topology, service, &mut names),
            };
            if let Some(gateway) = self.gateways.get_mut(&name) {
                gateway.places.extend(place);
            }
            let attached = topology.attached(start);
            if !self.work.pay(attached.len(), STEPS_PER_CELL) {
                continue;
            }
            for (listener, route) in attached {
                let listener = match (start, listener) {
                    (Start::Gateway(gateway), Some(listener)) => {
                        self.name(topology, &mut names, Node::Listener(gateway, listener))
                    }
                    // A Service is drawn with one listener, which has its name.
                    _ => name,
                };
                let (route, rules) = rules
                    .entry(route)
                    .or_insert_with(|| self.route(topology, route, is_local, &mut names));
                let Some(route) = self.routes.get_mut(route) else {
                    continue;
                };
                let places = route.attached.entry((name, listener)).or_default();
                if places.last().map(|(place, _)| *place) != place {
                    places.extend(place.map(|place| (place, Arc::clone(rules))));
                }
            }
        }
    }

    fn gateway(&mut self, topology: &Topology<'p>, id: GatewayId, names: &mut NodeNames) -> Name {
        let node = topology.gateways.get(id);
        let object = node.known_as();
        let class = node
            .original_class()
            .unwrap_or(topology.classes.get(node.class).name);
        let placement = object.label(PLACEMENT_LABEL);
        let name = self.name(topology, names, Node::Gateway(id));
        let listeners = node.listeners.iter().map(|listener| {
            let row = topology.listeners.get(*listener);
            let set = |set| topology.identity(Node::ListenerSet(set)).to_string();
            let name = self.name(topology, names, Node::Listener(id, *listener));
            let entry = ListenerEntry {
                listener: self.locator(name),
                hostname: row.hostname.unwrap_or("*").to_owned(),
                port: row.port,
                protocol: row.protocol.to_owned(),
                listener_set: row.set.map(set),
            };
            (name, entry)
        });
        let listeners: Vec<(Name, ListenerEntry)> = listeners.collect();
        let locator = self.locator(name);
        let gateway = self.gateways.entry(name).or_insert_with(|| Gateway {
            object: Some(object),
            entry: GatewayEntry {
                local: node.local,
                class: class.to_owned(),
                placement: placement.map(|name| format!("{}/{name}", object.namespace_or_empty())),
                ..GatewayEntry::new(locator)
            },
            listeners: IndexMap::new(),
            places: Vec::new(),
        });
        for (name, entry) in listeners {
            gateway.listeners.entry(name).or_insert(entry);
        }
        name
    }

    /// A Service of a mesh is drawn as a Gateway with one listener: requests come to it by its name.
    fn service(&mut self, topology: &Topology<'p>, id: BackendId, names: &mut NodeNames) -> Name {
        let name = self.name(topology, names, Node::Backend(id));
        let locator = self.locator(name);
        self.gateways.entry(name).or_insert_with(|| {
            let identity = topology.identity(Node::Backend(id));
            let hostname = match &identity.namespace {
                Some(namespace) => format!("{}.{namespace}", identity.name),
                None => identity.name.to_string(),
            };
            let listener = ListenerEntry {
                listener: Arc::clone(&locator),
                hostname,
                port: None,
                protocol: String::new(),
                listener_set: None,
            };
            Gateway {
                object: topology.backends.get(id).object,
                entry: GatewayEntry::new(locator),
                listeners: IndexMap::from([(name, listener)]),
                places: Vec::new(),
            }
        });
        name
    }

    /// A route, and the rules that it has in this topology.
    fn route(
        &mut self,
        topology: &Topology<'p>,
        id: RouteId,
        is_local: bool,
        names: &mut NodeNames,
    ) -> (Name, Arc<[Name]>) {
        let node = topology.routes.get(id);
        let name = self.name(topology, names, Node::Route(id));
        let hostnames = items(node.object.value.pointer("/spec/hostnames")).iter();
        let hostnames = hostnames.filter_map(Value::as_str);
        let locator = self.locator(name);
        self.routes.entry(name).or_insert_with(|| Route {
            object: node.object,
            entry: RouteEntry {
                route: locator,
                place: None,
                local: is_local,
                hostnames: hostnames.map(str::to_owned).collect(),
                rules: Vec::new(),
                attached: Vec::new(),
            },
            rules: IndexMap::new(),
            attached: IndexMap::new(),
        });
        let rules = node.rules.iter().enumerate().map(|(position, rule)| {
            let rule_name = self.name(topology, names, Node::Rule(id, *rule));
            let backends = topology.rules.get(*rule).backends.iter();
            let backends = backends.filter(|_| self.with_backends);
            let backends: Vec<Node> = backends.map(|backend| Node::Backend(*backend)).collect();
            let backends = backends.into_iter().map(|node| self.name(topology, names, node));
            let backends: Vec<Name> = backends.collect();
            let listed_backends = backends.into_iter().map(|name| self.locator(name)).collect();
            let locator = self.locator(rule_name);
            if let Some(route) = self.routes.get_mut(&name) {
                // A cluster may have its own route of this name, with more rules.
                let rule = || rule_entry(locator, node.object, position, listed_backends);
                route.rules.entry(rule_name).or_insert_with(rule);
            }
            rule_name
        });
        let rules: Arc<[Name]> = rules.collect();
        (name, rules)
    }

    /// Where a path of full detail leads, whoever hands requests on to its route.
    pub(super) fn spot(&mut self, topology: &Topology<'_>, names: &mut NodeNames, path: &Path) -> Spot {
        let mut name = |node| self.name(topology, names, node);
        let listener = path.gateway().zip(path.listener);
        let end = path.backend.map(|backend| match path.port {
            Some(port) => Node::Port(backend, port),
            None => Node::Backend(backend),
        });
        Spot {
            gateway: name(path.start.node()),
            listener: listener.map(|(gateway, listener)| name(Node::Listener(gateway, listener))),
            route: path.route.map(|route| name(Node::Route(route))),
            rule: path
                .route
                .zip(path.rule)
                .map(|(route, rule)| name(Node::Rule(route, rule))),
            backend: end.map(name),
        }
    }

    /// The evaluated places that have a spot, whether something applies there or not.
    pub(super) fn places(&self, spot: Spot) -> Vec<usize> {
        let Some(route) = spot.route else {
            let gateway = self.gateways.get(&spot.gateway);
            return gateway.map(|gateway| gateway.places.clone()).unwrap_or_default();
        };
        let at = (spot.gateway, spot.listener.unwrap_or(spot.gateway));
        let route = self.routes.get(&route);
        let attached = route.and_then(|route| route.attached.get(&at)).into_iter();
        let has_rule = |rules: &[Name]| spot.rule.is_none_or(|rule| rules.contains(&rule));
        let places = attached.flatten().filter(|(_, rules)| has_rule(rules));
        places.map(|(place, _)| *place).collect()
    }

    /// The locators of a spot, from its Gateway on.
    pub(super) fn path(&self, spot: Spot) -> OutcomePath {
        spot.names().map(|name| self.locator(name)).collect()
    }

    /// Everything, with where it is, and how its kinds are written.
    pub(super) fn entries(
        mut self,
        locate: &dyn Locate,
        lists: &mut PlaceLists<'_>,
    ) -> (Vec<GatewayEntry>, Vec<RouteEntry>, BTreeMap<String, String>) {
        let line = |object: &Object| SourceLine::of(locate, object.place(""));
        let clusters = self.gateways.iter();
        let clusters = clusters.map(|(name, gateway)| (*name, lists.joined(&gateway.places)));
        let clusters: HashMap<Name, Arc<[String]>> = clusters.collect();
        let routes = std::mem::take(&mut self.routes).into_values().map(|route| {
            let attached = route.attached.into_iter().map(|((gateway, listener), places)| {
                let places: Vec<usize> = places.into_iter().map(|(place, _)| place).collect();
                let joined = lists.joined(&places);
                let of_gateway = clusters.get(&gateway);
                let is_everywhere = of_gateway.is_none_or(|clusters| Arc::ptr_eq(clusters, &joined));
                AttachedEntry {
                    listener: self.locator(listener),
                    clusters: if is_everywhere { Arc::default() } else { joined },
                }
            });
            RouteEntry {
                place: line(route.object),
                rules: route.rules.into_values().collect(),
                attached: attached.collect(),
                ..route.entry
            }
        });
        let routes = routes.collect();
        let gateways = self.gateways.into_iter().map(|(name, gateway)| GatewayEntry {
            place: gateway.object.and_then(line),
            clusters: clusters.get(&name).cloned().unwrap_or_default(),
            listeners: gateway.listeners.into_values().collect(),
            ..gateway.entry
        });
        (gateways.collect(), routes, self.kind_names)
    }
}

impl GatewayEntry {
    fn new(gateway: Arc<str>) -> Self {
        Self {
            gateway,
            place: None,
            class: String::new(),
            placement: None,
            local: false,
            clusters: Arc::default(),
            listeners: Vec::new(),
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
