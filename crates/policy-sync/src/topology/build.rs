//! Links the hierarchy.

use std::sync::Arc;

use apimachinery::{GroupKind, Identity, Work};

use super::hierarchy::{
    BackendId, BackendNode, ClassId, ClassNode, GatewayNode, ListenerId, ListenerNode, NamespaceId,
    NamespaceNode, Owned, Owner, RouteId, RouteNode, RuleNode, Topology, object_key, sorted,
};
use super::route_attachment::{MOST_PARENTS, missing_parents, parent_cycles};
use super::sources::{Controllers, Seniority, Sources, Suggestions};
use crate::api::gateway::{GROUP, Gateway, is_listener_set};
use crate::api::route::{ROUTE_KINDS, Route, is_route, service_ports};
use crate::diagnostic::{Finding, Findings};
use crate::hub::Grants;
use crate::object::Object;

/// The work for a listener of a parent of a route: ten Gateways of 64 listeners with 1,500 routes have a million, and fit
/// into a file of half a megabyte.
const STEPS_PER_LISTENER: u64 = 30;

impl<'a> Topology<'a> {
    /// Links everything, in linear time, and reports what is wrong with it. `more_routes` are the kinds that a class syncs.
    pub(crate) fn new(
        (sources, seniority): (Sources<'a>, Seniority),
        grants: &Grants<'a>,
        (more_routes, controllers): (&[GroupKind], &Controllers),
    ) -> (Self, Findings) {
        let mut findings = Findings::new();
        let mut topology = Self {
            more_routes: more_routes
                .iter()
                .filter(|kind| {
                    !is_route(&kind.group, &kind.kind) && !is_listener_set(&kind.group, &kind.kind)
                })
                .cloned()
                .collect(),
            ..Self::default()
        };
        for (object, _) in sources.of_kind("", "Namespace") {
            let namespace = topology.namespace(&object.name);
            topology.namespaces.get_mut(namespace).objects.push(object);
        }
        for object in sources.hub_of_kind("", "Namespace") {
            let namespace = topology.namespace(&object.name);
            topology.namespaces.get_mut(namespace).on_hub = Some(object);
        }
        for (object, _) in sources.of_kind(GROUP, "GatewayClass") {
            let class = topology.class(&object.name);
            topology.classes.get_mut(class).object.get_or_insert(object);
        }
        for (object, local) in sources.of_kind(GROUP, "Gateway") {
            if let Some(gateway) = Gateway::read(object, &mut findings) {
                let original = sources.original(object).map(|original| original.object);
                topology.add_gateway(gateway, original, local);
            }
        }
        let mut near = Suggestions::new(sources);
        topology.attach_listener_sets((sources, seniority), (more_routes, &mut near), &mut findings);
        let mut routes: Vec<Route<'a>> = Vec::new();
        // Gateway API's kinds first, so that the numbers of routes are by kind, namespace, and name.
        let known = ROUTE_KINDS.iter().map(|kind| GroupKind::new(GROUP, *kind));
        let kinds: Vec<GroupKind> = known.chain(topology.more_routes.iter().cloned()).collect();
        for kind in kinds {
            let is_synced = more_routes.contains(&kind);
            let objects: Vec<(&Object, bool)> = sources.of_kind(&kind.group, &kind.kind).collect();
            let read = findings.of_each(&objects, |(object, local), found| {
                Route::read(object, found).map(|route| (route, *local))
            });
            for (route, local) in read.into_iter().flatten() {
                if !local {
                    missing_parents(&topology, sources, (route, is_synced), &mut near, &mut findings);
                }
                routes.push(route);
            }
        }
        topology.bound(&routes, &mut findings);
        topology.routes.reserve(routes.len());
        topology.route_ids.reserve(routes.len());
        topology.backend_ids.reserve(routes.len());
        for route in routes {
            let id = topology.add_route(route, (sources, seniority));
            topology.add_rules(id, (sources, grants));
        }
        // After all rules: a rule may delegate to a route of any later kind or namespace
        // (docs/systems/other-policies.md#route-delegation).
        topology.follow_delegations((sources, controllers), grants, &mut findings);
        topology.index_gateways();
        // Of most routes, several rules name the same backends, so their number was not known.
        topology.backends.shrink_to_fit();
        parent_cycles(&topology, &mut findings);
        (topology, findings)
    }

    /// Sorts what is attached to each Gateway, and notes which Gateways a class or a namespace leads to.
    fn index_gateways(&mut self) {
        for gateway in self.gateways.rows_mut() {
            // Two parentRefs may mean one listener.
            gateway.attached.sort_unstable();
            gateway.attached.dedup();
        }
        for (id, gateway) in self.gateways.iter() {
            self.classes.get_mut(gateway.class).gateways.push(id);
            self.namespaces.get_mut(gateway.namespace).gateways.push(id);
        }
        for route in self.routes.rows() {
            let namespace = self.namespaces.get_mut(route.namespace);
            namespace.gateways.extend(&route.gateways);
            namespace.services.extend(&route.services);
        }
        for (id, service) in self.backends.iter().filter(|(_, known)| !known.meshed.is_empty()) {
            let home = service.name.namespace.as_deref().unwrap_or_default();
            if let Some(namespace) = self.namespace_ids.get(home) {
                self.namespaces.get_mut(*namespace).services.push(id);
            }
        }
        for namespace in self.namespaces.rows_mut() {
            namespace.gateways = sorted(std::mem::take(&mut namespace.gateways));
            namespace.services = sorted(std::mem::take(&mut namespace.services));
        }
    }

    /// The GatewayClass of a name, new or known.
    fn class(&mut self, name: &'a str) -> ClassId {
        let classes = &mut self.classes;
        *self.class_ids.entry(name).or_insert_with(|| {
            classes.push(ClassNode {
                name,
                ..ClassNode::default()
            })
        })
    }

    /// The namespace of a name, new or known.
    pub(crate) fn namespace(&mut self, name: &'a str) -> NamespaceId {
        let namespaces = &mut self.namespaces;
        *self.namespace_ids.entry(name).or_insert_with(|| {
            namespaces.push(NamespaceNode {
                name,
                ..NamespaceNode::default()
            })
        })
    }

    fn add_gateway(&mut self, gateway: Gateway<'a>, original: Option<&'a Object>, local: bool) {
        let object = gateway.object;
        let class = self.class(&gateway.view().class_name);
        let namespace = self.namespace(object.namespace_or_empty());
        let listeners = gateway.view().listeners.iter();
        let listeners =
            listeners.map(|listener| self.listeners.push(ListenerNode::new(listener, object, None)));
        let listeners: Vec<ListenerId> = listeners.collect();
        let node = GatewayNode {
            object,
            class,
            namespace,
            listeners: listeners.clone(),
            allowed_listeners: &gateway.view().allowed_listeners,
            is_default: gateway.is_default,
            attached: Vec::new(),
            original,
            local,
        };
        let gateway = self.gateways.push(node);
        self.own((gateway, None), listeners);
        // A synced object overwrites a local one of its name (`spoke/name-taken`).
        let key = (object.namespace_or_empty(), object.name.as_str());
        self.gateway_ids.entry(key).or_insert(gateway);
    }

    /// Notes whose listeners these are.
    pub(super) fn own(&mut self, owner: Owner, listeners: Vec<ListenerId>) {
        // Of several with one name, the first counts.
        let named = listeners.iter().rev();
        let named = named.map(|listener| (self.listeners.get(*listener).name, *listener));
        let (named, all) = (named.collect(), listeners);
        self.owned.insert(owner, Owned { all, named });
    }

    /// Gives up on all parents where they are too many: what is attached to what is a product.
    fn bound(&mut self, routes: &[Route<'a>], findings: &mut Findings) {
        let work = Work::default();
        for route in routes {
            let own = route.object.namespace_or_empty();
            for parent in self.parents_of(*route).iter() {
                let owner = self.parent(own, parent);
                let listeners =
                    owner.map(|owner| self.listeners_of(owner, parent.section_name.as_deref()).len());
                // A parent costs something also where it leads nowhere.
                if !work.pay(listeners.unwrap_or_default().max(1), STEPS_PER_LISTENER) {
                    self.is_too_wide = true;
                    let stage = format!("attaching routes up to {}", route.object.identity());
                    let finding =
                        Finding::too_costly(&stage, route.object.place("/spec"), "no route is attached");
                    findings.push(finding.help("name the listener in `parentRefs` (`sectionName`), or let fewer Gateways be default ones"));
                    return;
                }
            }
        }
    }

    fn add_route(&mut self, route: Route<'a>, (sources, seniority): (Sources<'a>, Seniority)) -> RouteId {
        let object = route.object;
        let original = sources.original(object);
        let own = object.namespace_or_empty();
        let namespace = self.namespace(own);
        let id = self.routes.next();
        let assumed = original.is_some_and(|original| original.assumed);
        let (mut gateways, mut services) = (Vec::new(), Vec::new());
        let mut refused_at = Vec::new();
        for parent in self.parents_of(route).iter() {
            match self.listeners_for(route, parent, assumed) {
                Ok((gateway, listeners)) => {
                    gateways.push(gateway);
                    let attached = &mut self.gateways.get_mut(gateway).attached;
                    attached.extend(listeners.into_iter().map(|listener| (listener, id)));
                }
                // A schema allows so many; the input may have more, and each costs a look at another object.
                Err(why) if refused_at.len() < MOST_PARENTS => {
                    refused_at.extend(self.causes_of_refusal(own, parent, why, sources));
                }
                Err(_) => {}
            }
            // docs/systems/gateway-api.md#meshes
            if let ("", "Service") | ("networking.istio.io", "ServiceEntry") = parent.object.group_kind() {
                let service = parent.object.identity(own);
                let service = self.backend(service, sources);
                services.push(service);
                let meshed = &mut self.backends.get_mut(service).meshed;
                // As for the rules below: this route is the last one, if it is there.
                if meshed.last() != Some(&id) {
                    meshed.push(id);
                }
            }
        }
        // One listener that accepts the route is enough (docs/systems/gateway-api.md#attachment).
        if !gateways.is_empty() {
            refused_at = Vec::new();
        }
        let id = self.routes.push(RouteNode {
            object,
            route,
            namespace,
            rules: Vec::new(),
            gateways: sorted(gateways),
            services: sorted(services),
            refused_at,
            assumed,
            rank: seniority.rank(object, original),
        });
        self.route_ids.entry(object_key(object)).or_insert(id);
        id
    }

    /// Adds the rules of a route, and the backends that it may forward to, each once.
    fn add_rules(&mut self, id: RouteId, (sources, grants): (Sources<'a>, &Grants<'a>)) {
        let node = self.routes.get_mut(id);
        let rules = &node.route.view().rules;
        node.rules.reserve_exact(rules.len());
        let (object, assumed) = (node.object, node.assumed);
        let own = object.namespace_or_empty();
        let from = (object.api_version.group.as_str(), object.kind.as_str(), own);
        for (position, rule) in rules.iter().enumerate() {
            let mut backends = Vec::new();
            for backend in rule.backends.iter().map(|backend| &backend.object) {
                let namespace = backend.namespace_from(own);
                let to = (&*backend.group, &*backend.kind, &*backend.name);
                // Its requests get an error instead, so no policy on the backend affects them
                // (docs/systems/gateway-api.md#referencegrants).
                if !grants.permit_there(assumed, from, namespace, to) {
                    continue;
                }
                let backend = self.backend(backend.identity(own), sources);
                if !backends.contains(&backend) {
                    backends.push(backend);
                }
                let routes = &mut self.backends.get_mut(backend).routes;
                // Routes come one after the other: a backend that this one has named has it last.
                if routes.last() != Some(&id) {
                    routes.push(id);
                }
            }
            // Without one of its own, it has its position, counted from 1, as policy-machinery counts
            // (docs/systems/gep-713.md#sections).
            let numbered = || format!("rule-{}", position.saturating_add(1)).into();
            let name = rule.name.clone().unwrap_or_else(numbered);
            let rule = self.rules.push(RuleNode { name, backends });
            self.routes.get_mut(id).rules.push(rule);
        }
    }

    /// A backend, new or known.
    pub(crate) fn backend(&mut self, name: Identity, sources: Sources<'a>) -> BackendId {
        if let Some(known) = self.find_backend(&name) {
            return known;
        }
        let name = Arc::new(name);
        self.backend_ids.insert(Arc::clone(&name), self.backends.next());
        let object = sources.get(&name);
        // Other backends have no ports that a section could name.
        let ports = object.filter(|object| has_service_ports(object));
        let ports = ports.map(service_ports).unwrap_or_default();
        let ports = ports.into_iter().map(|name| self.ports.push(name)).collect();
        self.backends.push(BackendNode {
            name,
            object,
            ports,
            routes: Vec::new(),
            meshed: Vec::new(),
        })
    }
}

/// Whether the ports of a backend are listed as a Service's are (KEP-1645: a ServiceImport has those of what it
/// imports).
fn has_service_ports(object: &Object) -> bool {
    object.is("", "Service")
        || ["multicluster.x-k8s.io", "net.gke.io"]
            .into_iter()
            .any(|group| object.is(group, "ServiceImport"))
}
