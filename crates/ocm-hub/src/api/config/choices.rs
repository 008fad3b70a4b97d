//! Settings of the configuration with a few possible values, and the limits of `diff`.
//!
//! Owns: their names and defaults. Flows in: a field, after the schema accepted it. Flows out: values. Must not know:
//! where in the file a field is.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use apimachinery::Field;

/// Where placements come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PlacementSource {
    /// PlacementDecisions of the input, or, if it has none for a Placement, an evaluation.
    #[default]
    Auto,
    /// Only PlacementDecisions of the input.
    Decisions,
    /// Only evaluation.
    Evaluate,
}

/// How placements see each other's results (docs/systems/ocm-placement.md#the-order-of-placements).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PlacementMode {
    /// Each sees only the decisions of the input.
    Snapshot,
    /// In namespace/name order, each sees the earlier ones' results.
    Sequential,
    /// Rounds until nothing changes, which is closest to a live hub.
    #[default]
    Fixpoint,
}

/// Whether an object's creation timestamp decides between policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OriginTimestamp {
    /// It does, if it is present.
    #[default]
    Use,
    /// It does not: names decide.
    Ignore,
}

/// What happens to the Secrets that Gateways refer to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Secrets {
    /// They are expected on the spokes.
    #[default]
    Omit,
    /// Those of the input are copied into works, in clear base64.
    Copy,
}

/// Whether the hub objects are written with what the renderer knows about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HubObjects {
    /// They are not written.
    #[default]
    None,
    /// With annotations and labels, under `_hub/`.
    Annotated,
}

/// How much a change may do unless a user allows more. Without a limit, anything is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// Objects that may be deleted, counted over all clusters.
    pub max_removed: Option<u32>,
    /// Clusters that may change.
    pub max_clusters: Option<u32>,
    /// Paths that may lose the policies of a kind.
    pub max_lost_policies: Option<u32>,
}

impl Budget {
    /// These limits, and those of `other` where there is none here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            max_removed: self.max_removed.or(other.max_removed),
            max_clusters: self.max_clusters.or(other.max_clusters),
            max_lost_policies: self.max_lost_policies.or(other.max_lost_policies),
        }
    }

    /// The lower of each pair of limits.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lower = |a: Option<u32>, b: Option<u32>| a.into_iter().chain(b).min();
        Self {
            max_removed: lower(self.max_removed, other.max_removed),
            max_clusters: lower(self.max_clusters, other.max_clusters),
            max_lost_policies: lower(self.max_lost_policies, other.max_lost_policies),
        }
    }
}

/// An enum's value; its default where the file has none, or one that the schema has refused.
pub(super) fn parse<T: DeserializeOwned + Default>(field: &Field<'_>) -> T {
    field
        .value()
        .and_then(|value| kube_json::from_value(value).ok())
        .unwrap_or_default()
}
