//! The promise against what is shipped.
//!
//! Owns: creation times for what arrives on a cluster, and which entries of two policy reports have to be equal.
//! Flows in: an input. Flows out: [`Verdict`]s. Must not know: how hubs are made.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Map, Value};

use super::shipped;
use super::spokes::{Evaluated, Hub, Input, Refusal, Spoke, Times, is_policy, locator, plural, references};

/// What became of a hub.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// What is said is what is shipped.
    Kept(Counts),
    /// The hub is refused for a reason that lies in it: `policy/undecided`, `placement/not-uniform`.
    Refused(String),
    /// Something else holds on a cluster than was said, or the hub could not be rendered.
    Broken(Breach),
}

/// What is wrong.
#[derive(Debug)]
pub(crate) struct Breach {
    /// Which kind of wrong it is: a hub is shrunk only as long as this stays.
    pub(crate) sort: String,
    /// All of it.
    pub(crate) text: String,
}

impl Breach {
    pub(crate) fn new(sort: &str, text: String) -> Self {
        Self {
            sort: sort.to_owned(),
            text,
        }
    }
}

/// What was compared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) clusters: usize,
    pub(crate) evaluations: usize,
    pub(crate) paths: usize,
}

/// Codes of errors by which a hub may be refused.
const REFUSALS: [&str; 8] = [
    "policy/undecided",
    "placement/not-uniform",
    "policy/same-target",
    "policy/ref-not-permitted",
    "policy/target-not-found",
    "spoke/name-taken",
    "route/not-allowed",
    "listener-set/not-allowed",
];

/// Compares what `policies --cluster` says of each cluster with what holds there, whatever the times at which things
/// arrive.
pub(crate) fn judge(input: &Input) -> Verdict {
    let hub = match Hub::render(input) {
        Ok(hub) => hub,
        Err((Refusal::Codes(codes), said)) => {
            let is_refused = codes.iter().all(|code| REFUSALS.contains(&code.as_str()));
            let codes: Vec<String> = codes.into_iter().collect();
            return if is_refused {
                Verdict::Refused(codes.join(" and "))
            } else {
                Verdict::Broken(Breach::new(
                    &codes.join(", "),
                    format!("the hub has errors:\n{said}"),
                ))
            };
        }
        Err((Refusal::Broken(wrong), _)) => return Verdict::Broken(Breach::new("works", wrong)),
    };
    if let Some(missing) = shipped::judge(&hub) {
        return Verdict::Broken(missing);
    }
    let mut counts = Counts::default();
    let of_all = hub.of_all();
    for spoke in &hub.spokes {
        let names = Names::of(spoke);
        let promise = hub.promise(&spoke.cluster);
        if let Some(text) = other_than_of_all(&of_all, &promise, &spoke.cluster) {
            let text = format!("on {}:\n{text}", spoke.cluster);
            return Verdict::Broken(Breach::new("other than what is said of all clusters", text));
        }
        let promise = entries(&promise, &Names::default());
        counts.clusters += 1;
        counts.paths += promise.len();
        let meant = entries(&spoke.meant(), &Names::default());
        let (meant, said) = (
            in_the_paths_of(&meant, &promise),
            in_the_paths_of(&promise, &meant),
        );
        if let Some(Breach { sort, text }) = difference(["meant", "said"], &meant, &said, |(kind, path)| {
            // What a cluster's own Gateways lead to is not of the hub.
            let is_local = |gateway: &String| spoke.local.iter().any(|local| locator(local) == *gateway);
            path.first().is_some_and(is_local)
                || names.is_elsewhere(path)
                || names.is_inhabited(kind, path)
                || is_partly_synced(spoke, kind)
        }) {
            let text = format!("on {}:\n{text}", spoke.cluster);
            return Verdict::Broken(Breach::new(&format!("{sort}, from what was meant"), text));
        }
        let draws = draws(spoke);
        let taken = names.taken_from_locals(spoke, &draws[0].1, &promise);
        if let Some(text) = taken {
            let text = format!("on {}:\n{text}", spoke.cluster);
            return Verdict::Broken(Breach::new("a local setting is taken away", text));
        }
        let mut breaches = Vec::new();
        for (words, times) in &draws {
            let evaluated = spoke.evaluate(times);
            let when = format!("on {}, where {words}", spoke.cluster);
            if !evaluated.errors.is_empty() {
                return Verdict::Broken(Breach::new(
                    "errors there",
                    format!("{when}, policies have errors:\n{}", evaluated.errors),
                ));
            }
            counts.evaluations += 1;
            let shipped = entries(&evaluated, &names);
            if let Some(Breach { sort, text }) =
                difference(["said", "holds"], &promise, &shipped, |(_, path)| {
                    names.is_elsewhere(path)
                })
            {
                breaches.push(Breach::new(&sort, format!("{when}:\n{text}")));
            }
        }
        let is_always = breaches.len() == draws.len();
        if let Some(Breach { sort, text }) = breaches.into_iter().next() {
            let order = if is_always { "always" } else { "by order" };
            return Verdict::Broken(Breach::new(&format!("{sort}, {order}"), text));
        }
    }
    Verdict::Kept(counts)
}

