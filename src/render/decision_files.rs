//! PlacementDecision files: the lock that keeps later runs stable (`placement --write DIR`), one file for each
//! Placement.
//!
//! Owns: which file holds which object. Flows in: PlacementDecision objects. Flows out: the path and the text of each
//! file. Must not know: why a cluster was chosen.

use std::collections::BTreeMap;

use kube_json::Value;

use crate::object::well_known::PLACEMENT_LABEL_POINTER;

/// The path of the file for a Placement, in the directory of all. Both names were checked by Kubernetes' rules when they were read.
pub fn decision_file(namespace: &str, placement: &str) -> String {
    format!("{namespace}/{placement}.yaml")
}

/// The files that contain these objects, with those of one Placement (by its label) in one file.
pub fn decision_files(objects: impl Iterator<Item = Value>) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for object in objects {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let placement = text(PLACEMENT_LABEL_POINTER);
        let path = decision_file(text("/metadata/namespace"), placement);
        let file = texts.entry(path).or_default();
        if !file.is_empty() {
            file.push_str("---\n");
        }
        file.push_str(&kube_yaml::write_document(&object));
    }
    texts
}
