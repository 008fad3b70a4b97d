//! PlacementDecisions, as they are before a run.

use super::object::Object;
use super::well_known::PLACEMENT_LABEL;

/// A PlacementDecision (cluster.open-cluster-management.io/v1beta1).
#[derive(Debug, Clone)]
pub(crate) struct PlacementDecision<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// Namespace.
    pub(crate) namespace: &'a str,
    /// Name.
    pub(crate) name: &'a str,
    /// The label that names its Placement.
    pub(crate) placement: Option<&'a str>,
    /// `status.decisions[].clusterName`, in order, as written.
    pub(crate) clusters: Vec<&'a str>,
    /// Every decision is as OCM writes it: no reason, no score.
    pub(crate) plain: bool,
}

impl<'a> PlacementDecision<'a> {
    pub(super) fn read(object: Object<'a>) -> Self {
        let mut decisions = object.root().get("status").get("decisions").items();
        let clusters = decisions
            .clone()
            .map(|decision| decision.text("clusterName").unwrap_or_default());
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: object.name(),
            placement: object.label(PLACEMENT_LABEL),
            clusters: clusters.collect(),
            plain: decisions.all(|decision| {
                decision.text("reason").unwrap_or_default().is_empty() && !decision.get("score").is_present()
            }),
        }
    }
}
