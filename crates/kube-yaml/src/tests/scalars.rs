//! What plain scalars, tagged scalars and keys become (docs/systems/kubernetes.md#scalars).

use kube_json::{Value, json};

use super::{error, kind, value};
use crate::{ErrorKind, scalar};

/// What `text` is as a value.
fn meaning(text: &str) -> Value {
    let read = value(&format!("k: {text}\n"));
    let in_list = value(&format!("- {text}\n"));
    assert_eq!(read["k"], in_list[0], "{text}");
    read["k"].clone()
}

#[test]
fn the_words_of_yaml_1_1_are_booleans_and_null() {
    for word in "y Y yes Yes YES true True TRUE on On ON".split(' ') {
        assert_eq!(meaning(word), json!(true), "{word}");
    }
    for word in "n N no No NO false False FALSE off Off OFF".split(' ') {
        assert_eq!(meaning(word), json!(false), "{word}");
    }
    for word in ["~", "null", "Null", "NULL", ""] {
        assert_eq!(meaning(word), Value::Null, "{word}");
    }
    for text in ["oN", "yEs", "nULL", "tRUE", "yess", "ye", "nullx", "x~"] {
        assert_eq!(meaning(text), json!(text));
    }
}

#[test]
fn integers_have_prefixes_signs_and_underscores() {
    let table = [
        ("0777", 511),
        ("0o777", 511),
        ("0x1F", 31),
        ("0b101", 5),
        ("1_000", 1000),
        ("1_", 1),
        ("1__0", 10),
        ("0_7", 7),
        ("0x_1F", 31),
        ("+_1", 1),
        ("0X1F", 31),
        ("0B1", 1),
        ("0O7", 7),
        ("-0o7", -7),
        ("-0777", -511),
        ("0", 0),
        ("-0", 0),
        ("00", 0),
        ("+12", 12),
        ("0_", 0),
        ("-0b11", -3),
        ("0b1_0", 2),
        ("0b+1", 1),
        ("0b-_10", -2),
        ("0_0", 0),
        ("-9223372036854775808", i64::MIN),
        ("9223372036854775807", i64::MAX),
        ("9007199254740993", 9_007_199_254_740_993),
        ("-0x8000000000000000", i64::MIN),
    ];
    for (text, number) in table {
        assert_eq!(meaning(text), json!(number), "{text}");
    }
    assert_eq!(
        meaning("9223372036854775808"),
        json!(9_223_372_036_854_775_808_u64)
    );
    assert_eq!(meaning("18446744073709551615"), json!(u64::MAX));
}

#[test]
fn decimals_with_a_leading_zero_that_are_not_octal_are_decimal() {
    for (text, number) in [("08", 8), ("09", 9), ("0789", 789)] {
        assert_eq!(meaning(text), json!(number), "{text}");
    }
    assert_eq!(meaning("08.5"), json!(8.5));
    assert_eq!(meaning("0777.5"), json!(777.5));
}

#[test]
fn floats_are_read_exactly_and_integral_ones_are_integers() {
    let table = [
        (".5", 0.5),
        ("1_0.5", 10.5),
        (".8_0", 0.8),
        ("-.5", -0.5),
        ("1.5e-3", 0.0015),
        ("0.1", 0.1),
    ];
    for (text, number) in table {
        assert_eq!(meaning(text), json!(number), "{text}");
    }
    assert_eq!(meaning("123456789.123456789"), json!(123_456_789.123_456_79));
    let integral = [
        ("1.", 1),
        ("1.0", 1),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e1_0", 10_000_000_000_i64),
        ("1e-400", 0),
    ];
    for (text, number) in integral {
        assert_eq!(meaning(text), json!(number), "{text}");
    }
    assert_eq!(meaning("9007199254740993.0"), json!(9_007_199_254_740_992_i64));
    // As JSON prints them: the shortest digits, and zeros.
    assert_eq!(
        meaning("+9223372036854775808"),
        json!(9_223_372_036_854_776_000_u64)
    );
    assert_eq!(
        meaning("1152921504606846976.0"),
        json!(1_152_921_504_606_847_000_i64)
    );
    assert_eq!(
        meaning("-9223372036854775809").as_f64(),
        Some(-9_223_372_036_854_775_808.0)
    );
    assert_eq!(meaning("1e20"), json!(1e20));
    assert_eq!(meaning("1e21"), json!(1e21));
    assert!(
        meaning("-0.0")
            .as_f64()
            .is_some_and(|zero| zero == 0.0 && zero.is_sign_negative())
    );
}

