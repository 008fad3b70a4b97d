//! Predicted statuses of hub objects: what their controllers would write once every work is applied.
//!
//! Owns: the conditions of GatewayClasses and Gateways (docs/systems/mgc.md#gateway-conditions), and who gets
//! which of the statuses that the policy engine predicts (docs/systems/gep-713.md#status).
//! Flows in: a [`Prediction`]. Flows out: [`ObjectStatus`]es.
//! Must not know: how policies are decided, or works.

use std::collections::{BTreeMap, BTreeSet};

use super::policies::PolicyEntry;
use super::status::{ObjectStatus, StatusGroup};
use crate::api::gateway::{GROUP, Gateway};
use crate::api::params::InvalidParameters;
use crate::diagnostic::Findings;
use crate::hub::{Objects, OurClass, OurGatewayId, Ours, Table};
use crate::placing::Clusters;
use crate::policy::{
    Attachments, Condition, EffectivePolicies, PolicyId, Statuses, affected, affecting,
    effective_policy_stanza, extension_kinds,
};
use crate::sync::{LocalEffect, SyncedRoutes};
use crate::topology::Node;

/// What MGC says of a Gateway that is not placed, or not everywhere (docs/systems/mgc.md#gateway-conditions).
pub(super) const UNKNOWN: &str = "current state of the gateway is unknown";

/// Everything that statuses are predicted from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prediction<'p, 'a> {
    /// The hub's objects.
    pub objects: &'p Objects,
    /// What is ours.
    pub ours: &'p Ours<'a>,
    /// The clusters of each Gateway, in the order of [`Ours::gateways`].
    pub clusters: &'p Table<OurGatewayId, Vec<String>>,
    /// Gateways, by the same order, whose placement nobody has heard of.
    pub not_found: &'p BTreeSet<OurGatewayId>,
    /// What is attached where.
    pub attachments: &'p Attachments<'a>,
    /// What holds on each path.
    pub effective: &'p EffectivePolicies,
    /// What the policies' statuses say.
    pub statuses: &'p Statuses,
    /// The clusters of each Gateway by its key.
    pub by_key: &'p Clusters,
    /// What spoke-local policies do to synced ones, by cluster.
    pub effects: &'p BTreeMap<String, Vec<LocalEffect>>,
    /// The routes that go to spokes.
    pub routes: &'p SyncedRoutes<'a>,
}

impl Prediction<'_, '_> {
    /// The statuses: GatewayClasses, Gateways with their listeners, routes with their rules, other targets, policies;
    /// in each group by locator.
    #[must_use]
    pub(crate) fn statuses(&self) -> Vec<ObjectStatus> {
        let mut targets: BTreeMap<(StatusGroup, String), ObjectStatus> = BTreeMap::new();
        let extension_kinds = extension_kinds(self.attachments);
        let classes = self.ours.classes.values().map(|class| {
            let mut status = class_status(class);
            status.extension_kinds.clone_from(&extension_kinds);
            status
        });
        for status in classes.chain(self.gateways()).chain(self.routes()) {
            targets.insert((status.group, status.object.clone()), status);
        }
        self.affect(&mut targets);
        targets.into_values().chain(self.policies()).collect()
    }

    /// Our Gateways, those of a class with unusable parameters included
    /// (docs/systems/mgc.md#gateway-conditions).
    fn gateways(&self) -> Vec<ObjectStatus> {
        let ours = self.ours.gateways.iter();
        let mut statuses: Vec<ObjectStatus> = ours
            .filter_map(|(id, ours)| {
                let class = self.ours.classes.get(ours.gateway.class_name)?;
                Some(gateway_status(
                    &ours.gateway,
                    class,
                    self.clusters.get(id),
                    self.not_found.contains(&id),
                ))
            })
            .collect();
        for object in self.objects.of_kind(GROUP, "Gateway") {
            let class = object.root().get("spec").get("gatewayClassName").str();
            let refused = class
                .and_then(|name| self.ours.classes.get(name))
                .and_then(|class| class.params.as_ref().err());
            if let Some(refused) = refused {
                let mut status = ObjectStatus::new(object.identity().locator(), StatusGroup::Gateway);
                let message = format!("Invalid parameters in gateway class: {refused}");
                status
                    .conditions
                    .push(condition("Programmed", "False", "Pending", message));
                statuses.push(status);
            }
        }
        statuses
    }

