//! Typos in the names of cluster sets.
//!
//! Owns: the finding about such a name. Flows in: the hub. Flows out: findings. Must not know: how the typo affects an
//! evaluation.
//!
//! OCM accepts any name: a cluster with a typo in its label is in no set, and silently leaves every Placement.

use crate::api::ocm::GROUP;
use crate::diagnostic::{Code, Finding, KnownNames};
use crate::hub::Hub;
use crate::object::Object;

use apimachinery::Field;
use ocm_placement::CLUSTER_SET_LABEL;

/// Sets that OCM makes by itself.
const OF_OCM: [&str; 2] = ["default", "global"];

/// Names of cluster sets in labels and Placements that are not in the input and near to one that is.
pub(super) fn unknown_sets(hub: &Hub) -> Vec<Finding> {
    let of_kind = |kind: &str| hub.objects.of_kind(GROUP, kind).iter();
    let sets: Vec<&str> = of_kind("ManagedClusterSet")
        .map(|set| set.name.as_str())
        .collect();
    if sets.is_empty() {
        return Vec::new();
    }
    let known = KnownNames::of(sets.iter().copied());
    let unknown = |object: &Object, field: &Field<'_>| {
        let name = field.str()?;
        let near = known
            .nearest(name)
            .filter(|near| *near != name && !OF_OCM.contains(&name))?;
        let finding = Finding::new(
            Code::PLACEMENT_UNKNOWN_SET,
            object.place(&field.pointer()),
            format!(
                "{} names the cluster set `{name}`, which is not in the input",
                object.identity()
            ),
        );
        let set = of_kind("ManagedClusterSet").find(|set| set.name == near)?;
        Some(
            finding
                .help(format!("did you mean `{near}`?"))
                .lacks(format!("ManagedClusterSet {name}"), set.place("/metadata/name")),
        )
    };
    let labels = of_kind("ManagedCluster").filter_map(|cluster| {
        let labels = cluster.root().get("metadata").get("labels");
        unknown(cluster, &labels.get(CLUSTER_SET_LABEL))
    });
    let placements = of_kind("Placement").flat_map(|placement| {
        let sets = placement.root().get("spec").get("clusterSets");
        let sets: Vec<Field<'_>> = sets.items().collect();
        sets.into_iter().filter_map(move |set| unknown(placement, &set))
    });
    labels.chain(placements).collect()
}
