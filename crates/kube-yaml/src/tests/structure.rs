//! What is accepted and what is not (docs/systems/kubernetes.md#structure-and-characters,
//! docs/systems/why-we-differ.md#yaml-that-loses-text).

use kube_json::json;

use super::{error, kind, value};
use crate::{ErrorKind, Limits, read, read_all, split, split_json};

#[test]
fn a_tab_never_indents_a_block_and_is_a_blank_elsewhere() {
    assert_eq!(error("a:\n\tb: 1\n").message, "a tab cannot indent");
    assert_eq!(error("\ta: 1\n").message, "a tab cannot indent");
    assert_eq!(error("a: b\n\tc\n").message, "a tab cannot indent");
    assert_eq!(
        value("a: 1\t# c\nb: {\t\"c\": \t1,\t}\n"),
        json!({"a": 1, "b": {"c": 1}})
    );
    for text in [
        "-\ta\n",
        "- a\n\t\n- b\n",
        "\t\n",
        "a: b\n  \tc\n",
        "\t# c\na: 1\n",
        "a\n...\n\t\n",
    ] {
        assert_eq!(error(text).message, "a tab cannot indent", "{text:?}");
    }
    for text in ["a:\t1\n", "a:\tb\n", "{\"a\":\t1}\n"] {
        assert_eq!(error(text).help, "write a space instead", "{text:?}");
    }
}

#[test]
fn flow_collections_are_read_in_any_layout() {
    assert_eq!(value("{a:1}\n"), json!({"a:1": null}));
    assert_eq!(value("{\"a\":1}\n"), json!({"a": 1}));
    assert_eq!(value("{\"x\":y}\n"), json!({"x": true}));
    assert_eq!(value("[1,]\n"), json!([1]));
    assert_eq!(value("{b: 1,}\n"), json!({"b": 1}));
    assert_eq!(value("[a: 1, b: 2]\n"), json!([{"a": 1}, {"b": 2}]));
    assert_eq!(
        value("a: {\n b: 1,\n c: [\n 2\n ]\n }\n"),
        json!({"a": {"b": 1, "c": [2]}})
    );
    for text in ["a: {\nb: 1\n}\n", "a: [\n]\n", "a:\n  b: [\n1]\n"] {
        assert!(
            error(text).message.starts_with("between brackets, each line"),
            "{text}"
        );
    }
    assert_eq!(
        value("{? a : b, ? c, d}\n"),
        json!({"a": "b", "c": null, "d": null})
    );
    for text in ["[1,,2]\n", "[,]\n", "[a\n", "{a: 1\n", "]\n", "{a]\n"] {
        assert_eq!(kind(text), ErrorKind::Syntax, "{text}");
    }
}

#[test]
fn quoted_scalars_continue_in_lines_that_are_indented_deeper_than_their_key() {
    assert_eq!(value("a:\n  b: \"x\n   y\"\n"), json!({"a": {"b": "x y"}}));
    for text in ["a:\n  b: \"x\ny\"\n", "a:\n  b: 'x\n  y'\n", "a: 'x\ny'\n"] {
        assert!(
            error(text)
                .message
                .contains("goes on in a line that is not indented deeper"),
            "{text}"
        );
    }
    assert_eq!(value("a: 'x\n\n  y'\n"), json!({"a": "x\ny"}));
    assert_eq!(value("a: \"x \t\n  \n y\\\n   z\"\n"), json!({"a": "x\nyz"}));
    assert_eq!(value("a: \"\\\n\n x\"\n"), json!({"a": "\nx"}));
    assert_eq!(value("a: 'it''s'\n"), json!({"a": "it's"}));
    assert_eq!(kind("a: \"x\n---\ny\"\n"), ErrorKind::Syntax);
    assert_eq!(kind("a: \"x\n...\n"), ErrorKind::Syntax);
}

