//! The promise against what is shipped.
//!
//! Owns: creation times for what arrives on a cluster, and which entries of two policy reports have to be equal.
//! Flows in: an input. Flows out: [`Verdict`]s. Must not know: how hubs are made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::spokes::{Evaluated, Hub, Input, Refusal, Spoke, locator};

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
    fn new(sort: &str, text: String) -> Self {
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
const REFUSALS: [&str; 2] = ["policy/undecided", "placement/not-uniform"];

/// Compares what `policies --cluster` says of each cluster with what holds there, whatever the times at which things
/// arrive.
pub(crate) fn judge(input: &Input) -> Verdict {
    let hub = match Hub::render(input) {
        Ok(hub) => hub,
        Err((Refusal::Codes(codes), said)) => {
            return match codes.iter().next() {
                Some(code) if codes.len() == 1 && REFUSALS.contains(&code.as_str()) => {
                    Verdict::Refused(code.clone())
                }
                _ => {
                    let codes: Vec<String> = codes.into_iter().collect();
                    Verdict::Broken(Breach::new(
                        &codes.join(", "),
                        format!("the hub has errors:\n{said}"),
                    ))
                }
            };
        }
        Err((Refusal::Broken(wrong), _)) => return Verdict::Broken(Breach::new("works", wrong)),
    };
    let mut counts = Counts::default();
    for spoke in &hub.spokes {
        let names = Names::of(spoke);
        let promise = entries(&hub.promise(&spoke.cluster), &Names::default());
        counts.clusters += 1;
        let mut breaches = Vec::new();
        for draw in Draw::ALL {
            let (arrivals, locals) = draw.times(spoke);
            let evaluated = spoke.evaluate(&arrivals, &locals);
            let when = format!("on {}, where {}", spoke.cluster, draw.words());
            if !evaluated.errors.is_empty() {
                return Verdict::Broken(Breach::new(
                    "errors there",
                    format!("{when}, policies have errors:\n{}", evaluated.errors),
                ));
            }
            counts.evaluations += 1;
            let shipped = entries(&evaluated, &names);
            if let Some(Breach { sort, text }) = difference(&promise, &shipped, &names) {
                breaches.push(Breach::new(&sort, format!("{when}:\n{text}")));
            }
            let paths: BTreeSet<&Key> = promise.keys().chain(shipped.keys()).collect();
            counts.paths += paths.len();
        }
        let is_always = breaches.len() == Draw::ALL.len();
        if let Some(Breach { sort, text }) = breaches.into_iter().next() {
            let order = if is_always { "always" } else { "by order" };
            return Verdict::Broken(Breach::new(&format!("{sort}, {order}"), text));
        }
    }
    Verdict::Kept(counts)
}

/// When objects arrive.
#[derive(Debug, Clone, Copy)]
enum Draw {
    After,
    AfterReversed,
    Before,
    Mixed,
}

impl Draw {
    const ALL: [Self; 4] = [Self::After, Self::AfterReversed, Self::Before, Self::Mixed];

    const fn words(self) -> &'static str {
        match self {
            Self::After => "all arrive after what lives there, in the order of their names",
            Self::AfterReversed => "all arrive after what lives there, in the reversed order of their names",
            Self::Before => "all arrive in one second, before what lives there",
            Self::Mixed => "some arrive before and some after what lives there",
        }
    }

    /// Creation times of what arrives, and of local objects that name none: those stay younger than those that do, and of
    /// one age.
    fn times(self, spoke: &Spoke) -> (Vec<String>, Vec<String>) {
        let count = spoke.arriving.len();
        let arrivals = (0..count).map(|position| {
            let second = position % 60;
            let later = |year: usize| format!("{year}-01-01T00:{:02}:{second:02}Z", position / 60);
            match self {
                Self::After => later(2026),
                Self::AfterReversed => {
                    let position = count - position;
                    format!("2026-01-01T00:{:02}:{:02}Z", position / 60, position % 60)
                }
                Self::Before => "2020-01-01T00:00:00Z".to_owned(),
                // Neighbors fall apart, and so do those that are not.
                Self::Mixed if (position * 7 / 3) % 2 == 0 => later(2020),
                Self::Mixed => later(2026),
            }
        });
        let locals = spoke.local.iter().map(|_| "2025-01-01T00:00:00Z".to_owned());
        (arrivals.collect(), locals.collect())
    }
}

/// What things on a cluster are called on the hub.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By their locator there.
    arrived: BTreeMap<String, BTreeSet<String>>,
    /// Downstream namespaces with a Gateway of the hub.
    namespaces: BTreeSet<String>,
    /// Routes that arrive or live there.
    routes: BTreeSet<String>,
}

const GATEWAY: &str = "gateway.gateway.networking.k8s.io:";

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
            if value["spec"].get("parentRefs").is_some() {
                names.routes.insert(locator(value));
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
    rules: Option<Map<String, Value>>,
    spec: Value,
    /// For each policy: the hub objects it was made from.
    sources: BTreeSet<BTreeSet<String>>,
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
                    id.clone()
                };
                (id, value.clone())
            });
            named.collect()
        });
        let key = (
            format!("{}.{}", text("kind"), text("group")),
            path.into_iter().skip(1).collect(),
        );
        let entry = Entry {
            rules,
            spec: entry.get("spec").cloned().unwrap_or_default(),
            sources: sources.iter().map(|source| names.policy(source)).collect(),
        };
        entries.insert(key, entry);
    }
    entries
}

fn first(origins: &BTreeSet<String>) -> String {
    origins.first().cloned().unwrap_or_default()
}

impl Names {
    /// Whether a path leads through a route that neither arrives nor lives here: somebody else delivers it.
    fn is_elsewhere(&self, path: &[String]) -> bool {
        let route = path
            .iter()
            .find(|node| node.contains("route.gateway.networking.k8s.io:"));
        route.is_some_and(|route| {
            let whole = route.split('#').next().unwrap_or_default();
            !self.routes.contains(whole)
        })
    }
}

fn difference(
    promise: &BTreeMap<Key, Entry>,
    shipped: &BTreeMap<Key, Entry>,
    names: &Names,
) -> Option<Breach> {
    let keys: BTreeSet<&Key> = promise.keys().chain(shipped.keys()).collect();
    for key in keys {
        let (said, found) = (promise.get(key), shipped.get(key));
        if found.is_none() && names.is_elsewhere(&key.1) {
            continue;
        }
        let is_kept = match (said, found) {
            (Some(said), Some(found)) => {
                said.rules == found.rules
                    && said.spec == found.spec
                    && same_sources(&said.sources, &found.sources)
            }
            _ => false,
        };
        if !is_kept {
            let show = |entry: Option<&Entry>| {
                entry.map_or_else(
                    || "nothing".to_owned(),
                    |entry| {
                        let rules = entry.rules.as_ref().map(|rules| Value::Object(rules.clone()));
                        let sources: Vec<String> = entry
                            .sources
                            .iter()
                            .map(|source| source.iter().cloned().collect::<Vec<_>>().join(" + "))
                            .collect();
                        format!(
                            "{}\n    from {}",
                            rules.unwrap_or_else(|| entry.spec.clone()),
                            sources.join(", ")
                        )
                    },
                )
            };
            let sort = match (said, found) {
                (Some(_), None) => "does not hold",
                (None, _) => "was not said",
                _ => "differs",
            };
            let text = format!(
                "{} on {}\n  said:  {}\n  holds: {}",
                key.0,
                key.1.join(" > "),
                show(said),
                show(found)
            );
            return Some(Breach::new(&format!("{} {sort}", key.0), text));
        }
    }
    None
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
