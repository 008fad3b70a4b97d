//! The hubs of `tests/hubs/`: what is found in each of them, and which policies apply in it.

use std::fmt::Write as _;

use kube_json::Value;
use test_sections::Section;

use super::{Seen, documents};
use crate::diagnostic::{Findings, SourceId};
use crate::hub::{self, Hub};
use crate::policy::{AuthoredId, Options, ProfileEntry, Profiles, Reach, affecting, learn_targets};
use ocm_hub::source::{Document, Room};

/// The documents of a hub: those of its section, and those that all sections share if the section has none of that name.
/// Documents that follow a line `--- # on CLUSTER` live on that cluster.
fn documents_of(section: &Section<'_>) -> Vec<Document> {
    let mut all = documents(&[(Room::Hub, section.shared)]);
    let mut parts = section.text.split("--- # on ");
    let mut own = vec![(Room::Hub, parts.next().unwrap())];
    own.extend(parts.map(|part| {
        let (cluster, text) = part.split_once('\n').unwrap();
        (Room::Spoke(cluster.to_owned()), text)
    }));
    for document in documents(&own) {
        let is_same = |other: &&mut Document| {
            other.room == document.room && name(&other.value) == name(&document.value)
        };
        match all.iter_mut().find(is_same) {
            Some(shared) => shared.value = document.value,
            None => all.push(document),
        }
    }
    for (index, document) in all.iter_mut().enumerate() {
        document.id.source = SourceId(0);
        document.id.index = u32::try_from(index).unwrap();
    }
    all
}

/// The hub of a section, and its documents that are no objects.
pub(crate) fn hub_of(section: &Section<'_>) -> (Hub, Vec<Value>) {
    let mut documents = documents_of(section);
    let settings = documents.extract_if(.., |document| document.value["kind"].is_null());
    let settings: Vec<Value> = settings.map(|document| document.value).collect();
    let mut findings = Findings::new();
    let hub = hub::build(documents, &hub::Options::default(), &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    (hub, settings)
}

/// What two documents of one object have in common.
fn name(value: &Value) -> [&Value; 4] {
    let metadata = &value["metadata"];
    [
        &value["apiVersion"],
        &value["kind"],
        &metadata["namespace"],
        &metadata["name"],
    ]
}

/// What is reported about the policies of a hub, whose profiles may be in a document of their own.
fn report(section: &Section<'_>) -> String {
    let (hub, settings) = hub_of(section);
    let mut profiles = Profiles::built_in();
    learn_targets(&mut profiles, &hub, &mut Findings::new());
    for entry in settings
        .iter()
        .filter_map(|settings| settings["profiles"].as_array())
        .flatten()
    {
        let entry: ProfileEntry = kube_json::from_value(entry).unwrap();
        profiles.configure(&entry).unwrap();
    }
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let seen = Seen::of(&hub, &options);
    let mut text = String::new();
    write_findings(&mut text, &seen.findings);
    write_policies(&mut text, &seen);
    write_effective(&mut text, &seen);
    text
}

/// A locator without the group of its kind: `httproute:infra/web`.
pub(crate) fn brief(locator: &str) -> String {
    let (kind, name) = locator.split_once(':').unwrap();
    format!("{}:{name}", kind.split('.').next().unwrap())
}

pub(crate) fn write_findings(text: &mut String, findings: &Findings) {
    for finding in findings {
        let severity = finding.severity.as_str();
        let _ = writeln!(text, "{severity}[{}]: {}", finding.code.name(), finding.message);
        for note in &finding.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        if !finding.related.is_empty() {
            let _ = writeln!(text, "  {} related places", finding.related.len());
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "  help: {help}");
        }
    }
}

