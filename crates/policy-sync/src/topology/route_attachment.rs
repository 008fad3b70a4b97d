//! Which listeners accept a route through one of its parentRefs, and why none does; parents that do not exist; and routes that are
//! each other's parents.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use apimachinery::Identity;

use super::hierarchy::{
    BackendId, Cause, GatewayId, ListenerId, ListenerNode, Node, Owner, RouteId, Topology,
};
use super::sources::{Sources, Suggestion, Suggestions};
use crate::api::gateway::{GROUP, ParentRef, is_listener_set};
use crate::api::route::Route;
use crate::diagnostic::{Code, Finding, Findings, Place, Severity};

/// So many parents a route may have (`maxItems` of `parentRefs` in the CRDs of Gateway API): of so many is asked why a
/// route is attached to none.
pub(super) const MOST_PARENTS: usize = 32;

/// Why no listener takes a route through one of its parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refusal {
    /// The parent is neither a Gateway nor a ListenerSet.
    OtherKind,
    /// The parent is not there, or is a ListenerSet that is attached to nothing.
    NotFound,
    /// No listener has the name.
    Section,
    /// No listener has the port (and, where it is given, the name).
    Port,
    /// The listener gives way to another one.
    GivesWay,
    /// No listener takes routes of the kind.
    Kind,
    /// No listener has a hostname in common with the route.
    Hostname,
    /// No listener with such a hostname takes routes of the namespace.
    Namespace,
}

impl Refusal {
    /// The reason, after the name of the parent.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::OtherKind => "is not a Gateway",
            Self::NotFound => "is not in the input",
            Self::Section => "has no listener of this name",
            Self::Port => "has no listener with this port",
            Self::GivesWay => "has only a listener that conflicts with another one",
            Self::Kind => "has no listener that accepts routes of this kind",
            Self::Hostname => "has no listener with a hostname of the route",
            Self::Namespace => {
                "accepts no routes of this namespace at its listeners with a hostname of the route"
            }
        }
    }

    /// The reason of the route's condition Accepted (docs/systems/gateway-api.md#attachment).
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::OtherKind | Self::NotFound | Self::Section | Self::Port => "NoMatchingParent",
            Self::GivesWay | Self::Kind | Self::Namespace => "NotAllowedByListeners",
            Self::Hostname => "NoMatchingListenerHostname",
        }
    }
}

/// What a listener must meet to take a route, and why it does not, otherwise.
pub(crate) type Condition<'c, 'a> = (&'c dyn Fn(&ListenerNode<'a>) -> bool, Refusal);