#[test]
fn texts_that_only_look_like_numbers_are_strings() {
    for text in [
        "1e400",
        "0x",
        "0xG",
        "0b2",
        "0b+",
        "0b--1",
        "-0b-1",
        "+0b+1",
        "0B+1",
        "0x+1",
        "0o8",
        "0o78",
        "1e",
        "1e+",
        "e3",
        "NaN",
        "inf",
        "Infinity",
        "1.2.3",
        "1d",
        "100m",
        "1Gi",
        "1e3Mi",
        "5s",
        "50%",
        "1/2",
        "_1",
        "._5",
        ".5_",
        "12:30:45",
        "1:20",
        "190:20:30.15",
        "2001-01-01",
        "2001-12-14t21:59:43.10-05:00",
        "+",
        "--",
        ".",
        "..",
        "1.2e",
        "0x1.8p1",
        "１",
        "٣",
        "1,000",
        ".e3",
        "+.5_x",
        "0x52908400098527886E0F7030069857D2E4169EE7",
    ] {
        assert_eq!(meaning(text), json!(text));
    }
}

#[test]
fn infinity_and_nan_are_refused_as_values_and_fine_as_keys() {
    for text in [".inf", ".Inf", ".INF", "+.inf", "-.inf", ".nan", ".NaN", ".NAN"] {
        assert_eq!(kind(&format!("k: {text}\n")), ErrorKind::Value, "{text}");
    }
    assert_eq!(
        value(".INF: 1\n-.inf: 2\n.NaN: 3\n"),
        json!({".inf": 1, "-.inf": 2, ".nan": 3})
    );
}

#[test]
fn quoted_and_block_scalars_are_strings() {
    assert_eq!(
        value("a: 'yes'\nb: \"1\"\nc: |\n  true\nd: >-\n  ~\n"),
        json!({"a": "yes", "b": "1", "c": "true\n", "d": "~"})
    );
}

#[test]
fn tags_decide_what_a_scalar_is() {
    let table = [
        ("!!str 123", json!("123")),
        ("!!int \"3\"", json!(3)),
        ("!!float 1", json!(1)),
        ("!!bool yes", json!(true)),
        ("!!bool \"yes\"", json!(true)),
        ("!!null ''", Value::Null),
        ("!!timestamp 2001-01-01", json!("2001-01-01")),
        (
            "!!timestamp 2001-12-14t21:59:43.10-05:00",
            json!("2001-12-14t21:59:43.10-05:00"),
        ),
        ("!!binary aGVsbG8=", json!("hello")),
        ("!!binary /4LI", json!("\u{fffd}\u{fffd}\u{fffd}")),
        ("!foo 12", json!("12")),
        ("! 12", json!("12")),
        ("!foo", json!("")),
        ("!!str", json!("")),
        ("!!s%74r 1", json!("1")),
        ("!!b%6F%6Fl \"yes\"", json!(true)),
        ("!<tag:yaml.org,2002:str> 1", json!("1")),
        ("!!merge <<", json!("<<")),
        ("!!map", json!("")),
    ];
    for (text, expected) in table {
        assert_eq!(meaning(text), expected, "{text}");
    }
    for text in [
        "!!int 1.5",
        "!!int x",
        "!!bool 1",
        "!!null x",
        "!!float x",
        "!!timestamp x",
        "!!binary x",
        "!!int",
    ] {
        assert_eq!(kind(&format!("k: {text}\n")), ErrorKind::Value, "{text}");
    }
    assert_eq!(
        value("a: !!set {x, z}\nb: !!omap [c: 1]\n"),
        json!({"a": {"x": null, "z": null}, "b": [{"c": 1}]})
    );
    assert_eq!(kind("a: !y!str 1\n"), ErrorKind::Syntax);
}

#[test]
fn a_tag_that_the_text_contradicts_is_named() {
    for (tag, expected) in [
        ("null", "null"),
        ("bool", "boolean"),
        ("int", "integer"),
        ("float", "float"),
        ("timestamp", "timestamp"),
    ] {
        let message = error(&format!("k: !!{tag} x\n")).message;
        assert_eq!(message, format!("`x` does not match its tag ({expected})"));
    }
}

