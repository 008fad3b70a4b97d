//! Routes on one listener of ours that match the same requests: only one of them gets any.
//!
//! Owns: when two matches are equal, and which of them wins (docs/systems/gateway-api.md#which-rule-wins). Flows in:
//! the topology, which Gateways are ours. Flows out: findings.
//! Must not know: what the rules forward to. Matches that merely overlap do not conflict: the more specific one wins,
//! as intended. Several backends of one rule share its requests.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kube_json::{Value, json};

use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, first_items};
use crate::hub::{Ours, RowId as _};
use crate::object::Rank;
use crate::policy::Attachments;
use crate::topology::{ListenerId, RouteId, RouteNode, Topology};
use apimachinery::Field;

/// Most listeners that one finding names.
const MOST_LISTENERS: usize = 3;

/// Reports every rule of a route whose match another rule wins on a whole listener of ours.
pub(crate) fn report_shadowed(attachments: &Attachments<'_>, ours: &Ours<'_>, findings: &mut Findings) {
    let topology = &attachments.topology;
    let mut asking: BTreeMap<RouteId, Asking<'_>> = BTreeMap::new();
    let mut shadows: BTreeMap<(Rule, Rule), Shadow> = BTreeMap::new();
    let mut names = Names::default();
    // Listeners on which the same happens: a route on all listeners of many Gateways is compared once.
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    let mut group_of: HashMap<Vec<u32>, usize> = HashMap::new();
    for gateway in topology.gateways.rows() {
        let object = gateway.object;
        if ours.find(object.namespace_or_empty(), &object.name).is_none() {
            continue;
        }
        let mut on: BTreeMap<ListenerId, Vec<RouteId>> = BTreeMap::new();
        for (listener, route) in &gateway.attached {
            on.entry(*listener).or_default().push(*route);
            if !asking.contains_key(route) {
                let read = Asking::read(topology.routes.get(*route));
                asking.extend(read.map(|read| (*route, read)));
            }
        }
        for (listener, routes) in on {
            let name = names.number(format!(
                "`{}` of {}",
                topology.listeners.get(listener).name,
                object.identity()
            ));
            let alike = served(topology, listener, &routes, &asking);
            let next = groups.len();
            let group = *group_of.entry(alike).or_insert(next);
            if let Some(listeners) = groups.get_mut(group) {
                listeners.insert(name);
                continue;
            }
            groups.push(BTreeSet::from([name]));
            for (loser, winner) in shadowed(topology, listener, &routes, &asking) {
                let shadow = shadows
                    .entry((loser.rule(), winner.rule()))
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
    let mut said: HashMap<&[usize], String> = HashMap::new();
    for ((loser, winner), shadow) in &shadows {
        if let (Some(of_loser), Some(of_winner)) = (asking.get(&loser.0), asking.get(&winner.0)) {
            let listeners = said.entry(&shadow.groups).or_insert_with(|| {
                let all = shadow.groups.iter().filter_map(|group| groups.get(*group));
                names.of(&all.flatten().copied().collect())
            });
            findings.push(finding(
                (of_loser, *loser),
                (of_winner, *winner),
                (shadow, listeners),
            ));
        }
    }
}

/// A rule, by its route and its position.
type Rule = (RouteId, usize);

/// One match of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    route: RouteId,
    rule: usize,
    /// Position among the matches of its route.
    at: usize,
}

impl Match {
    const fn rule(self) -> Rule {
        (self.route, self.rule)
    }
}

/// Two rules that match the same requests.
struct Shadow {
    /// Positions of the first two matches that are equal.
    loser: usize,
    winner: usize,
    /// Of listeners on which that is so, in the order in which they were met.
    groups: Vec<usize>,
}

/// Names of listeners, each once: a rule may be shadowed on a thousand of them, and so may a thousand rules.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: String) -> usize {
        if let Some(known) = self.numbers.get(&name) {
            return *known;
        }
        let number = self.names.len();
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// The first of them, and how many more there are.
    fn of(&self, numbers: &BTreeSet<usize>) -> String {
        let names = numbers.iter().filter_map(|number| self.names.get(*number));
        first_items(names, MOST_LISTENERS)
    }
}

/// The matches of a route.
struct Asking<'a> {
    route: &'a Route<'a>,
    rank: &'a Rank,
    matches: Vec<Asked>,
}

/// The requests of one match of a rule.
struct Asked {
    rule: usize,
    /// Equal for matches of the same requests.
    form: String,
    /// Pointer of the match inside the route, or of what has none.
    pointer: String,
}

impl<'a> Asking<'a> {
    fn read(node: &'a RouteNode<'a>) -> Option<Self> {
        let object = node.object;
        // What routes of other groups match is unknown.
        if !is_route(&object.api_version.group, &object.kind) {
            return None;
        }
        let rules = object.root().get("spec").get("rules");
        let mut matches = Vec::new();
        let mut ask = |rule: usize, one: Option<&Field<'_>>, pointer: &str| {
            matches.push(Asked {
                rule,
                form: form(&object.kind, one).to_string(),
                pointer: pointer.to_owned(),
            });
        };
        for (position, rule) in rules.items().enumerate() {
            let list = rule.get("matches");
            if list.items().next().is_none() {
                ask(position, None, &rule.pointer());
            }
            for one in list.items() {
                ask(position, Some(&one), &one.pointer());
            }
        }
        if !rules.is_present() {
            ask(0, None, "/spec");
        }
        Some(Self {
            route: &node.route,
            rank: &node.rank,
            matches,
        })
    }
}

