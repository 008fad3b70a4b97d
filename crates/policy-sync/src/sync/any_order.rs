//! Whether policies of one node merge to the same result, in whatever order they are created.
//!
//! Owns: the orders that creation times can give, and comparing their results by the real merge.
//! Flows in: policies of one node. Flows out: yes or no. Must not know: objects, clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::{Value, json};

use crate::hub::RowId as _;
use crate::policy::{
    Content, Entry, Layer, Leaf, MergeUnit, PolicyId, Profile, SameTarget, Side, Strategy, merge,
};

/// A setting that no policy of the node has.
const FOREIGN: &str = "/set elsewhere";

/// The result of a node for each of some challengers.
type Outcomes = Vec<BTreeMap<Arc<str>, Arc<Value>>>;

/// Whether `shipped` and `locals` have the same result as `meant` and `locals`, in any order of creation. Between the
/// meant and the local ones, the meant ones are established.
pub(super) fn holds_in_any_order(
    profile: &Profile,
    meant: &[Entry],
    shipped: &[Entry],
    locals: &[Entry],
) -> bool {
    let everybody: Vec<&Entry> = meant.iter().chain(shipped).chain(locals).collect();
    let probes = probes(profile, &everybody);
    let together: Vec<&Entry> = shipped.iter().chain(locals).collect();
    orders(together.len()).into_iter().all(|order| {
        let created: Vec<Entry> = order
            .iter()
            .filter_map(|at| together.get(*at).map(|entry| (*entry).clone()))
            .collect();
        let local = order
            .iter()
            .filter_map(|at| at.checked_sub(shipped.len()))
            .filter_map(|at| locals.get(at));
        let wanted: Vec<Entry> = meant.iter().chain(local).cloned().collect();
        outcomes(profile, &wanted, &probes) == outcomes(profile, &created, &probes)
    })
}

/// Whether it is all the same which of two policies is created first.
pub(super) fn commute(profile: &Profile, one: &Entry, other: &Entry) -> bool {
    let probes = probes(profile, &[one, other]);
    let [there, back] = [[one, other], [other, one]].map(|order| order.map(Entry::clone));
    outcomes(profile, &there, &probes) == outcomes(profile, &back, &probes)
}

/// The result of the policies of one node if no more specific one has settings, and if one has a certain setting;
/// whether that setting applies.
pub(super) fn alone_and_beside(profile: &Profile, entries: &[Entry]) -> (Content, Content, bool) {
    let alone = merged(profile, entries, &Content::new());
    let mut beside = merged(profile, entries, &content(vec![(FOREIGN, true)]));
    let holds = beside.remove(FOREIGN).is_some();
    (alone, beside, holds)
}

fn outcomes(profile: &Profile, entries: &[Entry], probes: &[Content]) -> Outcomes {
    let values = |content: Content| {
        let leaves = content.into_iter().filter(|(_, leaf)| !leaf.value.is_null());
        leaves.map(|(key, leaf)| (key, leaf.value)).collect()
    };
    let results = probes.iter().map(|probe| values(merged(profile, entries, probe)));
    results.collect()
}

fn merged(profile: &Profile, entries: &[Entry], challenger: &Content) -> Content {
    let challenger = [Entry {
        policy: PolicyId::of_row(u32::MAX),
        layers: Arc::from([Layer {
            side: Side::Defaults,
            strategy: Strategy::Atomic,
            content: Arc::new(challenger.clone()),
            base: "/spec",
        }]),
    }];
    let entries = match profile.same_target {
        SameTarget::Reject => entries.get(..1).unwrap_or_default(),
        SameTarget::Merge | SameTarget::PerField | SameTarget::AddUp => entries,
    };
    // An empty one would replace the others where it dictates, so none is used.
    let challenger: &[Entry] = if challenger
        .iter()
        .all(|entry| entry.layers.iter().all(|layer| layer.content.is_empty()))
    {
        &[]
    } else {
        &challenger
    };
    let merged = merge(profile, &[entries, challenger], &|_| Arc::from(""));
    Arc::unwrap_or_clone(merged)
}

/// Challengers that distinguish functions of policies. Merging looks at whether the challenger is empty and, setting by
/// setting, at whether it makes it; at fields, also at what is above, below and beside them.
fn probes(profile: &Profile, entries: &[&Entry]) -> Vec<Content> {
    let layers = entries.iter().flat_map(|entry| entry.layers.iter());
    let leaves = layers.flat_map(|layer| layer.content.iter());
    let keys: BTreeMap<&str, bool> = leaves.map(|(key, leaf)| (key.as_ref(), leaf.essential)).collect();
    let mut probes = vec![Content::new(), content(vec![(FOREIGN, true)])];
    if matches!(profile.unit, MergeUnit::Rules(_) | MergeUnit::Fields(_)) {
        let weightless = keys.iter().filter(|(_, essential)| !**essential);
        probes.push(content(vec![(FOREIGN, false)]));
        probes.push(content(weightless.map(|(key, _)| (*key, false)).collect()));
        probes.push(content(keys.into_iter().chain([(FOREIGN, true)]).collect()));
        return probes;
    }
    let mut fields: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for key in keys.keys() {
        let ends = key
            .match_indices('/')
            .skip(1)
            .map(|(at, _)| at)
            .chain([key.len()]);
        let top = ends.clone().find_map(|at| key.get(..at)).unwrap_or(key);
        let there = fields.entry(top).or_default();
        for above in ends.filter_map(|at| key.get(..at)) {
            there.insert(above.to_owned());
            there.insert(format!("{above}{FOREIGN}"));
        }
    }
    // Fields below different ones of the spec do not meet, so that one challenger probes one of each.
    let mut fields: Vec<_> = fields.into_values().map(BTreeSet::into_iter).collect();
    loop {
        let next: Vec<String> = fields.iter_mut().filter_map(Iterator::next).collect();
        if next.is_empty() {
            return probes;
        }
        probes.push(content(next.iter().map(|field| (field.as_str(), true)).collect()));
    }
}

/// Settings that no policy has in this form.
fn content(keys: Vec<(&str, bool)>) -> Content {
    let leaves = keys.into_iter().map(|(key, essential)| {
        let key: Arc<str> = Arc::from(key);
        let leaf = Leaf {
            value: Arc::new(json!("set elsewhere")),
            at: Arc::clone(&key),
            base: "/spec",
            policy: PolicyId::of_row(u32::MAX),
            element: None,
            essential,
        };
        (key, leaf)
    });
    leaves.collect()
}

/// Every order of so many policies; of more than four only the given one and its reverse, as their number explodes.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let given: Vec<usize> = (0..count).collect();
    if count > 4 {
        let back = given.iter().rev().copied().collect();
        return vec![given, back];
    }
    let mut orders = vec![Vec::new()];
    for next in given {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
            })
            .collect();
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_up_to_four_policies_every_order_counts_and_of_more_the_given_one_and_its_reverse() {
        for (count, expected) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24)] {
            let orders: std::collections::BTreeSet<Vec<usize>> = orders(count).into_iter().collect();
            assert_eq!(orders.len(), expected, "{count}");
        }
        assert_eq!(orders(5), [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]);
    }
}
