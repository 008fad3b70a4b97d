//! What FleetRules come to, for reports: how each came out, and where it is violated. `explain` and pages list it, and `diff`
//! begins with the violations that a change adds.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::SourceLine;
use crate::diagnostic::{Locate, Place};

/// Names of clusters, which findings and reports share.
pub type ClusterNames = Arc<[Arc<str>]>;

/// What a FleetRule comes to on the clusters of a fleet.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleOutcome {
    /// Its locator.
    pub rule: String,
    /// What it demands.
    pub message: String,
    /// How bad a violation is: `error` or `warning`.
    pub severity: &'static str,
    /// The kind of policies whose settings it is about; absent if it is about paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// How it came out.
    pub state: RuleState,
    /// The clusters where it is about something, sorted.
    pub clusters: ClusterNames,
    /// How many paths, or settings on paths, satisfy it; each counts on every cluster, here and below.
    pub satisfied: usize,
    /// How many violate it.
    pub violated: usize,
    /// How many it is not about.
    pub not_matched: usize,
    /// Where it is violated.
    pub violations: Vec<RuleViolation>,
    /// Its place.
    #[serde(skip)]
    pub at: Place,
    /// The line of its place, where a report has it.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// How a FleetRule came out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuleState {
    /// It is satisfied wherever it is about something.
    Satisfied,
    /// It is violated somewhere.
    Violated,
    /// It is violated only where a suppression accepts that.
    Accepted,
    /// It is about nothing in the input.
    NeverMatches,
    /// It cannot be evaluated.
    #[default]
    Invalid,
}

/// Equal violations of a FleetRule on paths and clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct RuleViolation {
    /// Locator of the route, of the Gateway of the listener, or of the policy.
    pub object: String,
    /// The violating part, for people.
    pub subject: String,
    /// The clusters, sorted.
    pub clusters: ClusterNames,
    /// How many paths it is on, on the clusters where these are most.
    pub paths: usize,
    /// Why an expression has no answer, if that is the violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a suppression accepts it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// Where it is written.
    #[serde(skip)]
    pub at: Place,
    /// The line of that, where a report has it.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

impl RuleOutcome {
    /// Marks the violations that `is_accepted` accepts.
    pub fn accept(&mut self, is_accepted: impl Fn(&Place) -> bool) {
        for violation in &mut self.violations {
            violation.accepted = is_accepted(&violation.at);
        }
        if self.state == RuleState::Violated && self.violations.iter().all(|violation| violation.accepted) {
            self.state = RuleState::Accepted;
        }
    }

    /// The same with the lines of its places, and only those of its violations that `is_listed` accepts.
    #[must_use]
    pub fn listed(&self, is_listed: impl Fn(&RuleViolation) -> bool, locate: &dyn Locate) -> Self {
        let mut listed = self.clone();
        listed.place = SourceLine::of(locate, self.at.clone());
        listed.violations.retain(is_listed);
        for violation in &mut listed.violations {
            violation.place = SourceLine::of(locate, violation.at.clone());
        }
        listed
    }

    /// The rules of `new` with the violations that nobody accepts, on the clusters where `old` does not have them.
    pub fn new_violations(old: &[Self], new: &[Self], locate: &dyn Locate) -> Vec<Self> {
        let mut before: BTreeMap<[&str; 3], Vec<&ClusterNames>> = BTreeMap::new();
        for outcome in old {
            for violation in outcome.violations.iter().filter(|violation| !violation.accepted) {
                let key = [&*outcome.rule, &violation.object, &violation.subject];
                before.entry(key).or_default().push(&violation.clusters);
            }
        }
        let rules = new.iter().map(|rule| {
            let mut outcome = rule.clone();
            outcome.violations.retain_mut(|violation| {
                let key = [&*rule.rule, &violation.object, &violation.subject];
                let lists = before.get(&key).map(Vec::as_slice).unwrap_or_default();
                let is_new = |name: &&Arc<str>| !lists.iter().any(|list| list.binary_search(name).is_ok());
                violation.clusters = violation.clusters.iter().filter(is_new).cloned().collect();
                !violation.accepted && !violation.clusters.is_empty()
            });
            outcome.listed(|_| true, locate)
        });
        rules.filter(|rule| !rule.violations.is_empty()).collect()
    }
}