/// Creation times of what arrives on a cluster and of what lives there: every order once.
fn draws(spoke: &Spoke) -> Vec<(&'static str, Times)> {
    let arriving = spoke.arriving.len();
    let policies = spoke
        .arriving
        .iter()
        .filter(|(value, _)| is_policy(value))
        .count();
    let mut seen = BTreeSet::new();
    let mut draws = Vec::new();
    for draw in Draw::ALL {
        let mut policy = 0;
        let arrivals = spoke.arriving.iter().map(|(value, _)| {
            policy += usize::from(is_policy(value));
            draw.time(policy, policies)
        });
        let arrivals: Vec<String> = arrivals.collect();
        // Local objects that name no time are younger than those that do, and of one age.
        let locals = spoke.local.iter().map(|local| {
            let named = local
                .pointer("/metadata/creationTimestamp")
                .and_then(Value::as_str);
            named.unwrap_or("2025-01-01T00:00:00Z").to_owned()
        });
        let times: Vec<String> = arrivals.into_iter().chain(locals).collect();
        let is_policy = |at: usize| match at.checked_sub(arriving) {
            None => is_policy(&spoke.arriving[at].0),
            Some(at) => is_policy(&spoke.local[at]),
        };
        let counted: Vec<&String> = (0..times.len())
            .filter(|at| is_policy(*at))
            .map(|at| &times[at])
            .collect();
        let ages: BTreeSet<&String> = counted.iter().copied().collect();
        let order: Vec<usize> = counted
            .iter()
            .map(|time| ages.range::<String, _>(..*time).count())
            .collect();
        if seen.insert(order) {
            draws.push((draw.words(), times));
        }
    }
    draws
}

/// When policies arrive.
#[derive(Debug, Clone, Copy)]
enum Draw {
    After,
    AfterReversed,
    Before,
    EvenBefore,
    OddBefore,
}

impl Draw {
    const ALL: [Self; 5] = [
        Self::After,
        Self::AfterReversed,
        Self::Before,
        Self::EvenBefore,
        Self::OddBefore,
    ];

    const fn words(self) -> &'static str {
        match self {
            Self::After => "all arrive after what lives there, in the order of their names",
            Self::AfterReversed => "all arrive after what lives there, in the reversed order of their names",
            Self::Before => "all arrive in one second, before what lives there",
            Self::EvenBefore | Self::OddBefore => "some arrive before and some after what lives there",
        }
    }

    /// The creation time of one policy of so many.
    fn time(self, position: usize, count: usize) -> String {
        let (year, second) = match self {
            Self::After => (2026, position),
            Self::AfterReversed => (2026, count - position),
            Self::Before => (2020, 0),
            Self::EvenBefore if position.is_multiple_of(2) => (2020, position),
            Self::OddBefore if !position.is_multiple_of(2) => (2020, position),
            Self::EvenBefore | Self::OddBefore => (2026, position),
        };
        format!("{year}-01-01T00:{:02}:{:02}Z", second / 60, second % 60)
    }
}

/// What things on a cluster are called on the hub.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By their locator there.
    arrived: BTreeMap<String, BTreeSet<String>>,
    /// Downstream namespaces with a Gateway of the hub.
    namespaces: BTreeSet<String>,
    /// Routes and ListenerSets that arrive or live there.
    routes: BTreeSet<String>,
    /// What local policies target, sections and all, by their kind; with their locators.
    inhabited: BTreeMap<(String, String), BTreeSet<String>>,
}

pub(crate) const GATEWAY: &str = "gateway.gateway.networking.k8s.io:";

