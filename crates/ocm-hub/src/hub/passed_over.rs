//! Documents that were read and are not objects of the hub: they are counted, never refused. A document may be passed
//! over if nothing in it looks like an object that rendering uses.

use kube_json::Value;

use crate::api::gateway::GROUP;
use crate::api::kinds::{KindTable, meant};
use crate::api::ocm;
use crate::api::own_kinds::is_own_document;
use crate::api::policy::TARGETS;
use crate::diagnostic::Place;
use apimachinery::{ApiVersion, GroupKind};
use ocm_placement::GROUP as CLUSTER_GROUP;

/// A document that was read and is not an object of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// Where it is.
    pub place: Place,
    /// A short description.
    pub what: String,
}

/// Files for tools are not hub objects (docs/reference/what-is-read.md).
pub(super) fn is_for_a_tool(api_version: &ApiVersion, kind: &str, value: &Value) -> bool {
    match (api_version.group.as_str(), kind) {
        ("kustomize.config.k8s.io", _)
        | ("argoproj.io", "ConfigManagementPlugin")
        // What implementations publish about themselves (docs/systems/gateway-api.md#conformance-reports).
        | (GROUP, "ConformanceReport") => true,
        ("", "Config") => value.get("clusters").is_some() || value.get("contexts").is_some(),
        _ => false,
    }
}

/// Whether a document that is not a complete object may have been meant as one that rendering uses: by its group, by
/// its kind, or because it has targets or parents as policies and routes do. It is then never passed over.
pub(super) fn may_be_used(value: &Value, kinds: &KindTable) -> bool {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (ApiVersion::parse(text("apiVersion")), text("kind"));
    let is_near = || {
        kinds.kind(&api_version.group, kind).is_none()
            && meant(&GroupKind::new(&api_version.group, kind), kinds).is_some()
    };
    let is_of_ocm = || kind.is_empty() || ocm::KINDS.contains(&kind) || is_near();
    let is_used = |group: &str| group == GROUP || (group == CLUSTER_GROUP && is_of_ocm());
    // What a Gateway or a class may name; a hook of a tool gets its name later.
    let may_be_named = api_version.group.is_empty()
        && !api_version.version.is_empty()
        && ["ConfigMap", "Namespace", "Secret"].contains(&kind)
        && value.pointer("/metadata/generateName").is_none();
    may_be_named
        || is_own_document(&api_version.to_string(), kind)
        || is_used(&api_version.group)
        || kinds.of_name(kind).any(|info| {
            let is_of_group = api_version.group.is_empty() || info.group == api_version.group.as_str();
            is_of_group && (info.is_policy() || info.parent_refs || is_used(&info.group))
        })
        || refers(value)
}

/// Whether a `spec` has references as those of policies and routes.
pub fn refers(value: &Value) -> bool {
    let spec = value.get("spec");
    let has = |field: &&str| spec.is_some_and(|spec| spec.get(field).is_some());
    TARGETS.iter().chain(&["parentRef", "parentRefs"]).any(has)
}
