//! Which listeners accept a route through one of its parentRefs.

use std::borrow::Cow;

use apimachinery::Identity;

use super::hierarchy::{Owner, Said, Topology};
use super::listener::ListenerNode;
use super::node::{BackendId, GatewayId, ListenerId, Node, RouteId};
use super::sources::Sources;
use crate::api::gateway::{GROUP, ParentRef, is_listener_set};
use crate::api::route::Route;
use crate::diagnostic::Place;

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
    pub(crate) const fn said(self) -> &'static str {
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
    pub(super) fn said_of_refusal(
        &self,
        own: &str,
        parent: &ParentRef,
        why: Refusal,
        sources: Sources<'a>,
    ) -> Option<Said<'a>> {
        let named = parent.object.identity(own);
        match why {
            Refusal::GivesWay => Some((sources.get(&named)?, "/spec/listeners")),
            Refusal::NotFound => match self.said_of_detached(&named) {
                Some(said) => Some(said),
                None => Some((sources.get(&named)?, "")),
            },
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
        let said: Vec<Said<'a>> = match node {
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
        said.into_iter()
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
                    (Refusal::OtherKind, _) => None,
                    (_, Some(detached)) => Some(format!("{named} is not attached: {detached}")),
                    (why, None) => Some(format!("{named} {}", why.said())),
                }
            });
        refused.collect()
    }
}