impl Names {
    fn of(spoke: &Spoke) -> Self {
        let mut names = Self::default();
        for (value, origins) in &spoke.arriving {
            let locator = locator(value);
            if locator.starts_with(GATEWAY) {
                let namespace = value["metadata"]["namespace"].as_str().unwrap_or_default();
                names.namespaces.insert(namespace.to_owned());
            }
            names.arrived.insert(locator, origins.clone());
        }
        let arriving = spoke.arriving.iter().map(|(value, _)| value);
        for value in arriving.chain(&spoke.local) {
            if value["kind"] == "ListenerSet" || value["spec"].get("parentRefs").is_some() {
                names.routes.insert(locator(value));
            }
        }
        for policy in &spoke.local {
            let namespace = policy["metadata"]["namespace"].as_str().unwrap_or_default();
            let mut targets: Vec<String> = references(policy)
                .iter()
                .map(|reference| target(namespace, reference))
                .collect();
            let selectors = policy["spec"]["targetSelectors"].as_array();
            let arriving = spoke.arriving.iter().map(|(value, _)| value);
            for object in arriving
                .chain(&spoke.local)
                .filter(|object| object["metadata"]["namespace"] == namespace)
            {
                let is_selected = |selector: &Value| {
                    let wanted = selector["matchLabels"].as_object().into_iter().flatten();
                    let mut wanted =
                        wanted.map(|(name, value)| object["metadata"]["labels"].get(&**name) == Some(value));
                    selector["kind"] == object["kind"] && wanted.all(|has| has)
                };
                if selectors.is_some_and(|selectors| selectors.iter().any(is_selected)) {
                    targets.push(locator(object));
                }
            }
            if targets.is_empty() && selectors.is_none() && is_policy(policy) {
                targets.push(format!("namespace:{namespace}"));
            }
            for node in targets {
                let node = names.node(&node);
                let kind = policy["kind"].as_str().unwrap_or_default();
                let there = names.inhabited.entry((kind.to_owned(), node)).or_default();
                there.insert(locator(policy));
            }
        }
        names
    }

    /// A node of a path as it is called on the hub.
    fn node(&self, there: &str) -> String {
        let (object, section) = there.split_once('#').map_or((there, None), |(a, b)| (a, Some(b)));
        let mut named = object.to_owned();
        if object.starts_with(GATEWAY) {
            if let Some(origin) = self.arrived.get(object).and_then(|origins| origins.first()) {
                named.clone_from(origin);
            }
        } else if let Some(namespace) = object.strip_prefix("namespace:")
            && self.namespaces.contains(namespace)
        {
            named = format!("namespace:{}", namespace.trim_start_matches("kuadrant-"));
        }
        match section {
            Some(section) => format!("{named}#{section}"),
            None => named,
        }
    }

    fn path(&self, path: &[String]) -> Vec<String> {
        path.iter().map(|node| self.node(node)).collect()
    }

    /// The hub objects that a policy there was made from; itself where it lives there.
    fn policy(&self, there: &str) -> BTreeSet<String> {
        let origins = self.arrived.get(there).cloned();
        origins.unwrap_or_else(|| BTreeSet::from([there.to_owned()]))
    }
}

/// Kind and path, without its GatewayClass: the classes of hub and spokes have their own names.
type Key = (String, Vec<String>);

/// What holds on a path.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    /// Rule or, where policies add up, policy to value.
    rules: Option<Map>,
    spec: Value,
    /// For each policy: the hub objects it was made from.
    sources: BTreeSet<BTreeSet<String>>,
    /// By rule or pointer: the value, and the policy that it comes from.
    settings: BTreeMap<String, (Value, String)>,
}

fn entries(evaluated: &Evaluated, names: &Names) -> BTreeMap<Key, Entry> {
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut entries = BTreeMap::new();
    for entry in evaluated.report["effective"].as_array().into_iter().flatten() {
        let sources = strings(&entry["sourcePolicies"]);
        // Nothing holds there.
        if sources.is_empty() {
            continue;
        }
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        let path = names.path(&strings(&entry["path"]));
        let adds_up = entry.get("spec").is_none();
        let rules = entry.get("rules").and_then(Value::as_object).map(|rules| {
            let named = rules.iter().map(|(id, value)| {
                let id = if adds_up {
                    first(&names.policy(id))
                } else {
                    id.to_string()
                };
                (id, value.clone())
            });
            named.collect()
        });
        let key = (
            format!("{}.{}", text("kind"), text("group")),
            path.into_iter().skip(1).collect(),
        );
        let from = |field: &str| entry[field].as_object().into_iter().flatten();
        let of_rules = from("ruleSources").map(|(rule, source)| (rule, entry["rules"].get(rule), source));
        let of_fields = from("sources").map(|(at, source)| (at, entry["spec"].pointer(at), source));
        let settings = if entry.get("ruleSources").is_some() {
            of_rules.collect()
        } else {
            of_fields.collect::<Vec<_>>()
        };
        let settings = settings.into_iter().map(|(at, value, source)| {
            let source = source.as_str().unwrap_or_default().to_owned();
            (at.to_string(), (value.cloned().unwrap_or_default(), source))
        });
        let settings = settings.collect();
        let entry = Entry {
            settings,
            rules,
            spec: entry.get("spec").cloned().unwrap_or_default(),
            sources: sources.iter().map(|source| names.policy(source)).collect(),
        };
        entries.insert(key, entry);
    }
    entries
}

