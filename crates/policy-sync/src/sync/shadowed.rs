//! Routes on one listener of ours that match the same requests: only one of them gets any
//! (docs/systems/gateway-api.md#which-rule-wins).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::rc::Rc;

use kube_json::Value;

use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Place, first_items};
use crate::hub::{Ours, RowId as _};
use crate::object::{Object, Rank};
use crate::parallel;
use crate::policy::Attachments;
use crate::topology::{GatewayNode, ListenerId, RouteId, RouteNode, Topology};

/// Most listeners that one finding names.
const MOST_LISTENERS: usize = 3;

/// Reports every rule of a route whose match another rule wins on a whole listener of ours.
pub fn report_shadowed(attachments: &Attachments<'_>, ours: &Ours<'_>, findings: &mut Findings) {
    let topology = &attachments.topology;
    let is_ours = |gateway: &&GatewayNode<'_>| {
        let Object { name, .. } = gateway.object;
        ours.find(gateway.object.namespace_or_empty(), name).is_some()
    };
    let gateways: Vec<&GatewayNode<'_>> = topology.gateways.rows().iter().filter(is_ours).collect();
    let attached = gateways.iter().flat_map(|gateway| &gateway.attached);
    let mut attached: Vec<RouteId> = attached.map(|(_, route)| *route).collect();
    attached.sort_unstable();
    attached.dedup();
    let attached = with_like_matches(topology, &attached);
    if attached.is_empty() {
        return;
    }
    // Each route by itself, so in parallel.
    let asking = parallel::map(&attached, |route| {
        Some((*route, Asking::read(topology.routes.get(*route))?))
    });
    let asking: BTreeMap<RouteId, Asking<'_>> = asking.into_iter().flatten().collect();
    let mut shadows: BTreeMap<(Rule, Rule), Shadow> = BTreeMap::new();
    let mut names = Names::default();
    // Listeners on which the same happens: a route on all listeners of many Gateways is compared once.
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    let mut group_of: HashMap<Vec<u32>, usize> = HashMap::new();
    for gateway in gateways {
        let object = gateway.object;
        let mut on: BTreeMap<ListenerId, Vec<RouteId>> = BTreeMap::new();
        for (listener, route) in &gateway.attached {
            on.entry(*listener).or_default().push(*route);
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

/// Those of the routes that have a match with something in common with another match: all others neither win nor lose
/// anything.
fn with_like_matches(topology: &Topology<'_>, routes: &[RouteId]) -> Vec<RouteId> {
    let hashing = RandomState::new();
    let rough = parallel::map(routes, |route| {
        let object = topology.routes.get(*route).object;
        let mut rough = Vec::new();
        each_match(object, |_, _, one| {
            rough.push(hashing.hash_one(Form::rough(&object.kind, one)));
        });
        rough
    });
    let mut all: Vec<u64> = rough.iter().flatten().copied().collect();
    all.sort_unstable();
    let repeated = all.chunk_by(u64::eq).filter(|same| same.len() > 1);
    let repeated: Vec<u64> = repeated.flatten().copied().collect();
    let is_repeated = |rough: &u64| repeated.binary_search(rough).is_ok();
    let routes = routes.iter().zip(&rough);
    let like = routes.filter(|(_, rough)| rough.iter().any(is_repeated));
    like.map(|(route, _)| *route).collect()
}

/// Calls `with` with each match of a route: the position of its rule, its own position there, and the match. A rule
/// without matches, and a route without rules, match everything.
fn each_match<'a>(route: &'a Object, mut with: impl FnMut(usize, Option<usize>, &'a Value)) {
    let rules = route.value.get("spec").and_then(|spec| spec.get("rules"));
    for (rule, value) in items(rules).iter().enumerate() {
        let matches = items(value.get("matches"));
        for (position, one) in matches.iter().enumerate() {
            with(rule, Some(position), one);
        }
        if matches.is_empty() {
            with(rule, None, &Value::Null);
        }
    }
    if rules.is_none_or(Value::is_null) {
        with(0, None, &Value::Null);
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
    matches: Vec<Asked<'a>>,
}

/// The requests of one match of a rule.
struct Asked<'a> {
    rule: usize,
    /// Its position in the rule; none if the rule has no matches.
    one: Option<usize>,
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
        let mut matches = Vec::new();
        each_match(object, |rule, one, value| {
            let form = Form::of(&object.kind, value);
            matches.push(Asked { rule, one, form });
        });
        matches.shrink_to_fit();
        Some(Self {
            route: &node.route,
            rank: &node.rank,
            matches,
        })
    }

    /// Where a match is, or what has none.
    fn place(&self, at: usize) -> Place {
        let object = self.route.object;
        let rules = object.root().get("spec").get("rules");
        match self.matches.get(at) {
            Some(Asked { rule, one, .. }) if rules.is_present() => object.place(&match one {
                Some(one) => format!("/spec/rules/{rule}/matches/{one}"),
                None => format!("/spec/rules/{rule}"),
            }),
            _ => object.place("/spec"),
        }
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
    // By hostname, then by kind and form: what wins comes first.
    let mut winners: HashMap<Rc<str>, BTreeMap<(&str, &Form<'_>), Match>> = HashMap::new();
    let mut order: Vec<(&RouteId, &Asking<'_>)> = routes
        .iter()
        .filter_map(|route| Some((route, asking.get(route)?)))
        .collect();
    order.sort_by(|(_, a), (_, b)| a.rank.cmp(b.rank));
    let mut lost = Vec::new();
    for (id, asking) in order {
        let kind = asking.route.object.kind.as_str();
        let hostnames = listener.common_hostnames(asking.route).into_iter();
        let hostnames: Vec<Rc<str>> = hostnames.map(Rc::from).collect();
        for (at, asked) in asking.matches.iter().enumerate() {
            let own = Match {
                route: *id,
                rule: asked.rule,
                at,
            };
            let before: Vec<Match> = hostnames
                .iter()
                .map(|hostname| {
                    let winners = winners.entry(Rc::clone(hostname)).or_default();
                    *winners.entry((kind, &asked.form)).or_insert(own)
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
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form<'a> {
    Http {
        path: [&'a str; 2],
        method: Option<&'a str>,
        headers: Named<'a>,
        query: Named<'a>,
    },
    Grpc {
        by: &'a str,
        service: Option<&'a str>,
        method: Option<&'a str>,
        headers: Named<'a>,
    },
    /// By hostname or by port alone.
    Any,
}

/// Names with type and value, sorted, each name once. Most matches have none or one.
type Named<'a> = Box<[(Cow<'a, str>, [&'a str; 2])]>;

impl<'a> Form<'a> {
    /// Some of it, which is equal where the whole is: the kind, and the path or the method.
    fn rough(kind: &'a str, one: &'a Value) -> [Option<&'a str>; 3] {
        match kind {
            "HTTPRoute" => {
                let [by, value] = path(one);
                [Some(kind), Some(by), Some(value)]
            }
            "GRPCRoute" => {
                let method = part(one, "method");
                [Some(kind), given(method, "service"), given(method, "method")]
            }
            _ => [Some(kind), None, None],
        }
    }

    fn of(kind: &str, one: &'a Value) -> Self {
        // Of several entries with one name the first counts.
        let named = |list: &'static str, name_of: fn(&'a str) -> Cow<'a, str>| {
            let entries = items(one.get(list)).iter().map(|entry| {
                let name = name_of(text(entry, "name", ""));
                (name, [text(entry, "type", "Exact"), text(entry, "value", "")])
            });
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by(|(name, _), (other, _)| name.cmp(other));
            entries.dedup_by(|(name, _), (first, _)| name == first);
            Named::from(entries)
        };
        let headers = || named("headers", in_lower_case);
        match kind {
            "HTTPRoute" => Self::Http {
                path: path(one),
                method: given(one, "method"),
                headers: headers(),
                query: named("queryParams", Cow::Borrowed),
            },
            "GRPCRoute" => {
                let method = part(one, "method");
                Self::Grpc {
                    by: text(method, "type", "Exact"),
                    service: given(method, "service"),
                    method: given(method, "method"),
                    headers: headers(),
                }
            }
            _ => Self::Any,
        }
    }
}

/// The type of the path of a match, and its value.
fn path(one: &Value) -> [&str; 2] {
    let path = part(one, "path");
    let (by, value) = (text(path, "type", "PathPrefix"), text(path, "value", "/"));
    if by == "PathPrefix" {
        // `/a/` and `/a` are one prefix.
        [by, value.trim_end_matches('/')]
    } else {
        [by, value]
    }
}

fn part<'v>(one: &'v Value, name: &str) -> &'v Value {
    one.get(name).unwrap_or(&Value::Null)
}

fn given<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

fn text<'v>(value: &'v Value, name: &str, default: &'static str) -> &'v str {
    given(value, name).unwrap_or(default)
}

/// The items of a list; none if it is absent or no list.
pub(super) fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn in_lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
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

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;

    #[test]
    fn matches_of_the_same_requests_have_what_is_looked_at_first_in_common() {
        let matches = [
            json!(null),
            json!({}),
            json!({"path": {"value": "/"}}),
            json!({"path": {"type": "PathPrefix", "value": "/a"}}),
            json!({"path": {"type": "PathPrefix", "value": "/a/"}}),
            json!({"path": {"type": "Exact", "value": "/a/"}}),
            json!({"path": {"value": "/a"}, "headers": [{"name": "X", "value": "1"}]}),
            json!({"path": {"value": "/a/"}, "headers": [{"name": "x", "type": "Exact", "value": "1"}]}),
            json!({"method": {"service": "s"}}),
            json!({"method": {"service": "s", "type": "Exact"}}),
            json!({"method": "GET"}),
        ];
        let mut equal = 0;
        for kind in ["HTTPRoute", "GRPCRoute", "TLSRoute"] {
            for (one, other) in matches
                .iter()
                .flat_map(|one| matches.iter().map(move |other| (one, other)))
            {
                if Form::of(kind, one) == Form::of(kind, other) {
                    equal += 1;
                    assert_eq!(
                        Form::rough(kind, one),
                        Form::rough(kind, other),
                        "{kind} {one} {other}"
                    );
                }
            }
        }
        // Each equals itself, and all those of TLSRoutes one another.
        assert!(equal > 2 * 11 + 11 * 11, "{equal}");
    }
}
