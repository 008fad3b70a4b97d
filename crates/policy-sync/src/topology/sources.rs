//! The objects that the hierarchy is made from: those of the hub, or those of one cluster, both synced and local.
//!
//! Owns: [`Sources`], and [`Original`], the object that a copy on a cluster was made from. Flows in: objects. Flows
//! out: objects of a kind, marked by where they live. Must not know: how they are linked.

use std::collections::HashMap;

use crate::api::downstream::is_synced_copy;
use crate::hub::Objects;
use crate::object::{Ages, Object, Rank, rank_of};
use apimachinery::Identity;

/// The objects that a topology is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The hub's objects, or what is synced to a cluster.
    pub objects: &'a Objects,
    /// Of a cluster, what lives there.
    pub local: Option<&'a Objects>,
    /// Of a cluster, the hub: its Namespaces, backends and CRDs are assumed to be there, too.
    pub hub: Option<&'a Objects>,
    /// Of a cluster, what the synced objects were made from, by their identity there.
    pub originals: Option<&'a Originals<'a>>,
}

/// The original of an object on a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    /// The object of the hub.
    pub object: &'a Object,
    /// Whether it is not synced, but a route of the hub that another tool is assumed to deliver.
    pub assumed: bool,
}

/// Originals by the identity of what was made from them.
pub type Originals<'a> = HashMap<Identity, Original<'a>>;

/// The objects whose ages count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seniority {
    /// Of what is looked at.
    pub ages: Ages,
    /// Of the hub's objects, which those that were synced to a cluster were made from. When a copy was created there
    /// nobody here knows: the older one on the hub is the likelier to have come first.
    pub of_originals: Ages,
}

impl<'a> Sources<'a> {
    /// The hub as a cluster of its own.
    #[must_use]
    pub const fn hub(objects: &'a Objects) -> Self {
        Self {
            objects,
            local: None,
            hub: None,
            originals: None,
        }
    }

    /// Objects of a kind, those that live on the cluster last, and marked. Copies that were synced there by an earlier
    /// run are not counted twice.
    pub(crate) fn of_kind(self, group: &str, kind: &str) -> impl Iterator<Item = (&'a Object, bool)> {
        let local = self.local.map(|objects| objects.of_kind(group, kind));
        let local = local.unwrap_or_default().iter();
        let objects = self.objects.of_kind(group, kind).iter();
        let local = local.filter(|object| !is_synced_copy(object));
        objects
            .map(|object| (object, false))
            .chain(local.map(|object| (object, true)))
    }

    /// Objects of a kind that is not synced: the hub's, then those that live on the cluster.
    pub(crate) fn with_hub(self, group: &str, kind: &str) -> impl Iterator<Item = (&'a Object, bool)> {
        let hub = self.hub.map(|objects| objects.of_kind(group, kind));
        let hub = hub.unwrap_or_default().iter().map(|object| (object, false));
        hub.chain(self.of_kind(group, kind))
    }

    /// The object of this identity, which lives on the cluster or else on the hub.
    pub(crate) fn get(self, identity: &Identity) -> Option<&'a Object> {
        let local = || self.local.and_then(|objects| objects.get(identity));
        let hub = || self.hub.and_then(|objects| objects.get(identity));
        self.objects.get(identity).or_else(local).or_else(hub)
    }

    /// The rank of a route or a ListenerSet among its like.
    pub(super) fn rank(self, object: &Object, seniority: Seniority) -> Rank {
        match self.original(object) {
            Some(original) => rank_of(original.object, seniority.of_originals),
            None => rank_of(object, seniority.ages),
        }
    }

    /// The original of an object.
    pub(crate) fn original(self, object: &Object) -> Option<&'a Original<'a>> {
        self.originals?.get(&object.identity())
    }
}
