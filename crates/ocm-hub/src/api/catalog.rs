//! The built-in catalog of schemas: the structural facts about public kinds whose CRDs are not in the input.
//!
//! The file has only facts: fields, types, bounds, enums, patterns, list keys, defaults, served versions, and the targets
//! that the rules of a policy kind accept. `sources.json` lists the releases; `tests/generate.rs` makes the file from their
//! CRDs. A schema is read when the first object of its kind appears.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use kube_json::Value;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::crd::{Crd, Scope};
use super::targeting::Targeting;
use crate::diagnostic::broken;

/// A line about all kinds, and a line with the definition of each, in their order.
const TEXT: &str = include_str!("catalog/catalog.jsonl");

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let (kinds, definitions) = TEXT.split_once('\n').unwrap_or_default();
    let mut catalog: Catalog =
        serde_json::from_str(kinds).unwrap_or_else(|error| broken(format_args!("catalog.jsonl: {error}")));
    for (entry, definition) in catalog.kinds.iter_mut().zip(definitions.lines()) {
        entry.definition = definition;
    }
    catalog
});

#[derive(Deserialize)]
struct Catalog {
    #[serde(borrow)]
    products: Vec<&'static str>,
    kinds: Vec<Entry>,
}

/// A kind of the catalog.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Resource name in URLs.
    pub plural: &'static str,
    is_namespaced: bool,
    /// Fields of its spec by which objects attach to others.
    #[serde(borrow)]
    references: Vec<&'static str>,
    versions: Vec<Version>,
    // Every run reads the line about all kinds, and needs few of their definitions.
    #[serde(skip)]
    definition: &'static str,
}

/// A served version.
#[derive(Debug, Deserialize)]
struct Version {
    name: &'static str,
    product: usize,
    targeting: Option<&'static RawValue>,
}

/// Every kind, by group and kind.
pub fn kinds() -> impl Iterator<Item = &'static Entry> {
    CATALOG.kinds.iter()
}

/// The kind of this group and name.
pub fn find(group: &str, kind: &str) -> Option<&'static Entry> {
    kinds().find(|entry| (entry.group, entry.kind) == (group, kind))
}

impl Entry {
    /// Scope.
    pub const fn scope(&self) -> Scope {
        if self.is_namespaced {
            Scope::Namespaced
        } else {
            Scope::Cluster
        }
    }

    /// Versions that are served, or were in the releases of the catalog, those of the newest release first.
    pub fn served_versions(&self) -> impl Iterator<Item = &'static str> {
        self.versions.iter().map(|version| version.name)
    }

    /// The release that the schema of a version is of, such as `Gateway API v1.6.1`.
    pub fn product(&self, version: &str) -> Option<&'static str> {
        CATALOG.products.get(self.version(version)?.product).copied()
    }

    /// Whether the spec of any version has this field: `parentRefs`, `targetRef`, `targetRefs` or `targetSelectors`.
    pub(crate) fn has_reference(&self, field: &str) -> bool {
        self.references.contains(&field)
    }

    /// What a version lets its objects name as targets.
    pub fn targeting(&self, version: &str) -> Option<Targeting> {
        serde_json::from_str(self.version(version)?.targeting?.get()).ok()
    }

    /// The definition, as far as the catalog has it.
    pub fn value(&self) -> Value {
        self.definition.parse().unwrap_or_default()
    }

    /// The definition.
    pub(crate) fn definition(&self) -> Option<Crd> {
        Crd::read(&self.value()).ok()
    }

    fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }
}
