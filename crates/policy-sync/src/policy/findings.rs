//! Findings about policies as a whole: targets on no path, settings that apply nowhere, and what controllers do not do with
//! a policy that they accept.
//!
//! Of the last no status says anything: the policy is Accepted, and the traffic passes without it. Each rule names its
//! source.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Value;

use super::attachment::Attachments;
use super::cluster_outcomes::{Everywhere, Fates, Tally};
use super::condition::{MAX_ANCESTORS, Outcome};
use super::model::{Declared, Policy, PolicyId, Rule};
use super::products::certificate_faults;
use super::profile::{Profile, StatusShape};
use super::status::{accepted, rejection};
use crate::diagnostic::{Code, Finding, Findings, Severity, first_names};
use crate::object::Object;
use crate::topology::{
    self, GatewayId, Level, ListenerId, ListenerNode, Node, RouteId, RouteMatch, Topology,
};

/// So many listeners are named that share a port with the one of a policy.
const MOST_NAMED: usize = 3;

/// So many routes or listeners are named at once.
const MOST_LISTED: usize = 5;

/// Settings of a ClientTrafficPolicy that are those of a socket, which the listeners of a port share:
/// envoyproxy/gateway internal/xds/translator/listener.go@v1.9.0.
const OF_A_SOCKET: [&str; 5] = [
    "/connection/bufferLimit",
    "/enableProxyProtocol",
    "/proxyProtocol",
    "/tcpKeepalive",
    "/timeout/tcp/connectionInspectionTimeout",
];

/// Fields of a SecurityPolicy that count where there is no HTTP, and those that say where it counts.
const ON_TCP: [&str; 5] = [
    "authorization",
    "mergeType",
    "targetRef",
    "targetRefs",
    "targetSelectors",
];

/// Fields that Envoy Gateway acts on only if its own configuration allows it, by the kind of the policy:
/// envoyproxy/gateway api/v1alpha1/envoygateway_types.go@v1.9.0, ExtensionAPISettings.
const OFF_BY_DEFAULT: [(&str, &str, &str); 2] = [
    ("EnvoyExtensionPolicy", "/spec/lua", "enableLua"),
    ("EnvoyPatchPolicy", "/spec", "enableEnvoyPatchPolicy"),
];

/// The findings that need the outcome of all policies: unreachable and wholly overridden policies. `attachments` are
/// the hub's, `fates` those on all clusters.
pub fn outcomes(attachments: &Attachments<'_>, fates: &Fates<'_>, findings: &mut Findings) {
    let routes = attachments.topology.routes.rows();
    findings.of_each(routes, |route, found| by_filter(route.object, found));
    report_shared_sockets(attachments, findings);
    report_shared_paths(attachments, findings);
    for (id, policy) in attachments.policies.iter() {
        let object = policy.object;
        refused(attachments, id, findings);
        beyond(attachments, id, findings);
        let number = policy.gateways(&attachments.topology).len();
        if attachments.profile(id).status.lists_ancestors() && number > MAX_ANCESTORS {
            let what = format!("has {number} ancestors; a status lists at most {MAX_ANCESTORS}");
            let finding = object.finding(Code::POLICY_TOO_MANY_ANCESTORS, policy.pointer(), what);
            findings.push(finding.help("split the policy, or target fewer Gateways"));
        }
        if !accepted(attachments, id, None).is_true() {
            continue;
        }
        report_no_effect(attachments, id, findings);
        let fates = fates.of(&policy.locator());
        let outcome = |everywhere: &Everywhere<'_>| {
            let outcomes = everywhere.fates.iter().map(|fate| fate.total().outcome());
            let mut outcomes: BTreeSet<Outcome> = outcomes.collect();
            outcomes.pop_first().filter(|_| outcomes.is_empty())
        };
        match fates.and_then(|everywhere| Some((everywhere, outcome(everywhere)?))) {
            Some((everywhere, Outcome::Overridden)) => {
                wholly_overridden(attachments, everywhere, id, findings);
            }
            None if fates.is_some() => {}
            Some((_, Outcome::NoPath)) | None => unreachable(attachments, id, findings),
            Some(_) => {}
        }
    }
}

