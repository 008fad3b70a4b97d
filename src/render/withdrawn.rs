//! Objects that are still in the input, that an earlier rendering shipped, and that no cluster receives any more.
//!
//! A letter too many in a reference, a label that is gone, or a kind that is no longer synced takes an object off every
//! cluster, and each has a finding of its own at best. Here is the net below them: the comparison with what was rendered.

use std::collections::{HashMap, HashSet};

use super::narrowed::Narrowing;
use super::plan::Plan;
use crate::api::downstream::NAMESPACE_PREFIX;
use crate::object::{Object, Origin};

/// The objects of the hub that earlier works contain and that no work of the plan is made from, in the order of the hub.
#[must_use]
pub(crate) fn withdrawn<'a>(plan: &Plan, narrowing: &Narrowing<'a>) -> Vec<&'a Object> {
    let works = plan.works.rows().iter().map(|work| &work.manifests);
    let sets = plan.replica_sets.iter().flatten().map(|set| &set.manifests);
    let manifests = works.chain(sets).flatten();
    let made_from: HashSet<&Origin> = manifests.flat_map(|manifest| &manifest.origins).collect();
    let mut left: HashMap<(&str, String), &Object> = HashMap::new();
    for object in &narrowing.hub.objects {
        // Namespaces come and go with what is in them.
        if made_from.contains(&object.origin) || (object.kind == "Namespace" && object.namespace.is_none()) {
            continue;
        }
        let group = object.api_version.group.as_str();
        left.insert((group, format!("{} {}", object.kind, object.key())), object);
        if let Some(namespace) = &object.namespace {
            let there = format!("{} {NAMESPACE_PREFIX}{namespace}/{}", object.kind, object.name);
            left.entry((group, there)).or_insert(object);
        }
    }
    let objects = narrowing.earlier.contents().flat_map(|work| &work.objects);
    let still = objects.filter_map(|object| left.get(&(object.group.as_str(), object.key.clone())).copied());
    let mut objects: Vec<&Object> = still.collect();
    objects.sort_by_key(|object| object.identity());
    objects.dedup_by_key(|object| object.identity());
    objects
}
