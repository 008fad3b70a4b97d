//! Requests that do not get where the input sends them: matches on one listener that another rule wins
//! (docs/systems/gateway-api.md#which-rule-wins), redirects that lead back to where they are, which a client follows until
//! it gives up, and Gateways on one cluster with the same hostname.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use apimachinery::Work;
use indexmap::{IndexMap, IndexSet};
use kube_json::Value;

use super::synced_object::Syncing;
use crate::api::gateway::GROUP;
use crate::api::route::is_route;
use crate::diagnostic::{Code, Finding, Findings, Place, first_items, first_names, one_or_many};
use crate::hub::RowId as _;
use crate::object::Object;
use crate::parallel;
use crate::request_matching::Request;
use crate::topology::{
    GatewayId, GatewayNode, ListenerId, ListenerNode, RouteId, RouteMatch, RouteNode, RuleId, Topology,
    covers, items,
};

/// Most listeners that one finding names.
const MOST_LISTENERS: usize = 3;

/// Reports every rule of a route whose match another rule wins on a whole listener of ours.
pub fn report_shadowed(syncing: Syncing<'_>, findings: &mut Findings) {
    let topology = &syncing.attachments.topology;
    let gateways = topology.gateways.iter();
    let gateways = gateways.filter(|(id, _)| syncing.our_gateway(*id).is_some());
    let gateways: Vec<&GatewayNode<'_>> = gateways.map(|(_, gateway)| gateway).collect();
    let attached = gateways.iter().flat_map(|gateway| &gateway.attached);
    let attached: BTreeSet<RouteId> = attached.map(|(_, route)| *route).collect();
    let attached: Vec<RouteId> = attached.into_iter().collect();
    let route_matches = parallel::map(&attached, |route| {
        Some((*route, RouteMatches::read(topology.routes.get(*route))?))
    });
    let route_matches = with_equal_matches(route_matches.into_iter().flatten().collect());
    if route_matches.is_empty() {
        return;
    }
    let mut shadows: BTreeMap<(Rule, Rule), Shadow> = BTreeMap::new();
    // Listeners on which the same happens: a route on all listeners of many Gateways is compared once.
    let mut groups: IndexMap<Vec<u32>, BTreeSet<(usize, ListenerId)>> = IndexMap::new();
    for (position, gateway) in gateways.iter().enumerate() {
        let mut on: BTreeMap<ListenerId, Vec<RouteId>> = BTreeMap::new();
        for (listener, route) in &gateway.attached {
            on.entry(*listener).or_default().push(*route);
        }
        for (listener, routes) in on {
            let node = topology.listeners.get(listener);
            let routes = routes.into_iter();
            let routes = routes.filter_map(|route| Some((route, route_matches.get(&route)?)));
            let mut routes: Vec<(RouteId, &RouteMatches<'_>)> = routes.collect();
            let next = groups.len();
            let alike = groups.entry(served(node, &routes));
            let group = alike.index();
            alike.or_default().insert((position, listener));
            // The same routes with the same hostnames were compared at another listener.
            if group < next {
                continue;
            }
            routes.sort_by_key(|(_, route_matches)| &route_matches.node.rank);
            for (loser, winner) in shadowed(node, &routes) {
                let shadow = shadows
                    .entry((loser.rule, winner.rule))
                    .or_insert_with(|| Shadow {
                        loser: loser.at,
                        winner: winner.at,
                        groups: Vec::new(),
                    });
                if shadow.groups.last() != Some(&group) {
                    shadow.groups.push(group);
                }
            }
        }
    }
    let name = |(position, listener): &(usize, ListenerId)| {
        let gateway = gateways.get(*position)?.object.identity();
        Some(format!(
            "`{}` of {gateway}",
            topology.listeners.get(*listener).name
        ))
    };
    // A rule may be shadowed on a thousand listeners, and so may a thousand rules.
    let mut said: HashMap<&[usize], String> = HashMap::new();
    for ((loser, winner), shadow) in &shadows {
        if let (Some(of_loser), Some(of_winner)) = (route_matches.get(&loser.0), route_matches.get(&winner.0))
        {
            let listeners = said.entry(&shadow.groups).or_insert_with(|| {
                let all = shadow.groups.iter().filter_map(|group| groups.get_index(*group));
                let all: BTreeSet<_> = all.flat_map(|(_, listeners)| listeners).collect();
                // A Gateway and a ListenerSet of it may have listeners of one name.
                let mut seen = BTreeSet::new();
                let names = all.into_iter().filter_map(name);
                let names: Vec<String> = names.filter(|name| seen.insert(name.clone())).collect();
                first_items(names, MOST_LISTENERS)
            });
            findings.push(shadowed_rule(
                (of_loser, *loser),
                (of_winner, *winner),
                (shadow, listeners),
            ));
        }
    }
}

/// Those of the routes that have a match which is there twice: all others neither win nor lose anything.
fn with_equal_matches(
    mut route_matches: BTreeMap<RouteId, RouteMatches<'_>>,
) -> BTreeMap<RouteId, RouteMatches<'_>> {
    let mut last: HashMap<&Form<'_>, RouteId> = HashMap::new();
    let mut repeated = BTreeSet::new();
    for (route, route_matches) in &route_matches {
        for match_of_rule in &route_matches.matches {
            let before = last.insert(&match_of_rule.form, *route);
            repeated.extend(before.into_iter().flat_map(|before| [before, *route]));
        }
    }
    route_matches.retain(|route, _| repeated.contains(route));
    route_matches
}

