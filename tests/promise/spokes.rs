//! What a cluster holds after a render: what its works carry, beside what lives there.
//!
//! Owns: inputs that are no files, rendering one, and [`Spoke`], the objects of one cluster with the hub objects that they
//! were made from. Flows in: files of a hub. Flows out: spokes, and what `policies` says of hub and spoke.
//! Must not know: how hubs are made, what has to be equal.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::compare::GATEWAY;
use kube_json::{Value, json};
use spokewright::diagnostic::{Code, Findings, Human};
use spokewright::pipeline::{Analysis, EmptyResult, Loaded, Request, load_from};
use spokewright::render::{ManifestSummary, Plan, WorkKind};
use spokewright::report::PolicyReport;
use spokewright::source::{FileTree, Files, TreeEntry, TreeError};
use spokewright::{Object, Origin};

/// Texts by path: `hub/...`, `spokes/<cluster>/...`, `spokewright.yaml`.
pub(crate) type Texts = BTreeMap<String, String>;

/// An input and what carries its works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) texts: Texts,
    pub(crate) replica_sets: bool,
}

/// A rendered hub.
pub(crate) struct Hub {
    loaded: Loaded,
    pub(crate) spokes: Vec<Spoke>,
    /// The findings.
    pub(crate) said: String,
}

/// Why a hub has no spokes.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Errors with these codes only.
    Codes(BTreeSet<String>),
    /// A work of the plan makes no sense.
    Broken(String),
}

/// One cluster.
#[derive(Debug)]
pub(crate) struct Spoke {
    pub(crate) cluster: String,
    /// What arrives, each with the locators of the hub objects that it was made from.
    pub(crate) arriving: Vec<(Value, BTreeSet<String>)>,
    /// What lives there already.
    pub(crate) local: Vec<Value>,
    /// What of the hub concerns the cluster, as its authors wrote it.
    meant: Vec<Value>,
    /// What the parameters of some classes list, and those of others do not: what was meant of it depends on the Gateway.
    pub(crate) partly_synced: BTreeSet<(String, String)>,
    /// Definitions and configuration, which hold on hub and spoke.
    known: Texts,
}

/// Creation times, one for each object of a cluster.
pub(crate) type Times = Vec<String>;

/// What `policies` says of a set of objects.
#[derive(Debug)]
pub(crate) struct Evaluated {
    /// `policies -o json`.
    pub(crate) report: Value,
    /// Errors, as they are printed.
    pub(crate) errors: String,
}

/// The outcome of two policies that a finding says of either order.
fn told_twice(findings: &Findings) -> Option<String> {
    let undecided = findings.iter().filter(|finding| finding.notes.len() == 2);
    undecided
        .filter(|finding| finding.code == Code::POLICY_UNDECIDED)
        .find_map(|finding| {
            let notes: Vec<String> = finding.notes.clone().into_iter().map(String::from).collect();
            let outcome = |note: &str| Some(note.split_once(" is created first: ")?.1.to_owned());
            let [first, second] = notes.as_slice() else {
                return None;
            };
            (outcome(first)? == outcome(second)?).then(|| first.clone())
        })
}

