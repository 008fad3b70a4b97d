//! The object that a dangling reference probably means.
//!
//! A typo takes something off the clusters that an object with the right reference would have brought there, so a
//! reference with a suggestion is an error.

use std::collections::HashMap;

use apimachinery::{GroupKind, Identity};
use kube_json::Text;

use super::sources::Sources;
use crate::api::downstream::NAMESPACE_PREFIX;
use crate::diagnostic::{Finding, NameIndex, Place, Severity, nearest};
use crate::object::Object;

/// The nearest definition.
pub(crate) struct Suggestion<'a> {
    /// The field of the reference that is probably wrong.
    pub(crate) field: &'static str,
    help: String,
    object: &'a Object,
    /// Where it is defined.
    there: Place,
}

impl<'a> Suggestion<'a> {
    /// What is meant is at a pointer of an object.
    fn new(field: &'static str, meant: &str, object: &'a Object, pointer: &str) -> Self {
        Self {
            field,
            help: format!("did you mean `{meant}`?"),
            object,
            there: object.place(pointer),
        }
    }

    /// An object of the same name and namespace has a near kind, of the same group.
    pub(crate) fn kind(object: &'a Object) -> Self {
        Self::new("kind", &object.kind, object, "/kind")
    }

    /// The section of `object` whose name is nearest to `section`: a listener, a rule, or a port.
    pub(crate) fn section(object: &'a Object, section: &str) -> Option<Self> {
        let spec = object.root().get("spec");
        let lists = ["listeners", "rules", "ports"].map(|list| spec.get(list));
        let names = lists
            .iter()
            .flat_map(|list| list.items().map(|item| item.get("name")));
        let names: Vec<_> = names.filter(|name| name.str().is_some()).collect();
        let near = nearest(section, names.iter().filter_map(|name| name.str()))?;
        let at = names.iter().find(|name| name.str() == Some(near))?;
        Some(Self::new("sectionName", near, object, &at.pointer()))
    }

    /// Whether it is an object of such a group and kind.
    pub(crate) fn is(&self, wanted: impl Fn(&str, &str) -> bool) -> bool {
        wanted(&self.object.api_version.group, &self.object.kind)
    }

    /// The error with this as its help; `what` does not exist. A reference of an object, at a pointer, that has no namespace
    /// means the one in the metadata of the object.
    pub(crate) fn explain(
        self,
        finding: Finding,
        what: &str,
        (object, pointer, namespace): (&Object, &str, Option<&str>),
    ) -> Finding {
        let finding = finding.severity(Severity::Error).help(self.help);
        let mut finding = finding.lacks(what, self.there);
        finding.place = match self.field {
            "namespace" if namespace.is_none() => object.place("/metadata/namespace"),
            field => object.place(&format!("{pointer}/{field}")),
        };
        finding
    }
}

/// Names of objects by their group, their kind, and their namespace or name.
type NamesByKey<'a> = HashMap<[Text; 3], NameIndex<'a>>;

/// The objects of the input, to look for near ones: a thousand references may name one kind.
#[derive(Debug)]
pub(crate) struct Suggestions<'a> {
    sources: Sources<'a>,
    names: NamesByKey<'a>,
    namespaces: NamesByKey<'a>,
}

impl<'a> Suggestions<'a> {
    pub(crate) fn new(sources: Sources<'a>) -> Self {
        Self {
            sources,
            names: NamesByKey::new(),
            namespaces: NamesByKey::new(),
        }
    }

    /// The nearest object for a reference; where it has no namespace, one may have been forgotten.
    pub(crate) fn find_for(&mut self, namespace: Option<&str>, missing: &Identity) -> Option<Suggestion<'a>> {
        let near = self.find(missing);
        if namespace.is_some() || near.is_some() || self.sources.lives_on_a_cluster(missing) {
            return near;
        }
        let GroupKind { group, kind } = &missing.group_kind;
        let all = self.sources.all();
        let named = all.flat_map(|objects| objects.of_kind(group, kind));
        let named = named.filter(|object| object.name == missing.name.as_str());
        let object = named.min_by_key(|object| object.namespace.as_deref())?;
        Some(Suggestion {
            help: format!(
                "did you mean {}? A reference without `namespace` stays in its own",
                object.identity()
            ),
            ..Suggestion::new("name", "", object, "/metadata/namespace")
        })
    }

    /// The nearest object: one of its namespace first, then one of its name, then one of a near kind or group. None
    /// where the missing object lives on a cluster.
    pub(crate) fn find(&mut self, missing: &Identity) -> Option<Suggestion<'a>> {
        let sources = self.sources;
        if sources.lives_on_a_cluster(missing) {
            return None;
        }
        let GroupKind { group, kind } = &missing.group_kind;
        let namespace = missing.namespace.as_deref().unwrap_or_default();
        let name = missing.name.as_str();
        let of_kind = || sources.all().flat_map(|objects| objects.of_kind(group, kind));
        let key = |last: &str| [group.clone(), kind.clone(), last.into()];
        let names = self.names.entry(key(namespace)).or_insert_with(|| {
            let here = of_kind().filter(|object| is_in(object, namespace));
            NameIndex::new(here.map(|object| object.name.as_str()))
        });
        let is_at =
            |object: &&Object, namespace: &str, name: &str| is_in(object, namespace) && object.name == name;
        if let Some(near) = names.nearest(name) {
            let object = of_kind().find(|object| is_at(object, namespace, near))?;
            return Some(Suggestion::new("name", near, object, "/metadata/name"));
        }
        let namespaces = self.namespaces.entry(key(name)).or_insert_with(|| {
            let named = of_kind().filter(|object| object.name == name);
            NameIndex::new(named.map(Object::namespace_or_empty))
        });
        // On a cluster, a Gateway of the hub has another namespace.
        let downstream = [NAMESPACE_PREFIX, namespace].concat();
        let on_cluster = of_kind().any(|object| is_at(&object, &downstream, name));
        let near = namespaces.nearest(namespace);
        if let Some(near) = near.or(on_cluster.then_some(downstream.as_str())) {
            let object = of_kind().find(|object| is_at(object, near, name))?;
            return Some(Suggestion {
                help: format!("did you mean namespace `{}`?", object.namespace_or_empty()),
                ..Suggestion::new("namespace", "", object, "/metadata/namespace")
            });
        }
        let named = sources.all().flat_map(|objects| {
            let kinds = objects.group_kinds().into_iter();
            kinds.filter_map(|known| {
                let is_near = match (known.group == *group, known.kind == *kind) {
                    (true, false) => nearest(kind, [known.kind.as_str()]).is_some(),
                    (false, true) => nearest(group, [known.group.as_str()]).is_some(),
                    _ => false,
                };
                let mut namespaces = [Some(namespace), None].into_iter().filter(|_| is_near);
                let found = namespaces.find_map(|own| objects.find(&known.group, &known.kind, own, name))?;
                Some(if known.group == *group {
                    Suggestion::kind(found)
                } else {
                    Suggestion::new("group", &known.group, found, "/apiVersion")
                })
            })
        });
        named.into_iter().next()
    }
}

/// Whether a reference with this namespace may mean an object.
fn is_in(object: &Object, namespace: &str) -> bool {
    object.namespace.as_deref().is_none_or(|own| own == namespace)
}
