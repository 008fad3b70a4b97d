//! What `resourcesToSync` chooses besides routes: Services, ConfigMaps, and the like.
//!
//! An object goes wherever a Gateway, a ListenerSet, or a route of its namespace goes, as a Secret of a listener does, and
//! wherever a shipped route or policy goes that refers to something in its namespace. Next to the copy of a Gateway, it is
//! in the downstream namespace; everywhere else, in its own. It also goes with a Gateway of another namespace if a
//! ReferenceGrant lets that Gateway refer to it.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Text;

use super::reference_fields::needed_by;
use super::routes::{ChosenObject, ChosenObjects, SyncedKinds, SyncedRoutes};
use super::synced_object::{SyncedObject, SyncedTarget, Syncing, asked_for};
use crate::api::gateway::GROUP;
use crate::api::params::{Chosen, Role, SyncedResource};
use crate::diagnostic::{Code, Finding, Findings, NameIndex, Severity};
use crate::hub::{Grants, Objects, OurGatewayId, Ours};
use crate::object::Object;
use crate::policy::Attachments;
use crate::topology::object_key;

impl<'a> SyncedRoutes<'a> {
    /// Matches the routes of the topology, and the chosen ones of `objects`, with our Gateways.
    pub fn new(
        attachments: &Attachments<'a>,
        kinds: SyncedKinds,
        ours: &Ours<'_>,
        (objects, grants): (&'a Objects, &Grants<'_>),
    ) -> Self {
        let mut routes = Self::from_topology(&attachments.topology, kinds);
        routes.chosen = choose(objects, (attachments, &routes), ours, grants);
        routes
    }
}

/// Finds what the parameters of our Gateways choose among `objects`, and where it goes with these routes.
fn choose<'a>(
    objects: &'a Objects,
    (attachments, routes): (&Attachments<'a>, &SyncedRoutes<'a>),
    ours: &Ours<'_>,
    grants: &Grants<'_>,
) -> ChosenObjects<'a> {
    let mut shipped_in: BTreeMap<&'a str, BTreeSet<OurGatewayId>> = BTreeMap::new();
    for (_, route) in routes.iter() {
        let there = shipped_in.entry(route.object.namespace_or_empty()).or_default();
        there.extend(route.parents.iter().map(|parent| parent.gateway));
    }
    for (set, gateway) in &routes.sets {
        let set = attachments.topology.listener_sets.get(*set).object;
        let there = shipped_in.entry(set.namespace_or_empty()).or_default();
        there.insert(*gateway);
    }
    let params = ours.gateways.rows().iter().map(|ours| &ours.params);
    let resources = params.flat_map(|params| &params.objects_to_sync);
    let kinds = resources.map(|resource| (resource.group.as_str(), resource.kind.as_str()));
    let kinds: BTreeSet<(&str, &str)> = kinds.collect();
    let referred_to = if kinds.is_empty() {
        BTreeMap::new()
    } else {
        referred_to(attachments, routes)
    };
    let mut found = BTreeMap::new();
    let of_kinds = kinds.into_iter();
    for object in of_kinds.flat_map(|(group, kind)| objects.of_kind(group, kind)) {
        let namespace = object.namespace_or_empty();
        // Only the class of the Gateway that it would go with decides whether it ships.
        let asks =
            |gateway: &OurGatewayId| ours.gateways.get(*gateway).params.synced_object(object).is_some();
        let (group, kind, _, name) = object_key(object);
        let with_gateways = ours.gateways.ids().filter(|gateway| {
            let own = ours.gateways.get(*gateway).gateway.object.namespace_or_empty();
            grants.permit((GROUP, "Gateway", own), namespace, (group, kind, name))
        });
        let places = [shipped_in.get(namespace), referred_to.get(namespace)];
        let in_place: BTreeSet<OurGatewayId> = places.into_iter().flatten().flatten().copied().collect();
        let chosen = ChosenObject {
            object,
            with_gateways: with_gateways.filter(asks).collect(),
            in_place: in_place.into_iter().filter(asks).collect(),
        };
        if !(chosen.with_gateways.is_empty() && chosen.in_place.is_empty()) {
            found.insert(object_key(object), chosen);
        }
    }
    for chosen in found.values() {
        let there = shipped_in.entry(chosen.object.namespace_or_empty());
        there.or_default().extend(&chosen.in_place);
    }
    ChosenObjects {
        objects: found,
        shipped_in,
    }
}

impl<'a> ChosenObject<'a> {
    pub(super) fn synced(&self, ours: &'a Ours<'_>) -> SyncedObject<'a> {
        let target = |gateway: &OurGatewayId| SyncedTarget::new(vec![*gateway], String::new(), None);
        let mut targets: Vec<SyncedTarget<'a>> = self.with_gateways.iter().map(target).collect();
        if !self.in_place.is_empty() {
            let namespace = Some(self.object.namespace_or_empty());
            targets.push(SyncedTarget::new(self.in_place.clone(), String::new(), namespace));
        }
        let first = targets.first().and_then(|target| target.gateways.first());
        let resource = asked_for(self.object, Role::Object, first.copied(), ours);
        SyncedObject::new(self.object, Role::Object, resource, targets)
    }
}

