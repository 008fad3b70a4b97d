//! Updates that clusters would refuse, although they would accept the new object if it were not there yet.
//!
//! Owns: pairing what an earlier rendering shipped to a cluster with what a plan ships there, and the finding about an
//! update that a rule refuses. Flows in: a [`Plan`], the works of an earlier rendering as text, the hub's schemas. Flows
//! out: findings. Must not know: the rules, or where those texts come from.
//!
//! An update is refused as a whole, again and again: whatever else the new object says does not arrive either. An object
//! stays the same object when it moves to another work, or changes its version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::earlier_works::{MOST_NAMES, Replaced, Shipped, shipped};
use super::plan::{Plan, REPLICA_SETS, WorkId};
use crate::api::crd;
use crate::api::updates::{Refusal, refusals};
use crate::diagnostic::{Code, Finding, Part, Place, first_names};
use crate::object::Origin;
use crate::parallel;
use apimachinery::{Identity, Work};
use kube_json::Text;

/// An update that is refused, the main origin of the object, and the clusters.
type Refused<'a> = ((Identity, Refusal), (Option<&'a Origin>, BTreeSet<&'a str>));

/// One finding for each rule that refuses the update of an object.
pub(crate) fn refused<'a>(plan: &'a Plan, replaced: &'a Replaced<'_>) -> Vec<Finding> {
    let hub = replaced.hub;
    // The works that have an object whose update a rule may refuse.
    let mut places: BTreeMap<Identity, Vec<(WorkId, Option<&Origin>)>> = BTreeMap::new();
    for (id, work) in plan.works.iter() {
        for summary in &work.manifests {
            let identity = summary.identity();
            if !hub.update_rules(&identity.group_kind, true).is_empty() {
                let places = places.entry(identity).or_default();
                places.push((id, summary.origins.first()));
            }
        }
    }
    let (new, spent) = (plan.works.map(|_| OnceLock::new()), Work::default());
    let of_work = |(old, clusters): &(&'a Shipped, BTreeSet<&'a str>)| {
        let mut clusters = clusters.clone();
        if clusters.remove(REPLICA_SETS) {
            let all = plan.clusters.keys().map(String::as_str);
            clusters.extend(all.filter(|cluster| replaced.may_reach(old, cluster)));
        }
        let mut found: Vec<Refused<'_>> = Vec::new();
        for before in &old.objects {
            for (id, origin) in places.get(&before.identity).into_iter().flatten() {
                let mut clusters = clusters.clone();
                clusters.retain(|name| plan.clusters.get(*name).is_some_and(|works| works.contains(id)));
                let new = new.get(*id).get_or_init(|| {
                    let (before, after) = plan.works.get(*id).text.halves();
                    shipped(&[before, "x", after].concat())
                });
                let after = new.objects.iter().find(|after| after.identity == before.identity);
                let Some(after) = after.filter(|after| !clusters.is_empty() && after.value != before.value)
                else {
                    continue;
                };
                for (version, rules) in hub.update_rules(&before.identity.group_kind, new.server_side) {
                    if version.is_none_or(|version| version == after.version) {
                        let refusals = refusals(rules, &before.value, &after.value, &spent).into_iter();
                        let refused =
                            |refusal| ((before.identity.clone(), refusal), (*origin, clusters.clone()));
                        found.extend(refusals.map(refused));
                    }
                }
            }
        }
        found
    };
    let mut all = BTreeMap::new();
    for (refused, (origin, clusters)) in parallel::map(&replaced.earlier.contents(), of_work)
        .into_iter()
        .flatten()
    {
        let (_, all) = all.entry(refused).or_insert((origin, BTreeSet::new()));
        all.extend(clusters);
    }
    let definitions = hub.objects.of_kind(crd::GROUP, crd::KIND);
    match definitions.first().filter(|_| spent.is_spent()) {
        Some(definition) => vec![crd::too_much_work(definition)],
        None => all.into_iter().map(finding).collect(),
    }
}

fn finding(((object, refusal), (origin, clusters)): Refused<'_>) -> Finding {
    let place = origin.map_or(Place::Run, |origin| origin.place(&refusal.pointer, Part::Value));
    let (clusters, why) = (first_names(&clusters, MOST_NAMES), refusal.message);
    let message = format!("{object}: {clusters} would refuse the whole update: {why}");
    let mut finding = Finding::new(Code::OBJECT_UPDATE_REFUSED, place, message).help(
        "keep the old value; or give the object another name; or remove it in this commit, and add it in a later one when \
         the clusters have deleted it",
    );
    finding.notes = refusal.changes.into_iter().map(Text::from).collect();
    finding
}
