//! Which listeners conflict with each other.
//!
//! Owns: the rule ([`Clash`], docs/systems/gateway-api.md#listeners), and the ports of one Gateway with the listeners
//! on them. Flows in: listeners, in order of precedence. Flows out: the listener that one gives way to, and why.
//! Must not know: where a listener comes from.

use std::collections::HashMap;

use super::ids::ListenerId;
use super::listener::ListenerNode;

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
        if let (Some(port), Some(family)) = (listener.port(), Family::of(listener.protocol())) {
            self.of_family.entry((port, family)).or_insert(id);
            let hostname = (port, family, lower(listener));
            self.of_hostname.entry(hostname).or_insert(id);
        }
    }

    /// The first listener that another one conflicts with.
    pub(super) fn in_the_way_of(&self, listener: &ListenerNode<'_>) -> Option<(ListenerId, Clash)> {
        let (port, family) = (listener.port()?, Family::of(listener.protocol())?);
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
    listener.hostname().map(str::to_ascii_lowercase)
}
