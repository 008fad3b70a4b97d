//! Who owns an exported work or set: this input, or perhaps another one.
//!
//! Owns: what marks a work as made for an object of this input (docs/systems/mgc.md#gateway-work). Flows in: the hub,
//! works and sets. Flows out: a [`Whose`]. Must not know: what is planned.
//!
//! A hub cluster may have the works of several repositories, and of MGC, all with one label. They differ by the object
//! that each was made for: on a hub, a namespace and a name identify one Gateway. A work whose object is not in the
//! input may be left over from this input, or wanted by another one: nothing in the work tells which.

use std::collections::BTreeSet;

use crate::api::ocm_work::REPLICA_SET_LABEL;
use crate::hub::Hub;
use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL, PARENT_ANNOTATION};
use crate::render::{MANIFEST_KEY_LABEL, manifest_key, work_name};

/// The objects of an input, as the works that were made for them name them.
#[derive(Debug)]
pub(super) struct Parents {
    /// The key of the work of an object, and its `namespace/name`.
    keys: BTreeSet<(String, String)>,
}

/// The owner of a work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// It was made for an object of this input.
    Ours,
    /// MGC or spokewright made it, and nothing shows for which input.
    Unclaimed,
    /// The hub made it from a set: it goes with its set.
    OfSet,
    /// Another owner's.
    Foreign,
}

impl Parents {
    /// The objects of a hub.
    pub(super) fn new(hub: &Hub) -> Self {
        let objects = hub.objects.iter();
        Self {
            keys: objects
                .map(|object| (manifest_key(&work_name(object)), object.key()))
                .collect(),
        }
    }

    /// The owner of a work or a set.
    pub(super) fn whose(&self, work: &Object) -> Whose {
        // Somebody who owns it deletes it, and makes it again.
        let owners = work.root().get("metadata").get("ownerReferences");
        if work.label(MANAGED_WORK_LABEL) != Some(MANAGED) || owners.items().next().is_some() {
            return Whose::Foreign;
        }
        if work.label(REPLICA_SET_LABEL).is_some() {
            return Whose::OfSet;
        }
        let key = work
            .label(MANIFEST_KEY_LABEL)
            .zip(work.annotation(PARENT_ANNOTATION));
        let is_ours =
            key.is_some_and(|(key, parent)| self.keys.contains(&(key.to_owned(), parent.to_owned())));
        if is_ours { Whose::Ours } else { Whose::Unclaimed }
    }

    /// Whether a work has the key of an object's, regardless of which object that is: the works of a set name no
    /// parent.
    pub(super) fn knows_key(&self, work: &Object) -> bool {
        let Some(key) = work.label(MANIFEST_KEY_LABEL) else {
            return false;
        };
        let first = (key.to_owned(), String::new());
        self.keys
            .range(first..)
            .next()
            .is_some_and(|(known, _)| known == key)
    }
}
