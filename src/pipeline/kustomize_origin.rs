//! The origins that kustomize records for its objects: findings point at the original file, not at the piped input
//! (docs/systems/gitops.md#kustomize).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use kube_json::Value;

use crate::diagnostic::{DocumentId, Findings};
use crate::source::{Document, Generated, STDIN, Sources, attribute, object_name};

const POINTER: &str = "/metadata/annotations/config.kubernetes.io~1origin";

/// The files that documents were made from and that were not found, in words.
pub(super) type Unfound = BTreeMap<DocumentId, String>;

/// Maps the piped input to the files that it was made from. A path is relative to the directory that was built, which
/// is unknown, so it is tried beneath each root.
pub(super) fn attribute_piped(documents: &[Document], sources: &mut Sources, roots: &[PathBuf]) -> Unfound {
    let mut unfound = Unfound::new();
    let mut generated = Vec::new();
    let piped = documents.iter().filter(|document| {
        sources
            .file(document.id.source)
            .is_some_and(|file| file.shown == STDIN)
    });
    for document in piped {
        let Some(origin) = document.value.pointer(POINTER).and_then(Value::as_str) else {
            continue;
        };
        let Ok(origin) = kube_yaml::read_document(origin, &kube_yaml::Limits::default()) else {
            continue;
        };
        let text = |key: &str| origin.get(key).and_then(Value::as_str);
        let path = text("path");
        let words = match (path, text("configuredIn"), text("repo")) {
            (Some(path), _, Some(repository)) => format!("`{path}` of {repository}"),
            (Some(path), ..) | (None, Some(path), _) => format!("`{path}`"),
            _ => continue,
        };
        unfound.insert(document.id, words);
        if let (Some(path), Some(object)) = (
            path.filter(|_| text("repo").is_none()),
            object_name(&document.value),
        ) {
            generated.push(Generated {
                document: document.id,
                path: path.to_owned(),
                object,
            });
        }
    }
    let wanted: Vec<DocumentId> = generated.iter().map(|one| one.document).collect();
    let left: BTreeSet<DocumentId> = attribute(sources, generated, roots)
        .into_iter()
        .map(|one| one.document)
        .collect();
    for document in wanted.into_iter().filter(|document| !left.contains(document)) {
        unfound.remove(&document);
    }
    unfound
}

/// Says of findings in what was piped in which file it was made from, where that was not found.
pub(super) fn explain(unfound: &Unfound, findings: &mut Findings) {
    if unfound.is_empty() {
        return;
    }
    findings.revise(|finding| {
        let document = finding.place.document();
        if let Some(path) = document.and_then(|document| unfound.get(&document)) {
            Arc::make_mut(finding).notes.push(
                format!("kustomize built this from {path}; no file of that name in the input contains it")
                    .into(),
            );
        }
        true
    });
}
