//! Objects besides Gateways, routes, and policies that go to the spokes: those that `resourcesToSync` chooses.
//!
//! Owns: which Gateways each goes with, and its namespace there. Flows in: our Gateways with their parameters, the
//! routes that are synced, the hub's objects, ReferenceGrants. Flows out: [`SyncedObject`]s. Must not know: what refers
//! to them.
//!
//! An object goes wherever a Gateway, a ListenerSet, or a route of its namespace goes, as a Secret of a listener does.
//! Next to the copy of a Gateway, it is in the downstream namespace; next to a ListenerSet or a route, in its own. It
//! also goes with a Gateway of another namespace if a ReferenceGrant lets that Gateway refer to it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::routes::SyncedRoutes;
use super::synced_object::{SyncedObject, SyncedTarget};
use crate::api::gateway::GROUP;
use crate::api::params::{Role, SyncedResource};
use crate::hub::{Grants, Objects, OurGatewayId, Ours};
use crate::object::Object;

/// The chosen objects that go anywhere, by kind, namespace and name.
#[must_use]
pub fn chosen_objects<'a>(
    objects: &'a Objects,
    ours: &'a Ours<'a>,
    routes: &SyncedRoutes<'a>,
    grants: &Grants<'_>,
) -> Vec<SyncedObject<'a>> {
    let kinds: BTreeSet<(&str, &str)> = ours
        .gateways
        .rows()
        .iter()
        .flat_map(|ours| &ours.params.objects_to_sync)
        .map(|resource| (resource.group.as_str(), resource.kind.as_str()))
        .collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    // ListenerSets and routes stay in their own namespaces.
    let mut of_routes: BTreeMap<&str, BTreeSet<OurGatewayId>> = BTreeMap::new();
    for (_, route) in routes.iter() {
        let namespace = route.object.namespace_or_empty();
        of_routes.entry(namespace).or_default().extend(route.gateways());
    }
    for set in routes.sets().iter() {
        let namespace = set.object.namespace_or_empty();
        of_routes.entry(namespace).or_default().insert(set.gateway);
    }
    let mut found = Vec::new();
    for object in kinds
        .into_iter()
        .flat_map(|(group, kind)| objects.of_kind(group, kind))
    {
        let namespace = object.namespace_or_empty();
        let asks = |gateway: &OurGatewayId| ours.gateways.get(*gateway).params.synced_object(object);
        let to = (
            object.api_version.group.as_str(),
            object.kind.as_str(),
            object.name.as_str(),
        );
        let with_gateway = ours.gateways.ids().filter(|gateway| {
            let own = ours.gateways.get(*gateway).gateway.object.namespace_or_empty();
            grants.permit((GROUP, "Gateway", own), namespace, to)
        });
        let with_gateway = with_gateway.filter(|gateway| asks(gateway).is_some());
        let mut targets: Vec<SyncedTarget<'a>> =
            with_gateway.map(|gateway| target(vec![gateway], None)).collect();
        let beside_routes = of_routes.get(namespace).into_iter().flatten().copied();
        let beside_routes: Vec<OurGatewayId> =
            beside_routes.filter(|gateway| asks(gateway).is_some()).collect();
        if !beside_routes.is_empty() {
            targets.push(target(beside_routes, Some(namespace)));
        }
        let asked = targets
            .first()
            .and_then(|target| target.gateways.first())
            .and_then(asks);
        found.extend(asked.map(|resource| synced(object, resource, targets)));
    }
    found
}

fn target(gateways: Vec<OurGatewayId>, route_namespace: Option<&str>) -> SyncedTarget<'_> {
    SyncedTarget {
        gateways,
        pointer: String::new(),
        route_namespace,
        displaced: Vec::new(),
        withheld_from: BTreeSet::new(),
        instead: BTreeMap::new(),
    }
}

fn synced<'a>(
    object: &'a Object,
    resource: &'a SyncedResource,
    targets: Vec<SyncedTarget<'a>>,
) -> SyncedObject<'a> {
    SyncedObject {
        object,
        value: Cow::Borrowed(&object.value),
        role: Role::Object,
        sources: vec![object],
        policies: Vec::new(),
        settings: BTreeMap::new(),
        resource,
        targets,
    }
}
