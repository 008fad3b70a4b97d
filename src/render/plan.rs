//! The plan: every work of every cluster, before a byte is written.
//!
//! `assemble` makes it; layouts and reports read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::manifest::ManifestSummary;
use super::rbac::Rights;
use super::work::{WorkParts, WorkText, work_text};
use crate::api::params::Params;
use crate::hub::Table;
use crate::output::Turn;
use crate::placing::Wave;
use apimachinery::row_ids;

row_ids! {
    /// A distinct work, in [`Plan::works`].
    pub WorkId,
}

/// The output of a run, before it is written.
#[derive(Debug, Default)]
pub struct Plan {
    /// The distinct works: a thousand clusters that get one content share one entry.
    pub works: Table<WorkId, Work>,
    /// Each cluster's works, by name of the work.
    pub clusters: BTreeMap<String, Vec<WorkId>>,
    /// Annotated hub objects (`hubObjects: Annotated`): file name and text, by file name.
    pub hub_objects: BTreeMap<String, String>,
    /// Gateways of ours that go to at least one cluster.
    pub gateways: usize,
    /// How many policies of each kind go to at least one cluster.
    pub policies: BTreeMap<String, usize>,
    /// How many routes of each kind go to at least one cluster.
    pub routes: BTreeMap<String, usize>,
    /// How many other objects of each kind, chosen by name or label, go to at least one cluster.
    pub objects: BTreeMap<String, usize>,
    /// The waves of the whole fleet, in their order.
    pub waves: Vec<Wave>,
    /// With [`WorkKind::ReplicaSet`](super::WorkKind), what is written instead of the works: by namespace and name.
    pub replica_sets: Option<Vec<ReplicaSet>>,
}

/// Where ManifestWorkReplicaSets are written; no cluster name can begin with `_`.
pub(crate) const REPLICA_SETS: &str = "_replica-sets";

/// One ManifestWorkReplicaSet.
#[derive(Debug)]
pub struct ReplicaSet {
    /// Its directory in the output: `_replica-sets/<namespace>`.
    pub directory: String,
    /// `metadata.namespace`: the Placement's.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// The Placement whose clusters get it.
    pub placement: String,
    /// The clusters that this Placement selects now, sorted.
    pub clusters: Arc<[String]>,
    /// The text.
    pub text: String,
    /// OCM's size of the manifests in bytes.
    pub size: u64,
    /// Its manifests, in order.
    pub manifests: Vec<ManifestSummary>,
    /// The kinds that it lets the work agents write and delete, if it is one for RBAC.
    pub(super) rights: Rights,
    /// When it is to be applied.
    pub(super) turn: Turn,
}

/// One ManifestWork, for all clusters that get this content.
#[derive(Debug)]
pub struct Work {
    /// `metadata.name`.
    pub name: String,
    /// The text.
    pub text: WorkText,
    /// Its manifests, in order.
    pub manifests: Vec<ManifestSummary>,
    /// The kinds that it lets the work agent write and delete, if it is the one for RBAC.
    pub(super) rights: Rights,
    /// When it is to be applied.
    pub(super) turn: Turn,
}

impl Work {
    /// The work of these parts; `params` are those of the class it belongs to, none for the RBAC work.
    pub(super) fn new(parts: &WorkParts, params: Option<&Params>) -> Self {
        Self {
            name: parts.name.clone(),
            text: work_text(parts, params),
            manifests: parts.summaries(),
            rights: Rights::new(),
            turn: parts.turn,
        }
    }
}

impl Plan {
    /// What is written instead of the works, if anything.
    pub(super) fn sets(&self) -> &[ReplicaSet] {
        self.replica_sets.as_deref().unwrap_or_default()
    }

    /// The manifests of all works, each content once, and those of the sets.
    pub(super) fn manifests(&self) -> impl Iterator<Item = &ManifestSummary> {
        let works = self.works.rows().iter().flat_map(|work| &work.manifests);
        works.chain(self.sets().iter().flat_map(|set| &set.manifests))
    }

    /// How many works there are on all clusters together.
    pub fn work_count(&self) -> usize {
        self.clusters.values().map(Vec::len).sum()
    }

    /// Whether the work agent of a cluster is given the right to write and delete objects of a resource.
    pub(super) fn grants(&self, cluster: &str, right: &(String, String)) -> bool {
        let is_on_it = |set: &&ReplicaSet| set.clusters.iter().any(|placed| placed == cluster);
        match &self.replica_sets {
            // A cluster of several Placements has the roles of all of them, and rights add up.
            Some(sets) => sets.iter().filter(is_on_it).any(|set| set.rights.contains(right)),
            None => self.works_of(cluster).any(|work| work.rights.contains(right)),
        }
    }

    /// The works of a cluster, by name.
    pub(crate) fn works_of<'p>(&'p self, cluster: &str) -> impl Iterator<Item = &'p Work> + use<'p> {
        let works = self.clusters.get(cluster).into_iter().flatten();
        works.map(|id| self.works.get(*id))
    }

    /// The works of all clusters, each with its cluster.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (&str, &Work)> {
        let clusters = self.clusters.keys().map(String::as_str);
        clusters.flat_map(|cluster| self.works_of(cluster).map(move |work| (cluster, work)))
    }

    /// Keeps only the clusters that `keep` admits.
    pub fn retain_clusters(&mut self, keep: impl Fn(&str) -> bool) {
        self.clusters.retain(|cluster, _| keep(cluster));
    }
}
