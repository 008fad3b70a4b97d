//! The types of the inventory in a `PolicyReport`: everything that policies may apply to.
//!
//! Owns: their fields and names. Flows in: nothing. Flows out: types that serialize. Must not know: policies.

use std::sync::Arc;

use kube_json::Value;
use serde::Serialize;

use crate::report::source_line::SourceLine;

/// What there is, and what policies come to, each outcome once.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Inventory {
    /// The kinds of policies.
    pub(in crate::report) kinds: Vec<KindEntry>,
    /// Gateways, and Services of a mesh that are parents of routes.
    pub(in crate::report) gateways: Vec<GatewayEntry>,
    /// All routes, whether a policy applies to them or not.
    pub(in crate::report) routes: Vec<RouteEntry>,
    /// The result of the policies of one kind, and the paths where most clusters have it.
    pub(in crate::report) outcomes: Vec<OutcomeEntry>,
    /// Where clusters have another outcome than most: other settings, or the same from elsewhere.
    pub(in crate::report) exceptions: Vec<OutcomeException>,
}

/// A kind of policies.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct KindEntry {
    pub(in crate::report) kind: String,
    pub(in crate::report) group: String,
    /// Where its paths end: `route rule`.
    pub(in crate::report) ends: &'static str,
}

/// A Gateway, or a Service of a mesh.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct GatewayEntry {
    /// Locator.
    pub(in crate::report) gateway: String,
    #[serde(flatten)]
    pub(in crate::report) place: Option<SourceLine>,
    /// Name of its GatewayClass.
    pub(in crate::report) class: String,
    /// `namespace/name` of its Placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) placement: Option<String>,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) local: bool,
    /// Its clusters, sorted.
    // Shared by all that are on the same clusters.
    pub(in crate::report) clusters: Arc<Vec<String>>,
    pub(in crate::report) listeners: Vec<ListenerEntry>,
}

/// A listener.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct ListenerEntry {
    /// Locator; for a Service, that of the Service.
    pub(in crate::report) listener: String,
    /// `*` for any.
    pub(in crate::report) hostname: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) port: Option<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::report) protocol: String,
    /// The ListenerSet that it comes from, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) listener_set: Option<String>,
}

/// A route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct RouteEntry {
    /// Locator.
    pub(in crate::report) route: String,
    #[serde(flatten)]
    pub(in crate::report) place: Option<SourceLine>,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) local: bool,
    pub(in crate::report) hostnames: Vec<String>,
    pub(in crate::report) rules: Vec<RuleEntry>,
    /// The listeners that accept it; none if it is attached nowhere.
    pub(in crate::report) attached: Vec<AttachedEntry>,
}

/// A rule of a route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct RuleEntry {
    /// Locator.
    pub(in crate::report) rule: String,
    /// What it matches, for people: `/cart`, `= /cart`, `~ ^/cart`, then the method, headers, and query parameters.
    pub(in crate::report) matches: Vec<String>,
    /// Where it forwards to, for people: `cart:8080`.
    pub(in crate::report) backends: Vec<String>,
}

/// A listener that accepts a route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct AttachedEntry {
    /// Locator.
    pub(in crate::report) listener: String,
    /// The clusters where it does, sorted; none means all of the Gateway.
    #[serde(skip_serializing_if = "is_empty")]
    pub(in crate::report) clusters: Arc<Vec<String>>,
}

fn is_empty(names: &Arc<Vec<String>>) -> bool {
    names.is_empty()
}

/// The result of the policies of one kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct OutcomeEntry {
    pub(in crate::report) kind: String,
    pub(in crate::report) group: String,
    /// Whether it lets everybody in on purpose.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) open: bool,
    pub(in crate::report) settings: Vec<OutcomeSetting>,
    pub(in crate::report) overridden: Vec<LostSetting>,
    /// Locators from the Gateway on: where most clusters of the Gateway have it. A path that ends at a route represents
    /// those of its rules.
    pub(in crate::report) paths: Vec<Vec<String>>,
}

/// A setting that is in effect.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct OutcomeSetting {
    /// Rule id or JSON pointer.
    pub(in crate::report) setting: String,
    pub(in crate::report) value: Value,
    /// Locator.
    pub(in crate::report) policy: String,
    /// The line of the name of the setting.
    #[serde(flatten)]
    pub(in crate::report) place: Option<SourceLine>,
}

/// A setting that is overridden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct LostSetting {
    /// Rule id or JSON pointer.
    pub(in crate::report) setting: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) value: Option<Value>,
    /// Locator of the policy that it is written in.
    pub(in crate::report) policy: String,
    #[serde(flatten)]
    pub(in crate::report) place: Option<SourceLine>,
    /// Locators of the policies that override it.
    pub(in crate::report) by: Vec<String>,
    /// The name of the rule that decided, if one did.
    pub(in crate::report) rule: &'static str,
    /// The rule in words.
    pub(in crate::report) because: &'static str,
}

/// Clusters with another outcome than most.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct OutcomeException {
    /// Sorted.
    pub(in crate::report) clusters: Vec<String>,
    pub(in crate::report) kind: String,
    pub(in crate::report) group: String,
    /// The outcome of most, by its position in `outcomes`; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) usual: Option<usize>,
    /// The outcome on these clusters; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) here: Option<usize>,
    /// Locators from the Gateway on.
    pub(in crate::report) paths: Vec<Vec<String>>,
}
