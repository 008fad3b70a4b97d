//! The sync waves that make one Argo CD Application apply the works of a wave of clusters after those of the waves before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::carried::Content;
use crate::object::Object;
use crate::object::well_known::SYNC_WAVE;
use crate::placing::Wave;

/// The sync wave that a hub object asks for, if it is one: a user who orders Gateways means what Argo CD applies for them, and
/// inside a work sync waves do nothing.
pub(super) fn own_wave(object: &Object) -> Option<i64> {
    object.annotation(SYNC_WAVE)?.parse().ok()
}

/// The waves of clusters, and the sync waves of all works.
#[derive(Debug)]
pub(crate) struct SyncWaves<'a> {
    pub(super) waves: &'a [Wave],
    positions: HashMap<&'a str, i64>,
    /// How many sync waves the objects of a cluster ask for.
    span: i64,
}

impl<'a> SyncWaves<'a> {
    /// Those of the works of `objects`. Without `is_split`, all works are in the waves of their objects: a replica set is one
    /// object for all of its clusters.
    pub(crate) fn new<'o>(
        waves: &'a [Wave],
        is_split: bool,
        objects: impl Iterator<Item = &'o Object>,
    ) -> Self {
        let numbered = (0..).zip(waves).filter(|_| is_split);
        let positions = numbered.flat_map(|(position, wave)| {
            let clusters = wave.clusters.iter();
            clusters.map(move |cluster| (cluster.as_str(), position))
        });
        let own: BTreeSet<i64> = objects.filter_map(own_wave).chain([0]).collect();
        let ends = own.last().zip(own.first());
        let span = ends.map_or(0, |(last, first)| last.saturating_sub(*first));
        Self {
            waves,
            positions: positions.collect(),
            span: span.saturating_add(1),
        }
    }

    /// The sync wave on a cluster of what would be in the wave `own` if all clusters were in one.
    pub(super) fn on_cluster(&self, cluster: &str, own: i64) -> i64 {
        let position = self.positions.get(cluster).copied().unwrap_or_default();
        position.saturating_mul(self.span).saturating_add(own)
    }

    /// A content for each sync wave that it is in.
    pub(super) fn split<'c>(&self, content: Content<'c>) -> Vec<Content<'c>> {
        if self.positions.is_empty() {
            return vec![content];
        }
        let own = content.parts.wave;
        let mut waves: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for cluster in content.clusters.iter() {
            let wave = self.on_cluster(cluster, own.unwrap_or_default());
            waves.entry(wave).or_default().push(cluster.clone());
        }
        let split = waves.into_iter().map(|(wave, clusters)| {
            let mut content = content.clone();
            content.parts.wave = Some(wave).filter(|wave| own.is_some() || *wave != 0);
            content.clusters = clusters.into();
            content
        });
        split.collect()
    }
}
