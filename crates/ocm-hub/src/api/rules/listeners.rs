//! Listeners, and the other fields of a Gateway. The rules of listeners: docs/systems/gateway-api.md#listeners.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::complaints::{Complaints, repeated, says};
use super::hostnames::{Addresses, hostname};
use crate::diagnostic::did_you_mean;
use apimachinery::Field;
use apimachinery::names::NameRule;

/// All of a Gateway.
pub(super) fn gateway(complaints: &mut Complaints<'_>) {
    listeners(complaints);
    addresses(complaints);
    let spec = complaints.spec();
    let ports = spec.get("tls").get("frontend").get("perPort");
    for (again, first) in repeated(ports.items(), |port| number(port)) {
        let message = "two entries of `tls.frontend.perPort` have the same port";
        complaints.again(
            (&again.get("port"), &first.get("port")),
            message,
            "keep one of them",
        );
    }
    for field in ["labels", "annotations"] {
        for (key, entry) in spec.get("infrastructure").get(field).entries() {
            if NameRule::LabelKey.check(key).is_err() {
                complaints.key(
                    &entry,
                    format!("`{key}` is not allowed as a key of {field}"),
                    "write a name of at most 63 letters, digits, `-`, `_` and `.`, optionally with a DNS name and `/` in front",
                );
            }
        }
    }
}

/// The listeners of a Gateway or a ListenerSet.
pub(super) fn listeners(complaints: &mut Complaints<'_>) {
    let listeners = complaints.spec().get("listeners");
    for listener in listeners.items() {
        known_protocol(complaints, &listener);
        tls(complaints, &listener);
        let name = listener.get("hostname");
        match protocol(&listener) {
            protocol @ ("TCP" | "UDP") if says(&name) => complaints.key(
                &name,
                format!("a listener of protocol {protocol} cannot have a hostname: the protocol has none"),
                "remove `hostname`",
            ),
            _ => hostname(complaints, &name, Addresses::Doubtful),
        }
    }
    let key = |listener: &Field<'_>| {
        let hostname = listener.text("hostname").map(str::to_owned);
        Some((number(listener)?, protocol(listener).to_owned(), hostname))
    };
    for (again, first) in repeated(listeners.items(), key) {
        let name = |listener: &Field<'_>| listener.text("name").unwrap_or_default().to_owned();
        complaints.again(
            (&again, &first),
            format!(
                "the listeners `{}` and `{}` have the same port, protocol, and hostname",
                name(&first),
                name(&again)
            ),
            "remove one of them, or give it another `hostname` or `port`",
        );
    }
}

/// Protocols of Gateway API; a controller's own have its domain in front (docs/systems/gateway-api.md#listeners).
const PROTOCOLS: [&str; 5] = ["HTTP", "HTTPS", "TLS", "TCP", "UDP"];

fn known_protocol(complaints: &mut Complaints<'_>, listener: &Field<'_>) {
    let known = protocol(listener);
    if known.is_empty() || known.contains('/') || PROTOCOLS.contains(&known) {
        return;
    }
    let help = did_you_mean(known, PROTOCOLS).unwrap_or_else(|| {
        let names = PROTOCOLS.join(", ");
        format!("write one of {names}, or a protocol of your controller as DOMAIN/NAME")
    });
    complaints.doubtful(
        &listener.get("protocol"),
        format!("no controller supports the protocol `{known}`, so the listener serves nothing"),
        help,
    );
}

