//! The hierarchy that a page shows policies on: Gateways, their listeners, routes with their rules, backends. It has their
//! order and positions, and finds them in every evaluated topology and by the locators that reports use.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use apimachinery::Identity;
use kube_json::Value;

use super::document::{BackendRow, Interned, ListenerRow, Position, RuleRow, Tables, entry, signed};
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use crate::outcome::{PolicyView, Seen};
use crate::topology::{BackendId, GatewayId, ListenerId, Node, Path, RouteId, Start, Topology};

/// At most so many characters of an expression that a rule matches are shown.
const MOST_OF_A_MATCH: usize = 200;

/// A Gateway, or a Service of a mesh.
pub(super) struct GatewayEntry<'p> {
    pub(super) identity: Identity,
    pub(super) object: Option<&'p Object>,
    pub(super) is_service: bool,
    pub(super) local: bool,
    pub(super) class: String,
    /// Namespace and name of its Placement.
    pub(super) placement: Option<(String, String)>,
    pub(super) listeners: Interned<String, ListenerRow>,
    /// The evaluated places where it is, by position.
    pub(super) places: Vec<usize>,
}

/// Gateway and listener.
type Below = (usize, i32);

/// A route.
pub(super) struct RouteEntry<'p> {
    pub(super) object: &'p Object,
    pub(super) local: bool,
    pub(super) hosts: Vec<String>,
    pub(super) rules: Vec<RuleRow>,
    /// The Gateways and listeners that it is attached to, and the places where it is.
    pub(super) on: Interned<Below, (Below, Vec<usize>)>,
}

/// A place on a path: Gateway, listener, route, rule, backend; -1 for what it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) gateway: usize,
    pub(super) listener: i32,
    pub(super) route: i32,
    pub(super) rule: i32,
    pub(super) backend: i32,
}

impl Spot {
    /// As a page has it.
    pub(super) fn row(self) -> Vec<i64> {
        let gateway = super::document::signed(self.gateway);
        let mut row: Vec<i64> = vec![gateway];
        row.extend([self.listener, self.route, self.rule].map(i64::from));
        if self.backend >= 0 {
            row.push(self.backend.into());
        }
        row
    }
}

/// Where the things of one topology are on the page.
#[derive(Default)]
pub(super) struct Map {
    pub(super) starts: BTreeMap<Start, usize>,
    pub(super) listeners: HashMap<ListenerId, i32>,
    pub(super) routes: HashMap<RouteId, i32>,
    /// Attachments: Gateway, listener, route.
    pub(super) attached: BTreeSet<(usize, i32, i32)>,
    /// The listeners of each route below each Gateway.
    by_route: HashMap<(usize, i32), Vec<i32>>,
}

/// Everything, in the order of the page.
#[derive(Default)]
pub(super) struct Hierarchy<'p> {
    pub(super) gateways: Interned<Identity, GatewayEntry<'p>>,
    pub(super) routes: Interned<Identity, RouteEntry<'p>>,
    pub(super) backends: Interned<(Identity, Option<String>), BackendRow>,
    /// Whether rules list their backends: some policy may apply there.
    with_backends: bool,
}

pub(super) fn narrow(position: usize) -> i32 {
    i32::try_from(position).unwrap_or(i32::MAX)
}

