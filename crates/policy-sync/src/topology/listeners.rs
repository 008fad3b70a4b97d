//! Listeners: the parentRefs that mean them, the routes that they accept, and which conflict. Also ListenerSets: which are attached
//! to which Gateway, in which order, and which of their listeners give way (docs/systems/gateway-api.md#listenersets).

use std::collections::HashMap;

use apimachinery::{GroupKind, Identity};

use super::hierarchy::{
    Cause, Detached, GatewayId, ListenerId, ListenerNode, ListenerSetId, ListenerSetNode,
    NAMESPACE_NAME_LABEL, Topology,
};
use super::hostname_intersection::{common_hostnames, hostnames_meet};
use super::sources::{Seniority, Sources, Suggestions};
use crate::api::gateway::{AdmittedNamespaces, GROUP, LISTENER_SETS, Listener, ListenerSet, ParentRef};
use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Place, Severity};
use crate::object::Object;

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
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Protocol => "the port, but not the protocol, of",
            Self::Hostname => "the port and hostname of",
            Self::Port => "the port of",
        }
    }

    pub(super) const fn help(self) -> &'static str {
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
    fn from_protocol(protocol: &str) -> Option<Self> {
        Some(match protocol {
            "HTTP" => Self::Plain,
            // The server name tells their requests apart, so both may be on one port
            // (docs/systems/gateway-api.md#listeners).
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
        if let (Some(port), Some(family)) = (listener.port, Family::from_protocol(listener.protocol)) {
            self.of_family.entry((port, family)).or_insert(id);
            let hostname = (port, family, lower(listener));
            self.of_hostname.entry(hostname).or_insert(id);
        }
    }

    /// The first listener that another one conflicts with.
    pub(super) fn in_the_way_of(&self, listener: &ListenerNode<'_>) -> Option<(ListenerId, Clash)> {
        let (port, family) = (listener.port?, Family::from_protocol(listener.protocol)?);
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
        // The first one of the Gateway wins, whatever the reason of the conflict is.
        same.into_iter().chain(others).min_by_key(|(id, _)| *id)
    }
}

fn lower(listener: &ListenerNode<'_>) -> Option<String> {
    listener.hostname.map(str::to_ascii_lowercase)
}

/// Which of two ListenerSets comes first.
const OLDER_FIRST: &str = "of two ListenerSets, the older one takes precedence, then the first by `namespace/name`; on a cluster, the one created there first";

impl<'a> Topology<'a> {
    /// Attaches every ListenerSet to its Gateway.
    pub(super) fn attach_listener_sets(
        &mut self,
        (sources, seniority): (Sources<'a>, Seniority),
        (synced, near): (&[GroupKind], &mut Suggestions<'a>),
        findings: &mut Findings,
    ) {
        let mut waiting = Vec::new();
        for (group, kind) in LISTENER_SETS {
            for (object, local) in sources.of_kind(group, kind) {
                let Some(set) = ListenerSet::read(object, findings) else {
                    continue;
                };
                self.namespace(object.namespace_or_empty());
                let assumed = sources.original(object).is_some_and(|original| original.assumed);
                match self.gateway_of_set(set, assumed, sources) {
                    Ok(gateway) => {
                        let node = ListenerSetNode {
                            object,
                            gateway,
                            assumed,
                            local,
                        };
                        let rank = seniority.rank(object, sources.original(object));
                        waiting.push((rank, set, node));
                    }
                    Err(why) => {
                        // What lives on a cluster was accepted there, and is not ours to correct.
                        if !local {
                            let finding = self.detached_finding(set, &why, near);
                            findings.extend(finding.map(|finding| {
                                if synced.contains(&object.group_kind()) {
                                    finding
                                } else {
                                    finding.severity(Severity::Warning)
                                }
                            }));
                        }
                        self.detached.insert(object.identity(), (object, why));
                    }
                }
            }
        }
        // The oldest set comes first, then the first by `namespace/name` (docs/systems/gateway-api.md#listenersets).
        waiting.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let mut serving: HashMap<GatewayId, Ports> = HashMap::new();
        for (_, set, node) in waiting {
            let gateway = node.gateway;
            let ports = serving.entry(gateway).or_insert_with(|| {
                let mut ports = Ports::default();
                // The Gateway's own listeners come before those of all sets, however old these are.
                for listener in self.listeners_of((gateway, None), None) {
                    ports.add(*listener, self.listeners.get(*listener));
                }
                ports
            });
            self.attach_listener_set((set, node), ports, findings);
        }
    }

    fn gateway_of_set(
        &self,
        set: ListenerSet<'a>,
        assumed: bool,
        sources: Sources<'a>,
    ) -> Result<GatewayId, Detached<'a>> {
        if set.parent.group_kind() != (GROUP, "Gateway") {
            return Err(Detached::NoGateway);
        }
        let own = set.object.namespace_or_empty();
        let namespace = set.parent.namespace_from(own);
        match self.find_gateway(namespace, &set.parent.name) {
            None => {
                let unread = sources.get(&set.parent.identity(own)).map(Detached::Unread);
                let missing = || Detached::NotFound(format!("{namespace}/{}", set.parent.name));
                Err(unread.unwrap_or_else(missing))
            }
            Some(gateway) => {
                let home = self.gateways.get(gateway).home(assumed);
                let allowed = self.gateways.get(gateway).allowed_listeners;
                // No ReferenceGrant is needed: `allowedListeners` alone decides
                // (docs/systems/gateway-api.md#listenersets).
                let is_admitted = allowed.admits(home, own, |key| self.namespace_label_of(assumed, own, key));
                is_admitted
                    .then_some(gateway)
                    .ok_or(Detached::NotAllowed(gateway))
            }
        }
    }

    /// Adds the listeners of a set after those of the Gateway and of earlier sets: one that conflicts with them accepts
    /// nothing.
    fn attach_listener_set(
        &mut self,
        (set, node): (ListenerSet<'a>, ListenerSetNode<'a>),
        ports: &mut Ports,
        findings: &mut Findings,
    ) {
        let (object, gateway) = (node.object, node.gateway);
        let id = self.listener_sets.push(node);
        // A synced object overwrites a local one of its name.
        let key = (
            object.kind.as_str(),
            object.namespace_or_empty(),
            object.name.as_str(),
        );
        self.set_ids.entry(key).or_insert(id);
        let mut own = Vec::new();
        for listener in &set.view().listeners {
            let mut row = ListenerNode::new(listener, object, Some(id));
            if let Some((earlier, clash)) = ports.in_the_way_of(&row) {
                row.gives_way_to = Some(earlier);
                if !node.local {
                    let listener = (object, listener.pointer.as_str());
                    findings.push(gives_way(listener, self.listeners.get(earlier), clash, None));
                }
            }
            let listener = self.listeners.push(row);
            self.gateways.get_mut(gateway).listeners.push(listener);
            own.push(listener);
        }
        // The listeners of one set do not come before each other.
        for listener in &own {
            let node = self.listeners.get(*listener);
            if node.gives_way_to.is_none() {
                ports.add(*listener, node);
            }
        }
        self.own((gateway, Some(id)), own);
    }

    /// The listeners of ListenerSets that were synced to a cluster and give way there to what lives there, each with
    /// the one that it gives way to.
    pub(crate) fn outdone_there(&self) -> impl Iterator<Item = (ListenerId, ListenerId)> {
        let of = |listener: ListenerId| {
            let set = self.listeners.get(listener).set?;
            Some(self.listener_sets.get(set))
        };
        self.listeners.iter().filter_map(move |(id, listener)| {
            let winner = listener.gives_way_to?;
            let is_synced = of(id).is_some_and(|set| !set.local && !set.assumed);
            // Between two synced sets the hub has reported it.
            (is_synced && of(winner).is_some_and(|set| set.local)).then_some((id, winner))
        })
    }

    /// A listener that gives way to one that lives on these clusters.
    pub(crate) fn outdone(
        &self,
        (listener, winner): (ListenerId, ListenerId),
        clusters: &str,
    ) -> Option<Finding> {
        let (node, winner_node) = (self.listeners.get(listener), self.listeners.get(winner));
        let mut ports = Ports::default();
        ports.add(winner, winner_node);
        let (_, clash) = ports.in_the_way_of(node)?;
        Some(gives_way(
            (node.owner, node.pointer),
            winner_node,
            clash,
            Some(clusters),
        ))
    }

    /// Why a ListenerSet is attached to no Gateway, in words; `None` where it does, or is not there.
    pub(crate) fn why_detached(&self, set: &Identity) -> Option<String> {
        let (_, why) = self.detached.get(set)?;
        Some(self.reason(set.namespace.as_deref().unwrap_or_default(), why))
    }

    /// Where that is said.
    pub(crate) fn detached_at(&self, set: &Identity) -> Option<Place> {
        self.cause_of_detached(set)
            .map(|(object, pointer)| object.place(pointer))
    }

    pub(super) fn cause_of_detached(&self, set: &Identity) -> Option<Cause<'a>> {
        self.detached.get(set).map(|(object, why)| match why {
            Detached::Unread(gateway) => (*gateway, ""),
            _ => (*object, "/spec/parentRef"),
        })
    }

    fn reason(&self, namespace: &str, why: &Detached<'_>) -> String {
        match why {
            Detached::NoGateway => "its parent is not a Gateway".to_owned(),
            Detached::Unread(gateway) => format!("{} cannot be read", gateway.identity()),
            Detached::NotFound(gateway) => format!("Gateway {gateway} is not in the input"),
            Detached::NotAllowed(gateway) => {
                let object = self.gateways.get(*gateway).known_as().identity();
                match self.gateways.get(*gateway).allowed_listeners {
                    AdmittedNamespaces::Same => {
                        format!("{object} accepts only ListenerSets of its own namespace")
                    }
                    AdmittedNamespaces::Selector(_) => {
                        format!("{object} does not select ListenerSets of namespace `{namespace}`")
                    }
                    AdmittedNamespaces::None | AdmittedNamespaces::All => {
                        format!("{object} accepts no ListenerSets")
                    }
                }
            }
        }
    }

    fn detached_finding(
        &self,
        set: ListenerSet<'a>,
        why: &Detached<'_>,
        near: &mut Suggestions<'a>,
    ) -> Option<Finding> {
        let object = set.object;
        let own = object.namespace_or_empty();
        let reason = self.reason(own, why);
        let finding = |pointer: &str| {
            object.finding(
                Code::LISTENER_SET_NOT_ATTACHED,
                pointer,
                format!("is not attached: {reason}"),
            )
        };
        let named = set.parent.identity(own);
        let namespace = set.parent.namespace.as_deref();
        let mut suggest = |finding: Finding, otherwise: &str| {
            let is_gateway = |group: &str, kind: &str| (group, kind) == (GROUP, "Gateway");
            let near = near.find_for(namespace, &named);
            match near.filter(|near| near.is(is_gateway)) {
                Some(near) => near.explain(
                    finding,
                    &named.to_string(),
                    (object, "/spec/parentRef", namespace),
                ),
                None => finding.help(otherwise),
            }
        };
        Some(match why {
            // That is reported there.
            Detached::Unread(_) => return None,
            Detached::NoGateway => suggest(
                finding("/spec/parentRef").label("no Gateway"),
                "name a Gateway, or remove `group` and `kind`",
            ),
            Detached::NotFound(_) => suggest(
                finding("/spec/parentRef/name").label("its parent"),
                "correct the name or the namespace, or add the Gateway",
            ),
            Detached::NotAllowed(gateway) => {
                let gateway_object = self.gateways.get(*gateway).object;
                let spec = gateway_object.root().get("spec");
                let allowed = spec.get("allowedListeners");
                let at = if allowed.is_present() {
                    allowed.pointer()
                } else {
                    "/spec".to_owned()
                };
                finding("/spec/parentRef")
                    .label("its parent")
                    .related(gateway_object.place(&at), "the ListenerSets that it accepts; by default none")
                    .help(format!(
                        "to accept the ListenerSets of `{own}`, write into its `spec` `allowedListeners: {{namespaces: \
                         {{from: Selector, selector: {{matchLabels: {{{NAMESPACE_NAME_LABEL}: {own}}}}}}}}}`"
                    ))
            }
        })
    }
}

/// A listener of a set gives way to another one, `there`: to one that lives on these clusters.
fn gives_way(
    (set, pointer): (&Object, &str),
    winner: &ListenerNode<'_>,
    clash: Clash,
    there: Option<&str>,
) -> Finding {
    let (set_name, owner) = (set.identity(), winner.owner);
    let of_other = format!(
        "{} listener `{}` of {}",
        clash.text(),
        winner.name,
        owner.identity()
    );
    let (message, label) = match there {
        None => (
            format!("a listener of {set_name} accepts nothing: it has {of_other}"),
            "this listener is not used",
        ),
        Some(clusters) => (
            format!(
                "a listener of {set_name} accepts nothing on {clusters}: it has {of_other}, which lives there"
            ),
            "this listener is not used there",
        ),
    };
    Finding::new(Code::LISTENER_SET_CONFLICTED, set.place(pointer), message)
        .label(label)
        .related(owner.place(winner.pointer), "this one is used instead")
        .note(match winner.set {
            Some(_) => OLDER_FIRST,
            None => "listeners of the Gateway take precedence over those of ListenerSets",
        })
        .help(clash.help())
}
