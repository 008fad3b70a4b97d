//! Which clusters have which labels and claims.
//!
//! Owns: the inverted index that selectors query: the cost of a selector depends on its values, not on the fleet.
//! Flows in: labels or claims, and the keys that any selector names. Flows out: sets of clusters.
//! Must not know: where a selector is.

use std::collections::{HashMap, HashSet};

use apimachinery::{LabelSelector, Operator, Requirement, Selector};

use super::bits::Bits;
use crate::api::managed_cluster_set::SetMembership;
use crate::api::placement::ClusterSelector;
use crate::api::well_known::CLUSTER_SET_LABEL;
use crate::ids::ClusterId;
use crate::input::Input;

/// The keys that any selector of the input uses: only those are indexed.
#[derive(Default)]
pub(super) struct WantedKeys<'a> {
    pub(super) labels: HashSet<&'a str>,
    pub(super) claims: HashSet<&'a str>,
}

impl<'a> WantedKeys<'a> {
    pub(super) fn of(input: &Input<'a>) -> Self {
        let mut wanted = Self::default();
        wanted.labels.insert(CLUSTER_SET_LABEL);
        for set in &input.inventory.cluster_sets {
            if let SetMembership::Selector(Some(selector)) = &set.membership {
                wanted.labels.extend(keys(selector));
            }
        }
        for placement in input.inventory.placements.values() {
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
pub(super) struct KeyIndex<'a> {
    len: usize,
    keys: HashMap<&'a str, HashMap<&'a str, Vec<ClusterId>>>,
}

impl<'a> KeyIndex<'a> {
    pub(super) fn new(
        len: usize,
        wanted: &HashSet<&'a str>,
        entries: impl Iterator<Item = (ClusterId, (&'a str, &'a str))>,
    ) -> Self {
        let mut keys: HashMap<&str, HashMap<&str, Vec<ClusterId>>> = HashMap::new();
        for (id, (key, value)) in entries {
            if wanted.contains(key) {
                keys.entry(key).or_default().entry(value).or_default().push(id);
            }
        }
        Self { len, keys }
    }

    pub(super) fn having(&self, key: &str, value: &str) -> &[ClusterId] {
        let members = self.keys.get(key).and_then(|values| values.get(value));
        members.map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn matching(&self, selector: &Selector) -> Bits {
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
