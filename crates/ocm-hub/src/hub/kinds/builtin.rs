//! The built-in kinds, as one table.
//!
//! Owns: the rows of kinds that the catalog of schemas does not have. To add a kind, add a line to its group: kind,
//! plural, scope. Versions are given for the group; a kind with other versions gets a group of its own. Flows in: the
//! catalog.
//! Flows out: the table. Must not know: any object.
//!
//! Facts: Kubernetes' API reference, and the projects' CRDs as docs/systems lists them.

use super::kind_info::{KindInfo, KindSource, TargetFields};
use crate::api::catalog;
use crate::api::crd::Scope::{self, Cluster, Namespaced};

/// Group, served versions, rows of kind, plural and scope.
type Group = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static str, Scope)],
);

#[rustfmt::skip] // one row a line
const GROUPS: &[Group] = &[
    (
        "",
        &["v1"],
        &[
            ("ConfigMap", "configmaps", Namespaced),
            ("Endpoints", "endpoints", Namespaced),
            ("Event", "events", Namespaced),
            ("LimitRange", "limitranges", Namespaced),
            ("Namespace", "namespaces", Cluster),
            ("Node", "nodes", Cluster),
            ("PersistentVolume", "persistentvolumes", Cluster),
            ("PersistentVolumeClaim", "persistentvolumeclaims", Namespaced),
            ("Pod", "pods", Namespaced),
            ("PodTemplate", "podtemplates", Namespaced),
            ("ReplicationController", "replicationcontrollers", Namespaced),
            ("ResourceQuota", "resourcequotas", Namespaced),
            ("Secret", "secrets", Namespaced),
            ("Service", "services", Namespaced),
            ("ServiceAccount", "serviceaccounts", Namespaced),
        ],
    ),
    (
        "apps",
        &["v1"],
        &[
            ("ControllerRevision", "controllerrevisions", Namespaced),
            ("DaemonSet", "daemonsets", Namespaced),
            ("Deployment", "deployments", Namespaced),
            ("ReplicaSet", "replicasets", Namespaced),
            ("StatefulSet", "statefulsets", Namespaced),
        ],
    ),
    (
        "batch",
        &["v1"],
        &[
            ("CronJob", "cronjobs", Namespaced),
            ("Job", "jobs", Namespaced),
        ],
    ),
    (
        "autoscaling",
        &["v2", "v1"],
        &[(
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            Namespaced,
        )],
    ),
    (
        "policy",
        &["v1"],
        &[("PodDisruptionBudget", "poddisruptionbudgets", Namespaced)],
    ),
    (
        "rbac.authorization.k8s.io",
        &["v1"],
        &[
            ("ClusterRole", "clusterroles", Cluster),
            ("ClusterRoleBinding", "clusterrolebindings", Cluster),
            ("Role", "roles", Namespaced),
            ("RoleBinding", "rolebindings", Namespaced),
        ],
    ),
    (
        "networking.k8s.io",
        &["v1"],
        &[
            ("IPAddress", "ipaddresses", Cluster),
            ("Ingress", "ingresses", Namespaced),
            ("IngressClass", "ingressclasses", Cluster),
            ("NetworkPolicy", "networkpolicies", Namespaced),
            ("ServiceCIDR", "servicecidrs", Cluster),
        ],
    ),
    (
        "discovery.k8s.io",
        &["v1"],
        &[("EndpointSlice", "endpointslices", Namespaced)],
    ),
    (
        "coordination.k8s.io",
        &["v1"],
        &[("Lease", "leases", Namespaced)],
    ),
    ("events.k8s.io", &["v1"], &[("Event", "events", Namespaced)]),
    (
        "node.k8s.io",
        &["v1"],
        &[("RuntimeClass", "runtimeclasses", Cluster)],
    ),
    (
        "scheduling.k8s.io",
        &["v1"],
        &[("PriorityClass", "priorityclasses", Cluster)],
    ),
    (
        "storage.k8s.io",
        &["v1"],
        &[
            ("CSIDriver", "csidrivers", Cluster),
            ("CSINode", "csinodes", Cluster),
            ("CSIStorageCapacity", "csistoragecapacities", Namespaced),
            ("StorageClass", "storageclasses", Cluster),
            ("VolumeAttachment", "volumeattachments", Cluster),
            ("VolumeAttributesClass", "volumeattributesclasses", Cluster),
        ],
    ),
    (
        "certificates.k8s.io",
        &["v1"],
        &[(
            "CertificateSigningRequest",
            "certificatesigningrequests",
            Cluster,
        )],
    ),
    (
        "admissionregistration.k8s.io",
        &["v1"],
        &[
            (
                "MutatingWebhookConfiguration",
                "mutatingwebhookconfigurations",
                Cluster,
            ),
            (
                "ValidatingAdmissionPolicy",
                "validatingadmissionpolicies",
                Cluster,
            ),
            (
                "ValidatingAdmissionPolicyBinding",
                "validatingadmissionpolicybindings",
                Cluster,
            ),
            (
                "ValidatingWebhookConfiguration",
                "validatingwebhookconfigurations",
                Cluster,
            ),
        ],
    ),
    (
        "apiextensions.k8s.io",
        &["v1"],
        &[(
            "CustomResourceDefinition",
            "customresourcedefinitions",
            Cluster,
        )],
    ),
    (
        "apiregistration.k8s.io",
        &["v1"],
        &[("APIService", "apiservices", Cluster)],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        &["v1"],
        &[
            ("FlowSchema", "flowschemas", Cluster),
            (
                "PriorityLevelConfiguration",
                "prioritylevelconfigurations",
                Cluster,
            ),
        ],
    ),
    // Open Cluster Management.
    (
        "operator.open-cluster-management.io",
        &["v1"],
        &[
            ("ClusterManager", "clustermanagers", Cluster),
            ("Klusterlet", "klusterlets", Cluster),
        ],
    ),
    // Kuadrant.
    (
        "authorino.kuadrant.io",
        &["v1beta3", "v1beta2"],
        &[("AuthConfig", "authconfigs", Namespaced)],
    ),
    (
        "limitador.kuadrant.io",
        &["v1alpha1"],
        &[("Limitador", "limitadors", Namespaced)],
    ),
    // cert-manager.
    (
        "cert-manager.io",
        &["v1"],
        &[
            ("CertificateRequest", "certificaterequests", Namespaced),
            ("ClusterIssuer", "clusterissuers", Cluster),
        ],
    ),
    // What else is in a GitOps repository.
    (
        "argoproj.io",
        &["v1alpha1"],
        &[
            ("AppProject", "appprojects", Namespaced),
            ("Application", "applications", Namespaced),
            ("ApplicationSet", "applicationsets", Namespaced),
        ],
    ),
    (
        "multicluster.x-k8s.io",
        &["v1alpha1"],
        &[
            ("ServiceExport", "serviceexports", Namespaced),
            ("ServiceImport", "serviceimports", Namespaced),
        ],
    ),
];

