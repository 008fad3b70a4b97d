//! The downstream Gateway in a work.
//!
//! Owns: its manifest, with references to the objects that ship with it. Flows in: the Gateway, its Secrets. Flows out:
//! its manifest, or the finding that there is no valid namespace for it. Must not know: clusters.

use super::condition_rules::Reported;
use super::feedback::gateway_rules;
use super::findings::namespace_too_long;
use super::manifest::{Manifest, ResourceIdentifier};
use super::secrets::{ListenerSecrets, rewrite};
use crate::api::gateway::GROUP;
use crate::diagnostic::Findings;
use crate::sync::{OnSpokes, PlacedGateway, redirected};

/// The Gateway as it is on every spoke that it goes to.
pub(super) fn gateway_manifest(
    placed: &PlacedGateway<'_>,
    secrets: &ListenerSecrets<'_>,
    on_spokes: &OnSpokes<'_>,
    findings: &mut Findings,
) -> Option<Manifest> {
    let Some(object) = placed.downstream() else {
        findings.push(namespace_too_long(placed.gateway.object));
        return None;
    };
    let mut value = object.value;
    rewrite(&mut value, &redirected(placed, on_spokes));
    rewrite(&mut value, &secrets.rewrites);
    Some(Manifest {
        resource: ResourceIdentifier {
            group: GROUP.to_owned(),
            resource: "gateways".to_owned(),
            namespace: object.namespace.unwrap_or_default().into(),
            name: object.name.into(),
        },
        kind: object.kind.into(),
        value,
        feedback: gateway_rules(placed.gateway, placed.params.raw_feedback),
        reported: Reported::Conditions(&["Accepted", "Programmed"]),
        origins: placed.gateway.object.origins(),
    })
}
