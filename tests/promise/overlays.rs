//! A cluster gets what it would get if the hub held the objects that ClusterOverlays change
//! (docs/reference/overlays.md).
//!
//! Owns: what must be equal in a hub with overlays, and in the hubs that hold their changes, one for each cluster. Flows in:
//! hubs, drafts of overlays. Flows out: what is wrong. Must not know: how overlays are applied.

pub(crate) mod drafts;
mod oracle;
mod trust;

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Value, json};
use spokewright::diagnostic::{Findings, Human, Severity};
use spokewright::output::Tree as _;
use spokewright::pipeline::{Analysis, EmptyResult, Loaded, Request};

use super::spokes::{Input, Texts, evaluate, load_with, texts_by_cluster};
use drafts::{Draft, FLEET, Overlay, managed_clusters};
use oracle::Outcome;

const NOT_UNIFORM: &str = "placement/not-uniform";

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) compared: usize,
    pub(crate) clusters: usize,
    pub(crate) changed: usize,
    pub(crate) changes: usize,
    /// With errors on both sides, by their codes.
    pub(crate) refused: BTreeMap<String, usize>,
}

/// A hub with all clusters, and its objects by file.
struct Files(Vec<(String, Vec<Value>)>);

/// A rendered input.
struct Rendered {
    loaded: Loaded,
    /// By cluster: path and text of each file.
    files: BTreeMap<String, Vec<(String, String)>>,
    errors: BTreeSet<String>,
    warnings: BTreeSet<String>,
    said: String,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.clusters += other.clusters;
        self.changed += other.changed;
        self.changes += other.changes;
        for (codes, count) in other.refused {
            *self.refused.entry(codes).or_default() += count;
        }
    }
}

/// A hub with the overlays of these drafts.
pub(crate) fn input(input: &Input, drafts: &[Draft]) -> Input {
    let hub = Files::of(input);
    let objects = hub.objects();
    hub.input(input, &objects, &overlays(drafts, &objects), &FLEET)
}

fn overlays(drafts: &[Draft], objects: &[Value]) -> Vec<Overlay> {
    let drafts = drafts.iter().enumerate();
    drafts
        .filter_map(|(number, draft)| draft.overlay(number, objects))
        .collect()
}

