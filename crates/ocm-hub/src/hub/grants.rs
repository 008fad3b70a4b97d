//! ReferenceGrants: which references may cross namespaces, on the hub or on a cluster.
//!
//! A cluster has the grants that are shipped to it and those that live there. Routes that another tool delivers are
//! assumed to arrive with the grants of the hub.

use std::collections::BTreeMap;

use super::{Hub, Objects};
use crate::api::gateway::{GROUP, ReferenceGrant};
use crate::diagnostic::{Findings, Place, nearest};
use crate::object::Object;
use apimachinery::Identity;

/// All ReferenceGrants of one place.
#[derive(Debug, Default)]
pub struct Grants<'a> {
    /// By the namespace that they open.
    by_namespace: BTreeMap<&'a str, Vec<ReferenceGrant<'a>>>,
    /// Of a cluster, those of the hub.
    hub: Option<&'a Grants<'a>>,
}

impl<'a> Grants<'a> {
    /// The ReferenceGrants among some objects.
    pub fn new(objects: &'a Objects) -> Self {
        let objects = objects.of_kind(GROUP, "ReferenceGrant").iter();
        Self::from_grants(objects.filter_map(ReferenceGrant::new))
    }

    /// Reports what is wrong with the ReferenceGrants of the hub.
    pub fn report(hub: &Hub, findings: &mut Findings) {
        for object in hub.objects.of_kind(GROUP, "ReferenceGrant") {
            ReferenceGrant::read(object, findings);
        }
    }

    fn from_grants(grants: impl Iterator<Item = ReferenceGrant<'a>>) -> Self {
        let mut by_namespace: BTreeMap<&'a str, Vec<ReferenceGrant<'a>>> = BTreeMap::new();
        for grant in grants {
            let namespace = grant.object.namespace_or_empty();
            by_namespace.entry(namespace).or_default().push(grant);
        }
        Self {
            by_namespace,
            hub: None,
        }
    }

    /// Those among the objects of a cluster; `self` are the hub's.
    #[must_use]
    pub fn on_cluster(&'a self, objects: impl Iterator<Item = &'a Object>) -> Self {
        Self {
            hub: Some(self),
            ..Self::from_grants(objects.filter_map(ReferenceGrant::new))
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_namespace.is_empty()
    }

    /// The grants that permit a reference from `from` (group, kind, namespace) to an object.
    pub fn permitting(&self, from: (&str, &str, &str), to: &Identity) -> impl Iterator<Item = &'a Object> {
        let namespace = to.namespace.as_deref().unwrap_or_default();
        let kind = &to.group_kind;
        let to = (kind.group.as_str(), kind.kind.as_str(), to.name.as_str());
        let grants = self.grants_in(namespace);
        grants
            .filter(move |grant| grant.permits(from, to))
            .map(|grant| grant.object)
    }

    fn grants_in(&self, namespace: &str) -> impl Iterator<Item = &ReferenceGrant<'a>> {
        self.by_namespace.get(namespace).into_iter().flatten()
    }

    /// Whether an object of `from` (group, kind, namespace) may refer to `to` (group, kind, name) in
    /// `namespace`. Within one namespace everything may.
    pub fn permit(&self, from: (&str, &str, &str), namespace: &str, to: (&str, &str, &str)) -> bool {
        from.2 == namespace || self.grants_in(namespace).any(|grant| grant.permits(from, to))
    }

    /// The same for an object of a cluster that is `assumed` to be delivered there by another tool: with the grants of
    /// the hub.
    pub fn permit_there(
        &self,
        assumed: bool,
        from: (&str, &str, &str),
        namespace: &str,
        to: (&str, &str, &str),
    ) -> bool {
        let hub = self.hub.filter(|_| assumed);
        self.permit(from, namespace, to) || hub.is_some_and(|hub| hub.permit(from, namespace, to))
    }

    /// Where a grant would permit a reference but for a typo in a namespace, its own or the one that the reference comes
    /// from, or because it is at the wrong end, and the help that leads out.
    pub fn almost_permit(
        &self,
        from: (&str, &str, &str),
        namespace: &str,
        to: (&str, &str, &str),
    ) -> Option<(Place, String)> {
        let mut grants = self.grants_in(namespace);
        if let Some(place) = grants.find_map(|grant| grant.almost_permits(from, to)) {
            let help = format!("write `namespace: {}` in the ReferenceGrant", from.2);
            return Some((place, help));
        }
        let near = nearest(namespace, self.by_namespace.keys().copied());
        // In the namespace that the reference comes from, a grant for it permits nothing.
        let namespaces = near.into_iter().chain([from.2]);
        let mut grants = namespaces.flat_map(|near| self.grants_in(near));
        let grant = grants.find(|grant| grant.permits(from, to))?;
        let help = format!("write `namespace: {namespace}` in the metadata of the ReferenceGrant");
        Some((grant.object.place("/metadata/namespace"), help))
    }
}