/// The routes of a listener, each with the hostnames that it serves for them by the order in which they first appear:
/// what loses to what is attached to nothing else.
fn served(
    topology: &Topology<'_>,
    listener: ListenerId,
    routes: &[RouteId],
    asking: &BTreeMap<RouteId, Asking<'_>>,
) -> Vec<u32> {
    let listener = topology.listeners.get(listener);
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut served = Vec::with_capacity(routes.len().saturating_mul(3));
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    for (id, asking) in routes.iter().filter_map(|id| Some((id, asking.get(id)?))) {
        let hostnames = listener.common_hostnames(asking.route);
        served.extend([id.row(), count(hostnames.len())]);
        for hostname in hostnames {
            let next = count(numbers.len());
            served.push(*numbers.entry(hostname).or_insert(next));
        }
    }
    served
}

/// The matches that lose on all hostnames that a listener serves for their route, each with a winner.
fn shadowed(
    topology: &Topology<'_>,
    listener: ListenerId,
    routes: &[RouteId],
    asking: &BTreeMap<RouteId, Asking<'_>>,
) -> Vec<(Match, Match)> {
    let listener = topology.listeners.get(listener);
    // By kind, hostname and form: what wins comes first.
    let mut winners: BTreeMap<(&str, String, &str), Match> = BTreeMap::new();
    let mut order: Vec<(&RouteId, &Asking<'_>)> = routes
        .iter()
        .filter_map(|route| Some((route, asking.get(route)?)))
        .collect();
    order.sort_by(|(_, a), (_, b)| a.rank.cmp(b.rank));
    let mut lost = Vec::new();
    for (id, asking) in order {
        let kind = asking.route.object.kind.as_str();
        let hostnames = listener.common_hostnames(asking.route);
        for (at, asked) in asking.matches.iter().enumerate() {
            let own = Match {
                route: *id,
                rule: asked.rule,
                at,
            };
            let before: Vec<Match> = hostnames
                .iter()
                .map(|hostname| {
                    let key = (kind, hostname.clone(), asked.form.as_str());
                    *winners.entry(key).or_insert(own)
                })
                .collect();
            // A rule that repeats a match is not a conflict.
            let is_lost = before.iter().all(|winner| winner.rule() != own.rule());
            if let Some(winner) = before.first().filter(|_| is_lost) {
                lost.push((own, *winner));
            }
        }
    }
    lost
}

/// A match with its defaults, in one order: two that are equal ask for the same requests.
fn form(kind: &str, one: Option<&Field<'_>>) -> Value {
    let nothing = Value::Null;
    let nothing = Field::new(&nothing);
    let one = one.unwrap_or(&nothing);
    let text =
        |field: &Field<'_>, name: &str, default: &str| field.get(name).str().unwrap_or(default).to_owned();
    // Of several entries with one name the first counts.
    let named = |list: &str, name_of: fn(String) -> String| {
        let mut entries: BTreeMap<String, [String; 2]> = BTreeMap::new();
        for entry in one.get(list).items() {
            let name = name_of(text(&entry, "name", ""));
            let value = [text(&entry, "type", "Exact"), text(&entry, "value", "")];
            entries.entry(name).or_insert(value);
        }
        entries
    };
    let headers = named("headers", |name| name.to_ascii_lowercase());
    match kind {
        "HTTPRoute" => {
            let path = one.get("path");
            let (by, mut value) = (text(&path, "type", "PathPrefix"), text(&path, "value", "/"));
            if by == "PathPrefix" {
                // `/a/` and `/a` are one prefix.
                value.truncate(value.trim_end_matches('/').len());
            }
            let method = one.get("method").str();
            json!([by, value, method, headers, named("queryParams", |name| name)])
        }
        "GRPCRoute" => {
            let method = one.get("method");
            let (service, name) = (method.get("service").str(), method.get("method").str());
            json!([text(&method, "type", "Exact"), service, name, headers])
        }
        // These go by hostname or by port alone.
        _ => Value::Null,
    }
}

fn finding(
    (loser, losing): (&Asking<'_>, Rule),
    (winner, winning): (&Asking<'_>, Rule),
    (shadow, listeners): (&Shadow, &str),
) -> Finding {
    let place = |asking: &Asking<'_>, at: usize| {
        let pointer = asking.matches.get(at).map_or("/spec", |asked| &asked.pointer);
        asking.route.object.place(pointer)
    };
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
    Finding::new(Code::ROUTE_SHADOWED, place(loser, shadow.loser), message)
        .label("gets no request")
        .related(place(winner, shadow.winner), "this one takes precedence")
        .note(format!(
            "both match the same requests on the same hostnames of the listener {listeners}"
        ))
        .note(because)
        .help("remove one of the two, or let one match more: another path, a method, a header")
}
