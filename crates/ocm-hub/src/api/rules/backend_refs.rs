//! References to backends.
//!
//! Owns: the rule that a reference to a Service has a port. Flows in: references. Flows out: complaints. Must not know:
//! which Services exist.

use super::complaints::Complaints;
use apimachinery::Field;

/// A Service has several ports, so one must be named; other kinds of backends need none.
pub(super) fn backend_ref(complaints: &mut Complaints<'_>, reference: &Field<'_>) {
    if reference.has("port") {
        return;
    }
    let group = reference.text("group").unwrap_or_default();
    let kind = reference.text("kind").unwrap_or("Service");
    if reference.is_present() && (group, kind) == ("", "Service") {
        let name = reference.text("name").unwrap_or_default();
        complaints.value(
            reference,
            format!("the backend Service {name} has no port"),
            "add `port`, the number of a port of the Service",
        );
    }
}
