//! The hub as ClusterOverlays change it: a cluster gets what it would get if the hub held the changed objects.
//!
//! [`Projections`] has one hub for each class of clusters that get the same changed objects. All have the same objects in
//! the same order but for ManagedClusters, so that numbers of Gateways, routes, and policies are the same in all of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::api::crd;
use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, Locate as _, Part, Place, Severity, first_names,
};
use crate::hub::{self, Hub};
use crate::object::Object;
use crate::parallel;
use crate::placing::overlays::Overlays;
use crate::source::Sources;
use apimachinery::pointer::inside;
use apimachinery::{Identity, Work};

/// So many clusters are named in a note; the rest is counted.
const MOST_CLUSTERS: usize = 5;

/// The work for an object of the hub, for each group of clusters that gets other objects: it is evaluated and rendered for
/// each (docs/reference/limits.md).
const STEPS_PER_OBJECT: u64 = 100;

/// Between the clusters and the overlays of a note.
const WITH: &str = ", with ClusterOverlay ";

/// What findings of several hubs have in common if they are about the same mistake.
type Key<'f> = (Code, &'f Place, &'f str);

fn key(finding: &Finding) -> Key<'_> {
    (finding.code, &finding.place, finding.message.as_str())
}

/// The hub for the clusters for which ClusterOverlays change the same objects in the same way.
#[derive(Debug)]
pub(super) struct Projection {
    /// The clusters, sorted.
    pub clusters: Vec<String>,
    /// The hub with the changed objects.
    pub hub: Hub,
    /// The overlays that have a part in it, by position.
    pub overlays: Vec<usize>,
}

/// Every ClusterOverlay of an input, and the hubs that they make of it.
#[derive(Debug, Default)]
pub(super) struct Projections {
    /// The overlays, and what each changes where.
    pub overlays: Overlays,
    /// The hubs, by their first clusters.
    pub hubs: Vec<Projection>,
    by_cluster: HashMap<String, usize>,
}

impl Projections {
    /// Reads the overlays of a hub, for the clusters that `admits` accepts, and what is wrong with them, and with the objects
    /// that they change, besides what is `reported` of these objects as they are written.
    pub(super) fn new(
        hub: &Hub,
        sources: &Sources,
        admits: impl Fn(&str) -> bool,
        reported: &Findings,
    ) -> (Self, Findings) {
        let mut findings = Findings::new();
        let mut overlays = Overlays::new(hub, admits, &mut findings);
        let mut classes = std::mem::take(&mut overlays.classes);
        let evaluated = hub.without_clusters();
        let objects = evaluated.objects.len().saturating_mul(classes.len());
        if !Work::default().pay(objects, STEPS_PER_OBJECT) {
            let stage = format!("evaluating the hub for {} groups of clusters", classes.len());
            let finding = Finding::too_costly(&stage, Place::Run, "no ClusterOverlay is applied");
            let help = "render a part of the fleet (`--clusters 'eu-*'`, `--shard 1/4`), or use fewer values that differ \
                        from cluster to cluster";
            findings.push(finding.help(help));
            classes.clear();
        }
        let hubs = parallel::map_each(classes, |class| Projection {
            hub: evaluated.with_changed(class.objects.iter().map(Arc::as_ref)),
            clusters: class.clusters,
            overlays: class.overlays,
        });
        let mut by_cluster = HashMap::new();
        for (position, hub) in hubs.iter().enumerate() {
            by_cluster.extend(hub.clusters.iter().map(|cluster| (cluster.clone(), position)));
        }
        let projections = Self {
            overlays,
            hubs,
            by_cluster,
        };
        let reported = reported.iter().chain(&findings);
        let new = projections.only_there(projections.refused(hub), reported, sources);
        findings.extend(new);
        (projections, findings)
    }

    /// The position of the hub for a cluster, if overlays change anything there.
    pub(super) fn position(&self, cluster: &str) -> Option<usize> {
        self.by_cluster.get(cluster).copied()
    }

    /// What an API server would refuse in changed objects, by hub: each different object is checked once.
    fn refused(&self, hub: &Hub) -> Vec<Findings> {
        let mut changed: BTreeMap<(Identity, String), (&Object, Vec<usize>)> = BTreeMap::new();
        for (position, projection) in self.hubs.iter().enumerate() {
            let objects = projection.hub.objects.iter();
            for object in objects.filter(|object| object.overlaid.is_some()) {
                let key = (object.identity(), object.value.to_string());
                let (_, positions) = changed.entry(key).or_insert((object, Vec::new()));
                positions.push(position);
            }
        }
        let definitions = hub.objects.iter().filter(|object| crd::is_one(object));
        let work = Work::for_definitions(definitions.map(|object| &object.value));
        let changed: Vec<(&Object, Vec<usize>)> = changed.into_values().collect();
        let refused = parallel::map(&changed, |(object, _)| hub::check_schema(hub, object, &work));
        let mut by_hub: Vec<Findings> = self.hubs.iter().map(|_| Findings::new()).collect();
        for ((_, positions), refused) in changed.iter().zip(refused) {
            for position in positions {
                if let Some(found) = by_hub.get_mut(*position) {
                    found.extend(refused.iter().cloned());
                }
            }
        }
        by_hub
    }

