//! What is accepted and what is not (docs/systems/kubernetes.md#structure-and-characters,
//! docs/systems/why-we-differ.md#yaml-that-loses-text).

use kube_json::json;

use super::{error, kind, value};
use crate::{ErrorKind, Limits, read, read_all, split, split_json};

#[test]
fn the_last_line_of_a_chunk_ends_even_without_a_newline() {
    let read_one = |text: &str| read(&split(text).unwrap()[0], &Limits::default()).unwrap();
    assert_eq!(read_one("a: |\n  x"), json!({"a": "x\n"}));
    assert_eq!(read_one("a: |+\n  x\n  "), json!({"a": "x\n\n"}));
    assert_eq!(read_one("a: b"), json!({"a": "b"}));
    // A text from elsewhere ends where it ends.
    for (text, expected) in [
        ("a: |\n  x", "x"),
        ("a: >\n  x\n  y", "x y"),
        ("a: |+\n  x", "x"),
        ("a: |+\n  x\n", "x\n"),
        ("a: |-\n  x", "x"),
        ("a: |", ""),
        ("a: |\n  x\r\n  y", "x\ny"),
    ] {
        assert_eq!(value(text), json!({"a": expected}), "{text:?}");
    }
    for text in ["a: |+\n  x\n  ", "a: |\n  x\n    ", "a: >2\n  x\n   "] {
        assert!(
            error(text)
                .message
                .starts_with("the text ends in a line of blanks"),
            "{text:?}"
        );
    }
    assert!(error("a: !x#y z\n").message.starts_with("`!` starts a tag"));
    // The splitter takes CR LF for the end of a line, and the CR in front of it joins the LF it writes.
    assert_eq!(kind("a: |+\n  x\r\r\n  y\r\n"), ErrorKind::Character);
}

#[test]
fn crlf_is_read_as_lf_everywhere() {
    let text = "a: |\n  x\n\n  y\nb: \"p\n  q\n\n  r\"\nc: s\n  t\n\n  u\n# c\nd: [1,\n 2]\n";
    let expected = value(text);
    assert_eq!(
        expected,
        json!({"a": "x\n\ny\n", "b": "p q\nr", "c": "s t\nu", "d": [1, 2]})
    );
    assert_eq!(value(&text.replace('\n', "\r\n")), expected);
    assert_eq!(value(&text.replace('\n', "\r")), expected);
    assert_eq!(
        read_all(&text.replace('\n', "\r\n"), &Limits::default()),
        Ok(vec![expected])
    );
}

#[test]
fn a_key_without_question_mark_ends_after_1024_characters() {
    for (unit, count) in [("x", 1024), ("é", 1024)] {
        let key = unit.repeat(count);
        assert_eq!(value(&format!("{key}: 1\n")), json!({key.clone(): 1}));
        let longer = format!("{key}{unit}");
        assert_eq!(
            error(&format!("{longer}: 1\n")).message,
            "a key ends at most 1,024 characters after its start"
        );
        assert_eq!(
            error(&format!("a: 1\n{longer}: 1\n")).message,
            "a key ends at most 1,024 characters after its start"
        );
        assert_eq!(value(&format!("? {longer}\n: 1\n")), json!({longer.clone(): 1}));
    }
    // Quotes count.
    let key = "x".repeat(1022);
    assert_eq!(value(&format!("\"{key}\": 1\n")), json!({key.clone(): 1}));
    error(&format!("\"{key}x\": 1\n"));
    // A key ends on its line.
    error("\"a\n b\": 1\n");
}

#[test]
fn control_characters_have_to_be_escaped() {
    for character in [
        '\0', '\u{1}', '\u{b}', '\u{1b}', '\u{7f}', '\u{80}', '\u{9f}', '\u{fffe}', '\u{ffff}', '\u{85}',
        '\u{2028}', '\u{2029}', '\u{feff}',
    ] {
        let found = error(&format!("a: \"x{character}\"\n"));
        assert_eq!(
            (found.kind, found.range.start),
            (ErrorKind::Character, 5),
            "{character:?}"
        );
    }
    for text in ["a\u{a0}b", "a\u{200b}b", "a\u{202e}b", "😀", "\u{fffd}"] {
        assert_eq!(value(&format!("k: {text}\n")), json!({"k": text}));
    }
}

#[test]
fn directives_are_refused() {
    for text in [
        "%YAML 1.1\n---\na: 1\n",
        "%YAML 1.2\n---\na: 1\n",
        "# c\n%TAG ! t:\n---\na: !x 1\n",
        "%FOO\n---\n",
        "\u{feff}%YAML 1.1\n---\na: 1\n",
    ] {
        assert_eq!(kind(text), ErrorKind::Syntax, "{text:?}");
        assert!(
            split(text)
                .unwrap()
                .iter()
                .any(|chunk| read(chunk, &Limits::default()).is_err()),
            "{text:?}"
        );
    }
}