#[test]
fn a_timestamp_is_in_the_calendar_and_on_the_clock() {
    for text in [
        "2001-1-1",
        "2001-12-31",
        "2001-4-30",
        "2001-2-28",
        "2004-2-29",
        "2000-2-29",
        "2001-1-1T0:0:0Z",
        "2001-1-1 23:59:59",
        "2001-1-1 23:59:59,123456789",
        "2001-1-1t1:2:3.4+24:60",
    ] {
        assert_eq!(meaning(&format!("!!timestamp {text}")), json!(text));
    }
    for text in [
        "2001-0-1",
        "2001-13-1",
        "2001-1-0",
        "2001-1-32",
        "2001-4-31",
        "2001-2-29",
        "1900-2-29",
        "201-1-1",
        "20011-1-1",
        "2001-1-1x",
        "2001-1-1T24:0:0Z",
        "2001-1-1T0:60:0Z",
        "2001-1-1T0:0:60Z",
        "2001-1-1T0:0:0",
        "2001-1-1T0:0:0.Z",
        "2001-1-1T0:0:0Zx",
        "2001-1-1T0:0:0+25:00",
        "2001-1-1T0:0:0-00:61",
        "2001-1-1T0:0:0-1:00",
    ] {
        assert_eq!(
            kind(&format!("k: !!timestamp {text}\n")),
            ErrorKind::Value,
            "{text}"
        );
    }
}

#[test]
fn binary_is_padded_base64_with_line_breaks_at_most() {
    for (text, expected) in [
        ("''", ""),
        ("aA==", "h"),
        ("aGk=", "hi"),
        ("aGkh", "hi!"),
        ("\"aG\\nk\\r=\\n\"", "hi"),
        ("PD9+fj8/Pg==", "<?~~??>"),
    ] {
        assert_eq!(meaning(&format!("!!binary {text}")), json!(expected), "{text}");
    }
    for text in [
        "a", "aG", "aGk", "aGk==", "aA===", "a===", "====", "=aGk", "aG=k", "aA=k", "aGk=aGk=", "aGk=k",
        "aA==\\n=", "aG.k", "aG k",
    ] {
        assert_eq!(
            kind(&format!("k: !!binary \"{text}\"\n")),
            ErrorKind::Value,
            "{text}"
        );
    }
}

