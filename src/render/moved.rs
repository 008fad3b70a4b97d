//! Objects that leave one work for another on a cluster: its agent deletes them and makes them anew
//! (docs/systems/ocm-work.md#what-leaves-a-work).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::narrowed::Narrowing;
use super::plan::{ManifestSummary, Plan};
use crate::api::downstream::POLICY_SYNCED;
use crate::object::Origin;
use crate::parallel;
use apimachinery::Identity;

/// An object that changes its work.
#[derive(Debug)]
pub(crate) struct Moved {
    /// `HTTPRoute shop/api`, as it is called on the clusters.
    pub object: String,
    /// Whether it is a policy, whose target is open until it is back.
    pub is_policy: bool,
    /// What it is made from.
    pub origin: Option<Origin>,
    /// The work, or set, that it leaves.
    pub from: String,
    /// The one that it comes to.
    pub to: String,
    /// The clusters, sorted.
    pub clusters: BTreeSet<String>,
}

/// The objects that change their works, by name.
#[must_use]
pub(crate) fn moved(plan: &Plan, narrowing: &Narrowing<'_>) -> Vec<Moved> {
    let clusters: Vec<&String> = plan.clusters.keys().collect();
    let found = parallel::map(&clusters, |cluster| moved_on(cluster, plan, narrowing));
    let mut all: BTreeMap<(String, String, String), Moved> = BTreeMap::new();
    for moved in found.into_iter().flatten() {
        let key = (moved.object.clone(), moved.from.clone(), moved.to.clone());
        match all.entry(key) {
            Entry::Occupied(mut known) => known.get_mut().clusters.extend(moved.clusters),
            Entry::Vacant(new) => drop(new.insert(moved)),
        }
    }
    all.into_values().collect()
}

fn moved_on(cluster: &str, plan: &Plan, narrowing: &Narrowing<'_>) -> Vec<Moved> {
    let mut before: BTreeMap<&Identity, (Vec<String>, bool)> = BTreeMap::new();
    let mut unchanged: BTreeSet<String> = BTreeSet::new();
    for (path, work) in narrowing.replaced_on(cluster) {
        let name = name(path);
        if work.is_none() {
            unchanged.insert(name.clone());
        }
        for object in work.iter().flat_map(|work| &work.objects) {
            let annotations = object.value.pointer("/metadata/annotations");
            let synced = annotations.and_then(|annotations| annotations.get(POLICY_SYNCED)?.as_str());
            let (works, _) = before
                .entry(&object.identity)
                .or_insert_with(|| (Vec::new(), synced == Some("true")));
            works.push(name.clone());
        }
    }
    let mut now: BTreeMap<Identity, Vec<(String, &ManifestSummary)>> = BTreeMap::new();
    for (name, manifests) in planned_on(cluster, plan).filter(|_| !before.is_empty()) {
        // A Namespace stays where it is: no agent deletes it.
        for manifest in manifests.iter().filter(|manifest| !manifest.namespace.is_empty()) {
            let works = now.entry(manifest.identity()).or_default();
            works.push((name.clone(), manifest));
        }
    }
    let moved = now.into_iter().filter_map(|(object, works)| {
        let (earlier, is_policy) = before.get(&object)?;
        // A work that had it already keeps it in place.
        let is_kept = |(work, _): &(String, _)| earlier.contains(work) || unchanged.contains(work);
        let (to, manifest) = works.iter().all(|work| !is_kept(work)).then(|| works.first())??;
        Some(Moved {
            is_policy: *is_policy,
            origin: manifest.origins.first().cloned(),
            from: earlier.first()?.clone(),
            to: to.clone(),
            clusters: BTreeSet::from([cluster.to_owned()]),
            object: object.to_string(),
        })
    });
    moved.collect()
}

/// The works that a cluster will have, or the sets that its works will be made from.
fn planned_on<'p>(
    cluster: &str,
    plan: &'p Plan,
) -> Box<dyn Iterator<Item = (String, &'p [ManifestSummary])> + 'p> {
    if let Some(sets) = &plan.replica_sets {
        let cluster = cluster.to_owned();
        let sets = sets.iter().filter(move |set| set.clusters.contains(&cluster));
        return Box::new(sets.map(|set| (format!("{}/{}", set.namespace, set.name), &*set.manifests)));
    }
    let works = plan.clusters.get(cluster).into_iter().flatten();
    let works = works.map(|id| plan.works.get(*id));
    Box::new(works.map(|work| (work.name.clone(), &*work.manifests)))
}

/// The name of a work, or the namespace and name of a set, from its path.
fn name(path: &str) -> String {
    let path = path.strip_suffix(".yaml").unwrap_or(path);
    path.split_once('/').map_or(path, |(_, name)| name).to_owned()
}