fn write_policies(text: &mut String, seen: &Seen<'_>) {
    let report = seen.report();
    for policy in &report.policies {
        let targets: Vec<String> = policy.targets.iter().map(|target| brief(target)).collect();
        let _ = writeln!(text, "{} on {}", brief(&policy.policy), targets.join(" "));
        for condition in &policy.conditions {
            let _ = writeln!(
                text,
                "  {}={} {}: {}",
                condition.kind, condition.status, condition.reason, condition.message
            );
        }
        for ancestor in &policy.ancestors {
            let known = &ancestor.ancestor_ref;
            let section = known.section_name.as_ref().map(|section| format!("#{section}"));
            let section = section.unwrap_or_default();
            let _ = writeln!(
                text,
                "  at {} {}/{}{section} ({})",
                known.kind, known.namespace, known.name, ancestor.controller_name
            );
            for condition in &ancestor.conditions {
                let _ = writeln!(
                    text,
                    "    {}={} {}: {}",
                    condition.kind, condition.status, condition.reason, condition.message
                );
            }
        }
        let id = seen
            .attachments
            .policies
            .iter()
            .find(|(id, _)| *seen.attachments.locator(*id) == *policy.policy);
        let mut reach = Reach::default();
        reach.add(&seen.attachments, &seen.effective, id.unwrap().0);
        let reached = [reach.gateways, reach.listeners, reach.routes, reach.backends]
            .into_iter()
            .flatten();
        let reached: Vec<String> = reached.map(|locator| brief(&locator)).collect();
        let _ = writeln!(text, "  reaches {}", reached.join(" "));
        for decision in &policy.decisions {
            let _ = writeln!(text, "  {} wins: {}", brief(&decision.winner), decision.because);
        }
    }
    for ((node, _), authors) in affecting(&seen.attachments, &seen.effective).unwrap() {
        let target = brief(&seen.attachments.topology.locator(node));
        let mut names: Vec<String> = authors
            .into_iter()
            .map(|id| brief(&seen.attachments.authored(id).locator))
            .collect();
        names.sort();
        let _ = writeln!(text, "{target} is affected by {}", names.join(" "));
    }
    for without in &report.without_paths {
        let _ = writeln!(
            text,
            "{} has no {} for {}",
            without.gateway,
            without.ends,
            without.policies.join(" ")
        );
    }
}

/// Each result with the paths where it is in effect, the policies that it comes from, and those whose settings are lost.
fn write_effective(text: &mut String, seen: &Seen<'_>) {
    let mut results: Vec<(String, Vec<String>)> = Vec::new();
    for (kind, path) in seen.effective.iter() {
        let mut result = String::new();
        let known = seen.attachments.kinds.get(kind);
        let name = |id: AuthoredId| brief(&seen.attachments.authored(id).locator);
        let names = |ids: &mut dyn Iterator<Item = AuthoredId>| ids.map(name).collect::<Vec<_>>().join(" ");
        match path.effective.spec(&known.profile) {
            Some(spec) => {
                let _ = writeln!(result, "  {spec}");
            }
            None => {
                for (key, leaf) in path.effective.content.iter() {
                    let _ = writeln!(result, "  {key} {}", leaf.value);
                }
            }
        }
        let _ = writeln!(
            result,
            "  from {}",
            names(&mut path.effective.sources(&seen.attachments).into_iter())
        );
        let chain = path.effective.chain.iter();
        let chain: Vec<String> = chain
            .map(|(_, id)| brief(&seen.attachments.locator(*id)))
            .collect();
        let _ = writeln!(result, "  of {}", chain.join(" < "));
        for loss in &path.effective.losses {
            let by: Vec<String> = loss
                .by
                .iter()
                .map(|winner| {
                    let rule = path.effective.rule(&seen.attachments, *winner, loss.policy);
                    format!(
                        "{} ({})",
                        name(*winner),
                        rule.map_or("", crate::policy::Rule::name)
                    )
                })
                .collect();
            let _ = writeln!(
                result,
                "  {} of {} is lost to {}",
                loss.key,
                name(loss.policy),
                by.join(", ")
            );
        }
        for refused in &path.effective.refused {
            let _ = writeln!(
                result,
                "  {} is refused",
                brief(&seen.attachments.locator(*refused))
            );
        }
        let label = format!(
            "{}: {}",
            known.profile.kind,
            seen.attachments.path_label(kind, &path.path)
        );
        match results.iter_mut().find(|(other, _)| *other == result) {
            Some((_, paths)) => paths.push(label),
            None => results.push((result, vec![label])),
        }
    }
    for (result, paths) in results {
        for path in paths {
            let _ = writeln!(text, "{path}");
        }
        text.push_str(&result);
    }
}

/// Compares what comes of each hub of a directory with the snapshots there.
pub(crate) fn check_all(directory: &str, output: fn(&Section<'_>) -> String) {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let files = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        test_sections::check(&file, output);
    }
}

#[test]
fn every_hub_has_the_findings_and_policies_of_its_snapshot() {
    check_all("tests/hubs", report);
}