/// Filters of a route that name a policy: it applies before all policies that target the rule
/// (docs/systems/other-policies.md#kgateway).
fn by_filter(route: &Object, findings: &mut Findings) {
    // Without cursors: of many thousands of filters, hardly one names a policy.
    for (rule_at, rule) in items(route.value.get("spec"), "rules") {
        let of_rule = items(Some(rule), "filters").map(|filter| (None, filter));
        let of_backends = items(Some(rule), "backendRefs").flat_map(|(backend, holder)| {
            items(Some(holder), "filters").map(move |filter| (Some(backend), filter))
        });
        for (backend, (filter_at, filter)) in of_rule.chain(of_backends) {
            let Some(named) = filter.get("extensionRef") else {
                continue;
            };
            let text = |name: &str| named.get(name).and_then(Value::as_str);
            let Some(kind) = text("kind").filter(|kind| kind.ends_with("Policy")) else {
                continue;
            };
            let name = text("name").unwrap_or_default();
            let backend = backend.map_or_else(String::new, |at| format!("/backendRefs/{at}"));
            let pointer = format!("/spec/rules/{rule_at}{backend}/filters/{filter_at}/extensionRef");
            let message = format!(
                "names {kind} {name} as a filter, so the reports about this rule leave that policy out"
            );
            let finding = route.finding(Code::POLICY_NOT_EVALUATED, &pointer, message);
            let finding = finding.label("takes precedence over all policies that target the rule");
            findings.push(finding.help(format!(
                "name the route and the rule in `targetRefs` of {kind} {name}, and remove the filter"
            )));
        }
    }
}

/// Targets that are below where the paths of the kind end: its CRD takes them, and their result is not known here.
fn beyond(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let (policy, profile) = (attachments.policy(id), attachments.profile(id));
    let deepest = profile.ends.iter().max();
    if profile.of_workloads || deepest.is_none_or(|deepest| *deepest >= Level::Backend) {
        return;
    }
    let is_backend = |node: &Node| matches!(node, Node::Backend(_) | Node::Port(..));
    for (declared, node) in policy.attached().filter(|(_, node)| is_backend(node)) {
        let target = attachments.topology.described(node);
        let message = format!(
            "targets {target}: its effect there is not evaluated, so the reports about paths to it leave the policy out"
        );
        let finding = (policy.object).finding(Code::POLICY_NOT_EVALUATED, &declared.pointer, message);
        let finding = finding.label("a target that is not evaluated");
        findings
            .push(finding.help("target the routes that lead there, or check on a cluster what takes effect"));
    }
}

/// A policy that its controller refuses where it is attached, though the API server takes it.
fn refused(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let policy = attachments.policy(id);
    let controller = match attachments.profile(id).status {
        StatusShape::EnvoyGateway if policy.counts() => "Envoy Gateway",
        StatusShape::Kgateway if policy.counts() => "kgateway",
        _ => return,
    };
    let mut said = BTreeSet::new();
    for (declared, node) in policy.attached() {
        let attached = (attachments, id, node);
        let Some(rejection) = rejection(attached, MOST_NAMED) else {
            continue;
        };
        let pointer = rejection.pointer.as_ref().unwrap_or(&declared.pointer);
        if !said.insert(pointer.to_owned()) {
            continue;
        }
        let severity = match rejection.pointer {
            Some(_) => Severity::Error,
            None => Severity::Warning,
        };
        let there = attachments.topology.described(rejection.at.unwrap_or(node));
        let (name, why) = (policy.object.identity(), rejection.message.trim_end_matches('.'));
        let message = format!("{controller} refuses {name} on {there}: {why}");
        findings.push(
            Finding::new(Code::POLICY_INVALID, policy.object.place(pointer), message)
                .severity(severity)
                .label("no setting of the policy takes effect there")
                .help(rejection.help),
        );
    }
}

/// A target that nothing leads to. A Gateway without routes is not one, because its routes may live on spokes.
fn unreachable(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let policy = attachments.policy(id);
    for (declared, node) in policy.attached() {
        if attachments.starts_of(id, node).is_empty() {
            findings.push(no_path(attachments, policy, declared, node));
        }
    }
}

