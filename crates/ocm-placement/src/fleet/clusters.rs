//! The clusters as numbers.
//!
//! Owns: a number for each cluster in the order of the names, so that comparing numbers compares names; and their
//! labels, claims, and taints after the options. Flows in: the input. Flows out: lookups by number.
//! Must not know: any particular Placement.

use std::collections::{BTreeSet, HashMap, HashSet};

use apimachinery::Selector;

use super::availability_taints::{FleetTaint, effective_taints};
use super::bits::Bits;
use super::exclusive_cluster_set_label::joined_set;
use super::label_index::KeyIndex;
use crate::api::managed_cluster::ManagedCluster;
use crate::api::well_known::CLUSTER_SET_LABEL;
use crate::ids::{ClusterId, NameId, RowId as _, Table};
use crate::input::Input;

/// Clusters, and names that only decisions mention.
///
/// Invariant: `names` begins with the clusters' names in byte order; the names after them belong to no cluster, in
/// byte order too.
#[derive(Debug)]
pub(crate) struct Fleet<'a> {
    pub(crate) clusters: Table<ClusterId, &'a ManagedCluster<'a>>,
    pub(crate) names: Table<NameId, &'a str>,
    ids: HashMap<&'a str, NameId>,
    /// Not being deleted.
    pub(crate) live: Bits,
    pub(crate) taints: Table<ClusterId, Vec<FleetTaint<'a>>>,
    /// Clusters with any taint.
    pub(crate) tainted: Bits,
    labels: KeyIndex<'a>,
    claims: KeyIndex<'a>,
    joins_default: bool,
}

impl<'a> Fleet<'a> {
    pub(crate) fn new(input: &Input<'a>) -> Self {
        let inventory = input.inventory;
        let mut clusters: Vec<&ManagedCluster<'_>> = inventory.clusters.iter().collect();
        // In byte order, as Go sorts names: the order of every result.
        clusters.sort_by(|a, b| a.name.cmp(b.name));
        // Two clusters of one name cannot be on a hub; the first one counts here.
        clusters.dedup_by(|later, first| later.name == first.name);
        let mut names: Vec<&str> = clusters.iter().map(|cluster| cluster.name).collect();
        let known: HashSet<&str> = names.iter().copied().collect();
        // Balance counts names of clusters that are long gone, so they get numbers too.
        let foreign: BTreeSet<&str> = inventory
            .decisions
            .rows()
            .iter()
            .flat_map(|decision| decision.clusters.iter().copied())
            .filter(|name| !known.contains(name))
            .collect();
        names.extend(foreign);
        let clusters: Table<ClusterId, _> = Table::of(clusters);
        let names: Table<NameId, _> = Table::of(names);
        let ids = names.iter().map(|(id, name)| (*name, id)).collect();
        let mut live = Bits::none(clusters.len());
        let mut tainted = Bits::none(clusters.len());
        let mut taints = Table::default();
        for (id, cluster) in clusters.iter() {
            if !cluster.deleting {
                live.insert(id);
            }
            let own = effective_taints(cluster, input.options.derive_availability_taints);
            if !own.is_empty() {
                tainted.insert(id);
            }
            taints.push(own);
        }
        let joins_default = input.options.unlabeled_join_default;
        let label_entries = clusters.iter().flat_map(|(id, cluster)| {
            let own = cluster.labels.iter().map(|(key, value)| (*key, *value));
            let joined = joined_set(cluster, joins_default).map(|set| (CLUSTER_SET_LABEL, set));
            own.filter(move |(key, _)| joined.is_none() || *key != CLUSTER_SET_LABEL)
                .chain(joined)
                .map(move |entry| (id, entry))
        });
        let labels = KeyIndex::new(clusters.len(), label_entries);
        let claim_entries = clusters.iter().flat_map(|(id, cluster)| {
            cluster
                .claims
                .iter()
                .map(move |(key, claim)| (id, (*key, claim.value)))
        });
        let claims = KeyIndex::new(clusters.len(), claim_entries);
        Self {
            clusters,
            names,
            ids,
            live,
            taints,
            tainted,
            labels,
            claims,
            joins_default,
        }
    }

    /// How many clusters there are.
    pub(crate) fn len(&self) -> usize {
        self.clusters.len()
    }

    /// The number of a name of a cluster or of a decision of the input.
    pub(crate) fn name_id(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// The cluster of a name; `None` for one that only decisions mention.
    pub(crate) fn cluster_of(&self, name: NameId) -> Option<ClusterId> {
        let position = name.position();
        (position < self.clusters.len()).then(|| ClusterId::of_row(name.row()))
    }

    pub(crate) fn cluster_id(&self, name: &str) -> Option<ClusterId> {
        self.cluster_of(self.name_id(name)?)
    }

    pub(crate) fn name(&self, id: impl Into<NameId>) -> &'a str {
        self.names[id.into()]
    }

    /// The value of a label after the options.
    pub(crate) fn label(&self, cluster: &ManagedCluster<'a>, key: &str) -> Option<&'a str> {
        if key == CLUSTER_SET_LABEL
            && let Some(set) = joined_set(cluster, self.joins_default)
        {
            return Some(set);
        }
        cluster.labels.get(key).copied()
    }

    /// The clusters whose labels meet every requirement.
    pub(crate) fn matching_labels(&self, selector: &Selector) -> Bits {
        self.labels.matching(selector)
    }

    /// The clusters whose claims meet every requirement.
    pub(crate) fn matching_claims(&self, selector: &Selector) -> Bits {
        self.claims.matching(selector)
    }

    /// The clusters with exactly this label.
    pub(crate) fn labelled(&self, key: &str, value: &str) -> &[ClusterId] {
        self.labels.having(key, value)
    }
}
