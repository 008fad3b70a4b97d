//! A listener, and the routes that it accepts.
//!
//! Owns: matching the sectionName, port, hostname, and kind of a parentRef against a listener. Flows in: listeners as
//! read.
//! Flows out: [`ListenerNode`]. Must not know: other listeners, labels of Namespaces.

use super::hostname_intersection::{common_hostnames, covers, hostnames_meet};
use super::ids::{ListenerId, ListenerSetId};
use super::request::Request;
use crate::api::gateway::{GROUP, Listener};
use crate::api::route::{Admission, AdmittedNamespaces, ParentRef, Route, is_route};
use crate::object::Object;

/// A listener.
#[derive(Debug, Clone)]
pub struct ListenerNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The ListenerSet that it comes from.
    pub set: Option<ListenerSetId>,
    /// The listener of its Gateway, or of an earlier ListenerSet, in whose favor it takes nothing.
    pub gives_way_to: Option<ListenerId>,
    /// Where it is in its owner.
    pub pointer: String,
    hostname: Option<&'a str>,
    port: Option<i64>,
    protocol: &'a str,
    passes_through: bool,
    admission: Admission,
}

impl<'a> ListenerNode<'a> {
    /// A listener as read; `set`: the ListenerSet that it comes from.
    pub(super) fn new(listener: &Listener<'a>, set: Option<ListenerSetId>) -> Self {
        Self {
            name: listener.name,
            set,
            gives_way_to: None,
            pointer: listener.pointer.clone(),
            hostname: listener.hostname,
            port: listener.port,
            protocol: listener.protocol,
            passes_through: listener.field.get("tls").text("mode") == Some("Passthrough"),
            admission: Admission::read(listener),
        }
    }

    /// Whether a parentRef to the listener's owner means this listener.
    pub(crate) fn is_meant(&self, parent: &ParentRef<'_>) -> bool {
        parent.section_name.is_none_or(|section| section == self.name)
            && (parent.port.is_none() || parent.port == self.port)
    }

    /// Whether it and a route have a hostname in common.
    pub(crate) fn serves(&self, route: &Route<'_>) -> bool {
        hostnames_meet(self.hostname, &route.hostnames)
    }

    /// How many hosts without wildcards it serves for an HTTPRoute or a GRPCRoute.
    pub(crate) fn exact_hosts(&self, route: &Object) -> usize {
        let is_of_http = route.is(GROUP, "HTTPRoute") || route.is(GROUP, "GRPCRoute");
        let hostnames = route.root().get("spec").get("hostnames");
        let hostnames: Vec<&str> = hostnames.items().filter_map(|hostname| hostname.str()).collect();
        let common = common_hostnames(self.hostname, &hostnames);
        let exact = common.iter().filter(|host| is_of_http && !host.contains('*'));
        exact.count()
    }

    /// The hostnames that it serves for a route, in lower case; `*` is any.
    pub(crate) fn common_hostnames(&self, route: &Route<'_>) -> Vec<String> {
        common_hostnames(self.hostname, &route.hostnames)
    }

    /// Whether a request comes to it: by port, protocol and hostname.
    pub(crate) fn hears(&self, request: &Request) -> bool {
        let protocols: &[&str] = if request.scheme.is_encrypted() {
            &["HTTPS", "TLS"]
        } else {
            &["HTTP"]
        };
        self.gives_way_to.is_none()
            && self.port == Some(request.port)
            && protocols.contains(&self.protocol)
            && self
                .hostname
                .is_none_or(|hostname| covers(hostname, &request.host))
    }

    /// Its hostname as written; none is any.
    pub const fn hostname(&self) -> Option<&'a str> {
        self.hostname
    }

    /// Its port; none is one that its implementation chooses.
    pub const fn port(&self) -> Option<i64> {
        self.port
    }

    /// How specific its hostname is: a full name most, none least.
    pub(crate) fn specificity(&self) -> (bool, usize) {
        let hostname = self.hostname.unwrap_or("*");
        (!hostname.starts_with('*'), hostname.len())
    }

    /// Whether TLS ends behind it, so that it sees no request.
    pub(crate) const fn passes_through(&self) -> bool {
        self.passes_through
    }

    /// The requests that it receives: `https://*.example.com:443`.
    pub fn address(&self) -> String {
        let scheme = self.protocol.to_ascii_lowercase();
        let port = self.port.map_or_else(String::new, |port| format!(":{port}"));
        format!("{scheme}://{}{port}", self.hostname.unwrap_or("*"))
    }

    /// Whether it takes routes of this kind. Which kinds beside Gateway API's a protocol implies is its
    /// implementation's business: only a list rules them out.
    pub(crate) fn admits_kind(&self, route: &Object) -> bool {
        let (group, kind) = (route.api_version.group.as_str(), route.kind.as_str());
        self.admission.admits_kind(group, kind) || (!is_route(group, kind) && !self.admission.lists_kinds())
    }

    /// Its protocol.
    pub const fn protocol(&self) -> &'a str {
        self.protocol
    }

    /// Which namespaces it takes routes from.
    pub(crate) fn namespaces(&self) -> &AdmittedNamespaces {
        self.admission.namespaces()
    }
}
