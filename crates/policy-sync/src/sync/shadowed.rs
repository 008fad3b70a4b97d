//! Routes on one listener of ours that match the same requests: only one of them gets any
//! (docs/systems/gateway-api.md#which-rule-wins).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use kube_json::Value;

use super::synced_object::Syncing;
use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Place, first_items};
use crate::hub::RowId as _;
use crate::object::Rank;
use crate::parallel;
use crate::topology::{GatewayNode, ListenerId, ListenerNode, RouteId, RouteMatch, RouteNode, items};

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
    let asking = parallel::map(&attached, |route| {
        Some((*route, Asking::read(topology.routes.get(*route))?))
    });
    let asking = with_equal_matches(asking.into_iter().flatten().collect());
    if asking.is_empty() {
        return;
    }
    let mut shadows: BTreeMap<(Rule, Rule), Shadow> = BTreeMap::new();
    // Listeners on which the same happens: a route on all listeners of many Gateways is compared once.
    let mut groups: Vec<BTreeSet<(usize, ListenerId)>> = Vec::new();
    let mut group_of: HashMap<Vec<u32>, usize> = HashMap::new();
    for (position, gateway) in gateways.iter().enumerate() {
        let mut on: BTreeMap<ListenerId, Vec<RouteId>> = BTreeMap::new();
        for (listener, route) in &gateway.attached {
            on.entry(*listener).or_default().push(*route);
        }
        for (listener, routes) in on {
            let node = topology.listeners.get(listener);
            let routes = routes.into_iter();
            let routes = routes.filter_map(|route| Some((route, asking.get(&route)?)));
            let mut routes: Vec<(RouteId, &Asking<'_>)> = routes.collect();
            let alike = served(node, &routes);
            let next = groups.len();
            let group = *group_of.entry(alike).or_insert(next);
            if let Some(listeners) = groups.get_mut(group) {
                listeners.insert((position, listener));
                continue;
            }
            groups.push(BTreeSet::from([(position, listener)]));
            routes.sort_by(|(_, a), (_, b)| a.rank.cmp(b.rank));
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
        if let (Some(of_loser), Some(of_winner)) = (asking.get(&loser.0), asking.get(&winner.0)) {
            let listeners = said.entry(&shadow.groups).or_insert_with(|| {
                let all = shadow.groups.iter().filter_map(|group| groups.get(*group));
                let all: BTreeSet<_> = all.flatten().collect();
                // A Gateway and a ListenerSet of it may have listeners of one name.
                let mut seen = BTreeSet::new();
                let names = all.into_iter().filter_map(name);
                let names: Vec<String> = names.filter(|name| seen.insert(name.clone())).collect();
                first_items(names, MOST_LISTENERS)
            });
            findings.push(finding(
                (of_loser, *loser),
                (of_winner, *winner),
                (shadow, listeners),
            ));
        }
    }
}

/// Those of the routes that have a match which is there twice: all others neither win nor lose anything.
fn with_equal_matches(mut asking: BTreeMap<RouteId, Asking<'_>>) -> BTreeMap<RouteId, Asking<'_>> {
    let mut routes: BTreeMap<&Form<'_>, Vec<RouteId>> = BTreeMap::new();
    for (route, asking) in &asking {
        for asked in &asking.matches {
            routes.entry(&asked.form).or_default().push(*route);
        }
    }
    let repeated = routes.into_values().filter(|routes| routes.len() > 1);
    let repeated: BTreeSet<RouteId> = repeated.flatten().collect();
    asking.retain(|route, _| repeated.contains(route));
    asking
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
struct Asking<'a> {
    route: Route<'a>,
    rank: &'a Rank,
    matches: Vec<Asked<'a>>,
}

/// The requests of one match of a rule.
struct Asked<'a> {
    rule: usize,
    /// Its position in the rule.
    one: usize,
    /// Equal for matches of the same requests.
    form: Form<'a>,
}

impl<'a> Asking<'a> {
    fn read(node: &'a RouteNode<'a>) -> Option<Self> {
        let object = node.object;
        // What routes of other groups match is unknown.
        if !is_route(&object.api_version.group, &object.kind) {
            return None;
        }
        let rules = match object.value.get("spec").and_then(|spec| spec.get("rules")) {
            // A route without rules matches everything.
            None | Some(Value::Null) => &[Value::Null],
            rules => items(rules),
        };
        let matches = rules.iter().enumerate().flat_map(|(rule, value)| {
            let matches = RouteMatch::of_rule(&object.kind, value).into_iter().enumerate();
            matches.map(move |(one, asked)| Asked {
                rule,
                one,
                form: (&object.kind, asked.normalized()),
            })
        });
        Some(Self {
            route: node.route,
            rank: &node.rank,
            matches: matches.collect(),
        })
    }

    /// Where a match is, or what has none.
    fn place(&self, at: usize) -> Place {
        let object = self.route.object;
        let pointers = self.matches.get(at).map(|Asked { rule, one, .. }| {
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
fn served(listener: &ListenerNode<'_>, routes: &[(RouteId, &Asking<'_>)]) -> Vec<u32> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut served = Vec::with_capacity(routes.len().saturating_mul(3));
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    for (id, asking) in routes {
        let hostnames = listener.common_hostnames(asking.route);
        served.extend([id.row(), count(hostnames.len())]);
        for hostname in hostnames {
            let next = count(numbers.len());
            served.push(*numbers.entry(hostname).or_insert(next));
        }
    }
    served
}

/// The matches that lose on all hostnames that a listener serves for their route, each with a winner. The routes are in
/// the order of their ranks.
fn shadowed(listener: &ListenerNode<'_>, routes: &[(RouteId, &Asking<'_>)]) -> Vec<(Match, Match)> {
    // By hostname, then by form: what wins comes first.
    let mut winners: HashMap<Rc<str>, BTreeMap<&Form<'_>, Match>> = HashMap::new();
    let mut lost = Vec::new();
    for (id, asking) in routes {
        let hostnames = listener.common_hostnames(asking.route).into_iter();
        let hostnames: Vec<Rc<str>> = hostnames.map(Rc::from).collect();
        for (at, asked) in asking.matches.iter().enumerate() {
            let own = Match {
                rule: (*id, asked.rule),
                at,
            };
            let before: Vec<Match> = hostnames
                .iter()
                .map(|hostname| {
                    let winners = winners.entry(Rc::clone(hostname)).or_default();
                    *winners.entry(&asked.form).or_insert(own)
                })
                .collect();
            // A rule that repeats a match is not a conflict.
            let is_lost = before.iter().all(|winner| winner.rule != own.rule);
            if let Some(winner) = before.first().filter(|_| is_lost) {
                lost.push((own, *winner));
            }
        }
    }
    lost
}

fn finding(
    (loser, losing): (&Asking<'_>, Rule),
    (winner, winning): (&Asking<'_>, Rule),
    (shadow, listeners): (&Shadow, &str),
) -> Finding {
    let names = (loser.route.object.identity(), winner.route.object.identity());
    let (message, because) = if losing.0 == winning.0 {
        let message = format!("an earlier rule of {} gets all requests of this match", names.0);
        (message, "the first matching rule of a route wins".to_owned())
    } else {
        let because = if winner.rank.is_older(loser.rank) {
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
