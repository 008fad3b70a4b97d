//! Cluster selectors: labels, claims, CEL; of predicates and of decision groups. The order in which the parts are built
//! decides which complaint comes first.

use apimachinery::Selector;

use crate::api::placement::ClusterSelector;
use crate::api::placement::FieldFault;
use crate::cel::Expressions;
use crate::fleet::{Bits, Fleet};

/// A selector whose parts have been checked.
#[derive(Debug)]
pub(crate) struct BuiltSelector {
    pub(crate) labels: Selector,
    pub(crate) claims: Selector,
    pub(crate) cel: Option<Expressions>,
}

/// Builds a selector: labels, then claims, then CEL, as OCM does, whose first error is the message
/// (`NewClusterSelector` in open-cluster-management-io/ocm
/// pkg/placement/helpers/clusters.go@805fa6103d8bc1761dbc9cb4e420def42703ec53); `pointer` is where it is in the
/// Placement.
pub(crate) fn build(selector: &ClusterSelector<'_>, pointer: &str) -> Result<BuiltSelector, FieldFault> {
    let labels = selector.labels.compile().map_err(|error| FieldFault {
        pointer: format!("{pointer}/labelSelector{}", error.origin.pointer()),
        message: error.message,
    })?;
    let claims = selector.claims.compile().map_err(|error| FieldFault {
        pointer: format!("{pointer}/claimSelector{}", error.origin.pointer()),
        message: error.message,
    })?;
    let cel = if selector.cel_expressions.is_empty() {
        None
    } else {
        let expressions = Expressions::compile(&selector.cel_expressions);
        let expressions = expressions.map_err(|(index, message)| FieldFault {
            pointer: format!("{pointer}/celSelector/celExpressions/{index}"),
            message,
        })?;
        Some(expressions)
    };
    Ok(BuiltSelector { labels, claims, cel })
}

/// The clusters whose labels and claims fit.
pub(crate) fn by_labels_and_claims(selector: &BuiltSelector, fleet: &Fleet<'_>) -> Bits {
    let mut bits = fleet.labels.matching(&selector.labels);
    bits.keep(&fleet.claims.matching(&selector.claims));
    bits
}
