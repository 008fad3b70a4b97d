//! What the policy stage hands over, as rendering needs it: with the Gateways of ours that it goes to and the feedback
//! that their class asks for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::params::PolicyResource;
use crate::hub::Ours;
use crate::object::Object;
use crate::policy::{Attachments, Consignment, Synced};

/// One policy for the spokes.
#[derive(Debug, Clone)]
pub struct Shipment<'a> {
    /// The policy whose name and metadata it carries.
    pub object: &'a Object,
    /// The whole object, before its references and metadata are rewritten.
    pub value: Cow<'a, Value>,
    /// All policies it was made from, the name-giver first.
    pub sources: Vec<&'a Object>,
    /// The resource of the parameters that asks for its kind.
    pub resource: PolicyResource,
    /// The Gateways it goes to.
    pub targets: Vec<ShipmentTarget>,
}

/// One Gateway, or listener of it, that a shipment goes to.
#[derive(Debug, Clone)]
pub struct ShipmentTarget {
    /// Position in [`Ours::gateways`].
    pub gateway: usize,
    /// Pointer of the reference inside the policy.
    pub pointer: String,
    /// Clusters where a spoke-local policy wins.
    pub withheld_from: BTreeSet<String>,
    /// Clusters where a spoke-local policy takes a part: the object that is shipped there instead.
    pub instead: BTreeMap<String, Value>,
}

impl<'a> Shipment<'a> {
    /// The shipments of all consignments that go to Gateways of ours.
    #[must_use]
    pub fn all(
        consignments: &[Consignment<'a>],
        attachments: &Attachments<'a>,
        synced: &Synced,
        ours: &Ours<'_>,
    ) -> Vec<Self> {
        consignments
            .iter()
            .filter_map(|consignment| Self::of(consignment, attachments, synced, ours))
            .collect()
    }

    fn of(
        consignment: &Consignment<'a>,
        attachments: &Attachments<'a>,
        synced: &Synced,
        ours: &Ours<'_>,
    ) -> Option<Self> {
        let object = consignment.object;
        let targets: Vec<ShipmentTarget> = consignment
            .targets
            .iter()
            .filter_map(|consignee| {
                Some(ShipmentTarget {
                    gateway: synced.ours(consignee.node)?,
                    pointer: consignee.pointer.clone(),
                    withheld_from: consignee.withheld_from.clone(),
                    instead: consignee.instead.clone(),
                })
            })
            .collect();
        let params = &ours.gateways.get(targets.first()?.gateway)?.params;
        let resource = params.policies_to_sync.iter().find(|resource| {
            (resource.group.as_str(), resource.kind.as_str())
                == (object.api_version.group.as_str(), object.kind.as_str())
        })?;
        Some(Self {
            object,
            value: consignment.value.clone(),
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
