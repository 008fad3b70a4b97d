//! String formats that API servers check. A format that API servers do not know is not checked, just as on an API
//! server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use apimachinery::names::{LABEL_MAX, SUBDOMAIN_MAX};
use strum::{EnumString, IntoStaticStr};

/// A format that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Format {
    Byte,
    Cidr,
    Date,
    DateTime,
    Double,
    Duration,
    Email,
    Float,
    Hostname,
    Int32,
    Int64,
    Ipv4,
    Ipv6,
    Mac,
    Uri,
    Uuid,
}

impl Format {
    /// By its name in a schema. Kubernetes ignores hyphens in these names.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name.replace('-', "").as_str() {
            "datetime" => Some(Self::DateTime),
            "uuid3" | "uuid4" | "uuid5" => Some(Self::Uuid),
            other => other.parse().ok(),
        }
    }

    /// Whether `text` has this format.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Double | Self::Float | Self::Int32 | Self::Int64 => true,
            Self::Byte => is_base64(text),
            Self::Cidr => is_cidr(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Duration => is_duration(text),
            Self::Email => is_email(text),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Mac => is_mac(text),
            Self::Uri => is_uri(text),
            Self::Uuid => is_uuid(text),
        }
    }
}

/// Go's decoder skips line breaks.
fn is_base64(text: &str) -> bool {
    let text = &text.replace(['\r', '\n'], "");
    let body = text.trim_end_matches('=');
    let padding = text.len().saturating_sub(body.len());
    text.len().is_multiple_of(4)
        && padding <= 2
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

fn is_cidr(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, bits)| {
        let most = match address.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => 32,
            Ok(IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        bits.bytes().all(|byte| byte.is_ascii_digit())
            && (bits == "0" || !bits.starts_with('0'))
            && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    })
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let dashes = bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
    bytes.len() == 10 && dashes && text.parse::<jiff::civil::Date>().is_ok()
}

/// RFC 3339 with a time zone; `t` and `z` in either case.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let zone_start = time.find(['Z', 'z', '+', '-']);
    let Some((clock, zone)) = zone_start.and_then(|start| time.split_at_checked(start)) else {
        return false;
    };
    let (seconds, fraction) = match clock.split_once('.') {
        Some((seconds, fraction)) => (seconds, Some(fraction)),
        None => (clock, None),
    };
    is_date(date)
        && is_clock(seconds, &[23, 59, 60])
        && fraction.is_none_or(|digits| !digits.is_empty() && is_digits(digits))
        && (zone.eq_ignore_ascii_case("z")
            || zone
                .strip_prefix(['+', '-'])
                .is_some_and(|offset| is_clock(offset, &[23, 59])))
}

/// Two digits for each limit, joined by colons, none above its limit.
fn is_clock(text: &str, limits: &[u8]) -> bool {
    text.split(':').count() == limits.len()
        && text.split(':').zip(limits).all(|(part, limit)| {
            part.len() == 2 && is_digits(part) && part.parse::<u8>().is_ok_and(|n| n <= *limit)
        })
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Go's durations, `1h30m`, and the looser `3 days` that API servers also take.
fn is_duration(text: &str) -> bool {
    const UNITS: &str = "ns us µs μs ms s m h d w nano nanosecond micro microsecond milli millisecond sec second min \
                         minute hr hour day wk week";
    let is_unit = |unit: &str| UNITS.split(' ').any(|known| known == unit);
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if body == "0" {
        return true;
    }
    let mut rest = body;
    let mut parts = 0_usize;
    while !rest.is_empty() {
        let number_end = rest
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(number_end).unwrap_or((rest, ""));
        let after = if parts == 0 { after.trim_start() } else { after };
        let unit_end = after
            .find(|character: char| !character.is_alphabetic())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(unit_end).unwrap_or((after, ""));
        let unit = unit.to_lowercase();
        let singular = unit.strip_suffix('s').unwrap_or(&unit);
        let known = is_unit(&unit) || (unit.len() > 3 && is_unit(singular));
        if number.is_empty() || number == "." || number.matches('.').count() > 1 || !known {
            return false;
        }
        rest = next;
        parts = parts.saturating_add(1);
    }
    parts > 0
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && !user.contains(char::is_whitespace) && is_hostname(host)
    })
}

