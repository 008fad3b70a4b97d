//! The downstream Gateway.
//!
//! Owns: what of a Gateway of ours is another on a spoke: its namespace, its class, its certificates.
//! Flows in: the Gateway, its Secrets. Flows out: its manifest, or the finding that it can have no namespace.
//! Must not know: clusters.

use serde_json::{Value, json};

use super::feedback::gateway_paths;
use super::findings::namespace_too_long;
use super::input::PlacedGateway;
use super::manifest::{Manifest, ResourceIdentifier};
use super::metadata::{set_metadata, shipped};
use super::secrets::{GatewaySecrets, rewrite};
use crate::api::downstream::{MANAGED_LABEL, downstream_namespace};
use crate::api::gateway::GROUP;
use crate::diagnostic::Findings;

/// The Gateway as it stands on every spoke that it goes to.
pub(super) fn gateway_manifest(
    placed: &PlacedGateway<'_>,
    secrets: &GatewaySecrets,
    findings: &mut Findings,
) -> Option<Manifest> {
    let object = placed.gateway.object;
    let Some(namespace) = downstream_namespace(object.namespace_or_empty()) else {
        findings.push(namespace_too_long(object));
        return None;
    };
    let mut value = shipped(&object.value, &object.name, &namespace);
    set_metadata(&mut value, "labels", MANAGED_LABEL, "true");
    if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert(
            "gatewayClassName".to_owned(),
            json!(placed.params.downstream_class),
        );
    }
    rewrite(&mut value, &secrets.rewrites);
    Some(Manifest {
        resource: ResourceIdentifier {
            group: GROUP.to_owned(),
            resource: "gateways".to_owned(),
            namespace,
            name: object.name.clone(),
        },
        kind: object.kind.clone(),
        value,
        feedback: gateway_paths(placed.gateway, placed.params.raw_feedback),
        origins: vec![object.origin.clone()],
    })
}
