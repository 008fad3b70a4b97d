//! The objects that the selectors of policies select.
//!
//! Owns: finding objects by their labels without asking each of them, once for equal selectors. Flows in: the objects
//! of the hub or of a cluster, selectors. Flows out: names. Must not know: policies, targets.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::hub::Objects;
use crate::object::Object;
use crate::topology::Sources;
use apimachinery::{GroupKind, Operator, Selector};

/// Objects of one kind in one namespace.
type Place = (GroupKind, String);

/// Objects by key and value of a label, in their order.
type ByLabel<'a> = HashMap<(&'a str, &'a str), Vec<&'a Object>>;

/// The selectors of the policies of one place, the hub or a cluster.
#[derive(Default)]
pub(super) struct Selecting<'a> {
    /// The objects that have a label with a value.
    by_label: HashMap<Place, ByLabel<'a>>,
    known: HashMap<(Place, Selector), Arc<[&'a str]>>,
    namespaces: HashMap<GroupKind, Vec<&'a str>>,
}

impl<'a> Selecting<'a> {
    /// The namespaces that have objects of a kind, sorted.
    pub(super) fn namespaces(&mut self, sources: Sources<'a>, group: &str, kind: &str) -> Vec<&'a str> {
        let of = |objects: &'a Objects| objects.of_kind(group, kind).iter();
        let all = of(sources.objects).chain(sources.local.into_iter().flat_map(of));
        let namespaces = || all.map(Object::namespace_or_empty).collect::<BTreeSet<_>>();
        let known = self.namespaces.entry(GroupKind::new(group, kind));
        let known = known.or_insert_with(|| namespaces().into_iter().collect());
        known.clone()
    }

    /// The names of the objects that a selector selects, those of the hub first, each in the order of their names.
    pub(super) fn select(
        &mut self,
        sources: Sources<'a>,
        (group, kind, namespace): (&str, &str, &str),
        selector: &Selector,
    ) -> Arc<[&'a str]> {
        let place: Place = (GroupKind::new(group, kind), namespace.to_owned());
        let key = (place, selector.clone());
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let all = || {
            let of = |objects: &'a Objects| {
                let all = objects.of_kind(group, kind);
                let start = all.partition_point(|object| object.namespace_or_empty() < namespace);
                all.iter()
                    .skip(start)
                    .take_while(|object| object.namespace_or_empty() == namespace)
            };
            of(sources.objects).chain(sources.local.into_iter().flat_map(of))
        };
        // A thousand selectors of one label each must not ask a thousand objects each.
        let label = selector.requirements.iter().find_map(|requirement| {
            match (requirement.operator, requirement.values.as_slice()) {
                (Operator::In, [value]) => Some((requirement.key.as_str(), value.as_str())),
                _ => None,
            }
        });
        let candidates: Vec<&'a Object> = match label {
            Some(label) => {
                let by_label = self.by_label.entry(key.0.clone()).or_insert_with(|| {
                    let mut by_label = ByLabel::default();
                    for object in all() {
                        for label in object.labels() {
                            by_label.entry(label).or_default().push(object);
                        }
                    }
                    by_label
                });
                by_label.get(&label).cloned().unwrap_or_default()
            }
            None => all().collect(),
        };
        let selected: Arc<[&'a str]> = candidates
            .into_iter()
            .filter(|object| selector.matches(|key| object.label(key)))
            .map(|object| object.name.as_str())
            .collect();
        self.known.insert(key, Arc::clone(&selected));
        selected
    }
}