#[test]
fn escapes_are_those_of_yaml_1_1() {
    assert_eq!(
        value("\"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"'\\\\\\N\\_\\L\\P\\x41\\u00e9\\U0001F600\"\n"),
        json!("\0\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b} \"'\\\u{85}\u{a0}\u{2028}\u{2029}Aé😀")
    );
    for text in [
        "\"\\/\"\n",
        "\"\\'\"\n",
        "k: [\"a\\\\\\/\"]\n",
        "\"\\ud83d\\ude00\"\n",
        "\"\\x4\"\n",
        "\"\\U00110000\"\n",
        "\"\\q\"\n",
        "\"\\é\"\n",
        "\"\\",
    ] {
        assert_eq!(kind(text), ErrorKind::Syntax, "{text}");
    }
}

#[test]
fn block_scalars_fold_and_chomp() {
    assert_eq!(value("a: |\n  x\n   y\n\n  z\n\n"), json!({"a": "x\n y\n\nz\n"}));
    assert_eq!(
        value("a: >\n  x\n  y\n\n  z\n   i\n  j\n"),
        json!({"a": "x y\nz\n i\nj\n"})
    );
    assert_eq!(value("a: |-\n  x\n\n"), json!({"a": "x"}));
    assert_eq!(value("a: |+ # c\n  x\n\nb: 1\n"), json!({"a": "x\n\n", "b": 1}));
    assert_eq!(value("a: |2-\n    x\n"), json!({"a": "  x"}));
    assert_eq!(value("a:\n- |1\n  x\n"), json!({"a": [" x\n"]}));
    assert_eq!(value("a: |\n  x\n# c\nb: 1\n"), json!({"a": "x\n", "b": 1}));
    for text in [
        "a: |\n   \n  x\n",
        "a: |x\n  y\n",
        "a: |0\n  y\n",
        "a: |\n\tx\n",
        "[|, a]\n",
    ] {
        error(text);
    }
}

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
fn lists_may_stand_at_the_indentation_of_their_key() {
    assert_eq!(
        value("a:\n- b\n-\n- - c\n  - d: 1\n    e: 2\nf: 1\n"),
        json!({"a": ["b", null, ["c", {"d": 1, "e": 2}]], "f": 1})
    );
    assert_eq!(value("? a\n: - b\n? c\n"), json!({"a": ["b"], "c": null}));
    for text in [
        "a: - b\n",
        "a: b\n c: d\n",
        "a: 1\nb\n",
        "a:\nb\n",
        "a: b: c\n",
        "a:\n  b: 1\n c: 2\n",
        "- a\nb: 1\n",
    ] {
        assert_eq!(kind(text), ErrorKind::Syntax, "{text}");
    }
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
fn a_byte_order_mark_may_start_the_text_only() {
    assert_eq!(value("\u{feff}a: 1\nb: 2\n"), json!({"a": 1, "b": 2}));
    assert_eq!(value("\u{feff}a: &x 1\nb: *x\n"), json!({"a": 1, "b": 1}));
    error("\u{feff}: v\n");
    for text in [
        "a: 1\n\u{feff}b: 2\n",
        "a: b\n\u{feff}\n",
        "# c\n\u{feff}a\n",
        "[a,\n\u{feff}b]\n",
        "\u{feff}\u{feff}a: 1\n",
        "k: 'a\n\u{feff}b'\n",
        "k: |\n  \u{feff}b\n",
    ] {
        let found = error(text);
        assert!(found.message.contains("byte order mark"), "{text:?}");
        assert!(found.help.starts_with("delete it"), "{text:?}");
    }
}

#[test]
fn text_that_kubernetes_drops_is_refused() {
    for text in [
        "a: 1\n...\nb: 2\n",
        "\"a\":1\n",
        "[a]\n- b\n",
        "a: 1\n---\nb: 2\n",
        "--- a\n--- b\n",
        "...\n...\na\n",
    ] {
        let kind = kind(text);
        assert!(
            matches!(kind, ErrorKind::Dropped | ErrorKind::Syntax),
            "{text}: {kind:?}"
        );
    }
    assert_eq!(kind("a: 1\n...\nb: 2\n"), ErrorKind::Dropped);
    error("{}x: y\n");
    assert_eq!(value("a: 1\n...\n# c\n"), json!({"a": 1}));
    assert_eq!(value("---\na: 1\n"), json!({"a": 1}));
    assert_eq!(value("\u{feff}---\na: 1\n"), json!({"a": 1}));
    assert_eq!(value(" ---\n- a\n"), json!("--- - a"));
    assert_eq!(kind("...\n"), ErrorKind::Syntax);
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
fn duplicate_keys_are_refused_with_both_places() {
    let text = "a: 1\nb: {c: 1, c: 2}\n";
    let found = error(text);
    assert_eq!(
        (found.kind, &text[found.range.clone()], found.range.start),
        (ErrorKind::DuplicateKey, "c", 15)
    );
    assert_eq!(found.related.unwrap().range, 9..10);
    for text in [
        "1: x\n\"1\": y\n",
        "yes: 1\ntrue: 2\n",
        "0x10: 1\n16: 2\n",
        "a: 1\n? a\n: 2\n",
        "1e3: 1\n1000: 2\n",
    ] {
        assert_eq!(kind(text), ErrorKind::DuplicateKey, "{text}");
    }
}

#[test]
fn anchors_mean_the_last_definition_before_the_alias() {
    assert_eq!(
        value("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"),
        json!({"a": 1, "b": 1, "c": 2, "d": 2})
    );
    assert_eq!(value("&k a: 1\nb: *k\n"), json!({"a": 1, "b": "a"}));
    assert_eq!(
        value("a: &x {p: [1]}\nb: [*x, *x]\n"),
        json!({"a": {"p": [1]}, "b": [{"p": [1]}, {"p": [1]}]})
    );
    assert_eq!(
        value("a: &x 1e6\n*x : 2\nb: *x\n"),
        json!({"a": 1_000_000, "1e+06": 2, "b": 1_000_000})
    );
    assert_eq!(value("a: [&x [&x 1], *x]\n"), json!({"a": [[1], 1]}));
    for text in [
        "a: *u\n",
        "a: &x [*x]\n",
        "a: &x {b: *x}\n",
        "- &x 1\n- &x [*x]\n",
    ] {
        assert_eq!(kind(text), ErrorKind::Alias, "{text}");
    }
    assert_eq!(kind("a: &x [1]\n*x : 1\n"), ErrorKind::Key);
    assert_eq!(kind("&x ~ : 1\n"), ErrorKind::Key);
    assert_eq!(kind("&x .inf: 1\nb: *x\n"), ErrorKind::Value);
}

#[test]
fn merges_take_mappings_and_later_keys_override() {
    assert_eq!(
        value("x: &x {p: 1}\nz:\n  <<: *x\n  p: 2\n"),
        json!({"x": {"p": 1}, "z": {"p": 2}})
    );
    assert_eq!(value("a: {b: 1, <<: {c: 2}}\n"), json!({"a": {"b": 1, "c": 2}}));
    assert_eq!(
        value("x: &x {p: 1}\nw: &w {q: 2}\nz: {<<: [*x, *w, {r: 3}], s: 4}\n")["z"],
        json!({"p": 1, "q": 2, "r": 3, "s": 4})
    );
    assert_eq!(
        value("a: {<<: {<<: {b: 1}, c: 2}}\n"),
        json!({"a": {"b": 1, "c": 2}})
    );
    assert_eq!(value("a: {<<: []}\n"), json!({"a": {}}));
    assert_eq!(value("a: {\"<<\": 1}\n"), json!({"a": {"<<": 1}}));
    assert_eq!(value("a: {!!merge <<: {b: 1}}\n"), json!({"a": {"b": 1}}));
    assert_eq!(value("a: {! <<: {b: 1}}\n"), json!({"a": {"b": 1}}));
    assert_eq!(value("a: {! \"<<\": {b: 1}}\n"), json!({"a": {"b": 1}}));
    assert_eq!(value("a: {!!str <<: {b: 1}}\n"), json!({"a": {"<<": {"b": 1}}}));
}

#[test]
fn both_zeros_in_one_mapping_are_one_key() {
    for text in [
        "{0.0: a, -0.0: b}\n",
        "-0.0: a\n0e0: b\n",
        "{&x 0.0: a, -0.0: b}\n",
    ] {
        assert_eq!(error(text).kind, ErrorKind::DuplicateKey, "{text}");
    }
    assert_eq!(value("{-0.0: a}\n"), json!({"-0": "a"}));
    // As texts and integers they are two.
    assert_eq!(value("{\"-0\": a, \"0\": b}\n"), json!({"-0": "a", "0": "b"}));
}

#[test]
fn merges_over_what_is_there_are_refused() {
    let text = "x: &x {p: 1}\nz:\n  p: 2\n  <<: *x\n";
    let found = error(text);
    assert_eq!((found.kind, &text[found.range.clone()]), (ErrorKind::Merge, "*x"));
    assert_eq!(found.related.map(|related| related.range), Some(18..19));
    let text = "x: &x {p: 1}\nw: &w {p: 2}\nz: {<<: [*x, *w]}\n";
    assert_eq!(error(text).related.map(|related| related.range), Some(7..8));
    for text in [
        "x: &x {p: 1}\nz: {<<: *x, p: 2, p: 3}\n",
        "x: &x {p: 1}\nz: {<<: *x, p: 2, <<: *x}\n",
        "x: &x {p: 1}\nz: {<<: *x, <<: {p: 2}}\n",
    ] {
        assert!(
            matches!(kind(text), ErrorKind::Merge | ErrorKind::DuplicateKey),
            "{text}"
        );
    }
    for text in [
        "<<: v\n",
        "<<: ~\n",
        "<<: [[{a: 1}]]\n",
        "x: &x [{a: 1}]\nz: {<<: *x}\n",
        "<<: [1]\n",
    ] {
        assert_eq!(kind(text), ErrorKind::Merge, "{text}");
    }
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