    /// The routes that go to spokes. Nobody writes a condition of theirs on the hub.
    fn routes(&self) -> impl Iterator<Item = ObjectStatus> + '_ {
        self.routes.iter().filter_map(|(number, route)| {
            let clusters = self.routes.clusters(self.attachments, self.by_key, number);
            (!clusters.is_empty()).then(|| ObjectStatus {
                shipped_to: clusters.into_iter().map(str::to_owned).collect(),
                ..ObjectStatus::new(route.object.identity().locator(), StatusGroup::Route)
            })
        })
    }

    /// Adds to every target the conditions `<Kind>Affected` and the stanza `effectivePolicy`.
    fn affect(&self, targets: &mut BTreeMap<(StatusGroup, String), ObjectStatus>) {
        let topology = &self.attachments.topology;
        let affecting = affecting(self.attachments, self.effective);
        let nodes: BTreeSet<Node> = affecting.keys().map(|(node, _)| *node).collect();
        let mut groups: BTreeMap<String, StatusGroup> = BTreeMap::new();
        for node in nodes {
            let locator = topology.locator(node);
            let group = self.group(node);
            groups.insert(locator.clone(), group);
            targets
                .entry((group, locator.clone()))
                .or_insert_with(|| ObjectStatus::new(locator, group))
                .effective_policy
                .extend(effective_policy_stanza(self.attachments, &affecting, node));
        }
        for entry in affected(self.attachments, self.effective) {
            let group = groups.get(&entry.target).copied().unwrap_or_default();
            if let Some(status) = targets.get_mut(&(group, entry.target)) {
                status.conditions.push(entry.condition);
            }
        }
    }

    fn group(&self, node: Node) -> StatusGroup {
        match node {
            Node::Class(_) => StatusGroup::GatewayClass,
            Node::Gateway(_) | Node::Listener(..) => StatusGroup::Gateway,
            Node::Route(_) | Node::Rule(..) => StatusGroup::Route,
            Node::Namespace(_) | Node::ListenerSet(_) => StatusGroup::Other,
            // A route can be another route's backend, and is a route all the same.
            Node::Backend(_) | Node::Port(..) => {
                let identity = self.attachments.topology.identity(node);
                let kind = identity.group_kind;
                if self.attachments.topology.is_route(&kind.group, &kind.kind) {
                    StatusGroup::Route
                } else {
                    StatusGroup::Other
                }
            }
        }
    }

    fn policies(&self) -> Vec<ObjectStatus> {
        let mut there: BTreeMap<PolicyId, Vec<(&str, &LocalEffect)>> = BTreeMap::new();
        for (cluster, effects) in self.effects {
            for effect in effects {
                there.entry(effect.policy).or_default().push((cluster, effect));
            }
        }
        let mut statuses: Vec<ObjectStatus> = self
            .statuses
            .iter()
            .map(|(id, status)| {
                let there = there.get(&id).map(Vec::as_slice).unwrap_or_default();
                let entry = PolicyEntry::new(
                    self.attachments,
                    self.effective,
                    (id, status),
                    Some(self.by_key),
                    there,
                );
                ObjectStatus {
                    conditions: entry.conditions,
                    ancestors: entry.ancestors,
                    on_clusters: entry.on_clusters,
                    ..ObjectStatus::new(entry.policy, StatusGroup::Policy)
                }
            })
            .collect();
        statuses.sort_by(|a, b| a.object.cmp(&b.object));
        statuses
    }
}

/// A condition.
pub(super) fn condition(kind: &str, status: &'static str, reason: &str, message: String) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status,
        reason: reason.to_owned(),
        message,
    }
}

/// The condition Accepted of a GatewayClass (docs/systems/mgc.md#gatewayclass-status).
pub(super) fn class_status(class: &OurClass<'_>) -> ObjectStatus {
    let accepted = match &class.params {
        Ok(_) => handled(class),
        Err(failure) => condition(
            InvalidParameters::CONDITION,
            "False",
            InvalidParameters::REASON,
            failure.to_string(),
        ),
    };
    ObjectStatus {
        conditions: vec![accepted],
        ..ObjectStatus::new(class.class.object.identity().locator(), StatusGroup::GatewayClass)
    }
}

/// What MGC says of a class and a Gateway that it takes care of.
pub(super) fn handled(class: &OurClass<'_>) -> Condition {
    let message = InvalidParameters::accepted_message(class.class.controller_name);
    condition("Accepted", "True", "Accepted", message)
}

/// The conditions of a Gateway of ours, as MGC writes them once every work is applied
/// (docs/systems/mgc.md#gateway-conditions).
fn gateway_status(
    gateway: &Gateway<'_>,
    class: &OurClass<'_>,
    clusters: &[String],
    not_found: bool,
) -> ObjectStatus {
    let programmed = if gateway.listeners.is_empty() {
        no_listeners()
    } else if clusters.is_empty() {
        let because = gateway.placement.filter(|_| not_found).map(placement_not_found);
        let message = format!("{UNKNOWN}{}", because.unwrap_or_default());
        condition("Programmed", "Unknown", "Pending", message)
    } else {
        programmed_on(clusters)
    };
    ObjectStatus {
        conditions: vec![handled(class), programmed],
        ..ObjectStatus::new(gateway.object.identity().locator(), StatusGroup::Gateway)
    }
}

/// Programmed, everywhere.
pub(super) fn programmed_on(clusters: &[String]) -> Condition {
    let message = format!("gateway placed on clusters [{}]", clusters.join(" "));
    condition("Programmed", "True", "Programmed", message)
}

/// A Gateway without listeners cannot be placed.
pub(super) fn no_listeners() -> Condition {
    let message = "gateway failed to be placed on all clusters []".to_owned();
    condition("Programmed", "False", "Invalid", message)
}

/// What MGC appends when nothing decides a placement (docs/systems/mgc.md#placing-a-gateway).
fn placement_not_found(name: &str) -> String {
    format!(
        " error: failed to place gateway : no PlacementDecisions found for placement {name} via label selector: \
         map[{label}:{name}] error: PlacementDecision \"{name}\" not found",
        label = crate::object::well_known::PLACEMENT_LABEL
    )
}

/// The Gateways for which `findings` say that nothing decides their placement.
#[must_use]
pub(crate) fn placements_not_found(ours: &Ours<'_>, findings: &Findings) -> BTreeSet<OurGatewayId> {
    let label = crate::object::well_known::PLACEMENT_LABEL_POINTER;
    let places: BTreeSet<_> = findings
        .iter()
        .filter(|finding| finding.code == crate::diagnostic::Code::PLACEMENT_NOT_FOUND)
        .map(|finding| &finding.place)
        .collect();
    let at = |object: &crate::object::Object| object.place(label);
    ours.gateways
        .iter()
        .filter(|(_, ours)| places.contains(&at(ours.gateway.object)))
        .map(|(id, _)| id)
        .collect()
}
