//! ManagedCluster: labels, claims, taints, resources.
//!
//! Owns: the fields of a ManagedCluster that decide a placement. Flows in: an object. Flows out: a view.
//! Must not know: how they decide.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::parse_time;
use super::schema::whole_number;
use crate::object::Object;
use apimachinery::{Field, Quantity};

/// A ManagedCluster (cluster.open-cluster-management.io/v1).
#[derive(Debug, Clone)]
pub struct ManagedCluster<'a> {
    /// The object: its origin, and the whole of it for CEL.
    pub object: &'a Object,
    /// `metadata.name`; also the cluster's namespace on the hub.
    pub name: &'a str,
    /// `metadata.labels`.
    pub labels: BTreeMap<&'a str, &'a str>,
    /// `status.clusterClaims` by name; of a repeated name the last one (OCM placement 1.2, claimSelector).
    pub claims: BTreeMap<&'a str, ClusterClaim<'a>>,
    /// `spec.taints`.
    pub taints: Vec<Taint<'a>>,
    /// `status.allocatable`, by resource name.
    pub allocatable: BTreeMap<&'a str, Quantity>,
    /// `status.capacity`, by resource name.
    pub capacity: BTreeMap<&'a str, Quantity>,
    /// The condition ManagedClusterConditionAvailable.
    pub available: Availability,
    /// `metadata.deletionTimestamp` is set: the scheduler drops the cluster.
    pub deleting: bool,
}

/// One of `status.clusterClaims`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterClaim<'a> {
    /// The value.
    pub value: &'a str,
    /// Its position in the list.
    pub index: usize,
}

/// What ManagedClusterConditionAvailable says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Status True.
    Available,
    /// Status False.
    Unavailable,
    /// Status Unknown, or no such condition.
    Unknown,
}

/// What a taint does to a placement that does not tolerate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaintEffect {
    /// Never selected.
    NoSelect,
    /// No effect: always tolerated.
    PreferNoSelect,
    /// Never selected anew; kept when selected already.
    NoSelectIfNew,
}

impl TaintEffect {
    /// The effect as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSelect => "NoSelect",
            Self::PreferNoSelect => "PreferNoSelect",
            Self::NoSelectIfNew => "NoSelectIfNew",
        }
    }

    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        [Self::NoSelect, Self::PreferNoSelect, Self::NoSelectIfNew]
            .into_iter()
            .find(|effect| field.str() == Some(effect.as_str()))
    }
}

/// One of `spec.taints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Taint<'a> {
    /// The key.
    pub key: &'a str,
    /// The value, `""` when absent.
    pub value: &'a str,
    /// The effect.
    pub effect: TaintEffect,
    /// When it was added; `None` counts as the zero time.
    pub time_added: Option<Timestamp>,
}

impl<'a> ManagedCluster<'a> {
    /// The view of an object that [`super::validate`] accepts. What has another type is left out.
    #[must_use]
    pub fn read(object: &'a Object) -> Self {
        let root = object.root();
        let (metadata, spec, status) = (root.get("metadata"), root.get("spec"), root.get("status"));
        Self {
            object,
            name: &object.name,
            labels: texts(&metadata.get("labels")),
            claims: status
                .get("clusterClaims")
                .items()
                .enumerate()
                .map(|(index, claim)| {
                    let value = claim.get("value").str().unwrap_or_default();
                    (
                        claim.get("name").str().unwrap_or_default(),
                        ClusterClaim { value, index },
                    )
                })
                .collect(),
            taints: spec
                .get("taints")
                .items()
                .filter_map(|taint| {
                    Some(Taint {
                        key: taint.get("key").str().unwrap_or_default(),
                        value: taint.get("value").str().unwrap_or_default(),
                        effect: TaintEffect::read(&taint.get("effect"))?,
                        time_added: taint.get("timeAdded").str().and_then(parse_time),
                    })
                })
                .collect(),
            allocatable: quantities(&status.get("allocatable")),
            capacity: quantities(&status.get("capacity")),
            available: availability(&status.get("conditions")),
            deleting: metadata.get("deletionTimestamp").is_present(),
        }
    }
}

fn availability(conditions: &Field<'_>) -> Availability {
    let status = conditions
        .items()
        .find(|condition| condition.get("type").str() == Some("ManagedClusterConditionAvailable"))
        .and_then(|condition| condition.get("status").str());
    match status {
        Some("True") => Availability::Available,
        Some("False") => Availability::Unavailable,
        _ => Availability::Unknown,
    }
}

/// A mapping of strings.
fn texts<'a>(field: &Field<'a>) -> BTreeMap<&'a str, &'a str> {
    let entries = field.value().and_then(serde_json::Value::as_object);
    entries
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .collect()
}

fn quantities<'a>(field: &Field<'a>) -> BTreeMap<&'a str, Quantity> {
    let entries = field.value().and_then(serde_json::Value::as_object);
    entries
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            let quantity = match whole_number(value) {
                Some(number) => Quantity::from_integer(number),
                None => Quantity::parse(value.as_str()?).ok()?,
            };
            Some((key.as_str(), quantity))
        })
        .collect()
}