fn tls(complaints: &mut Complaints<'_>, listener: &Field<'_>) {
    let tls = listener.get("tls");
    let mode = tls.get("mode");
    // The CRD's default.
    let terminates = matches!(mode.str(), None | Some("Terminate"));
    match (protocol(listener), tls.is_present()) {
        (protocol @ ("HTTP" | "TCP" | "UDP"), true) => {
            let other = match protocol {
                "HTTP" => ", or write `protocol: HTTPS`",
                "TCP" => ", or write `protocol: TLS`",
                _ => "",
            };
            complaints.key(
                &tls,
                format!("a listener of protocol {protocol} cannot have `tls`"),
                format!("remove `tls`{other}"),
            );
            return;
        }
        ("HTTPS", false) => complaints.doubtful(
            listener,
            "a listener of protocol HTTPS has no `tls`, so few controllers serve it",
            "add `tls` with `certificateRefs`",
        ),
        ("HTTPS", true) if says(&mode) && !terminates => complaints.value(
            &mode,
            "a listener of protocol HTTPS terminates TLS",
            "write `mode: Terminate`, or `protocol: TLS` to pass connections through",
        ),
        ("TLS", false) => complaints.value(
            listener,
            "a listener of protocol TLS has no `tls`",
            "add `tls: {mode: Passthrough}`, or `tls` with `certificateRefs`",
        ),
        _ => {}
    }
    let has =
        |field: &str| tls.get(field).items().next().is_some() || tls.get(field).entries().next().is_some();
    if tls.is_present() && terminates && !has("certificateRefs") && !has("options") {
        complaints.value(
            &tls,
            "a listener that terminates TLS needs a certificate",
            "add `certificateRefs`",
        );
    }
}

/// TLS distinguishes connections of several listeners on one port, and so does plain HTTP; but nothing distinguishes
/// TLS from HTTP, or either one from plain TCP. UDP has ports of its own.
pub(super) fn protocols_on_one_port(complaints: &mut Complaints<'_>) {
    let listeners = complaints.spec().get("listeners");
    let mut families: BTreeMap<i64, (&str, Field<'_>)> = BTreeMap::new();
    for listener in listeners.items() {
        let family = match protocol(&listener) {
            "HTTP" => "HTTP",
            "HTTPS" | "TLS" => "TLS",
            "TCP" => "TCP",
            _ => continue,
        };
        let Some(port) = number(&listener) else { continue };
        match families.get(&port) {
            None => {
                families.insert(port, (family, listener));
            }
            Some((other, first)) if *other != family => {
                let (one, another) = (protocol(first), protocol(&listener));
                complaints.again(
                    (&listener.get("protocol"), &first.get("protocol")),
                    format!("port {port} cannot serve {one} and {another}"),
                    "give one of the listeners another port",
                );
            }
            Some(_) => {}
        }
    }
}

fn addresses(complaints: &mut Complaints<'_>) {
    let addresses = complaints.spec().get("addresses");
    let kind = |address: &Field<'_>| address.text("type").unwrap_or("IPAddress").to_owned();
    for address in addresses.items() {
        let value = address.get("value");
        let Some(text) = value.str().filter(|text| !text.is_empty()) else {
            continue;
        };
        match kind(&address).as_str() {
            "IPAddress" if text.parse::<IpAddr>().is_err() => complaints.value(
                &value,
                format!("`{text}` is not an IP address"),
                "write an address, or `type: Hostname`",
            ),
            "Hostname" => {
                let rest = text.strip_prefix("*.").unwrap_or(text);
                if NameRule::Rfc1123Subdomain.check(rest).is_err() {
                    complaints.value(
                        &value,
                        format!("`{text}` is not a hostname"),
                        "write lower case letters, digits, `-` and `.` only",
                    );
                }
            }
            _ => {}
        }
    }
    let key = |address: &Field<'_>| {
        let kind = kind(address);
        let known = ["IPAddress", "Hostname"].contains(&kind.as_str());
        known.then_some((kind, address.text("value")?.to_owned()))
    };
    let words = ("the same address is listed twice", "keep one of them");
    complaints.repeated(&addresses, key, words);
}

fn protocol<'a>(listener: &Field<'a>) -> &'a str {
    listener.text("protocol").unwrap_or_default()
}

fn number(holder: &Field<'_>) -> Option<i64> {
    holder.get("port").integer().ok().flatten()
}
