//! Versions of built-in kinds.
//!
//! Owns: the finding about an object whose version is served by no release that the table knows, and which groups are
//! read.
//! Flows in: an object, the table of kinds. Flows out: a finding. Must not know: CRDs of the input, whose versions
//! `api::crd` checks.

use super::kinds::{KindInfo, KindSource, KindTable};
use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding};
use crate::object::Object;
use apimachinery::ApiVersion;

/// Groups whose objects are interpreted or shipped as the table knows them. Policies are shipped in the version of the
/// parameters (`sync`), and what is neither is nothing that we could judge.
const GROUPS: [&str; 3] = ["", "cluster.open-cluster-management.io", GROUP];

/// Whether objects of a kind are interpreted or shipped, so that their contents matter.
pub(super) fn is_read(info: &KindInfo) -> bool {
    GROUPS.contains(&info.group.as_ref())
        || info.is_policy()
        || info.group == crate::api::ocm_work::GROUP
        || info.kind == "CustomResourceDefinition"
}

/// The same of an object that is not only shipped, but read by the rules of its group.
pub(super) fn unknown_version_of_read(object: &Object, kinds: &KindTable) -> Option<Finding> {
    GROUPS
        .contains(&object.api_version.group.as_str())
        .then(|| unknown_version(object, kinds))?
}

/// Says that an object has another version than those of its built-in kind. It would be read as if it had one of them,
/// and shipped as it is.
pub fn unknown_version(object: &Object, kinds: &KindTable) -> Option<Finding> {
    let ApiVersion { group, version } = &object.api_version;
    let info = kinds.kind(group, &object.kind)?;
    if info.source != KindSource::BuiltIn || info.serves(version) {
        return None;
    }
    let known = ApiVersion {
        group: group.clone(),
        version: info.versions.first()?.to_string(),
    };
    Some(
        Finding::new(
            Code::OBJECT_SCHEMA,
            object.place("/apiVersion"),
            format!("{} has the unknown version {version:?}", object.identity()),
        )
        .label(format!("known: {}", info.versions.join(", ")))
        .help(format!(
            "write `apiVersion: {known}`; if the clusters serve {version}, add the CustomResourceDefinition to the input"
        )),
    )
}