/// A rule, by its route and its position.
type Rule = (RouteId, usize);

/// One match of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    rule: Rule,
    /// Position among the matches of its route.
    at: usize,
}

/// Two rules that match the same requests.
struct Shadow {
    /// Positions of the first two matches that are equal.
    loser: usize,
    winner: usize,
    /// Of listeners on which that is so, in the order in which they were met.
    groups: Vec<usize>,
}

/// The kind of a route, and a match in one form: equal for matches of the same requests.
type Form<'a> = (&'a str, RouteMatch<'a>);

/// The matches of a route.
struct RouteMatches<'a> {
    node: &'a RouteNode<'a>,
    matches: Vec<MatchOfRule<'a>>,
}

/// The requests of one match of a rule.
struct MatchOfRule<'a> {
    rule: usize,
    /// Its position in the rule.
    one: usize,
    /// Equal for matches of the same requests.
    form: Form<'a>,
}

impl<'a> RouteMatches<'a> {
    fn read(node: &'a RouteNode<'a>) -> Option<Self> {
        let object = node.object;
        // What routes of other groups match is unknown.
        if !is_route(&object.api_version.group, &object.kind) {
            return None;
        }
        let rules = match object.value.pointer("/spec/rules") {
            // A route without rules matches everything.
            None | Some(Value::Null) => &[Value::Null],
            rules => items(rules),
        };
        let matches = rules.iter().enumerate().flat_map(|(rule, value)| {
            let matches = RouteMatch::from_rule(&object.kind, value).into_iter().enumerate();
            matches.map(move |(one, match_of_rule)| MatchOfRule {
                rule,
                one,
                form: (&object.kind, match_of_rule.normalized()),
            })
        });
        Some(Self {
            node,
            matches: matches.collect(),
        })
    }

    /// Where a match is, or what has none.
    fn place(&self, at: usize) -> Place {
        let object = self.node.object;
        let pointers = self.matches.get(at).map(|MatchOfRule { rule, one, .. }| {
            let rule = format!("/spec/rules/{rule}");
            [format!("{rule}/matches/{one}"), rule]
        });
        let mut pointers = pointers.into_iter().flatten();
        let written = pointers.find(|pointer| object.value.pointer(pointer).is_some());
        object.place(written.as_deref().unwrap_or("/spec"))
    }
}