impl<'a> Topology<'a> {
    /// The parents of a route: those that it names, and the default Gateways, if it requests them
    /// (docs/systems/gateway-api.md#default-gateways).
    pub(crate) fn parents_of(&self, route: Route<'a>) -> Cow<'a, [ParentRef]> {
        if self.is_too_wide {
            return Cow::Borrowed(&[]);
        }
        if !route.uses_default_gateways {
            return Cow::Borrowed(&route.view().parents);
        }
        let defaults = self.gateways.rows().iter().filter(|gateway| gateway.is_default);
        // As if the route named it without a section (docs/systems/gateway-api.md#default-gateways).
        let defaults = defaults.map(|gateway| ParentRef::to_default(gateway.object));
        Cow::Owned(route.parents.iter().cloned().chain(defaults).collect())
    }

    /// The owner of the listeners that a parentRef means, for a route in namespace `own`.
    pub(crate) fn parent(&self, own: &str, parent: &ParentRef) -> Result<Owner, Refusal> {
        let parent = &parent.object;
        let namespace = parent.namespace_from(own);
        match parent.group_kind() {
            (GROUP, "Gateway") => {
                let gateway = self.find_gateway(namespace, &parent.name);
                Ok((gateway.ok_or(Refusal::NotFound)?, None))
            }
            (group, kind) if is_listener_set(group, kind) => {
                let set = self.find_listener_set(kind, namespace, &parent.name);
                let set = set.ok_or(Refusal::NotFound)?;
                Ok((self.listener_sets.get(set).gateway, Some(set)))
            }
            _ => Err(Refusal::OtherKind),
        }
    }

    /// The listeners that take a route through one of its parents, never none, and their Gateway.
    pub(crate) fn listeners_for(
        &self,
        route: Route<'a>,
        parent: &ParentRef,
        assumed: bool,
    ) -> Result<(GatewayId, Vec<ListenerId>), Refusal> {
        let own = route.object.namespace_or_empty();
        let owner = self.parent(own, parent)?;
        let (gateway, set) = owner;
        let home = match set {
            Some(set) => self.listener_sets.get(set).object.namespace_or_empty(),
            None => self.gateways.get(gateway).home(assumed),
        };
        // `Same` is the namespace of whoever declares the listener: of the ListenerSet, not of its Gateway.
        let label = |key: &str| self.namespace_label_of(assumed, own, key);
        let conditions: [Condition<'_, 'a>; 5] = [
            (&|listener| listener.is_meant(parent), Refusal::Port),
            (&|listener| listener.gives_way_to.is_none(), Refusal::GivesWay),
            (&|listener| listener.admits_kind(route.object), Refusal::Kind),
            // Before the namespace, so that the reason is about listeners that the route is meant for. Istio does the same
            // (`istio/istio pilot/pkg/config/kube/gateway/conversion.go@1.30.0`, `referenceAllowed`).
            (&|listener| listener.serves(route), Refusal::Hostname),
            (
                &|listener| listener.admission.namespaces.admits(home, own, label),
                Refusal::Namespace,
            ),
        ];
        Ok((
            gateway,
            self.listeners_with(owner, parent.section_name.as_deref(), &conditions)?,
        ))
    }

    /// The listeners of an owner that meet all conditions, never none; or the first one after which none is left.
    pub(crate) fn listeners_with(
        &self,
        owner: Owner,
        section: Option<&str>,
        conditions: &[Condition<'_, 'a>],
    ) -> Result<Vec<ListenerId>, Refusal> {
        let mut left = self.listeners_of(owner, section).to_vec();
        // Nothing is left before the first condition if no listener has the name, or if the owner has none at all.
        let mut why = Refusal::Section;
        for (holds, refusal) in conditions {
            if left.is_empty() {
                break;
            }
            left.retain(|listener| holds(self.listeners.get(*listener)));
            why = *refusal;
        }
        if left.is_empty() { Err(why) } else { Ok(left) }
    }

    /// Where it is said why a parent takes no route, if that is reported about the parent.
    pub(super) fn causes_of_refusal(
        &self,
        own: &str,
        parent: &ParentRef,
        why: Refusal,
        sources: Sources<'a>,
    ) -> Option<Cause<'a>> {
        let named = parent.object.identity(own);
        match why {
            Refusal::GivesWay => Some((sources.get(&named)?, "/spec/listeners")),
            Refusal::NotFound => self
                .cause_of_detached(&named)
                .or_else(|| Some((sources.get(&named)?, ""))),
            _ => None,
        }
    }