/// A target that no Gateway leads to.
pub fn no_path(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    node: Node,
) -> Finding {
    let target = attachments.topology.described(node);
    let message = format!("targets {target}, which no Gateway of the input leads to");
    let finding = (policy.object).finding(Code::POLICY_UNREACHABLE, &declared.pointer, message);
    let finding = finding.label("on no path from a Gateway").help(match node {
        Node::Class(_) | Node::Namespace(_) => "target a class or a namespace that has Gateways or routes",
        Node::Backend(_) | Node::Port(..) => {
            "if a route leads there, check its `backendRefs`; otherwise keep the policy on the spokes, where its target is"
        }
        _ => "check `parentRefs` of the route, and `hostname` and `allowedRoutes` of the listeners",
    });
    let causes = attachments.topology.unreachable_at(node).into_iter();
    causes.fold(finding, Finding::follows_from)
}

fn wholly_overridden(
    attachments: &Attachments<'_>,
    everywhere: &Everywhere<'_>,
    id: PolicyId,
    findings: &mut Findings,
) {
    let policy = attachments.policy(id);
    let mut total = Tally::default();
    for fate in &everywhere.fates {
        total.add(&fate.total());
    }
    let own = policy.nodes();
    let elsewhere = total.by.values().any(|winner| {
        if winner.local {
            return winner.rules.iter().any(|rule| *rule != Rule::SpokeLocal);
        }
        let known = attachments.find(&winner.object.identity());
        let nodes = known.map(|winner| attachments.policy(winner).nodes());
        nodes.is_some_and(|nodes| nodes.is_disjoint(&own))
    });
    // Policies with one target are already reported as such.
    if !elsewhere {
        return;
    }
    let message = format!("no setting of {} is in effect anywhere", policy.object.identity());
    let place = policy.object.place(policy.pointer());
    let mut finding = Finding::new(Code::POLICY_OVERRIDDEN, place, message)
        .label("overridden as a whole")
        .help("remove the policy, or ask the owner of the other one");
    for winner in total.by.values() {
        finding = finding.related(winner.object.place("/spec"), "in effect instead");
        for rule in &winner.rules {
            let (name, why, rule) = (winner.object.identity(), rule.because(), rule.name());
            finding = finding.note(format!("{name} wins because {why} ({rule})"));
        }
    }
    findings.push(finding);
}

/// Reports where a controller does nothing with a policy that is attached.
fn report_no_effect(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let policy = attachments.policy(id);
    let profile = attachments.profile(id);
    for (declared, node) in policy.attached() {
        if profile.status == StatusShape::Kuadrant {
            let (object, pointer) = (policy.object, &declared.pointer);
            let finding = |what: String| object.finding(Code::POLICY_NO_EFFECT, pointer, what);
            let is_of_routes = profile.ends.iter().any(|level| *level >= Level::Route);
            if is_of_routes && let Some(routes) = behind_listener_sets(attachments, profile, node) {
                let message = format!("does not protect what is attached through a ListenerSet: {routes}");
                let finding = finding(message).label("Kuadrant follows no ListenerSets");
                findings.push(
                    finding
                        .help("attach the routes to listeners of the Gateway, or accept that they are open"),
                );
            }
            if let Some(listeners) = without_certificates(&attachments.topology, profile, node) {
                findings.push(
                    finding(format!("makes no Certificate for {listeners}"))
                    .label("Kuadrant asks for no Secret there")
                    .help("target listeners that end TLS, with a hostname and a Secret of their own in the Gateway's namespace; or remove the policy, and create the Secrets"),
                );
            }
        }
        if policy.object.is("gateway.envoyproxy.io", "SecurityPolicy") {
            report_ignored_on_tcp(attachments, policy.object, node, findings);
        }
    }
    let off = OFF_BY_DEFAULT.iter().filter(|(kind, field, _)| {
        policy.object.is("gateway.envoyproxy.io", kind) && policy.object.value.pointer(field).is_some()
    });
    for (_, field, setting) in off {
        let (name, place) = (policy.object.identity(), policy.object.key_place(field));
        let message = format!(
            "Envoy Gateway ignores this of {name} unless its own configuration says `extensionApis.{setting}: true`"
        );
        let finding = Finding::new(Code::POLICY_NO_EFFECT, place, message);
        let finding = finding.label("off by default since release 1.9");
        findings.push(
            finding.help("set it on the clusters, and accept this finding: `suppress` in spokewright.yaml"),
        );
    }
}

