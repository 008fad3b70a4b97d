//! What the policy stage hands over, as rendering needs it: with the Gateways of ours that it goes with and the feedback
//! that their class asks for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::consignment::Consignment;
use super::routes::{SyncedRoute, SyncedRoutes};
use super::unsynced::Synced;
use crate::api::params::{Params, SyncedResource};
use crate::hub::Ours;
use crate::object::Object;
use crate::policy::{Attachments, Node};

/// One policy or route for the spokes.
#[derive(Debug, Clone)]
pub struct Shipment<'a> {
    /// The object whose name and metadata it carries.
    pub object: &'a Object,
    /// The whole object, before its references and metadata are rewritten.
    pub value: Cow<'a, Value>,
    /// What it is.
    pub cargo: Cargo,
    /// All objects it was made from, the name-giver first.
    pub sources: Vec<&'a Object>,
    /// The resource of the parameters that asks for its kind.
    pub resource: SyncedResource,
    /// What it is attached to.
    pub targets: Vec<ShipmentTarget>,
}

/// What a shipment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cargo {
    /// A route: its targets are its parents.
    Route,
    /// A policy: its targets are its target references.
    Policy,
}

/// One Gateway or listener, or route or rule, that a shipment is attached to.
#[derive(Debug, Clone)]
pub struct ShipmentTarget {
    /// Positions in [`Ours::gateways`] of those that it goes with, sorted; more than one only behind a route.
    pub gateways: Vec<usize>,
    /// Pointer of the reference inside the object.
    pub pointer: String,
    /// Where the copy for this target stands.
    pub home: Home,
    /// Clusters where a spoke-local policy wins.
    pub withheld_from: BTreeSet<String>,
    /// Clusters where a spoke-local policy takes a part: the object that is shipped there instead.
    pub instead: BTreeMap<String, Value>,
}

/// The namespace of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// The downstream namespace of the Gateway.
    Gateway,
    /// A route's own namespace, the same on hub and spokes.
    Route(String),
}

impl<'a> Shipment<'a> {
    /// The shipments of all routes that go to spokes, then of all consignments that go to Gateways of ours or such
    /// routes.
    #[must_use]
    pub fn all(
        consignments: &[Consignment<'a>],
        attachments: &Attachments<'a>,
        (synced, routes): (&Synced, &SyncedRoutes<'a>),
        ours: &Ours<'_>,
    ) -> Vec<Self> {
        let of_routes = routes.iter().filter_map(|(_, route)| Self::of_route(route, ours));
        let of_policies = consignments
            .iter()
            .filter_map(|consignment| Self::of_policy(consignment, attachments, (synced, routes), ours));
        of_routes.chain(of_policies).collect()
    }

    fn of_route(route: &SyncedRoute<'a>, ours: &Ours<'_>) -> Option<Self> {
        let object = route.object;
        let params = params_of(ours, route.parents.first()?.gateway)?;
        let resource = params.synced_route(&object.api_version.group, &object.kind)?;
        let targets = route
            .parents
            .iter()
            .map(|parent| ShipmentTarget {
                gateways: vec![parent.gateway],
                pointer: parent.pointer.clone(),
                home: Home::Route(object.namespace_or_empty().to_owned()),
                withheld_from: BTreeSet::new(),
                instead: BTreeMap::new(),
            })
            .collect();
        Some(Self {
            object,
            value: Cow::Borrowed(&object.value),
            cargo: Cargo::Route,
            sources: vec![object],
            resource: resource.clone(),
            targets,
        })
    }

    fn of_policy(
        consignment: &Consignment<'a>,
        attachments: &Attachments<'a>,
        (synced, routes): (&Synced, &SyncedRoutes<'a>),
        ours: &Ours<'_>,
    ) -> Option<Self> {
        let object = consignment.object;
        let kind = attachments.policy(consignment.policy)?.kind;
        let targets: Vec<ShipmentTarget> = consignment
            .targets
            .iter()
            .filter_map(|consignee| {
                let (gateways, home) = match consignee.node {
                    Node::Route(route) | Node::Rule(route, _) => {
                        let route = routes.get(route)?;
                        let gateways = route.gateways().into_iter();
                        let home = Home::Route(route.object.namespace_or_empty().to_owned());
                        (
                            gateways.filter(|gateway| synced.syncs(*gateway, kind)).collect(),
                            home,
                        )
                    }
                    node => (vec![synced.ours(node)?], Home::Gateway),
                };
                Some(ShipmentTarget {
                    gateways,
                    pointer: consignee.pointer.clone(),
                    home,
                    withheld_from: consignee.withheld_from.clone(),
                    instead: consignee.instead.clone(),
                })
            })
            .collect();
        let gateway = targets.iter().find_map(|target| target.gateways.first())?;
        let params = params_of(ours, *gateway)?;
        let resource = params.policies_to_sync.iter().find(|resource| {
            (resource.group.as_str(), resource.kind.as_str())
                == (object.api_version.group.as_str(), object.kind.as_str())
        })?;
        Some(Self {
            object,
            value: consignment.value.clone(),
            cargo: Cargo::Policy,
            sources: consignment
                .sources
                .iter()
                .filter_map(|source| attachments.policy(*source))
                .map(|policy| policy.object)
                .collect(),
            resource: resource.clone(),
            targets,
        })
    }
}

fn params_of<'o>(ours: &'o Ours<'_>, gateway: usize) -> Option<&'o Params> {
    ours.gateways.get(gateway).map(|gateway| &gateway.params)
}
