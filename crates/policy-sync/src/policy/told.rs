//! Which targets a policy kind may name if its definition does not restrict them: by its controller, or by
//! documentation.
//!
//! Owns: these facts, as one table; all others come from definitions (`api::targeting`). Flows in: nothing. Flows out:
//! the documented targets of a kind. Must not know: definitions, objects.

use crate::api::gateway::GROUP;
use crate::api::targeting::{AllowedTarget, Taken, TargetField};
use apimachinery::GroupKind;

/// The documented targets of some kinds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    group: &'static str,
    kinds: &'static [&'static str],
    targets: &'static [Target],
    by: By,
    /// Where that was read: upstream, as the pages of docs/systems cite it, or a page.
    source: &'static str,
}

/// Group, kind, and whether sections of it may be named, where the definition has them.
type Target = (&'static str, &'static str, bool);

/// The source.
#[derive(Debug, PartialEq, Eq)]
enum By {
    /// The controller refuses all others with this message, with `GROUP` and `KIND` in place of those of the target.
    Controller(&'static str),
    /// Documentation, or the comment of a type. Others are up to the implementation.
    Documentation,
    /// A definition that no release has; it has these fields.
    Unreleased(&'static [TargetField]),
}

const GATEWAY: Target = (GROUP, "Gateway", false);
const SERVICE: Target = ("", "Service", true);
const GKE_IMPORT: Target = ("net.gke.io", "ServiceImport", false);
const POOL: Target = ("inference.networking.k8s.io", "InferencePool", false);
const POOL_OF_ALPHA: Target = ("inference.networking.x-k8s.io", "InferencePool", false);
const GKE: &str = "networking.gke.io";

const GKE_PAGE: &str = "https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources";

#[rustfmt::skip] // one fact a line
const TOLD: &[Told] = &[
    Told {
        group: GROUP, kinds: &["BackendTLSPolicy"],
        targets: &[SERVICE],
        by: By::Documentation, source: "kubernetes-sigs/gateway-api apis/v1/backendtlspolicy_types.go@v1.6.1",
    },
    Told {
        group: "gateway.networking.x-k8s.io", kinds: &["XBackendTrafficPolicy"],
        targets: &[SERVICE, ("multicluster.x-k8s.io", "ServiceImport", false), ("gateway.networking.x-k8s.io", "XBackend", false)],
        by: By::Documentation, source: "kubernetes-sigs/gateway-api apisx/v1alpha1/xbackendtrafficpolicy_types.go@v1.6.1",
    },
    Told {
        group: "gateway.envoyproxy.io", kinds: &["EnvoyPatchPolicy"],
        targets: &[GATEWAY, (GROUP, "GatewayClass", false)],
        by: By::Controller(
            "TargetRef.Group:GROUP TargetRef.Kind:KIND, only TargetRef.Group:gateway.networking.k8s.io and TargetRef.Kind:Gateway is supported",
        ),
        source: "envoyproxy/gateway internal/gatewayapi/envoypatchpolicy.go@v1.9.0",
    },
    Told {
        group: "security.istio.io", kinds: &["AuthorizationPolicy", "RequestAuthentication"],
        targets: ISTIO, by: ISTIOD, source: ISTIO_SOURCE,
    },
    Told { group: "telemetry.istio.io", kinds: &["Telemetry"], targets: ISTIO, by: ISTIOD, source: ISTIO_SOURCE },
    Told {
        group: "extensions.istio.io", kinds: &["TrafficExtension", "WasmPlugin"],
        targets: ISTIO, by: ISTIOD, source: ISTIO_SOURCE,
    },
    Told { group: "networking.istio.io", kinds: &["EnvoyFilter"], targets: ISTIO, by: ISTIOD, source: ISTIO_SOURCE },
    Told {
        group: GKE, kinds: &["GCPGatewayPolicy"],
        targets: &[GATEWAY], by: By::Documentation, source: GKE_PAGE,
    },
    Told {
        group: GKE, kinds: &["GCPTrafficExtension", "GCPRoutingExtension"],
        targets: &[GATEWAY], by: By::Documentation,
        source: "GoogleCloudPlatform/gke-gateway-api apis/networking/v1/gcptrafficextension_types.go@fc40d606a5332f11a8883f85caff66b63c4e88ef",
    },
    Told {
        group: GKE, kinds: &["GCPBackendPolicy"],
        targets: &[SERVICE, GKE_IMPORT, ("net.gke.io", "ServiceExport", false), POOL, POOL_OF_ALPHA],
        by: By::Documentation,
        source: "GoogleCloudPlatform/gke-gateway-api apis/networking/v1/gcpbackendpolicy_types.go@fc40d606a5332f11a8883f85caff66b63c4e88ef",
    },
    Told {
        group: GKE, kinds: &["HealthCheckPolicy"],
        targets: &[SERVICE, GKE_IMPORT, POOL, POOL_OF_ALPHA], by: By::Documentation, source: GKE_PAGE,
    },
    Told {
        group: GKE, kinds: &["GCPSessionAffinityPolicy"],
        targets: &[SERVICE, GKE_IMPORT], by: By::Documentation, source: GKE_PAGE,
    },
    Told {
        group: "gateway.nginx.org", kinds: &["ExternalLoadBalancer"],
        targets: &[GATEWAY], by: By::Unreleased(&[TargetField::TargetRefs]),
        source: "nginx/nginx-gateway-fabric config/crd/bases/gateway.nginx.org_externalloadbalancers.yaml@e55bfe33969f313b210d3497b3ae56b923175d69",
    },
    Told {
        group: "gateway.nginx.org", kinds: &["PayloadProcessor"],
        targets: &[GATEWAY, (GROUP, "HTTPRoute", false)], by: By::Unreleased(&[TargetField::TargetRef]),
        source: "nginx/nginx-gateway-fabric config/crd/bases/gateway.nginx.org_payloadprocessors.yaml@e55bfe33969f313b210d3497b3ae56b923175d69",
    },
];

const ISTIO: &[Target] = &[
    GATEWAY,
    (GROUP, "GatewayClass", false),
    SERVICE,
    ("networking.istio.io", "ServiceEntry", false),
];
/// Its admission webhook.
const ISTIOD: By = By::Controller(
    "targetRef must be to one of Service, ServiceEntry, Gateway, GatewayClass but was GROUP/KIND",
);
const ISTIO_SOURCE: &str = "istio/istio pkg/config/validation/validation.go@1.30.3";

/// The documented targets of a kind.
pub(super) fn told(kind: &GroupKind) -> Option<&'static Told> {
    TOLD.iter()
        .find(|told| told.group == kind.group && told.kinds.contains(&kind.kind.as_str()))
}

impl Told {
    /// The targets; sections only where the definition has any.
    pub(super) fn taken(&self, has_sections: bool) -> Taken {
        let kinds = self.targets.iter().map(|(group, kind, sections)| AllowedTarget {
            group: (*group).to_owned(),
            kind: (*kind).to_owned(),
            sections: *sections && has_sections,
        });
        Taken {
            kinds: kinds.collect(),
            is_restricted: !matches!(self.by, By::Documentation),
        }
    }

    /// The fields that name targets, if no definition has them.
    pub(super) const fn fields(&self) -> &'static [TargetField] {
        match self.by {
            By::Unreleased(fields) => fields,
            By::Controller(_) | By::Documentation => &[],
        }
    }

    /// What is reported where a target is not one of these, and where that is.
    pub(super) fn note(&self, group: &str, kind: &str) -> String {
        let source = self.source;
        match self.by {
            By::Controller(words) => {
                let words = words.replace("GROUP", group).replace("KIND", kind);
                format!("its controller would report: {words} ({source})")
            }
            By::Unreleased(_) => format!(
                "as of {source}, which is not released; add your own CRD to the input to check against it"
            ),
            By::Documentation => {
                let kinds: Vec<&str> = self.targets.iter().map(|(_, kind, _)| *kind).collect();
                format!(
                    "documented targets are: {}; others depend on the controller ({source})",
                    kinds.join(", ")
                )
            }
        }
    }
}
