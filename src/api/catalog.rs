//! What is known of public kinds without their CRDs: the structural facts of their schemas.
//!
//! Owns: the built-in catalog (`catalog/catalog.bin`), found by group and kind, and which release each schema is of. Flows
//! in: nothing. Flows out: definitions, as if their CRDs were in the input. Must not know: objects, and whether the input
//! has a CRD of its own.
//!
//! The file holds facts alone: fields, types, bounds, enums, patterns, list keys, defaults, served versions. Which releases
//! they are of, `sources.json` says; `generate.rs` makes the file from their CRDs. A schema is read when an object of its
//! kind is met.

mod pack;

#[cfg(test)]
mod generate;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

use super::crd::{Crd, Scope};
use pack::Packed;

static CATALOG: &[u8] = include_bytes!("catalog/catalog.bin");

/// A kind of the catalog. Nothing of its schemas is read before somebody asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
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
pub(crate) fn kinds() -> impl Iterator<Item = Entry> {
    let root = Packed::root(CATALOG);
    let definitions = root.and_then(|root| root.get("definitions"));
    definitions
        .into_iter()
        .flat_map(Packed::items)
        .filter_map(Entry::read)
}

/// The kind of this group and name.
#[must_use]
pub(crate) fn find(group: &str, kind: &str) -> Option<Entry> {
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
    pub(crate) fn served_versions(self) -> impl Iterator<Item = &'static str> {
        self.versions().filter_map(|version| version.get("name")?.text())
    }

    /// The release that the schema of a version is of.
    #[must_use]
    pub(crate) fn product(self, version: &str) -> Option<&'static str> {
        let number = self.version(version)?.get("product")?.value()?.as_u64()?;
        products().nth(usize::try_from(number).ok()?)
    }

    /// Whether the spec of any version has a field.
    #[must_use]
    pub(crate) fn spec_has(self, field: &str) -> bool {
        self.versions().any(|version| {
            let schema = version
                .get("schema")
                .and_then(|schema| schema.get("openAPIV3Schema"));
            let spec = schema.and_then(|schema| schema.get("properties")?.get("spec"));
            spec.and_then(|spec| spec.get("properties")?.get(field)).is_some()
        })
    }

    /// The definition with the compiled schemas of these versions: no other is read.
    #[must_use]
    pub(crate) fn definition(self, wanted: &BTreeSet<&str>) -> Option<Crd> {
        let is_wanted = |version: &Packed<'_>| {
            let name = version.get("name").and_then(Packed::text);
            name.is_some_and(|name| wanted.contains(name))
        };
        let versions: Option<Vec<Value>> = self.versions().filter(is_wanted).map(Packed::value).collect();
        let spec = self.definition.get("spec")?;
        // Not by `json!`, which would copy the schemas.
        let object = |fields: [(&str, Value); 4]| {
            let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::Object(fields.collect())
        };
        let spec = object([
            ("group", Value::from(self.group)),
            ("names", spec.get("names")?.value()?),
            ("scope", spec.get("scope")?.value()?),
            ("versions", Value::Array(versions?)),
        ]);
        let metadata = self.definition.get("metadata")?.value()?;
        let definition = [("metadata".to_owned(), metadata), ("spec".to_owned(), spec)];
        Crd::read(&Value::Object(definition.into_iter().collect())).ok()
    }

    /// The schema of the spec of each version.
    #[cfg(test)]
    pub(crate) fn specs(self) -> impl Iterator<Item = Value> {
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