/// The other namespaces that shipped routes and policies refer to, with the Gateways that bring them.
fn referred_to(
    attachments: &Attachments<'_>,
    routes: &SyncedRoutes<'_>,
) -> BTreeMap<Text, BTreeSet<OurGatewayId>> {
    let mut found: BTreeMap<Text, BTreeSet<OurGatewayId>> = BTreeMap::new();
    let mut add = |object: &Object, gateways: &dyn Fn() -> BTreeSet<OurGatewayId>| {
        for (needed, _) in needed_by(object, object.namespace.as_deref()) {
            let to = needed.crossing(object.namespace_or_empty());
            if let Some(namespace) = to.and_then(|to| to.namespace.clone()) {
                found.entry(namespace).or_default().extend(gateways());
            }
        }
    };
    for (_, route) in routes.iter() {
        add(route.object, &|| route.gateways());
    }
    let policies = attachments.policies.rows().iter();
    for policy in policies.filter(|policy| routes.kinds.any(policy.kind)) {
        add(policy.object, &|| {
            let nodes = policy.nodes().into_iter();
            let gateways = nodes.flat_map(|node| routes.gateways_of(&attachments.topology, node));
            gateways
                .filter(|gateway| routes.kinds.syncs(*gateway, policy.kind))
                .collect()
        });
    }
    found
}

/// A name of an entry that no object has; an error where a near one would be shipped.
fn not_in_the_input(
    known: &NameIndex<'_>,
    resource: &SyncedResource,
    chosen: &Chosen,
    (namespace, name): &(String, String),
) -> Finding {
    let key = format!("{namespace}/{name}");
    let kind = &resource.kind;
    let message = format!("{kind} {key} is chosen by its name, and is not in the input");
    let finding = Finding::new(Code::OBJECT_NOT_SHIPPED, chosen.place.clone(), message).label("chosen here");
    match known.nearest(&key) {
        Some(near) => {
            let help = format!("did you mean `{near}`?");
            finding.severity(Severity::Error).help(help)
        }
        None => finding.help(format!("add the object, or remove `{key}` from `names`")),
    }
}

/// Reports each object that an entry of `resourcesToSync` chooses and that goes nowhere, although Gateways of the class go
/// somewhere, and each name that no object has.
pub fn report_chosen_nowhere(syncing: Syncing<'_>, findings: &mut Findings) {
    let (hub, ours, routes) = (syncing.hub, syncing.ours, syncing.routes);
    for (name, class) in &ours.classes {
        let Ok(params) = &class.params else { continue };
        let is_placed = |gateway: OurGatewayId| {
            ours.gateways.get(gateway).gateway.class_name == *name
                && !syncing.clusters.get(gateway).is_empty()
        };
        // That nothing is placed is reported where it is not.
        if !ours.gateways.ids().any(is_placed) {
            continue;
        }
        for resource in &params.objects_to_sync {
            let Some(chosen) = &resource.chosen else { continue };
            let missing = chosen.names.iter().filter(|(namespace, name)| {
                let (group, kind) = (&resource.group, &resource.kind);
                hub.objects.find(group, kind, Some(namespace), name).is_none()
            });
            let missing: Vec<_> = missing.collect();
            if !missing.is_empty() {
                // What is chosen itself is not meant.
                let others = hub.objects.of_kind(&resource.group, &resource.kind).iter();
                let others = others.filter(|object| !resource.chooses(object));
                let others: Vec<String> = others.map(Object::key).collect();
                let known = NameIndex::new(others.iter().map(String::as_str));
                let missing = missing.into_iter();
                findings.extend(missing.map(|named| not_in_the_input(&known, resource, chosen, named)));
            }
            for object in hub.objects.of_kind(&resource.group, &resource.kind) {
                let goes = routes.chosen.get(object).is_some_and(|chosen| {
                    let mut gateways = chosen.with_gateways.iter().chain(&chosen.in_place);
                    gateways.any(|gateway| is_placed(*gateway))
                });
                if goes || !resource.chooses(object) {
                    continue;
                }
                let message = format!(
                    "{} is chosen, but it goes nowhere: nothing that is shipped is in namespace `{}`, or refers to it",
                    object.identity(),
                    object.namespace_or_empty()
                );
                let help = if chosen.names(object) {
                    let key = object.key();
                    format!("remove `{key}` from `names`, or ship a route that refers to it")
                } else {
                    "remove a label by which it is chosen, or ship a route that refers to it".to_owned()
                };
                findings.push(
                    Finding::new(Code::OBJECT_NOT_SHIPPED, chosen.place.clone(), message)
                        .label("chosen here")
                        .related(object.place("/metadata"), "this object")
                        .help(help),
                );
            }
        }
    }
}
