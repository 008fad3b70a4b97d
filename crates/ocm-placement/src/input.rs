//! The input of an evaluation: all cluster kinds, read in one pass, the time, and how Placements see each other. Objects
//! that cannot be read are left out, with their mistakes and identities.

use apimachinery::Identity;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::api::GROUP;
use crate::api::managed_cluster::{
    AddOnPlacementScore, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding,
};
use crate::api::object::{InvalidField, Object, Reading};
use crate::api::placement::{Placement, PlacementDecision};
use crate::ids::{DecisionId, PlacementId, Table};

/// How Placements see each other's decisions (docs/systems/ocm-placement.md#the-order-of-placements).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// Each sees only the decisions of the input.
    Snapshot,
    /// In namespace/name order, each sees the earlier ones' results.
    Sequential,
    /// Rounds until nothing changes, which is closest to a live hub.
    #[default]
    Fixpoint,
}

/// How much of the way to the decisions an evaluation keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Decisions, groups and conditions: what rendering needs. Scores are computed only where they choose.
    Decisions,
    /// Filters, scores and ranking as well: what the report shows.
    Full,
}

/// What hub controllers other than the scheduler would change before it looks (docs/systems/ocm-placement.md#what-other-controllers-change). All off by
/// default, because the input says what is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// Clusters without a cluster set label get `default`, as the mutating webhook does.
    pub unlabeled_join_default: bool,
    /// The taints `unavailable` and `unreachable` follow ManagedClusterConditionAvailable.
    pub derive_availability_taints: bool,
}

/// Everything that an evaluation depends on; equal inputs give equal results.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The objects.
    pub inventory: &'a Inventory<'a>,
    /// The time of the evaluation; without it, everything that depends on the time is reported
    /// ([`crate::ProblemKind::NeedsNow`]).
    pub now: Option<Timestamp>,
    /// The order.
    pub mode: Mode,
    /// What to add to the input.
    pub options: Options,
}

/// The objects that placement depends on. The order of the input does not matter.
#[derive(Debug, Clone, Default)]
pub struct Inventory<'a> {
    pub(crate) clusters: Vec<ManagedCluster<'a>>,
    pub(crate) cluster_sets: Vec<ManagedClusterSet<'a>>,
    pub(crate) bindings: Vec<ManagedClusterSetBinding<'a>>,
    pub(crate) placements: Table<PlacementId, Placement<'a>>,
    pub(crate) decisions: Table<DecisionId, PlacementDecision<'a>>,
    pub(crate) scores: Vec<AddOnPlacementScore<'a>>,
    pub(crate) rejected: Vec<Identity>,
}

impl<'a> Inventory<'a> {
    /// Reads every object of the six kinds; objects of other kinds are skipped.
    ///
    /// The caller has validated them against their CRDs. An object with a field that these let pass and no scheduler can
    /// use is left out, and the second result names the field, in the order of the caller's numbers; [`Inventory::reject`] accepts what the caller left out.
    pub fn read(objects: impl IntoIterator<Item = Object<'a>>) -> (Self, Vec<InvalidField>) {
        let objects = objects.into_iter();
        let mut objects: Vec<Object<'_>> = objects
            .filter(|object| object.api_version().group == GROUP)
            .collect();
        // By namespace and name, in byte order as Go compares; of one identity by the caller's number.
        objects.sort_by(|a, b| {
            let names = (a.namespace_or_empty(), a.name()).cmp(&(b.namespace_or_empty(), b.name()));
            names.then(a.id.cmp(&b.id))
        });
        let mut inventory = Self::default();
        let mut all = Vec::new();
        let (mut placements, mut decisions) = (Vec::new(), Vec::new());
        for object in objects {
            let invalid = match object.kind() {
                "ManagedCluster" => keep(object, &mut inventory.clusters, ManagedCluster::read),
                "ManagedClusterSet" => keep(object, &mut inventory.cluster_sets, ManagedClusterSet::read),
                "ManagedClusterSetBinding" => {
                    keep(object, &mut inventory.bindings, ManagedClusterSetBinding::read)
                }
                "Placement" => keep(object, &mut placements, Placement::read),
                "PlacementDecision" => keep(object, &mut decisions, PlacementDecision::read),
                "AddOnPlacementScore" => keep(object, &mut inventory.scores, AddOnPlacementScore::read),
                _ => Vec::new(),
            };
            if !invalid.is_empty() {
                inventory.rejected.push(object.identity());
                all.extend(invalid);
            }
        }
        inventory.rejected.sort();
        inventory.placements = Table::from_rows(placements);
        inventory.decisions = Table::from_rows(decisions);
        all.sort_by_key(|invalid: &InvalidField| invalid.at.object);
        (inventory, all)
    }

    /// Notes objects that an API server would refuse and that were therefore not handed in; reports name them.
    pub fn reject(&mut self, objects: impl IntoIterator<Item = Identity>) {
        self.rejected.extend(objects);
        self.rejected.sort();
    }

    /// The objects that were left out because an API server would refuse them, sorted.
    pub fn rejected(&self) -> &[Identity] {
        &self.rejected
    }

    /// Namespace and name of every Placement, sorted.
    pub fn placements(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let placements = self.placements.rows().iter();
        placements.map(|placement| (placement.namespace, placement.name))
    }

    /// Whether there is a Placement of this namespace and name.
    pub fn has_placement(&self, namespace: &str, name: &str) -> bool {
        self.placement(namespace, name).is_some()
    }

    /// The names of the ManagedClusters, sorted.
    pub fn cluster_names(&self) -> impl Iterator<Item = &'a str> {
        self.clusters.iter().map(|cluster| cluster.name)
    }

    /// The Placement of this namespace and name.
    pub(crate) fn placement(&self, namespace: &str, name: &str) -> Option<PlacementId> {
        let order = |placement: &Placement<'_>| (placement.namespace, placement.name).cmp(&(namespace, name));
        self.placements.binary_search_by(order)
    }
}

/// Reads an object into a list, or says what is wrong with it.
fn keep<'a, T>(
    object: Object<'a>,
    list: &mut Vec<T>,
    read: impl FnOnce(Object<'a>, &mut Reading<'_, 'a>) -> T,
) -> Vec<InvalidField> {
    let mut invalid = Vec::new();
    let view = read(object, &mut Reading::new(&object, &mut invalid));
    if invalid.is_empty() {
        list.push(view);
    }
    invalid
}
