//! Decision groups (OCM placement 1.3).
//!
//! Owns: how many clusters a group holds, which cluster goes into which group, the order of the output. Flows in:
//! the selected clusters. Flows out: groups, or the complaint that makes the Placement misconfigured.

use std::collections::HashMap;

use super::Input;
use super::bits::Bits;
use super::fleet::Fleet;
use super::predicate::{SelectorFault, build, by_labels_and_claims};
use crate::api::ocm::{ClusterSelector, ClustersPerGroup, GroupStrategy};

/// A run of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// Which of `decisionGroups`; `None`: the rest, whose name is `""`.
    pub(super) named: Option<usize>,
    /// First of [`Groups::order`].
    pub(super) start: usize,
    /// One past the last.
    pub(super) end: usize,
}

/// The selected clusters in the order of the output.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    /// Group after group, by name inside each.
    pub(super) order: Vec<u32>,
    /// In the order of their index.
    pub(super) groups: Vec<Group>,
    /// What was wrong; the groups built so far are kept, the rest is lost.
    pub(super) fault: Option<SelectorFault>,
}

/// The group selectors of all Placements, each distinct one evaluated once.
#[derive(Debug)]
pub(super) struct GroupSelectors<'a> {
    results: HashMap<&'a ClusterSelector<'a>, Result<Bits, SelectorFault>>,
}

impl<'a> GroupSelectors<'a> {
    pub(super) fn new(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let mut results = HashMap::new();
        for placement in &input.inventory.placements {
            for group in &placement.group_strategy.groups {
                results.entry(&group.selector).or_insert_with(|| {
                    build(&group.selector, "").map(|built| by_labels_and_claims(&built, fleet))
                });
            }
        }
        Self { results }
    }
}

const STRATEGY: &str = "/spec/decisionStrategy/groupStrategy";

/// How many of `selected` clusters a group holds; all of them when the number makes no sense.
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
                Some(percent) => percent.saturating_mul(selected).div_ceil(100),
                None => return Err(format!("{text} invalid type: string is not a percentage")),
            }
        }
    };
    Ok(if number == 0 || number > selected {
        selected
    } else {
        number
    })
}

/// Cuts the selected clusters (ascending) into groups.
pub(super) fn group(
    strategy: &GroupStrategy<'_>,
    selected: Vec<u32>,
    selectors: &GroupSelectors<'_>,
) -> Groups {
    let size = match clusters_per_group(strategy.clusters_per_group, selected.len()) {
        Ok(size) => size.max(1),
        Err(message) => {
            let pointer = format!("{STRATEGY}/clustersPerDecisionGroup");
            return Groups {
                fault: Some(SelectorFault { message, pointer }),
                ..Groups::default()
            };
        }
    };
    let mut groups = Groups {
        order: Vec::with_capacity(selected.len()),
        ..Groups::default()
    };
    let mut rest = selected;
    for (index, spec) in strategy.groups.iter().enumerate() {
        match selectors.results.get(&spec.selector) {
            Some(Ok(bits)) => {
                let start = groups.order.len();
                groups
                    .order
                    .extend(rest.iter().copied().filter(|cluster| bits.contains(*cluster)));
                rest.retain(|cluster| !bits.contains(*cluster));
                groups.cut(Some(index), start, size);
            }
            Some(Err(fault)) => {
                groups.fault = Some(SelectorFault {
                    message: fault.message.clone(),
                    pointer: format!(
                        "{STRATEGY}/decisionGroups/{index}/groupClusterSelector{}",
                        fault.pointer
                    ),
                });
                return groups;
            }
            None => {}
        }
    }
    let start = groups.order.len();
    if start == 0 {
        groups.order = rest;
    } else {
        groups.order.extend(rest);
    }
    groups.cut(None, start, size);
    if groups.groups.is_empty() {
        groups.groups.push(Group {
            named: None,
            start: 0,
            end: 0,
        });
    }
    groups
}

impl Groups {
    /// Cuts what stands in the order from `start` on into runs of `size`.
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
