//! Label selectors as Kubernetes reads them: `matchLabels` and `matchExpressions`, all of which must hold.
//!
//! Owns: one compiled [`Selector`]. Flows in: a field. Flows out: whether labels match.
//! Must not know: what is selected.

use crate::object::Field;

/// A label selector. An empty one matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads a selector; `None` when an API server would refuse it.
    #[must_use]
    pub fn read(field: &Field<'_>) -> Option<Self> {
        let mut requirements = Vec::new();
        for (key, value) in field.get("matchLabels").entries() {
            let value = value.str()?.to_owned();
            requirements.push(Requirement {
                key: key.to_owned(),
                operator: Operator::In(vec![value]),
            });
        }
        for expression in field.get("matchExpressions").items() {
            let values: Option<Vec<String>> = expression
                .get("values")
                .items()
                .map(|value| value.str().map(str::to_owned))
                .collect();
            let values = values?;
            let operator = match (expression.get("operator").str()?, values.is_empty()) {
                ("In", false) => Operator::In(values),
                ("NotIn", false) => Operator::NotIn(values),
                ("Exists", true) => Operator::Exists,
                ("DoesNotExist", true) => Operator::DoesNotExist,
                _ => return None,
            };
            requirements.push(Requirement {
                key: expression.get("key").str()?.to_owned(),
                operator,
            });
        }
        Some(Self { requirements })
    }

    /// Whether the labels that `label` looks up match. A missing key satisfies NotIn, as in Kubernetes.
    pub fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let found = label(&requirement.key);
            match &requirement.operator {
                Operator::In(values) => found.is_some_and(|found| values.iter().any(|value| value == found)),
                Operator::NotIn(values) => {
                    found.is_none_or(|found| values.iter().all(|value| value != found))
                }
                Operator::Exists => found.is_some(),
                Operator::DoesNotExist => found.is_none(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(selector: serde_json::Value) -> Option<bool> {
        let selector = Selector::read(&Field::new(&selector))?;
        Some(selector.matches(|key| (key == "tier").then_some("web")))
    }

    #[test]
    fn every_requirement_must_hold() {
        assert_eq!(matches(json!({"matchLabels": {"tier": "web"}})), Some(true));
        assert_eq!(
            matches(json!({"matchLabels": {"tier": "web", "x": "y"}})),
            Some(false)
        );
        let not_in = json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["y"]}]});
        assert_eq!(matches(not_in), Some(true));
        let wrong = json!({"matchExpressions": [{"key": "x", "operator": "Near"}]});
        assert_eq!(matches(wrong), None);
        assert_eq!(matches(json!({})), Some(true));
    }
}
