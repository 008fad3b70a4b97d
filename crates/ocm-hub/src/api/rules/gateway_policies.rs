//! Gateway API's own policies.

use super::complaints::{Complaints, has_text, milliseconds};
use super::routes::session_persistence;
use apimachinery::Field;

/// An hour.
const LONGEST_INTERVAL: u64 = 3_600_000;

/// An XBackendTrafficPolicy.
pub(super) fn backend_traffic(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let retries = spec.get("retryConstraint");
    for (holder, shortest, words) in [("budget", 1000, "1s"), ("minRetryRate", 1, "1ms")] {
        let interval = retries.get(holder).get("interval");
        let length = interval.str().and_then(milliseconds);
        if length.is_some_and(|length| !(shortest..=LONGEST_INTERVAL).contains(&length)) {
            let message = "this interval is not valid for retries";
            complaints.value(&interval, message, format!("write a time from {words} to 1h"));
        }
    }
    session_persistence(complaints, &spec);
}

/// A BackendTLSPolicy.
pub(super) fn backend_tls(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let text = |target: &Field<'_>, field: &str| target.text(field).unwrap_or_default().to_owned();
    let whole = |target: &Field<'_>| ["group", "kind", "name"].map(|field| text(target, field));
    let section = |target: &Field<'_>| text(target, "sectionName");
    let targets = spec.get("targetRefs");
    let words = ("the same target is listed twice", "keep one of them");
    complaints.repeated(&targets, |target| Some((whole(target), section(target))), words);
    for (at, target) in targets.items().enumerate() {
        let is_part = !section(&target).is_empty();
        let mut before = targets.items().take(at);
        let other =
            before.find(|other| whole(other) == whole(&target) && section(other).is_empty() == is_part);
        if let Some(other) = other {
            let message = "a target is listed both as a whole and by port";
            let help = "give both a `sectionName`, or keep the one without it";
            complaints.again((&target, &other), message, help);
        }
    }
    let validation = spec.get("validation");
    let well_known = validation.get("wellKnownCACertificates");
    let has_own = validation.get("caCertificateRefs").items().next().is_some();
    match (has_own, has_text(&well_known)) {
        (true, true) => {
            let message = "`caCertificateRefs` and `wellKnownCACertificates` cannot be used together";
            complaints.key(&well_known, message, "keep one of them");
        }
        (false, false) if validation.is_present() => {
            let help = "add `caCertificateRefs`, or `wellKnownCACertificates: System`";
            complaints.value(&validation, "no trusted certificates are configured", help);
        }
        _ => {}
    }
    for name in validation.get("subjectAltNames").items() {
        let types = [("Hostname", "hostname"), ("URI", "uri")];
        complaints.of_its_type(("a name", "type"), &name, &types, has_text);
    }
}