/// The routes below a node that are attached to listeners of ListenerSets alone.
fn behind_listener_sets(attachments: &Attachments<'_>, profile: &Profile, node: Node) -> Option<String> {
    let topology = &attachments.topology;
    let of_set = |listener: ListenerId| topology.listeners.get(listener).set.is_some();
    if let Node::Route(route) | Node::Rule(route, _) = node {
        let gateways = topology.routes.get(route).gateways.iter();
        let attached = gateways.flat_map(|gateway| &topology.gateways.get(*gateway).attached);
        let mut listeners = attached.filter(|(_, other)| *other == route).peekable();
        let is_open = listeners.peek().is_some() && listeners.all(|(listener, _)| of_set(*listener));
        return is_open.then(|| topology.routes.get(route).object.identity().to_string());
    }
    let (Node::Gateway(gateway) | Node::Listener(gateway, _)) = node else {
        return None;
    };
    let meant: BTreeSet<_> = topology.listeners_at(node).into_iter().collect();
    let attached = topology.gateways.get(gateway).attached.iter();
    let attached = attached.filter(|(listener, _)| meant.contains(&(gateway, *listener)));
    let concerned = attached.filter(|(_, route)| {
        let kind = &topology.routes.get(*route).object.kind;
        profile.targeting.concerns_route(kind)
    });
    let (through_sets, own): (Vec<_>, Vec<_>) = concerned.partition(|(listener, _)| of_set(*listener));
    let own: BTreeSet<_> = own.into_iter().map(|(_, route)| route).collect();
    let open = through_sets.into_iter().filter(|(_, route)| !own.contains(route));
    let open = open.map(|(_, route)| topology.routes.get(route).object.identity().to_string());
    let open: BTreeSet<String> = open.collect();
    (!open.is_empty()).then(|| first_names(&open, MOST_LISTED))
}

/// The listeners below a node for which a TLSPolicy is meant, and makes nothing.
fn without_certificates(topology: &Topology<'_>, profile: &Profile, node: Node) -> Option<String> {
    let (Node::Gateway(gateway) | Node::Listener(gateway, _)) = node else {
        return None;
    };
    if profile.kind != "TLSPolicy" {
        return None;
    }
    let node_of = topology.gateways.get(gateway);
    let mut faults = certificate_faults(node_of.object);
    let listeners = node_of.listeners.iter();
    let listeners = listeners.map(|listener| (*listener, topology.listeners.get(*listener)));
    let ends_tls = |listener: &ListenerNode<'_>| {
        ["HTTPS", "TLS"].contains(&listener.protocol) && !listener.passes_through
    };
    // Another protocol is a mistake of its own, and may be meant to end TLS.
    let is_plain = |listener: &ListenerNode<'_>| ["HTTP", "TCP", "UDP"].contains(&listener.protocol);
    let mut all = listeners.clone();
    let none_ends_tls = all.all(|(_, listener)| is_plain(listener) || listener.passes_through);
    if node == Node::Gateway(gateway) && none_ends_tls {
        return Some("any listener (TLS ends at none)".to_owned());
    }
    let faults = listeners.filter_map(|(id, listener)| {
        let is_named = node == Node::Listener(gateway, id);
        // Beside others, one without TLS, or that passes it through, is no mistake.
        let is_meant = node == Node::Gateway(gateway) && ends_tls(listener);
        if listener.set.is_some() || !(is_named || is_meant) {
            return None;
        }
        let why = faults.remove(listener.pointer)?;
        Some(format!("listener `{}` ({why})", listener.name))
    });
    let faults: Vec<String> = faults.collect();
    (!faults.is_empty()).then(|| first_names(&faults, MOST_LISTED))
}

