//! What is found in a hub: the same for every command and in every order of its files; no finding hides another one, and
//! nothing is left on the hub in silence.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Value, json};
use spokewright::Object;
use spokewright::diagnostic::{Finding, Findings, Human, Place};
use spokewright::pipeline::{self, Analysis, EmptyResult, Loaded, Rendered};

use super::compare::Breach;
use super::spokes::{Input, Texts, is_policy, load_input, plural, synced_kinds, texts_by_cluster};

/// What is wrong with what is said of a hub; `choice` is which of its single mistakes is made.
pub(crate) fn judge(input: &Input, choice: usize) -> Option<Breach> {
    let said = Said::of(input);
    let checked = checked(&said.loaded);
    commands_differ(&said, &checked)
        .or_else(|| order_counts(input, &said))
        .or_else(|| goes_nowhere_unsaid(&said, &checked))
        .or_else(|| is_hidden(input, &said))
        .or_else(|| {
            let (mistake, mistaken) = with_mistake(input, choice)?;
            let said = Said::of(&mistaken);
            let breach = goes_nowhere_unsaid(&said, &self::checked(&said.loaded));
            let breach = breach.or_else(|| is_hidden(&mistaken, &said))?;
            Some(Breach::new(&breach.sort, format!("{mistake}\n{}", breach.text)))
        })
}

/// A rendered hub and everything that is said of it.
struct Said {
    loaded: Loaded,
    findings: Findings,
    /// By cluster: the works, in the order of their names.
    works: BTreeMap<String, BTreeSet<String>>,
    /// Locators of what is shipped, and of what is withheld with a reason.
    named: BTreeSet<String>,
}

impl Said {
    fn of(input: &Input) -> Self {
        let loaded = load_input(input);
        let mut findings = Findings::new();
        let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Refused, &mut findings);
        loaded.finish(&mut findings);
        let works = texts_by_cluster(&rendered.plan).into_iter();
        let works =
            works.map(|(cluster, works)| (cluster, works.into_iter().map(|(text, ..)| text).collect()));
        Self {
            works: works.collect(),
            named: named(&loaded, &rendered),
            findings,
            loaded,
        }
    }

    /// Code and message of each finding.
    fn sentences(&self) -> Vec<String> {
        sentences(&self.findings)
    }

    fn text(&self) -> String {
        Human::default().render(&self.findings, &self.loaded.sources)
    }
}

fn sentences(findings: &Findings) -> Vec<String> {
    let sentence = |finding: &Finding| format!("{}: {}", finding.code.name(), finding.message);
    let mut sentences: Vec<String> = findings.iter().map(sentence).collect();
    sentences.sort();
    sentences
}

fn named(loaded: &Loaded, rendered: &Rendered) -> BTreeSet<String> {
    let works = texts_by_cluster(&rendered.plan);
    let manifests = works
        .values()
        .flatten()
        .flat_map(|(_, _, manifests)| manifests.iter());
    let origins: Vec<_> = manifests.flat_map(|manifest| &manifest.origins).collect();
    let shipped = loaded
        .hub
        .objects
        .iter()
        .filter(|object| origins.contains(&&object.origin));
    let withheld = rendered.withheld.iter().map(|withheld| withheld.policy.clone());
    shipped
        .map(|object| object.identity().locator())
        .chain(withheld)
        .collect()
}

/// `check` says what `render` says.
fn commands_differ(said: &Said, checked: &Findings) -> Option<Breach> {
    let text = differing(["check", "render"], &sentences(checked), &said.sentences())?;
    Some(Breach::new("check and render differ", text))
}

/// What `check` says.
fn checked(loaded: &Loaded) -> Findings {
    let mut findings = Findings::new();
    pipeline::check(loaded, &mut findings);
    loaded.finish(&mut findings);
    findings
}

