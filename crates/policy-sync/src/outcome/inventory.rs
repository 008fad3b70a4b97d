//! The types of the inventory in a `PolicyReport`: everything that policies may apply to, with its place in the input.

use std::sync::Arc;

use kube_json::Value;
use serde::Serialize;

use crate::diagnostic::{Locate, Place};

/// What there is, and what policies come to, each outcome once.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    /// The kinds of policies.
    pub kinds: Vec<KindEntry>,
    /// Gateways, and Services of a mesh that are parents of routes.
    pub gateways: Vec<GatewayEntry>,
    /// All routes, whether a policy applies to them or not.
    pub routes: Vec<RouteEntry>,
    /// The result of the policies of one kind, and the paths where most clusters have it.
    pub outcomes: Vec<OutcomeEntry>,
    /// Where clusters have another outcome than most: other settings, or the same from elsewhere.
    pub exceptions: Vec<OutcomeException>,
}

/// A kind of policies.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindEntry {
    /// The kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// Where its paths end: `route rule`.
    pub ends: &'static str,
}

/// A Gateway, or a Service of a mesh.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GatewayEntry {
    /// Locator.
    pub gateway: String,
    /// Where it is defined.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// Name of its GatewayClass.
    pub class: String,
    /// `namespace/name` of its Placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// Its clusters, sorted.
    // Shared by all that are on the same clusters.
    pub clusters: Arc<Vec<String>>,
    /// Its listeners, in order.
    pub listeners: Vec<ListenerEntry>,
}

/// A listener.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListenerEntry {
    /// Locator; for a Service, that of the Service.
    pub listener: String,
    /// `*` for any.
    pub hostname: String,
    /// The port, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
    /// The protocol.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub protocol: String,
    /// The ListenerSet that it comes from, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener_set: Option<String>,
}

/// A route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RouteEntry {
    /// Locator.
    pub route: String,
    /// Where it is defined.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// Its hostnames.
    pub hostnames: Vec<String>,
    /// Its rules, in order.
    pub rules: Vec<RuleEntry>,
    /// The listeners that accept it; none if it is attached nowhere.
    pub attached: Vec<AttachedEntry>,
}

/// A rule of a route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleEntry {
    /// Locator.
    pub rule: String,
    /// What it matches, for people: `/cart`, `= /cart`, `~ ^/cart`, then the method, headers, and query parameters.
    pub matches: Vec<String>,
    /// Where it forwards to, for people: `cart:8080`.
    pub backends: Vec<String>,
}

/// A listener that accepts a route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedEntry {
    /// Locator.
    pub listener: String,
    /// The clusters where it does, sorted; none means all of the Gateway.
    #[serde(skip_serializing_if = "is_empty")]
    pub clusters: Arc<Vec<String>>,
}

fn is_empty(names: &Arc<Vec<String>>) -> bool {
    names.is_empty()
}

/// The result of the policies of one kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeEntry {
    /// The policy kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// Whether it lets everybody in on purpose.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// The settings in effect.
    pub settings: Vec<OutcomeSetting>,
    /// The settings that lost.
    pub overridden: Vec<LostSetting>,
    /// Locators from the Gateway on: where most clusters of the Gateway have it. A path that ends at a route represents
    /// those of its rules.
    pub paths: Vec<Vec<String>>,
}

/// A setting that is in effect.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeSetting {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Its value.
    pub value: Value,
    /// Locator.
    pub policy: String,
    /// The line of the name of the setting.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A setting that is overridden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostSetting {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Locator of the policy that it is written in.
    pub policy: String,
    /// Where it is written.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// Locators of the policies that override it.
    pub by: Vec<String>,
    /// The name of the rule that decided, if one did.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}

/// Clusters with another outcome than most.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeException {
    /// Sorted.
    pub clusters: Vec<String>,
    /// The policy kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// The outcome of most, by its position in `outcomes`; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual: Option<usize>,
    /// The outcome on these clusters; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<usize>,
    /// Locators from the Gateway on.
    pub paths: Vec<Vec<String>>,
}

/// File and line of an object of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceLine {
    /// Path relative to the root of the input.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
}

impl SourceLine {
    /// The line of a place, where there is a text.
    pub fn of(locate: &dyn Locate, place: Place) -> Option<Self> {
        let span = locate.locate(&place)?;
        Some(Self {
            path: span.path.to_owned(),
            line: span.line,
        })
    }
}