/// The routes of a listener, each with the hostnames that it serves for them by the order in which they first appear:
/// what loses to what is attached to nothing else.
fn served(listener: &ListenerNode<'_>, routes: &[(RouteId, &RouteMatches<'_>)]) -> Vec<u32> {
    let mut numbers: IndexSet<String> = IndexSet::new();
    let mut served = Vec::with_capacity(routes.len().saturating_mul(3));
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    for (id, route_matches) in routes {
        let hostnames = listener.common_hostnames(route_matches.node.route);
        served.extend([id.row(), count(hostnames.len())]);
        let hostnames = hostnames.into_iter();
        served.extend(hostnames.map(|hostname| count(numbers.insert_full(hostname).0)));
    }
    served
}

/// The matches that lose on all hostnames that a listener serves for their route, each with a winner. The routes are in
/// the order of their ranks.
fn shadowed(listener: &ListenerNode<'_>, routes: &[(RouteId, &RouteMatches<'_>)]) -> Vec<(Match, Match)> {
    // By hostname, then by form: what wins comes first.
    let mut winners: HashMap<Rc<str>, BTreeMap<&Form<'_>, Match>> = HashMap::new();
    let mut lost = Vec::new();
    for (id, route_matches) in routes {
        let hostnames = listener.common_hostnames(route_matches.node.route).into_iter();
        let hostnames: Vec<Rc<str>> = hostnames.map(Rc::from).collect();
        for (at, match_of_rule) in route_matches.matches.iter().enumerate() {
            let own = Match {
                rule: (*id, match_of_rule.rule),
                at,
            };
            let before = hostnames.iter().map(|hostname| {
                let winners = winners.entry(Rc::clone(hostname)).or_default();
                *winners.entry(&match_of_rule.form).or_insert(own)
            });
            let before: Vec<Match> = before.collect();
            // A rule that repeats a match is not a conflict.
            let is_lost = before.iter().all(|winner| winner.rule != own.rule);
            if let Some(winner) = before.first().filter(|_| is_lost) {
                lost.push((own, *winner));
            }
        }
    }
    lost
}

