//! The structural rules of OCM's cluster CRDs, as data.
//!
//! Owns: fields, types, what is required, enums, bounds, patterns, list keys, the served version of each kind: facts of
//! `open-cluster-management-io/api cluster/@v1.3.0`. Two are ours: a negative `numberOfClusters` is refused, on which
//! OCM's scheduler panics, and a decision needs no reason, because people leave it out. Defaults are the scheduler's
//! (docs/systems/ocm-placement.md#kinds-and-defaults), so a field that has one is not required.
//! Flows out: schemas as JSON for `crd_schema`. Must not know: how they are checked.
//!
//! To follow a new OCM release, change the field's line here; `tests` compares all of it with the CRDs.

use serde_json::{Value, json};

use crate::api::structural::{list, list_map, mapping, one_of, string, strings, with};

/// Patterns as in the CRDs.
const QUALIFIED_NAME: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
/// The same, written in another way.
const TOPOLOGY_KEY: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
const DNS_LABEL: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
const PERCENTAGE: &str = "^((100|[1-9][0-9]{0,1})%|[1-9][0-9]*)$";
const GROUP_NAME: &str = "^[a-zA-Z0-9][-A-Za-z0-9_.]{0,61}[a-zA-Z0-9]$";
const RATE_LIMIT: &str = "^[0-9]+[hms]$";
/// As Kubernetes parses quantities: unlike the CRDs' pattern, an exponent is whole.
const QUANTITY: &str =
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?$";

/// Every kind: its name, its served version, its schema.
pub(super) fn kinds() -> [(&'static str, &'static str, Value); 6] {
    [
        ("ManagedCluster", "v1", cluster()),
        ("ManagedClusterSet", "v1beta2", cluster_set()),
        ("ManagedClusterSetBinding", "v1beta2", binding()),
        ("Placement", "v1beta1", placement()),
        ("PlacementDecision", "v1beta1", decision()),
        ("AddOnPlacementScore", "v1alpha1", score()),
    ]
}

fn root(required: &[&str], spec: Option<Value>, status: Value) -> Value {
    let mut properties = json!({
        "apiVersion": string(),
        "kind": string(),
        "metadata": {"type": "object"},
        "status": status,
    });
    if let (Some(fields), Some(spec)) = (properties.as_object_mut(), spec) {
        fields.insert("spec".to_owned(), spec);
    }
    mapping(required, properties)
}

fn int32() -> Value {
    json!({"type": "integer", "format": "int32"})
}

