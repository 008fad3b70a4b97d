//! FleetRule: what must hold of the settings in effect on every path of a fleet.
//!
//! Here is every mistake that the object alone shows. Its expressions are compiled where they are evaluated, in `outcome`.
//!
//! What users may write: docs/reference/rules.md.

use kube_json::Value;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::config::ApiVersion;
use super::overlay::{Check, Clusters, SelectedClusters};
use super::schema::{self, List};
use crate::diagnostic::{Code, Finding, Severity};
use crate::object::Object;

/// The most tests of a rule.
const MOST_TESTS: u32 = 64;

/// What must hold of the settings in effect on every path of a fleet.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(title = "spokewright FleetRule")]
#[schemars(extend("required" = ["apiVersion", "kind", "metadata", "spec"]))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// The object's apiVersion.
    api_version: ApiVersion,
    /// The object's kind.
    kind: Kind,
    /// Name. A rule has no namespace: it is about the fleet.
    #[schemars(schema_with = "schema::mapping")]
    metadata: IgnoredAny,
    /// The rule.
    #[serde(default)]
    spec: RuleSpec,
}

/// The object's kind.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
enum Kind {
    FleetRule,
}

/// The fields of a rule.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["assert", "message"]))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RuleSpec {
    /// Error or Warning: how bad a violation is.
    severity: RuleSeverity,
    /// The clusters that the rule is about: those that match all fields. Every cluster by default.
    #[schemars(extend("minProperties" = 1))]
    clusters: Option<SelectedClusters>,
    /// A CEL expression that says which paths, or settings, the rule is about. All of them by default.
    #[serde(rename = "match")]
    #[schemars(length(min = 1))]
    pub matches: Option<String>,
    /// A kind of policies, such as RateLimitPolicy.kuadrant.io: the rule is then about each setting of it that is in effect.
    #[schemars(length(min = 1))]
    pub each: Option<String>,
    /// A CEL expression that must be true.
    #[schemars(length(min = 1))]
    pub assert: Option<String>,
    /// What the rule demands, in a few words.
    #[schemars(length(min = 1))]
    pub message: Option<String>,
    /// Examples that the rule is checked with on each run.
    #[schemars(length(max = MOST_TESTS))]
    pub tests: List<Test>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
enum RuleSeverity {
    /// A violation stops the run.
    #[default]
    Error,
    /// A violation is reported.
    Warning,
}

/// An example, and what the rule says of it.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Test {
    /// What the example shows.
    pub name: String,
    /// The variables: cluster, path, effective, setting. One that is absent is not there.
    #[schemars(schema_with = "schema::mapping")]
    pub given: Value,
    /// What the rule says of it.
    pub expect: Expectation,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Expectation {
    /// It is broken.
    Violated,
    /// It holds.
    Satisfied,
    /// It is about something else.
    NotMatched,
}

/// A rule, as far as its object says what it is.
#[derive(Debug)]
pub struct FleetRule {
    /// How bad a violation is.
    pub severity: Severity,
    /// The clusters; `None` for every cluster.
    pub clusters: Option<Clusters>,
    /// All fields, without those that are wrong.
    pub spec: RuleSpec,
}

/// Reads a rule. Every mistake is a finding `rule/invalid` at its field; the rule that comes back lacks what is wrong.
#[must_use]
pub fn read(object: &Object) -> (Option<FleetRule>, Vec<Finding>) {
    let schema::Typed { file, violations, .. } = schema::typed::<Document>(schema::rule(), &object.value);
    let mut check = Check::new(object, Code::RULE_INVALID, &violations);
    let spec = match file {
        Ok(document) => document.spec,
        Err(error) => {
            check.invalid("", &error.to_string(), "");
            return (None, check.findings);
        }
    };
    for (field, text) in [("assert", &spec.assert), ("message", &spec.message)] {
        if text.is_none() && !check.refuses_any_like("/spec", &[field]) {
            let help = match field {
                "assert" => "write a CEL expression that must be true",
                _ => "say in a few words what the rule demands",
            };
            check.invalid("/spec", &format!("it has no `{field}`"), help);
        }
    }
    let clusters = spec.clusters.as_ref().map(|clusters| check.clusters(clusters));
    let rule = FleetRule {
        severity: match spec.severity {
            RuleSeverity::Error => Severity::Error,
            RuleSeverity::Warning => Severity::Warning,
        },
        clusters: clusters.flatten(),
        spec,
    };
    (Some(rule), check.findings)
}
