//! Route delegation: rules hand requests on to other routes, as in kgateway
//! (docs/systems/other-policies.md#route-delegation).
//!
//! Owns: [`Delegation`], one way in which a route gets requests from rules of others, and the table of all of them.
//! Flows in: the results of `handing_on`. Flows out: the same. Must not know: routes as read, policies.

use std::collections::HashMap;

use kube_json::Value;

use super::ids::{DelegationId, RouteId, RuleId};
use crate::hub::Table;

/// A route that gets requests from a rule of another one. A route that gets requests in several ways has one for each:
/// which requests it matches, and which policies it inherits, depends on the way.
#[derive(Debug, Clone)]
pub struct Delegation {
    /// How the rule that hands them on comes by the requests; `None`: from a listener.
    pub(crate) above: Option<DelegationId>,
    /// That rule.
    pub from: (RouteId, RuleId),
    /// The route that takes them.
    pub child: RouteId,
    /// Its rules that take any, each with its matches on this way.
    pub(super) rules: Vec<(RuleId, Vec<Value>)>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Delegations {
    all: Table<DelegationId, Delegation>,
    handed_on: HashMap<(Option<DelegationId>, RuleId), Vec<DelegationId>>,
}

impl Delegations {
    pub(super) fn add(&mut self, delegation: Delegation) -> DelegationId {
        let from = (delegation.above, delegation.from.1);
        let id = self.all.push(delegation);
        self.handed_on.entry(from).or_default().push(id);
        id
    }

    pub(super) fn get(&self, id: DelegationId) -> &Delegation {
        self.all.get(id)
    }

    /// All, in the order in which they were found: what is above one is before it.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Delegation> {
        self.all.rows().iter()
    }

    /// The routes to which a rule hands on its requests; none if it serves them itself.
    pub(super) fn from(&self, via: Option<DelegationId>, rule: RuleId) -> &[DelegationId] {
        let known = self.handed_on.get(&(via, rule));
        known.map(Vec::as_slice).unwrap_or_default()
    }
}
