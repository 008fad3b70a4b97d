//! A listener: the parentRefs that mean it, the routes that it accepts, and the listeners that it conflicts with.

use std::collections::HashMap;

use super::hostname_intersection::{common_hostnames, hostnames_meet};
use super::node::{ListenerId, ListenerSetId};
use crate::api::gateway::{Admission, GROUP, Listener, ParentRef};
use crate::api::route::{Route, is_route};
use crate::object::Object;

/// A listener.
#[derive(Debug, Clone)]
pub struct ListenerNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The Gateway or the ListenerSet that has it.
    pub owner: &'a Object,
    /// The ListenerSet that it comes from.
    pub set: Option<ListenerSetId>,
    /// The listener of its Gateway, or of an earlier ListenerSet, in whose favor it takes nothing.
    pub gives_way_to: Option<ListenerId>,
    /// Where it is in its owner.
    pub pointer: &'a str,
    /// Its hostname as written; none is any.
    pub hostname: Option<&'a str>,
    /// Its port; none is one that its implementation chooses.
    pub port: Option<i64>,
    /// Its protocol.
    pub protocol: &'a str,
    /// Whether TLS ends behind it, so that it sees no request.
    pub(crate) passes_through: bool,
    /// The routes that it accepts.
    pub(crate) admission: &'a Admission,
}

impl<'a> ListenerNode<'a> {
    /// A listener as read; `set`: the ListenerSet that it comes from.
    pub(super) fn new(listener: &'a Listener, owner: &'a Object, set: Option<ListenerSetId>) -> Self {
        Self {
            owner,
            name: &listener.name,
            set,
            gives_way_to: None,
            pointer: &listener.pointer,
            hostname: listener.hostname.as_deref(),
            port: listener.port,
            protocol: &listener.protocol,
            passes_through: listener.passes_through,
            admission: &listener.admission,
        }
    }

    /// Whether a parentRef to the listener's owner means this listener.
    pub(crate) fn is_meant(&self, parent: &ParentRef) -> bool {
        parent
            .section_name
            .as_ref()
            .is_none_or(|section| section == self.name)
            && (parent.port.is_none() || parent.port == self.port)
    }

    /// Whether it and a route have a hostname in common.
    pub(crate) fn serves(&self, route: Route<'_>) -> bool {
        hostnames_meet(self.hostname, &route.hostnames)
    }

    /// How many hosts without wildcards it serves for an HTTPRoute or a GRPCRoute.
    pub(crate) fn exact_hosts(&self, route: Route<'_>) -> usize {
        let object = route.object;
        let is_of_http = object.is(GROUP, "HTTPRoute") || object.is(GROUP, "GRPCRoute");
        let common = self.common_hostnames(route).into_iter();
        common.filter(|host| is_of_http && !host.contains('*')).count()
    }

    /// The hostnames that it serves for a route, in lower case; `*` is any.
    pub(crate) fn common_hostnames(&self, route: Route<'_>) -> Vec<String> {
        common_hostnames(self.hostname, &route.hostnames)
    }

    /// How specific its hostname is: a full name most, none least.
    pub(crate) fn specificity(&self) -> (bool, usize) {
        let hostname = self.hostname.unwrap_or("*");
        (!hostname.starts_with('*'), hostname.len())
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
        self.admission.admits_kind(group, kind) || (!is_route(group, kind) && !self.admission.lists_kinds)
    }
}

/// Why two listeners conflict (docs/systems/gateway-api.md#listeners).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clash {
    /// Their protocols cannot share a port.
    Protocol,
    /// They have one port and one hostname.
    Hostname,
    /// They have one port, and their protocol knows no hostnames.
    Port,
}

impl Clash {
    pub(super) const fn said(self) -> &'static str {
        match self {
            Self::Protocol => "the port, but not the protocol, of",
            Self::Hostname => "the port and hostname of",
            Self::Port => "the port of",
        }
    }

    pub(super) const fn way_out(self) -> &'static str {
        match self {
            Self::Hostname => "give it another `hostname` or `port`, or remove it",
            Self::Protocol | Self::Port => "give it another `port`, or remove it",
        }
    }
}

/// Protocols that can share a port. Nothing is known about other protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Family {
    Plain,
    Encrypted,
    Tcp,
    Udp,
}

impl Family {
    fn of(protocol: &str) -> Option<Self> {
        Some(match protocol {
            "HTTP" => Self::Plain,
            "HTTPS" | "TLS" => Self::Encrypted,
            "TCP" => Self::Tcp,
            "UDP" => Self::Udp,
            _ => return None,
        })
    }
}

/// The listeners that serve the ports of one Gateway. Thousands may share a port, so they are not compared with each
/// other.
#[derive(Debug, Default)]
pub(super) struct Ports {
    /// The first of each family on a port, regardless of its hostname.
    of_family: HashMap<(i64, Family), ListenerId>,
    /// The first with each hostname, in lower case.
    of_hostname: HashMap<(i64, Family, Option<String>), ListenerId>,
}

impl Ports {
    /// Adds a listener that gives way to none. Listeners are added in order.
    pub(super) fn add(&mut self, id: ListenerId, listener: &ListenerNode<'_>) {
        if let (Some(port), Some(family)) = (listener.port, Family::of(listener.protocol)) {
            self.of_family.entry((port, family)).or_insert(id);
            let hostname = (port, family, lower(listener));
            self.of_hostname.entry(hostname).or_insert(id);
        }
    }

    /// The first listener that another one conflicts with.
    pub(super) fn in_the_way_of(&self, listener: &ListenerNode<'_>) -> Option<(ListenerId, Clash)> {
        let (port, family) = (listener.port?, Family::of(listener.protocol)?);
        let of_family = |family| self.of_family.get(&(port, family)).copied();
        let same = match family {
            Family::Tcp | Family::Udp => of_family(family).map(|id| (id, Clash::Port)),
            Family::Plain | Family::Encrypted => {
                let found = self.of_hostname.get(&(port, family, lower(listener)));
                found.map(|id| (*id, Clash::Hostname))
            }
        };
        // UDP has ports of its own.
        let others = [Family::Plain, Family::Encrypted, Family::Tcp]
            .into_iter()
            .filter(|other| family != Family::Udp && *other != family)
            .filter_map(|other| Some((of_family(other)?, Clash::Protocol)));
        same.into_iter().chain(others).min_by_key(|(id, _)| *id)
    }
}

fn lower(listener: &ListenerNode<'_>) -> Option<String> {
    listener.hostname.map(str::to_ascii_lowercase)
}
