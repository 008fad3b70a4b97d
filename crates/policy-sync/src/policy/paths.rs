//! The paths from one Gateway, or from one Service of a mesh, for one policy kind, and the settings that apply on each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::Work;

use super::attachment::{Attachments, itself};
use super::effective::{Effective, Losses, PathEffective};
use super::merge::{adds_up, fill, fill_alone, is_of_gateway, levels_to_merge, merge};
use super::model::{Entry, KindId, Leaf, NodePolicies, PolicyId};
use super::products::{self, Generation, waypoint_class};
use super::profile::{Class, Dictates, Filled, Paths, Profile, StatusShape};
use crate::diagnostic::{Finding, Place};
use crate::topology::{
    BackendId, GatewayId, GatewayNode, Level, ListenerId, Node, Path, RouteId, RouteNode, RuleId, Start,
    Topology,
};

/// The work for a path. Paths multiply: ten Gateways of 64 listeners with a hundred routes of 16 rules, which fit into a
/// file of 200 kilobytes, have a million.
const STEPS_PER_PATH: u64 = 15;

/// The work for a setting that applies; paths with the same policies count once: a list of ten thousand elements that each
/// of a thousand routes adds one to is ten million.
const STEPS_PER_SETTING: u64 = 10;

/// More work for an element of a list that was put together: it is made anew, and what was not merged is shared.
const STEPS_PER_ELEMENT: u64 = 40;

/// That there was too little work for the paths of a run: then no result of it is whole.
pub fn too_many_paths(work: &Work) -> Option<Finding> {
    work.is_spent().then(|| {
        let consequence = "effective policies are not reported";
        Finding::too_costly("evaluating policies on all paths", Place::Run, consequence)
            .note("a path leads from a Gateway through a listener and a route to a rule or a backend, on clusters that are alike")
            .help("name the listener in `parentRefs` (`sectionName`), or look at fewer clusters: `--cluster NAME`")
    })
}

/// The paths of one kind from one start; `is_refined`: in full detail, listeners, rules, and ports whether or not a policy
/// names one. The second part is then what applies to anything that might yet come below a node: to any listener, route,
/// rule, or port.
pub(super) fn paths_from(
    attachments: &Attachments<'_>,
    kind: KindId,
    (start, is_refined): (Start, bool),
    work: &Work,
) -> [Vec<PathEffective>; 2] {
    let kind_of = attachments.kinds.get(kind);
    if kind_of.nodes.is_empty() {
        return Default::default();
    }
    let mut walk = Walk::from(
        attachments,
        (Some(kind), &kind_of.profile),
        (start, is_refined),
        work,
    );
    // There are as many paths as routes, and the caller keeps them.
    walk.found.shrink_to_fit();
    [walk.found, walk.for_any]
}

/// Every path from a start in full detail, policies or none.
pub(crate) fn all_paths_from(attachments: &Attachments<'_>, start: Start, work: &Work) -> Vec<Path> {
    let profile = Profile {
        in_mesh: true,
        paths: Paths::EveryLevel,
        ends: vec![
            Level::Gateway,
            Level::Listener,
            Level::Route,
            Level::Rule,
            Level::Backend,
            Level::Port,
        ],
        ..Profile::default()
    };
    Walk::from(attachments, (None, &profile), (start, false), work).all
}

/// A place on the way: its level, its node, who is there.
type PathStep<'l> = (Level, Node, &'l [Entry]);

/// Who is on the way, and the listener and the kind of the route where they make a difference.
type OnTheWay<'l> = (Vec<(Level, Node)>, Option<ListenerId>, Option<&'l str>);

struct Walk<'l, 'a> {
    profile: &'l Profile,
    topology: &'l Topology<'a>,
    attachments: &'l Attachments<'a>,
    work: &'l Work,
    /// None: paths count without policies.
    kind: Option<KindId>,
    /// Whether every path is divided as far as traffic can be told apart.
    is_refined: bool,
    known: HashMap<OnTheWay<'l>, Arc<Effective>>,
    found: Vec<PathEffective>,
    /// What applies to anything that might come below a node.
    for_any: Vec<PathEffective>,
    /// The paths without policies.
    all: Vec<Path>,
}

