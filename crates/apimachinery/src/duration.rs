//! Go's durations: `1h15m`, `1.5s`.

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Nanoseconds by Go's `time.ParseDuration`: a sign, then numbers with units; a fraction of a nanosecond is cut off.
pub fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if body == "0" {
        return Some(0);
    }
    if body.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after
            .find(|character: char| character == '.' || character.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => SECOND.checked_mul(60)?,
            "h" => SECOND.checked_mul(3600)?,
            _ => return None,
        };
        let whole = if whole.is_empty() {
            0
        } else {
            whole.parse::<u64>().ok()?
        };
        total = total
            .checked_add(whole.checked_mul(unit)?)?
            .checked_add(fraction_of(fraction, unit)?)?;
        rest = after;
    }
    // One more fits below zero than above.
    if negative {
        0_i64.checked_sub_unsigned(total)
    } else {
        i64::try_from(total).ok()
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// So many tenths, hundredths, and so on, of a unit.
fn fraction_of(digits: &str, unit: u64) -> Option<u64> {
    let (mut nanoseconds, mut step) = (0_u128, u128::from(unit).checked_mul(1_000_000_000_000_000_000)?);
    let scale = 1_000_000_000_000_000_000_u128;
    for digit in digits.bytes() {
        step /= 10;
        nanoseconds = nanoseconds.checked_add(u128::from(digit.checked_sub(b'0')?).checked_mul(step)?)?;
    }
    u64::try_from(nanoseconds / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn durations_are_those_of_go() {
        for (text, expected) in [
            ("0", 0),
            ("+5s", 5_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("1h15m30.918273645s", 4_530_918_273_645),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("1\u{b5}s", 1_000),
            ("0.100000000000000000000h", 360_000_000_000),
            ("0.9ns", 0),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(nanoseconds(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "3",
            "-",
            "s",
            ".",
            "-.",
            ".s",
            "+.s",
            "1d",
            "7s\u{e9}",
            "1s ",
            " 1s",
            "\u{661}s",
            "9223372036854775808ns",
            "3000000h",
            "--1s",
            "1e3s",
            "infs",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
