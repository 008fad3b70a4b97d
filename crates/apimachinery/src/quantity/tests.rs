//! Quantities, compared with Kubernetes' results.

use super::*;

fn value(text: &str) -> f64 {
    Quantity::parse(text).map_or(f64::NAN, |quantity| quantity.approximate())
}

#[test]
#[allow(clippy::float_cmp)]
fn every_suffix_scales_the_number() {
    for (text, expected) in [
        ("0", 0.0),
        ("4", 4.0),
        ("+4", 4.0),
        ("-4", -4.0),
        ("250m", 0.25),
        ("1u", 1e-6),
        ("1n", 1e-9),
        ("2k", 2_000.0),
        ("3M", 3e6),
        ("1G", 1e9),
        ("1T", 1e12),
        ("1P", 1e15),
        ("1E", 1e18),
        ("1Ki", 1024.0),
        ("1.5Gi", 1_610_612_736.0),
        ("2Ti", 2_199_023_255_552.0),
        ("1e3", 1_000.0),
        ("1E3", 1_000.0),
        ("25e-1", 2.5),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("007", 7.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn malformed_text_is_refused() {
    for text in [
        "",
        "-",
        "+",
        ".",
        "m",
        "Ki",
        "1 Gi",
        "1GI",
        "1gi",
        "1K",
        "1e",
        "1e1.5",
        "--1",
        "1..5",
        "1.5.5",
        "0x10",
        "1_000",
        "1e99999999999",
        "abc",
        "½",
        "1µ",
    ] {
        assert!(Quantity::parse(text).is_err(), "{text:?}");
    }
}

#[test]
#[allow(clippy::float_cmp)]
fn what_is_finer_than_nano_rounds_up_and_binary_numbers_are_capped() {
    assert_eq!(value("1e-12"), 1e-9);
    for (text, wanted) in [
        ("0.0000000015", 2e-9),
        ("0.0000000020", 2e-9),
        ("0.000000000001Ki", 2e-9),
        ("0.0000000000009765625Ki", 1e-9),
        ("0Ki", 0.0),
    ] {
        assert_eq!(value(text), wanted, "{text}");
    }
    assert_eq!(value("1000Ei"), 9_223_372_036_854_775_807.0);
    assert_eq!(value("1000E"), 1e21);
    assert!(Quantity::parse("99999999999999999999999999999999999").is_err());
    // Close to the cap: below it, on it, and beyond it by less than one.
    assert_eq!(value("4.5Ei"), 5_188_146_770_730_811_392.0);
    for text in ["9007199254740991.9990234375Ki", "9007199254740991.9990234376Ki"] {
        let canonical = Quantity::parse(text).map(|quantity| quantity.canonical());
        assert_eq!(canonical.as_deref(), Ok("9223372036854775807"), "{text}");
    }
}

#[test]
fn a_broken_suffix_is_told_from_a_number_that_is_too_large() {
    for text in ["1e", "1ex", "1e+", "1e+-3", "1e1.5"] {
        assert_eq!(Quantity::parse(text), Err(QuantityError::Suffix), "{text}");
    }
    assert_eq!(Quantity::parse("1e301"), Err(QuantityError::Range));
    let digits = "1".repeat(MAX_DIGITS);
    assert_ne!(Quantity::parse(&digits), Err(QuantityError::Format));
    let small = format!("0.{}", "0".repeat(MAX_DIGITS));
    assert!(Quantity::parse(&small).is_ok(), "as many digits as are read");
    assert_eq!(Quantity::parse(&format!("{small}0")), Err(QuantityError::Range));
}

/// Observed with apimachinery's own `AsApproximateFloat64`.
#[test]
#[allow(clippy::float_cmp)]
fn large_and_fractional_numbers_are_off_in_the_last_bit_as_in_kubernetes() {
    assert_eq!(value("504Ti"), 554_153_860_399_104.06);
    assert_eq!(value("-921Ti"), -1_012_650_209_181_696.1);
    assert_eq!(value("0.58Gi"), 622_770_257.920_000_1);
    assert_eq!(value("77.94Gi"), 83_687_437_762.560_01);
    assert_eq!(value("9Ti"), 9_895_604_649_984.0);
}

#[test]
fn a_text_that_looks_canonical_to_kubernetes_is_kept() {
    for text in [
        "8895.678G",
        "-29.990",
        "+6785625Ki",
        "6.",
        "12.e3",
        "1.500",
        "3Gi",
    ] {
        let canonical = Quantity::parse(text).map(|quantity| quantity.canonical());
        assert_eq!(canonical.as_deref(), Ok(text));
    }
}

#[test]
fn canonical_text_has_no_fraction_and_the_largest_suffix() {
    for (text, expected) in [
        ("0m", "0"),
        ("1000m", "1"),
        ("0.1", "100m"),
        ("1024Ki", "1Mi"),
        ("0.5Gi", "512Mi"),
        ("100Ki", "100Ki"),
        ("1.5", "1500m"),
        ("1000k", "1M"),
        ("12e2", "1200"),
        ("12e5", "1200e3"),
        ("0.5Ki", "512"),
        ("-1000m", "-1"),
    ] {
        assert_eq!(
            Quantity::parse(text).map(|quantity| quantity.canonical()),
            Ok(expected.to_owned()),
            "{text}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_never_panics(text in "\\PC{0,40}") {
        if let Ok(quantity) = Quantity::parse(&text) {
            let _ = quantity.canonical();
            let _ = quantity.approximate();
        }
    }

    #[test]
    #[allow(clippy::float_cmp)]
    fn canonical_text_means_the_same_amount(number in 0u32..2_000_000, suffix in "(m|k|M|G|Ki|Mi|Gi|e3|)") {
        let quantity = Quantity::parse(&format!("{number}{suffix}"));
        proptest::prop_assume!(quantity.is_ok());
        if let Ok(quantity) = quantity {
            let again = Quantity::parse(&quantity.canonical());
            proptest::prop_assert!(again.is_ok_and(|again| (again.approximate() - quantity.approximate()).abs()
                <= quantity.approximate().abs() * 1e-12));
        }
    }
}
