//! Hostnames of listeners and routes.

use std::net::IpAddr;

use super::complaints::Complaints;
use apimachinery::Field;
use apimachinery::names::NameRule;

/// How an address in the place of a hostname is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addresses {
    /// The kind's CRD refuses them.
    Refused,
    /// The kind's documentation rules them out, and its CRD takes them.
    Doubtful,
}

fn is_address(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok()
}

/// A name in lower case, perhaps with `*.` in front.
pub(super) fn hostname(complaints: &mut Complaints<'_>, field: &Field<'_>, addresses: Addresses) {
    let Some(name) = field.str().filter(|name| !name.is_empty()) else {
        return;
    };
    if is_address(name) {
        let message = format!("`{name}` is an address, not a hostname");
        let help = "write a hostname, or remove it to match every host";
        match addresses {
            Addresses::Refused => complaints.value(field, message, help),
            // `:` is in no hostname, so nobody takes an address of IPv6.
            Addresses::Doubtful if name.contains(':') => complaints.value(field, message, help),
            Addresses::Doubtful => complaints.doubtful(field, message, help),
        }
        return;
    }
    let rest = name.strip_prefix("*.").unwrap_or(name);
    if rest.contains('*') {
        complaints.value(
            field,
            format!("`{name}`: `*` can only replace whole labels at the front"),
            "write `*.` once, at the front: `*.example.com`",
        );
    } else if let Err(error) = NameRule::Rfc1123Subdomain.check(rest) {
        complaints.value(
            field,
            format!("`{name}` is not a hostname"),
            format!("write lower case letters, digits, `-` and `.` only: {error}"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_of_both_kinds_are_told_from_hostnames() {
        for address in ["1.2.3.4", "::1", "fe80::1", "::ffff:1.2.3.4", "2001:DB8::a"] {
            assert!(is_address(address), "{address}");
        }
        for name in [
            "a.b",
            "1.2.3",
            "1.2.3.4.5",
            "abc.de",
            "fe80",
            "x.example.com",
            "1.2.3.4:80",
        ] {
            assert!(!is_address(name), "{name}");
        }
    }
}