fn shadowed_rule(
    (loser, losing): (&RouteMatches<'_>, Rule),
    (winner, winning): (&RouteMatches<'_>, Rule),
    (shadow, listeners): (&Shadow, &str),
) -> Finding {
    let names = (loser.node.object.identity(), winner.node.object.identity());
    let (message, because) = if losing.0 == winning.0 {
        let message = format!("an earlier rule of {} gets all requests of this match", names.0);
        (message, "the first matching rule of a route wins".to_owned())
    } else {
        let because = if winner.node.rank.is_older(&loser.node.rank) {
            "is older"
        } else {
            "is first by namespace/name, and no creation time decides"
        };
        let message = format!("{} gets all requests of this match of {}", names.1, names.0);
        (message, format!("{} wins because it {because}", names.1))
    };
    Finding::new(Code::ROUTE_SHADOWED, loser.place(shadow.loser), message)
        .label("gets no request")
        .related(winner.place(shadow.winner), "this one takes precedence")
        .note(format!(
            "both match the same requests on the same hostnames of the listener {listeners}"
        ))
        .note(because)
        .help("remove one of the two, or let one match more: another path, a method, a header")
}

/// The longest circle that is found: clients follow more redirects, but nobody writes such circles by mistake.
const LONGEST_CIRCLE: usize = 8;

/// The most redirects of a Gateway that are followed, of those that may lead back: each step asks all routes of a listener.
const MOST_REDIRECTS: usize = 500;

/// A rule that redirects.
struct Redirect<'r> {
    rule_id: RuleId,
    /// Where its redirect is in the route.
    pointer: String,
    matches: Vec<RouteMatch<'r>>,
    filter: &'r Value,
}

/// Reports redirects of routes of ours that lead back to the request that they answer, by themselves or over others.
pub fn report_redirects(syncing: Syncing<'_>, findings: &mut Findings) {
    let topology = &syncing.attachments.topology;
    let mut reported = BTreeSet::new();
    for (gateway, node) in topology.gateways.iter() {
        if syncing.our_gateway(gateway).is_none() {
            continue;
        }
        let mut redirects = Vec::new();
        for (listener, route_id) in &node.attached {
            let (listener, route) = (topology.listeners.get(*listener), topology.routes.get(*route_id));
            for redirect in redirects_of(route) {
                let start = example(listener, route, &redirect);
                let next = start.as_ref().and_then(|start| redirected(&redirect, start));
                if let Some((start, next)) = start.zip(next) {
                    redirects.push((listener, (*route_id, redirect.rule_id), start, next));
                }
            }
        }
        // Most lead to another listener, where nothing redirects.
        let may_go_on = |next: &Request| redirects.iter().any(|(listener, ..)| listener.receives(next));
        let followed = redirects.iter().filter(|(.., next)| may_go_on(next));
        for (listener, rule, start, _) in followed.take(MOST_REDIRECTS) {
            let circle = circle(topology, gateway, start).filter(|circle| circle.first() == Some(rule));
            let Some(circle) = circle else { continue };
            // A circle is found from each of its rules.
            let new = circle.iter().filter(|rule| reported.insert(**rule));
            if new.count() == circle.len() {
                let whose = format!("listener `{}` of {}", listener.name, node.object.identity());
                findings.extend(endless(topology, &circle, &whose));
            }
        }
    }
}

/// The finding about the first rule of a circle.
fn endless(topology: &Topology<'_>, circle: &[(RouteId, RuleId)], listener: &str) -> Option<Finding> {
    let place = |(route, id): &(RouteId, RuleId)| {
        let route = topology.routes.get(*route);
        let redirect = redirect_of(route, *id)?;
        Some((route.object.identity(), route.object.place(&redirect.pointer)))
    };
    let mut places = circle.iter().filter_map(place);
    let (route, first) = places.next()?;
    let way = one_or_many(circle.len(), "", ", over other redirects");
    let message = format!("{route} redirects requests to {listener} to where they came from{way}");
    let finding = Finding::new(Code::ROUTE_REDIRECTS_TO_ITSELF, first, message)
        .label("an endless redirect")
        .help("redirect elsewhere, or attach the route to the other listener alone: `sectionName` in `parentRefs`");
    Some(places.fold(finding, |finding, (_, place)| {
        finding.related(place, "which leads here")
    }))
}

/// The rules that redirect a request, one after the other, until it is the same again. None if any of them may not be
/// the one that answers.
fn circle(topology: &Topology<'_>, gateway: GatewayId, start: &Request) -> Option<Vec<(RouteId, RuleId)>> {
    let mut request = start.clone();
    let mut rules = Vec::new();
    while rules.len() < LONGEST_CIRCLE {
        let taken = topology.take(gateway, &request, &Work::default())?;
        // A rule whose expression is not understood may be the one that answers: then no circle is certain.
        let first = taken.rules.first().filter(|_| taken.unknown.is_empty())?;
        let redirect = redirect_of(topology.routes.get(first.route), first.rule)?;
        rules.push((first.route, first.rule));
        request = redirected(&redirect, &request)?;
        if request == *start {
            return Some(rules);
        }
    }
    None
}

fn redirect_of<'r>(route: &'r RouteNode<'_>, rule: RuleId) -> Option<Redirect<'r>> {
    let mut redirects = redirects_of(route).into_iter();
    redirects.find(|redirect| redirect.rule_id == rule)
}

fn redirects_of<'r>(route: &'r RouteNode<'_>) -> Vec<Redirect<'r>> {
    let rules = route.object.value.pointer("/spec/rules");
    let rules = items(rules.filter(|_| route.object.is(GROUP, "HTTPRoute")));
    let rules = rules.iter().zip(&route.rules).enumerate();
    let redirects = rules.filter_map(|(position, (rule, id))| {
        let mut filters = items(rule.get("filters")).iter().enumerate();
        let (at, filter) = filters.find_map(|(at, filter)| Some((at, filter.get("requestRedirect")?)))?;
        Some(Redirect {
            rule_id: *id,
            pointer: format!("/spec/rules/{position}/filters/{at}/requestRedirect"),
            matches: RouteMatch::from_rule(&route.object.kind, rule),
            filter,
        })
    });
    redirects.collect()
}

/// A request that the rule is meant for; none where its matches ask for more than a path.
fn example(listener: &ListenerNode<'_>, route: &RouteNode<'_>, redirect: &Redirect<'_>) -> Option<Request> {
    let scheme = match listener.protocol {
        "HTTP" => "http",
        "HTTPS" => "https",
        _ => return None,
    };
    let is_path_alone =
        |one: &&RouteMatch<'_>| one.method.is_none() && one.headers.is_empty() && one.parameters.is_empty();
    let mut paths = redirect.matches.iter().filter(is_path_alone);
    let path = paths.find(|one| ["Exact", "PathPrefix"].contains(&one.kind))?;
    let hosts = listener.common_hostnames(route.route);
    // The host that it leads to may be one of those that lead here.
    let to = redirect.filter.get("hostname").and_then(Value::as_str);
    let is_served = |host: &&str| hosts.iter().any(|own| covers(own, host));
    let host = match to.filter(is_served) {
        Some(host) => host.to_owned(),
        None => hosts.first()?.replace('*', "any"),
    };
    request(scheme, &host, listener.port?, path.path())
}

fn request(scheme: &str, host: &str, port: i64, path: &str) -> Option<Request> {
    // Proxies say so to rules that ask for it.
    let forwarded = format!("x-forwarded-proto={scheme}");
    Request::parse(&format!("{scheme}://{host}:{port}{path}"), &[forwarded]).ok()
}

/// The request that a client sends next. Without a port, a redirect with a scheme leads to the usual port of the scheme:
/// kubernetes-sigs/gateway-api apis/v1/httproute_types.go@v1.6.1, HTTPRequestRedirectFilter.
fn redirected(redirect: &Redirect<'_>, from: &Request) -> Option<Request> {
    let filter = redirect.filter;
    let text = |key: &str| filter.get(key).and_then(Value::as_str);
    let own = if from.scheme.is_encrypted() {
        "https"
    } else {
        "http"
    };
    let port = filter.get("port").and_then(Value::as_i64);
    let usual = match text("scheme") {
        Some("https") => 443,
        Some("http") => 80,
        _ => from.port,
    };
    let replaced = |key: &str| filter.pointer(&format!("/path/{key}")).and_then(Value::as_str);
    let path = match (replaced("replaceFullPath"), replaced("replacePrefixMatch")) {
        (Some(path), _) => path.to_owned(),
        (_, Some(prefix)) => {
            let prefixes = redirect.matches.iter().map(RouteMatch::path);
            let rests = prefixes.filter_map(|prefix| from.path.strip_prefix(prefix.trim_end_matches('/')));
            let rest = rests.min_by_key(|rest| rest.len()).unwrap_or(&from.path);
            [prefix.trim_end_matches('/'), rest].concat()
        }
        _ => from.path.clone(),
    };
    let host = text("hostname").unwrap_or(&from.host).to_lowercase();
    request(
        &text("scheme").unwrap_or(own).to_lowercase(),
        &host,
        port.unwrap_or(usual),
        &path,
    )
}

/// So many clusters are named in a message.
const MOST_CLUSTERS: usize = 3;

/// A Gateway with a hostname.
struct Serving<'a> {
    gateway: &'a Object,
    /// The first of its listeners with the hostname.
    listener: Place,
    clusters: &'a [String],
    is_local: bool,
}

