//! The clusters as numbers: what all Placements share.
//!
//! Owns: an index for each cluster in the order of the names, so that comparing indices compares names; what
//! their labels, claims, taints and resources are after the options; the inverted index of label and claim keys
//! that selectors ask. Flows in: the input. Flows out: lookups by index.
//! Must not know: any particular Placement.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Input;
use super::bits::Bits;
use crate::api::ocm::{
    Availability, CLUSTER_SET_LABEL, ClusterSelector, ManagedCluster, SetMembership, Taint, TaintEffect,
};
use apimachinery::{LabelSelector, Operator, Requirement, Selector};

/// The set that unlabelled clusters join when the option says so.
pub(super) const DEFAULT_SET: &str = "default";

/// Taints that a hub controller derives (OCM placement 1.1).
const UNAVAILABLE: &str = "cluster.open-cluster-management.io/unavailable";
const UNREACHABLE: &str = "cluster.open-cluster-management.io/unreachable";

/// A taint of a cluster, and which of `spec.taints` it is; `None` for one that an option derived.
#[derive(Debug, Clone, Copy)]
pub(super) struct FleetTaint<'a> {
    pub(super) taint: Taint<'a>,
    pub(super) index: Option<usize>,
}

/// Clusters, and names that only decisions mention.
///
/// Invariant: `names[..clusters.len()]` are the clusters' names in byte order; the names after them belong to no
/// cluster, in byte order too.
#[derive(Debug)]
pub(super) struct Fleet<'a> {
    pub(super) clusters: Vec<&'a ManagedCluster<'a>>,
    pub(super) names: Vec<&'a str>,
    ids: HashMap<&'a str, u32>,
    /// Not being deleted.
    pub(super) live: Bits,
    pub(super) taints: Vec<Vec<FleetTaint<'a>>>,
    /// Clusters with any taint.
    pub(super) tainted: Bits,
    labels: KeyIndex<'a>,
    claims: KeyIndex<'a>,
    joins_default: bool,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(input: &Input<'a>) -> Self {
        let inventory = input.inventory;
        let mut clusters: Vec<&ManagedCluster<'_>> = inventory.clusters.iter().collect();
        clusters.sort_by(|a, b| a.name.cmp(b.name));
        // Two clusters of one name are an error elsewhere; the first one counts here.
        clusters.dedup_by(|later, first| later.name == first.name);
        let mut names: Vec<&str> = clusters.iter().map(|cluster| cluster.name).collect();
        let known: HashSet<&str> = names.iter().copied().collect();
        let foreign: BTreeSet<&str> = inventory
            .decisions
            .iter()
            .flat_map(|decision| decision.clusters.iter().copied())
            .filter(|name| !known.contains(name))
            .collect();
        names.extend(foreign);
        let ids = (0u32..).zip(&names).map(|(id, name)| (*name, id)).collect();
        let mut live = Bits::none(clusters.len());
        let mut tainted = Bits::none(clusters.len());
        let mut taints = Vec::with_capacity(clusters.len());
        for (id, cluster) in (0u32..).zip(&clusters) {
            if !cluster.deleting {
                live.insert(id);
            }
            let own = effective_taints(cluster, input.options.derive_availability_taints);
            if !own.is_empty() {
                tainted.insert(id);
            }
            taints.push(own);
        }
        let joins_default = input.options.unlabelled_join_default;
        let wanted = WantedKeys::of(input);
        let label_entries = (0u32..).zip(&clusters).flat_map(|(id, cluster)| {
            let own = cluster.labels.iter().map(|(key, value)| (*key, *value));
            let joined = joined_set(cluster, joins_default).map(|set| (CLUSTER_SET_LABEL, set));
            own.filter(move |(key, _)| joined.is_none() || *key != CLUSTER_SET_LABEL)
                .chain(joined)
                .map(move |entry| (id, entry))
        });
        let labels = KeyIndex::new(clusters.len(), &wanted.labels, label_entries);
        let claim_entries = (0u32..).zip(&clusters).flat_map(|(id, cluster)| {
            cluster
                .claims
                .iter()
                .map(move |(key, claim)| (id, (*key, claim.value)))
        });
        let claims = KeyIndex::new(clusters.len(), &wanted.claims, claim_entries);
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

    /// How many clusters there are; indices from here on are names without a cluster.
    pub(super) fn len(&self) -> usize {
        self.clusters.len()
    }

    pub(super) fn id(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    pub(super) fn name(&self, id: u32) -> &'a str {
        at(&self.names, id).copied().unwrap_or_default()
    }

    pub(super) fn cluster(&self, id: u32) -> Option<&'a ManagedCluster<'a>> {
        at(&self.clusters, id).copied()
    }

    pub(super) fn taints(&self, id: u32) -> &[FleetTaint<'a>] {
        at(&self.taints, id).map(Vec::as_slice).unwrap_or_default()
    }

    /// The value of a label after the options.
    pub(super) fn label(&self, cluster: &ManagedCluster<'a>, key: &str) -> Option<&'a str> {
        if key == CLUSTER_SET_LABEL
            && let Some(set) = joined_set(cluster, self.joins_default)
        {
            return Some(set);
        }
        cluster.labels.get(key).copied()
    }

    /// The clusters whose labels meet every requirement.
    pub(super) fn matching_labels(&self, selector: &Selector) -> Bits {
        self.labels.matching(selector)
    }

    /// The clusters whose claims meet every requirement.
    pub(super) fn matching_claims(&self, selector: &Selector) -> Bits {
        self.claims.matching(selector)
    }

    /// The clusters with exactly this label.
    pub(super) fn labelled(&self, key: &str, value: &str) -> &[u32] {
        self.labels.having(key, value)
    }
}

/// The element at a cluster's index.
pub(super) fn at<T>(list: &[T], id: u32) -> Option<&T> {
    list.get(usize::try_from(id).ok()?)
}

/// The set that an unlabelled cluster joins.
fn joined_set<'a>(cluster: &ManagedCluster<'a>, joins_default: bool) -> Option<&'a str> {
    let unlabelled = cluster
        .labels
        .get(CLUSTER_SET_LABEL)
        .is_none_or(|set| set.is_empty());
    (joins_default && unlabelled).then_some(DEFAULT_SET)
}

