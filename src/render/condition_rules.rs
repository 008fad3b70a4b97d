//! Condition rules: the conditions that the work agent sets on a work in addition to Applied (OCM ManifestWork,
//! `manifestConfigs[].conditionRules`).
//!
//! Owns: which rules a manifest gets, and their CEL. Flows in: the conditions that the controllers of a kind report. Flows
//! out: rules. Must not know: other manifests, which work it is in.
//!
//! The agent sets no condition Progressing by itself, and a ManifestWorkReplicaSet waits for it
//! (docs/systems/ocm-work.md#condition-rules). A rule whose CEL fails counts as false, which would end the waiting: so
//! no expression reads a field that may be missing without testing for it first.

use kube_json::{Text, Value};

/// The conditions that the controllers of a kind report about one of its objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reported {
    /// No condition that all of them report: the object is ready once it is applied.
    #[default]
    Nothing,
    /// These conditions, in `status.conditions`; it is ready when all are True.
    Conditions(&'static [&'static str]),
    /// These conditions, in `status.conditions`, of the generation in `status.observedGeneration` where that is given.
    ConditionsAtOnce(&'static [&'static str]),
    /// These conditions, in each of `status.ancestors[]`.
    OfAncestors(&'static [&'static str]),
}

/// Whether a condition, `c`, is about the current generation of the object. Not every controller reports the generation
/// that it has seen.
const CURRENT: &str = "(!has(c.observedGeneration) || c.observedGeneration == object.metadata.generation)";
/// The same for all conditions of a policy: Kuadrant reports it once.
const ALL_CURRENT: &str = "(!has(object.status.observedGeneration) || object.status.observedGeneration == object.metadata.generation)";

/// The rules of a manifest; `is_main` for the one that its work is about, and one manifest of a work is.
///
/// All manifests take part in Progressing, which is True of a work as soon as it is True of one of them. Degraded is False as
/// soon as it is False of one, and Available of others is that they exist: both are the main manifest's.
pub(super) fn condition_rules(reported: Reported, is_main: bool) -> Option<Value> {
    let rule = |condition: &str, expressions: &[&Text]| {
        Value::from_iter([
            ("celExpressions", expressions.iter().copied().collect()),
            ("condition", condition.into()),
            ("type", "CEL".into()),
        ])
    };
    let Some(Expressions {
        given,
        ready,
        refused,
    }) = Expressions::of(reported)
    else {
        return is_main.then(|| Value::from(vec![rule("Progressing", &[&"false".into()])]));
    };
    let mut rules = vec![rule("Progressing", &[&format!("!({given} && {ready})").into()])];
    if is_main {
        rules.push(rule("Degraded", &[&given, &refused]));
        rules.push(rule("Available", &[&given, &ready]));
    }
    Some(Value::Array(rules))
}

/// Of an object whose controllers report conditions.
struct Expressions {
    /// The fields are there that the others read.
    given: Text,
    /// It is as it should be.
    ready: Text,
    /// A controller has refused it.
    refused: Text,
}

impl Expressions {
    fn of(reported: Reported) -> Option<Self> {
        // Between apostrophes, so that YAML needs no escapes.
        let some = |list: &str, types: &[&str], status: &str, quantifier: &str| -> Text {
            match types {
                [only] => format!("{list}.exists(c, c.type == '{only}' && c.status == '{status}' && {CURRENT})"),
                types => format!(
                    "['{}'].{quantifier}(t, {list}.exists(c, c.type == t && c.status == '{status}' && {CURRENT}))",
                    types.join("', '")
                ),
            }
            .into()
        };
        Some(match reported {
            Reported::Nothing => return None,
            Reported::Conditions(types) => Self {
                given: "has(object.status) && has(object.status.conditions)".into(),
                ready: some("object.status.conditions", types, "True", "all"),
                refused: some("object.status.conditions", types, "False", "exists"),
            },
            Reported::ConditionsAtOnce(types) => {
                let of = Self::of(Reported::Conditions(types))?;
                Self {
                    given: format!("{} && {ALL_CURRENT}", of.given).into(),
                    ..of
                }
            }
            Reported::OfAncestors(types) => Self {
                given:
                    "has(object.status) && has(object.status.ancestors) && size(object.status.ancestors) > 0"
                        .into(),
                ready: format!(
                    "object.status.ancestors.all(a, has(a.conditions) && {})",
                    some("a.conditions", types, "True", "all")
                )
                .into(),
                refused: format!(
                    "object.status.ancestors.exists(a, has(a.conditions) && {})",
                    some("a.conditions", types, "False", "exists")
                )
                .into(),
            },
        })
    }
}

#[cfg(test)]
mod tests;
