//! Kubernetes' strategic merge patch, as a controller with the Go types applies it: some lists merge by a key
//! (`kubernetes/apimachinery pkg/util/strategicpatch/patch.go@v0.34.1`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::pointer;
use kube_json::Value;

use super::json_merge_patch::{flatten, lay_under, starting_with};
use crate::policy::model::{AuthoredId, Content, Element, Leaf};
use crate::policy::profile::{ListKey, MergeUnit};
use crate::topology;

/// What `under` comes to when `patch` is laid over it, in the place of `patch`.
pub(crate) fn lay_under_strategically(
    patch: &mut Content,
    under: &Content,
    unit: &MergeUnit,
    lists: &[ListKey],
) {
    let mut under = under.clone();
    let mut together = Content::new();
    for list in lists {
        let at = list.pointer.as_str();
        if let (Some(own), Some(other)) = (patch.get(at), under.get(at))
            && let (Value::Array(own_items), Value::Array(other_items)) = (&*own.value, &*other.value)
        {
            let own = items(own, own_items, list);
            together.extend(put_together(&own, &items(other, other_items, list), at));
            patch.remove(at);
            under.remove(at);
        }
    }
    lay_under(patch, &under, unit);
    patch.extend(together);
}

/// One element of a list.
struct Item<'l> {
    list: &'l Leaf,
    position: usize,
    value: &'l Value,
    /// The key that identifies it with an element of the other list.
    key: Option<&'l Value>,
}

fn items<'l>(leaf: &'l Leaf, values: &'l [Value], list: &ListKey) -> Vec<Item<'l>> {
    let key = |value: &'l Value| {
        let lacks = |field: &String| topology::items(value.get(field)).is_empty();
        match (&list.key, &list.without) {
            (Some(key), _) => value.get(key),
            (None, without) => {
                let is_the_one = without.as_ref().is_some_and(lacks);
                is_the_one.then_some(&Value::Null)
            }
        }
    };
    let values = values.iter().enumerate();
    values
        .map(|(position, value)| Item {
            list: leaf,
            position,
            value,
            key: key(value),
        })
        .collect()
}

/// The first of some elements with each key, by the text of the key: lists may have thousands.
fn by_key<'i, 'l>(items: &'i [Item<'l>]) -> HashMap<String, &'i Item<'l>> {
    let mut by_key = HashMap::new();
    for item in items {
        if let Some(key) = item.key {
            by_key.entry(key.to_string()).or_insert(item);
        }
    }
    by_key
}

impl Item<'_> {
    /// The element of another list that is the same.
    fn among<'i, 'l>(&self, others: &HashMap<String, &'i Item<'l>>) -> Option<&'i Item<'l>> {
        others.get(&self.key?.to_string()).copied()
    }

    /// The leaves of the element at its place in the list that results.
    fn leaves(&self, result: &str) -> Content {
        let from = format!("{}/{}", self.list.at, self.position);
        let leaf = |below: &str, value: &Value| {
            let (at, mut leaf) = self.list.moved(format!("{result}{below}"), value.clone());
            leaf.element = Some(Element {
                list: Arc::clone(&self.list.at),
                key: None,
                from: Arc::from(format!("{from}{below}")),
            });
            (at, leaf)
        };
        let mut leaves = Content::new();
        flatten(self.value, String::new(), &mut |below, value| {
            leaves.extend([leaf(&below, value)]);
        });
        if leaves.is_empty() {
            leaves.extend([leaf("", self.value)]);
        }
        leaves
    }
}

/// Elements of the patch keep its order, and those of the other list theirs. Where the two leave it open, an element that
/// the other list has before one that both have stays before it; all else follows the patch.
fn put_together(own: &[Item<'_>], other: &[Item<'_>], at: &str) -> Content {
    let (own_by_key, other_by_key) = (by_key(own), by_key(other));
    let rest = other.iter().filter(|item| item.among(&own_by_key).is_none());
    let mut rest = rest.peekable();
    let mut order: Vec<(&Item<'_>, Option<&Item<'_>>)> = Vec::new();
    for item in own {
        let both = item.among(&other_by_key);
        while let (Some(first), Some(both)) = (rest.peek(), both)
            && first.position < both.position
        {
            order.extend(rest.next().map(|item| (item, None)));
        }
        order.push((item, both));
    }
    order.extend(rest.map(|item| (item, None)));
    let mut together = Content::new();
    for (position, (item, both)) in order.into_iter().enumerate() {
        let result = pointer::child(at, &position.to_string());
        let mut leaves = item.leaves(&result);
        if let Some(both) = both {
            lay_under(&mut leaves, &both.leaves(&result), &MergeUnit::JsonMergePatch);
        }
        together.extend(leaves);
    }
    together
}

/// The elements of several lists, one list after the other.
pub(crate) fn all_elements(lists: &[&Leaf], at: &str) -> Content {
    let all = ListKey::default();
    let items = lists
        .iter()
        .flat_map(|leaf| items(leaf, topology::items(Some(&leaf.value)), &all));
    let mut together = Content::new();
    for (position, item) in items.enumerate() {
        together.extend(item.leaves(&pointer::child(at, &position.to_string())));
    }
    together
}

/// What each author has in the lists of a result that were put together. Of many authors each asks: it is found once for all.
pub(crate) struct MergedLists<'r> {
    lists: &'r [ListKey],
    /// By the pointer of the list, where the elements and fields of each come from.
    from: BTreeMap<&'r str, BTreeMap<AuthoredId, BTreeSet<&'r str>>>,
}

impl<'r> MergedLists<'r> {
    pub(crate) fn new(
        lists: &'r [ListKey],
        result: &'r Content,
        author_of: &dyn Fn(&str, &Leaf) -> AuthoredId,
    ) -> Self {
        let mut from: BTreeMap<&str, BTreeMap<AuthoredId, BTreeSet<&str>>> = BTreeMap::new();
        for list in lists {
            for (key, leaf) in starting_with(result, &format!("{}/", list.pointer)) {
                let by_author = from.entry(list.pointer.as_str()).or_default();
                if let Some(element) = &leaf.element {
                    let of_author = by_author.entry(author_of(key, leaf)).or_default();
                    of_author.insert(element.from.as_ref());
                }
            }
        }
        Self { lists, from }
    }

    /// Whether something of a policy's list is not in the one that was put together. `None`: this list is not one of those,
    /// or it was not put together.
    pub(crate) fn is_displaced(&self, author: AuthoredId, (key, own): (&str, &Leaf)) -> Option<bool> {
        let list = self.lists.iter().find(|list| list.pointer == key)?;
        let values = own.value.as_array()?;
        let by_author = self.from.get(key)?;
        let kept = by_author.get(&author);
        let is_kept = |from: &str| kept.is_some_and(|kept| kept.contains(from));
        let mut displaced = false;
        for (position, value) in values.iter().enumerate() {
            let item = format!("{key}/{position}");
            if is_kept(&item) {
                continue;
            }
            flatten(value, item.clone(), &mut |field, _| {
                // What makes two elements one is in both.
                let key = list.key.as_ref();
                let is_key = key.is_some_and(|key| field == pointer::child(&item, key));
                displaced |= !is_key && !is_kept(&field);
            });
        }
        Some(displaced)
    }
}