impl Hub {
    /// Renders an input; the findings as text where it is refused.
    pub(crate) fn render(input: &Input) -> Result<Self, (Refusal, String)> {
        let loaded = load_input(input);
        let mut findings = Findings::new();
        let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Allowed, &mut findings);
        loaded.finish(&mut findings);
        let said = Human::default().render(&findings, &loaded.sources);
        if let Some(outcome) = told_twice(&findings) {
            let wrong = format!("`policy/undecided` with one outcome: {outcome}");
            return Err((Refusal::Broken(wrong), said));
        }
        if findings.has_errors() {
            let codes = findings.only(spokewright::diagnostic::Severity::Error);
            let codes = codes.iter().map(|finding| finding.code.name().to_owned());
            return Err((Refusal::Codes(codes.collect()), said));
        }
        let origins = Origins::of(&loaded);
        let mut manifests: BTreeMap<String, Vec<(Value, BTreeSet<String>)>> = BTreeMap::new();
        for (cluster, works) in texts_by_cluster(&rendered.plan) {
            let works = works.iter();
            let carried = works.flat_map(|(text, at, summaries)| carried(text, at, summaries, &origins));
            manifests.entry(cluster).or_default().extend(carried);
        }
        for cluster in loaded.hub.spokes.keys() {
            manifests.entry(cluster.clone()).or_default();
        }
        let known = known(&loaded, &input.texts);
        let objects = || loaded.hub.objects.iter();
        let parameters = objects().filter(|object| object.value.pointer("/data/params").is_some());
        let lists: Vec<_> = parameters
            .map(|object| synced_kinds(std::iter::once(object)))
            .collect();
        let mut partly_synced = synced_kinds(objects());
        partly_synced.retain(|kind| !lists.iter().all(|list| list.contains(kind)));
        let mut spokes = Vec::new();
        for (cluster, arriving) in manifests {
            let local = loaded.hub.spokes.get(&cluster);
            let local = local.into_iter().flat_map(|objects| objects.iter());
            let local: Vec<Value> = local.map(|object| Value::clone(&object.value)).collect();
            let meant = meant(&loaded, &arriving, &local);
            let mut arriving = once(arriving).map_err(|wrong| (Refusal::Broken(wrong), said.clone()))?;
            arriving.extend(delivered_sets(&loaded, &arriving));
            let (arriving, local) = applied(arriving, local);
            spokes.push(Spoke {
                meant,
                partly_synced: partly_synced.clone(),
                local,
                arriving,
                cluster,
                known: known.clone(),
            });
        }
        Ok(Self { loaded, spokes, said })
    }

    /// The objects of the hub.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Value> {
        self.loaded.hub.objects.iter().map(|object| &object.value)
    }

    /// `policies --cluster`: what is said to hold.
    pub(crate) fn promise(&self, cluster: &str) -> Evaluated {
        evaluate(&self.loaded, Some(cluster))
    }

    /// `policies`: what is said of all clusters at once.
    pub(crate) fn of_all(&self) -> Evaluated {
        evaluate(&self.loaded, None)
    }
}

impl Spoke {
    /// `policies` on what the cluster holds; the times are those of what arrives, then of what lives there.
    pub(crate) fn evaluate(&self, times: &Times) -> Evaluated {
        let arriving = self.arriving.iter().map(|(value, _)| value);
        let created = |(value, time): (&Value, &String)| {
            let mut value = value.clone();
            value["metadata"]["creationTimestamp"] = json!(time);
            value
        };
        let items: Vec<Value> = arriving.chain(&self.local).zip(times).map(created).collect();
        let mut known = self.known.clone();
        // Whatever counts on the hub: controllers go by times.
        if let Some(configuration) = known.get_mut(CONFIGURATION) {
            let lines = configuration
                .lines()
                .filter(|line| !line.starts_with("precedence:"));
            *configuration = lines.map(|line| format!("{line}\n")).collect();
        }
        evaluate_objects(known, &items)
    }

    /// The same, without the references of arriving policies that `keep` refuses; a policy without any stays away.
    pub(crate) fn evaluate_where(&self, times: &Times, keep: impl Fn(&Value, &Value) -> bool) -> Evaluated {
        let arriving = self.arriving.iter().filter_map(|(value, origins)| {
            let all = references(value);
            let kept: Vec<&Value> = all.iter().filter(|reference| keep(value, reference)).collect();
            Some((with_references(value, &kept)?, origins.clone()))
        });
        let arriving: Vec<_> = arriving.collect();
        let skip = self.arriving.len();
        let times = times[..arriving.len()].iter().chain(&times[skip..]);
        let rest = Self {
            cluster: self.cluster.clone(),
            local: self.local.clone(),
            meant: Vec::new(),
            partly_synced: BTreeSet::new(),
            known: self.known.clone(),
            arriving,
        };
        rest.evaluate(&times.cloned().collect())
    }

    /// `policies` on what of the hub concerns the cluster: what its authors meant, but for what lives there.
    pub(crate) fn meant(&self) -> Evaluated {
        evaluate_objects(self.known.clone(), &self.meant)
    }
}

/// Nobody's class is ours in such an input, so that nothing in it is synced anywhere.
fn evaluate_objects(mut texts: Texts, items: &[Value]) -> Evaluated {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    texts.insert("hub/cluster.json".to_owned(), list.to_string());
    evaluate(&load(&texts, false), None)
}

