//! PlacementDecisions (docs/systems/ocm-placement.md#placementdecisions): the objects of decision groups, and the
//! decisions that a Placement has at a time: those of the input, and those after a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::api::{GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL};
use crate::decision_groups::{Group, Groups, group_name};
use crate::fleet::Fleet;
use crate::ids::{ClusterId, DecisionId, NameId, PlacementId, Table};
use crate::input::Inventory;

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

/// The decisions of a Placement at a given time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Existing {
    /// Names in the order of its decisions, repeats included.
    pub(crate) clusters: Arc<[NameId]>,
    /// Its objects by their number.
    pub(crate) objects: Arc<BTreeMap<usize, ObjectState>>,
}

/// A PlacementDecision at one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectState {
    pub(crate) labels: ObjectLabels,
    pub(crate) content: Content,
}

/// Where the labels of an object come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectLabels {
    /// From the PlacementDecision of the input.
    Given(DecisionId),
    /// From a group: which of `decisionGroups`, and its position.
    Made { named: Option<usize>, index: usize },
}

/// The contents of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// The contents of the PlacementDecision of the input.
    Given(DecisionId),
    /// A part of the Placement's clusters.
    Run { start: usize, end: usize },
}

impl ObjectLabels {
    /// As text.
    pub(crate) fn resolve(
        self,
        inventory: &Inventory<'_>,
        placement: PlacementId,
    ) -> BTreeMap<String, String> {
        match self {
            Self::Given(decision) => given_labels(inventory, decision),
            Self::Made { named, index } => {
                let placement = &inventory.placements[placement];
                labels(placement.name, group_name(placement, named), index)
            }
        }
    }

    /// Whether two sources give the same labels.
    fn same(self, other: Self, inventory: &Inventory<'_>, placement: PlacementId) -> bool {
        self == other || self.resolve(inventory, placement) == other.resolve(inventory, placement)
    }
}

/// The labels of a PlacementDecision of the input.
pub(crate) fn given_labels(inventory: &Inventory<'_>, decision: DecisionId) -> BTreeMap<String, String> {
    let labels = inventory.decisions[decision]
        .object
        .root()
        .get("metadata")
        .get("labels");
    let entries = labels.entries();
    entries
        .filter_map(|(key, value)| Some((key.to_owned(), value.str()?.to_owned())))
        .collect()
}

/// The decisions of the input: what each Placement has, and how often each name is in any decision.
pub(crate) fn given(
    inventory: &Inventory<'_>,
    fleet: &Fleet<'_>,
) -> (Table<PlacementId, Existing>, Table<NameId, u32>) {
    let placements = &inventory.placements;
    let by_key: HashMap<(&str, &str), PlacementId> = placements
        .iter()
        .map(|(id, placement)| ((placement.namespace, placement.name), id))
        .collect();
    let mut counts: Table<NameId, u32> = Table::from_rows(vec![0; fleet.names.len()]);
    let mut own: Table<PlacementId, (Vec<NameId>, BTreeMap<usize, ObjectState>)> =
        placements.ids().map(|_| Default::default()).collect();
    for (id, decision) in inventory.decisions.iter() {
        // Whose object it is, says its name; whose clusters it holds, says its label: OCM writes by the one and reads
        // by the other.
        if let Some((placement, number)) = object_number(decision.name)
            && let Some(named) = by_key.get(&(decision.namespace, placement))
        {
            let state = ObjectState {
                labels: ObjectLabels::Given(id),
                content: Content::Given(id),
            };
            let (_, objects) = &mut own[*named];
            objects.insert(number, state);
        }
        let owner = decision
            .placement
            .and_then(|name| by_key.get(&(decision.namespace, name)));
        for name in decision.clusters.iter().filter_map(|name| fleet.name_id(name)) {
            counts[name] = counts[name].saturating_add(1);
            if let Some(owner) = owner {
                let (clusters, _) = &mut own[*owner];
                clusters.push(name);
            }
        }
    }
    let own = own.into_map(|(clusters, objects)| Existing {
        clusters: clusters.into(),
        objects: Arc::new(objects),
    });
    (own, counts)
}

impl Existing {
    /// The decisions of a Placement once its groups are written, and whether they changed.
    ///
    /// OCM writes the clusters of an object that is there already, and then leaves its labels for the next run, lest
    /// the second write meet the first one's conflict (`createOrUpdatePlacementDecision` in
    /// open-cluster-management-io/ocm
    /// pkg/placement/controllers/scheduling/scheduling_controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53). So
    /// labels are written only where the clusters were right before, and may be a run late.
    pub(crate) fn after(
        &self,
        groups: &Groups,
        placement: PlacementId,
        inventory: &Inventory<'_>,
        fleet: &Fleet<'_>,
    ) -> (Self, bool) {
        let mut changed = false;
        let mut objects = BTreeMap::new();
        for chunk in chunks(groups) {
            let made = ObjectLabels::Made {
                named: chunk.named,
                index: chunk.group,
            };
            let clusters = groups.part(chunk.start, chunk.end);
            let labels = match self.objects.get(&chunk.number) {
                Some(object) if !self.holds(object, clusters, inventory, fleet) => {
                    changed = true;
                    object.labels
                }
                Some(object) => {
                    changed |= !object.labels.same(made, inventory, placement);
                    made
                }
                None => {
                    changed = true;
                    made
                }
            };
            let content = Content::Run {
                start: chunk.start,
                end: chunk.end,
            };
            objects.insert(chunk.number, ObjectState { labels, content });
        }
        changed |= objects.len() != self.objects.len();
        let after = Self {
            objects: Arc::new(objects),
            clusters: groups.order.iter().copied().map(NameId::from).collect(),
        };
        (after, changed)
    }

    /// Whether an object has exactly these clusters.
    fn holds(
        &self,
        object: &ObjectState,
        clusters: &[ClusterId],
        inventory: &Inventory<'_>,
        fleet: &Fleet<'_>,
    ) -> bool {
        match object.content {
            Content::Run { start, end } => self.clusters.get(start..end).is_some_and(|names| {
                let clusters = clusters.iter().copied().map(NameId::from);
                names.iter().copied().eq(clusters)
            }),
            Content::Given(decision) => {
                let decision = &inventory.decisions[decision];
                let names = clusters.iter().map(|cluster| fleet.name(*cluster));
                decision.plain && decision.clusters.iter().copied().eq(names)
            }
        }
    }
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