/// An entry that `policies --cluster` has and `policies` has not for that cluster, or the other way around. An entry
/// without a list is for all clusters of its Gateway.
fn other_than_of_all(of_all: &Evaluated, promise: &Evaluated, cluster: &str) -> Option<String> {
    let listed = |evaluated: &Evaluated, field: &str| -> Vec<Value> {
        let all = evaluated.report[field].as_array().into_iter().flatten();
        let there = all.filter(|entry| {
            let clusters = entry["clusters"].as_array();
            clusters.is_none_or(|clusters| clusters.iter().any(|known| known == cluster))
        });
        let bare = there.map(|entry| {
            let mut entry = entry.clone();
            if let Some(fields) = entry.as_object_mut() {
                fields.remove("clusters");
            }
            entry
        });
        bare.collect()
    };
    let (all, one) = (listed(of_all, "effective"), listed(promise, "effective"));
    let of_this_gateway = |entry: &&Value| {
        let gateway = |entry: &Value| entry["path"].as_array().and_then(|path| path.get(1)).cloned();
        one.iter().any(|known| gateway(known) == gateway(entry))
    };
    let missing = one.iter().find(|entry| !all.contains(entry));
    let more = || {
        all.iter()
            .filter(of_this_gateway)
            .find(|entry| !one.contains(entry))
    };
    let (words, entry) = match missing {
        Some(entry) => ("of one cluster only", entry),
        None => ("of all clusters only", more()?),
    };
    Some(format!("{words}: {entry:#}"))
}

fn first(origins: &BTreeSet<String>) -> String {
    origins.first().cloned().unwrap_or_default()
}

impl Names {
    /// Whether a path leads through a route or a ListenerSet that neither arrives nor lives here: somebody else delivers it.
    fn is_elsewhere(&self, path: &[String]) -> bool {
        let nodes = path.iter().map(|node| node.split('#').next().unwrap_or_default());
        let delivered = [
            "route.gateway.networking.k8s.io:",
            "listenerset.gateway.networking.k8s.io:",
        ];
        let mut delivered = nodes.filter(|node| delivered.iter().any(|kind| node.contains(kind)));
        delivered.any(|node| !self.routes.contains(node))
    }

    /// Whether a local policy of this kind is on a path, or on a Namespace of it.
    fn is_inhabited(&self, kind: &str, path: &[String]) -> bool {
        let kind = kind.split('.').next().unwrap_or_default();
        let mut targets = self.inhabited.keys().filter(|(of, _)| of == kind);
        targets.any(|(_, target)| match target.strip_prefix("namespace:") {
            Some(namespace) => path.iter().any(|node| node.contains(&format!(":{namespace}/"))),
            None => path
                .iter()
                .any(|node| node == target || node.split('#').next() == Some(target)),
        })
    }
}

impl Names {
    /// What local policies would set without the synced ones on the same target, and do not set beside them.
    fn taken_from_locals(
        &self,
        spoke: &Spoke,
        times: &Times,
        promise: &BTreeMap<Key, Entry>,
    ) -> Option<String> {
        for (inhabited, locals) in &self.inhabited {
            let alone = spoke.evaluate_where(times, |policy, reference| {
                let namespace = policy["metadata"]["namespace"].as_str().unwrap_or_default();
                let kind = policy["kind"].as_str().unwrap_or_default();
                *inhabited != (kind.to_owned(), self.node(&target(namespace, reference)))
            });
            let taken = in_the_paths_of(&entries(&alone, self), promise)
                .into_iter()
                .filter(|(key, _)| !self.is_elsewhere(&key.1))
                .find_map(|(key, entry)| {
                    entry
                        .taken_by(promise.get(&key), locals)
                        .map(|taken| (key, taken))
                });
            if let Some(((kind, path), taken)) = taken {
                return Some(format!("{kind} on {}\n  {taken}", path.join(" > ")));
            }
        }
        None
    }
}

/// Whether only some classes sync a kind, which is written as `Kind.group`.
fn is_partly_synced(spoke: &Spoke, kind: &str) -> bool {
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    spoke.partly_synced.contains(&(group.to_owned(), plural(kind)))
}