/// Reports the hostnames of our Gateways that other Gateways of their clusters have, too.
///
/// Each Gateway has an address of its own, and DNS knows neither ports nor protocols. So if two Gateways of a cluster have
/// listeners with the same hostname, clients may reach the one or the other. A wildcard and a name that it covers are no
/// mistake, because DNS prefers the name (RFC 4592, section 2.2.1), and a listener without a hostname states none.
pub fn report_same_hostnames<'a>(syncing: Syncing<'a>, findings: &mut Findings) {
    let topology = &syncing.attachments.topology;
    let mut hostnames: BTreeMap<String, Vec<Serving<'a>>> = BTreeMap::new();
    let mut add = |hostname: &str, serving: Serving<'a>| {
        let all = hostnames.entry(hostname.to_ascii_lowercase()).or_default();
        let last = all.last().map(|last| last.gateway);
        if !last.is_some_and(|last| std::ptr::eq(last, serving.gateway)) {
            all.push(serving);
        }
    };
    for (id, node) in topology.gateways.iter() {
        let Some(ours) = syncing.our_gateway(id) else {
            continue;
        };
        for listener in node.listeners.iter().map(|id| topology.listeners.get(*id)) {
            if let Some(hostname) = listener.hostname {
                add(
                    hostname,
                    Serving {
                        gateway: node.object,
                        listener: listener.owner.place(&format!("{}/hostname", listener.pointer)),
                        clusters: syncing.clusters.get(ours),
                        is_local: false,
                    },
                );
            }
        }
    }
    for (cluster, objects) in syncing.hub.spokes.as_ref() {
        for gateway in objects.of_kind(GROUP, "Gateway") {
            for listener in gateway.root().get("spec").get("listeners").items() {
                let hostname = listener.get("hostname");
                if let Some(text) = hostname.str() {
                    add(
                        text,
                        Serving {
                            gateway,
                            listener: gateway.place(&hostname.pointer()),
                            clusters: std::slice::from_ref(cluster),
                            is_local: true,
                        },
                    );
                }
            }
        }
    }
    for (hostname, all) in hostnames.iter().filter(|(_, all)| all.len() > 1) {
        report_same_hostname(hostname, all, findings);
    }
}

