//! Where an evaluation's objects are in the files of the input.
//!
//! Owns: the number under which the scheduler knows an object: its position in the hub. Flows in: locations.
//! Flows out: places. Must not know: what a location is about.

use ocm_placement::{Location, Object as Placed, ObjectId};

use crate::diagnostic::Place;
use crate::hub::Hub;
use crate::object::Object;

/// Every object of the hub under its number, which leads back here.
pub(super) fn objects(hub: &Hub) -> impl Iterator<Item = (&Object, Placed<'_>)> {
    hub.objects.iter().enumerate().map(|(number, object)| {
        let placed = Placed {
            id: ObjectId(number),
            value: &object.value,
            namespace: object.namespace.as_deref(),
        };
        (object, placed)
    })
}

/// The object of a location.
#[expect(
    clippy::indexing_slicing,
    reason = "numbers come from this hub; another object's place would be a lie"
)]
pub(super) fn object_of<'a>(hub: &'a Hub, at: &Location) -> &'a Object {
    &hub.objects.iter().as_slice()[at.object.0]
}

/// The place of a location of an evaluation of this hub.
pub fn place_of(hub: &Hub, at: &Location) -> Place {
    object_of(hub, at).place(&at.pointer)
}
