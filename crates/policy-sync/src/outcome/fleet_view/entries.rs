//! The parts of a fleet view: everything that policies may apply to, and the outcomes of the policies there. They refer to
//! everything by its locator.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::Work;
use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::Hidden;
use crate::outcome::settings::{AppliedSetting, LostSetting, SourceLine};
use crate::topology::Level;

/// The work for a cell: a route below a listener, and another place where a path is, each in each place where it is
/// evaluated; and a setting of different outcomes.
pub(super) const STEPS_PER_CELL: u64 = 30;

/// What there is, and what policies come to, each outcome once.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetView {
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
    /// How kinds are written that locators have in lower case: `httproute.gateway.networking.k8s.io`.
    #[serde(skip)]
    pub kind_names: BTreeMap<String, String>,
}

/// How much of a fleet a view has.
#[expect(missing_debug_implementations, reason = "it contains a function")]
pub struct FleetScope<'s> {
    /// Which clusters it has.
    pub is_listed: &'s dyn Fn(&str) -> bool,
    /// What the input may cost.
    pub work: &'s Work,
    /// The names of hidden values.
    pub hidden: &'s mut Hidden,
}

/// A kind of policies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KindEntry {
    /// The kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// Where its paths end: `route rule`.
    pub ends: &'static str,
}

impl KindEntry {
    /// Whether its paths end at the rules of routes, or at their backends.
    pub fn is_about_routes(&self) -> bool {
        [Level::Rule, Level::Backend]
            .map(Level::name)
            .contains(&self.ends)
    }
}

/// A Gateway, or a Service of a mesh.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayEntry {
    /// Locator.
    pub gateway: Arc<str>,
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
    pub clusters: Arc<[String]>,
    /// Its listeners, in order.
    pub listeners: Vec<ListenerEntry>,
}

/// A listener.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerEntry {
    /// Locator; for a Service, that of the Service.
    pub listener: Arc<str>,
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteEntry {
    /// Locator.
    pub route: Arc<str>,
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleEntry {
    /// Locator.
    pub rule: Arc<str>,
    /// What it matches, for people: `/cart`, `= /cart`, `~ ^/cart`, then the method, headers, and query parameters.
    pub matches: Vec<String>,
    /// Where it forwards to, for people: `cart:8080`.
    pub backends: Vec<String>,
    /// The locators of its backends, if paths of some kind end there.
    #[serde(rename = "listedBackends", skip_serializing_if = "Vec::is_empty")]
    pub listed_backends: Vec<Arc<str>>,
}

/// A listener that accepts a route.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AttachedEntry {
    /// Locator.
    pub listener: Arc<str>,
    /// The clusters where it does, sorted; none means all of the Gateway.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub clusters: Arc<[String]>,
}

/// A path from a Gateway on, or a part of one, by the numbers of its locators. A fleet may have millions of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Spot {
    /// The Gateway, or the Service of a mesh.
    pub(super) gateway: Name,
    /// The listener there; a Service has none.
    pub(super) listener: Option<Name>,
    /// The route.
    pub(super) route: Option<Name>,
    /// The rule there.
    pub(super) rule: Option<Name>,
    /// The backend, or its port.
    pub(super) backend: Option<Name>,
}

impl Spot {
    /// What the path leads through, from the Gateway on.
    pub(super) fn names(self) -> impl Iterator<Item = Name> {
        let below = [self.listener, self.route, self.rule, self.backend];
        std::iter::once(self.gateway).chain(below.into_iter().flatten())
    }
}

/// The number of a locator, in the order of the view.
pub(super) type Name = u32;

/// Locators from the Gateway on.
pub(super) type OutcomePath = Vec<Arc<str>>;

/// The result of the policies of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct OutcomeEntry {
    /// The policy kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// Whether it lets everybody in on purpose.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// The settings in effect.
    pub settings: Vec<AppliedSetting>,
    /// The settings that lost.
    pub overridden: Vec<LostSetting>,
    /// Locators from the Gateway on: where most clusters of the Gateway have it.
    pub paths: Vec<OutcomePath>,
}

/// Clusters with another outcome than most.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutcomeException {
    /// Sorted.
    pub clusters: Arc<[String]>,
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
    pub paths: Vec<OutcomePath>,
}