/// The same objects, each in a file of its own, in the reversed order.
fn order_counts(input: &Input, said: &Said) -> Option<Breach> {
    let mut texts = Texts::new();
    for (path, text) in &input.texts {
        let (directory, file) = path.rsplit_once('/').unwrap_or_default();
        if directory.is_empty() {
            texts.insert(path.clone(), text.clone());
            continue;
        }
        for (position, document) in text.split("---\n").enumerate() {
            let before = u32::from(b'z') - u32::from(file.as_bytes()[0]);
            texts.insert(
                format!("{directory}/{before:02}-{:03}-{file}", 100 - position),
                document.to_owned(),
            );
        }
    }
    let other = Said::of(&Input {
        texts,
        replica_sets: input.replica_sets,
    });
    let text = differing(["in order", "reversed"], &said.sentences(), &other.sentences())
        .or_else(|| (said.works != other.works).then(|| format!("{:?}\n{:?}", said.works, other.works)))?;
    Some(Breach::new("the order of files counts", text))
}

/// A warning at every object leaves the other findings as they are.
fn is_hidden(input: &Input, said: &Said) -> Option<Breach> {
    let annotate = |document: &str| {
        let mut object =
            kube_yaml::read_document(document, &kube_yaml::Limits::default()).expect("an object");
        let metadata = object["metadata"].as_object_mut().expect("metadata");
        metadata.insert_if_absent("annotations", || json!({}));
        object["metadata"]["annotations"]["spokewright.dev/suppress"] = json!("no-such/code: on purpose");
        kube_yaml::write_document(&object)
    };
    let texts = input.texts.iter().map(|(path, text)| {
        let documents = text.split("---\n").map(|document| {
            if path.contains('/') {
                annotate(document)
            } else {
                document.to_owned()
            }
        });
        (path.clone(), documents.collect::<Vec<_>>().join("---\n"))
    });
    let noisy = Said::of(&Input {
        texts: texts.collect(),
        replica_sets: input.replica_sets,
    });
    let mut left = noisy.sentences();
    for sentence in said.sentences() {
        let Some(position) = left.iter().position(|known| *known == sentence) else {
            return Some(Breach::new(
                "a warning hides a finding",
                format!("{sentence}\n{}", noisy.text()),
            ));
        };
        left.swap_remove(position);
    }
    assert!(!left.is_empty(), "no warning was added");
    None
}

/// A policy of a kind that a class lists, or a route that the class of its Gateway lists, that is in no work, and of which
/// nothing is said.
fn goes_nowhere_unsaid(said: &Said, checked: &Findings) -> Option<Breach> {
    if checked.has_errors() {
        return None;
    }
    let has_finding = |object: &Object| {
        let is_there = |place: &Place| place.document() == Some(object.origin.document);
        let mut findings = checked.iter();
        let name = object.identity().to_string();
        findings.any(|finding| {
            is_there(&finding.place)
                || finding.related.iter().any(|label| is_there(&label.place))
                || finding.notes.iter().any(|note| note.contains(&name))
        })
    };
    let is_named = |object: &Object| said.named.contains(&object.identity().locator());
    let mut objects = said.loaded.hub.objects.iter();
    let silent =
        objects.find(|object| is_meant(&said.loaded, object) && !is_named(object) && !has_finding(object))?;
    let text = Human::default().render(checked, &said.loaded.sources);
    let text = format!("{}\n{text}", silent.identity());
    Some(Breach::new("nothing is said of what goes nowhere", text))
}

