//! Objects that leave one work for another on a cluster: its agent may delete and recreate them
//! (docs/systems/ocm-work.md#what-leaves-a-work).

use std::collections::{BTreeMap, BTreeSet};

use super::earlier_works::{MOST_NAMES, Replaced};
use super::plan::{ManifestSummary, Plan};
use crate::api::downstream::is_synced_policy;
use crate::diagnostic::{Code, Finding, Part, Place, and_more, counted, first_names};
use crate::object::Origin;
use crate::parallel;
use apimachinery::Identity;

/// What leaves one work on the clusters.
#[derive(Debug, Default)]
struct Leaving<'p> {
    /// Each object with the work that it comes to, and whether it is a policy.
    objects: BTreeMap<(String, String), bool>,
    origin: Option<&'p Origin>,
    clusters: BTreeSet<&'p str>,
}

/// One finding for each work that objects leave for another one.
pub(crate) fn moved(plan: &Plan, replaced: &Replaced<'_>) -> Vec<Finding> {
    let clusters: Vec<&String> = plan.clusters.keys().collect();
    let found = parallel::map(&clusters, |cluster| moved_on(cluster, plan, replaced));
    let mut all: BTreeMap<String, Leaving<'_>> = BTreeMap::new();
    for (cluster, moved) in clusters.into_iter().zip(found) {
        for moved in moved {
            let leaving = all.entry(moved.from).or_default();
            leaving.objects.insert((moved.object, moved.to), moved.is_policy);
            leaving.origin = leaving.origin.or(moved.origin);
            leaving.clusters.insert(cluster);
        }
    }
    all.iter().map(finding).collect()
}

fn finding((work, leaving): (&String, &Leaving<'_>)) -> Finding {
    let place = leaving.origin;
    let place = place.map_or(Place::Run, |origin| origin.place("/metadata/name", Part::Value));
    let objects = leaving.objects.len();
    let (leave, them) = if objects == 1 {
        ("leaves", "it")
    } else {
        ("leave", "them")
    };
    let agents = if leaving.clusters.len() == 1 {
        "agent"
    } else {
        "agents"
    };
    let sentence = format!(
        "{} {leave} the work `{work}` for another one on {}: the {agents} there may delete and recreate {them}",
        counted(objects, "object"),
        first_names(&leaving.clusters, MOST_NAMES),
    );
    let listed = leaving.objects.iter().take(MOST_NAMES);
    let listed = listed.map(|((object, to), is_policy)| {
        let effect = if *is_policy {
            ", and has no effect meanwhile"
        } else {
            ""
        };
        format!("{object} comes to `{to}`{effect}")
    });
    let more = and_more(objects.saturating_sub(MOST_NAMES), "object");
    let finding = Finding::new(Code::OBJECT_MOVED, place, sentence).help(
        "set `workPer: Both` in the parameters first, apply that, and change the rest when `status --works` says that every \
         work is applied",
    );
    listed.chain(more).fold(finding, Finding::note)
}

/// An object that changes its work on a cluster.
struct Moved<'p> {
    /// `HTTPRoute shop/api`, as the clusters name it.
    object: String,
    is_policy: bool,
    origin: Option<&'p Origin>,
    /// The work, or set, that it leaves.
    from: String,
    /// The one that it comes to.
    to: String,
}

fn moved_on<'p>(cluster: &str, plan: &'p Plan, replaced: &Replaced<'_>) -> Vec<Moved<'p>> {
    let mut before: BTreeMap<&Identity, (Vec<String>, bool)> = BTreeMap::new();
    let mut unchanged: BTreeSet<String> = BTreeSet::new();
    for (path, work) in replaced.on_cluster(cluster) {
        let name = name(path);
        if work.is_none() {
            unchanged.insert(name.clone());
        }
        for object in work.iter().flat_map(|work| &work.objects) {
            let (works, _) = before
                .entry(&object.identity)
                .or_insert_with(|| (Vec::new(), is_synced_policy(&object.value)));
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
            origin: manifest.origins.first(),
            from: earlier.first()?.clone(),
            to: to.clone(),
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