/// What Envoy Gateway does not read of `authorization` where there is no HTTP: client addresses are all that TCP has
/// (envoyproxy/gateway internal/xds/translator/authorization_tcp.go@v1.9.0).
fn report_ignored_on_tcp(
    attachments: &Attachments<'_>,
    policy: &Object,
    node: Node,
    findings: &mut Findings,
) {
    let topology = &attachments.topology;
    let listeners = topology.listeners_at(node).into_iter();
    let listeners = listeners.map(|(_, listener)| topology.listeners.get(listener));
    let tcp = listeners.filter(|listener| listener.protocol == "TCP");
    let tcp: Vec<String> = tcp.map(|listener| format!("`{}`", listener.name)).collect();
    if tcp.is_empty() || matches!(node, Node::ListenerSet(_)) {
        return;
    }
    let is_tcp_alone = matches!(node, Node::Listener(..));
    let finding = |pointer: &str, message: String| {
        let message = format!("{} {message} by this", policy.identity());
        Finding::new(Code::POLICY_NO_EFFECT, policy.key_place(pointer), message)
    };
    let fields = policy.value.get("spec").and_then(Value::as_object);
    let fields = fields.into_iter().flat_map(|fields| fields.keys());
    for field in fields.filter(|field| is_tcp_alone && !ON_TCP.contains(&field.as_str())) {
        let message = format!("does nothing for the TCP listener {}", tcp.join(", "));
        let finding = finding(&format!("/spec/{field}"), message).label("it is for HTTP");
        findings.push(
            finding.help("target listeners of HTTP; what is for TCP is `authorization` with `clientCIDRs`"),
        );
    }
    let spec = policy.root().get("spec");
    spec.each("authorization.rules.*.{operation,principal.*}", &mut |field| {
        let pointer = field.pointer();
        if pointer.ends_with("/principal/clientCIDRs") {
            return;
        }
        let listeners = first_names(&tcp, MOST_LISTED);
        let message = format!("does not limit connections to the TCP listener {listeners}");
        findings.push(
            finding(&pointer, message)
                .label("Envoy Gateway reads `clientCIDRs` alone there")
                .help("target the listeners of HTTP, and limit those of TCP by a policy with `clientCIDRs` only"),
        );
    });
}

/// Reports settings of a socket that the first policy of a port decides for the others.
fn report_shared_sockets(attachments: &Attachments<'_>, findings: &mut Findings) {
    let Some(kind) = attachments.kind_of("gateway.envoyproxy.io", "ClientTrafficPolicy") else {
        return;
    };
    let topology = &attachments.topology;
    let mut said = BTreeSet::new();
    for (gateway, node) in topology.gateways.iter() {
        let mut first_of: BTreeMap<Option<i64>, PolicyId> = BTreeMap::new();
        for listener in &node.listeners {
            let mut nodes = topology.nodes_at(gateway, *listener);
            let Some(policy) = nodes.find_map(|node| Some(attachments.on(kind, node).first()?.policy)) else {
                continue;
            };
            let ListenerNode { name, port, .. } = topology.listeners.get(*listener);
            let first = *first_of.entry(*port).or_insert(policy);
            if first == policy || !said.insert((first, policy)) {
                continue;
            }
            let [winner, loser] = [first, policy].map(|id| attachments.policy(id).object);
            for field in OF_A_SOCKET {
                let pointer = format!("/spec{field}");
                let [theirs, own] = [winner, loser].map(|object| object.value.pointer(&pointer));
                if theirs == own {
                    continue;
                }
                let (place, label) = match own {
                    Some(_) => (loser.key_place(&pointer), "a setting of the socket"),
                    None => (loser.place("/spec"), "the other policy sets it"),
                };
                let message = format!(
                    "`{}` of {} has no effect at listener `{name}`: {} decides for its port{}",
                    field.trim_start_matches('/').replace('/', "."),
                    loser.identity(),
                    winner.identity(),
                    port.map(|port| format!(" {port}")).unwrap_or_default()
                );
                findings.push(
                    Finding::new(Code::POLICY_NO_EFFECT, place, message)
                        .label(label)
                        .related(
                            winner.place("/spec"),
                            "the policy of the first listener of the port",
                        )
                        .help("set it to the same in both policies, or give the listener a port of its own"),
                );
            }
        }
    }
}

