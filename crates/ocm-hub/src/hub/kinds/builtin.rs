//! The built-in kinds, as one table.
//!
//! Owns: the rows of kinds that the catalog of schemas does not have. To add a kind, add it to its group. Versions are
//! given for the group; a kind with other versions gets a group of its own. Flows in: the catalog. Flows out: the table.
//! Must not know: any object.
//!
//! Facts: Kubernetes' API reference, and the projects' CRDs as docs/systems lists them.

use std::borrow::Cow;

use super::kind_info::{KindInfo, KindSource, TargetFields};
use crate::api::crd::Scope::{self, Cluster, Namespaced};
use crate::api::{catalog, own_kinds};

/// Group, served versions, kinds in namespaces, kinds of the cluster.
type Group = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip] // one group a row
const GROUPS: &[Group] = &[
    (
        "", "v1",
        "ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController \
         ResourceQuota Secret Service ServiceAccount",
        "Namespace Node PersistentVolume",
    ),
    ("apps", "v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", ""),
    ("batch", "v1", "CronJob Job", ""),
    ("autoscaling", "v2 v1", "HorizontalPodAutoscaler", ""),
    ("policy", "v1", "PodDisruptionBudget", ""),
    ("rbac.authorization.k8s.io", "v1", "Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    ("networking.k8s.io", "v1", "Ingress NetworkPolicy", "IPAddress IngressClass ServiceCIDR"),
    ("discovery.k8s.io", "v1", "EndpointSlice", ""),
    ("coordination.k8s.io", "v1", "Lease", ""),
    ("events.k8s.io", "v1", "Event", ""),
    ("node.k8s.io", "v1", "", "RuntimeClass"),
    ("scheduling.k8s.io", "v1", "", "PriorityClass"),
    (
        "storage.k8s.io", "v1",
        "CSIStorageCapacity",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
    ("certificates.k8s.io", "v1", "", "CertificateSigningRequest"),
    (
        "admissionregistration.k8s.io", "v1",
        "",
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding \
         ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "v1", "", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "v1", "", "APIService"),
    ("flowcontrol.apiserver.k8s.io", "v1", "", "FlowSchema PriorityLevelConfiguration"),
    // Open Cluster Management.
    ("operator.open-cluster-management.io", "v1", "", "ClusterManager Klusterlet"),
    // Kuadrant.
    ("authorino.kuadrant.io", "v1beta3 v1beta2", "AuthConfig", ""),
    ("limitador.kuadrant.io", "v1alpha1", "Limitador", ""),
    // cert-manager.
    ("cert-manager.io", "v1", "CertificateRequest", "ClusterIssuer"),
    // Ours.
    (own_kinds::GROUP, own_kinds::VERSION, own_kinds::OVERLAY, ""),
    // What else is in a GitOps repository.
    ("argoproj.io", "v1alpha1", "AppProject Application ApplicationSet", ""),
    ("multicluster.x-k8s.io", "v1alpha1", "ServiceExport ServiceImport", ""),
];

/// Policies of no release, whose definitions the catalog therefore does not have: kind, and whether it has `targetRef`,
/// not `targetRefs`. nginx/nginx-gateway-fabric config/crd/bases@e55bfe33969f313b210d3497b3ae56b923175d69
const UNRELEASED: [(&str, bool); 2] = [("ExternalLoadBalancer", false), ("PayloadProcessor", true)];

/// Every row of the table, and every kind of the catalog.
pub(super) fn kinds() -> impl Iterator<Item = KindInfo> {
    let rows = GROUPS
        .iter()
        .flat_map(|(group, versions, namespaced, of_cluster)| {
            let namespaced = namespaced.split_whitespace().map(|kind| (kind, Namespaced));
            let of_cluster = of_cluster.split_whitespace().map(|kind| (kind, Cluster));
            let mut kinds: Vec<(&str, Scope)> = namespaced.chain(of_cluster).collect();
            kinds.sort_unstable_by_key(|(kind, _)| *kind);
            let info = |(kind, scope)| built_in(group, versions, kind, scope, TargetFields::default());
            kinds.into_iter().map(info)
        });
    let unreleased = UNRELEASED.iter().map(|(kind, target_ref)| {
        let targets = TargetFields {
            target_ref: *target_ref,
            target_refs: !target_ref,
            target_selectors: false,
        };
        built_in("gateway.nginx.org", "v1alpha1", kind, Namespaced, targets)
    });
    rows.chain(unreleased).chain(catalog::kinds().map(KindInfo::from))
}

fn built_in(
    group: &'static str,
    versions: &'static str,
    kind: &'static str,
    scope: Scope,
    targets: TargetFields,
) -> KindInfo {
    KindInfo {
        group: group.into(),
        kind: kind.into(),
        plural: plural(kind).into(),
        scope,
        versions: versions.split_whitespace().map(Cow::from).collect(),
        targets,
        parent_refs: false,
        policy_label: None,
        source: KindSource::BuiltIn,
    }
}

/// The name of a kind in URLs: of ours, as its definition says, and of others, as Kubernetes guesses it:
/// kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/api/meta/restmapper.go@v1.34.1
fn plural(kind: &str) -> String {
    if kind == own_kinds::OVERLAY {
        return own_kinds::OVERLAYS.to_owned();
    }
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        _ if kind == "endpoints" => kind,
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}
