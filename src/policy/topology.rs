//! The hierarchy: GatewayClass > Namespace > Gateway > listener > Namespace > route > rule > backend > port.
//!
//! Owns: which route hangs on which listener (parentRefs with sectionName and port, allowedRoutes, hostnames),
//! which backends a rule reaches, and the numbers and locators of all of them.
//! Flows in: the hub's objects, and for a view of one cluster what lives there. Flows out: [`Topology`].
//! Must not know: policies.

use std::collections::{BTreeSet, HashMap};

use super::listener::ListenerNode;
use super::node::{index, number};
use super::parents::{missing_parents, parent_cycles};
use crate::api::gateway::{GROUP, Gateway, ListenerSet};
use crate::api::route::{AdmittedNamespaces, ParentRef, ROUTE_KINDS, Route, is_route, service_ports};
use crate::api::synced::is_synced_copy;
use crate::diagnostic::Findings;
use crate::hub::{Grants, Objects};
use crate::object::Object;
use crate::object::well_known::DOWNSTREAM_PREFIX;
use apimachinery::{GroupKind, Identity};

/// The name by which a Namespace can be selected although nobody labelled it.
pub(crate) const NAMESPACE_NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// A GatewayClass that some Gateway or policy names.
#[derive(Debug, Clone)]
pub struct ClassNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The object, when it is in the input.
    pub object: Option<&'a Object>,
    /// Its Gateways, sorted.
    pub gateways: Vec<u32>,
}

/// A namespace that some object lives in.
#[derive(Debug, Clone)]
pub struct NamespaceNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The Namespace, when it is in the input.
    pub object: Option<&'a Object>,
    /// Gateways that live in it or that routes of it hang on, sorted.
    pub gateways: Vec<u32>,
}

/// A ListenerSet.
#[derive(Debug, Clone, Copy)]
pub struct ListenerSetNode<'a> {
    /// The object.
    pub object: &'a Object,
    /// Number of its Gateway.
    pub gateway: u32,
}

/// A Gateway.
#[derive(Debug, Clone)]
pub struct GatewayNode<'a> {
    /// The object.
    pub object: &'a Object,
    /// Number of its class.
    pub class: u32,
    /// Number of its namespace.
    pub namespace: u32,
    /// Its listeners, then those of its ListenerSets.
    pub listeners: Vec<ListenerNode<'a>>,
    /// Which listener takes which route: positions and numbers, sorted.
    pub attached: Vec<(u32, u32)>,
    /// The cluster that it lives on, when it does not come from the hub.
    pub local: bool,
}

/// A route.
#[derive(Debug, Clone)]
pub struct RouteNode<'a> {
    /// The object.
    pub object: &'a Object,
    /// Number of its namespace.
    pub namespace: u32,
    /// Its rules, in their order.
    pub rules: Vec<RuleNode>,
    /// Gateways that it hangs on, sorted.
    pub gateways: Vec<u32>,
    /// Whether it lives on the cluster that is looked at.
    pub local: bool,
}

/// A rule of a route.
#[derive(Debug, Clone)]
pub struct RuleNode {
    /// Its own name, or `rule-<1-based index>`.
    pub name: String,
    /// Backends, each once, in their order.
    pub backends: Vec<u32>,
}

/// A backend.
#[derive(Debug, Clone)]
pub struct BackendNode<'a> {
    /// What it is called.
    pub identity: Identity,
    /// The object, when it is in the input.
    pub object: Option<&'a Object>,
    /// Names of its ports.
    pub ports: Vec<String>,
    /// Routes that forward to it, sorted.
    pub routes: Vec<u32>,
}

/// What a topology is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The hub's objects.
    pub hub: &'a Objects,
    /// The cluster that is looked at, and what lives there.
    pub local: Option<(&'a str, &'a Objects)>,
}

impl<'a> Sources<'a> {
    /// Objects of a kind: the hub's, then the cluster's own, which are marked.
    pub(crate) fn of_kind(self, group: &str, kind: &str) -> impl Iterator<Item = (&'a Object, bool)> {
        let local = self
            .local
            .map(|(_, objects)| objects.of_kind(group, kind))
            .unwrap_or_default();
        let hub = self.hub.of_kind(group, kind).iter().map(|object| (object, false));
        let local = local.iter().filter(|object| !is_synced_copy(object));
        hub.chain(local.map(|object| (object, true)))
    }
}