    /// The places at which it may be said why no Gateway leads to a node.
    pub(crate) fn unreachable_at(&self, node: Node) -> Vec<Place> {
        let of_route = |route: RouteId| {
            let route = self.routes.get(route);
            // A parent without a namespace is looked up in that of the route, which may be the typo.
            let own = ["/spec/parentRefs", "/metadata/namespace"].map(|at| (route.object, at));
            route.refused_at.iter().copied().chain(own)
        };
        let of_routes = |backend: BackendId| self.backends.get(backend).routes.iter().copied();
        let causes: Vec<Cause<'a>> = match node {
            Node::Listener(_, listener) => {
                let node = self.listeners.get(listener);
                let set = node.set.map(|set| self.listener_sets.get(set).object);
                return set.into_iter().map(|set| set.place(node.pointer)).collect();
            }
            Node::ListenerSet(set) => vec![(self.listener_sets.get(set).object, "/spec/listeners")],
            Node::Route(route) | Node::Rule(route, _) => of_route(route).collect(),
            Node::Backend(backend) | Node::Port(backend, _) => {
                of_routes(backend).flat_map(of_route).take(MOST_PARENTS).collect()
            }
            Node::Mesh(_) | Node::Class(_) | Node::Namespace(_) | Node::Gateway(_) => Vec::new(),
        };
        causes
            .into_iter()
            .map(|(object, pointer)| object.place(pointer))
            .collect()
    }

    /// The reasons why an object is not attached, one for each parent that does not accept it; none if it is neither a
    /// ListenerSet nor a route, or does not exist.
    pub fn why_not_attached(&self, identity: &Identity, route: Option<Route<'a>>) -> Vec<String> {
        if let Some(why) = self.why_detached(identity) {
            return vec![why];
        }
        let Some(route) = route else {
            return Vec::new();
        };
        let own = route.object.namespace_or_empty();
        let refused = self
            .parents_of(route)
            .into_owned()
            .into_iter()
            .filter_map(|parent| {
                let why = self.listeners_for(route, &parent, false).err()?;
                let named = parent.object.identity(own);
                match (why, self.why_detached(&named)) {
                    // A Service is the parent of a route for a mesh, which needs no listener
                    // (docs/systems/gateway-api.md#meshes).
                    (Refusal::OtherKind, _) => None,
                    (_, Some(detached)) => Some(format!("{named} is not attached: {detached}")),
                    (why, None) => Some(format!("{named} {}", why.text())),
                }
            });
        refused.collect()
    }
}

/// Parents of a hub route that are Gateways, ListenerSets or listeners and not in the input; `is_synced` is whether the
/// route would be shipped with them.
pub(super) fn missing_parents<'a>(
    topology: &Topology<'_>,
    sources: Sources<'a>,
    (route, is_synced): (Route<'_>, bool),
    near: &mut Suggestions<'a>,
    findings: &mut Findings,
) {
    let object = route.object;
    let leads_to_gateways = |group: &str, kind: &str| {
        (group, kind) == (GROUP, "Gateway") || is_listener_set(group, kind) || topology.is_route(group, kind)
    };
    for parent in &route.parents {
        let (group, kind) = parent.object.group_kind();
        let is_gateway = (group, kind) == (GROUP, "Gateway");
        let owner = topology.parent(object.namespace_or_empty(), parent).ok();
        let parent_node = owner.map(|(gateway, set)| set.map_or(Node::Gateway(gateway), Node::ListenerSet));
        let is_there = |node| {
            let section = parent.section_name.as_deref();
            section.is_none_or(|section| topology.find_section(node, Some(section)).is_some())
        };
        // Most are there, and have no need of a name of their own.
        if parent_node.is_some_and(is_there) {
            continue;
        }
        let identity = parent.object.identity(object.namespace_or_empty());
        // Why one that is there cannot be read, or is attached to no Gateway, is reported there.
        if parent_node.is_none() && sources.get(&identity).is_some() {
            let detached = topology.detached_at(&identity).filter(|_| is_synced);
            findings.extend(detached.map(|set| {
                let what = match &*route.parents {
                    [_] => format!("is not attached: {identity} is not"),
                    _ => format!("is not attached to {identity}"),
                };
                object
                    .finding(Code::ROUTE_NOT_ATTACHED, &parent.pointer(), what)
                    .help("attach the ListenerSet, or name the Gateway as the parent")
                    .follows_from(set)
            }));
            continue;
        }
        let pointer = parent.pointer();
        let reference = (object, pointer.as_str(), parent.object.namespace.as_deref());
        let not_found = |field: &str, message: String| {
            let place = object.place(&format!("{pointer}/{field}"));
            Finding::new(Code::ROUTE_PARENT_NOT_FOUND, place, message)
                .label(format!("a parent of {}", object.identity()))
                .missing(identity.clone())
        };
        // A reference without a `kind` means a Gateway.
        let as_set = || {
            let set = Identity::new(
                GROUP,
                "ListenerSet",
                identity.namespace.as_deref(),
                &parent.object.name,
            );
            sources.get(&set).filter(|_| is_gateway).map(Suggestion::kind)
        };
        let finding = match (parent_node, parent.section_name.as_deref()) {
            (Some(node), Some(section)) => {
                let sections = topology.sections(node).into_iter();
                let names: Vec<&str> = sections.filter_map(|section| topology.section(section)).collect();
                // A Gateway or a ListenerSet without listeners has an error of its own.
                if names.is_empty() {
                    continue;
                }
                let finding = not_found("sectionName", format!("{identity} has no listener `{section}`"));
                let near = sources
                    .get(&identity)
                    .and_then(|parent| Suggestion::section(parent, section));
                let what = format!("listener `{section}` of {identity}");
                match near {
                    Some(near) => near.explain(finding, &what, reference),
                    None => finding.help(format!("it has: {}", names.join(", "))),
                }
                .severity(Severity::Error)
            }
            _ => {
                let finding = not_found("name", format!("{identity} is not in the input"));
                let near = near.find_for(parent.object.namespace.as_deref(), &identity);
                match near.filter(|near| near.is(leads_to_gateways)).or_else(as_set) {
                    Some(near) => near.explain(finding, &identity.to_string(), reference),
                    None if is_gateway || is_listener_set(group, kind) => {
                        finding.help(format!("correct the name or the namespace, or add the {kind}"))
                    }
                    // A Service may live on the clusters, and a route in another repository.
                    None => continue,
                }
            }
        };
        findings.push(if is_synced {
            finding
        } else {
            finding.severity(Severity::Warning)
        });
    }
}