/// The ListenerSets that no class syncs, where their Gateways arrive: another tool delivers them. Some paths lead through
/// them without naming them.
fn delivered_sets(loaded: &Loaded, arriving: &[(Value, BTreeSet<String>)]) -> Vec<(Value, BTreeSet<String>)> {
    let synced = synced_kinds(loaded.hub.objects.iter());
    if synced.iter().any(|(_, plural)| plural == "listenersets") {
        return Vec::new();
    }
    let sets = loaded
        .hub
        .objects
        .iter()
        .filter(|object| object.kind == "ListenerSet");
    let delivered = sets.filter_map(|object| {
        let mut set = object.value.clone();
        let parent = set.pointer_mut("/spec/parentRef")?;
        let own = object
            .namespace
            .as_ref()
            .map_or("", |namespace| namespace.as_str());
        let namespace = parent["namespace"].as_str().unwrap_or(own);
        let gateway = format!("{GATEWAY}{namespace}/{}", parent["name"].as_str()?);
        let (there, _) = arriving
            .iter()
            .find(|(value, origins)| value["kind"] == "Gateway" && origins.contains(&gateway))?;
        parent["namespace"] = there["metadata"]["namespace"].clone();
        Some((set, BTreeSet::from([object.identity().locator()])))
    });
    delivered.collect()
}

/// The Gateways and routes that arrive, every policy of a kind that is synced, whatever becomes of it, and the routes that
/// live there, as if they stood on the hub.
fn meant(loaded: &Loaded, arriving: &[(Value, BTreeSet<String>)], local: &[Value]) -> Vec<Value> {
    let arrived: BTreeSet<&String> = arriving.iter().flat_map(|(_, origins)| origins).collect();
    let synced = synced_kinds(loaded.hub.objects.iter());
    let concerns = |object: &&Object| {
        let group = object.api_version.group.as_str();
        let is_route = object.value.pointer("/spec/parentRefs").is_some();
        // A cluster has the grants for routes that are shipped to it, and its own. Those for targets of policies count on the
        // hub: a copy is beside its target.
        let from = object.value.pointer("/spec/from").and_then(Value::as_array);
        let is_for_routes = from.is_some_and(|from| {
            let kinds = from.iter().filter_map(|from| from["kind"].as_str());
            kinds.into_iter().all(|kind| kind.ends_with("Route"))
        });
        if object.kind == "Gateway" || is_for_routes || is_route {
            return arrived.contains(&object.identity().locator());
        }
        // The labels that count are those on the cluster.
        let lives_there =
            |local: &Value| local["kind"] == "Namespace" && local["metadata"]["name"] == *object.name;
        if object.kind == "Namespace" && local.iter().any(lives_there) {
            return false;
        }
        let plural = plural(&object.kind);
        let is_synced = synced.contains(&(group.to_owned(), plural));
        matches!(
            object.kind.as_str(),
            "ListenerSet" | "Namespace" | "ReferenceGrant" | "Service"
        ) || is_synced
    };
    let local_routes = local
        .iter()
        .filter(|value| value.pointer("/spec/parentRefs").is_some());
    let local_grants = local.iter().filter(|value| value["kind"] == "ReferenceGrant");
    let local_grants = local_grants.map(|grant| {
        let mut grant = grant.clone();
        for from in grant["spec"]["from"].as_array_mut().into_iter().flatten() {
            let namespace = from["namespace"].as_str().unwrap_or_default();
            from["namespace"] = json!(namespace.trim_start_matches("kuadrant-"));
        }
        grant
    });
    let local_routes = local_routes.map(|route| {
        let mut route = route.clone();
        for parent in route["spec"]["parentRefs"].as_array_mut().into_iter().flatten() {
            let namespace = parent["namespace"].as_str().unwrap_or_default();
            parent["namespace"] = json!(namespace.trim_start_matches("kuadrant-"));
        }
        route
    });
    let objects = loaded.hub.objects.iter().filter(concerns);
    let objects = objects.filter_map(|object| {
        let all = references(&object.value);
        let locator = object.identity().locator();
        let copies = arriving.iter().filter(|(_, origins)| origins.contains(&locator));
        let copied: Vec<Value> = copies.flat_map(|(copy, _)| references(copy)).collect();
        // What else may be targeted is shipped where it can be; where it cannot, a warning says so.
        let is_usual = |one: &Value| {
            let kind = one["kind"].as_str();
            kind.is_some_and(|kind| kind == "Gateway" || kind.ends_with("Route"))
        };
        let is_shipped = |one: &&Value| {
            let mut copied = copied.iter();
            // A Namespace of Gateways has another name there.
            let name = |reference: &Value| {
                let name = reference["name"].as_str().unwrap_or_default();
                name.trim_start_matches("kuadrant-").to_owned()
            };
            is_usual(one) || copied.any(|copied| copied["kind"] == one["kind"] && name(copied) == name(one))
        };
        let mut kept = with_references(&object.value, &all.iter().filter(is_shipped).collect::<Vec<_>>());
        // A copy of a route has the parents that bring it; of the others, a warning says so.
        let copies = arriving.iter().filter(|(_, origins)| origins.contains(&locator));
        let brought: Vec<Value> = copies.flat_map(|(copy, _)| parents(copy)).collect();
        let own = kept
            .as_mut()
            .and_then(|kept| kept.pointer_mut("/spec/parentRefs"));
        let own = own.and_then(Value::as_array_mut);
        if let (Some(own), false) = (own, brought.is_empty()) {
            let is_same = |one: &Value, other: &Value| {
                ["kind", "name", "sectionName", "port"]
                    .iter()
                    .all(|field| one.get(*field) == other.get(*field))
            };
            own.retain(|parent| brought.iter().any(|there| is_same(there, parent)));
        }
        // Of its namespace: shipped where it can be, too.
        let of_its_namespace = is_policy(&object.value) && all.is_empty();
        let selectors = object.value.pointer("/spec/targetSelectors");
        let selectors = selectors.and_then(Value::as_array);
        let selects = selectors.is_some_and(|selectors| selectors.iter().any(is_usual));
        kept.filter(|_| !of_its_namespace || selects || arrived.contains(&locator))
    });
    let local_namespaces = local.iter().filter(|value| value["kind"] == "Namespace").cloned();
    let local_objects = local_routes.chain(local_grants).chain(local_namespaces);
    objects.chain(local_objects).collect()
}

