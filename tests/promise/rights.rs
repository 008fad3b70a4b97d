//! What leaves a cluster can be deleted there (docs/reference/what-is-rendered.md#rights-of-the-work-agents).
//!
//! Owns: the rule over two renderings, one in the place of the other: for every object that disappears from a cluster that
//! keeps works, the rights there still include its deletion, or the second rendering is refused with `rbac/narrowed`. Then
//! what its help says must be enough, and what that adds can go in a third one. Flows in: two inputs. Flows out: verdicts.
//! Must not know: how hubs are made, or how spokewright compares.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kube_json::{Value, json};
use spokewright::diagnostic::{Findings, Severity};
use spokewright::output;
use spokewright::pipeline::{Analysis, Before, EmptyResult};

use super::spokes::{Input, load_into, texts_by_cluster};

/// What came of a pair.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// So many objects disappeared, and every one can be deleted.
    Kept(usize),
    /// So many could not have been, which was said; two steps let them go.
    Refused(usize),
    /// One of the hubs has errors that are not about this.
    Unfit,
    Broken(String),
}

/// Group, kind, namespace and name.
type Key = (String, String, String, String);
/// Group and plural.
type Right = (String, String);

/// What stands in the works of one cluster.
#[derive(Debug, Default)]
struct Works {
    objects: BTreeSet<Key>,
    deletable: BTreeSet<Right>,
}

type Fleet = BTreeMap<String, Works>;

struct Rendered {
    fleet: Fleet,
    /// Of `rbac/narrowed`: the class, and what to add to its parameters.
    refusals: Vec<(String, String)>,
}

/// Renders both into one directory, the second over the first.
pub(crate) fn judge(before: &Input, after: &Input, plurals: &BTreeMap<(String, String), String>) -> Verdict {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    let Some(old) = render(before, root) else {
        return Verdict::Unfit;
    };
    assert!(old.refusals.is_empty(), "nothing stood there");
    let Some(new) = render(after, root) else {
        return Verdict::Unfit;
    };
    let (gone, stuck) = left(&old.fleet, &new.fleet, plurals);
    if new.refusals.is_empty() {
        return if stuck.is_empty() {
            Verdict::Kept(gone)
        } else {
            Verdict::Broken(format!("nobody may delete {stuck:?}"))
        };
    }
    // Which clusters a set went to is not in the files, so that one too many may be asked about.
    if stuck.is_empty() && !before.replica_sets {
        return Verdict::Broken(format!("needlessly refused: {:?}", new.refusals));
    }
    let mut first = after.clone();
    for (class, entry) in &new.refusals {
        add(&mut first, class, entry);
    }
    let Some(retained) = render(&first, root) else {
        return Verdict::Broken(format!("the way out has errors: {:?}", new.refusals));
    };
    if !retained.refusals.is_empty() {
        return Verdict::Broken(format!(
            "{:?} is not enough: {:?}",
            new.refusals, retained.refusals
        ));
    }
    let (_, still) = left(&old.fleet, &retained.fleet, plurals);
    if !still.is_empty() {
        return Verdict::Broken(format!("after the first step nobody may delete {still:?}"));
    }
    match render(after, root) {
        Some(last) if last.refusals.is_empty() => Verdict::Refused(stuck.len()),
        _ => Verdict::Broken("the second step is refused".to_owned()),
    }
}