/// Routes whose parents are routes, in a circle. Peeling off what has no such parent, then what has no such
/// child, leaves the circles and the ways between them: linear.
pub(super) fn parent_cycles(topology: &Topology<'_>, findings: &mut Findings) {
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for (child, node) in topology.routes.iter() {
        for parent in &node.route.parents {
            let kind = parent.object.group_kind();
            if !topology.is_route(kind.0, kind.1) {
                continue;
            }
            let namespace = parent.object.namespace_from(node.object.namespace_or_empty());
            if let Some(found) = topology.find_route(kind, namespace, &parent.object.name) {
                edges.push((child, found, parent));
            }
        }
    }
    let mut alive: BTreeSet<RouteId> = edges
        .iter()
        .flat_map(|(child, parent, _)| [*child, *parent])
        .collect();
    peel(
        &mut alive,
        edges.iter().map(|(child, parent, _)| (*child, *parent)),
    );
    peel(
        &mut alive,
        edges.iter().map(|(child, parent, _)| (*parent, *child)),
    );
    for (child, parent, reference) in edges {
        if !alive.contains(&child) || !alive.contains(&parent) {
            continue;
        }
        let route = topology.routes.get(child);
        findings.push(
            route
                .object
                .finding(
                    Code::ROUTE_PARENT_CYCLE,
                    &reference.pointer(),
                    "is its own parent, through its other parents",
                )
                .label("this parent leads back here")
                .help("point the outermost route at a Gateway"),
        );
    }
}

/// A route, the route that is its parent, and the reference to it.
type Edge<'e> = (RouteId, RouteId, &'e ParentRef);

/// Removes, again and again, the routes from which no edge leads to one that is left.
fn peel(alive: &mut BTreeSet<RouteId>, edges: impl Iterator<Item = (RouteId, RouteId)>) {
    let mut out: HashMap<RouteId, usize> = HashMap::new();
    let mut into: HashMap<RouteId, Vec<RouteId>> = HashMap::new();
    for (from, to) in edges.filter(|(from, to)| alive.contains(from) && alive.contains(to)) {
        let count = out.entry(from).or_default();
        *count = count.saturating_add(1);
        into.entry(to).or_default().push(from);
    }
    let mut free: Vec<RouteId> = alive
        .iter()
        .copied()
        .filter(|node| !out.contains_key(node))
        .collect();
    while let Some(node) = free.pop() {
        alive.remove(&node);
        for from in into.remove(&node).unwrap_or_default() {
            if let Some(left) = out.get_mut(&from) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    free.push(from);
                }
            }
        }
    }
}
