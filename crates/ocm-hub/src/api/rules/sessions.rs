//! Session persistence: sessions that stay with one backend.
//!
//! Owns: what their cookies need. Flows in: `sessionPersistence` of a rule or a policy. Flows out: complaints. Must not
//! know: which object it is in.

use super::complaints::{Complaints, says};
use apimachinery::Field;

/// The `sessionPersistence` of a mapping, if it is there.
pub(super) fn session_persistence(complaints: &mut Complaints<'_>, holder: &Field<'_>) {
    let Some(persistence) = holder.present("sessionPersistence") else {
        return;
    };
    let Some(cookie) = persistence.present("cookieConfig") else {
        return;
    };
    if persistence.text("type").is_some_and(|kind| kind != "Cookie") {
        let message = "`cookieConfig` is only for sessions of type Cookie";
        complaints.key(&cookie, message, "remove it, or write `type: Cookie`");
    }
    let is_permanent = cookie.text("lifetimeType") == Some("Permanent");
    if is_permanent && !says(&persistence.get("absoluteTimeout")) {
        let message = "a permanent cookie needs an absolute timeout";
        complaints.value(
            &cookie.get("lifetimeType"),
            message,
            "add `absoluteTimeout` to `sessionPersistence`",
        );
    }
}
