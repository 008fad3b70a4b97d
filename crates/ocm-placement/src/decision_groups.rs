//! Decision groups (docs/systems/ocm-placement.md#decision-groups).

use crate::api::placement::{ClusterSelector, ClustersPerGroup, FieldFault, Placement};
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, Distinct, PlacementId, SelectorId, Table};
use crate::input::Input;
use crate::predicates::{build, by_labels_and_claims};

/// A run of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Which of `decisionGroups`; `None`: the rest, whose name is `""`.
    pub(crate) named: Option<usize>,
    /// First of [`Groups::order`].
    pub(crate) start: usize,
    /// One past the last.
    pub(crate) end: usize,
}

/// The selected clusters in the order of the output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    /// Group after group, by name inside each.
    pub(crate) order: Vec<ClusterId>,
    /// In the order of their index.
    pub(crate) groups: Vec<Group>,
    /// What was wrong; the groups built so far are kept, the rest is lost.
    pub(crate) fault: Option<FieldFault>,
}

/// The group selectors of all Placements, each distinct one evaluated once.
#[derive(Debug)]
pub(crate) struct GroupSelectors {
    results: Table<SelectorId, Result<Bits, FieldFault>>,
    /// For each Placement one selector for each of its `decisionGroups`.
    of_placement: Table<PlacementId, Vec<SelectorId>>,
}

impl GroupSelectors {
    pub(crate) fn new(input: &Input<'_>, fleet: &Fleet<'_>) -> Self {
        let mut selectors: Distinct<SelectorId, &ClusterSelector<'_>> = Distinct::new();
        let of_placement = input.inventory.placements.rows().iter().map(|placement| {
            let groups = placement.group_strategy.groups.iter();
            groups.map(|group| selectors.id(&group.selector)).collect()
        });
        Self {
            of_placement: of_placement.collect(),
            results: selectors
                .map(|selector| build(selector, "").map(|built| by_labels_and_claims(&built, fleet))),
        }
    }

    /// The clusters of each of a Placement's `decisionGroups`, regardless of which are selected.
    pub(crate) fn for_placement(
        &self,
        placement: PlacementId,
    ) -> impl Iterator<Item = &Result<Bits, FieldFault>> {
        let selectors = self.of_placement[placement].iter();
        selectors.map(|selector| &self.results[*selector])
    }
}

const STRATEGY: &str = "/spec/decisionStrategy/groupStrategy";

/// How many of `selected` clusters a group has; all of them if the number makes no sense.
///
/// # Errors
/// OCM's message for text that is no percentage, also for a plain number in quotes.
fn clusters_per_group(per_group: ClustersPerGroup<'_>, selected: usize) -> Result<usize, String> {
    let number = match per_group {
        ClustersPerGroup::All => 0,
        ClustersPerGroup::Number(number) => usize::try_from(number).unwrap_or(0),
        ClustersPerGroup::Text(text) => {
            let percent: Option<usize> = text.strip_suffix('%').and_then(|digits| digits.parse().ok());
            match percent {
                // Rounded up, so that a small share of few clusters is one cluster and not none.
                Some(percent) => percent.saturating_mul(selected).div_ceil(100),
                None => return Err(format!("{text} invalid type: string is not a percentage")),
            }
        }
    };
    Ok(if number == 0 {
        selected
    } else {
        number.min(selected)
    })
}

/// Cuts the selected clusters (ascending) into groups.
///
/// Inside a group the order is that of the names, whatever the scores were: those chose, and are gone. A named group
/// that matches nothing makes no group and uses no index; a wrong one loses itself and all that would follow, while
/// what was built before it stays (`generatePlacementDecisionsAndStatus` in open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/scheduling_controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
pub(crate) fn group<'s>(
    clusters_in_each: ClustersPerGroup<'_>,
    selected: Vec<ClusterId>,
    selectors: impl Iterator<Item = &'s Result<Bits, FieldFault>>,
) -> Groups {
    let size = match clusters_per_group(clusters_in_each, selected.len()) {
        Ok(size) => size.max(1),
        Err(message) => {
            let pointer = format!("{STRATEGY}/clustersPerDecisionGroup");
            return Groups {
                fault: Some(FieldFault { message, pointer }),
                ..Groups::default()
            };
        }
    };
    let mut groups = Groups::default();
    let mut rest = selected;
    for (index, members) in selectors.enumerate() {
        match members {
            Ok(bits) => {
                let start = groups.order.len();
                let members = rest.extract_if(.., |cluster| bits.contains(*cluster));
                groups.order.extend(members);
                groups.cut(Some(index), start, size);
            }
            Err(fault) => {
                groups.fault = Some(FieldFault {
                    message: fault.message.clone(),
                    pointer: format!(
                        "{STRATEGY}/decisionGroups/{index}/groupClusterSelector{}",
                        fault.pointer
                    ),
                });
                return groups;
            }
        }
    }
    let start = groups.order.len();
    groups.order.extend(rest);
    groups.cut(None, start, size);
    // Nothing selected is still one group, so that one PlacementDecision says so.
    if groups.groups.is_empty() {
        groups.groups.push(Group {
            named: None,
            start: 0,
            end: 0,
        });
    }
    groups
}

/// The name of a group, given which of `decisionGroups` it is.
pub(crate) fn group_name<'a>(placement: &Placement<'a>, named: Option<usize>) -> &'a str {
    let group = named.and_then(|index| placement.group_strategy.groups.get(index));
    group.map(|group| group.name).unwrap_or_default()
}

impl Groups {
    /// The clusters of a part of the order.
    pub(crate) fn part(&self, start: usize, end: usize) -> &[ClusterId] {
        self.order.get(start..end).unwrap_or_default()
    }

    /// Cuts what is in the order from `start` on into runs of `size`.
    fn cut(&mut self, named: Option<usize>, start: usize, size: usize) {
        let mut start = start;
        while start < self.order.len() {
            let end = start.saturating_add(size).min(self.order.len());
            self.groups.push(Group { named, start, end });
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_of_the_selected_clusters_and_rounds_up() {
        let size = |text, selected| clusters_per_group(ClustersPerGroup::Text(text), selected);
        assert_eq!(size("25%", 10), Ok(3));
        assert_eq!(size("100%", 10), Ok(10));
        assert_eq!(size("1%", 10), Ok(1));
        assert_eq!(size("50%", 0), Ok(0));
    }

    #[test]
    fn a_number_that_makes_no_sense_means_all() {
        for number in [0, -3, 11, i64::MAX] {
            assert_eq!(clusters_per_group(ClustersPerGroup::Number(number), 10), Ok(10));
        }
        assert_eq!(clusters_per_group(ClustersPerGroup::Number(4), 10), Ok(4));
    }

    #[test]
    fn a_number_in_quotes_is_no_percentage() {
        assert_eq!(
            clusters_per_group(ClustersPerGroup::Text("5"), 10),
            Err("5 invalid type: string is not a percentage".to_owned())
        );
    }
}
