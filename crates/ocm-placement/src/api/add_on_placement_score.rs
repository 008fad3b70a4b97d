//! AddOnPlacementScore: numbers that an add-on gives a cluster.

use jiff::Timestamp;

use super::object::Object;
use super::reading::Reading;

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
    pub(super) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
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
