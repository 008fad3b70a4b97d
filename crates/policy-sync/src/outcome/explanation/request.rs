//! `explain` of a request: which listener and rule take it, which rule would be next, and which settings apply on its
//! way.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ExplainedPaths, Explainer, Winner};
use crate::diagnostic::{API_VERSION, Locate};
use crate::outcome::{Found, PolicyView, Seen, SourceLine};
use crate::policy::Fate;
use crate::request_matching::{Candidate, Request, Taken};
use crate::topology::{GatewayId, Node, Path, Topology};
use apimachinery::Work;

/// How a request is answered, kind `RequestExplanation`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestExplanation {
    api_version: &'static str,
    kind: &'static str,
    /// `GET https://shop.example.com/cart`.
    pub request: String,
    /// The cluster that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// One for each Gateway that accepts it, and for each way in which its clusters differ.
    pub answers: Vec<Answer>,
    /// If no listener accepts it: the existing listeners, as `https://*.example.com:443`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<String>,
}

/// How a Gateway answers a request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Locator of the listener that accepts it.
    pub listener: String,
    /// The same for people.
    #[serde(skip)]
    pub listener_title: String,
    /// Clusters, sorted; none for a Gateway that is on no cluster.
    pub clusters: Arc<[String]>,
    /// Whether these are all clusters of the Gateway.
    #[serde(skip)]
    pub everywhere: bool,
    /// The rule that serves it; without one, the answer is 404.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleLine>,
    /// What that rule does with it besides: redirects, rewrites, mirrors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Value>,
    /// The rule that would serve it if that one did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<RuleLine>,
    /// Why the first comes before the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<&'static str>,
    /// Rules that may serve it before that one or instead of it, because their matches are not understood here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownRule>,
    /// The effective policies on its path, by kind.
    pub effective: Vec<ExplainedPaths>,
    /// Policies on its path that some clusters do not get, because one that lives there has the same target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<WithheldThere>,
}

/// A policy that some clusters do not get.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithheldThere {
    /// Its locator.
    pub policy: String,
    /// The clusters, sorted.
    pub clusters: Vec<String>,
    /// The local policies that win there.
    pub winners: Vec<Winner>,
}

/// A rule of a route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleLine {
    /// Its locator.
    pub rule: String,
    /// The same for people.
    #[serde(skip)]
    pub title: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A rule of which it is not known whether it matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnknownRule {
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleLine,
    /// Why, as a sentence without a period.
    pub because: String,
}

/// Explains a request to the Gateways of an input.
pub fn explain_request(view: &PolicyView<'_>, request: &Request, locate: &dyn Locate) -> RequestExplanation {
    let explainer = Explainer::new(view, locate);
    let work = Work::default();
    let mut answers: Vec<Given<'_>> = Vec::new();
    let mut listeners: BTreeSet<String> = BTreeSet::new();
    for seen in view.seen() {
        let topology = &seen.attachments.topology;
        for (gateway, node) in topology.gateways.iter() {
            let all = view.clusters_of(&node.known_as().key()).len();
            // What goes to clusters is looked at there, the rest on the hub.
            if seen.clusters.is_empty() && all > 0 {
                continue;
            }
            let Some(taken) = topology.take(gateway, request, &work) else {
                let there = node.listeners.iter();
                listeners.extend(there.map(|listener| topology.listeners.get(*listener).address()));
                continue;
            };
            let answer = explainer.answer(topology, gateway, &taken);
            let found = on_its_way(seen, gateway, &taken);
            let is_same = |known: &Answer| {
                (&known.listener, &known.rule, &known.next, &known.unknown)
                    == (&answer.listener, &answer.rule, &answer.next, &answer.unknown)
            };
            match answers.iter_mut().find(|known| is_same(&known.answer)) {
                Some(known) => {
                    known.classes.push(seen.clusters);
                    known.all = all;
                    known.found.extend(found);
                }
                None => answers.push(Given {
                    answer,
                    classes: vec![seen.clusters],
                    all,
                    found,
                }),
            }
        }
    }
    if !answers.is_empty() {
        listeners.clear();
    }
    let answers = answers.into_iter().map(|given| {
        let clusters = explainer.joined(&given.classes);
        let mut effective = explainer.grouped(given.found.iter().copied());
        effective.sort_by(|a, b| (&a.kind, &a.group).cmp(&(&b.kind, &b.group)));
        Answer {
            everywhere: clusters.len() >= given.all || view.cluster.is_some(),
            effective,
            withheld: explainer.withheld(&given, &clusters),
            clusters,
            ..given.answer
        }
    });
    RequestExplanation {
        api_version: API_VERSION,
        kind: "RequestExplanation",
        request: request.to_string(),
        cluster: view.cluster.map(str::to_owned),
        answers: answers.collect(),
        listeners: listeners.into_iter().collect(),
    }
}

/// An answer, and what is put together once all clusters are known that give it.
struct Given<'e> {
    answer: Answer,
    classes: Vec<&'e [String]>,
    /// How many clusters the Gateway has.
    all: usize,
    found: Vec<Found<'e>>,
}

