//! PlacementDecisions, as they are before a run.
//!
//! Owns: its labels and clusters, and whether it is as OCM writes it. Flows in: an object. Flows out: a view.
//! Must not know: how a run uses it.

use super::object::Object;
use super::reading::Reading;
use super::well_known::{GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL};

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
    /// The label with the decision group's name.
    pub(crate) group_name: Option<&'a str>,
    /// The label with the decision group's index.
    pub(crate) group_index: Option<&'a str>,
    /// `status.decisions[].clusterName`, in order, as written.
    pub(crate) clusters: Vec<&'a str>,
    /// Every decision is as OCM writes it: no reason, no score.
    pub(crate) plain: bool,
}

impl<'a> PlacementDecision<'a> {
    pub(super) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let decisions = reading.items(&object.root().get("status").get("decisions"));
        let clusters = decisions
            .iter()
            .map(|decision| reading.text(&decision.get("clusterName")));
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: object.name(),
            placement: object.label(PLACEMENT_LABEL),
            group_name: object.label(GROUP_NAME_LABEL),
            group_index: object.label(GROUP_INDEX_LABEL),
            clusters: clusters.collect(),
            plain: decisions.iter().all(|decision| {
                decision.text("reason").unwrap_or_default().is_empty() && !decision.get("score").is_present()
            }),
        }
    }
}
