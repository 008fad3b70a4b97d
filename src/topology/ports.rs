//! Which listeners cannot stand beside each other.
//!
//! Owns: the rule ([`Clash`], docs/systems/gateway-api.md#listeners), and the ports of one Gateway with who serves them.
//! Flows in: listeners, the first one first. Flows out: whom one gives way to, and why.
//! Must not know: where a listener comes from.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::ids::ListenerId;
use super::listener::ListenerNode;

/// Why two listeners cannot stand beside each other (docs/systems/gateway-api.md#listeners).
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

/// What can share a port. Of protocols that nobody knows, nothing is said.
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

/// What nobody else can have of a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Slot {
    port: i64,
    family: Family,
    /// In lower case; `None`: the first of its family there, whatever its hostname.
    hostname: Option<Option<String>>,
}

/// The listeners that serve the ports of one Gateway. Thousands may share a port, so they are not compared with each other.
#[derive(Debug, Default)]
pub(super) struct Ports {
    first: HashMap<Slot, ListenerId>,
}

impl Ports {
    /// Notes a listener that gives way to none. They come in their order.
    pub(super) fn add(&mut self, id: ListenerId, listener: &ListenerNode<'_>) {
        let (Some(port), Some(family)) = (listener.port(), Family::of(listener.protocol())) else {
            return;
        };
        for hostname in [None, Some(lower(listener))] {
            let slot = Slot {
                port,
                family,
                hostname,
            };
            if let Entry::Vacant(free) = self.first.entry(slot) {
                free.insert(id);
            }
        }
    }

    /// The first listener that another one cannot stand beside.
    pub(super) fn in_the_way_of(&self, listener: &ListenerNode<'_>) -> Option<(ListenerId, Clash)> {
        let (port, family) = (listener.port()?, Family::of(listener.protocol())?);
        let taken = |family: Family, hostname, clash| {
            let slot = Slot {
                port,
                family,
                hostname,
            };
            self.first.get(&slot).map(|id| (*id, clash))
        };
        let same = match family {
            Family::Tcp | Family::Udp => taken(family, None, Clash::Port),
            Family::Plain | Family::Encrypted => taken(family, Some(lower(listener)), Clash::Hostname),
        };
        // UDP has ports of its own.
        let others = [Family::Plain, Family::Encrypted, Family::Tcp]
            .into_iter()
            .filter(|other| family != Family::Udp && *other != family)
            .filter_map(|other| taken(other, None, Clash::Protocol));
        same.into_iter().chain(others).min_by_key(|(id, _)| *id)
    }
}

fn lower(listener: &ListenerNode<'_>) -> Option<String> {
    listener.hostname().map(str::to_ascii_lowercase)
}
