//! `status -o json`: the versioned document.
//!
//! Owns: the shape of kind `StatusReport`. Flows in: statuses, predicted or aggregated. Flows out: serializable values.
//! Must not know: how a status comes about, text for people.

use serde::Serialize;

use super::aggregate::{Aggregated, WorkSummary};
use crate::diagnostic::API_VERSION;
use crate::outcome::ObjectStatus;

/// The document, kind `StatusReport`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatusReport<'r> {
    api_version: &'static str,
    kind: &'static str,
    /// Where the statuses come from.
    pub source: StatusSource,
    /// One entry per object or section; grouped, by locator.
    pub objects: &'r [ObjectStatus],
    /// The works that an aggregated status comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub works: Option<&'r WorkSummary>,
}

/// Where statuses come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum StatusSource {
    /// Only the input: the statuses once everything is applied.
    Prediction,
    /// Exported ManifestWorks: what the clusters have reported.
    Works,
}

impl<'r> StatusReport<'r> {
    /// The report of predicted statuses.
    pub const fn predicted(objects: &'r [ObjectStatus]) -> Self {
        Self {
            api_version: API_VERSION,
            kind: "StatusReport",
            source: StatusSource::Prediction,
            objects,
            works: None,
        }
    }

    /// The report of aggregated statuses.
    pub fn aggregated(aggregated: &'r Aggregated) -> Self {
        Self {
            source: StatusSource::Works,
            works: Some(&aggregated.works),
            ..Self::predicted(&aggregated.objects)
        }
    }
}
