//! Objects for tests, also for those of `policy-sync`.

use kube_json::Value;

use crate::object::Object;

/// [`Object::alone`].
pub(crate) fn object(value: Value) -> Object {
    Object::alone(value)
}

/// Every CRD below the directory that `SPOKEWRIGHT_CRDS` names, by path.
#[cfg(feature = "real-crds")]
pub(crate) fn real_crds() -> Vec<(std::path::PathBuf, Object)> {
    let root = std::env::var_os("SPOKEWRIGHT_CRDS")
        .expect("set SPOKEWRIGHT_CRDS to a directory of CustomResourceDefinitions, one a file");
    let mut found = Vec::new();
    let mut pending = vec![std::path::PathBuf::from(root)];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).expect("text");
                let value = kube_yaml::read_document(&text, &kube_yaml::Limits::default()).expect("YAML");
                found.push((path, object(value)));
            }
        }
    }
    assert!(!found.is_empty(), "SPOKEWRIGHT_CRDS has no .yaml file");
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
