//! Predicted statuses of policies, as their controllers would write them.

use std::collections::BTreeSet;

use super::attachment::Attachments;
use super::condition::{AncestorRef, AncestorStatus, MAX_ANCESTORS, controller_name};
use super::model::{Declared, PolicyId, Rejection, Target};
use super::products::{self, AttachedPolicy};
use super::profile::StatusShape;
use crate::api::condition::Condition;
use crate::topology::{GatewayId, Node};

/// The message about policies that are accepted, as Envoy Gateway has it.
pub(super) const ACCEPTED: &str = "Policy has been accepted.";

/// Why a controller refuses a policy on a node, though the CRD accepts it; of listeners that are in its way, at most so
/// many are named.
pub(super) fn rejection(policy: AttachedPolicy<'_, '_>, most: usize) -> Option<Rejection> {
    let rejection = products::all().find_map(|product| product.rejection(policy, most));
    rejection.or_else(|| {
        let (attachments, id, node) = policy;
        let wrong = attachments.wrong_settings.get(&id);
        wrong.filter(|_| attachments.refuses(id, node, None)).cloned()
    })
}

/// `status.ancestors` of a policy; none for kinds with flat conditions. `gateways` are the
/// hub's, on whose paths it is; `effect` is its fate there.
pub fn ancestors(
    attachments: &Attachments<'_>,
    id: PolicyId,
    gateways: &BTreeSet<GatewayId>,
    effect: impl Fn(GatewayId) -> Option<Condition>,
) -> Vec<AncestorStatus> {
    let shape = attachments.profile(id).status;
    if !shape.lists_ancestors() {
        return Vec::new();
    }
    let mut of_products =
        products::all().filter_map(|product| product.ancestors(attachments, id, gateways, &effect));
    if let Some(ancestors) = of_products.next() {
        return ancestors;
    }
    let mut entries = Vec::new();
    for gateway in gateways {
        let accepted = accepted(attachments, id, Some(*gateway));
        let effect = accepted.is_true().then(|| effect(*gateway)).flatten();
        let conditions: Vec<Condition> = std::iter::once(accepted).chain(effect).collect();
        // Envoy Gateway reports BackendTLSPolicies per parent of the routes; others per Gateway
        // (docs/systems/envoy-gateway.md#status).
        let ancestors =
            products::all().flat_map(|product| product.parents_of_backends(attachments, id, *gateway));
        let mut ancestors: Vec<AncestorRef> = ancestors.collect();
        if ancestors.is_empty() {
            ancestors.push(AncestorRef::new(
                &attachments.topology,
                Node::Gateway(*gateway),
                None,
            ));
        }
        let controller_name = controller_name(attachments, *gateway);
        entries.extend(ancestors.into_iter().map(|ancestor_ref| AncestorStatus {
            ancestor_ref,
            controller_name: controller_name.clone(),
            conditions: conditions.clone(),
        }));
    }
    entries.truncate(MAX_ANCESTORS);
    entries
}

/// Accepted: True when one target is; else why the first is not (docs/systems/kuadrant.md#accepted). With a
/// Gateway, only the targets that lead there count.
pub fn accepted(attachments: &Attachments<'_>, id: PolicyId, gateway: Option<GatewayId>) -> Condition {
    let policy = attachments.policy(id);
    let kind = policy.object.kind.as_str();
    let shape = attachments.profile(id).status;
    let refused =
        |reason: &str, message: String| Condition::new(shape.acceptance(), "False", reason, message);
    if let Some(why) = policy.invalid.as_ref().or(policy.inadmissible.as_ref()) {
        // The message of a finding, without its help.
        let name = format!("{}: ", policy.object.identity());
        let why = why.strip_prefix(&name).unwrap_or(why);
        return refused("Invalid", format!("{kind} is invalid: {why}"));
    }
    let leads_there = |declared: &&Declared| {
        let wanted = gateway.zip(declared.node());
        wanted.is_none_or(|(gateway, node)| attachments.topology.gateways_of(node).contains(&gateway))
    };
    let problem = |declared: &Declared| match &declared.target {
        Target::Attached(node) => {
            let (node, mut products) = (*node, products::all());
            let attached = (attachments, id, node);
            if let Some(by) = attachments.conflicted_by(id, node) {
                let of_product = products.find_map(|product| product.conflicted(attached));
                let message = of_product.unwrap_or_else(|| match shape {
                    // The words of NGINX Gateway Fabric, which name no other policy
                    // (docs/systems/other-policies.md#nginx-gateway-fabric).
                    StatusShape::Accepted => format!("Conflicts with another {kind}"),
                    _ => {
                        let by = &attachments.policy(by).rank.key;
                        format!("{kind} is conflicted by {by}: conflicting policy")
                    }
                });
                return Some(refused("Conflicted", message));
            }
            let why = rejection(attached, usize::MAX).map(|why| why.message);
            let why = why.or_else(|| products.find_map(|product| product.refused_merges(attached, gateway)));
            why.map(|why| refused("Invalid", why))
        }
        // That the input lacks a virtual kind is no error (docs/systems/gep-713.md#virtual-kinds).
        Target::Virtual | Target::Unresolved => None,
        Target::NotFound => {
            let message = format!("{kind} target {} was not found", declared.name);
            Some(refused("TargetNotFound", message))
        }
        Target::NotPermitted => {
            let name = &declared.name;
            let message = format!("{kind} target is invalid: no ReferenceGrant permits {name}");
            Some(refused("Invalid", message))
        }
        Target::NotAllowed(why) => Some(refused("Invalid", format!("{kind} target is invalid: {why}"))),
    };
    let targets = policy.targets.iter().filter(leads_there);
    // One target without a problem is enough.
    let problems: Option<Vec<Condition>> = targets.map(problem).collect();
    let first = problems.and_then(|problems| problems.into_iter().next());
    first.unwrap_or_else(|| {
        let (reason, message) = match shape {
            StatusShape::EnvoyGateway => ("Accepted", ACCEPTED.to_owned()),
            StatusShape::Kgateway => ("Valid", "Policy accepted".to_owned()),
            StatusShape::Attached | StatusShape::AttachedToAncestors => {
                ("Attached", format!("{kind} has been accepted"))
            }
            _ => ("Accepted", format!("{kind} has been accepted")),
        };
        Condition::new(shape.acceptance(), "True", reason, message)
    })
}