    /// Adds what was found in the hub as it is `written`, and in each hub that overlays make of it. If no cluster of the run
    /// gets the hub as it is written, a mistake counts only if an overlay leaves it.
    pub(super) fn add_findings(
        &self,
        mut written: Findings,
        found: Vec<Findings>,
        sources: &Sources,
        findings: &mut Findings,
    ) {
        if !found.is_empty() && self.by_cluster.len() == self.overlays.cluster_count {
            let mut still_wrong: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
            for (position, found) in found.iter().enumerate() {
                for finding in found {
                    still_wrong.entry(key(finding)).or_default().push(position);
                }
            }
            written.revise(|finding| {
                let Some(positions) = still_wrong.get(&key(finding)) else {
                    return false;
                };
                Arc::make_mut(finding).projections = Some(positions.as_slice().into());
                true
            });
        }
        findings.extend(written);
        let new = self.only_there(found, findings.iter(), sources);
        findings.extend(new);
    }

    /// What was `found` in the hubs that overlays make, and is not `reported` of the hub as it is written.
    pub(super) fn only_there<'f>(
        &self,
        found: Vec<Findings>,
        reported: impl Iterator<Item = &'f Finding>,
        sources: &Sources,
    ) -> Vec<Finding> {
        if found.iter().all(Findings::is_empty) {
            return Vec::new();
        }
        let known: HashSet<Key<'_>> = reported.map(key).collect();
        let mut new: BTreeMap<Key<'_>, (&Finding, Vec<usize>)> = BTreeMap::new();
        for (position, found) in found.iter().enumerate() {
            for finding in found.iter().filter(|finding| !known.contains(&key(finding))) {
                let (_, positions) = new.entry(key(finding)).or_insert((finding, Vec::new()));
                positions.push(position);
            }
        }
        let new = new.into_values().map(|(finding, positions)| {
            let note = self.note_of_hubs(&positions, sources);
            let mut finding = finding.clone();
            // `soften` sees the overlay, where the finding points, and not the objects that the overlay changes.
            if finding.code.is_about_object_alone() && self.is_about_unused(&finding) {
                hub::make_bystander(&mut finding);
            }
            finding.projections = Some(positions.into());
            finding.note(note)
        });
        new.collect()
    }

    /// Whether an error is in a value that an overlay sets, and only in objects that rendering does not use.
    fn is_about_unused(&self, finding: &Finding) -> bool {
        let set = finding.place.field().into_iter();
        let mut fields = set.flat_map(|place| self.overlays.set_at(place)).peekable();
        // Rendering uses the same objects in all hubs.
        let is_bystander = |object: &Identity| {
            let hub = self.hubs.first().map(|projection| &projection.hub);
            hub.and_then(|hub| hub.objects.get(object))
                .is_some_and(|object| object.is_bystander)
        };
        finding.severity == Severity::Error
            && fields.peek().is_some()
            && fields.all(|(_, field, _)| is_bystander(&field.object))
    }

    /// Says of findings about what an overlay sets that they are, and for which clusters.
    pub(super) fn explain(&self, sources: &Sources, findings: &mut Findings) {
        if self.hubs.is_empty() {
            return;
        }
        findings.revise(|finding| {
            let is_said = finding.notes.iter().any(|note| note.contains(WITH));
            let note = finding.place.field().filter(|_| !is_said);
            if let Some(note) = note.and_then(|field| self.note_at(field, sources)) {
                Arc::make_mut(finding).notes.push(note.into());
            }
            true
        });
    }

    /// The note about a finding in the value of a field that an overlay sets.
    fn note_at(&self, place: (DocumentId, &str), sources: &Sources) -> Option<String> {
        let mut set = self.overlays.set_at(place);
        let (position, field, _) = set.find(|(.., rest)| inside(rest, "/value").is_some())?;
        let clusters = field.here.iter().flat_map(|value| value.clusters.iter());
        Some(self.note(clusters.collect(), vec![position], sources))
    }

    /// The same about some of the hubs.
    fn note_of_hubs(&self, positions: &[usize], sources: &Sources) -> String {
        let hubs = positions.iter().filter_map(|position| self.hubs.get(*position));
        let clusters = hubs.clone().flat_map(|hub| &hub.clusters);
        let overlays = hubs.flat_map(|hub| hub.overlays.iter().copied());
        self.note(clusters.collect(), overlays.collect(), sources)
    }

    /// `on eu-2, with ClusterOverlay shop/eu-2-sale (hub/shop/overlay.yaml:9)`.
    fn note(&self, mut clusters: Vec<&String>, mut overlays: Vec<usize>, sources: &Sources) -> String {
        clusters.sort_unstable();
        overlays.sort_unstable();
        overlays.dedup();
        let overlays = overlays.iter().filter_map(|position| {
            let overlay = self.overlays.overlays.get(*position)?;
            let at = sources.position(&overlay.origin.place("/metadata/name", Part::Value));
            let at = at.map_or_else(String::new, |(path, line, _)| format!(" ({path}:{line})"));
            Some(overlay.identity.key() + &at)
        });
        let clusters = first_names(clusters, MOST_CLUSTERS);
        format!("on {clusters}{WITH}{}", first_names(overlays, MOST_CLUSTERS))
    }
}