/// Judges one hub with overlays.
pub(crate) fn judge(input: &Input, drafts: &[Draft]) -> Result<Counts, String> {
    let hub = Files::of(input);
    let objects = hub.objects();
    let overlays = overlays(drafts, &objects);
    let with_overlays = hub.input(input, &objects, &overlays, &FLEET);
    let rendered = Rendered::of(&with_overlays, &[]);
    let outcomes: Vec<Outcome> = FLEET
        .iter()
        .map(|cluster| oracle::apply(&objects, &overlays, cluster))
        .collect();
    let wrong = |what: &str, more: String| Err(format!("{what}\n{more}\n{}", rendered.said));

    let expected = outcomes.iter().flat_map(|outcome| &outcome.errors);
    let expected: BTreeSet<String> = expected.map(|code| (*code).to_owned()).collect();
    let found = rendered.errors.iter().filter(|code| code.starts_with("overlay/"));
    let found: BTreeSet<String> = found.cloned().collect();
    if expected != found {
        return wrong(
            "other errors of overlays",
            format!("expected {expected:?}, found {found:?}"),
        );
    }
    let mut counts = Counts::default();
    if !expected.is_empty() {
        counts.refused.insert(codes(&expected), 1);
        return Ok(counts);
    }

    let mut alone = BTreeSet::new();
    let mut projected = BTreeMap::new();
    for (cluster, outcome) in FLEET.iter().zip(&outcomes) {
        let whole = Rendered::of(&hub.input(input, &outcome.objects, &[], &FLEET), &[]);
        let own = Rendered::of(&hub.input(input, &outcome.objects, &[], &[cluster]), &[]);
        alone.extend(own.errors);
        projected.insert(*cluster, whole);
    }
    let written = Rendered::of(&hub.input(input, &objects, &[], &FLEET), &[]);
    // What differs from cluster to cluster is in no set, with overlays or without.
    let is_uneven = |one: &&str| {
        let own = projected[*one].files.get(*one);
        let differs = |other: &&str| own != projected[other].files.get(*other);
        projected[*one].errors.contains(NOT_UNIFORM) || FLEET.iter().any(differs)
    };
    if rendered.errors.contains(NOT_UNIFORM) && input.replica_sets && FLEET.iter().any(is_uneven) {
        counts.refused.insert(NOT_UNIFORM.to_owned(), 1);
        return Ok(counts);
    }
    // What an API server would refuse on the hub is refused whatever overlays make of it.
    let (is_invalid, as_written) = (|code: &&String| code.starts_with("object/"), &written.errors);
    let invalid = |errors: &BTreeSet<String>| -> BTreeSet<String> {
        let all = errors.iter().chain(as_written);
        all.filter(is_invalid).cloned().collect()
    };
    let is_equal = if invalid(&rendered.errors).is_empty() && invalid(&alone).is_empty() {
        rendered.errors == alone
    } else {
        // What follows from an object that is refused is not always said.
        invalid(&rendered.errors) == invalid(&alone)
    };
    if !is_equal {
        let text = format!("with overlays {:?}, without {alone:?}", rendered.errors);
        return wrong("other errors", text);
    }
    if !rendered.errors.is_empty() {
        counts.refused.insert(codes(&rendered.errors), 1);
        return Ok(counts);
    }

    for (cluster, outcome) in FLEET.iter().zip(&outcomes) {
        let there = &projected[cluster];
        let nothing = Vec::new();
        let of = |rendered: &Rendered| rendered.files.get(*cluster).unwrap_or(&nothing).clone();
        if let Some(text) = difference(&of(&rendered), &of(there)) {
            return wrong("other files", format!("on {cluster}:\n{text}"));
        }
        let policies = |rendered: &Rendered| plain(&evaluate(&rendered.loaded, Some(cluster)).report);
        let (ours, theirs) = (policies(&rendered), policies(there));
        if ours != theirs {
            return wrong(
                "other policies",
                format!("on {cluster}:\n{ours:#}\nrather than\n{theirs:#}"),
            );
        }
        let part = Rendered::of(&with_overlays, &[cluster]);
        if let (false, Some(text)) = (input.replica_sets, difference(&of(&part), &of(&rendered))) {
            return wrong("other files with --clusters", format!("on {cluster}:\n{text}"));
        }
        counts.clusters += 1;
        counts.changed += usize::from(of(&written) != of(&rendered));
        counts.changes += outcome.changes;
    }
    let others = renamed(&overlays);
    let other = Rendered::of(&hub.input(input, &objects, &others, &FLEET), &[]);
    if other.files != rendered.files || other.warnings != rendered.warnings {
        return wrong("names or the order of files count", other.said);
    }
    counts.compared += 1;
    Ok(counts)
}

/// The same overlays with other names, each in a file of its own, in the reversed order.
fn renamed(overlays: &[Overlay]) -> Vec<Overlay> {
    let overlays = overlays.iter().rev().enumerate();
    let overlays = overlays.map(|(number, overlay)| Overlay {
        name: format!("other-{number}"),
        ..overlay.clone()
    });
    overlays.collect()
}

fn codes(codes: &BTreeSet<String>) -> String {
    codes.iter().cloned().collect::<Vec<_>>().join(" and ")
}

/// The first file that differs.
fn difference(ours: &[(String, String)], theirs: &[(String, String)]) -> Option<String> {
    let only = |one: &[(String, String)], other: &[(String, String)]| -> String {
        let only = one.iter().filter(|file| !other.contains(file));
        only.map(|(path, text)| format!("# {path}\n{text}")).collect()
    };
    (ours != theirs).then(|| format!("{}=== rather than\n{}", only(ours, theirs), only(theirs, ours)))
}

