//! The objects besides Gateways, routes, and policies that go to the spokes, and the Gateways that they go with.
//!
//! `resources_to_sync.rs` chooses them.

use std::collections::{BTreeMap, BTreeSet};

use crate::hub::OurGatewayId;
use crate::object::Object;
use apimachinery::Identity;

/// The chosen objects.
#[derive(Debug, Default)]
pub struct ChosenObjects<'a> {
    /// Those that go anywhere, by kind, namespace, and name.
    pub(super) objects: BTreeMap<Key<'a>, ChosenObject<'a>>,
    /// By namespace of the hub: the Gateways that bring anything that keeps this namespace.
    pub(super) shipped_in: BTreeMap<&'a str, BTreeSet<OurGatewayId>>,
}

/// Group, kind, namespace, and name.
pub(super) type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// A chosen object, and the Gateways that it goes with.
#[derive(Debug)]
pub(super) struct ChosenObject<'a> {
    pub(super) object: &'a Object,
    /// In the downstream namespace of each.
    pub(super) with_gateways: Vec<OurGatewayId>,
    /// In its own namespace.
    pub(super) in_place: Vec<OurGatewayId>,
}

/// The key of an object.
pub(super) fn key(object: &Object) -> Key<'_> {
    let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
    (group, kind, object.namespace_or_empty(), &object.name)
}

impl<'a> ChosenObjects<'a> {
    /// The chosen object that an object of the hub is, if it goes anywhere.
    pub(super) fn get<'s>(&'s self, object: &'s Object) -> Option<&'s ChosenObject<'a>> {
        self.objects.get(&key(object))
    }

    /// Whether an object is chosen to be in the namespace of a Gateway's copy.
    pub(super) fn goes_beside(&self, object: &Identity, gateway: OurGatewayId) -> bool {
        let kind = &object.group_kind;
        let namespace = object.namespace.as_deref().unwrap_or_default();
        let chosen = self
            .objects
            .get(&(&*kind.group, &*kind.kind, namespace, &*object.name));
        chosen.is_some_and(|chosen| chosen.with_gateways.contains(&gateway))
    }

    /// The Gateways that bring anything of a namespace that keeps it.
    pub(super) fn shipped_in(&self, namespace: &str) -> BTreeSet<OurGatewayId> {
        self.shipped_in.get(namespace).cloned().unwrap_or_default()
    }
}
