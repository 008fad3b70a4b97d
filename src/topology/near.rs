//! The object that a reference to nothing was probably meant for.
//!
//! Owns: where to look for it. Flows in: the objects of the input, a kind, a namespace, and a name that are not there.
//! Flows out: a near name, or a near namespace. Must not know: what refers to it.

use std::collections::HashMap;

use super::sources::Sources;
use crate::diagnostic::{Finding, KnownNames, Place};
use crate::object::Object;

/// A near name, or a near namespace.
pub(crate) enum Near<'a> {
    /// An object of the same namespace has this name.
    Name(&'a str),
    /// An object of the same name is in this namespace.
    Namespace(&'a str),
}

impl Near<'_> {
    /// The finding with this as its help. A wrong namespace is at `namespace`: where the reference names it, or in the
    /// metadata of the object that refers.
    pub(crate) fn explain(&self, finding: Finding, namespace: impl FnOnce() -> Place) -> Finding {
        match self {
            Self::Name(name) => finding.help(format!("did you mean `{name}`?")),
            Self::Namespace(near) => Finding {
                place: namespace(),
                ..finding.help(format!("did you mean namespace `{near}`?"))
            },
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
        if let Some(name) = names.nearest(name) {
            return Some(Near::Name(name));
        }
        let namespaces = self.namespaces.entry(key(name)).or_insert_with(|| {
            let named = of_kind().filter(|object| object.name == name);
            KnownNames::of(named.map(Object::namespace_or_empty))
        });
        namespaces.nearest(namespace).map(Near::Namespace)
    }
}
