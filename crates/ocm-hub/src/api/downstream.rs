//! Downstream objects: their namespaces on a spoke, and the marks that tell synced objects from the spoke's own.

use kube_json::Value;

use super::ocm_work::is_owned_by_work;
use crate::object::Object;

/// In front of a namespace of the hub, this is the downstream one (docs/systems/mgc.md#downstream-gateway).
pub const NAMESPACE_PREFIX: &str = "kuadrant-";

/// Marks a downstream Gateway.
pub const MANAGED_LABEL: &str = "kuadrant.io/managed";
/// Marks a downstream policy (the RFC's annotation).
pub const POLICY_SYNCED: &str = "kuadrant.io/policy-synced";

/// Whether a policy or a route was synced: exported from a cluster, it is not one of the cluster's own. The RFC's
/// annotation says so of a policy; nothing of the kind is agreed for routes, but the work agent owns what it applies.
pub fn is_synced_copy(object: &Object) -> bool {
    is_synced_policy(&object.value)
        || (object.root().get("spec").get("parentRefs").is_present() && is_owned_by_work(object))
}

/// Whether a manifest is a synced policy.
pub fn is_synced_policy(manifest: &Value) -> bool {
    let annotations = manifest.pointer("/metadata/annotations");
    annotations.and_then(|annotations| annotations.get(POLICY_SYNCED)?.as_str()) == Some("true")
}

/// Whether an object was synced: a policy, a route or a Gateway.
pub fn is_downstream(object: &Object) -> bool {
    is_synced_copy(object) || object.label(MANAGED_LABEL) == Some("true")
}

/// The namespace on the spokes of what lives in `namespace` on the hub, or `None` when that is too long.
pub fn downstream_namespace(namespace: &str) -> Option<String> {
    let name = [NAMESPACE_PREFIX, namespace].concat();
    (name.len() <= apimachinery::names::LABEL_MAX).then_some(name)
}

/// The name on the spokes of something from `namespace` that ends up in the downstream namespace of `into`.
///
/// Objects of many namespaces meet there, and MGC let one overwrite another (docs/systems/mgc.md#tls-secrets). A
/// namespace has no dot, so the first dot ends it, and two objects of one kind never share a name.
pub fn downstream_name(namespace: &str, name: &str, into: &str) -> String {
    if namespace == into {
        name.to_owned()
    } else {
        [namespace, ".", name].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_that_would_pass_63_characters_has_no_downstream_name() {
        assert_eq!(
            downstream_namespace(&"n".repeat(54)).map(|name| name.len()),
            Some(63)
        );
        assert_eq!(downstream_namespace(&"n".repeat(55)), None);
    }

    #[test]
    fn only_what_comes_from_another_namespace_is_renamed() {
        assert_eq!(downstream_name("infra", "tls", "infra"), "tls");
        assert_eq!(downstream_name("certs", "tls", "infra"), "certs.tls");
    }
}
