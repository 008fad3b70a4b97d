//! All cluster kinds of an input, read and checked in one pass.
//!
//! Owns: sorting objects by kind, leaving out what an API server would refuse. Flows in: any objects. Flows out:
//! views sorted by namespace and name, findings, and the identities of what was refused.

use super::{
    AddOnPlacementScore, GROUP, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding, Placement,
    PlacementDecision, validate,
};
use crate::diagnostic::Finding;
use crate::object::Object;
use apimachinery::Identity;

/// The views of an input, each list sorted by namespace and name. The order of the input does not matter.
#[derive(Debug, Clone, Default)]
pub struct Inventory<'a> {
    /// ManagedClusters.
    pub clusters: Vec<ManagedCluster<'a>>,
    /// ManagedClusterSets.
    pub cluster_sets: Vec<ManagedClusterSet<'a>>,
    /// ManagedClusterSetBindings.
    pub bindings: Vec<ManagedClusterSetBinding<'a>>,
    /// Placements.
    pub placements: Vec<Placement<'a>>,
    /// PlacementDecisions.
    pub decisions: Vec<PlacementDecision<'a>>,
    /// AddOnPlacementScores.
    pub scores: Vec<AddOnPlacementScore<'a>>,
    /// What an API server would refuse, sorted; the findings say why.
    pub rejected: Vec<Identity>,
}

impl<'a> Inventory<'a> {
    /// Reads every object of the six kinds; objects of other kinds are skipped.
    ///
    /// An object that an API server would refuse is left out, and the findings say where and why (design
    /// section 3).
    #[must_use]
    pub fn read(objects: impl IntoIterator<Item = &'a Object>) -> (Self, Vec<Finding>) {
        let mut inventory = Self::default();
        let mut findings = Vec::new();
        for object in objects {
            if object.api_version.group != GROUP {
                continue;
            }
            let refused = validate(object);
            if !refused.is_empty() {
                findings.extend(refused);
                inventory.rejected.push(object.identity());
                continue;
            }
            match object.kind.as_str() {
                "ManagedCluster" => inventory.clusters.push(ManagedCluster::read(object)),
                "ManagedClusterSet" => inventory.cluster_sets.push(ManagedClusterSet::read(object)),
                "ManagedClusterSetBinding" => inventory.bindings.push(ManagedClusterSetBinding::read(object)),
                "Placement" => inventory.placements.push(Placement::read(object)),
                "PlacementDecision" => inventory.decisions.push(PlacementDecision::read(object)),
                "AddOnPlacementScore" => inventory.scores.push(AddOnPlacementScore::read(object)),
                _ => {}
            }
        }
        inventory.clusters.sort_by(|a, b| order(a.object, b.object));
        inventory.cluster_sets.sort_by(|a, b| order(a.object, b.object));
        inventory.bindings.sort_by(|a, b| order(a.object, b.object));
        inventory.placements.sort_by(|a, b| order(a.object, b.object));
        inventory.decisions.sort_by(|a, b| order(a.object, b.object));
        inventory.scores.sort_by(|a, b| order(a.object, b.object));
        inventory.rejected.sort();
        (inventory, findings)
    }
}

/// By namespace and name; two objects of one identity (an error that `hub` reports) by where they stand.
fn order(a: &Object, b: &Object) -> std::cmp::Ordering {
    let key = |object: &Object| (object.origin.document, object.origin.pointer.clone());
    (a.namespace_or_empty(), &a.name)
        .cmp(&(b.namespace_or_empty(), &b.name))
        .then_with(|| key(a).cmp(&key(b)))
}
