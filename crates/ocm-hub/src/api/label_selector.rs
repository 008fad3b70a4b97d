//! Label selectors in the files that users write. Their schema has accepted them; whether they can select anything is
//! not checked here.

use std::collections::BTreeMap;

use apimachinery::{LabelSelector, MatchExpression};
use serde::Deserialize;

use crate::api::schema::List;

/// The labels of objects, or the claims of clusters, as in any Kubernetes label selector.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Labels {
    /// Labels with their values.
    #[serde(default)]
    match_labels: Option<BTreeMap<String, String>>,
    /// Requirements on labels; all must be met.
    #[serde(default)]
    match_expressions: List<Expression>,
}

/// A requirement on a label.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expression {
    /// The label's key.
    key: String,
    /// In, NotIn, Exists or DoesNotExist.
    operator: String,
    /// The values of In and NotIn.
    #[serde(default)]
    values: List<String>,
}

impl Labels {
    /// The selector, not yet checked.
    pub(super) fn selector(&self) -> LabelSelector {
        let expression = |(_, expression): (usize, &Expression)| MatchExpression {
            key: expression.key.clone(),
            operator: expression.operator.clone(),
            values: expression
                .values
                .items()
                .map(|(_, value)| value.clone())
                .collect(),
        };
        LabelSelector {
            match_labels: self.match_labels.clone().unwrap_or_default(),
            match_expressions: self.match_expressions.items().map(expression).collect(),
        }
    }
}