/// Reports each Gateway after the first one of a cluster.
fn report_same_hostname(hostname: &str, all: &[Serving<'_>], findings: &mut Findings) {
    let mut first_on: HashMap<&str, &Serving<'_>> = HashMap::new();
    for serving in all {
        let mut shared: Vec<(&Serving<'_>, Vec<&str>)> = Vec::new();
        for cluster in serving.clusters {
            let first = *first_on.entry(cluster).or_insert(serving);
            let is_ours = !first.is_local || !serving.is_local;
            if !std::ptr::eq(first, serving) && is_ours && !share_address(first.gateway, serving.gateway) {
                match shared.iter_mut().find(|(other, _)| std::ptr::eq(*other, first)) {
                    Some((_, clusters)) => clusters.push(cluster),
                    None => shared.push((first, vec![cluster])),
                }
            }
        }
        for (first, clusters) in shared {
            // What lives on a cluster is somebody else's.
            let (here, other) = if serving.is_local {
                (first, serving)
            } else {
                (serving, first)
            };
            let message = format!(
                "{} and {} both have the hostname `{hostname}` on {}",
                here.gateway.identity(),
                other.gateway.identity(),
                first_names(clusters, MOST_CLUSTERS)
            );
            let finding = Finding::new(Code::GATEWAY_SAME_HOSTNAME, here.listener.clone(), message)
                .label("DNS cannot tell the two Gateways apart")
                .related(other.listener.clone(), "the other one")
                .help("give one of them another hostname, or place them on different clusters");
            findings.push(finding);
        }
    }
}

/// Whether two Gateways ask for the same addresses: then it does not matter which of them DNS answers with.
fn share_address(one: &Object, other: &Object) -> bool {
    let addresses = |gateway: &Object| gateway.value.pointer("/spec/addresses").cloned();
    // Without addresses, the implementation gives each Gateway its own (docs/systems/gateway-api.md#addresses).
    let own = addresses(one);
    own.is_some() && own == addresses(other)
}