fn int64() -> Value {
    json!({"type": "integer", "format": "int64"})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn matching(pattern: &str, longest: u64) -> Value {
    json!({"type": "string", "pattern": pattern, "maxLength": longest})
}

fn length(least: u64, most: u64) -> Value {
    json!({"type": "string", "minLength": least, "maxLength": most})
}

fn table(values: Value) -> Value {
    json!({"type": "object", "additionalProperties": values})
}

fn effect() -> Value {
    one_of(&["NoSelect", "PreferNoSelect", "NoSelectIfNew"])
}

fn condition() -> Value {
    mapping(
        &["lastTransitionTime", "message", "reason", "status", "type"],
        json!({
            "lastTransitionTime": time(),
            "message": {"type": "string", "maxLength": 32_768},
            "observedGeneration": with(int64(), &json!({"minimum": 0})),
            "reason": with(matching(REASON, 1024), &json!({"minLength": 1})),
            "status": one_of(&["True", "False", "Unknown"]),
            "type": matching(QUALIFIED_NAME, 316),
        }),
    )
}

/// One condition of each type. Those of sets and bindings are not declared so.
fn conditions() -> Value {
    list_map(&["type"], condition())
}

fn match_expressions() -> Value {
    let requirement = json!({"key": string(), "operator": string(), "values": strings()});
    list(mapping(&["key", "operator"], requirement))
}

fn label_selector() -> Value {
    let fields = json!({"matchExpressions": match_expressions(), "matchLabels": table(string())});
    mapping(&[], fields)
}

fn claim_selector() -> Value {
    mapping(&[], json!({"matchExpressions": match_expressions()}))
}

fn cluster() -> Value {
    let client_config = mapping(
        &["url"],
        json!({"url": string(), "caBundle": {"type": "string", "format": "byte"}}),
    );
    let taint = mapping(
        &["effect", "key"],
        json!({
            "effect": effect(),
            "key": matching(QUALIFIED_NAME, 316),
            "timeAdded": with(time(), &json!({"nullable": true})),
            "value": {"type": "string", "maxLength": 1024},
        }),
    );
    let spec = mapping(
        &[],
        json!({
            "hubAcceptsClient": {"type": "boolean"},
            "leaseDurationSeconds": int32(),
            "managedClusterClientConfigs": list(client_config),
            "taints": list(taint),
        }),
    );
    let resources = table(json!({"x-kubernetes-int-or-string": true, "pattern": QUANTITY}));
    let claim = mapping(&[], json!({"name": length(1, 253), "value": length(1, 1024)}));
    let namespace = mapping(
        &["clusterSet", "name"],
        json!({
            "clusterSet": string(),
            "conditions": conditions(),
            "name": matching(DNS_LABEL, 63),
        }),
    );
    let status = mapping(
        &[],
        json!({
            "allocatable": resources,
            "capacity": resources,
            "clusterClaims": list(claim),
            "conditions": conditions(),
            "managedNamespaces": list_map(&["clusterSet", "name"], namespace),
            "version": mapping(&[], json!({"kubernetes": string()})),
        }),
    );
    root(&[], Some(spec), status)
}

fn cluster_set() -> Value {
    let selector = mapping(
        &[],
        json!({
            "labelSelector": label_selector(),
            "selectorType": one_of(&["ExclusiveClusterSetLabel", "LabelSelector"]),
        }),
    );
    let namespace = mapping(&["name"], json!({"name": matching(DNS_LABEL, 63)}));
    let spec = mapping(
        &[],
        json!({"clusterSelector": selector, "managedNamespaces": list_map(&["name"], namespace)}),
    );
    root(
        &[],
        Some(spec),
        mapping(&[], json!({"conditions": list(condition())})),
    )
}

fn binding() -> Value {
    let spec = mapping(&[], json!({"clusterSet": {"type": "string", "minLength": 1}}));
    root(
        &[],
        Some(spec),
        mapping(&[], json!({"conditions": list(condition())})),
    )
}

fn placement() -> Value {
    let selector = mapping(
        &[],
        json!({
            "celSelector": mapping(&[], json!({"celExpressions": strings()})),
            "claimSelector": claim_selector(),
            "labelSelector": label_selector(),
        }),
    );
    let toleration = mapping(
        &[],
        json!({
            "effect": effect(),
            "key": matching(QUALIFIED_NAME, 316),
            "operator": string(),
            "tolerationSeconds": int64(),
            "value": {"type": "string", "maxLength": 1024},
        }),
    );
    let spec = mapping(
        &[],
        json!({
            "clusterSets": strings(),
            "decisionStrategy": mapping(&[], json!({"groupStrategy": group_strategy()})),
            "numberOfClusters": with(int32(), &json!({"minimum": 0})),
            "predicates": list(mapping(&[], json!({"requiredClusterSelector": selector}))),
            "prioritizerPolicy": prioritizer_policy(),
            "scoreRateLimit": {"type": "string", "pattern": RATE_LIMIT},
            "sortBy": one_of(&["ClusterName", "Score"]),
            "spreadPolicy": mapping(&[], json!({"spreadConstraints": spread_constraints()})),
            "tolerations": list(toleration),
        }),
    );
    let group = mapping(
        &[],
        json!({
            "clusterCount": int32(),
            "decisionGroupIndex": int32(),
            "decisionGroupName": string(),
            "decisions": strings(),
        }),
    );
    let status = mapping(
        &[],
        json!({
            "conditions": conditions(),
            "decisionGroups": list(group),
            "lastScoreUpdateTime": time(),
            "numberOfSelectedClusters": int32(),
        }),
    );
    root(&["spec"], Some(spec), status)
}

fn group_strategy() -> Value {
    let selector = mapping(
        &[],
        json!({"claimSelector": claim_selector(), "labelSelector": label_selector()}),
    );
    let group = mapping(
        &["groupClusterSelector", "groupName"],
        json!({
            "groupClusterSelector": selector,
            "groupName": {"type": "string", "pattern": GROUP_NAME},
        }),
    );
    // Go's IntOrString is an int32.
    let size = json!({"x-kubernetes-int-or-string": true, "pattern": PERCENTAGE, "format": "int32"});
    mapping(
        &[],
        json!({"clustersPerDecisionGroup": size, "decisionGroups": list(group)}),
    )
}

fn prioritizer_policy() -> Value {
    let add_on = json!({"resourceName": string(), "scoreName": string()});
    let coordinate = mapping(
        &[],
        json!({
            "addOn": mapping(&["resourceName", "scoreName"], add_on),
            "builtIn": string(),
            "type": one_of(&["BuiltIn", "AddOn"]),
        }),
    );
    let configuration = mapping(
        &["scoreCoordinate"],
        json!({
            "scoreCoordinate": coordinate,
            "weight": with(int32(), &json!({"minimum": -10, "maximum": 10})),
        }),
    );
    mapping(
        &[],
        json!({"configurations": list(configuration), "mode": string()}),
    )
}

fn spread_constraints() -> Value {
    let constraint = mapping(
        &["topologyKey", "topologyKeyType"],
        json!({
            "maxSkew": with(int32(), &json!({"minimum": 1})),
            "topologyKey": matching(TOPOLOGY_KEY, 316),
            "topologyKeyType": one_of(&["Label", "Claim"]),
            "whenUnsatisfiable": one_of(&["DoNotSchedule", "ScheduleAnyway"]),
        }),
    );
    with(list(constraint), &json!({"maxItems": 8}))
}

fn decision() -> Value {
    let decision = mapping(
        &["clusterName"],
        json!({"clusterName": string(), "reason": string(), "score": int64()}),
    );
    let status = mapping(&["decisions"], json!({"decisions": list(decision)}));
    root(&[], None, status)
}

fn score() -> Value {
    let score = mapping(
        &["name", "value"],
        json!({"name": string(), "value": with(int32(), &json!({"minimum": -100, "maximum": 100}))}),
    );
    let status = mapping(
        &[],
        json!({
            "conditions": conditions(),
            "scores": list_map(&["name"], score),
            "validUntil": time(),
        }),
    );
    root(&[], None, status)
}
