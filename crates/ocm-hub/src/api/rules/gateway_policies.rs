//! Gateway API's own policies.

use super::complaints::{Complaints, milliseconds, of_its_type, says};
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
    let part = |target: &Field<'_>| Some((whole(target), text(target, "sectionName")));
    let targets = spec.get("targetRefs");
    let words = ("the same target is listed twice", "keep one of them");
    complaints.repeated(&targets, part, words);
    let all: Vec<Field<'_>> = targets.items().collect();
    for (at, target) in all.iter().enumerate() {
        let is_part = says(&target.get("sectionName"));
        let mut before = all.iter().take(at);
        let other =
            before.find(|other| whole(other) == whole(target) && says(&other.get("sectionName")) != is_part);
        if let Some(other) = other {
            let message = "a target is listed both as a whole and by port";
            complaints.again(
                (target, other),
                message,
                "give both a `sectionName`, or keep the one without it",
            );
        }
    }
    let validation = spec.get("validation");
    let (own, known) = (
        validation.get("caCertificateRefs"),
        validation.get("wellKnownCACertificates"),
    );
    let has_own = own.items().next().is_some();
    match (has_own, says(&known)) {
        (true, true) => complaints.key(
            &known,
            "`caCertificateRefs` and `wellKnownCACertificates` cannot be used together",
            "keep one of them",
        ),
        (false, false) if validation.is_present() => complaints.value(
            &validation,
            "no trusted certificates are configured",
            "add `caCertificateRefs`, or `wellKnownCACertificates: System`",
        ),
        _ => {}
    }
    for name in validation.get("subjectAltNames").items() {
        let types = [("Hostname", "hostname"), ("URI", "uri")];
        of_its_type(complaints, ("a name", "type"), &name, &types, says);
    }
}
