//! The built-in catalog of schemas: the structural facts about public kinds whose CRDs are not in the input.
//!
//! Owns: the catalog file (`catalog/catalog.bin`), lookups by group and kind, and the release that each schema comes
//! from. Flows in: nothing. Flows out: definitions, as if their CRDs were in the input. Must not know: objects, and
//! whether the input has a CRD of its own.
//!
//! The file contains only facts: fields, types, bounds, enums, patterns, list keys, defaults, served versions, and the
//! targets that the rules of a policy kind accept. `sources.json` lists the releases; `tests/generate.rs` makes the file from
//! their CRDs. A schema is read when the first object of its kind appears.

#[cfg(test)]
mod tests;

use crd_schema::Packed;
use kube_json::Value;

use super::crd::{Crd, Scope};
use super::targeting::Targeting;

static CATALOG: &[u8] = include_bytes!("catalog/catalog.bin");

/// A kind of the catalog. Its schemas are read when they are needed.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    definition: Packed<'static>,
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Resource name in URLs.
    pub plural: &'static str,
    /// Scope.
    pub scope: Scope,
}

/// Every kind, by group and kind.
pub fn kinds() -> impl Iterator<Item = Entry> {
    let root = Packed::root(CATALOG);
    let definitions = root.and_then(|root| root.get("definitions"));
    definitions
        .into_iter()
        .flat_map(Packed::items)
        .filter_map(Entry::read)
}

/// The kind of this group and name.
#[must_use]
pub fn find(group: &str, kind: &str) -> Option<Entry> {
    kinds().find(|entry| (entry.group, entry.kind) == (group, kind))
}

/// The releases that the catalog is of, such as `Gateway API v1.6.1`.
pub(crate) fn products() -> impl Iterator<Item = &'static str> {
    let root = Packed::root(CATALOG);
    let products = root.and_then(|root| root.get("products"));
    products
        .into_iter()
        .flat_map(Packed::items)
        .filter_map(Packed::text)
}

impl Entry {
    fn read(definition: Packed<'static>) -> Option<Self> {
        let spec = definition.get("spec")?;
        let names = spec.get("names")?;
        Some(Self {
            definition,
            group: spec.get("group")?.text()?,
            kind: names.get("kind")?.text()?,
            plural: names.get("plural")?.text()?,
            scope: match spec.get("scope")?.text()? {
                "Cluster" => Scope::Cluster,
                _ => Scope::Namespaced,
            },
        })
    }

    /// Versions that are served, or were in the releases of the catalog, those of the newest release first.
    pub fn served_versions(self) -> impl Iterator<Item = &'static str> {
        self.versions().filter_map(|version| version.get("name")?.text())
    }

    /// The release that the schema of a version is of.
    #[must_use]
    pub fn product(self, version: &str) -> Option<&'static str> {
        let number = self.version(version)?.get("product")?.value()?.as_u64()?;
        products().nth(usize::try_from(number).ok()?)
    }

    /// Whether the spec of any version has this field: `parentRefs`, `targetRef`, `targetRefs` or `targetSelectors`.
    #[must_use]
    pub(crate) fn has_reference(self, field: &str) -> bool {
        let references = self.definition.get("references").into_iter();
        references
            .flat_map(Packed::items)
            .any(|reference| reference.text() == Some(field))
    }

    /// What a version lets its objects name as targets.
    #[must_use]
    pub fn targeting(self, version: &str) -> Option<Targeting> {
        let targeting = self.version(version)?.get("targeting")?.value()?;
        kube_json::from_value(&targeting).ok()
    }

    /// The definition.
    #[must_use]
    pub(crate) fn definition(self) -> Option<Crd> {
        Crd::read(&self.definition.value()?).ok()
    }

    /// The schema of the spec of each version.
    pub fn specs(self) -> impl Iterator<Item = Value> {
        self.versions().filter_map(|version| {
            let schema = version.get("schema")?.get("openAPIV3Schema")?;
            schema.get("properties")?.get("spec")?.value()
        })
    }

    fn version(self, name: &str) -> Option<Packed<'static>> {
        self.versions()
            .find(|version| version.get("name").and_then(Packed::text) == Some(name))
    }

    fn versions(self) -> impl Iterator<Item = Packed<'static>> {
        let versions = self.definition.get("spec").and_then(|spec| spec.get("versions"));
        versions.into_iter().flat_map(Packed::items)
    }
}
