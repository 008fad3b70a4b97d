//! Settings of the configuration with a few possible values, and the limits of `diff`: their names and defaults.

use ocm_placement::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::Ages;

/// The file's apiVersion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ApiVersion {
    #[serde(rename = "spokewright.dev/v1alpha1")]
    V1Alpha1,
}

/// The file's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Kind {
    RenderConfig,
}

/// Placements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Placements {
    /// Where placements come from.
    pub source: PlacementSource,
    /// How placements see each other's results.
    pub mode: Mode,
}

/// Precedence of policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PolicyPrecedence {
    /// Whether an object's creation timestamp decides between policies.
    pub creation_timestamp: Ages,
}

/// Istio, if it is not installed in the usual way.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Istio {
    /// The namespace whose policies apply to the whole mesh: rootNamespace of its MeshConfig.
    #[serde(default = "root_namespace")]
    #[schemars(length(min = 1))]
    pub root_namespace: String,
}

fn root_namespace() -> String {
    "istio-system".to_owned()
}

/// Settings of the command `diff`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DiffSettings {
    pub budget: Option<Budget>,
}

/// The Placement whose decision groups are the waves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waves {
    /// Its namespace.
    #[schemars(length(min = 1))]
    pub namespace: String,
    /// Its name.
    #[schemars(length(min = 1))]
    pub placement: String,
}

/// Where placements come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlacementSource {
    /// PlacementDecisions of the input, or, if it has none for a Placement, an evaluation.
    #[default]
    Auto,
    /// Only PlacementDecisions of the input.
    Decisions,
    /// Only evaluation.
    Evaluate,
}

/// What happens to the Secrets that Gateways refer to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Secrets {
    /// They are expected on the spokes.
    #[default]
    Omit,
    /// Those of the input are copied into works, in clear base64.
    Copy,
}

/// Whether the hub objects are written with what the renderer knows about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HubObjects {
    /// They are not written.
    #[default]
    None,
    /// With annotations and labels, under `_hub/`.
    Annotated,
}

/// How much a change may do unless a user allows more. Without a limit, anything is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
        self.with(other, Option::or)
    }

    /// The lower of each pair of limits.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.with(other, |one, other| one.into_iter().chain(other).min())
    }

    fn with(self, other: Self, limit: fn(Option<u32>, Option<u32>) -> Option<u32>) -> Self {
        Self {
            max_removed: limit(self.max_removed, other.max_removed),
            max_clusters: limit(self.max_clusters, other.max_clusters),
            max_lost_policies: limit(self.max_lost_policies, other.max_lost_policies),
        }
    }
}
