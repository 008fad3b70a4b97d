//! Names of labels, annotations, prefixes, and files that several modules share, each defined once.
//!
//! A name that only one file uses is in that file. The groups of Gateway API and of OCM's works are with their kinds in
//! `api`, and the names of OCM's scheduler are in its crate.

use kube_json::Value;

/// On a CRD: that its objects are policies (docs/systems/gep-713.md#discoverability).
pub const POLICY_LABEL: &str = "gateway.networking.k8s.io/policy";

// On a Gateway, as on a PlacementDecision: the name of a Placement (docs/systems/mgc.md#placing-a-gateway).
pub use ocm_placement::PLACEMENT_LABEL;
/// The JSON pointer of `PLACEMENT_LABEL`.
pub const PLACEMENT_LABEL_POINTER: &str = "/metadata/labels/cluster.open-cluster-management.io~1placement";

/// On a work: that MGC, or we, made it. Its value is [`MANAGED`] (docs/systems/mgc.md#gateway-work).
pub const MANAGED_WORK_LABEL: &str = "kuadrant.io";
/// The value of [`MANAGED_WORK_LABEL`].
pub const MANAGED: &str = "managed";
/// On a work: the hub object that it was made for.
pub const PARENT_ANNOTATION: &str = "kuadrant.io/parent";
/// On a hub Gateway: its clusters.
pub const GATEWAY_CLUSTERS: &str = "kuadrant.io/gateway-clusters";
/// On a hub Gateway: the prefix of the labels about one of its clusters.
pub const CLUSTER_LABEL_PREFIX: &str = "clusters.kuadrant.io/";

/// On a hub policy: where its copies are (docs/systems/policy-sync.md#annotations).
pub const POLICIES_SYNCED: &str = "kuadrant.io/policies-synced";
/// On a downstream policy: when the hub's was made (docs/systems/policy-sync.md#annotations).
pub const ORIGIN_CREATION: &str = "kuadrant.io/origin-creation";

/// On a hub route: where its copies are, as [`POLICIES_SYNCED`] does on a policy.
pub const ROUTES_SYNCED: &str = "spokewright.dev/routes-synced";
/// On a hub object: the name of its work, where the derived one is taken.
pub const WORK_NAME_ANNOTATION: &str = "spokewright.dev/work-name";
/// On any object: which of its findings are accepted, each with the reason.
pub const SUPPRESS_ANNOTATION: &str = "spokewright.dev/suppress";

/// On an object that Argo CD applies: its turn among the others (docs/systems/gitops.md#keys-that-argo-cd-owns).
pub const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";

/// On an object that only tools read: kustomize drops it (docs/systems/gitops.md#kustomize).
pub const LOCAL_CONFIG_POINTER: &str = "/metadata/annotations/config.kubernetes.io~1local-config";

/// Whether kustomize drops an object from what it builds.
pub fn is_local_config(object: &Value) -> bool {
    let annotation = object.pointer(LOCAL_CONFIG_POINTER).and_then(Value::as_str);
    annotation.is_some_and(|text| text != "false")
}

/// The directory of annotated hub objects in an output tree; no cluster name can begin with `_`.
pub const HUB_DIRECTORY: &str = "_hub";
