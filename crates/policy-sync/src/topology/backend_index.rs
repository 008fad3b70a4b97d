//! Finding a backend by its name.
//!
//! Owns: the index. Flows in: numbers of rows, names. Flows out: numbers. Must not know: what a backend is for.
//!
//! It keeps no names: it compares those of the rows. Routes name two backends each, and a fleet has many routes: their
//! names take as little memory as they can.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;

use super::ids::BackendId;
use apimachinery::{Identity, NameHash};
use kube_json::Text;

/// Group, kind, namespace, and name of a backend.
pub(crate) type BackendKey<'k> = (&'k str, &'k str, Option<&'k str>, &'k str);

/// Group and kind of a Service.
const SERVICE: (&str, &str) = ("", "Service");

/// The name of a backend as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct BackendName {
    /// Group and kind, unless it is a Service, as nearly all are.
    other_kind: Option<Box<(Text, Text)>>,
    pub(crate) namespace: Option<Text>,
    pub(crate) name: Text,
}

impl BackendName {
    pub(super) fn of((group, kind, namespace, name): BackendKey<'_>) -> Self {
        Self {
            other_kind: ((group, kind) != SERVICE).then(|| Box::new((group.into(), kind.into()))),
            namespace: namespace.map(Text::from),
            name: name.into(),
        }
    }

    pub(crate) fn key(&self) -> BackendKey<'_> {
        let (group, kind) = match &self.other_kind {
            Some(other) => (other.0.as_str(), other.1.as_str()),
            None => SERVICE,
        };
        (group, kind, self.namespace.as_deref(), &self.name)
    }

    /// The same for everybody else.
    pub(crate) fn identity(&self) -> Identity {
        let (group, kind, namespace, name) = self.key();
        Identity::new(group, kind, namespace, name)
    }
}

/// The numbers of backends by their names.
#[derive(Debug, Default)]
pub(super) struct BackendIndex {
    numbers: HashTable<BackendId>,
    hashing: NameHash,
}

impl BackendIndex {
    /// The backend of this name, if a route or a policy named it. `name` gives that of a row.
    pub(super) fn find<'b>(
        &self,
        key: BackendKey<'_>,
        name: impl Fn(BackendId) -> &'b BackendName,
    ) -> Option<BackendId> {
        let is_it = |id: &BackendId| name(*id).key() == key;
        self.numbers.find(self.hashing.hash_one(key), is_it).copied()
    }

    /// Makes room for so many more rows, so that none is hashed again.
    pub(super) fn reserve<'b>(&mut self, more: usize, name: impl Fn(BackendId) -> &'b BackendName) {
        let hash = |id: &BackendId| self.hashing.hash_one(name(*id).key());
        self.numbers.reserve(more, hash);
    }

    /// The backend of this name, or `next`, which from now on has it. `name` gives that of a row before `next`.
    pub(super) fn find_or_add<'b>(
        &mut self,
        key: BackendKey<'_>,
        next: BackendId,
        name: impl Fn(BackendId) -> &'b BackendName,
    ) -> BackendId {
        let is_it = |id: &BackendId| name(*id).key() == key;
        let hash = |id: &BackendId| self.hashing.hash_one(name(*id).key());
        *self
            .numbers
            .entry(self.hashing.hash_one(key), is_it, hash)
            .or_insert(next)
            .get()
    }
}
