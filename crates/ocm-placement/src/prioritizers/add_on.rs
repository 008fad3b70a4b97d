//! AddOn: the value that an AddOnPlacementScore gives. Which value counts, and until when:
//! docs/systems/ocm-placement.md#add-on-scores.

use std::collections::{HashMap, HashSet};

use crate::api::add_on_placement_score::AddOnPlacementScore;
use crate::api::placement::AddOnScore;
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, Table};
use crate::input::Input;
use crate::weights::{Kind, prioritizers};

/// One score of the whole fleet.
#[derive(Debug)]
pub(crate) struct AddOnColumn {
    values: Table<ClusterId, i32>,
    /// Whose object has expired: 0, and the run ends in a Warning.
    pub(crate) expired: Bits,
    /// Whose object has an expiry and a value, and the time is not given.
    pub(crate) unsure: Bits,
}

impl AddOnColumn {
    /// The cluster's score; 0 when there is none, or none that still holds.
    pub(crate) fn score(&self, cluster: ClusterId) -> i64 {
        i64::from(self.values[cluster])
    }
}

/// Every score that some Placement requests.
#[derive(Debug, Default)]
pub(crate) struct AddOnColumns<'a> {
    columns: HashMap<AddOnScore<'a>, AddOnColumn>,
    objects: HashMap<(&'a str, &'a str), &'a AddOnPlacementScore<'a>>,
}

impl<'a> AddOnColumns<'a> {
    pub(crate) fn new(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let mut wanted: HashMap<&str, HashSet<AddOnScore<'_>>> = HashMap::new();
        for placement in input.inventory.placements.rows() {
            for prioritizer in prioritizers(&placement.prioritizer_policy).into_iter().flatten() {
                if let Kind::AddOn(score) = prioritizer.kind {
                    wanted.entry(score.resource_name).or_default().insert(score);
                }
            }
        }
        let mut columns: HashMap<AddOnScore<'_>, AddOnColumn> = HashMap::new();
        for score in wanted.values().flatten() {
            columns.insert(
                *score,
                AddOnColumn {
                    values: Table::of(vec![0; fleet.len()]),
                    expired: Bits::none(fleet.len()),
                    unsure: Bits::none(fleet.len()),
                },
            );
        }
        let mut objects = HashMap::new();
        for object in &input.inventory.scores {
            // Of two objects with one identity (an error elsewhere) the first one counts.
            if objects.contains_key(&(object.cluster, object.name)) {
                continue;
            }
            objects.insert((object.cluster, object.name), object);
            let Some(cluster) = fleet.cluster_id(object.cluster) else {
                continue;
            };
            for score in wanted.get(object.name).into_iter().flatten() {
                if let Some(column) = columns.get_mut(score) {
                    column.enter(cluster, object, score.score_name, input);
                }
            }
        }
        Self { columns, objects }
    }

    pub(crate) fn column(&self, score: &AddOnScore<'a>) -> Option<&AddOnColumn> {
        self.columns.get(score)
    }

    /// The object of a cluster.
    pub(crate) fn object(&self, cluster: &str, name: &str) -> Option<&'a AddOnPlacementScore<'a>> {
        // A map with shorter lived keys: the names asked for need not live as long as the input.
        let objects: &HashMap<(&str, &str), &'a AddOnPlacementScore<'a>> = &self.objects;
        objects.get(&(cluster, name)).copied()
    }
}

impl AddOnColumn {
    fn enter(
        &mut self,
        cluster: ClusterId,
        object: &AddOnPlacementScore<'_>,
        score: &str,
        input: &Input<'_>,
    ) {
        let value = object.value(score).unwrap_or_default();
        match (object.valid_until, input.now) {
            // Strictly after, Go's `time.After`: at the boundary it is still valid.
            (Some(until), Some(now)) if now > until => {
                self.expired.insert(cluster);
                return;
            }
            (Some(_), None) if value != 0 => self.unsure.insert(cluster),
            _ => {}
        }
        self.values[cluster] = value;
    }
}
