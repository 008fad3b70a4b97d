//! What rendering needs to know: the hub, who goes where, what is shipped, and what the configuration says.

use super::PlacedGateway;
use crate::api::config::{HubObjects, Secrets};
use crate::hub::{Grants, Hub};
use crate::object::Object;
use crate::progress::Progress;
use crate::sync::{NamespaceLabels, Shipment};

/// What the configuration says about rendering.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Whether Secrets are copied.
    pub secrets: Secrets,
    /// Whether annotated hub objects are written too.
    pub hub_objects: HubObjects,
    /// What carries the works.
    pub work_kind: WorkKind,
}

/// What carries the works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WorkKind {
    /// A ManifestWork for each cluster.
    #[default]
    ManifestWork,
    /// A ManifestWorkReplicaSet, from which the hub makes the works.
    ReplicaSet,
}

/// Everything that rendering needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Its ReferenceGrants.
    pub grants: &'a Grants<'a>,
    /// Our Gateways, in the order of [`Ours::gateways`](crate::hub::Ours).
    pub gateways: &'a [PlacedGateway<'a>],
    /// The policies to ship.
    pub shipments: &'a [Shipment<'a>],
    /// The policies that are not, though their kind is synced.
    pub withheld: &'a [&'a Object],
    /// Labels that the Namespaces of routes need on the spokes.
    pub namespace_labels: &'a NamespaceLabels,
    /// The configuration.
    pub settings: Settings,
    /// Who hears how far it is.
    pub progress: &'a Progress,
}
