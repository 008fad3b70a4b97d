//! The short names by which people call kinds on a command line.
//!
//! A CustomResourceDefinition of the input states those of its kind. The table has those of the kinds that a hub usually
//! has without their definitions, from the projects' CRDs and from `kubectl api-resources`.

use super::index::Hub;
use crate::object::Object;

/// Group, kind, short names.
#[rustfmt::skip] // one row a line
const SHORT_NAMES: &[(&str, &str, &[&str])] = &[
    ("", "ConfigMap", &["cm"]),
    ("", "Namespace", &["ns"]),
    ("", "Service", &["svc"]),
    ("apiextensions.k8s.io", "CustomResourceDefinition", &["crd", "crds"]),
    ("cluster.open-cluster-management.io", "ManagedCluster", &["mcl", "mcls"]),
    ("cluster.open-cluster-management.io", "ManagedClusterSet", &["mclset", "mclsets"]),
    ("cluster.open-cluster-management.io", "ManagedClusterSetBinding", &["mclsetbinding", "mclsetbindings"]),
    ("gateway.envoyproxy.io", "BackendTrafficPolicy", &["btp"]),
    ("gateway.envoyproxy.io", "ClientTrafficPolicy", &["ctp"]),
    ("gateway.envoyproxy.io", "EnvoyExtensionPolicy", &["eep"]),
    ("gateway.envoyproxy.io", "EnvoyPatchPolicy", &["epp"]),
    ("gateway.envoyproxy.io", "EnvoyProxy", &["eproxy"]),
    ("gateway.envoyproxy.io", "SecurityPolicy", &["sp"]),
    ("gateway.networking.k8s.io", "BackendTLSPolicy", &["btlspolicy"]),
    ("gateway.networking.k8s.io", "Gateway", &["gtw", "gw"]),
    ("gateway.networking.k8s.io", "GatewayClass", &["gc"]),
    ("gateway.networking.k8s.io", "GRPCRoute", &["gr"]),
    ("gateway.networking.k8s.io", "HTTPRoute", &["hr"]),
    ("gateway.networking.k8s.io", "ListenerSet", &["lset"]),
    ("gateway.networking.k8s.io", "ReferenceGrant", &["refgrant"]),
    ("gateway.networking.x-k8s.io", "XListenerSet", &["lset"]),
    ("gateway.nginx.org", "ClientSettingsPolicy", &["cspolicy"]),
    ("gateway.nginx.org", "ProxySettingsPolicy", &["pspolicy"]),
    ("gateway.nginx.org", "RateLimitPolicy", &["rlpolicy"]),
    ("gateway.nginx.org", "UpstreamSettingsPolicy", &["uspolicy"]),
    ("kuadrant.io", "RateLimitPolicy", &["rlp"]),
    ("security.istio.io", "AuthorizationPolicy", &["ap"]),
    ("security.istio.io", "PeerAuthentication", &["pa"]),
    ("security.istio.io", "RequestAuthentication", &["ra"]),
];

impl Hub {
    /// Every spelling of the kind of an object: the kind, its plural, and either with its group, in lower case.
    pub fn spellings_of_kind(&self, object: &Object) -> Vec<String> {
        let group = &object.api_version.group;
        let plural = self.kinds.kind(group, &object.kind);
        let plural = plural.map(|kind| kind.plural.to_ascii_lowercase());
        let names = [Some(object.kind.as_str().to_ascii_lowercase()), plural];
        let with_group = |name: String| [format!("{name}.{}", group.to_ascii_lowercase()), name];
        names.into_iter().flatten().flat_map(with_group).collect()
    }

    /// Whether an object is of a kind that is spelled as the kind, its plural, or either with its group, as one of its
    /// short names, or as what it is: a `route` or a `policy`. Case does not matter.
    pub fn is_of_kind(&self, object: &Object, wanted: &str) -> bool {
        let wanted = wanted.to_ascii_lowercase();
        let own_group = object.api_version.group.as_str();
        let kind = object.kind.as_str();
        let defined = self.crds.get(&object.group_kind());
        let defined = defined.into_iter().flat_map(|crd| &crd.short_names);
        let rows = SHORT_NAMES.iter();
        let rows = rows.filter(|(group, name, _)| *group == own_group && *name == kind);
        let known = rows.flat_map(|(_, _, names)| names.iter().copied());
        let mut short_names = known.chain(defined.map(String::as_str));
        short_names.any(|name| name == wanted)
            || match wanted.as_str() {
                "route" | "routes" => kind.ends_with("Route"),
                "policy" | "policies" => kind.ends_with("Policy"),
                _ => self.spellings_of_kind(object).contains(&wanted),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::Objects;
    use kube_json::json;

    #[test]
    fn a_kind_is_found_by_every_name_that_people_type() {
        let hub = Hub::of(Objects::new(Vec::new()));
        let object = |api_version: &str, kind: &str| {
            Object::alone(json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}))
        };
        let gateway_api = "gateway.networking.k8s.io/v1";
        for (kind, names) in [
            (
                "HTTPRoute",
                "hr HTTPRoute httproute httproutes route routes httproute.gateway.networking.k8s.io",
            ),
            ("Gateway", "gtw gw gateway gateways Gateways"),
            ("GatewayClass", "gc gatewayclass gatewayclasses"),
        ] {
            for name in names.split(' ') {
                assert!(hub.is_of_kind(&object(gateway_api, kind), name), "{kind} {name}");
            }
        }
        let policy = object("kuadrant.io/v1", "RateLimitPolicy");
        for name in ["rlp", "policy", "policies", "ratelimitpolicies"] {
            assert!(hub.is_of_kind(&policy, name), "{name}");
        }
        for name in ["gw", "gc", "route", "rlpolicy", "ap", "httproute"] {
            assert!(!hub.is_of_kind(&policy, name), "{name}");
        }
    }
}
