//! Which of our Gateways are affected by the objects that live on a cluster.
//!
//! Owns: telling them from the others, which have the same effective policies there as on clusters without local
//! objects. Flows in: the objects of a cluster, the hub's routes. Flows out: Gateways. Must not know: how the local
//! objects affect them.

use std::collections::BTreeSet;

use crate::api::downstream::{NAMESPACE_PREFIX, is_synced_copy};
use crate::api::gateway::{GROUP, X_GROUP};
use crate::api::policy::{target_refs, target_selectors};
use crate::api::route::Route;
use crate::diagnostic::Findings;
use crate::hub::{Objects, OurGatewayId, Ours};
use crate::object::Object;
use crate::policy::Attachments;

/// Core kinds, and kinds of Gateway API, that say something about more than one Gateway.
const TOUCH_ALL: [(&str, &str); 7] = [
    ("", "Namespace"),
    ("", "Service"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    (GROUP, "GatewayClass"),
    (GROUP, "ListenerSet"),
    (X_GROUP, "XListenerSet"),
    (GROUP, "ReferenceGrant"),
];

/// Groups whose other kinds say nothing about traffic. Of any other group an object without a target may be a policy on
/// its whole namespace.
const SAY_NOTHING: [&str; 3] = ["", "apps", "batch"];

/// The Gateways that `objects` touch; `None`: it may be any of them. Erring on that side costs time alone.
/// `by_other_targets`: whether a synced policy finds routes and Gateways otherwise than by their names.
pub(super) fn touched(
    objects: &Objects,
    attachments: &Attachments<'_>,
    ours: &Ours<'_>,
    by_other_targets: bool,
) -> Option<BTreeSet<OurGatewayId>> {
    let mut found = BTreeSet::new();
    for object in objects.iter().filter(|object| !is_synced_copy(object)) {
        let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
        let is_found = by_other_targets && is_gateway_or_route(attachments, group, kind);
        if is_found || TOUCH_ALL.contains(&(group, kind)) {
            return None;
        }
        let topology = &attachments.topology;
        if topology.is_route(group, kind) {
            let (route, _) = Route::read(object, &mut Findings::new())?;
            // Any route may hand requests on to one without parents.
            if route.parents.is_empty() {
                return None;
            }
            for parent in &route.parents {
                let namespace = parent.namespace.unwrap_or(object.namespace_or_empty());
                match (parent.group, parent.kind) {
                    (GROUP, "Gateway") => found.extend(downstream(ours, namespace, parent.name)),
                    _ => return None,
                }
            }
            // It is in the place of a route of the hub.
            found.extend(behind(
                attachments,
                ours,
                (group, kind),
                object.namespace_or_empty(),
                &object.name,
            ));
        } else if targets(object) || !SAY_NOTHING.contains(&group) && (group, kind) != (GROUP, "Gateway") {
            let mut said = Findings::new();
            let references = target_refs(object, &mut said);
            if references.is_empty() || !target_selectors(object, &mut said).is_empty() {
                return None;
            }
            for reference in references {
                let namespace = reference.namespace.unwrap_or(object.namespace_or_empty());
                let (group, kind) = (reference.group, reference.kind);
                if (group, kind) == (GROUP, "Gateway") {
                    let known = downstream(ours, namespace, reference.name);
                    // It may be the waypoint of a Service that others of ours lead to.
                    if known.is_none() && object.api_version.group.ends_with("istio.io") {
                        return None;
                    }
                    found.extend(known);
                } else if topology.is_route(group, kind) {
                    found.extend(behind(
                        attachments,
                        ours,
                        (group, kind),
                        namespace,
                        reference.name,
                    ));
                } else {
                    return None;
                }
            }
        }
    }
    Some(found)
}

/// Whether a kind is Gateway, or one of routes.
pub(super) fn is_gateway_or_route(attachments: &Attachments<'_>, group: &str, kind: &str) -> bool {
    (group, kind) == (GROUP, "Gateway") || attachments.topology.is_route(group, kind)
}

fn targets(object: &Object) -> bool {
    let spec = object.root().get("spec");
    ["targetRef", "targetRefs", "targetSelectors"]
        .iter()
        .any(|field| spec.get(field).is_present())
}

/// The Gateway of ours that is there under a name.
fn downstream(ours: &Ours<'_>, namespace: &str, name: &str) -> Option<OurGatewayId> {
    ours.find(namespace.strip_prefix(NAMESPACE_PREFIX)?, name)
}

/// The Gateways of ours that lead to a route of the hub, or that it names: it may be attached to them there.
fn behind(
    attachments: &Attachments<'_>,
    ours: &Ours<'_>,
    kind: (&str, &str),
    namespace: &str,
    name: &str,
) -> Vec<OurGatewayId> {
    let topology = &attachments.topology;
    let Some(route) = topology.find_route(kind, namespace, name) else {
        return Vec::new();
    };
    let node = topology.routes.get(route);
    let attached = node.gateways.iter().filter_map(|gateway| {
        let object = topology.gateways.get(*gateway).object;
        ours.find(object.namespace_or_empty(), &object.name)
    });
    let parents = node.route.parents.iter();
    let named = parents.filter_map(|parent| {
        let namespace = parent.namespace.unwrap_or(node.object.namespace_or_empty());
        ours.find(namespace, parent.name)
    });
    attached.chain(named).collect()
}
