//! The rank of objects: the older one goes first, then the first by name. [`Rank`] orders policies, routes, and
//! ListenerSets alike.

use std::cmp::Ordering;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Object;
use super::well_known::ORIGIN_CREATION;

/// Whether an object's creation timestamp decides between policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Ages {
    /// It does, if it is present.
    #[default]
    Use,
    /// It does not: names decide.
    Ignore,
}

/// `metadata.creationTimestamp`, else the annotation `kuadrant.io/origin-creation`, when they count. `None` is
/// the newest: the object will be created now. Kuadrant and gwctl take it for the oldest
/// (docs/systems/why-we-differ.md#a-policy-without-an-age).
fn age(object: &Object, ages: Ages) -> Option<Timestamp> {
    if ages == Ages::Ignore {
        return None;
    }
    let metadata = object.value.get("metadata");
    let created = metadata.and_then(|metadata| metadata.get("creationTimestamp")?.as_str()?.parse().ok());
    created.or_else(|| object.annotation(ORIGIN_CREATION)?.parse().ok())
}

/// The rank of an object among others of its kind: routes and ListenerSets have the rule of policies
/// (docs/systems/gateway-api.md#which-rule-wins).
pub fn rank_of(object: &Object, ages: Ages) -> Rank {
    Rank {
        priority: 0,
        age: age(object, ages),
        key: object.key(),
    }
}

/// The order of objects of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rank {
    /// The number that decides before age, for kinds that have one: the lowest first.
    pub priority: i64,
    /// Creation, when known.
    pub age: Option<Timestamp>,
    /// `namespace/name`.
    pub key: String,
}

impl Ord for Rank {
    /// Established first: by priority, older, then by `namespace/name`.
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self
            .priority
            .cmp(&other.priority)
            .then_with(|| self.by_age(other));
        order.then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Rank {
    /// Compares ages alone: the older is first, and an object of unknown age is last.
    pub fn by_age(&self, other: &Self) -> Ordering {
        let age = |rank: &Self| (rank.age.is_none(), rank.age);
        age(self).cmp(&age(other))
    }

    /// Whether age puts it before another one.
    pub fn is_older(&self, other: &Self) -> bool {
        self.by_age(other) == Ordering::Less
    }
}