fn effective_taints<'a>(cluster: &ManagedCluster<'a>, derive: bool) -> Vec<FleetTaint<'a>> {
    let own = cluster
        .taints
        .iter()
        .enumerate()
        .map(|(index, taint)| FleetTaint {
            taint: *taint,
            index: Some(index),
        });
    if !derive {
        return own.collect();
    }
    let derived = match cluster.available {
        Availability::Available => None,
        Availability::Unavailable => Some(UNAVAILABLE),
        Availability::Unknown => Some(UNREACHABLE),
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

/// The keys that any selector of the input asks for: only those are indexed.
#[derive(Default)]
struct WantedKeys<'a> {
    labels: HashSet<&'a str>,
    claims: HashSet<&'a str>,
}

impl<'a> WantedKeys<'a> {
    fn of(input: &Input<'a>) -> Self {
        let mut wanted = Self::default();
        wanted.labels.insert(CLUSTER_SET_LABEL);
        for set in &input.inventory.cluster_sets {
            if let SetMembership::Selector(Some(selector)) = &set.membership {
                wanted.labels.extend(keys(selector));
            }
        }
        for placement in &input.inventory.placements {
            let groups = placement
                .group_strategy
                .groups
                .iter()
                .map(|group| &group.selector);
            for selector in placement.predicates.iter().chain(groups) {
                wanted.selector(selector);
            }
        }
        wanted
    }

    fn selector(&mut self, selector: &'a ClusterSelector<'a>) {
        self.labels.extend(keys(&selector.labels));
        self.claims.extend(keys(&selector.claims));
    }
}

fn keys(selector: &LabelSelector) -> impl Iterator<Item = &str> {
    let expressions = selector
        .match_expressions
        .iter()
        .map(|expression| &expression.key);
    selector
        .match_labels
        .keys()
        .chain(expressions)
        .map(String::as_str)
}

/// For each key and value the clusters that have it.
#[derive(Debug)]
struct KeyIndex<'a> {
    len: usize,
    keys: HashMap<&'a str, HashMap<&'a str, Vec<u32>>>,
}

impl<'a> KeyIndex<'a> {
    fn new(
        len: usize,
        wanted: &HashSet<&'a str>,
        entries: impl Iterator<Item = (u32, (&'a str, &'a str))>,
    ) -> Self {
        let mut keys: HashMap<&str, HashMap<&str, Vec<u32>>> = HashMap::new();
        for (id, (key, value)) in entries {
            if wanted.contains(key) {
                keys.entry(key).or_default().entry(value).or_default().push(id);
            }
        }
        Self { len, keys }
    }

    fn having(&self, key: &str, value: &str) -> &[u32] {
        let members = self.keys.get(key).and_then(|values| values.get(value));
        members.map(Vec::as_slice).unwrap_or_default()
    }

    fn matching(&self, selector: &Selector) -> Bits {
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
                for id in self
                    .keys
                    .get(requirement.key.as_str())
                    .into_iter()
                    .flat_map(HashMap::values)
                    .flatten()
                {
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