/// Policies of no release, whose definitions the catalog therefore does not have: kind, plural, and whether they have
/// `targetRef` or `targetRefs`.
const UNRELEASED: [(&str, &str, TargetFields); 2] = [
    // nginx/nginx-gateway-fabric config/crd/bases@e55bfe33969f313b210d3497b3ae56b923175d69
    (
        "ExternalLoadBalancer",
        "externalloadbalancers",
        TargetFields {
            target_ref: false,
            target_refs: true,
            target_selectors: false,
        },
    ),
    (
        "PayloadProcessor",
        "payloadprocessors",
        TargetFields {
            target_ref: true,
            target_refs: false,
            target_selectors: false,
        },
    ),
];

/// Every row of the table, and every kind of the catalog.
pub(super) fn kinds() -> impl Iterator<Item = KindInfo> {
    let rows = GROUPS.iter().flat_map(|(group, versions, rows)| {
        rows.iter().map(|(kind, plural, scope)| KindInfo {
            group: (*group).into(),
            kind: (*kind).into(),
            plural: (*plural).into(),
            scope: *scope,
            versions: versions.iter().map(|version| (*version).into()).collect(),
            targets: TargetFields::default(),
            parent_refs: false,
            policy_label: None,
            source: KindSource::BuiltIn,
        })
    });
    let unreleased = UNRELEASED.iter().map(|(kind, plural, targets)| KindInfo {
        group: "gateway.nginx.org".into(),
        kind: (*kind).into(),
        plural: (*plural).into(),
        scope: Namespaced,
        versions: vec!["v1alpha1".into()],
        targets: *targets,
        parent_refs: false,
        policy_label: None,
        source: KindSource::BuiltIn,
    });
    rows.chain(unreleased).chain(catalog::kinds().map(KindInfo::from))
}
