//! Resolves a reference to a node: matches group, kind, namespace, name, and section against the levels of the
//! hierarchy.
//!
//! Owns: GatewayClasses, Namespaces, Gateways, ListenerSets and routes with their sections; whether something is a
//! backend is for the caller to decide. Flows in: a [`Reference`] whose namespace is resolved. Flows out: its node.
//! Must not know: who refers to it, and whether that is permitted.

use super::hierarchy::Topology;
use super::node::Node;
use crate::api::gateway::{GROUP, is_listener_set};

/// A reference to something of the hierarchy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference<'r> {
    /// API group, `""` for core.
    pub(crate) group: &'r str,
    /// Kind.
    pub(crate) kind: &'r str,
    /// Namespace; of no weight for cluster-scoped kinds.
    pub(crate) namespace: &'r str,
    /// Name.
    pub(crate) name: &'r str,
    /// Listener, rule or port.
    pub(crate) section: Option<&'r str>,
}

/// Where a reference leads, as far as the hierarchy's own levels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Located {
    /// Here.
    Node(Node),
    /// It would be a GatewayClass, Namespace, Gateway, ListenerSet or route, and there is none.
    Missing,
    /// It is another kind: a backend, or virtual.
    Elsewhere,
}

impl Topology<'_> {
    /// Where a reference leads.
    pub(crate) fn locate(&self, reference: Reference<'_>) -> Located {
        let Reference {
            group,
            kind,
            namespace,
            name,
            section,
        } = reference;
        let whole = match (group, kind) {
            // Neither has sections that a policy could name.
            (GROUP, "GatewayClass") if section.is_some() => None,
            (GROUP, "GatewayClass") => self.find_class(name).map(Node::Class),
            // A namespace exists when anything in the input lives in it. It has no sections.
            ("", "Namespace") => {
                let found = self.find_namespace(name).map(Node::Namespace);
                return found.map_or(Located::Missing, Located::Node);
            }
            (GROUP, "Gateway") => self.find_gateway(namespace, name).map(Node::Gateway),
            (group, kind) if is_listener_set(group, kind) => self
                .find_listener_set(kind, namespace, name)
                .map(Node::ListenerSet),
            (group, kind) if self.is_route(group, kind) => {
                self.find_route((group, kind), namespace, name).map(Node::Route)
            }
            _ => return Located::Elsewhere,
        };
        whole
            .and_then(|whole| self.find_section(whole, section))
            .map_or(Located::Missing, Located::Node)
    }
}
