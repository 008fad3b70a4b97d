//! Clusters: ManagedCluster, the sets that they are in, and the scores that add-ons give them.

use std::collections::BTreeMap;

use apimachinery::{Field, LabelSelector, Quantity};
use jiff::Timestamp;
use strum::{EnumString, IntoStaticStr};

use crate::api::object::{Object, Reading};

/// A ManagedCluster (cluster.open-cluster-management.io/v1).
#[derive(Debug, Clone)]
pub(crate) struct ManagedCluster<'a> {
    /// The object: where it is, and the whole of it for CEL.
    pub(crate) object: Object<'a>,
    /// `metadata.name`; also the cluster's namespace on the hub.
    pub(crate) name: &'a str,
    /// `metadata.labels`.
    pub(crate) labels: BTreeMap<&'a str, &'a str>,
    /// `status.clusterClaims` by name; of a repeated name the last one (docs/systems/ocm-placement.md#claim-selectors).
    pub(crate) claims: BTreeMap<&'a str, ClusterClaim<'a>>,
    /// `spec.taints`.
    pub(crate) taints: Vec<Taint<'a>>,
    /// `status.allocatable`, by resource name.
    pub(crate) allocatable: BTreeMap<&'a str, Quantity>,
    /// `status.capacity`, by resource name.
    pub(crate) capacity: BTreeMap<&'a str, Quantity>,
    /// The status of ManagedClusterConditionAvailable; `None`: Unknown, or no such condition.
    pub(crate) available: Option<bool>,
    /// `metadata.deletionTimestamp` is set: the scheduler drops the cluster.
    pub(crate) deleting: bool,
}

/// One of `status.clusterClaims`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClusterClaim<'a> {
    /// The value.
    pub(crate) value: &'a str,
    /// Its position in the list.
    pub(crate) index: usize,
}

/// The effect of a taint on a Placement that does not tolerate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
pub(crate) enum TaintEffect {
    /// Never selected.
    NoSelect,
    /// No effect: always tolerated.
    PreferNoSelect,
    /// Never selected anew; kept when selected already.
    NoSelectIfNew,
}

/// One of `spec.taints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Taint<'a> {
    /// The key.
    pub(crate) key: &'a str,
    /// The value, `""` when absent.
    pub(crate) value: &'a str,
    /// The effect.
    pub(crate) effect: TaintEffect,
    /// When it was added; `None` counts as the zero time.
    pub(crate) time_added: Option<Timestamp>,
}

impl<'a> ManagedCluster<'a> {
    pub(crate) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let root = object.root();
        let (metadata, spec, status) = (root.get("metadata"), root.get("spec"), root.get("status"));
        let claims = status.get("clusterClaims").items();
        let claims = claims.enumerate().map(|(index, claim)| {
            let text = |key| claim.text(key).unwrap_or_default();
            let value = text("value");
            (text("name"), ClusterClaim { value, index })
        });
        Self {
            object,
            name: object.name(),
            claims: claims.collect(),
            labels: reading.table(&metadata.get("labels")),
            taints: taints(&spec.get("taints"), reading),
            allocatable: quantities(&status.get("allocatable"), reading),
            capacity: quantities(&status.get("capacity"), reading),
            available: availability(&status.get("conditions")),
            deleting: metadata.get("deletionTimestamp").is_present(),
        }
    }
}

fn taints<'a>(field: &Field<'a>, reading: &mut Reading<'_, 'a>) -> Vec<Taint<'a>> {
    let taints = field.items().filter_map(|taint| {
        reading.require(&taint.get("effect"));
        Some(Taint {
            key: taint.text("key").unwrap_or_default(),
            value: taint.text("value").unwrap_or_default(),
            effect: taint.text("effect")?.parse().ok()?,
            time_added: reading.time(&taint.get("timeAdded")),
        })
    });
    taints.collect()
}

fn availability(conditions: &Field<'_>) -> Option<bool> {
    let mut conditions = conditions.items();
    let available =
        conditions.find(|condition| condition.text("type") == Some("ManagedClusterConditionAvailable"))?;
    match available.text("status") {
        Some("True") => Some(true),
        Some("False") => Some(false),
        _ => None,
    }
}

