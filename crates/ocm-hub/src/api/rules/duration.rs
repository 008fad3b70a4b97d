//! Durations as Gateway API writes them: `1h30m`.
//!
//! Owns: their length. Flows in: texts. Flows out: milliseconds. Must not know: fields.

/// One to four numbers of one to five digits, each with `h`, `m`, `s` or `ms`
/// (`kubernetes-sigs/gateway-api geps/gep-2257/index.md@v1.6.1`).
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    for _ in 0..4 {
        if rest.is_empty() {
            break;
        }
        let digits = rest.len()
            - rest
                .trim_start_matches(|letter: char| letter.is_ascii_digit())
                .len();
        let (number, unit) = rest
            .split_at_checked(digits)
            .filter(|_| (1..=5).contains(&digits))?;
        let (factor, after) = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
            .into_iter()
            .find_map(|(name, factor)| Some((factor, unit.strip_prefix(name)?)))?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
        rest = after;
    }
    (rest.is_empty() && !text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn a_duration_is_the_sum_of_its_parts_and_nothing_else_is_one() {
        assert_eq!(milliseconds("1h30m"), Some(5_400_000));
        assert_eq!(milliseconds("0s"), Some(0));
        assert_eq!(milliseconds("10ms"), Some(10));
        for wrong in ["", "1", "s", "1.5s", "-1s", "100000s", "1h1m1s1ms1s", "1d"] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }
}
