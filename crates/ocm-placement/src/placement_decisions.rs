//! PlacementDecision objects (docs/systems/ocm-placement.md#placementdecisions).

use std::collections::BTreeMap;

use crate::api::well_known::{GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL};
use crate::decision_groups::{Group, Groups};

/// Clusters in one PlacementDecision: `maxNumOfClusterDecisions` in open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/scheduling_controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53.
const CHUNK: usize = 100;

/// One PlacementDecision: which group, which part of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Counted from 1 across all groups.
    pub(crate) number: usize,
    /// Position of the group.
    pub(crate) group: usize,
    /// Which of `decisionGroups` that is; `None`: the rest.
    pub(crate) named: Option<usize>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The objects of some groups, in order; a group without clusters is one object without clusters. No object has
/// clusters of two groups, and the numbers run on from group to group.
pub(crate) fn chunks(groups: &Groups) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for (index, Group { start, end, named }) in groups.groups.iter().enumerate() {
        let mut at = *start;
        loop {
            let until = at.saturating_add(CHUNK).min(*end);
            chunks.push(Chunk {
                number: chunks.len().saturating_add(1),
                group: index,
                named: *named,
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

/// Placement and number of an object's name; `None` when it is not of that form.
pub(crate) fn object_number(name: &str) -> Option<(&str, usize)> {
    let (placement, number) = name.rsplit_once("-decision-")?;
    let parsed: usize = number.parse().ok()?;
    (parsed.to_string() == number).then_some((placement, parsed))
}

/// `<placement>-decision-<number>`.
pub(crate) fn object_name(placement: &str, number: usize) -> String {
    format!("{placement}-decision-{number}")
}

/// The labels that OCM sets.
pub(crate) fn labels(placement: &str, group_name: &str, group_index: usize) -> BTreeMap<String, String> {
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
            groups.groups.push(Group {
                named: None,
                start,
                end,
            });
            start = end;
        }
        groups
    }

    #[test]
    fn the_number_in_the_name_runs_on_across_groups() {
        let chunks = chunks(&groups(&[150, 100, 1]));
        let shape: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.number, chunk.group, chunk.end - chunk.start))
            .collect();
        assert_eq!(shape, [(1, 0, 100), (2, 0, 50), (3, 1, 100), (4, 2, 1)]);
    }

    #[test]
    fn names_of_objects_are_read_back() {
        assert_eq!(
            object_number(&object_name("a-decision-b", 12)),
            Some(("a-decision-b", 12))
        );
        for name in [
            "a-decision-",
            "a-decision-01",
            "a-decision-+1",
            "a-decision-x",
            "a",
        ] {
            assert_eq!(object_number(name), None, "{name}");
        }
    }

    #[test]
    fn an_empty_group_is_one_empty_object() {
        assert_eq!(
            chunks(&groups(&[0])),
            [Chunk {
                number: 1,
                group: 0,
                named: None,
                start: 0,
                end: 0
            }]
        );
        assert_eq!(chunks(&groups(&[])), []);
    }
}
