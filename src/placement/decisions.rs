//! PlacementDecision objects (OCM placement 1.4).
//!
//! Owns: chunks of 100, names, labels. Flows in: groups. Flows out: objects as data.

use std::collections::BTreeMap;

use super::groups::{Group, Groups};
use super::plan::Plan;
use crate::api::ocm::{GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL, Placement};
use apimachinery::Field;

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

/// A PlacementDecision at one time.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObjectState {
    pub(super) labels: ObjectLabels,
    pub(super) content: Content,
}

/// Where the labels of an object come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum ObjectLabels {
    /// From the PlacementDecision at this position of the inventory.
    Given(usize),
    /// From a group: which of `decisionGroups`, and its position.
    Made { named: Option<usize>, index: usize },
}

/// What an object holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// What the PlacementDecision at this position of the inventory holds.
    Given(usize),
    /// A part of the Placement's clusters.
    Run { start: usize, end: usize },
}

impl ObjectLabels {
    /// As text, for the Placement at this position of the inventory.
    pub(super) fn resolve(self, plan: &Plan<'_>, placement: usize) -> BTreeMap<String, String> {
        let inventory = plan.input.inventory;
        match self {
            Self::Given(position) => {
                let labels = inventory
                    .decisions
                    .get(position)
                    .map(|decision| decision.object.root().get("metadata").get("labels"));
                let entries = labels.iter().flat_map(Field::entries);
                entries
                    .filter_map(|(key, value)| Some((key.to_owned(), value.str()?.to_owned())))
                    .collect()
            }
            Self::Made { named, index } => inventory
                .placements
                .get(placement)
                .map(|placement| labels(placement.name, group_name(placement, named), index))
                .unwrap_or_default(),
        }
    }

    /// Whether two sources give the same labels.
    pub(super) fn same(&self, other: &Self, plan: &Plan<'_>, placement: usize) -> bool {
        match (self, other) {
            (
                Self::Made { named, index },
                Self::Made {
                    named: others,
                    index: at,
                },
            ) => index == at && named == others,
            _ => self.resolve(plan, placement) == other.resolve(plan, placement),
        }
    }
}

/// The name of a group.
pub(super) fn group_name<'a>(placement: &Placement<'a>, named: Option<usize>) -> &'a str {
    let group = named.and_then(|index| placement.group_strategy.groups.get(index));
    group.map(|group| group.name).unwrap_or_default()
}

/// Placement and number of an object's name; `None` when it is not of that form.
pub(super) fn object_number(name: &str) -> Option<(&str, usize)> {
    let (placement, number) = name.rsplit_once("-decision-")?;
    let parsed: usize = number.parse().ok()?;
    (parsed.to_string() == number).then_some((placement, parsed))
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
                start: 0,
                end: 0
            }]
        );
        assert_eq!(chunks(&groups(&[])), []);
    }
}
