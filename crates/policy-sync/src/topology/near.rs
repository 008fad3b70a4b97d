//! The object that a dangling reference probably means.
//!
//! Owns: where to look for it. Flows in: the objects of the input; the kind, namespace, and name of a missing object.
//! Flows out: the object with a similar name or in a similarly named namespace, or a section with a similar name. Must
//! not know: what refers to it.

use std::collections::HashMap;

use super::sources::Sources;
use crate::diagnostic::{Finding, KnownNames, Place, nearest};
use crate::object::Object;

/// The nearest definition.
pub(crate) enum Near<'a> {
    /// This object of the same namespace has a near name.
    Name(&'a Object),
    /// This object of the same name is in a near namespace.
    Namespace(&'a Object),
    /// The object has a section of this near name, which is at this place.
    Section(String, Place),
}

impl Near<'_> {
    /// The section of `object` whose name is nearest to `section`: a listener, a rule, or a port.
    pub(crate) fn section(object: &Object, section: &str) -> Option<Self> {
        let spec = object.root().get("spec");
        let lists = ["listeners", "rules", "ports"].map(|list| spec.get(list));
        let names = lists
            .iter()
            .flat_map(|list| list.items().map(|item| item.get("name")));
        let names: Vec<_> = names.filter(|name| name.str().is_some()).collect();
        let near = nearest(section, names.iter().filter_map(|name| name.str()))?;
        let at = names.iter().find(|name| name.str() == Some(near))?;
        Some(Self::Section(near.to_owned(), object.place(&at.pointer())))
    }

    /// The finding with this as its help; `what` does not exist. A wrong namespace is at `namespace`: where the reference
    /// names it, or in the metadata of the object that refers.
    pub(crate) fn explain(&self, finding: Finding, what: &str, namespace: impl FnOnce() -> Place) -> Finding {
        match self {
            Self::Name(object) => finding
                .help(format!("did you mean `{}`?", object.name))
                .lacks(what, object.place("/metadata/name")),
            Self::Namespace(object) => {
                let mut finding = finding
                    .help(format!(
                        "did you mean namespace `{}`?",
                        object.namespace_or_empty()
                    ))
                    .lacks(what, object.place("/metadata/namespace"));
                finding.place = namespace();
                finding
            }
            Self::Section(name, place) => finding
                .help(format!("did you mean `{name}`?"))
                .lacks(what, place.clone()),
        }
    }
}

/// Names by what is known of an object: its group and kind, and its namespace or its name.
type Known<'a> = HashMap<(String, String, String), KnownNames<'a>>;

/// The objects of the input, to look for near ones: a thousand references may name one kind.
#[derive(Debug)]
pub(crate) struct NearObjects<'a> {
    sources: Sources<'a>,
    names: Known<'a>,
    namespaces: Known<'a>,
}

impl<'a> NearObjects<'a> {
    pub(crate) fn new(sources: Sources<'a>) -> Self {
        Self {
            sources,
            names: Known::new(),
            namespaces: Known::new(),
        }
    }

    /// The nearest object of a kind: one of its namespace first.
    pub(crate) fn find(
        &mut self,
        (group, kind): (&str, &str),
        namespace: &str,
        name: &str,
    ) -> Option<Near<'a>> {
        let sources = self.sources;
        let of_kind = || sources.of_kind(group, kind).map(|(object, _)| object);
        let key = |last: &str| (group.to_owned(), kind.to_owned(), last.to_owned());
        let names = self.names.entry(key(namespace)).or_insert_with(|| {
            let here = of_kind().filter(|object| object.namespace_or_empty() == namespace);
            KnownNames::of(here.map(|object| object.name.as_str()))
        });
        let is_at = |object: &&Object, namespace: &str, name: &str| {
            object.namespace_or_empty() == namespace && object.name == name
        };
        if let Some(near) = names.nearest(name) {
            return of_kind()
                .find(|object| is_at(object, namespace, near))
                .map(Near::Name);
        }
        let namespaces = self.namespaces.entry(key(name)).or_insert_with(|| {
            let named = of_kind().filter(|object| object.name == name);
            KnownNames::of(named.map(Object::namespace_or_empty))
        });
        let near = namespaces.nearest(namespace)?;
        of_kind()
            .find(|object| is_at(object, near, name))
            .map(Near::Namespace)
    }
}
