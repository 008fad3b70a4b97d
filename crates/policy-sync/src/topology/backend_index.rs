//! Finding a backend by its name.
//!
//! Owns: the index. Flows in: numbers of rows, names. Flows out: numbers. Must not know: what a backend is for.
//!
//! It keeps no names: it compares those of the rows. Routes name two backends each, and a fleet has many routes.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use super::ids::BackendId;
use apimachinery::Identity;

/// Group, kind, namespace, and name of a backend.
pub(super) type BackendKey<'k> = (&'k str, &'k str, Option<&'k str>, &'k str);

/// The numbers of backends by their names.
#[derive(Debug, Default)]
pub(super) struct BackendIndex {
    numbers: HashTable<BackendId>,
    hashing: RandomState,
}

impl BackendIndex {
    /// The backend of this name, if a route or a policy named it. `identity` gives the names of a row.
    pub(super) fn find<'b>(
        &self,
        key: BackendKey<'_>,
        identity: impl Fn(BackendId) -> &'b Identity,
    ) -> Option<BackendId> {
        let is_it = |id: &BackendId| key_of(identity(*id)) == key;
        self.numbers.find(self.hashing.hash_one(key), is_it).copied()
    }

    /// Makes room for so many more rows, so that none is hashed again.
    pub(super) fn reserve<'b>(&mut self, more: usize, identity: impl Fn(BackendId) -> &'b Identity) {
        let hash = |id: &BackendId| self.hashing.hash_one(key_of(identity(*id)));
        self.numbers.reserve(more, hash);
    }

    /// Adds a row that no other one has the name of.
    pub(super) fn insert<'b>(&mut self, id: BackendId, identity: impl Fn(BackendId) -> &'b Identity) {
        let hash = |id: &BackendId| self.hashing.hash_one(key_of(identity(*id)));
        self.numbers.insert_unique(hash(&id), id, hash);
    }
}

/// An identity as a key.
pub(super) fn key_of(identity: &Identity) -> BackendKey<'_> {
    let kind = &identity.group_kind;
    (
        &kind.group,
        &kind.kind,
        identity.namespace.as_deref(),
        &identity.name,
    )
}
