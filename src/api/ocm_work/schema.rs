//! The structural rules of OCM's two work CRDs, as data.
//!
//! Owns: fields, types, enums, patterns, defaults, list keys (docs/systems/ocm-work.md#sources).
//! Flows out: schemas as JSON for `crd_schema`. Must not know: how they are checked.
//!
//! To follow a new OCM release, change the field's line here and add a case to `fixtures/works`.

use serde_json::{Value, json};

use crate::api::structural::{default, list, list_map, mapping, one_of, string, strings, with};

/// Patterns as in the CRDs; the unanchored right half of the deadline's is theirs.
const SUBDOMAIN: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$";
const FIELD_MANAGER: &str = "^work-agent";
const DEADLINE: &str = "^(([0-9])+[h|m|s])|None$";
const COUNT_OR_PERCENTAGE: &str = "^((100|[0-9]{1,2})%|[0-9]+)$";

/// Which object a rule is about; also an orphaning rule.
fn resource_identifier() -> Value {
    mapping(
        &["resource", "name"],
        json!({"group": string(), "resource": string(), "name": string(), "namespace": string()}),
    )
}

fn delete_option() -> Value {
    mapping(
        &[],
        json!({
            "propagationPolicy":
                default(one_of(&["Foreground", "Orphan", "SelectivelyOrphan"]), json!("Foreground")),
            "selectivelyOrphans": mapping(&[], json!({"orphaningRules": list(resource_identifier())})),
            "ttlSecondsAfterFinished": {"type": "integer", "format": "int64"},
        }),
    )
}

fn executor() -> Value {
    let name = json!({"type": "string", "minLength": 1, "maxLength": 253, "pattern": SUBDOMAIN});
    let account = mapping(&["namespace", "name"], json!({"namespace": name, "name": name}));
    let subject = mapping(
        &["type"],
        json!({"type": one_of(&["ServiceAccount"]), "serviceAccount": account}),
    );
    mapping(&[], json!({"subject": subject}))
}

fn feedback_rule() -> Value {
    let path = mapping(
        &["name", "path"],
        json!({"name": string(), "path": string(), "version": string()}),
    );
    mapping(
        &["type"],
        json!({"type": one_of(&["WellKnownStatus", "JSONPaths"]), "jsonPaths": list_map(&["name"], path)}),
    )
}

fn condition_rule() -> Value {
    mapping(
        &["condition", "type"],
        json!({
            "condition": string(),
            "type": one_of(&["WellKnownConditions", "CEL"]),
            "celExpressions": strings(),
            "message": string(),
            "messageExpression": string(),
        }),
    )
}

fn update_strategy() -> Value {
    let ignored = mapping(
        &["condition"],
        json!({
            "condition": default(one_of(&["OnSpokePresent", "OnSpokeChange"]), json!("OnSpokePresent")),
            "jsonPaths": strings(),
            "jsonPointers": strings(),
            "jqPathExpressions": strings(),
        }),
    );
    let server_side_apply = mapping(
        &[],
        json!({
            "force": {"type": "boolean"},
            "fieldManager": {"type": "string", "pattern": FIELD_MANAGER, "default": "work-agent"},
            "ignoreFields": list_map(&["condition"], ignored),
        }),
    );
    let kinds = one_of(&["Update", "CreateOnly", "ServerSideApply", "ReadOnly"]);
    mapping(
        &["type"],
        json!({"type": default(kinds, json!("Update")), "serverSideApply": server_side_apply}),
    )
}

fn manifest_work_spec() -> Value {
    let config = mapping(
        &["resourceIdentifier"],
        json!({
            "resourceIdentifier": resource_identifier(),
            "feedbackRules": list(feedback_rule()),
            "feedbackScrapeType": default(one_of(&["Poll", "Watch"]), json!("Poll")),
            "updateStrategy": update_strategy(),
            "conditionRules": list_map(&["condition"], condition_rule()),
        }),
    );
    let manifest = json!({
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
    });
    mapping(
        &[],
        json!({
            "workload": mapping(&[], json!({"manifests": list(manifest)})),
            "deleteOption": delete_option(),
            "manifestConfigs": list(config),
            "executor": executor(),
        }),
    )
}

fn rollout_strategy() -> Value {
    let groups = list(mapping(
        &[],
        json!({"groupName": string(), "groupIndex": {"type": "integer", "format": "int32"}}),
    ));
    let amount = json!({"x-kubernetes-int-or-string": true, "pattern": COUNT_OR_PERCENTAGE});
    let timing = json!({
        "minSuccessTime": default(string(), json!("0")),
        "progressDeadline": {"type": "string", "pattern": DEADLINE, "default": "None"},
        "maxFailures": default(amount.clone(), json!(0)),
    });
    let grouped = with(timing.clone(), &json!({"mandatoryDecisionGroups": groups}));
    let progressive = with(grouped.clone(), &json!({"maxConcurrency": amount}));
    let strategy = mapping(
        &[],
        json!({
            "type": default(one_of(&["All", "Progressive", "ProgressivePerGroup"]), json!("All")),
            "all": mapping(&[], timing),
            "progressive": mapping(&[], progressive),
            "progressivePerGroup": mapping(&[], grouped),
        }),
    );
    default(
        strategy,
        json!({"type": "All", "all": {"progressDeadline": "None"}}),
    )
}

/// The root: status is the agent's, and not ours to judge.
fn root(spec: &Value) -> Value {
    mapping(
        &[],
        json!({
            "metadata": {"type": "object"},
            "spec": spec,
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }),
    )
}

/// ManifestWork v1.
pub(super) fn manifest_work() -> Value {
    root(&manifest_work_spec())
}

/// ManifestWorkReplicaSet v1alpha1.
pub(super) fn replica_set() -> Value {
    let reference = mapping(
        &["name"],
        json!({"name": {"type": "string", "minLength": 1}, "rolloutStrategy": rollout_strategy()}),
    );
    root(&mapping(
        &["placementRefs", "cascadeDeletionPolicy"],
        json!({
            "manifestWorkTemplate": manifest_work_spec(),
            "placementRefs": with(list(reference), &json!({"minItems": 1})),
            "cascadeDeletionPolicy": default(one_of(&["Background", "Foreground"]), json!("Background")),
        }),
    ))
}
