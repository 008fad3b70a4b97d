//! ReferenceGrants: which references may cross namespaces.
//!
//! Owns: asking all grants at once. Flows in: the hub. Flows out: yes or no for a reference. Must not know: what the
//! reference is for.

use std::collections::BTreeMap;

use super::{Hub, Objects};
use crate::api::gateway::{GROUP, ReferenceGrant};
use crate::diagnostic::{Findings, Place};
use crate::object::Object;
use apimachinery::Identity;

/// All ReferenceGrants of the hub, by the namespace that they open.
#[derive(Debug, Default)]
pub struct Grants<'a> {
    by_namespace: BTreeMap<&'a str, Vec<ReferenceGrant<'a>>>,
}

impl<'a> Grants<'a> {
    /// Reads the ReferenceGrants of the hub.
    pub fn new(hub: &'a Hub, findings: &mut Findings) -> Self {
        Self::among(&hub.objects, findings)
    }

    /// Reads the ReferenceGrants among some objects.
    pub fn among(objects: &'a Objects, findings: &mut Findings) -> Self {
        let mut by_namespace: BTreeMap<&'a str, Vec<ReferenceGrant<'a>>> = BTreeMap::new();
        for object in objects.of_kind(GROUP, "ReferenceGrant") {
            if let Some(grant) = ReferenceGrant::read(object, findings) {
                by_namespace.entry(grant.namespace).or_default().push(grant);
            }
        }
        Self { by_namespace }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_namespace.is_empty()
    }

    /// The grants that permit a reference from `from` (group, kind, namespace) to an object.
    pub fn permitting(&self, from: (&str, &str, &str), to: &Identity) -> impl Iterator<Item = &'a Object> {
        let namespace = to.namespace.as_deref().unwrap_or_default();
        let kind = &to.group_kind;
        let to = (kind.group.as_str(), kind.kind.as_str(), to.name.as_str());
        let grants = self.by_namespace.get(namespace).into_iter().flatten();
        grants
            .filter(move |grant| grant.permits(from, to))
            .map(|grant| grant.object)
    }

    /// Whether an object of `from` (group, kind, namespace) may refer to `to` (group, kind, name) in
    /// `namespace`. Within one namespace everything may.
    #[must_use]
    pub fn permit(&self, from: (&str, &str, &str), namespace: &str, to: (&str, &str, &str)) -> bool {
        from.2 == namespace
            || self
                .by_namespace
                .get(namespace)
                .is_some_and(|grants| grants.iter().any(|grant| grant.permits(from, to)))
    }

    /// Where a grant would permit a reference but for a typo in the namespace that it comes from.
    #[must_use]
    pub fn almost_permit(
        &self,
        from: (&str, &str, &str),
        namespace: &str,
        to: (&str, &str, &str),
    ) -> Option<Place> {
        let grants = self.by_namespace.get(namespace)?;
        grants.iter().find_map(|grant| grant.almost_permits(from, to))
    }
}
