//! Objects that are still in the input, that an earlier rendering shipped, and that no cluster receives any more.
//!
//! A letter too many in a reference, a label that is gone, or a kind that is no longer synced takes an object off every
//! cluster, and each has a finding of its own at best. Here is the net below them: the comparison with what was rendered.

use std::collections::{HashMap, HashSet};

use super::earlier_works::EarlierWorks;
use super::plan::Plan;
use crate::api::downstream::NAMESPACE_PREFIX;
use crate::hub::Hub;
use crate::object::{Object, Origin};
use apimachinery::Identity;

/// The objects of the hub that earlier works contain and that no work of the plan is made from, in the order of the hub.
pub(crate) fn withdrawn<'a>(plan: &Plan, hub: &'a Hub, earlier: &EarlierWorks) -> Vec<&'a Object> {
    let works = plan.works.rows().iter().map(|work| &work.manifests);
    let sets = plan.replica_sets.iter().flatten().map(|set| &set.manifests);
    let manifests = works.chain(sets).flatten();
    let made_from: HashSet<&Origin> = manifests.flat_map(|manifest| &manifest.origins).collect();
    let mut left: HashMap<Identity, &Object> = HashMap::new();
    for object in &hub.objects {
        // Namespaces come and go with what is in them.
        if made_from.contains(&object.origin) || (object.kind == "Namespace" && object.namespace.is_none()) {
            continue;
        }
        let mut identity = object.identity();
        left.insert(identity.clone(), object);
        if let Some(namespace) = &mut identity.namespace {
            namespace.insert_str(0, NAMESPACE_PREFIX);
            left.entry(identity).or_insert(object);
        }
    }
    let earlier = earlier.contents().into_iter();
    let earlier = earlier.flat_map(|(work, _)| &work.objects);
    let mut objects: Vec<&Object> = earlier
        .filter_map(|object| left.get(&object.identity).copied())
        .collect();
    objects.sort_by_key(|object| object.identity());
    objects.dedup_by_key(|object| object.identity());
    objects
}