/// Group, kind, namespace and name of a route.
type RouteKey<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The hierarchy, with indexes.
#[derive(Debug, Default)]
pub struct Topology<'a> {
    /// GatewayClasses.
    pub classes: Vec<ClassNode<'a>>,
    /// Namespaces.
    pub namespaces: Vec<NamespaceNode<'a>>,
    /// Gateways, by namespace and name.
    pub gateways: Vec<GatewayNode<'a>>,
    /// ListenerSets.
    pub listener_sets: Vec<ListenerSetNode<'a>>,
    /// Routes of all kinds, by kind, namespace and name.
    pub routes: Vec<RouteNode<'a>>,
    /// Backends that a route or a policy names.
    pub backends: Vec<BackendNode<'a>>,
    pub(super) class_numbers: HashMap<&'a str, u32>,
    pub(super) namespace_numbers: HashMap<&'a str, u32>,
    // The first part of these keys: whether the object lives on the cluster that is looked at. A cluster's own object
    // may carry the name of a hub object.
    pub(super) gateway_numbers: HashMap<(bool, &'a str, &'a str), u32>,
    pub(super) set_numbers: HashMap<(bool, &'a str, &'a str), (u32, u32)>,
    pub(super) route_numbers: HashMap<(bool, RouteKey<'a>), u32>,
    /// Route kinds beside those of Gateway API.
    pub(super) more_routes: Vec<GroupKind>,
    pub(super) backend_numbers: HashMap<Identity, u32>,
}

impl<'a> Topology<'a> {
    /// Links everything. Linear in what is linked. `more_routes` are kinds of routes beside those of Gateway API.
    pub fn new(
        sources: Sources<'a>,
        grants: &Grants<'a>,
        more_routes: &[GroupKind],
        findings: &mut Findings,
    ) -> Self {
        let mut topology = Self {
            more_routes: more_routes
                .iter()
                .filter(|kind| !is_route(&kind.group, &kind.kind))
                .cloned()
                .collect(),
            ..Self::default()
        };
        for (object, _) in sources.of_kind("", "Namespace") {
            let number = topology.namespace(&object.name);
            if let Some(node) = topology.namespaces.get_mut(index(number)) {
                node.object.get_or_insert(object);
            }
        }
        for (object, _) in sources.of_kind(GROUP, "GatewayClass") {
            let number = topology.class(&object.name);
            if let Some(node) = topology.classes.get_mut(index(number)) {
                node.object.get_or_insert(object);
            }
        }
        for (object, local) in sources.of_kind(GROUP, "Gateway") {
            if let Some(gateway) = Gateway::read(object, findings) {
                topology.add_gateway(&gateway, local);
            }
        }
        for (object, local) in sources.of_kind(GROUP, "ListenerSet") {
            if let Some(set) = ListenerSet::read(object, findings) {
                topology.add_listener_set(&set, local);
            }
        }
        let mut routes = Vec::new();
        let known = ROUTE_KINDS.iter().map(|kind| GroupKind::new(GROUP, *kind));
        let kinds: Vec<GroupKind> = known.chain(topology.more_routes.iter().cloned()).collect();
        for kind in kinds {
            for (object, local) in sources.of_kind(&kind.group, &kind.kind) {
                if let Some(route) = Route::read(object, findings) {
                    topology.add_route(&route, local, sources, grants);
                    if !local {
                        missing_parents(&topology, &route, findings);
                    }
                    routes.push(route);
                }
            }
        }
        topology.index_gateways();
        parent_cycles(&topology, &routes, findings);
        topology
    }