#[test]
fn documents_that_say_nothing_are_null() {
    for text in ["", "\n", "# c\n", "---\n", "--- # c\n", " #: v\n"] {
        assert!(value(text).is_null(), "{text:?}");
    }
    assert_eq!(
        read_all("# c\n---\na: 1\n---\n\n---\nb: 2\n", &Limits::default()),
        Ok(vec![json!({"a": 1}), json!({"b": 2})])
    );
}

#[test]
fn json_has_its_own_escapes_and_the_same_strictness() {
    let read_json = |text: &str| read(&split_json(text).unwrap()[0], &Limits::default());
    assert_eq!(
        read_json("{\"a\": \"\\/\\ud83d\\ude00\\u00e9\\nx\"}"),
        Ok(json!({"a": "/😀é\nx"}))
    );
    assert_eq!(
        read_json("{\"a\": [1, -2.5, 1e3, 1.0, -0, true, false, null, {}, [], 18446744073709551615]}"),
        Ok(json!({"a": [1, -2.5, 1000, 1, 0, true, false, null, {}, [], u64::MAX]}))
    );
    for text in [
        "{\"a\": \"\\ud800x\"}",
        "{\"a\": \"\\ud83dAude00\"}",
        "{\"a\": \"\\ud83d\\nde00\"}",
        "{\"a\": \"\\ude00\"}",
    ] {
        let error = read_json(text).unwrap_err();
        assert_eq!(
            error.message, "half of a surrogate pair is not a character",
            "{text}"
        );
    }
    let duplicate = read_json("{\"a\": 1, \"b\": 2, \"a\": 3}").unwrap_err();
    assert_eq!(
        (duplicate.kind, duplicate.range),
        (ErrorKind::DuplicateKey, 17..20)
    );
    assert_eq!(duplicate.related.unwrap().range, 1..4);
    let too_large = read_json("{\"a\": 1e400}").unwrap_err();
    assert_eq!((too_large.kind, too_large.range), (ErrorKind::Value, 6..11));
    assert_eq!(
        read_json("{\"-0\": [-0.0, 1E2, 0.1e-2]}"),
        Ok(json!({"-0": [-0.0, 100, 0.001]}))
    );
    // Neither words nor merges are anything but text in JSON.
    assert_eq!(
        read_json("{\"<<\": \"yes\", \"y\": \"1\"}"),
        Ok(json!({"<<": "yes", "y": "1"}))
    );
    for text in [
        "{\"a\": 01}",
        "{\"a\": 1.}",
        "{\"a\": .5}",
        "{\"a\": +1}",
        "{\"a\": 1,}",
        "{\"a\" 1}",
        "{a: 1}",
        "{\"a\": [1 2]}",
        "{\"a\": \"\t\"}",
        "{\"a\": \"\\x41\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": nul}",
        "{\"a\": '1'}",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\": \"",
        "{\"a\": [",
        "{\"a\": 1]",
    ] {
        assert_eq!(split_json(text).unwrap_err().kind, ErrorKind::Syntax, "{text}");
    }
}

#[test]
fn members_are_sorted_in_mappings_of_every_size_and_in_every_order() {
    for count in [0usize, 1, 2, 9, 511, 512, 513, 700] {
        // 11 has no factor in common with the larger of these: each number comes once.
        let text: String = (0..count)
            .map(|number| (number * 11) % count.max(1))
            .map(|number| format!("k{number:03}:\n  in: {{b: {number}, a: [x]}}\n"))
            .collect();
        let expected: kube_json::Map = (0..count)
            .map(|number| (format!("k{number:03}"), json!({"in": {"a": ["x"], "b": number}})))
            .collect();
        let text = format!("map:\n{}after: [1, [2, {{}}], {{}}]\n", indented(&text));
        let map = if count == 0 { json!(null) } else { json!(expected) };
        assert_eq!(
            value(&text),
            json!({"map": map, "after": [1, [2, {}], {}]}),
            "{count}"
        );
    }
}

#[test]
fn a_key_that_is_already_there_is_found_in_mappings_of_every_size() {
    for count in [1usize, 2, 9, 511, 512, 513, 700] {
        for again in [0, count / 2, count - 1] {
            let text: String = (0..count)
                .chain([again])
                .map(|number| format!("k{number:03}: {number}\n"))
                .collect();
            let error = error(&text);
            assert_eq!(error.kind, ErrorKind::DuplicateKey, "{count}");
            assert_eq!(
                error.message,
                format!("the key `k{again:03}` is already in this mapping")
            );
            assert_eq!(error.range.start, count * 5 + digits(count), "{count}, {again}");
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// How many digits the numbers below `count` have together, and a line break for each.
fn digits(count: usize) -> usize {
    (0..count).map(|number| number.to_string().len() + 2).sum()
}