impl Explainer<'_, '_> {
    fn answer(&self, topology: &Topology<'_>, gateway: GatewayId, taken: &Taken) -> Answer {
        let listener = Node::Listener(gateway, taken.listener);
        let line_of = |route, rule| {
            let node = Node::Rule(route, rule);
            let pointer = topology.pointer_of_rule(route, rule);
            RuleLine {
                rule: topology.locator(node),
                title: topology.described(node),
                place: self.place(topology.routes.get(route).object, &pointer),
            }
        };
        let line = |candidate: &Candidate| line_of(candidate.route, candidate.rule);
        let filters_of = |candidate: &Candidate| {
            let rule = topology.pointer_of_rule(candidate.route, candidate.rule);
            let object = topology.routes.get(candidate.route).object;
            let filters = object.value.pointer(&format!("{rule}/filters"));
            filters.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let unknown = taken.unknown.iter().map(|unknown| UnknownRule {
            rule: line_of(unknown.route, unknown.rule),
            because: unknown.because.clone(),
        });
        let (first, next) = (taken.rules.first(), taken.rules.get(1));
        Answer {
            listener: topology.locator(listener),
            listener_title: topology.described(listener),
            clusters: Arc::default(),
            everywhere: false,
            rule: first.map(line),
            filters: first.map(filters_of).unwrap_or_default(),
            next: next.map(line),
            because: first.zip(next).map(|(first, next)| first.because(next)),
            unknown: unknown.collect(),
            effective: Vec::new(),
            withheld: Vec::new(),
        }
    }

    /// The policies on the way of an answer that local ones keep from its clusters.
    fn withheld(&self, given: &Given<'_>, clusters: &[String]) -> Vec<WithheldThere> {
        let whole = |locator: &str| locator.split('#').next().unwrap_or_default().to_owned();
        let rule = given.answer.rule.iter().map(|rule| rule.rule.clone());
        let ends = given.found.iter().filter_map(|(seen, _, path)| {
            let (backend, port) = (path.path.backend?, path.path.port);
            let end = port.map_or(Node::Backend(backend), |port| Node::Port(backend, port));
            Some(seen.attachments.topology.locator(end))
        });
        let sections = rule.chain([given.answer.listener.clone()]).chain(ends);
        let on_way: BTreeSet<String> = sections.flat_map(|part| [whole(&part), part]).collect();
        let hub = self.view.hub;
        let mut withheld = Vec::new();
        for (_, policy) in hub.policies.iter() {
            let locator = policy.locator();
            let fates = self.view.fates.of(&locator).into_iter();
            let fates = fates.flat_map(|everywhere| &everywhere.fates);
            // Hardly any has one, and to ask where each of them is takes long.
            let is_withheld = |fate: &&Fate<'_>| fate.withheld_for().any(|(_, winner)| winner.local);
            let mut fates = fates.filter(is_withheld).peekable();
            let is_on_way = |node| on_way.contains(&hub.topology.locator(node));
            if fates.peek().is_none() || !policy.nodes().into_iter().any(is_on_way) {
                continue;
            }
            for fate in fates {
                let is_there = |name: &&String| fate.clusters.contains(name.as_str());
                let there: Vec<String> = clusters.iter().filter(is_there).cloned().collect();
                let local = fate.withheld_for().filter(|(_, winner)| winner.local);
                let winners = local.map(|(locator, winner)| self.winner(locator, winner));
                if !there.is_empty() {
                    withheld.push(WithheldThere {
                        policy: locator.to_string(),
                        clusters: there,
                        winners: winners.collect(),
                    });
                }
            }
        }
        withheld
    }
}

/// What holds where the request goes: of each kind of policy the paths that end deepest on its way, and those to each
/// of the backends that the rule may choose.
fn on_its_way<'e>(seen: Seen<'e>, gateway: GatewayId, taken: &Taken) -> Vec<Found<'e>> {
    let topology = &seen.attachments.topology;
    let rule = taken.rules.first();
    let is_on_it = |path: &Path| {
        let backends = rule.map(|rule| topology.rules.get(rule.rule).backends.as_slice());
        let is_route = |route| rule.is_some_and(|rule| rule.route == route && rule.via == path.via);
        let is_backend = |id| backends.is_some_and(|backends| backends.contains(&id));
        path.gateway() == Some(gateway)
            && path.listener.is_none_or(|listener| listener == taken.listener)
            && path.route.is_none_or(is_route)
            && path
                .rule
                .is_none_or(|id| rule.is_some_and(|rule| rule.rule == id))
            && path.backend.is_none_or(is_backend)
    };
    let depth = |path: &Path| (path.route.is_some(), path.rule.is_some(), path.listener.is_some());
    let mut found = Vec::new();
    for kind in seen.attachments.kinds.ids() {
        let paths = seen.effective.on(kind, gateway).iter();
        let paths: Vec<_> = paths.filter(|path| is_on_it(&path.path)).collect();
        let to_no_backend = paths.iter().filter(|path| path.path.backend.is_none());
        let deepest = to_no_backend.map(|path| depth(&path.path)).max();
        let is_chosen = |path: &Path| path.backend.is_some() || Some(depth(path)) == deepest;
        let chosen = paths.into_iter().filter(|path| is_chosen(&path.path));
        found.extend(chosen.map(|path| (seen, kind, path)));
    }
    found
}