/// The parents of a route.
fn parents(route: &Value) -> Vec<Value> {
    let parents = route.pointer("/spec/parentRefs").and_then(Value::as_array);
    parents.into_iter().flatten().cloned().collect()
}

/// Group and plural of what the parameters among these objects list.
pub(crate) fn synced_kinds<'a>(objects: impl Iterator<Item = &'a Object>) -> BTreeSet<(String, String)> {
    let mut synced = BTreeSet::new();
    for object in objects {
        let Some(params) = object.value.pointer("/data/params").and_then(Value::as_str) else {
            continue;
        };
        let params = kube_yaml::read_document(params, &kube_yaml::Limits::default()).expect("parameters");
        let lists = ["policiesToSync", "resourcesToSync"].map(|list| params.get(list));
        let entries = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        synced.extend(entries.map(|entry| (text(&entry["group"]), text(&entry["resource"]))));
    }
    synced
}

pub(crate) fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{lower}s"),
    }
}

/// A policy with these of its references; none, no policy. What has no references stays as it is.
fn with_references(policy: &Value, kept: &[&Value]) -> Option<Value> {
    let all = references(policy).len();
    let mut policy = policy.clone();
    if kept.len() < all {
        policy["spec"]["targetRefs"] = json!(kept);
    }
    (all == 0 || !kept.is_empty()).then_some(policy)
}

/// Whether an object is neither a Gateway nor a route nor what both need.
pub(crate) fn is_policy(value: &Value) -> bool {
    let is_route = value["spec"].get("parentRefs").is_some();
    let other = [
        "Gateway",
        "ListenerSet",
        "Namespace",
        "Secret",
        "Service",
        "ReferenceGrant",
    ];
    !is_route && !value["kind"].as_str().is_some_and(|kind| other.contains(&kind))
}

/// The target references of a policy.
pub(crate) fn references(policy: &Value) -> Vec<Value> {
    let one = policy["spec"].get("targetRef").cloned();
    let several = policy["spec"]
        .get("targetRefs")
        .and_then(Value::as_array)
        .cloned();
    one.into_iter().chain(several.into_iter().flatten()).collect()
}

/// What lives under a name arrives once, however many works carry it.
fn once(arriving: Vec<(Value, BTreeSet<String>)>) -> Result<Vec<(Value, BTreeSet<String>)>, String> {
    let mut by_locator: BTreeMap<String, (Value, BTreeSet<String>)> = BTreeMap::new();
    for (value, origins) in arriving {
        if value["apiVersion"]
            .as_str()
            .is_some_and(|version| version.starts_with("rbac."))
        {
            continue;
        }
        let locator = locator(&value);
        match by_locator.get(&locator) {
            Some((known, _)) if *known != value && value["kind"] != "Namespace" => {
                return Err(format!("two works carry {locator}:\n{known}\n{value}"));
            }
            _ => by_locator.insert(locator, (value, origins)),
        };
    }
    Ok(by_locator.into_values().collect())
}

