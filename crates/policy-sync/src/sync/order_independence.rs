//! Whether policies of one node merge to the same result, in whatever order they are created.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::{Value, json};

use crate::hub::RowId as _;
use crate::policy::{
    Content, Dictates, Entry, Layer, Leaf, MergeUnit, PolicyId, Profile, SameTarget, Side, Strategy, merge,
};

/// A setting of a more specific policy that no policy of the node has.
pub(super) const FOREIGN: &str = "/set elsewhere";

/// A setting of a less specific policy that no policy of the node has.
pub(super) const ABOVE: &str = "/set above";

/// So many policies are compared in every order; more have too many orders.
const FEW: usize = 4;

/// The result of a node for each of some challengers.
type Outcomes = Vec<BTreeMap<Arc<str>, Arc<Value>>>;

/// Whether `shipped` and `locals` have the same result as `meant` and `locals`, in any order of creation. Between the
/// meant and the local ones, the meant ones are established.
pub(super) fn is_order_independent(
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

/// Whether it is all the same which of some policies is created first.
pub(super) fn commute(profile: &Profile, entries: &[Entry]) -> bool {
    if entries.len() <= FEW {
        return is_order_independent(profile, entries, entries, &[]);
    }
    // Policies any two of which may change places may be in any order.
    pairs(entries).all(|pair| is_order_independent(profile, &pair, &pair, &[]))
}

/// Every two of some policies, the older one first.
pub(super) fn pairs(entries: &[Entry]) -> impl Iterator<Item = [Entry; 2]> {
    entries.iter().enumerate().flat_map(|(at, one)| {
        let newer = entries.iter().skip(at.saturating_add(1));
        newer.map(move |other| [one.clone(), other.clone()])
    })
}

fn outcomes(profile: &Profile, entries: &[Entry], probes: &[Content]) -> Outcomes {
    let values = |content: Content| {
        let leaves = content.into_iter().filter(|(_, leaf)| !leaf.value.is_null());
        leaves.map(|(key, leaf)| (key, leaf.value)).collect()
    };
    let results = probes.iter().map(|probe| values(merged(profile, entries, probe)));
    results.collect()
}

/// The result of the policies of one node for a challenger, the settings of a more specific policy.
pub(super) fn merged(profile: &Profile, entries: &[Entry], challenger: &Content) -> Content {
    let level = |content: Content| {
        let layer = Layer {
            side: Side::Defaults,
            strategy: Strategy::Atomic,
            content: Arc::new(content),
            base: "/spec",
        };
        Entry::new(another(), [layer])
    };
    // Where the more specific policy dictates, one of the node decides whether less specific ones count.
    let dictates = profile.dictates == Dictates::Challenger;
    let above = dictates.then(|| level(content(vec![(ABOVE, true)])));
    // An empty challenger would replace the others where it dictates, so none is used.
    let challenger = (!challenger.is_empty()).then(|| level(challenger.clone()));
    let entries = match profile.same_target {
        SameTarget::Reject => entries.get(..1).unwrap_or_default(),
        SameTarget::Merge | SameTarget::PerField | SameTarget::AddUp | SameTarget::Unknown => entries,
    };
    let levels = [above.as_slice(), entries, challenger.as_slice()];
    Arc::unwrap_or_clone(merge(profile, &levels, &|_| Arc::from("")))
}

/// Challengers that distinguish functions of policies: none, one with another setting, and others. Merging looks at
/// whether there is a challenger and, setting by setting, at whether it makes it; at fields, also at what is above, below
/// and beside them. A policy that has no setting that its kind is about is none (docs/systems/kuadrant.md#empty-policies).
pub(super) fn probes(profile: &Profile, entries: &[&Entry]) -> Vec<Content> {
    let layers = entries.iter().flat_map(|entry| entry.layers.iter());
    let leaves = layers.flat_map(|layer| layer.content.iter());
    let keys: BTreeMap<&str, bool> = leaves.map(|(key, leaf)| (key.as_ref(), leaf.essential)).collect();
    let mut probes = vec![Content::new(), another_setting()];
    if matches!(profile.unit, MergeUnit::Rules(_) | MergeUnit::Fields(_)) {
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

/// The policies on the levels around the node.
pub(super) fn another() -> PolicyId {
    PolicyId::of_row(u32::MAX)
}

/// A more specific policy with a setting that no policy of the node has.
pub(super) fn another_setting() -> Content {
    content(vec![(FOREIGN, true)])
}

/// Settings that no policy has in this form.
fn content(keys: Vec<(&str, bool)>) -> Content {
    let leaves = keys.into_iter().map(|(key, essential)| {
        let key: Arc<str> = Arc::from(key);
        let leaf = Leaf {
            value: Arc::new(json!("set elsewhere")),
            at: Arc::clone(&key),
            base: "/spec",
            policy: another(),
            element: None,
            essential,
        };
        (key, leaf)
    });
    leaves.collect()
}

/// Every order of so many policies; of more than a few only the given one and its reverse.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let given: Vec<usize> = (0..count).collect();
    if count > FEW {
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
