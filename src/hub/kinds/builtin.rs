//! The built-in kinds, as one table.
//!
//! Owns: the rows. To add a kind, add a line to its group: kind, plural, scope, target references. Versions
//! stand at the group, or in a group of their own when a kind differs. Flows in: nothing. Flows out: the table.
//! Must not know: any object.
//!
//! Facts: Kubernetes' API reference, and the projects' CRDs as docs/systems lists them.

use super::kind_info::{KindInfo, KindSource, TargetFields};
use crate::api::crd::Scope::{self, Cluster, Namespaced};
use crate::api::route::is_route;

/// The target references of a policy kind.
#[derive(Clone, Copy)]
enum Targets {
    /// No policy.
    No,
    /// `targetRef`.
    Ref,
    /// `targetRefs`.
    Refs,
    /// Either.
    Both,
}
use Targets::{Both, No, Ref, Refs};

/// Group, served versions, rows of kind, plural, scope and target references.
type Group = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static str, Scope, Targets)],
);

#[rustfmt::skip] // one row a line
const GROUPS: &[Group] = &[
    (
        "",
        &["v1"],
        &[
            ("ConfigMap", "configmaps", Namespaced, No),
            ("Endpoints", "endpoints", Namespaced, No),
            ("Event", "events", Namespaced, No),
            ("LimitRange", "limitranges", Namespaced, No),
            ("Namespace", "namespaces", Cluster, No),
            ("Node", "nodes", Cluster, No),
            ("PersistentVolume", "persistentvolumes", Cluster, No),
            ("PersistentVolumeClaim", "persistentvolumeclaims", Namespaced, No),
            ("Pod", "pods", Namespaced, No),
            ("PodTemplate", "podtemplates", Namespaced, No),
            ("ReplicationController", "replicationcontrollers", Namespaced, No),
            ("ResourceQuota", "resourcequotas", Namespaced, No),
            ("Secret", "secrets", Namespaced, No),
            ("Service", "services", Namespaced, No),
            ("ServiceAccount", "serviceaccounts", Namespaced, No),
        ],
    ),
    (
        "apps",
        &["v1"],
        &[
            ("ControllerRevision", "controllerrevisions", Namespaced, No),
            ("DaemonSet", "daemonsets", Namespaced, No),
            ("Deployment", "deployments", Namespaced, No),
            ("ReplicaSet", "replicasets", Namespaced, No),
            ("StatefulSet", "statefulsets", Namespaced, No),
        ],
    ),
    (
        "batch",
        &["v1"],
        &[
            ("CronJob", "cronjobs", Namespaced, No),
            ("Job", "jobs", Namespaced, No),
        ],
    ),
    (
        "autoscaling",
        &["v2", "v1"],
        &[(
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            Namespaced,
            No,
        )],
    ),
    (
        "policy",
        &["v1"],
        &[("PodDisruptionBudget", "poddisruptionbudgets", Namespaced, No)],
    ),
    (
        "rbac.authorization.k8s.io",
        &["v1"],
        &[
            ("ClusterRole", "clusterroles", Cluster, No),
            ("ClusterRoleBinding", "clusterrolebindings", Cluster, No),
            ("Role", "roles", Namespaced, No),
            ("RoleBinding", "rolebindings", Namespaced, No),
        ],
    ),
    (
        "networking.k8s.io",
        &["v1"],
        &[
            ("IPAddress", "ipaddresses", Cluster, No),
            ("Ingress", "ingresses", Namespaced, No),
            ("IngressClass", "ingressclasses", Cluster, No),
            ("NetworkPolicy", "networkpolicies", Namespaced, No),
            ("ServiceCIDR", "servicecidrs", Cluster, No),
        ],
    ),
    (
        "discovery.k8s.io",
        &["v1"],
        &[("EndpointSlice", "endpointslices", Namespaced, No)],
    ),
    (
        "coordination.k8s.io",
        &["v1"],
        &[("Lease", "leases", Namespaced, No)],
    ),
    ("events.k8s.io", &["v1"], &[("Event", "events", Namespaced, No)]),
    (
        "node.k8s.io",
        &["v1"],
        &[("RuntimeClass", "runtimeclasses", Cluster, No)],
    ),
    (
        "scheduling.k8s.io",
        &["v1"],
        &[("PriorityClass", "priorityclasses", Cluster, No)],
    ),
    (
        "storage.k8s.io",
        &["v1"],
        &[
            ("CSIDriver", "csidrivers", Cluster, No),
            ("CSINode", "csinodes", Cluster, No),
            ("CSIStorageCapacity", "csistoragecapacities", Namespaced, No),
            ("StorageClass", "storageclasses", Cluster, No),
            ("VolumeAttachment", "volumeattachments", Cluster, No),
            ("VolumeAttributesClass", "volumeattributesclasses", Cluster, No),
        ],
    ),
    (
        "certificates.k8s.io",
        &["v1"],
        &[(
            "CertificateSigningRequest",
            "certificatesigningrequests",
            Cluster,
            No,
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
                No,
            ),
            (
                "ValidatingAdmissionPolicy",
                "validatingadmissionpolicies",
                Cluster,
                No,
            ),
            (
                "ValidatingAdmissionPolicyBinding",
                "validatingadmissionpolicybindings",
                Cluster,
                No,
            ),
            (
                "ValidatingWebhookConfiguration",
                "validatingwebhookconfigurations",
                Cluster,
                No,
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
            No,
        )],
    ),
    (
        "apiregistration.k8s.io",
        &["v1"],
        &[("APIService", "apiservices", Cluster, No)],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        &["v1"],
        &[
            ("FlowSchema", "flowschemas", Cluster, No),
            (
                "PriorityLevelConfiguration",
                "prioritylevelconfigurations",
                Cluster,
                No,
            ),
        ],
    ),
    // Gateway API: the standard and the experimental channel together.
    (
        "gateway.networking.k8s.io",
        &["v1", "v1beta1"],
        &[
            ("Gateway", "gateways", Namespaced, No),
            ("GatewayClass", "gatewayclasses", Cluster, No),
            ("HTTPRoute", "httproutes", Namespaced, No),
            ("ReferenceGrant", "referencegrants", Namespaced, No),
        ],
    ),
    (
        "gateway.networking.k8s.io",
        &["v1"],
        &[
            ("GRPCRoute", "grpcroutes", Namespaced, No),
            ("ListenerSet", "listenersets", Namespaced, No),
        ],
    ),
    (
        "gateway.networking.k8s.io",
        &["v1", "v1alpha3"],
        &[("BackendTLSPolicy", "backendtlspolicies", Namespaced, Refs)],
    ),
    (
        "gateway.networking.k8s.io",
        &["v1", "v1alpha3", "v1alpha2"],
        &[("TLSRoute", "tlsroutes", Namespaced, No)],
    ),
    (
        "gateway.networking.k8s.io",
        &["v1", "v1alpha2"],
        &[
            ("TCPRoute", "tcproutes", Namespaced, No),
            ("UDPRoute", "udproutes", Namespaced, No),
        ],
    ),
    (
        "gateway.networking.x-k8s.io",
        &["v1alpha1"],
        &[
            ("XBackend", "xbackends", Namespaced, No),
            (
                "XBackendTrafficPolicy",
                "xbackendtrafficpolicies",
                Namespaced,
                Refs,
            ),
            ("XListenerSet", "xlistenersets", Namespaced, No),
            ("XMesh", "xmeshes", Cluster, No),
        ],
    ),
    // Open Cluster Management.
    (
        "cluster.open-cluster-management.io",
        &["v1"],
        &[("ManagedCluster", "managedclusters", Cluster, No)],
    ),
    (
        "cluster.open-cluster-management.io",
        &["v1beta2"],
        &[
            ("ManagedClusterSet", "managedclustersets", Cluster, No),
            (
                "ManagedClusterSetBinding",
                "managedclustersetbindings",
                Namespaced,
                No,
            ),
        ],
    ),
    (
        "cluster.open-cluster-management.io",
        &["v1beta1"],
        &[
            ("Placement", "placements", Namespaced, No),
            ("PlacementDecision", "placementdecisions", Namespaced, No),
        ],
    ),
    (
        "cluster.open-cluster-management.io",
        &["v1alpha1"],
        &[
            ("AddOnPlacementScore", "addonplacementscores", Namespaced, No),
            ("ClusterClaim", "clusterclaims", Cluster, No),
        ],
    ),
    (
        "work.open-cluster-management.io",
        &["v1"],
        &[
            ("AppliedManifestWork", "appliedmanifestworks", Cluster, No),
            ("ManifestWork", "manifestworks", Namespaced, No),
        ],
    ),
    (
        "work.open-cluster-management.io",
        &["v1alpha1"],
        &[(
            "ManifestWorkReplicaSet",
            "manifestworkreplicasets",
            Namespaced,
            No,
        )],
    ),
    (
        "addon.open-cluster-management.io",
        &["v1alpha1"],
        &[("AddOnTemplate", "addontemplates", Cluster, No)],
    ),
    (
        "addon.open-cluster-management.io",
        &["v1alpha1", "v1beta1"],
        &[
            ("AddOnDeploymentConfig", "addondeploymentconfigs", Namespaced, No),
            ("ClusterManagementAddOn", "clustermanagementaddons", Cluster, No),
            ("ManagedClusterAddOn", "managedclusteraddons", Namespaced, No),
        ],
    ),
    (
        "operator.open-cluster-management.io",
        &["v1"],
        &[
            ("ClusterManager", "clustermanagers", Cluster, No),
            ("Klusterlet", "klusterlets", Cluster, No),
        ],
    ),
    // Kuadrant.
    (
        "kuadrant.io",
        &["v1"],
        &[
            ("AuthPolicy", "authpolicies", Namespaced, Ref),
            ("DNSPolicy", "dnspolicies", Namespaced, Ref),
            ("RateLimitPolicy", "ratelimitpolicies", Namespaced, Ref),
            ("TLSPolicy", "tlspolicies", Namespaced, Ref),
        ],
    ),
    (
        "kuadrant.io",
        &["v1alpha1"],
        &[
            ("DNSHealthCheckProbe", "dnshealthcheckprobes", Namespaced, No),
            ("DNSRecord", "dnsrecords", Namespaced, No),
            ("TokenRateLimitPolicy", "tokenratelimitpolicies", Namespaced, Ref),
        ],
    ),
    (
        "kuadrant.io",
        &["v1beta1"],
        &[("Kuadrant", "kuadrants", Namespaced, No)],
    ),
    (
        "extensions.kuadrant.io",
        &["v1alpha1"],
        &[
            ("OIDCPolicy", "oidcpolicies", Namespaced, Ref),
            ("PipelinePolicy", "pipelinepolicies", Namespaced, Ref),
            ("PlanPolicy", "planpolicies", Namespaced, Ref),
            ("TelemetryPolicy", "telemetrypolicies", Namespaced, Ref),
            ("ThreatPolicy", "threatpolicies", Namespaced, Ref),
        ],
    ),
    (
        "authorino.kuadrant.io",
        &["v1beta3", "v1beta2"],
        &[("AuthConfig", "authconfigs", Namespaced, No)],
    ),
    (
        "limitador.kuadrant.io",
        &["v1alpha1"],
        &[("Limitador", "limitadors", Namespaced, No)],
    ),
    // Envoy Gateway.
    (
        "gateway.envoyproxy.io",
        &["v1alpha1"],
        &[
            ("Backend", "backends", Namespaced, No),
            ("BackendTrafficPolicy", "backendtrafficpolicies", Namespaced, Both),
            ("ClientTrafficPolicy", "clienttrafficpolicies", Namespaced, Both),
            ("EnvoyExtensionPolicy", "envoyextensionpolicies", Namespaced, Both),
            ("EnvoyPatchPolicy", "envoypatchpolicies", Namespaced, Ref),
            ("EnvoyProxy", "envoyproxies", Namespaced, No),
            ("HTTPRouteFilter", "httproutefilters", Namespaced, No),
            ("SecurityPolicy", "securitypolicies", Namespaced, Both),
        ],
    ),
    // NGINX Gateway Fabric.
    (
        "gateway.nginx.org",
        &["v1alpha1"],
        &[
            ("AuthenticationFilter", "authenticationfilters", Namespaced, No),
            ("ClientSettingsPolicy", "clientsettingspolicies", Namespaced, Ref),
            ("NginxGateway", "nginxgateways", Namespaced, No),
            ("ProxySettingsPolicy", "proxysettingspolicies", Namespaced, Refs),
            ("RateLimitPolicy", "ratelimitpolicies", Namespaced, Refs),
            ("SnippetsFilter", "snippetsfilters", Namespaced, No),
            ("SnippetsPolicy", "snippetspolicies", Namespaced, Refs),
            (
                "UpstreamSettingsPolicy",
                "upstreamsettingspolicies",
                Namespaced,
                Refs,
            ),
            ("WAFPolicy", "wafpolicies", Namespaced, Refs),
        ],
    ),
    (
        "gateway.nginx.org",
        &["v1alpha2"],
        &[
            ("NginxProxy", "nginxproxies", Namespaced, No),
            ("ObservabilityPolicy", "observabilitypolicies", Namespaced, Refs),
        ],
    ),
    // GKE.
    (
        "networking.gke.io",
        &["v1"],
        &[
            ("GCPAuthzPolicy", "gcpauthzpolicies", Namespaced, Refs),
            ("GCPBackendPolicy", "gcpbackendpolicies", Namespaced, Ref),
            ("GCPClientTLSPolicy", "gcpclienttlspolicies", Namespaced, Refs),
            ("GCPGatewayPolicy", "gcpgatewaypolicies", Namespaced, Ref),
            ("GCPRoutingExtension", "gcproutingextensions", Namespaced, Refs),
            ("GCPServerTLSPolicy", "gcpservertlspolicies", Namespaced, Refs),
            ("GCPSessionAffinityFilter", "gcpsessionaffinityfilters", Namespaced, No),
            (
                "GCPSessionAffinityPolicy",
                "gcpsessionaffinitypolicies",
                Namespaced,
                Ref,
            ),
            (
                "GCPTrafficDistributionPolicy",
                "gcptrafficdistributionpolicies",
                Namespaced,
                Refs,
            ),
            ("GCPTrafficExtension", "gcptrafficextensions", Namespaced, Refs),
            ("HealthCheckPolicy", "healthcheckpolicies", Namespaced, Ref),
        ],
    ),
    // kgateway.
    (
        "gateway.kgateway.dev",
        &["v1alpha1"],
        &[
            ("Backend", "backends", Namespaced, No),
            ("BackendConfigPolicy", "backendconfigpolicies", Namespaced, Refs),
            ("DirectResponse", "directresponses", Namespaced, No),
            ("GatewayExtension", "gatewayextensions", Namespaced, No),
            ("GatewayParameters", "gatewayparameters", Namespaced, No),
            ("HTTPListenerPolicy", "httplistenerpolicies", Namespaced, Refs),
            ("ListenerPolicy", "listenerpolicies", Namespaced, Refs),
            ("TrafficPolicy", "trafficpolicies", Namespaced, Refs),
        ],
    ),
    // Istio.
    (
        "security.istio.io",
        &["v1", "v1beta1"],
        &[
            ("AuthorizationPolicy", "authorizationpolicies", Namespaced, Both),
            ("PeerAuthentication", "peerauthentications", Namespaced, No),
            (
                "RequestAuthentication",
                "requestauthentications",
                Namespaced,
                Both,
            ),
        ],
    ),
    (
        "telemetry.istio.io",
        &["v1", "v1alpha1"],
        &[("Telemetry", "telemetries", Namespaced, Both)],
    ),
    (
        "extensions.istio.io",
        &["v1alpha1"],
        &[
            ("TrafficExtension", "trafficextensions", Namespaced, Refs),
            ("WasmPlugin", "wasmplugins", Namespaced, Both),
        ],
    ),
    (
        "networking.istio.io",
        &["v1", "v1beta1", "v1alpha3"],
        &[
            ("DestinationRule", "destinationrules", Namespaced, No),
            ("Gateway", "gateways", Namespaced, No),
            ("ServiceEntry", "serviceentries", Namespaced, No),
            ("Sidecar", "sidecars", Namespaced, No),
            ("VirtualService", "virtualservices", Namespaced, No),
            ("WorkloadEntry", "workloadentries", Namespaced, No),
            ("WorkloadGroup", "workloadgroups", Namespaced, No),
        ],
    ),
    (
        "networking.istio.io",
        &["v1alpha3"],
        &[("EnvoyFilter", "envoyfilters", Namespaced, Refs)],
    ),
    (
        "networking.istio.io",
        &["v1beta1"],
        &[("ProxyConfig", "proxyconfigs", Namespaced, No)],
    ),
    // cert-manager.
    (
        "cert-manager.io",
        &["v1"],
        &[
            ("Certificate", "certificates", Namespaced, No),
            ("CertificateRequest", "certificaterequests", Namespaced, No),
            ("ClusterIssuer", "clusterissuers", Cluster, No),
            ("Issuer", "issuers", Namespaced, No),
        ],
    ),
    // Secrets from elsewhere.
    (
        "external-secrets.io",
        &["v1"],
        &[("ExternalSecret", "externalsecrets", Namespaced, No)],
    ),
    (
        "bitnami.com",
        &["v1alpha1"],
        &[("SealedSecret", "sealedsecrets", Namespaced, No)],
    ),
    // What else stands in a GitOps repository.
    (
        "argoproj.io",
        &["v1alpha1"],
        &[
            ("AppProject", "appprojects", Namespaced, No),
            ("Application", "applications", Namespaced, No),
            ("ApplicationSet", "applicationsets", Namespaced, No),
        ],
    ),
    (
        "multicluster.x-k8s.io",
        &["v1alpha1"],
        &[
            ("ClusterProfile", "clusterprofiles", Namespaced, No),
            ("PlacementDecision", "placementdecisions", Namespaced, No),
            ("ServiceExport", "serviceexports", Namespaced, No),
            ("ServiceImport", "serviceimports", Namespaced, No),
        ],
    ),
];

/// Every row of the table.
pub(super) fn kinds() -> impl Iterator<Item = KindInfo> {
    GROUPS.iter().flat_map(|(group, versions, rows)| {
        rows.iter().map(|(kind, plural, scope, targets)| KindInfo {
            group: (*group).into(),
            kind: (*kind).into(),
            plural: (*plural).into(),
            scope: *scope,
            versions: versions.iter().map(|version| (*version).into()).collect(),
            targets: TargetFields {
                target_ref: matches!(targets, Ref | Both),
                target_refs: matches!(targets, Refs | Both),
            },
            parent_refs: is_route(group, kind),
            policy_label: None,
            source: KindSource::BuiltIn,
        })
    })
}
