//! The clusters, as all Placements share them. Each has a number, and its labels, claims, and taints after the options;
//! selectors query an index.

use std::collections::{BTreeSet, HashMap, HashSet};

use apimachinery::{Operator, Requirement, Selector};

use crate::api::managed_cluster::{ManagedCluster, Taint, TaintEffect};
use crate::api::{CLUSTER_SET_LABEL, DEFAULT_SET};
use crate::ids::{ClusterId, NameId, RowId as _, Table};
use crate::input::Input;

const UNAVAILABLE: &str = "cluster.open-cluster-management.io/unavailable";
const UNREACHABLE: &str = "cluster.open-cluster-management.io/unreachable";

/// A taint of a cluster, and which of `spec.taints` it is; `None` for one that the option derived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FleetTaint<'a> {
    pub(crate) taint: Taint<'a>,
    pub(crate) index: Option<usize>,
}

/// The taints that count; with `derive`, a stale taint of availability goes and a missing one comes.
fn effective_taints<'a>(cluster: &ManagedCluster<'a>, derive: bool) -> Vec<FleetTaint<'a>> {
    let own = cluster.taints.iter().enumerate();
    let own = own.map(|(index, taint)| FleetTaint {
        taint: *taint,
        index: Some(index),
    });
    if !derive {
        return own.collect();
    }
    let derived = match cluster.available {
        Some(true) => None,
        Some(false) => Some(UNAVAILABLE),
        None => Some(UNREACHABLE),
    };
    let mut taints: Vec<FleetTaint<'_>> = own
        .filter(|own| ![UNAVAILABLE, UNREACHABLE].contains(&own.taint.key) || derived == Some(own.taint.key))
        .collect();
    if let Some(key) = derived
        && !taints.iter().any(|own| own.taint.key == key)
    {
        taints.push(FleetTaint {
            taint: Taint {
                key,
                value: "",
                effect: TaintEffect::NoSelect,
                time_added: None,
            },
            index: None,
        });
    }
    taints
}

/// A set of the clusters of one fleet: for each, whether it is a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits(Table<ClusterId, bool>);

impl Bits {
    /// No member.
    pub(crate) fn none(len: usize) -> Self {
        Self(Table::from_rows(vec![false; len]))
    }

    /// Every member.
    pub(crate) fn all(len: usize) -> Self {
        Self(Table::from_rows(vec![true; len]))
    }

    pub(crate) fn insert(&mut self, member: ClusterId) {
        self.0[member] = true;
    }

    pub(crate) fn remove(&mut self, member: ClusterId) {
        self.0[member] = false;
    }

    pub(crate) fn contains(&self, member: ClusterId) -> bool {
        self.0[member]
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.0.rows().contains(&true)
    }

    pub(crate) fn keep(&mut self, other: &Self) {
        for (bit, other) in self.0.rows_mut().iter_mut().zip(other.0.rows()) {
            *bit &= other;
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (bit, other) in self.0.rows_mut().iter_mut().zip(other.0.rows()) {
            *bit |= other;
        }
    }

    pub(crate) fn invert(&mut self) {
        for bit in self.0.rows_mut() {
            *bit = !*bit;
        }
    }

    /// The members as a list, ascending.
    pub(crate) fn to_list(&self) -> Vec<ClusterId> {
        let members = self.0.iter().filter(|(_, bit)| **bit);
        members.map(|(id, _)| id).collect()
    }
}

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
    /// After the options.
    pub(crate) labels: KeyIndex<'a>,
    pub(crate) claims: KeyIndex<'a>,
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
        let decisions = inventory.decisions.rows().iter();
        let decided = decisions.flat_map(|decision| decision.clusters.iter().copied());
        let foreign: BTreeSet<&str> = decided.filter(|name| !known.contains(name)).collect();
        names.extend(foreign);
        let clusters: Table<ClusterId, _> = Table::from_rows(clusters);
        let names: Table<NameId, _> = Table::from_rows(names);
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
            let claims = cluster.claims.iter();
            claims.map(move |(key, claim)| (id, (*key, claim.value)))
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
        (position < self.clusters.len()).then(|| ClusterId::from_row(name.row()))
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
}

/// The set that the webhook would give a cluster, if it would.
fn joined_set<'a>(cluster: &ManagedCluster<'a>, joins_default: bool) -> Option<&'a str> {
    let label = cluster.labels.get(CLUSTER_SET_LABEL);
    (joins_default && label.is_none_or(|set| set.is_empty())).then_some(DEFAULT_SET)
}

/// For each key and value the clusters that have it.
#[derive(Debug)]
pub(crate) struct KeyIndex<'a> {
    len: usize,
    keys: HashMap<&'a str, HashMap<&'a str, Vec<ClusterId>>>,
}

impl<'a> KeyIndex<'a> {
    fn new(len: usize, entries: impl Iterator<Item = (ClusterId, (&'a str, &'a str))>) -> Self {
        let mut keys: HashMap<&str, HashMap<&str, Vec<ClusterId>>> = HashMap::new();
        for (id, (key, value)) in entries {
            keys.entry(key).or_default().entry(value).or_default().push(id);
        }
        Self { len, keys }
    }

    /// The clusters with exactly this value.
    pub(crate) fn having(&self, key: &str, value: &str) -> &[ClusterId] {
        let members = self.keys.get(key).and_then(|values| values.get(value));
        members.map(Vec::as_slice).unwrap_or_default()
    }

    /// The clusters that meet every requirement.
    pub(crate) fn matching(&self, selector: &Selector) -> Bits {
        let mut bits = Bits::all(self.len);
        for requirement in &selector.requirements {
            bits.keep(&self.meeting(requirement));
        }
        bits
    }

    fn meeting(&self, requirement: &Requirement) -> Bits {
        let mut bits = Bits::none(self.len);
        match requirement.operator {
            Operator::In | Operator::NotIn => {
                for value in &requirement.values {
                    for id in self.having(&requirement.key, value) {
                        bits.insert(*id);
                    }
                }
            }
            Operator::Exists | Operator::DoesNotExist => {
                let values = self.keys.get(requirement.key.as_str()).into_iter();
                for id in values.flat_map(HashMap::values).flatten() {
                    bits.insert(*id);
                }
            }
        }
        if matches!(requirement.operator, Operator::NotIn | Operator::DoesNotExist) {
            bits.invert();
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverting_never_adds_what_is_not_there() {
        for len in [0usize, 1, 63, 64, 65, 130] {
            let mut bits = Bits::none(len);
            bits.invert();
            assert_eq!(bits.to_list().len(), len);
            assert_eq!(bits, Bits::all(len));
        }
    }

    #[test]
    fn members_come_back_in_ascending_order() {
        let mut bits = Bits::none(200);
        for member in [199, 0, 64, 63, 64] {
            bits.insert(ClusterId::from_row(member));
        }
        assert_eq!(bits.to_list(), [0, 63, 64, 199].map(ClusterId::from_row));
        assert!(bits.contains(ClusterId::from_row(63)) && !bits.contains(ClusterId::from_row(65)));
    }
}
