//! Balance: the fewer decisions of others, the more points. It is the closest that OCM has to spreading, because
//! `spreadPolicy` is in the API only.
//!
//! The formula: docs/systems/ocm-placement.md#balance.

/// 100 for a cluster that no other Placement has; otherwise `2 * trunc(100 * (0.5 - count / max))`: OCM converts to an
/// integer, toward zero, before it doubles, so 98 down to -100 in even steps. Doubling first would give 33 for one of
/// three instead of 32.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn balance(count: u32, max: u32) -> i64 {
    if count == 0 {
        return 100;
    }
    let share = f64::from(count) / f64::from(max);
    let half = (100.0 * (0.5 - share)) as i64;
    half.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balance_truncates_toward_zero_before_it_doubles() {
        assert_eq!(balance(1, 3), 32);
        assert_eq!(balance(2, 3), -32);
        assert_eq!(balance(1, 2), 0);
        assert_eq!(balance(3, 3), -100);
        assert_eq!(balance(0, 3), 100);
    }

    proptest::proptest! {
        #[test]
        fn balance_stays_between_minus_and_plus_a_hundred(count in 0u32..10_000, more in 0u32..10_000) {
            let score = balance(count, count.saturating_add(more));
            proptest::prop_assert!((-100..=100).contains(&score) && score % 2 == 0);
        }
    }
}