/// What arrives, and what stays as it is. What is there already is written over, but keeps its labels
/// (docs/systems/ocm-work.md).
fn applied(
    mut arriving: Vec<(Value, BTreeSet<String>)>,
    mut local: Vec<Value>,
) -> (Vec<(Value, BTreeSet<String>)>, Vec<Value>) {
    local.retain(|there| {
        let locator = locator(there);
        let Some((value, _)) = arriving
            .iter_mut()
            .find(|(value, _)| self::locator(value) == locator)
        else {
            return true;
        };
        let labels = there["metadata"]["labels"].as_object();
        if let (Some(labels), Some(metadata)) = (labels, value["metadata"].as_object_mut()) {
            metadata.insert_if_absent("labels", || json!({}));
            if let Some(own) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
                for (name, value) in labels {
                    own.insert_if_absent(name, || value.clone());
                }
            }
        }
        is_policy(there)
    });
    (arriving, local)
}

/// The text of a work or a set, where the spec of the work stands in it, and what is known of its manifests.
pub(crate) type WorkOf<'p> = (String, &'static str, &'p [ManifestSummary]);

/// What each cluster gets.
pub(crate) fn texts_by_cluster(plan: &Plan) -> BTreeMap<String, Vec<WorkOf<'_>>> {
    let mut texts: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for set in plan.replica_sets.iter().flatten() {
        for cluster in set.clusters.iter() {
            let text = (
                set.text.clone(),
                "/spec/manifestWorkTemplate",
                set.manifests.as_slice(),
            );
            texts.entry(cluster.clone()).or_default().push(text);
        }
    }
    for (cluster, works) in plan.clusters.iter().filter(|_| plan.replica_sets.is_none()) {
        for work in works.iter().map(|id| plan.works.get(*id)) {
            let (before, after) = work.text.halves();
            let text = (
                format!("{before}{cluster}{after}"),
                "/spec",
                work.manifests.as_slice(),
            );
            texts.entry(cluster.clone()).or_default().push(text);
        }
    }
    texts
}

/// The manifests in the text of a work, with what they were made from.
fn carried(
    text: &str,
    at: &str,
    manifests: &[ManifestSummary],
    origins: &Origins,
) -> Vec<(Value, BTreeSet<String>)> {
    let work = kube_yaml::read_document(text, &kube_yaml::Limits::default()).expect("a work is YAML");
    let carried = work.pointer(&format!("{at}/workload/manifests"));
    let carried = carried.and_then(Value::as_array).expect("manifests");
    assert_eq!(carried.len(), manifests.len());
    carried
        .iter()
        .zip(manifests)
        .map(|(value, summary)| {
            let of = summary.origins.iter().map(|origin| origins.locator(origin));
            (value.clone(), of.collect())
        })
        .collect()
}

/// `<kind>.<group>:<namespace>/<name>`, as reports write it.
pub(crate) fn locator(value: &Value) -> String {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let kind = text("/kind").to_lowercase();
    let (group, _) = text("/apiVersion").split_once('/').unwrap_or_default();
    let dot = if group.is_empty() { "" } else { "." };
    let namespace = text("/metadata/namespace");
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{kind}{dot}{group}:{namespace}{slash}{}", text("/metadata/name"))
}

/// The hub's objects by where they stand.
struct Origins(Vec<(Origin, String)>);

impl Origins {
    fn of(loaded: &Loaded) -> Self {
        let all = loaded.hub.objects.iter();
        Self(
            all.map(|object: &Object| (object.origin.clone(), object.identity().locator()))
                .collect(),
        )
    }

    fn locator(&self, origin: &Origin) -> String {
        let found = self.0.iter().find(|(known, _)| known == origin);
        found
            .map(|(_, locator)| locator.clone())
            .expect("an object of the hub")
    }
}