/// Whether an object is to be shipped, as far as the parameters of classes say.
fn is_meant(loaded: &Loaded, object: &Object) -> bool {
    let listed = (object.api_version.group.to_string(), plural(&object.kind));
    let Some(parents) = object.value["spec"].get("parentRefs").and_then(Value::as_array) else {
        // A class without Gateways syncs nothing; its parameters are called as it is.
        let all = || loaded.hub.objects.iter();
        let classes: BTreeSet<&str> = all()
            .filter_map(|object| object.value["spec"].get("gatewayClassName")?.as_str())
            .collect();
        let params = all().filter(|object| classes.contains(object.name.as_str()));
        return is_policy(&object.value) && synced_kinds(params).contains(&listed);
    };
    let find = |kind: &str, reference: &Value| {
        let text = |field: &str| reference[field].as_str();
        let namespace = text("namespace").or(object.namespace.as_deref());
        let (name, group) = (text("name").unwrap_or_default(), &object.api_version.group);
        loaded.hub.objects.find(group, kind, namespace, name)
    };
    parents.iter().any(|parent| {
        let gateway = match parent["kind"].as_str() {
            Some("ListenerSet") => {
                find("ListenerSet", parent).and_then(|set| find("Gateway", &set.value["spec"]["parentRef"]))
            }
            _ => find("Gateway", parent),
        };
        let class = gateway.and_then(|gateway| gateway.value["spec"]["gatewayClassName"].as_str());
        let params = loaded
            .hub
            .objects
            .iter()
            .filter(|object| Some(object.name.as_str()) == class);
        synced_kinds(params).contains(&listed)
    })
}

/// The input with one of its single mistakes, and where it is: a reference with a letter more, or without its namespace.
fn with_mistake(input: &Input, choice: usize) -> Option<(String, Input)> {
    let mut mistakes = Vec::new();
    for path in input.texts.keys().filter(|path| path.starts_with("hub/")) {
        let documents: Vec<Value> = input.texts[path]
            .split("---\n")
            .map(|document| {
                kube_yaml::read_document(document, &kube_yaml::Limits::default()).expect("an object")
            })
            .collect();
        for (position, document) in documents.iter().enumerate() {
            for pointer in references_at(document) {
                for field in ["name", "namespace", "sectionName"] {
                    let at = format!("{pointer}/{field}");
                    let Some(text) = document.pointer(&at).and_then(Value::as_str) else {
                        continue;
                    };
                    let longer = format!("{text}x");
                    mistakes.push((
                        path.clone(),
                        documents.clone(),
                        position,
                        at.clone(),
                        Some(longer),
                    ));
                    if field == "namespace" {
                        mistakes.push((path.clone(), documents.clone(), position, at, None));
                    }
                }
            }
        }
    }
    let choice = choice.checked_rem(mistakes.len())?;
    let (path, mut documents, position, at, text) = mistakes.swap_remove(choice);
    let (parent, field) = at.rsplit_once('/').expect("a pointer");
    let reference = documents[position].pointer_mut(parent)?.as_object_mut()?;
    match text {
        Some(text) => reference.insert(field.to_owned(), json!(text)),
        None => reference.remove(field),
    };
    let mistake = format!("{path}, document {position}, {at}");
    let mut mistaken = input.clone();
    let documents: Vec<String> = documents.iter().map(kube_yaml::write_document).collect();
    mistaken.texts.insert(path, documents.join("---\n"));
    Some((mistake, mistaken))
}

/// Where an object refers to its parents, or to its targets.
fn references_at(object: &Value) -> Vec<String> {
    let lists = ["parentRefs", "targetRefs"].into_iter().flat_map(|list| {
        let length = object["spec"]
            .get(list)
            .and_then(Value::as_array)
            .map_or(0, |list| list.len());
        (0..length).map(move |position| format!("/spec/{list}/{position}"))
    });
    let single = ["parentRef", "targetRef"].into_iter();
    let single = single.filter(|field| object["spec"].get(*field).is_some());
    single
        .map(|field| format!("/spec/{field}"))
        .chain(lists)
        .collect()
}

/// What only one of two lists has.
fn differing(names: [&str; 2], first: &[String], second: &[String]) -> Option<String> {
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter()
            .filter(|sentence| !other.contains(sentence))
            .cloned()
            .collect()
    };
    let (of_first, of_second) = (only(first, second), only(second, first));
    let is_equal = of_first.is_empty() && of_second.is_empty() && first.len() == second.len();
    (!is_equal).then(|| {
        format!(
            "only {}: {of_first:#?}\nonly {}: {of_second:#?}",
            names[0], names[1]
        )
    })
}
