//! The CustomResourceDefinitions of public projects, for the tests of several members.

// Only tests use it.
#![allow(clippy::expect_used)]

use std::path::PathBuf;

use kube_json::Value;

/// Every CRD below the directory that `SPOKEWRIGHT_CRDS` names, by path.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn real_crds() -> Vec<(PathBuf, Value)> {
    let root = std::env::var_os("SPOKEWRIGHT_CRDS")
        .expect("set SPOKEWRIGHT_CRDS to a directory of CustomResourceDefinitions, one a file");
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::from(root)];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).expect("text");
                let value = kube_yaml::read_document(&text, &kube_yaml::Limits::default()).expect("YAML");
                found.push((path, value));
            }
        }
    }
    assert!(!found.is_empty(), "SPOKEWRIGHT_CRDS has no .yaml file");
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}