    /// Sorts what hangs on each Gateway, and notes which Gateways a class or a namespace leads to.
    fn index_gateways(&mut self) {
        for (position, gateway) in self.gateways.iter_mut().enumerate() {
            gateway.attached.sort_unstable();
            gateway.attached.dedup();
            if let Some(class) = self.classes.get_mut(index(gateway.class)) {
                class.gateways.push(number(position));
            }
            if let Some(namespace) = self.namespaces.get_mut(index(gateway.namespace)) {
                namespace.gateways.push(number(position));
            }
        }
        for route in &self.routes {
            if let Some(namespace) = self.namespaces.get_mut(index(route.namespace)) {
                namespace.gateways.extend(&route.gateways);
            }
        }
        for namespace in &mut self.namespaces {
            namespace.gateways.sort_unstable();
            namespace.gateways.dedup();
        }
    }

    /// The number of a GatewayClass, new or known.
    fn class(&mut self, name: &'a str) -> u32 {
        let next = number(self.classes.len());
        let found = *self.class_numbers.entry(name).or_insert(next);
        if found == next {
            self.classes.push(ClassNode {
                name,
                object: None,
                gateways: Vec::new(),
            });
        }
        found
    }

    /// The number of a namespace, new or known.
    fn namespace(&mut self, name: &'a str) -> u32 {
        let next = number(self.namespaces.len());
        let found = *self.namespace_numbers.entry(name).or_insert(next);
        if found == next {
            self.namespaces.push(NamespaceNode {
                name,
                object: None,
                gateways: Vec::new(),
            });
        }
        found
    }

    fn add_gateway(&mut self, gateway: &Gateway<'a>, local: bool) {
        let object = gateway.object;
        let class = self.class(gateway.class_name);
        let namespace = self.namespace(object.namespace_or_empty());
        let next = number(self.gateways.len());
        self.gateway_numbers
            .insert((local, object.namespace_or_empty(), &object.name), next);
        let listeners = gateway
            .listeners
            .iter()
            .map(|listener| ListenerNode::new(listener, None))
            .collect();
        self.gateways.push(GatewayNode {
            object,
            class,
            namespace,
            listeners,
            attached: Vec::new(),
            local,
        });
    }

    fn add_listener_set(&mut self, set: &ListenerSet<'a>, local: bool) {
        let own = set.object.namespace_or_empty();
        let namespace = set.gateway_namespace.unwrap_or(own);
        self.namespace(own);
        let Some(gateway) = self.find_gateway(namespace, set.gateway, local) else {
            return;
        };
        let Some(owner) = self.gateways.get(index(gateway)) else {
            return;
        };
        let allowed = owner
            .object
            .root()
            .get("spec")
            .get("allowedListeners")
            .get("namespaces");
        let admitted = AdmittedNamespaces::read(&allowed, "None");
        let home = self.gateway_home(owner, local);
        if !admitted.admits(&home, own, |key| self.namespace_label(own, key)) {
            return;
        }
        let next = number(self.listener_sets.len());
        self.set_numbers
            .insert((local, own, &set.object.name), (gateway, next));
        self.listener_sets.push(ListenerSetNode {
            object: set.object,
            gateway,
        });
        if let Some(owner) = self.gateways.get_mut(index(gateway)) {
            let more = set
                .listeners
                .iter()
                .map(|listener| ListenerNode::new(listener, Some(next)));
            owner.listeners.extend(more);
        }
    }

    fn add_route(&mut self, route: &Route<'a>, local: bool, sources: Sources<'a>, grants: &Grants<'a>) {
        let object = route.object;
        let own = object.namespace_or_empty();
        let namespace = self.namespace(own);
        let next = number(self.routes.len());
        self.route_numbers.insert((local, route_key(object)), next);
        let mut gateways = BTreeSet::new();
        for parent in &route.parents {
            let attached = self.listeners_for(route, parent, local);
            for (gateway, listener) in attached {
                if let Some(node) = self.gateways.get_mut(index(gateway)) {
                    node.attached.push((listener, next));
                    gateways.insert(gateway);
                }
            }
        }
        let mut rules = Vec::with_capacity(route.rules.len());
        for (position, rule) in route.rules.iter().enumerate() {
            let mut backends = Vec::new();
            for backend in &rule.backends {
                let namespace = backend.namespace.unwrap_or(own);
                let from = (object.api_version.group.as_str(), object.kind.as_str(), own);
                if !grants.permit(from, namespace, (backend.group, backend.kind, backend.name)) {
                    continue;
                }
                let identity = Identity::new(backend.group, backend.kind, Some(namespace), backend.name);
                let backend = self.backend(identity, sources);
                if let Some(node) = self.backends.get_mut(index(backend))
                    && node.routes.last() != Some(&next)
                {
                    node.routes.push(next);
                }
                if !backends.contains(&backend) {
                    backends.push(backend);
                }
            }
            rules.push(RuleNode {
                name: rule
                    .name
                    .map_or_else(|| format!("rule-{}", position.saturating_add(1)), str::to_owned),
                backends,
            });
        }
        self.routes.push(RouteNode {
            object,
            namespace,
            rules,
            gateways: gateways.into_iter().collect(),
            local,
        });
    }