impl<'p> Hierarchy<'p> {
    /// The hierarchy of the hub, and a map of it. If a Gateway goes to clusters, the objects there count.
    pub(super) fn of(
        view: &'p PolicyView<'_>,
        tables: &mut Tables<'_>,
        with_backends: bool,
    ) -> (Self, Vec<Map>, Map) {
        let mut hierarchy = Self {
            with_backends,
            ..Self::default()
        };
        let all = Seen {
            clusters: &[],
            attachments: view.hub,
            effective: &view.hub_effective,
        };
        // A Gateway that goes to clusters, but to none of those that the page has, is not on it.
        let is_meant = |tables: &Tables<'_>, start: Start| match start {
            Start::Gateway(gateway) => {
                let clusters = view.clusters_of(&view.hub.topology.gateways.get(gateway).object.key());
                clusters.is_empty() || tables.known(clusters).next().is_some()
            }
            Start::Service(_) => true,
        };
        let of_hub = hierarchy.add((0, all), tables, is_meant);
        let maps = view
            .seen()
            .enumerate()
            .map(|(place, seen)| {
                let evaluated = |_: &Tables<'_>, start: Start| place > 0 || seen.effective.has(start);
                hierarchy.add((place, seen), tables, evaluated)
            })
            .collect();
        (hierarchy, maps, of_hub)
    }

    /// Adds what one place has from the starts that `counts` chooses.
    fn add(
        &mut self,
        (place, seen): (usize, Seen<'p>),
        tables: &mut Tables<'_>,
        counts: impl Fn(&Tables<'_>, Start) -> bool,
    ) -> Map {
        let topology = &seen.attachments.topology;
        // The hub is no cluster.
        let place = (place > 0).then_some(place);
        let mut map = Map::default();
        for start in topology.starts() {
            if !counts(tables, start) {
                continue;
            }
            let position = match start {
                Start::Gateway(gateway) => self.gateway(topology, gateway, &mut map),
                Start::Service(service) => self.service(topology, service),
            };
            map.starts.insert(start, position);
            if let Some(entry) = self.gateways.list.get_mut(position) {
                entry.places.extend(place);
            }
            let attached = topology.attached(start);
            if tables.take(attached.len()) {
                for (listener, route) in attached {
                    // A Service is drawn with one listener.
                    let known = |listener| map.listeners.get(&listener).copied().unwrap_or(-1);
                    let listener = listener.map_or(0, known);
                    self.attach(topology, route, (position, listener), place, &mut map);
                }
            }
        }
        // Those that are attached to nothing are a row, too.
        if place.is_none() {
            for (id, _) in topology.routes.iter() {
                let mut starts = topology.starts_of(Node::Route(id)).into_iter().peekable();
                if starts.peek().is_none() || starts.any(|start| counts(tables, start)) {
                    self.route(topology, id, true, &mut map);
                }
            }
        }
        map
    }

    fn gateway(&mut self, topology: &Topology<'p>, id: GatewayId, map: &mut Map) -> usize {
        let node = topology.gateways.get(id);
        let object = node.known_as();
        let identity = object.identity();
        let position = self.gateways.position(identity.clone(), || GatewayEntry {
            object: Some(object),
            is_service: false,
            local: node.local,
            class: node
                .original_class()
                .unwrap_or(topology.classes.get(node.class).name)
                .to_owned(),
            placement: object
                .label(PLACEMENT_LABEL)
                .map(|name| (object.namespace_or_empty().to_owned(), name.to_owned())),
            listeners: Interned::default(),
            places: Vec::new(),
            identity,
        });
        if let Some(entry) = self.gateways.list.get_mut(position) {
            for listener in &node.listeners {
                let row = topology.listeners.get(*listener);
                let locator = topology.locator(Node::Listener(id, *listener));
                let at = entry.listeners.position(locator, || ListenerRow {
                    name: row.name.to_owned(),
                    host: row.hostname().unwrap_or("*").to_owned(),
                    port: row.port(),
                    protocol: row.protocol().to_owned(),
                    set: row
                        .set
                        .map(|set| topology.identity(Node::ListenerSet(set)).to_string()),
                });
                map.listeners.insert(*listener, narrow(at));
            }
        }
        position
    }

    /// A Service of a mesh is drawn as a Gateway with one listener: requests come to it by its name.
    fn service(&mut self, topology: &Topology<'p>, id: BackendId) -> usize {
        let identity = topology.identity(Node::Backend(id));
        let object = topology.backends.get(id).object;
        self.gateways.position(identity.clone(), || {
            let mut listeners = Interned::default();
            listeners.position(String::new(), || ListenerRow {
                name: "requests inside the mesh".to_owned(),
                host: match &identity.namespace {
                    Some(namespace) => format!("{}.{namespace}", identity.name),
                    None => identity.name.clone(),
                },
                port: None,
                protocol: String::new(),
                set: None,
            });
            GatewayEntry {
                object,
                is_service: true,
                local: false,
                class: String::new(),
                placement: None,
                listeners,
                places: Vec::new(),
                identity,
            }
        })
    }

    fn attach(
        &mut self,
        topology: &Topology<'p>,
        route: RouteId,
        at: (usize, i32),
        place: Option<usize>,
        map: &mut Map,
    ) {
        let position = self.route(topology, route, place.is_none(), map);
        if !map.attached.insert((at.0, at.1, position)) {
            return;
        }
        map.by_route.entry((at.0, position)).or_default().push(at.1);
        let entry = usize::try_from(position).ok();
        if let Some(entry) = entry.and_then(|position| self.routes.list.get_mut(position)) {
            let position = entry.on.position(at, || (at, Vec::new()));
            if let Some((_, there)) = entry.on.list.get_mut(position) {
                there.extend(place);
            }
        }
    }

    /// The position of a route. The hub is looked at first: what only a cluster has lives there.
    fn route(&mut self, topology: &Topology<'p>, id: RouteId, is_hub: bool, map: &mut Map) -> i32 {
        if let Some(known) = map.routes.get(&id) {
            return *known;
        }
        let node = topology.routes.get(id);
        let position = self.routes.position(node.object.identity(), || RouteEntry {
            object: node.object,
            local: !is_hub,
            hosts: strings(node.object.value.pointer("/spec/hostnames")),
            rules: Vec::new(),
            on: Interned::default(),
        });
        // A cluster may have its own route of this name, with more rules.
        let known = self
            .routes
            .list
            .get(position)
            .map_or(0, |entry| entry.rules.len());
        for (number, rule) in node.rules.iter().enumerate().skip(known) {
            let node_of_rule = topology.rules.get(*rule);
            let mut row = rule_row(node.object, number);
            if self.with_backends {
                let backends = node_of_rule.backends.iter();
                row.b = backends.map(|backend| self.backend(topology, *backend)).collect();
            }
            if let Some(entry) = self.routes.list.get_mut(position) {
                entry.rules.push(row);
            }
        }
        map.routes.insert(id, narrow(position));
        narrow(position)
    }

    /// The position of a backend.
    pub(super) fn backend(&mut self, topology: &Topology<'_>, backend: BackendId) -> usize {
        let identity = topology.identity(Node::Backend(backend));
        let text = identity.to_string();
        self.backends
            .position((identity, None), || BackendRow { text, of: None })
    }

    /// The position of a port of a backend.
    pub(super) fn port(&mut self, topology: &Topology<'_>, node: Node, backend: BackendId) -> usize {
        let of = self.backend(topology, backend);
        let identity = topology.identity(node);
        let name = topology.section(node).unwrap_or_default().to_owned();
        let text = format!("{identity}, port {name}");
        self.backends
            .position((identity, Some(name)), || BackendRow { text, of: Some(of) })
    }

    fn rules(&self, route: i32) -> &[RuleRow] {
        let route = entry(&self.routes.list, route);
        route.map(|route| route.rules.as_slice()).unwrap_or_default()
    }

    /// How many rules a route has.
    pub(super) fn rules_of(&self, route: i32) -> usize {
        self.rules(route).len()
    }

    /// Where a path ends, for a page that draws a cell for every rule of every listener: what a path leaves out, as it
    /// does not matter, stands for all that there are.
    pub(super) fn spots(
        &mut self,
        (seen, map): (Seen<'_>, &Map),
        path: &Path,
        tables: &mut Tables<'_>,
    ) -> Vec<Spot> {
        let topology = &seen.attachments.topology;
        let Some(gateway) = map.starts.get(&path.start).copied() else {
            return Vec::new();
        };
        let whole = Spot {
            gateway,
            listener: path
                .listener
                .and_then(|listener| map.listeners.get(&listener).copied())
                .unwrap_or(-1),
            route: -1,
            rule: -1,
            backend: -1,
        };
        let Some(id) = path.route else {
            return vec![whole];
        };
        let Some(route) = map.routes.get(&id).copied() else {
            return Vec::new();
        };
        let rules = &topology.routes.get(id).rules;
        let rule = path
            .rule
            .and_then(|rule| rules.iter().position(|known| *known == rule));
        let backend = path.backend.map(|backend| match path.port {
            Some(port) => self.port(topology, Node::Port(backend, port), backend),
            None => self.backend(topology, backend),
        });
        let of = path.backend.map(|backend| self.backend(topology, backend));
        let listeners = match path.listener {
            Some(_) => vec![whole.listener],
            None => map.by_route.get(&(gateway, route)).cloned().unwrap_or_default(),
        };
        let each = rule.map_or_else(|| self.rules_of(route).max(1), |_| 1);
        if !tables.take(listeners.len().saturating_mul(each)) {
            return Vec::new();
        }
        let rules: Vec<i32> = match (rule, of) {
            (Some(rule), _) => vec![narrow(rule)],
            (None, Some(backend)) => {
                let rules = self.rules(route).iter().zip(0..);
                rules
                    .filter(|(rule, _)| rule.b.contains(&backend))
                    .map(|(_, rule)| rule)
                    .collect()
            }
            (None, None) => vec![-1],
        };
        let backend = backend.map_or(-1, narrow);
        let mut spots = Vec::new();
        for listener in listeners {
            spots.extend(rules.iter().map(|rule| Spot {
                listener,
                route,
                rule: *rule,
                backend,
                ..whole
            }));
        }
        spots
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A rule of a route as it is written.
fn rule_row(route: &Object, number: usize) -> RuleRow {
    let rule = route.value.pointer(&format!("/spec/rules/{number}"));
    let list = |field: &str| {
        let list = rule.and_then(|rule| rule.get(field)?.as_array());
        list.into_iter().flatten()
    };
    let mut matches: Vec<String> = list("matches").map(matched).collect();
    if matches.is_empty() {
        matches.push(if matches!(route.kind.as_str(), "HTTPRoute") {
            "/".to_owned()
        } else {
            "everything".to_owned()
        });
    }
    RuleRow {
        name: rule
            .and_then(|rule| rule.get("name")?.as_str())
            .map(str::to_owned),
        m: matches,
        to: list("backendRefs")
            .map(|backend| forwarded(backend, route.namespace_or_empty()))
            .collect(),
        b: Vec::new(),
    }
}

/// The name of a rule in locators.
pub(super) fn rule_name(rule: &RuleRow, position: usize) -> String {
    match &rule.name {
        Some(name) => name.clone(),
        None => format!("rule-{}", position.saturating_add(1)),
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
        let list = rule.get(field).and_then(Value::as_array).into_iter().flatten();
        for wanted in list {
            let text = |field: &str| wanted.get(field).and_then(Value::as_str).unwrap_or_default();
            words.push(format!("{sign}{}={}", text("name"), text("value")));
        }
    }
    shortened(words.join(" "), MOST_OF_A_MATCH)
}

/// So many characters of a text at most.
pub(super) fn shortened(mut text: String, most: usize) -> String {
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
    let mut words = String::new();
    if let Some(kind) = kind {
        words = format!("{kind} ");
    }
    if let Some(namespace) = namespace {
        words = format!("{words}{namespace}/");
    }
    words.push_str(text("name").unwrap_or_default());
    if let Some(port) = port {
        words = format!("{words}:{port}");
    }
    words
}

/// What a locator names.
#[derive(Debug, Clone, Copy)]
enum Part {
    Gateway(usize),
    Listener(usize, usize),
    Route(usize),
    Rule(usize, usize),
    Backend(usize),
}

/// The places by their locators.
pub(super) struct Paths {
    parts: HashMap<String, Part>,
    /// How many clusters each Gateway has.
    clusters: Vec<usize>,
}

impl Paths {
    pub(super) fn of(hierarchy: &Hierarchy<'_>, tables: &Tables<'_>) -> Self {
        let mut parts = HashMap::new();
        for (number, backend) in hierarchy.backends.keys() {
            let (identity, port) = backend;
            let mut locator = identity.locator();
            if let Some(port) = port {
                locator = format!("{locator}#{port}");
            }
            parts.insert(locator, Part::Backend(number));
        }
        for (number, gateway) in hierarchy.gateways.list.iter().enumerate() {
            parts.insert(gateway.identity.locator(), Part::Gateway(number));
            for (position, locator) in gateway.listeners.keys() {
                parts.insert(locator.clone(), Part::Listener(number, position));
            }
        }
        for (number, route) in hierarchy.routes.list.iter().enumerate() {
            let locator = route.object.identity().locator();
            for (position, rule) in route.rules.iter().enumerate() {
                let name = rule_name(rule, position);
                parts.insert(format!("{locator}#{name}"), Part::Rule(number, position));
            }
            parts.insert(locator, Part::Route(number));
        }
        // A Gateway is in one place of each cluster.
        let of_place = |place: &usize| tables.of_places.get(*place).map_or(0, Vec::len);
        let gateways = hierarchy.gateways.list.iter();
        let clusters = gateways.map(|gateway| gateway.places.iter().map(of_place).sum());
        Self {
            parts,
            clusters: clusters.collect(),
        }
    }

    /// The position of a Gateway of the hub by its locator.
    pub(super) fn gateway(&self, locator: &str) -> Option<usize> {
        match self.parts.get(locator) {
            Some(Part::Gateway(gateway)) => Some(*gateway),
            _ => None,
        }
    }

    /// The place of a path; one that the page does not have, as only the base does, has no Gateway.
    pub(super) fn spot(&self, path: &[String]) -> Vec<Position> {
        let [mut gateway, mut listener, mut route, mut rule, mut backend] = [-1; 5];
        for (number, locator) in path.iter().enumerate() {
            match self.parts.get(locator) {
                Some(Part::Gateway(found)) => gateway = signed(*found),
                Some(Part::Listener(of, found)) => {
                    gateway = signed(*of);
                    listener = signed(*found);
                }
                Some(Part::Route(found)) => route = signed(*found),
                Some(Part::Rule(of, found)) => {
                    route = signed(*of);
                    rule = signed(*found);
                }
                Some(Part::Backend(found)) => backend = signed(*found),
                // The first is a class, which no page lists.
                None if number == 0 => {}
                None => return vec![-1, -1, -1, -1],
            }
        }
        let mut spot = vec![gateway, listener, route, rule];
        if backend >= 0 {
            spot.push(backend);
        }
        spot
    }

    /// On how many clusters a place is.
    pub(super) fn clusters_of(&self, spot: &[Position]) -> usize {
        let clusters = spot.first().and_then(|gateway| entry(&self.clusters, *gateway));
        clusters.copied().unwrap_or_default()
    }
}