fn quantities<'a>(field: &Field<'a>, reading: &mut Reading<'_, 'a>) -> BTreeMap<&'a str, Quantity> {
    let quantities = field
        .entries()
        .filter_map(|(name, value)| Some((name, reading.quantity(&value)?)));
    quantities.collect()
}

/// A ManagedClusterSet (cluster.open-cluster-management.io/v1beta2).
#[derive(Debug, Clone)]
pub(crate) struct ManagedClusterSet<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// `metadata.name`.
    pub(crate) name: &'a str,
    /// `spec.clusterSelector`.
    pub(crate) membership: SetMembership,
}

/// How a set finds its clusters (docs/systems/ocm-placement.md#cluster-sets).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetMembership {
    /// `ExclusiveClusterSetLabel`, the default: the clusters whose label names the set.
    ExclusiveLabel,
    /// `LabelSelector`; `None`, a missing selector, selects nothing, an empty one everything.
    Selector(Option<LabelSelector>),
}

impl<'a> ManagedClusterSet<'a> {
    pub(crate) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let selector = object.root().get("spec").get("clusterSelector");
        let labels = selector.get("labelSelector");
        // In Go a nil selector and an empty one differ, and `LabelSelectorAsSelector` makes nothing of the one and
        // everything of the other (kubernetes/apimachinery pkg/apis/meta/v1/helpers.go).
        let membership = match selector.text("selectorType") {
            Some("LabelSelector") => {
                SetMembership::Selector(labels.is_present().then(|| reading.selector(&labels)))
            }
            _ => SetMembership::ExclusiveLabel,
        };
        Self {
            object,
            name: object.name(),
            membership,
        }
    }
}

/// A ManagedClusterSetBinding (cluster.open-cluster-management.io/v1beta2).
///
/// The scheduler reads only where it is and what it is called: `spec.clusterSet` does not count, the admission
/// webhook forces it to be the name (docs/systems/ocm-placement.md#bindings).
#[derive(Debug, Clone)]
pub(crate) struct ManagedClusterSetBinding<'a> {
    /// The namespace that may use the set.
    pub(crate) namespace: &'a str,
    /// `metadata.name`: the set's name.
    pub(crate) name: &'a str,
}

impl<'a> ManagedClusterSetBinding<'a> {
    pub(crate) fn read(object: Object<'a>, _: &mut Reading<'_, 'a>) -> Self {
        Self {
            namespace: object.namespace_or_empty(),
            name: object.name(),
        }
    }
}

/// An AddOnPlacementScore (cluster.open-cluster-management.io/v1alpha1).
#[derive(Debug, Clone)]
pub(crate) struct AddOnPlacementScore<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// The cluster: its namespace on the hub.
    pub(crate) cluster: &'a str,
    /// `metadata.name`: the resource name of a score coordinate.
    pub(crate) name: &'a str,
    /// `status.scores`: name and value, in their order.
    pub(crate) scores: Vec<(&'a str, i32)>,
    /// `status.validUntil`: prioritizers ignore the scores after it; CEL does not look at it.
    pub(crate) valid_until: Option<Timestamp>,
}

impl<'a> AddOnPlacementScore<'a> {
    pub(crate) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let status = object.root().get("status");
        let scores = status.get("scores").items();
        let scores = scores.filter_map(|score| {
            let value = reading.integer(&score.get("value"))?;
            Some((score.text("name")?, i32::try_from(value).ok()?))
        });
        Self {
            object,
            cluster: object.namespace_or_empty(),
            name: object.name(),
            scores: scores.collect(),
            valid_until: reading.time(&status.get("validUntil")),
        }
    }

    /// The value of the score of this name.
    pub(crate) fn value(&self, score: &str) -> Option<i32> {
        self.scores
            .iter()
            .find(|(name, _)| *name == score)
            .map(|(_, value)| *value)
    }
}