    /// The listeners that take a route through one of its parents.
    fn listeners_for(&self, route: &Route<'a>, parent: &ParentRef<'a>, local: bool) -> Vec<(u32, u32)> {
        let own = route.object.namespace_or_empty();
        let namespace = parent.namespace.unwrap_or(own);
        let (gateway, set) = match (parent.group, parent.kind) {
            (GROUP, "Gateway") => (self.find_gateway(namespace, parent.name, local), None),
            (GROUP, "ListenerSet") => match self.find_listener_set(namespace, parent.name, local) {
                Some((gateway, set)) => (Some(gateway), Some(set)),
                None => (None, None),
            },
            _ => (None, None),
        };
        let Some((number_of_gateway, gateway)) =
            gateway.and_then(|gateway| Some((gateway, self.gateways.get(index(gateway))?)))
        else {
            return Vec::new();
        };
        let home = self.gateway_home(gateway, local);
        let mut taken = Vec::new();
        for (position, listener) in gateway.listeners.iter().enumerate() {
            let home = match listener.set.and_then(|set| self.listener_sets.get(index(set))) {
                Some(set) => set.object.namespace_or_empty(),
                None => home.as_ref(),
            };
            let takes = listener.set == set
                && listener.is_meant(parent)
                && listener.admits_kind(route.object)
                && listener
                    .namespaces()
                    .admits(home, own, |key| self.namespace_label(own, key))
                && listener.serves(route);
            if takes {
                taken.push((number_of_gateway, number(position)));
            }
        }
        taken
    }

    /// The namespace of a Gateway as an object sees it: on a spoke, a hub Gateway carries its spoke name.
    fn gateway_home(&self, gateway: &GatewayNode<'a>, seen_on_spoke: bool) -> std::borrow::Cow<'a, str> {
        let namespace = gateway.object.namespace_or_empty();
        if seen_on_spoke && !gateway.local {
            format!("{DOWNSTREAM_PREFIX}{namespace}").into()
        } else {
            namespace.into()
        }
    }

    /// The number of a backend, new or known.
    pub(crate) fn backend(&mut self, identity: Identity, sources: Sources<'a>) -> u32 {
        if let Some(found) = self.backend_numbers.get(&identity) {
            return *found;
        }
        let object = sources
            .hub
            .get(&identity)
            .or_else(|| sources.local.and_then(|(_, objects)| objects.get(&identity)));
        let ports = match object {
            Some(object) if object.is("", "Service") => {
                service_ports(object).into_iter().map(|(name, _)| name).collect()
            }
            _ => Vec::new(),
        };
        let next = number(self.backends.len());
        self.backend_numbers.insert(identity.clone(), next);
        self.backends.push(BackendNode {
            identity,
            object,
            ports,
            routes: Vec::new(),
        });
        next
    }

    /// A label of a Namespace of the input, or its name under the key that every Namespace has.
    pub(crate) fn namespace_label(&self, namespace: &str, key: &str) -> Option<&'a str> {
        let (name, number) = self.namespace_numbers.get_key_value(namespace)?;
        let node = self.namespaces.get(index(*number))?;
        node.object
            .and_then(|object| object.label(key))
            .or_else(|| (key == NAMESPACE_NAME_LABEL).then_some(*name))
    }
}

/// What a route is known by.
fn route_key(object: &Object) -> RouteKey<'_> {
    let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
    (group, kind, object.namespace_or_empty(), &object.name)
}