/// The locator of a target on the cluster.
fn target(namespace: &str, reference: &Value) -> String {
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let (kind, group, name) = (text("kind").to_lowercase(), text("group"), text("name"));
    let dot = if group.is_empty() { "" } else { "." };
    let namespace = match text("kind") {
        "Namespace" | "GatewayClass" => String::new(),
        _ => format!("{namespace}/"),
    };
    match reference["sectionName"].as_str() {
        Some(section) => format!("{kind}{dot}{group}:{namespace}{name}#{section}"),
        None => format!("{kind}{dot}{group}:{namespace}{name}"),
    }
}

/// Entries, also for the paths of another report that only list more listeners and rules: a local policy on a listener makes
/// the paths of some kinds go through listeners.
fn in_the_paths_of(entries: &BTreeMap<Key, Entry>, other: &BTreeMap<Key, Entry>) -> BTreeMap<Key, Entry> {
    let objects = |path: &[String]| -> Vec<String> {
        path.iter().filter(|node| !node.contains('#')).cloned().collect()
    };
    let leads_through = |path: &[String], nodes: &[String]| {
        let mut path = path.iter();
        nodes.iter().all(|node| path.any(|known| known == node))
    };
    let mut found = entries.clone();
    for key in other.keys().filter(|key| !entries.contains_key(key)) {
        let coarser = entries.iter().filter(|((kind, path), _)| {
            *kind == key.0 && objects(path) == objects(&key.1) && leads_through(&key.1, path)
        });
        if let Some((coarser, entry)) = coarser.max_by_key(|((_, path), _)| path.len()) {
            found.insert(key.clone(), entry.clone());
            if !other.contains_key(coarser) {
                found.remove(coarser);
            }
        }
    }
    found
}

/// The first path on which two reports differ; `words` is what each of them tells.
fn difference(
    words: [&str; 2],
    first: &BTreeMap<Key, Entry>,
    second: &BTreeMap<Key, Entry>,
    is_exempt: impl Fn(&Key) -> bool,
) -> Option<Breach> {
    let keys: BTreeSet<&Key> = first.keys().chain(second.keys()).collect();
    for key in keys.into_iter().filter(|key| !is_exempt(key)) {
        let pair = (first.get(key), second.get(key));
        let sort = match pair {
            (Some(one), Some(other)) if one.says_the_same(other) => continue,
            (Some(_), None) => format!("only {}", words[0]),
            (None, _) => format!("only {}", words[1]),
            _ => "differs".to_owned(),
        };
        let text = format!(
            "{} on {}\n  {}: {}\n  {}: {}",
            key.0,
            key.1.join(" > "),
            words[0],
            shown(pair.0),
            words[1],
            shown(pair.1)
        );
        return Some(Breach::new(&format!("{} {sort}", key.0), text));
    }
    None
}

fn shown(entry: Option<&Entry>) -> String {
    let Some(entry) = entry else {
        return "nothing".to_owned();
    };
    let rules = entry.rules.as_ref().map(|rules| Value::Object(rules.clone()));
    let sources = entry.sources.iter();
    let sources = sources.map(|source| source.iter().cloned().collect::<Vec<_>>().join(" + "));
    let sources: Vec<String> = sources.collect();
    let value = rules.unwrap_or_else(|| entry.spec.clone());
    format!("{value}\n    from {}", sources.join(", "))
}

impl Entry {
    /// A setting of one of these policies that another entry has not.
    fn taken_by(&self, said: Option<&Self>, locals: &BTreeSet<String>) -> Option<String> {
        let settings = self
            .settings
            .iter()
            .filter(|(_, (_, source))| locals.contains(source));
        settings.into_iter().find_map(|(at, (value, source))| {
            let said = said.and_then(|said| said.settings.get(at));
            let is_kept = said.is_some_and(|(found, _)| found == value);
            (!is_kept).then(|| format!("{at} of {source}: {value}\n  said: {said:?}"))
        })
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.rules == other.rules && self.spec == other.spec && same_sources(&self.sources, &other.sources)
    }
}

/// Each policy that is said to count was made into one that counts, and each that counts was made of one that is said to.
fn same_sources(said: &BTreeSet<BTreeSet<String>>, found: &BTreeSet<BTreeSet<String>>) -> bool {
    let said: BTreeSet<&String> = said.iter().flatten().collect();
    let of_found: BTreeSet<&String> = found.iter().flatten().collect();
    said.is_subset(&of_found)
        && found
            .iter()
            .all(|origins| origins.iter().any(|one| said.contains(one)))
}
