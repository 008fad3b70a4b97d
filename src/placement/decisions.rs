//! PlacementDecision objects (OCM placement 1.4).
//!
//! Owns: chunks of 100, names, labels. Flows in: groups. Flows out: objects as data.

use std::collections::BTreeMap;

use super::groups::{Group, Groups};
use crate::api::ocm::{GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL};

/// Clusters in one PlacementDecision.
pub(super) const CHUNK: usize = 100;

/// One PlacementDecision: which group, which part of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Counted from 1 across all groups.
    pub(super) number: usize,
    /// Position of the group.
    pub(super) group: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The objects of some groups, in order; a group without clusters is one object without clusters.
pub(super) fn chunks(groups: &Groups) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for (index, Group { start, end, .. }) in groups.groups.iter().enumerate() {
        let mut at = *start;
        loop {
            let until = at.saturating_add(CHUNK).min(*end);
            chunks.push(Chunk {
                number: chunks.len().saturating_add(1),
                group: index,
                start: at,
                end: until,
            });
            at = until;
            if at >= *end {
                break;
            }
        }
    }
    chunks
}

/// `<placement>-decision-<number>`.
pub(super) fn object_name(placement: &str, number: usize) -> String {
    format!("{placement}-decision-{number}")
}

/// The labels that OCM sets.
pub(super) fn labels(placement: &str, group_name: &str, group_index: usize) -> BTreeMap<String, String> {
    BTreeMap::from([
        (PLACEMENT_LABEL.to_owned(), placement.to_owned()),
        (GROUP_NAME_LABEL.to_owned(), group_name.to_owned()),
        (GROUP_INDEX_LABEL.to_owned(), group_index.to_string()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(sizes: &[usize]) -> Groups {
        let mut groups = Groups::default();
        let mut start = 0usize;
        for size in sizes {
            let end = start.saturating_add(*size);
            groups.groups.push(Group { named: None, start, end });
            start = end;
        }
        groups
    }

    #[test]
    fn the_number_in_the_name_runs_on_across_groups() {
        let chunks = chunks(&groups(&[150, 100, 1]));
        let shape: Vec<_> =
            chunks.iter().map(|chunk| (chunk.number, chunk.group, chunk.end - chunk.start)).collect();
        assert_eq!(shape, [(1, 0, 100), (2, 0, 50), (3, 1, 100), (4, 2, 1)]);
    }

    #[test]
    fn an_empty_group_is_one_empty_object() {
        assert_eq!(
            chunks(&groups(&[0])),
            [Chunk { number: 1, group: 0, start: 0, end: 0 }]
        );
        assert_eq!(chunks(&groups(&[])), []);
    }
}