#[test]
fn keys_become_strings_floats_in_32_bits() {
    let table = [
        ("yes", "true"),
        ("y", "true"),
        ("off", "false"),
        ("0777", "511"),
        ("08", "8"),
        ("1_000", "1000"),
        ("1.0", "1"),
        ("1e6", "1e+06"),
        ("1e3", "1000"),
        ("123456789", "123456789"),
        ("1.23456789", "1.2345679"),
        ("1e300", ".inf"),
        ("-9223372036854775809", "-9.223372e+18"),
        ("=", "="),
        ("?x", "?x"),
        (":a", ":a"),
        ("a,b", "a,b"),
        ("a]", "a]"),
        ("-1.5", "-1.5"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("1234567.5", "1.2345675e+06"),
        // Exactly between two texts of eight digits.
        ("3668798.2779457094", "3.6687982e+06"),
        ("1710963.2727656409", "1.7109632e+06"),
        ("16777217.5", "1.6777218e+07"),
        ("-204201.62255859375", "-204201.62"),
        ("0.00012", "0.00012"),
        ("0.5", "0.5"),
        ("100.25", "100.25"),
        ("300000.0", "300000"),
        ("-0.0", "-0"),
        ("123456.7", "123456.7"),
        ("!!str 1.0", "1.0"),
        ("'1.0'", "1.0"),
        ("http://x/y?z=1#f", "http://x/y?z=1#f"),
    ];
    for (text, key) in table {
        assert_eq!(value(&format!("{text}: v\n")), json!({key: "v"}), "{text}");
    }
    for text in [
        "~",
        "null",
        "9223372036854775808",
        "[a]",
        "{a: b}",
        "{{ .Values.x }}",
        "&x ",
    ] {
        assert_eq!(kind(&format!("{text}: v\n")), ErrorKind::Key, "{text}");
    }
}

#[test]
fn tricky_texts_in_a_flow_list_are_read_as_observed() {
    let table = [
        ("<<", json!("<<")),
        ("=", json!("=")),
        ("---", json!("---")),
        ("&x", Value::Null),
        ("~", Value::Null),
        ("-a", json!("-a")),
        ("a:b", json!("a:b")),
    ];
    for (text, expected) in table {
        assert_eq!(value(&format!("[{text}, b]\n")), json!([expected, "b"]), "{text}");
    }
    assert_eq!(value("[a,b, b]\n"), json!(["a", "b", "b"]));
    for text in [
        "!x",
        "!",
        "!!str",
        "-",
        "?x",
        "a:",
        ":a",
        "a #b",
        "#x",
        "*.example.com",
        "@x",
        "`x`",
        "%x",
        "${VAR}",
        "{{ .Values.x }}",
        "http://x/y?z=1#f",
        "- a",
        "|",
    ] {
        super::error(&format!("[{text}, b]\n"));
    }
    assert_eq!(kind("[a], b]\n"), ErrorKind::Dropped);
}

#[test]
fn tricky_texts_as_values_are_read_as_observed() {
    let table = [
        ("<<", json!("<<")),
        ("=", json!("=")),
        ("---", json!("---")),
        ("?x", json!("?x")),
        (":a", json!(":a")),
        ("a,b", json!("a,b")),
        ("a]", json!("a]")),
        ("a #b", json!("a")),
        ("#x", Value::Null),
        ("!x", json!("")),
        ("&x", Value::Null),
        ("${VAR}", json!("${VAR}")),
        ("http://x/y?z=1#f", json!("http://x/y?z=1#f")),
    ];
    for (text, expected) in table {
        assert_eq!(value(&format!("k: {text}\n")), json!({"k": expected}), "{text}");
    }
    for text in [
        "-",
        "a:",
        "*.example.com",
        "@x",
        "`x`",
        "%x",
        "{{ .Values.x }}",
        "? a",
        "]",
        "- a",
    ] {
        super::error(&format!("k: {text}\n"));
    }
}

#[test]
fn tricky_texts_are_quoted_and_plain_ones_are_not() {
    for text in [
        "0_xa",
        "0_x1F",
        "0_b1",
        "yes",
        "0777",
        "*.example.com",
        "",
        " a",
        "a ",
        "a:",
        "a: b",
        "a #b",
        "-",
        "- a",
        "#",
        "1e3",
        "12:30",
        "~",
        "<<",
    ] {
        assert!(scalar(text).starts_with('"'), "{text}");
    }
    for text in [
        "10s",
        ".status.addresses[0].type",
        ".status.listeners[?(@.name==\"api\")].attachedRoutes",
        "managed",
        "1.2.3",
        "10.0.0.1:80",
        "100m",
        "gateways/prod-web",
        "kuadrant.io/v1",
        "a:b",
        "a#b",
        "1Gi",
        "5T",
        "1h30m",
        "JSONPaths",
        "klusterlet-work-sa",
        "open-cluster-management:klusterlet-work:gateway",
        "日本",
        "v1",
        "nullx",
        "on-call",
    ] {
        assert_eq!(scalar(text), text);
    }
}

#[test]
fn base64_is_padded_at_its_end_as_far_as_its_last_group_needs() {
    let read =
        |text: &str| crate::read_document(&format!("k: !!binary \"{text}\"\n"), &crate::Limits::default());
    for (text, wanted) in [
        ("", ""),
        ("QQ==", "A"),
        ("QUE=", "AA"),
        ("QUFB", "AAA"),
        ("QQ==\\n", "A"),
    ] {
        assert_eq!(read(text).unwrap()["k"], wanted, "{text}");
    }
    for text in [
        "=", "Q===", "====", "QQ=", "QQ==QQ==", "QUE=QQ==", "QQ==Q", "QQ===", "Q=Q=", "Q",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn the_tag_of_a_text_makes_a_text_of_anything_plain() {
    assert_eq!(meaning("!!str 1"), json!("1"));
    assert_eq!(meaning("!!str"), json!(""));
    assert_eq!(meaning("!!str null"), json!("null"));
}

#[test]
fn a_decimal_of_up_to_18_digits_has_no_leading_zero() {
    assert_eq!(meaning("0"), json!(0));
    assert_eq!(meaning("010"), json!(8), "octal");
    assert_eq!(meaning("999999999999999999"), json!(999_999_999_999_999_999_i64));
}