/// Renders over what stands in a directory, unless that is refused; `None` where it has other errors.
fn render(input: &Input, root: &Path) -> Option<Rendered> {
    let loaded = load_into(input, root);
    let mut findings = Findings::new();
    let analysis = Analysis::new(&loaded, &mut findings);
    let rendered = analysis.render(EmptyResult::Allowed, &mut findings);
    let earlier = output::Earlier::open(root, None).expect("a tree of ours");
    analysis
        .compare_earlier(
            (&rendered, &rendered.layout(&loaded)),
            &Before::Tree(&earlier),
            &mut findings,
        )
        .expect("a tree of ours");
    loaded.finish(&mut findings);
    let mut refusals = Vec::new();
    for finding in &findings.only(Severity::Error) {
        if finding.code.name() != "rbac/narrowed" {
            return None;
        }
        let message = finding.message.as_str();
        let class = message
            .strip_prefix("GatewayClass ")
            .and_then(|rest| rest.split(':').next());
        let entry = finding.help.as_ref().and_then(|help| help.split('`').nth(1));
        refusals.push((class?.to_owned(), entry?.to_owned()));
    }
    let mut fleet = Fleet::new();
    for (cluster, works) in texts_by_cluster(&rendered.plan) {
        let of_cluster = fleet.entry(cluster).or_default();
        for (text, at, _) in works {
            let work = kube_yaml::read_document(&text, &kube_yaml::Limits::default()).expect("YAML");
            for manifest in list(&work, &format!("{at}/workload/manifests")) {
                of_cluster.add(manifest);
            }
        }
    }
    if refusals.is_empty() {
        output::write(root, &rendered.layout(&loaded), output::Options::default()).expect("a tree of ours");
    }
    Some(Rendered { fleet, refusals })
}

impl Works {
    fn add(&mut self, manifest: &Value) {
        let text = |pointer: &str| {
            manifest
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let version = text("/apiVersion");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        self.objects.insert((
            group.to_owned(),
            text("/kind"),
            text("/metadata/namespace"),
            text("/metadata/name"),
        ));
        for rule in list(manifest, "/rules") {
            if !list(rule, "/verbs").any(|verb| verb == "delete") {
                continue;
            }
            for group in list(rule, "/apiGroups").filter_map(Value::as_str) {
                let resources = list(rule, "/resources").filter_map(Value::as_str);
                self.deletable
                    .extend(resources.map(|resource| (group.to_owned(), resource.to_owned())));
            }
        }
    }
}

/// How many objects disappear from clusters that keep works, and those that nobody may delete there.
fn left(
    old: &Fleet,
    new: &Fleet,
    plurals: &BTreeMap<(String, String), String>,
) -> (usize, Vec<(String, Key)>) {
    let (mut gone, mut stuck) = (0, Vec::new());
    for (cluster, before) in old {
        let Some(after) = new.get(cluster) else { continue };
        for key in before.objects.difference(&after.objects) {
            gone += 1;
            let (group, kind, ..) = key;
            // Namespaces and the like, and roles: the stock agent's own.
            if group.is_empty() || group == "rbac.authorization.k8s.io" {
                continue;
            }
            let plural = plurals.get(&(group.clone(), kind.clone()));
            let plural = plural.cloned().unwrap_or_else(|| super::spokes::plural(kind));
            if !after.deletable.contains(&(group.clone(), plural)) {
                stuck.push((cluster.clone(), key.clone()));
            }
        }
    }
    (gone, stuck)
}

/// Adds what a help line says to the parameters of a class.
fn add(input: &mut Input, class: &str, entry: &str) {
    let text = input.texts.get_mut("hub/class.yaml").expect("classes");
    let mut objects = kube_yaml::read_all(text, &kube_yaml::Limits::default()).expect("YAML");
    let of_class = |object: &&Value| object["kind"] == "GatewayClass" && object["metadata"]["name"] == class;
    let map = objects.iter().find(of_class).expect("the class")["spec"]["parametersRef"]["name"].clone();
    let object = objects
        .iter_mut()
        .find(|object| object["kind"] == "ConfigMap" && object["metadata"]["name"] == map);
    let params = &mut object.expect("its parameters")["data"]["params"];
    let mut value: Value = serde_json::from_str(params.as_str().expect("text")).expect("JSON");
    let entry: Value = serde_json::from_str(&format!("{{{entry}}}")).expect("JSON");
    value["retainedResources"] = entry["retainedResources"].clone();
    *params = json!(value.to_string());
    *text = objects
        .iter()
        .map(kube_yaml::write_document)
        .collect::<Vec<_>>()
        .join("---\n");
}

fn list<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
