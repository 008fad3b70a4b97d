//! The input of rendering: the hub, the clusters of each Gateway, the synced objects, and the configuration.
//!
//! Owns: [`Input`]. Flows in: what earlier stages decided. Flows out: the same. Must not know: how anything was
//! decided.

use std::sync::Arc;

use super::manifest::Manifest;
use super::namespaces::Namespaces;
use crate::api::config::{HubObjects, Secrets};
use crate::hub::{Grants, Hub, OurGatewayId, Table};
use crate::object::Object;
use crate::progress::Progress;
use crate::sync::{OnSpokes, PlacedGateway, SyncedObject};

/// The configuration of rendering.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Whether Secrets are copied.
    pub secrets: Secrets,
    /// Whether annotated hub objects are written too.
    pub hub_objects: HubObjects,
    /// The kind of object that contains the works.
    pub work_kind: WorkKind,
}

/// The kind of object that contains the works.
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
pub(crate) struct Input<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Its ReferenceGrants.
    pub grants: &'a Grants<'a>,
    /// Our Gateways: those of the hub as it is written, then those of the hubs that ClusterOverlays make of it, where each has
    /// other clusters.
    pub gateways: &'a Table<OurGatewayId, PlacedGateway<'a>>,
    /// The policies and routes that are synced.
    pub synced: &'a [SyncedObject<'a>],
    /// The policies that are not, though their kind is.
    pub withheld: &'a [&'a Object],
    /// The objects on the clusters once the works are applied.
    pub on_spokes: &'a OnSpokes<'a>,
    /// The Namespaces on the spokes, of each of these hubs.
    pub namespaces: &'a [Namespaces<'a>],
    /// The configuration.
    pub settings: Settings,
    /// The observer of progress.
    pub progress: &'a Progress,
}

impl Input<'_> {
    /// Manifests of the hub of a Gateway, with their Namespaces before them.
    pub(super) fn with_namespaces(
        &self,
        gateway: &PlacedGateway<'_>,
        manifests: Vec<Arc<Manifest>>,
    ) -> Vec<Arc<Manifest>> {
        match self.namespaces.get(gateway.projection) {
            Some(namespaces) => namespaces.before(manifests),
            None => manifests,
        }
    }
}
