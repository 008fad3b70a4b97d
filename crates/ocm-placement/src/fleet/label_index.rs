//! Which clusters have which labels and claims.
//!
//! Owns: the inverted index that selectors query: the cost of a selector depends on its values, not on the fleet.
//! Flows in: labels or claims. Flows out: sets of clusters. Must not know: where a selector is.

use std::collections::HashMap;

use apimachinery::{Operator, Requirement, Selector};

use super::bits::Bits;
use crate::ids::ClusterId;

/// For each key and value the clusters that have it.
#[derive(Debug)]
pub(super) struct KeyIndex<'a> {
    len: usize,
    keys: HashMap<&'a str, HashMap<&'a str, Vec<ClusterId>>>,
}

impl<'a> KeyIndex<'a> {
    pub(super) fn new(len: usize, entries: impl Iterator<Item = (ClusterId, (&'a str, &'a str))>) -> Self {
        let mut keys: HashMap<&str, HashMap<&str, Vec<ClusterId>>> = HashMap::new();
        for (id, (key, value)) in entries {
            keys.entry(key).or_default().entry(value).or_default().push(id);
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