fn is_hostname(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text);
    labels.len() <= SUBDOMAIN_MAX
        && labels.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= LABEL_MAX
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .chars()
                    .all(|character| character.is_alphanumeric() || character == '-' || character == '_')
        })
}

fn is_mac(text: &str) -> bool {
    [(':', 2), ('-', 2), ('.', 4)].iter().any(|(separator, width)| {
        let groups = text.split(*separator);
        let bytes = groups.clone().count().saturating_mul(width / 2);
        [6, 8, 20].contains(&bytes)
            && groups
                .clone()
                .all(|group| group.len() == *width && group.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

/// An absolute URI, or an absolute path.
fn is_uri(text: &str) -> bool {
    let clean = !text
        .chars()
        .any(|character| character.is_control() || character == ' ');
    let scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
    });
    clean && (text.starts_with('/') || scheme)
}

fn is_uuid(text: &str) -> bool {
    let digits: String = text.chars().filter(|character| *character != '-').collect();
    let hyphens = text.len().saturating_sub(digits.len());
    digits.len() == 32 && hyphens <= 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, good: &[&str], bad: &[&str]) {
        let format = Format::from_name(format).expect(format);
        for text in good {
            assert!(format.accepts(text), "{format:?} should accept {text:?}");
        }
        for text in bad {
            assert!(!format.accepts(text), "{format:?} should refuse {text:?}");
        }
    }

    #[test]
    fn times_follow_rfc_3339() {
        check(
            "date-time",
            &[
                "2026-11-20T10:00:00Z",
                "2026-11-20t10:00:00.123z",
                "2026-11-20T10:00:00+02:00",
            ],
            &[
                "2026-11-20",
                "2026-13-20T10:00:00Z",
                "2026-11-20T25:00:00Z",
                "2026-11-20T10:00:00",
                "now",
                "",
            ],
        );
        check("date", &["2024-02-29"], &["2023-02-29", "20240229", "x"]);
    }

    #[test]
    fn durations_are_gos_not_iso_8601() {
        check(
            "duration",
            &["1h30m", "10s", "-1.5h", "0", "3 days", "5ms"],
            &["", "P1D", "10", "1x", "h"],
        );
    }

    #[test]
    fn addresses_are_parsed() {
        check("ipv4", &["10.0.0.1"], &["10.0.0", "::1", "10.0.0.256"]);
        check("ipv6", &["::1", "2001:db8::1"], &["10.0.0.1", ":::"]);
        check(
            "cidr",
            &["10.0.0.0/8", "::/0"],
            &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08"],
        );
        check(
            "mac",
            &["00:1a:2b:3c:4d:5e", "001a.2b3c.4d5e"],
            &["00:1a", "zz:1a:2b:3c:4d:5e"],
        );
    }

    #[test]
    fn other_formats_are_checked_by_shape() {
        check("byte", &["", "YQ==", "YWJj", "YW\nJj\n"], &["Y", "YQ=", "Y*Jj"]);
        check("uuid", &["6ba7b810-9dad-11d1-80b4-00c04fd430c8"], &["6ba7b810"]);
        check(
            "uri",
            &["https://a.b/c", "/path", "urn:x"],
            &["nothing", "a b://c"],
        );
        check("email", &["a@b.c"], &["a", "@b", "a b@c"]);
        check("hostname", &["a.b-c.d"], &["-a", "a..b", ""]);
        assert_eq!(
            Format::from_name("quantity"),
            None,
            "API servers ignore unknown formats"
        );
    }
}
