//! AddOn: the value that an AddOnPlacementScore gives.

use std::collections::{HashMap, HashSet};

use super::super::Input;
use super::super::bits::Bits;
use super::super::fleet::{Fleet, at};
use super::super::weights::{Kind, prioritizers};
use crate::api::ocm::{AddOnPlacementScore, AddOnScore};

/// One score of the whole fleet.
#[derive(Debug)]
pub(in crate::placement) struct AddOnColumn {
    values: Vec<i32>,
    /// Whose object has expired: 0, and the run ends in a Warning.
    pub(in crate::placement) expired: Bits,
    /// Whose object has an expiry and a value, and nobody gave the time.
    pub(in crate::placement) unsure: Bits,
}

impl AddOnColumn {
    /// The cluster's score; 0 when there is none, or none that still holds.
    pub(in crate::placement) fn score(&self, cluster: u32) -> i64 {
        at(&self.values, cluster)
            .copied()
            .map(i64::from)
            .unwrap_or_default()
    }
}

/// Every score that some Placement asks for.
#[derive(Debug, Default)]
pub(in crate::placement) struct AddOnColumns<'a> {
    columns: HashMap<AddOnScore<'a>, AddOnColumn>,
    objects: HashMap<(&'a str, &'a str), &'a AddOnPlacementScore<'a>>,
}

impl<'a> AddOnColumns<'a> {
    pub(in crate::placement) fn new(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let mut wanted: HashMap<&str, HashSet<AddOnScore<'_>>> = HashMap::new();
        for placement in &input.inventory.placements {
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
                    values: vec![0; fleet.len()],
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
            let Some(cluster) = fleet.id(object.cluster) else {
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

    pub(in crate::placement) fn column(&self, score: &AddOnScore<'a>) -> Option<&AddOnColumn> {
        self.columns.get(score)
    }

    /// The object of a cluster.
    pub(in crate::placement) fn object(
        &self,
        cluster: &str,
        name: &str,
    ) -> Option<&'a AddOnPlacementScore<'a>> {
        // A map with shorter lived keys: the names asked for need not live as long as the input.
        let objects: &HashMap<(&str, &str), &'a AddOnPlacementScore<'a>> = &self.objects;
        objects.get(&(cluster, name)).copied()
    }
}

impl AddOnColumn {
    fn enter(&mut self, cluster: u32, object: &AddOnPlacementScore<'_>, score: &str, input: &Input<'_>) {
        let value = object.value(score).unwrap_or_default();
        match (object.valid_until, input.now) {
            // Strictly after: at the boundary it still holds.
            (Some(until), Some(now)) if now > until => {
                self.expired.insert(cluster);
                return;
            }
            (Some(_), None) if value != 0 => self.unsure.insert(cluster),
            _ => {}
        }
        let slot = usize::try_from(cluster)
            .ok()
            .and_then(|cluster| self.values.get_mut(cluster));
        if let Some(slot) = slot {
            *slot = value;
        }
    }
}