/// What a report says of one cluster: without places, and without what overlays say of themselves.
fn plain(report: &Value) -> Value {
    match report {
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(members) => {
            let is_said =
                |name: &str| !matches!(name, "overlays" | "elsewhere" | "clusters" | "line" | "inventory");
            let members = members.iter().filter(|(name, _)| is_said(name));
            Value::Object(
                members
                    .map(|(name, value)| (name.to_string(), plain(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

impl Files {
    fn of(input: &Input) -> Self {
        let limits = kube_yaml::Limits::default();
        let hub = input.texts.iter().filter(|(path, _)| path.starts_with("hub/"));
        let hub = hub.map(|(path, text)| (path.clone(), kube_yaml::read_all(text, &limits).expect("YAML")));
        let mut files: Vec<(String, Vec<Value>)> = hub.collect();
        files.push(("hub/clusters.yaml".to_owned(), managed_clusters()));
        // What goes to the first cluster goes to the second, too.
        for object in files.iter_mut().flat_map(|(_, objects)| objects) {
            if let Some(decisions) = object
                .pointer_mut("/status/decisions")
                .and_then(Value::as_array_mut)
                && decisions.iter().any(|decision| decision["clusterName"] == "eu-1")
            {
                decisions.push(json!({"clusterName": "eu-2", "reason": ""}));
            }
        }
        Self(files)
    }

    fn objects(&self) -> Vec<Value> {
        self.0.iter().flat_map(|(_, objects)| objects).cloned().collect()
    }

    /// The input with these objects in place of its own, with overlays, and with the decisions for some clusters.
    fn input(&self, input: &Input, objects: &[Value], overlays: &[Overlay], clusters: &[&str]) -> Input {
        let mut texts: Texts = input.texts.clone();
        texts.retain(|path, _| !path.starts_with("hub/"));
        let mut objects = objects.iter().cloned();
        for (path, own) in &self.0 {
            let documents = objects.by_ref().take(own.len()).map(|mut object| {
                let decisions = object
                    .pointer_mut("/status/decisions")
                    .and_then(Value::as_array_mut);
                if let Some(decisions) = decisions {
                    decisions.retain(|decision| {
                        clusters.iter().any(|cluster| decision["clusterName"] == *cluster)
                    });
                }
                kube_yaml::write_document(&object)
            });
            texts.insert(path.clone(), documents.collect::<Vec<_>>().join("---\n"));
        }
        for overlay in overlays {
            let text = kube_yaml::write_document(&overlay.object());
            texts.insert(format!("hub/{}.yaml", overlay.name), text);
        }
        Input {
            texts,
            replica_sets: input.replica_sets,
        }
    }
}

impl Rendered {
    /// All clusters, or those that `--clusters` names.
    fn of(input: &Input, clusters: &[&str]) -> Self {
        let request = Request {
            clusters: clusters.iter().map(|cluster| (*cluster).to_owned()).collect(),
            ..Request::default()
        };
        let loaded = load_with(&input.texts, input.replica_sets, request);
        let mut findings = Findings::new();
        let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Allowed, &mut findings);
        loaded.finish(&mut findings);
        let mut files: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        if input.replica_sets {
            for (cluster, works) in texts_by_cluster(&rendered.plan) {
                files.insert(
                    cluster,
                    works
                        .into_iter()
                        .map(|(text, ..)| (String::new(), text))
                        .collect(),
                );
            }
        } else {
            let layout = rendered.layout(&loaded);
            for index in 0..layout.len() {
                let path = layout.path(index).into_owned();
                let mut text = Vec::new();
                layout.content(index, &mut text);
                if let Some((cluster, _)) = path.split_once('/') {
                    let text = String::from_utf8(text).expect("text");
                    files
                        .entry(cluster.to_owned())
                        .or_default()
                        .push((path.clone(), text));
                }
            }
        }
        let of = |severity| {
            let these = findings.only(severity);
            these
                .iter()
                .map(|finding| finding.code.name().to_owned())
                .collect()
        };
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        let said = Human::default().render(&findings, &loaded.sources);
        Self {
            loaded,
            files,
            errors,
            warnings,
            said,
        }
    }
}
