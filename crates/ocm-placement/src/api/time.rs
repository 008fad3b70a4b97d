//! Times as Kubernetes writes them. RFC 3339 is read as strictly as Go does.

use jiff::Timestamp;

/// Reads `2026-06-01T00:00:00Z`, with an optional fraction and any offset; `None` for anything else.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    const SHAPE: &str = "0000-00-00T00:00:00";
    let shaped = text.bytes().zip(SHAPE.bytes()).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    });
    let tail = text.get(SHAPE.len()..)?;
    let zone = match tail.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => tail,
    };
    let zoned = zone == "Z"
        || (zone.len() == 6 && zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':'));
    if shaped && zoned { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_is_read_with_fraction_and_offset() {
        let zulu = parse_time("2026-06-01T00:00:00Z");
        assert!(zulu.is_some());
        assert_eq!(parse_time("2026-06-01T02:00:00+02:00"), zulu);
        assert_eq!(parse_time("2026-06-01T00:00:00.000Z"), zulu);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "2026-06-01",
            "2026-06-01 00:00:00Z",
            "2026-06-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "2026-06-01T00:00:00Z[UTC]",
            "2026-6-1T0:0:0Z",
            "soon",
            "2026-06-01T00:00:00+0200",
            "2026-06-01T02:00:00+02:00:00",
            "é026-06-01T00:00:00Z",
        ] {
            assert_eq!(parse_time(text), None, "{text:?}");
        }
    }
}
