//! Where the things of the hierarchy come from: the hub, and for a view of one cluster what lives there.
//!
//! Owns: [`Sources`]. Flows in: objects. Flows out: objects of a kind, marked by where they live.
//! Must not know: what becomes of them.

use crate::api::downstream::is_synced_copy;
use crate::hub::Objects;
use crate::object::Object;
use apimachinery::Identity;

/// What a topology is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'a> {
    /// The hub's objects.
    pub hub: &'a Objects,
    /// The cluster that is looked at, and what lives there.
    pub local: Option<(&'a str, &'a Objects)>,
}

impl<'a> Sources<'a> {
    /// Objects of a kind: the hub's, then the cluster's own, which are marked. Copies that were synced there are the
    /// hub's objects, and not counted twice.
    pub(crate) fn of_kind(self, group: &str, kind: &str) -> impl Iterator<Item = (&'a Object, bool)> {
        let local = self
            .local
            .map(|(_, objects)| objects.of_kind(group, kind))
            .unwrap_or_default();
        let hub = self.hub.of_kind(group, kind).iter().map(|object| (object, false));
        let local = local.iter().filter(|object| !is_synced_copy(object));
        hub.chain(local.map(|object| (object, true)))
    }

    /// The object of this identity: the hub's, else the cluster's own.
    pub(crate) fn get(self, identity: &Identity) -> Option<&'a Object> {
        self.hub
            .get(identity)
            .or_else(|| self.local.and_then(|(_, objects)| objects.get(identity)))
    }
}
