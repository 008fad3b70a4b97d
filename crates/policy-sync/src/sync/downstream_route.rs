//! A route or ListenerSet as it is on a cluster, where its Gateways are in their downstream namespaces.

use kube_json::{Value, json};

use super::gateway::PlacedGateway;
use super::metadata::shipped;
use crate::api::downstream::downstream_namespace;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::route::Route;
use crate::hub::{OurGatewayId, Table};
use crate::object::Object;
use crate::topology::{GatewayId, Topology};

/// The route or ListenerSet as it is on the spoke: in its own namespace, with the Gateways of this copy as its parents.
/// Parents that are no Gateways (a Service, for a mesh; another route) mean the same there and stay.
///
/// `parents` are the pointers of its references to Gateways that are there.
pub(super) fn downstream_route(
    content: &Value,
    (name, namespace): (&str, &str),
    parents: &[(&str, OurGatewayId)],
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> Value {
    let mut route = shipped(content, name, namespace);
    move_parents(&mut route, parents, gateways);
    route
}

/// The object of the hub as it is on a spoke to which another tool delivers it, in the same namespace.
pub(super) fn assumed_route(
    object: &Object,
    parents: &[(&str, OurGatewayId)],
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> Object {
    let place = (object.name.as_str(), object.namespace_or_empty());
    Object {
        value: downstream_route(&object.value, place, parents, gateways),
        ..object.clone_without_value()
    }
}

/// Pointers of a route's references to our Gateways and their ListenerSets, each with its Gateway.
pub(super) fn parents_of_ours(
    topology: &Topology<'_>,
    route: &Route<'_>,
    our_gateway: impl Fn(GatewayId) -> Option<OurGatewayId>,
) -> Vec<(String, OurGatewayId)> {
    let own = route.object.namespace_or_empty();
    let parents = topology.parents_of(route);
    let ours = parents.iter().filter_map(|parent| {
        let (gateway, _) = topology.parent(own, parent).ok()?;
        Some((parent.pointer(), our_gateway(gateway)?))
    });
    ours.collect()
}

/// Makes the references to Gateways those of the spoke.
fn move_parents(
    route: &mut Value,
    parents: &[(&str, OurGatewayId)],
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) {
    let downstream = |is_meant: &dyn Fn(&str) -> bool| {
        let (_, gateway) = parents.iter().find(|(parent, _)| is_meant(parent))?;
        let gateway = gateways.get(*gateway).gateway.object;
        Some(downstream_namespace(gateway.namespace_or_empty()))
    };
    let spec = route.get_mut("spec").and_then(Value::as_object_mut);
    let Some(spec) = spec else { return };
    // Only a ListenerSet has it.
    if let Some(reference) = spec.get_mut("parentRef").and_then(Value::as_object_mut)
        && let Some(Some(namespace)) = downstream(&|parent| parent == "/spec/parentRef")
    {
        reference.insert("namespace", json!(namespace));
    }
    let references = spec.get_mut("parentRefs").and_then(Value::as_array_mut);
    let Some(references) = references else { return };
    // A Gateway that is not on this cluster is no parent there, lest one of its name that somebody made there takes the
    // route.
    let mut index = 0_usize;
    references.retain_mut(|reference| {
        let at = index;
        index = index.saturating_add(1);
        let text = |name: &str| reference.get(name).and_then(Value::as_str);
        let owner = (text("group").unwrap_or(GROUP), text("kind").unwrap_or("Gateway"));
        let is_set = is_listener_set(owner.0, owner.1);
        if owner != (GROUP, "Gateway") && !is_set {
            return true;
        }
        let is_meant = |parent: &str| {
            let position = parent.strip_prefix("/spec/parentRefs/");
            position.and_then(|position| position.parse().ok()) == Some(at)
        };
        let Some(namespace) = downstream(&is_meant) else {
            return false;
        };
        // A ListenerSet stays in its own namespace.
        if let (Some(reference), Some(namespace), false) = (reference.as_object_mut(), namespace, is_set) {
            reference.insert("namespace", json!(namespace));
        }
        true
    });
}