/// Where requests come from to an HTTPRoute: Gateway, hostname, port, path.
type HostPath = (GatewayId, String, Option<i64>, String);

/// Reports policies of NGINX that name a route which shares a hostname, port, and path with one that they do not name:
/// nginx/nginx-gateway-fabric internal/controller/state/graph/policies.go@023b5f8bf4b8f630869039f67d67d2fcf5e160da,
/// checkTargetRoutesForOverlap.
fn report_shared_paths(attachments: &Attachments<'_>, findings: &mut Findings) {
    let topology = &attachments.topology;
    let of_nginx = attachments.policies.iter().filter(|(_, policy)| {
        let profile = &attachments.kinds.get(policy.kind).profile;
        profile.group == "gateway.nginx.org"
            && policy.nodes().iter().any(|node| matches!(node, Node::Route(_)))
    });
    let mut of_nginx = of_nginx.peekable();
    if of_nginx.peek().is_none() {
        return;
    }
    let mut routes_at: BTreeMap<HostPath, BTreeSet<RouteId>> = BTreeMap::new();
    let mut paths_of: BTreeMap<RouteId, BTreeSet<HostPath>> = BTreeMap::new();
    for (gateway, node) in topology.gateways.iter() {
        for (listener, route) in &node.attached {
            for path in host_paths(topology, gateway, *listener, *route) {
                routes_at.entry(path.clone()).or_default().insert(*route);
                paths_of.entry(*route).or_default().insert(path);
            }
        }
    }
    for (_, policy) in of_nginx {
        let nodes = policy.nodes();
        let is_named = |other: &RouteId| nodes.contains(&Node::Route(*other));
        for (declared, node) in policy.attached() {
            let Node::Route(route) = node else { continue };
            let mut paths = paths_of.get(&route).into_iter().flatten();
            let shared = paths.find_map(|path| {
                let other = routes_at.get(path)?.iter().find(|other| !is_named(other))?;
                Some((path, topology.routes.get(*other).object))
            });
            let Some(((_, host, _, path), other)) = shared else {
                continue;
            };
            let message = format!(
                "NGINX Gateway Fabric refuses {} on {}: {} is at `{host}{path}`, too",
                policy.object.identity(),
                topology.described(Node::Route(route)),
                other.identity()
            );
            let place = policy.object.place(&declared.pointer);
            findings.push(
                Finding::new(Code::POLICY_NO_EFFECT, place, message)
                    .label("TargetConflict: no setting of the policy takes effect there")
                    .related(other.place("/metadata/name"), "the other route")
                    .help(if declared.pointer.contains("/targetRefs/") {
                        "name both routes in `targetRefs`, or give them different paths"
                    } else {
                        "give the routes different paths, or target the Gateway"
                    }),
            );
        }
    }
}

/// With Gateway API's defaults, which an API server fills in.
fn host_paths(
    topology: &Topology<'_>,
    gateway: GatewayId,
    listener: ListenerId,
    route: RouteId,
) -> Vec<HostPath> {
    let (listener, node) = (topology.listeners.get(listener), topology.routes.get(route));
    if node.object.kind != "HTTPRoute" {
        return Vec::new();
    }
    let rules = topology::items(node.object.value.pointer("/spec/rules")).iter();
    let matches = rules.flat_map(|rule| RouteMatch::from_rule("HTTPRoute", rule));
    let paths: BTreeSet<String> = matches.map(|one| one.path().to_owned()).collect();
    let hosts = listener.common_hostnames(node.route).into_iter();
    let paths = || paths.iter().cloned();
    let at = |host: String| paths().map(move |path| (gateway, host.clone(), listener.port, path));
    hosts.flat_map(at).collect()
}

/// The items of a list of a mapping, with their positions.
fn items<'v>(holder: Option<&'v Value>, name: &str) -> impl Iterator<Item = (usize, &'v Value)> + use<'v> {
    let list = holder.and_then(|holder| holder.get(name));
    topology::items(list).iter().enumerate()
}