/// Definitions of the hub and its configuration.
fn known(loaded: &Loaded, texts: &Texts) -> Texts {
    let mut known = Texts::new();
    if let Some(configuration) = texts.get(CONFIGURATION) {
        known.insert(CONFIGURATION.to_owned(), configuration.clone());
    }
    let definitions = loaded.hub.objects.iter();
    let definitions = definitions.filter(|object| object.kind == "CustomResourceDefinition");
    for (position, definition) in definitions.enumerate() {
        // Of a kind without it a class says that it is one of policies, and clusters have no such class.
        let mut definition = Value::clone(&definition.value);
        if let Some(metadata) = definition["metadata"].as_object_mut() {
            metadata.insert_if_absent("labels", || json!({}));
        }
        if let Some(labels) = definition["metadata"]["labels"].as_object_mut() {
            labels.insert_if_absent(LABEL, || json!("Inherited"));
        }
        known.insert(format!("hub/crd-{position}.json"), definition.to_string());
    }
    known
}

pub(crate) fn load(texts: &Texts, replica_sets: bool) -> Loaded {
    load_with(texts, replica_sets, Request::default())
}

/// Loads an input.
pub(crate) fn load_input(input: &Input) -> Loaded {
    load(&input.texts, input.replica_sets)
}

/// Loads an input whose works are to stand in a directory.
pub(crate) fn load_into(input: &Input, output: &Path) -> Loaded {
    let request = Request {
        output: Some(output.to_path_buf()),
        ..Request::default()
    };
    load_with(&input.texts, input.replica_sets, request)
}

/// Loads an input with more that the command line says.
pub(crate) fn load_with(texts: &Texts, replica_sets: bool, request: Request) -> Loaded {
    let request = Request {
        paths: vec![PathBuf::from(ROOT)],
        work_kind: if replica_sets {
            WorkKind::ReplicaSet
        } else {
            WorkKind::ManifestWork
        },
        ..request
    };
    load_from(&request, Files::Tree(&Memory(texts)))
}

pub(crate) fn evaluate(loaded: &Loaded, cluster: Option<&str>) -> Evaluated {
    let mut findings = Findings::new();
    let analysis = Analysis::new(loaded, &mut findings);
    let (received, spokes) = analysis.received(cluster);
    let report = PolicyReport::for_text(&match cluster {
        // The findings of a whole input do not depend on the cluster.
        Some(_) => analysis.evaluate(&spokes),
        None => analysis.policies(received, &spokes, &mut findings),
    });
    let report = kube_json::to_value(report).expect("JSON");
    loaded.finish(&mut findings);
    let errors = findings.only(spokewright::diagnostic::Severity::Error);
    Evaluated {
        report,
        errors: Human::default().render(&errors, &loaded.sources),
    }
}

const CONFIGURATION: &str = "spokewright.yaml";
const ROOT: &str = "input";
const LABEL: &str = "gateway.networking.k8s.io/policy";

/// Texts as a tree of files.
#[derive(Debug)]
struct Memory<'a>(&'a Texts);

impl Memory<'_> {
    fn below(path: &Path) -> Option<&Path> {
        path.strip_prefix(ROOT).ok()
    }
}

impl FileTree for Memory<'_> {
    fn root(&self) -> &Path {
        Path::new("/")
    }

    fn name(&self) -> Option<&str> {
        None
    }

    fn instead(&self) -> &'static str {
        "look elsewhere"
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        Some(parts.collect())
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let Some(directory) = Self::below(directory) else {
            return Ok(Vec::new());
        };
        let mut entries = BTreeMap::new();
        for path in self.0.keys() {
            let Ok(rest) = Path::new(path).strip_prefix(directory) else {
                continue;
            };
            let mut parts = rest.components();
            if let Some(first) = parts.next() {
                let entry = if parts.next().is_some() {
                    TreeEntry::Directory
                } else {
                    TreeEntry::File
                };
                entries.insert(first.as_os_str().to_owned(), entry);
            }
        }
        Ok(entries.into_iter().collect())
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        let Some(path) = Self::below(path) else {
            return Ok(None);
        };
        let is_file = path.to_str().is_some_and(|path| self.0.contains_key(path));
        let is_directory = || self.0.keys().any(|known| Path::new(known).starts_with(path));
        Ok(if is_file {
            Some(TreeEntry::File)
        } else {
            is_directory().then_some(TreeEntry::Directory)
        })
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        let text = Self::below(path).and_then(|path| self.0.get(path.to_str()?));
        text.map(|text| text.clone().into_bytes())
            .ok_or_else(|| TreeError {
                reason: "there is no such file".to_owned(),
                help: String::new(),
            })
    }
}
