//! AddOnPlacementScore: numbers that an add-on gives a cluster.
//!
//! Owns: names, values, how long they hold. Flows in: an object. Flows out: a view.

use jiff::Timestamp;

use super::parse_time;
use super::schema::whole_number;
use crate::object::Object;

/// An AddOnPlacementScore (cluster.open-cluster-management.io/v1alpha1).
#[derive(Debug, Clone)]
pub struct AddOnPlacementScore<'a> {
    /// The object.
    pub object: &'a Object,
    /// The cluster: its namespace on the hub.
    pub cluster: &'a str,
    /// `metadata.name`: the resource name of a score coordinate.
    pub name: &'a str,
    /// `status.scores`: name and value, in their order.
    pub scores: Vec<(&'a str, i32)>,
    /// `status.validUntil`: prioritizers ignore the scores after it; CEL does not look at it.
    pub valid_until: Option<Timestamp>,
}

impl<'a> AddOnPlacementScore<'a> {
    /// The view of an object that [`super::validate`] accepts.
    #[must_use]
    pub fn read(object: &'a Object) -> Self {
        let status = object.root().get("status");
        Self {
            object,
            cluster: object.namespace_or_empty(),
            name: &object.name,
            scores: status
                .get("scores")
                .items()
                .filter_map(|score| {
                    let value = whole_number(score.get("value").value()?)?;
                    Some((score.get("name").str()?, i32::try_from(value).ok()?))
                })
                .collect(),
            valid_until: status.get("validUntil").str().and_then(parse_time),
        }
    }

    /// The value of the score of this name.
    #[must_use]
    pub fn value(&self, score: &str) -> Option<i32> {
        self.scores
            .iter()
            .find(|(name, _)| *name == score)
            .map(|(_, value)| *value)
    }
}