impl<'l, 'a> Walk<'l, 'a> {
    fn from(
        attachments: &'l Attachments<'a>,
        (kind, profile): (Option<KindId>, &'l Profile),
        (start, is_refined): (Start, bool),
        work: &'l Work,
    ) -> Self {
        let mut walk = Self {
            profile,
            topology: &attachments.topology,
            attachments,
            work,
            kind,
            is_refined,
            known: HashMap::new(),
            found: Vec::new(),
            for_any: Vec::new(),
            all: Vec::new(),
        };
        match start {
            Start::Gateway(gateway) => walk.gateway(gateway),
            Start::Service(service) => walk.service(service),
        }
        walk
    }

    fn ends(&self, level: Level) -> bool {
        self.profile.ends.contains(&level)
    }

    fn every_level(&self) -> bool {
        self.is_refined || self.profile.paths == Paths::EveryLevel
    }

    /// The policies of the kind on a node.
    fn placed(&self, node: Node) -> Option<&'l NodePolicies> {
        self.attachments.placed(self.kind?, node)
    }

    fn stop(&self, level: Level, node: Node) -> PathStep<'l> {
        let entries = self.placed(node).map(NodePolicies::counting);
        (level, node, entries.unwrap_or_default())
    }

    /// A stop as it counts at a listener.
    fn at_listener(&self, stop: PathStep<'l>, listener: ListenerId) -> PathStep<'l> {
        let (level, node, _) = stop;
        let placed = self.placed(node);
        let refused = placed.and_then(|placed| placed.refused_at.get(&listener));
        refused.map_or(stop, |refused| (level, node, refused.left.as_slice()))
    }

    /// What holds at the waypoint of a Service, of kinds that hold for workloads: for its class, for itself, for the
    /// Service (docs/systems/other-policies.md#waypoints).
    fn waypoint(&self, level: Level, service: BackendId) -> Vec<PathStep<'l>> {
        let waypoint = self.attachments.waypoints.get(&service);
        let nodes = waypoint.map(|waypoint| {
            let class = self.topology.gateways.get(waypoint.gateway).class;
            [Node::Class(class), Node::Gateway(waypoint.gateway)]
        });
        let targeted = nodes.into_iter().flatten().map(|node| self.stop(level, node));
        let own = Node::Backend(service);
        let entries = self.placed(own).map(|placed| placed.at_waypoint.as_slice());
        join(&[], targeted.chain([(level, own, entries.unwrap_or_default())]))
    }

    /// The stops of what holds for the mesh.
    fn mesh(&self) -> impl Iterator<Item = PathStep<'l>> {
        let root = self.attachments.mesh.into_iter();
        root.map(|root| self.stop(Level::Mesh, Node::Mesh(root)))
    }

    fn goes_on_to_routes(&self) -> bool {
        let levels = [Level::Route, Level::Rule, Level::Backend, Level::Port];
        levels.into_iter().any(|level| self.ends(level))
    }

    /// The paths that clients inside a mesh take: to a Service, and through the routes whose parent it is.
    fn service(&mut self, service: BackendId) {
        if !self.profile.in_mesh || !self.goes_on_to_routes() {
            return;
        }
        let own = if self.profile.of_workloads {
            self.waypoint(Level::Service, service)
        } else {
            vec![self.stop(Level::Service, Node::Backend(service))]
        };
        let head: Vec<PathStep<'l>> = self.mesh().chain(own).collect();
        for route in &self.topology.backends.get(service).meshed {
            if self.work.is_spent() {
                return;
            }
            let node = self.topology.routes.get(*route);
            if self.profile.targeting.concerns_route(&node.object.kind) {
                let mut path = Path::from(Start::Service(service));
                path.route = Some(*route);
                self.route(path, node, *route, &head);
            }
        }
    }

    fn gateway(&mut self, id: GatewayId) {
        let gateway = self.topology.gateways.get(id);
        let class = self.stop(Level::GatewayClass, Node::Class(gateway.class));
        let namespace = self.stop(Level::GatewayNamespace, Node::Namespace(gateway.namespace));
        let own = self.stop(Level::Gateway, Node::Gateway(id));
        // At a waypoint, policies without a target do not apply (docs/systems/other-policies.md#istio).
        let is_waypoint = self.topology.classes.get(gateway.class).name == waypoint_class();
        let head: Vec<PathStep<'l>> = if self.profile.of_workloads && !self.ends(Level::Gateway) {
            // What holds at the workloads of a backend is not one of the Gateway's business.
            self.mesh().collect()
        } else if self.profile.of_workloads && is_waypoint {
            vec![class, own]
        } else {
            self.mesh().chain([class, namespace, own]).collect()
        };
        let path = Path::from(Start::Gateway(id));
        self.emit_if(self.ends(Level::Gateway), path, &head);
        let ignored =
            products::all().flat_map(|product| product.ignored_listeners(self.profile, self.topology, id));
        let ignored: BTreeSet<ListenerId> = ignored.collect();
        // A policy on a ListenerSet comes before one on its listener: both on the level of listeners, the section last.
        let listeners: BTreeMap<ListenerId, Vec<PathStep<'l>>> = gateway
            .listeners
            .iter()
            // No traffic comes to one that gives way.
            .filter(|listener| self.topology.listeners.get(**listener).gives_way_to.is_none())
            .filter(|listener| !ignored.contains(*listener))
            .map(|listener| {
                let set = self.topology.listeners.get(*listener).set;
                let set = set.map(|set| self.stop(Level::Listener, Node::ListenerSet(set)));
                let own = self.stop(Level::Listener, Node::Listener(id, *listener));
                (*listener, set.into_iter().chain([own]).collect())
            })
            .collect();
        let named = |stops: &Vec<PathStep<'l>>| stops.iter().any(|(_, _, entries)| !entries.is_empty());
        // A policy on a listener decides there for kinds that else end at the Gateway.
        let also_below_gateway = self.ends(Level::Gateway);
        for (listener, stops) in &listeners {
            let mut path = path;
            path.listener = Some(*listener);
            if self.ends(Level::Listener) || (also_below_gateway && (self.is_refined || named(stops))) {
                let stops = join(&head, stops.iter().copied()).into_iter();
                let stops: Vec<PathStep<'l>> = stops.map(|stop| self.at_listener(stop, *listener)).collect();
                self.emit(path, &stops);
            } else {
                self.emit_if(false, path, &join(&head, stops.iter().copied()));
            }
        }
        if !self.goes_on_to_routes() {
            return;
        }
        let inherited = self.profile.class == Class::Inherited;
        self.listeners_without_routes((id, gateway), &head, &listeners);
        // Without a policy on any listener, all listeners of a route come to the same: one path tells it.
        let split = self.every_level() || (inherited && listeners.values().any(named));
        for (listener, route) in self.routes((gateway, &ignored), split) {
            if self.work.is_spent() {
                return;
            }
            let node = self.topology.routes.get(route);
            if !self.profile.targeting.concerns_route(&node.object.kind) {
                continue;
            }
            let stops = listener.and_then(|listener| listeners.get(&listener));
            let above = match stops {
                Some(stops) => join(&head, stops.iter().copied()),
                None => head.clone(),
            };
            let mut path = path;
            (path.listener, path.route) = (listener, Some(route));
            self.route(path, node, route, &above);
        }
    }

    /// A listener on which no route hangs that the kind is about: what will hold for any route that comes. It may well
    /// live where the input does not say. A route that is only taken to be there is no reason to leave that out.
    fn listeners_without_routes(
        &mut self,
        (id, gateway): (GatewayId, &GatewayNode<'_>),
        head: &[PathStep<'l>],
        listeners: &BTreeMap<ListenerId, Vec<PathStep<'l>>>,
    ) {
        if self.ends(Level::Gateway) || self.ends(Level::Listener) || self.profile.of_workloads {
            return;
        }
        let topology = self.topology;
        let concerns = |route: RouteId| {
            let route = topology.routes.get(route);
            !route.assumed && self.profile.targeting.concerns_route(&route.object.kind)
        };
        let attached = gateway.attached.iter();
        let taken = attached.filter(|(_, route)| concerns(*route));
        let taken: BTreeSet<ListenerId> = taken.map(|(listener, _)| *listener).collect();
        for (listener, stops) in listeners.iter().filter(|(listener, _)| !taken.contains(listener)) {
            let mut path = Path::from(Start::Gateway(id));
            path.listener = Some(*listener);
            self.emit(path, &join(head, stops.iter().copied()));
        }
    }

    /// The routes of the Gateway: per listener, or each once.
    fn routes(
        &self,
        (gateway, ignored): (&GatewayNode<'_>, &BTreeSet<ListenerId>),
        split: bool,
    ) -> Vec<(Option<ListenerId>, RouteId)> {
        let attached = gateway.attached.iter();
        let attached = attached.filter(|(listener, _)| !ignored.contains(listener));
        if split {
            let split = attached.map(|(listener, route)| (Some(*listener), *route));
            return split.collect();
        }
        let routes: BTreeSet<RouteId> = attached.map(|(_, route)| *route).collect();
        routes.into_iter().map(|route| (None, route)).collect()
    }

    fn route(&mut self, path: Path, node: &'l RouteNode<'_>, route: RouteId, above: &[PathStep<'l>]) {
        let namespace = self.stop(Level::RouteNamespace, Node::Namespace(node.namespace));
        // No workload is a route.
        let namespace = (!self.profile.of_workloads).then_some(namespace);
        let own = self.stop(Level::Route, Node::Route(route));
        let above = join(above, namespace.into_iter().chain([own]));
        self.emit_if(self.ends(Level::Route), path, &above);
        let topology = self.topology;
        let hands_on = |rule: &RuleId| topology.delegations_from(path.via, *rule).next().is_some();
        let rules = topology.rules_on(path.via, route).into_iter();
        let (handing_on, taking): (Vec<RuleId>, Vec<RuleId>) = rules.partition(hands_on);
        for rule in handing_on {
            let above = join(&above, [self.stop(Level::Rule, Node::Rule(route, rule))]);
            for (way, child) in topology.delegations_from(path.via, rule) {
                if self.work.is_spent() {
                    return;
                }
                let mut path = path;
                // The policies of the delegating route and rule come before those of the child
                // (docs/systems/other-policies.md#route-delegation).
                (path.via, path.route) = (Some(way), Some(child));
                self.route(path, topology.routes.get(child), child, &above);
            }
        }
        let rules = taking.iter().map(|rule| {
            let stop = self.stop(Level::Rule, Node::Rule(route, *rule));
            (*rule, at_rule(path, *rule), join(&above, [stop]))
        });
        let rules: Vec<(RuleId, Path, Vec<PathStep<'l>>)> = rules.collect();
        // Nothing is joined to what is above a rule without policies.
        let is_named = |stops: &[PathStep<'l>]| stops.len() > above.len();
        for (_, path, stops) in &rules {
            let is_end = self.ends(Level::Rule);
            let always = self.profile.class == Class::Inherited || !self.ends(Level::Route);
            if !is_end || always || self.is_refined || is_named(stops) {
                self.emit_if(is_end, *path, stops);
            }
        }
        if !self.ends(Level::Backend) && !self.ends(Level::Port) {
            return;
        }
        self.without_backend(path, &taking, &above);
        let split = self.every_level()
            || (self.profile.class == Class::Inherited && rules.iter().any(|(.., stops)| is_named(stops)));
        if split {
            for (rule, path, stops) in &rules {
                for backend in &topology.rules.get(*rule).backends {
                    self.backend(*path, *backend, stops);
                }
            }
        } else {
            let mut seen = BTreeSet::new();
            let rules = taking.iter().map(|rule| topology.rules.get(*rule));
            for backend in rules.flat_map(|rule| &rule.backends) {
                if seen.insert(*backend) {
                    self.backend(path, *backend, &above);
                }
            }
        }
    }

    fn backend(&mut self, path: Path, backend: BackendId, above: &[PathStep<'l>]) {
        let mut path = path;
        path.backend = Some(backend);
        let known = self.topology.backends.get(backend);
        let namespace = self.topology.namespace_of(backend);
        // The hierarchy of GEP-713 has no namespace of the backend (docs/systems/gep-713.md#hierarchy); only kinds for
        // workloads do.
        let namespace = namespace.filter(|_| self.profile.of_workloads);
        let namespace = namespace.map(|id| self.stop(Level::BackendNamespace, Node::Namespace(id)));
        // What holds for the mesh passes a waypoint by, and not what is behind it.
        let is_met = above.iter().any(|(level, ..)| *level == Level::Mesh);
        let mesh = self.mesh().filter(|_| !is_met);
        let own = mesh.chain(namespace).chain(self.at_backend(&path, backend));
        let above = join(above, own);
        let ports = &known.ports;
        // Where paths end at ports, a backend whose ports nobody knows ends its path itself.
        self.emit_if(self.ends(Level::Backend) || ports.is_empty(), path, &above);
        for port in ports {
            let stop = self.stop(Level::Port, Node::Port(backend, *port));
            if self.ends(Level::Port) || self.is_refined || !stop.2.is_empty() {
                let mut path = path;
                path.port = Some(*port);
                self.emit(path, &join(&above, [stop]));
            }
        }
    }

    /// What holds at a backend itself. Of kinds that hold for workloads, what names a Service holds at its waypoint,
    /// which only some of what Gateways send to it passes; a path that begins at a Service has passed its own.
    fn at_backend(&self, path: &Path, backend: BackendId) -> Vec<PathStep<'l>> {
        let own = Node::Backend(backend);
        if !self.profile.of_workloads {
            return vec![self.stop(Level::Backend, own)];
        }
        let waypoint = self.attachments.waypoints.get(&backend);
        let mut stops = Vec::new();
        if path.gateway().is_some() && waypoint.is_some_and(|waypoint| waypoint.takes_ingress) {
            stops = self.waypoint(Level::Backend, backend);
        }
        let entries = self.placed(own).map(|placed| placed.at_workloads.as_slice());
        stops.push((Level::Backend, own, entries.unwrap_or_default()));
        stops
    }

    /// What answers the request itself, a redirect say, leads to no workload; in a mesh it has passed the waypoint
    /// nevertheless.
    fn without_backend(&mut self, path: Path, rules: &[RuleId], above: &[PathStep<'l>]) {
        if !self.profile.of_workloads || path.gateway().is_some() {
            return;
        }
        let mut stops = above.to_vec();
        stops.retain(|(level, ..)| *level != Level::Mesh);
        for rule in rules {
            if self.topology.rules.get(*rule).backends.is_empty() {
                self.emit(at_rule(path, *rule), &stops);
            }
        }
    }

    /// Adds a path that ends there, or else, in full detail, what applies to anything that might come below.
    fn emit_if(&mut self, is_end: bool, path: Path, stops: &[PathStep<'l>]) {
        if is_end {
            self.emit(path, stops);
        } else if self.is_refined {
            let found = self.found.len();
            self.emit(path, stops);
            self.for_any.extend(self.found.drain(found..));
        }
    }

    /// Adds a path if any policy counts on it.
    fn emit(&mut self, path: Path, stops: &[PathStep<'l>]) {
        if self.kind.is_none() {
            if self.work.pay(1, STEPS_PER_PATH) {
                self.all.push(path);
            }
            return;
        }
        let end = path.end();
        let counts =
            |(level, _, entries): &&PathStep<'l>| !entries.is_empty() && self.profile.counts(*level, end);
        let occupied: Vec<&PathStep<'l>> = stops.iter().filter(counts).collect();
        if occupied.is_empty() || !self.work.pay(1, STEPS_PER_PATH) {
            return;
        }
        // Paths with the same policies on them share one result: of a thousand routes below a Gateway most have none of
        // their own.
        let topology: &'l Topology<'_> = self.topology;
        let route = path
            .route
            .map(|route| topology.routes.get(route).object.kind.as_str());
        let filled = route.and_then(|route| self.profile.filled(route));
        // Otherwise, each listener of a Gateway would have a result of its own.
        let listener = path.listener.filter(|listener| {
            let mut placed = occupied.iter().filter_map(|(_, node, _)| self.placed(*node));
            placed.any(|placed| placed.refused_at.contains_key(listener))
        });
        // A TCPRoute gets other settings than an HTTPRoute below the same policies
        // (docs/systems/envoy-gateway.md#levels).
        let of_kind = route.filter(|_| filled.is_some());
        let on_the_way = occupied.iter().map(|(level, node, _)| (*level, *node));
        let key = (on_the_way.collect(), listener, of_kind);
        let (profile, attachments, work) = (self.profile, self.attachments, self.work);
        let effective = self.known.entry(key).or_insert_with(|| {
            let on_the_way = (path.start.node(), listener, occupied.as_slice());
            let effective = combine((profile, filled), attachments, on_the_way, work);
            let settings = effective.content.len().saturating_add(effective.losses.len());
            let leaves = effective.content.values();
            let elements = leaves.filter(|leaf| leaf.element.is_some()).count();
            work.pay(settings, STEPS_PER_SETTING);
            work.pay(elements, STEPS_PER_ELEMENT);
            Arc::new(effective)
        });
        let effective = Arc::clone(effective);
        self.found.push(PathEffective { path, effective });
    }
}

fn at_rule(mut path: Path, rule: RuleId) -> Path {
    path.rule = Some(rule);
    path
}

/// The stops above and more, but for those where nobody is.
fn join<'l>(above: &[PathStep<'l>], more: impl IntoIterator<Item = PathStep<'l>>) -> Vec<PathStep<'l>> {
    let all = above.iter().copied().chain(more);
    all.filter(|(_, _, entries)| !entries.is_empty()).collect()
}

fn combine(
    (profile, filled): (&Profile, Option<&Filled>),
    attachments: &Attachments<'_>,
    (start, listener, stops): (Node, Option<ListenerId>, &[&PathStep<'_>]),
    work: &Work,
) -> Effective {
    let levels = || stops.iter().map(|(level, _, entries)| (*level, *entries));
    let chain: Vec<(Level, PolicyId)> = levels()
        .flat_map(|(level, entries)| entries.iter().map(move |entry| (level, entry.policy)))
        .collect();
    let refused = stops.iter().flat_map(|(_, node, entries)| {
        let ids = entries.iter().map(|entry| entry.policy);
        ids.filter(|id| attachments.refuses(*id, *node, listener))
    });
    let mut refused: BTreeSet<PolicyId> = refused.collect();
    // What a policy is merged with is read as it is written; what comes of it may be refused
    // (`envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`).
    let last = levels().next_back();
    let is_merged = profile.status == StatusShape::EnvoyGateway
        && last.is_some_and(|(_, entries)| entries.iter().any(Entry::merges));
    let generations = generations(profile, &attachments.topology, (start, stops));
    let mut content = if is_merged {
        let written = levels().map(|(level, entries)| {
            let written = entries.iter().map(|entry| attachments.entry(entry.policy));
            (level, written.collect())
        });
        let written: Vec<(Level, Vec<Entry>)> = written.collect();
        let written = written
            .iter()
            .map(|(level, entries)| (*level, entries.as_slice()));
        let levels = levels_to_merge(profile.dictates, written);
        if products::all().any(|product| product.refuses_merged(profile, &levels)) {
            // Only the policy that asked for the merge is refused, and with it nothing applies.
            refused.extend(chain.last().map(|(_, id)| *id));
            Arc::default()
        } else {
            merge(profile, &levels, &|id| attachments.locator(id))
        }
    } else {
        let home = |id: PolicyId| attachments.policy(id).object.namespace_or_empty();
        let inherited = products::all().find_map(|product| product.inherited(profile, &generations, &home));
        let usual = || {
            let levels = levels_to_merge(profile.dictates, levels());
            merge(profile, &levels, &|id| attachments.locator(id))
        };
        inherited.map_or_else(usual, Arc::new)
    };
    match filled {
        Some(filled) if filled.only => {
            let levels: Vec<_> = levels().collect();
            let (alone, wrong) = fill_alone(&content, filled, &levels);
            content = Arc::new(alone);
            refused.extend(wrong);
        }
        Some(filled) => {
            let every: Vec<&[Entry]> = levels().map(|(_, entries)| entries).collect();
            fill(Arc::make_mut(&mut content), filled, &every);
        }
        None => {}
    }
    let mut losses = Vec::new();
    let author_of = |key: &str, leaf: &Leaf| attachments.author_of(key, leaf);
    let is_many = |(_, id): &(Level, PolicyId)| attachments.policy(*id).authored.len() > 1;
    // Elsewhere an empty policy takes no other's place merely by being the most specific one, nor where routes take some
    // fields of each.
    let takes_all = filled.is_none_or(|filled| !filled.only);
    let dictates = profile.dictates == Dictates::Challenger && takes_all;
    let dictating = chain.last().filter(|_| dictates).map(|(_, id)| itself(*id));
    let all_apply = adds_up(profile, levels().map(|(_, entries)| entries));
    if !all_apply && (chain.len() > 1 || chain.iter().any(is_many)) {
        let mut noting = Losses::new(profile, &content, &author_of, dictating, work);
        // What is refused would have had no effect anyway.
        let mut seen = refused.clone();
        for (_, id) in chain.iter().filter(|(_, id)| seen.insert(*id)) {
            for (author, authored) in attachments.policy(*id).authors(*id) {
                noting.note(author, &authored.layers);
            }
        }
        losses = noting.noted;
    }
    if let Some(translated) = products::all().find_map(|product| product.translated(profile, &content)) {
        content = Arc::new(translated);
    }
    Effective {
        content,
        chain,
        steps: steps_of(stops),
        losses,
        refused,
    }
}

/// The stops of the Gateway's side, then those of each route with its rules, the outermost first.
fn generations<'l>(
    profile: &Profile,
    topology: &'l Topology<'_>,
    (start, stops): (Node, &[&PathStep<'l>]),
) -> Vec<Generation<'l>> {
    let mut owned: Vec<(Option<Node>, Generation<'l>)> = Vec::new();
    for (level, node, entries) in stops {
        let owner = match node {
            // The annotation of the Gateway is for its class, its Namespace, and its listeners as well.
            _ if is_of_gateway(*level) => None,
            Node::Rule(route, _) => Some(Node::Route(*route)),
            node => Some(*node),
        };
        let is_route = matches!(owner, None | Some(Node::Route(_)));
        match owned.last_mut() {
            // What is behind the routes is on the side of the last one.
            Some((known, (_, levels))) if *known == owner || (!is_route && known.is_some()) => {
                levels.push(entries);
            }
            _ => {
                let annotation = profile.inheritance.as_ref().and_then(|inheritance| {
                    let object = topology.object(owner.unwrap_or(start))?;
                    object.annotation(&inheritance.annotation)
                });
                owned.push((owner, (annotation, vec![entries])));
            }
        }
    }
    let mut generations: Vec<Generation<'l>> = owned.into_iter().map(|(_, generation)| generation).collect();
    // Of the last one nobody inherits.
    if let Some((annotation, _)) = generations.last_mut() {
        *annotation = None;
    }
    generations
}

/// How many steps below the start of the path each policy first is: policies of one step are peers.
fn steps_of(stops: &[&PathStep<'_>]) -> HashMap<PolicyId, usize> {
    let mut steps = HashMap::new();
    let mut last: Option<(Level, Node)> = None;
    let mut step = 0_usize;
    for (level, node, entries) in stops {
        let other_route =
            matches!((last, node), (Some((_, Node::Route(one))), Node::Route(other)) if one != *other);
        if last.is_some_and(|(above, _)| above != *level) || other_route {
            step = step.saturating_add(1);
        }
        last = Some((*level, *node));
        for entry in *entries {
            steps.entry(entry.policy).or_insert(step);
        }
    }
    steps
}
