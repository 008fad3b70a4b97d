//! Listeners, and the other fields of a Gateway. The rules of listeners: docs/systems/gateway-api.md#listeners.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::complaints::{Addresses, Complaints, has_text, repeated};
use crate::diagnostic::did_you_mean;
use apimachinery::Field;
use apimachinery::names::NameRule;

/// All of a Gateway.
pub(super) fn gateway(complaints: &mut Complaints<'_>) {
    listeners(complaints);
    addresses(complaints);
    let spec = complaints.spec();
    let ports = spec.get("tls").get("frontend").get("perPort");
    for (again, first) in repeated(ports.items_with("port"), |port| port.integer().ok().flatten()) {
        let message = "two entries of `tls.frontend.perPort` have the same port";
        complaints.again((&again, &first), message, "keep one of them");
    }
    for field in ["labels", "annotations"] {
        for (key, entry) in spec.get("infrastructure").get(field).entries() {
            if NameRule::LabelKey.check(key).is_err() {
                let help = "write a name of at most 63 letters, digits, `-`, `_` and `.`, optionally with a DNS name and `/` in front";
                let message = format!("`{key}` is not allowed as a key of {field}");
                complaints.key(&entry, message, help);
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
            protocol @ ("TCP" | "UDP") if has_text(&name) => {
                let message = format!(
                    "a listener of protocol {protocol} cannot have a hostname: the protocol has none"
                );
                complaints.key(&name, message, "remove `hostname`");
            }
            _ => complaints.hostname(&name, Addresses::Doubtful),
        }
    }
    let same = repeated(listeners.items(), |listener| {
        Some((number(listener)?, protocol(listener), listener.text("hostname")))
    });
    for (again, first) in same {
        let [one, other] = [&first, &again].map(|listener| listener.text("name").unwrap_or_default());
        let message =
            format!("the listeners `{one}` and `{other}` have the same port, protocol, and hostname");
        let help = "remove one of them, or give it another `hostname` or `port`";
        complaints.again((&again, &first), message, help);
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
    let message = format!("no controller supports the protocol `{known}`, so the listener serves nothing");
    complaints.doubtful(&listener.get("protocol"), message, help);
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
            let message = format!("a listener of protocol {protocol} cannot have `tls`");
            return complaints.key(&tls, message, format!("remove `tls`{other}"));
        }
        ("HTTPS", false) => complaints.doubtful(
            listener,
            "a listener of protocol HTTPS has no `tls`, so few controllers serve it",
            "add `tls` with `certificateRefs`",
        ),
        ("HTTPS", true) if has_text(&mode) && !terminates => complaints.value(
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
        let message = "a listener that terminates TLS needs a certificate";
        complaints.value(&tls, message, "add `certificateRefs`");
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
                let message = format!("port {port} cannot serve {one} and {another}");
                let both = (&listener.get("protocol"), &first.get("protocol"));
                complaints.again(both, message, "give one of the listeners another port");
            }
            Some(_) => {}
        }
    }
}

fn addresses(complaints: &mut Complaints<'_>) {
    let addresses = complaints.spec().get("addresses");
    for address in addresses.items() {
        let value = address.get("value");
        let Some(text) = value.str().filter(|text| !text.is_empty()) else {
            continue;
        };
        let is_hostname = |name: &str| NameRule::Rfc1123Subdomain.check(name).is_ok();
        match address.text("type").unwrap_or(IP_ADDRESS) {
            IP_ADDRESS if text.parse::<IpAddr>().is_err() => {
                let message = format!("`{text}` is not an IP address");
                complaints.value(&value, message, "write an address, or `type: Hostname`");
            }
            "Hostname" if !is_hostname(text.strip_prefix("*.").unwrap_or(text)) => {
                let help = "write lower case letters, digits, `-` and `.` only";
                complaints.value(&value, format!("`{text}` is not a hostname"), help);
            }
            _ => {}
        }
    }
    let words = ("the same address is listed twice", "keep one of them");
    complaints.repeated(&addresses, kind_and_value, words);
}

/// What makes an address of a known type the same as another one.
fn kind_and_value<'a>(address: &Field<'a>) -> Option<(&'a str, &'a str)> {
    let (kind, value) = (address.text("type").unwrap_or(IP_ADDRESS), address.text("value")?);
    [IP_ADDRESS, "Hostname"].contains(&kind).then_some((kind, value))
}

/// The type of an address that does not state one.
const IP_ADDRESS: &str = "IPAddress";

fn protocol<'a>(listener: &Field<'a>) -> &'a str {
    listener.text("protocol").unwrap_or_default()
}

fn number(holder: &Field<'_>) -> Option<i64> {
    holder.get("port").integer().ok().flatten()
}
