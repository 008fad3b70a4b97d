//! Which cluster set made a cluster eligible.
//!
//! Owns: the wording about bindings and membership. Flows in: a [`Case`]. Flows out: steps. Must not know: other
//! stages.

use super::case::Case;
use super::explanation::{Bearing, Stage, Step};
use crate::api::managed_cluster_set::{ManagedClusterSet, SetMembership};
use crate::api::well_known::CLUSTER_SET_LABEL;

impl Case<'_, '_> {
    /// Which set made the cluster eligible; whether any did.
    pub(super) fn cluster_set(&self, steps: &mut Vec<Step>) -> bool {
        let sets = &self.plan.sets;
        if !sets.eligible[self.placement_id].bound {
            let namespace = self.placement.namespace;
            let text =
                format!("no ManagedClusterSetBinding in namespace `{namespace}` names a set that exists");
            steps.push(self.step(Stage::ClusterSet, Bearing::Against, text, "/metadata/namespace"));
            return false;
        }
        let eligible = &sets.of(self.placement_id).sets;
        if eligible.is_empty() {
            let text = "none of the Placement's clusterSets is bound to its namespace";
            steps.push(self.step(Stage::ClusterSet, Bearing::Against, text, "/spec/clusterSets"));
            return false;
        }
        if self.cluster.deleting {
            let at = self.cluster.object.at("/metadata/deletionTimestamp");
            let text = "the cluster is being deleted";
            steps.push(Step::new(Stage::ClusterSet, Bearing::Against, text, at));
            return false;
        }
        let mut found = false;
        for set in eligible {
            let members = sets.members[*set].as_ref();
            let member = members.is_ok_and(|members| members.binary_search(&self.id).is_ok());
            steps.push(self.membership(sets.all[*set], member));
            found |= member;
        }
        if found {
            steps.retain(|step| step.bearing == Bearing::For);
        }
        found
    }

    fn membership(&self, set: &ManagedClusterSet<'_>, member: bool) -> Step {
        let bearing = if member { Bearing::For } else { Bearing::Against };
        let label = "/metadata/labels/cluster.open-cluster-management.io~1clusterset";
        let name = set.name;
        let step = |text: String, place| Step::new(Stage::ClusterSet, bearing, text, place);
        match &set.membership {
            SetMembership::ExclusiveLabel => {
                let value = self.plan.fleet.label(self.cluster, CLUSTER_SET_LABEL);
                let text = match (member, value) {
                    (true, _) => format!("its label puts it into the cluster set `{name}`"),
                    (false, Some(other)) => {
                        format!("its label puts it into `{other}`, not into the cluster set `{name}`")
                    }
                    (false, None) => format!("it has no label for the cluster set `{name}`"),
                };
                step(text, self.cluster.object.at(label)).related(set.object.at(""), "the set")
            }
            SetMembership::Selector(None) => step(
                format!("the cluster set `{name}` has no label selector, so it selects nothing"),
                set.object.at("/spec/clusterSelector"),
            ),
            SetMembership::Selector(Some(selector)) => {
                let pointer = "/spec/clusterSelector/labelSelector";
                let unmet = selector
                    .compile()
                    .ok()
                    .and_then(|selector| self.first_unmet_label(&selector.requirements));
                match unmet {
                    Some(requirement) => step(
                        format!(
                            "the cluster set `{name}` requires {requirement}, it has {}",
                            self.labelled(&requirement.key)
                        ),
                        set.object
                            .at(format!("{pointer}{}", requirement.origin.pointer())),
                    ),
                    None => step(
                        format!("the label selector of the cluster set `{name}` matches"),
                        set.object.at(pointer),
                    ),
                }
                .related(self.cluster.object.at("/metadata/labels"), "its labels")
            }
        }
    }
}
