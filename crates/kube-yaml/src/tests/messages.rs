//! What a person reads about a fault, and where it points.

use proptest::prelude::*;

use super::{error, value};
use crate::{Limits, read_all};

/// The text at fault, the message, and the help.
fn told(text: &str) -> (String, String, String) {
    let found = error(text);
    (
        text[found.range].to_owned(),
        found.message.into_owned(),
        found.help.into_owned(),
    )
}

#[test]
fn a_star_is_explained_with_the_quoted_text() {
    let (place, message, help) = told("host: *.example.com\n");
    assert_eq!(place, "*.");
    assert_eq!(
        message,
        "`*` starts an alias, whose name consists of letters, digits, `-`, and `_`"
    );
    assert_eq!(help, "quote the text if `*` is part of it: \"*.example.com\"");
    assert_eq!(told("hosts: [a, *.example.com]\n").2, help);
}

#[test]
fn characters_that_cannot_start_a_text_are_explained_with_the_quoted_text() {
    let (place, message, help) = told("a: @x y # c\n");
    assert_eq!(
        (place.as_str(), message.as_str()),
        ("@", "text without quotes cannot start with `@`")
    );
    assert_eq!(help, "quote the text: \"@x y\"");
}

#[test]
fn templates_are_named() {
    for text in [
        "{{- if .Values.x }}\na: 1\n{{- end }}\n",
        "a: {{ .Values.x }}\n",
        "a: 1\n{{ include \"x\" . }}\n",
    ] {
        assert!(told(text).2.starts_with("a Helm template is not YAML"), "{text}");
    }
}

#[test]
fn unclosed_things_point_at_their_start() {
    assert_eq!(told("a: [b,\n  c\n").0, "[");
    let (place, message, help) = told("a: \"b\nc: d\n");
    assert_eq!(place, "\"");
    assert!(
        message.starts_with("the text that `\"` opens goes on in a line"),
        "{message}"
    );
    assert!(help.starts_with("close it with `\"` on its line"), "{help}");
    assert_eq!(
        told("a: 'b\n c: d\n").1,
        "the text that `'` opens is never closed"
    );
}

#[test]
fn indentation_faults_point_at_the_line() {
    assert_eq!(told("a: 1\nb\nc: 2\n").0, "b");
    assert_eq!(told("a:\n  b: 1\n c: 2\n").0, "c: 2");
    assert_eq!(told("a: b: c\n").0, ":");
    assert_eq!(told("a: - b\n").0, "-");
    assert_eq!(told("a:\n- b\n  c: d\n").0, ":");
    assert_eq!(told("- a\nb: c\n").0, "b: c");
}

#[test]
fn what_stands_behind_the_mark_of_a_block_text_is_shown() {
    let (place, message, _) = told("a: |0\n  x\n");
    assert_eq!(
        (place.as_str(), message.as_str()),
        ("0", "a block scalar cannot be indented by 0 spaces")
    );
    for (text, wrong) in [
        ("a: |10\n  x\n", "0"),
        ("a: |12\n  x\n", "2"),
        ("a: >+-\n  x\n", "-"),
        ("a: >é\n  x\n", "é"),
    ] {
        let (place, message, _) = told(text);
        assert_eq!(place, wrong, "{text}");
        assert!(message.starts_with("only `+`, `-`, a digit"), "{message}");
    }
}

#[test]
fn a_tab_that_indents_is_shown() {
    for text in ["a: |\n\tx\n", "a: |2\n \tx\n", "a:\n  b\n\tc\n"] {
        let (place, message, _) = told(text);
        assert_eq!(place, "\t", "{text:?}");
        assert!(message.starts_with("a tab cannot indent"), "{message}");
        let is_block_scalar = text.contains("|\n");
        assert_eq!(
            message == "a tab cannot indent a block scalar",
            is_block_scalar,
            "{text:?}"
        );
    }
}

#[test]
fn a_tag_in_angle_brackets_is_not_empty_and_is_closed() {
    for text in ["a: !<> x\n", "a: !<tag:x y\n", "a: !<tag:x\n"] {
        assert!(told(text).1.contains("tag"), "{text}");
    }
    assert_eq!(
        value("a: !<tag:yaml.org,2002:str> 1\n"),
        kube_json::json!({"a": "1"})
    );
}

#[test]
fn a_directive_is_told_to_go() {
    for line in ["%YAML 1.1", "%YAML 1.2", "%YAML", "%TAG !a! tag:x,1:", "%FOO"] {
        for text in [
            format!("{line}\n---\na: 1\n"),
            format!("# c\n\n{line}\r\n---\r\na: 1\r\n"),
            format!("{line}\n"),
        ] {
            let (place, message, help) = told(&text);
            assert_eq!(place, line);
            assert!(
                message.starts_with("a line that starts with `%` is a directive"),
                "{message}"
            );
            assert!(help.starts_with("remove the line"), "{help}");
        }
    }
}

#[test]
fn what_only_some_readers_take_is_told_with_what_to_write() {
    for (text, place, help) in [
        ("a:\tb\n", "\t", "write a space instead"),
        ("a: {b:[c]}\n", ":", "write a space behind `:`"),
        ("a: [b?c]\n", "?", "quote the text: \"b?c\""),
        ("a: {b: c:}\n", ":", "quote the text: \"c\""),
        ("a: [b]#c\n", "#", "write a space in front of `#`"),
        ("a: {b\n  : c}\n", ":", "write the key and `:` on one line"),
        ("a: {\n  \"b\": \"c\"\n}\n", "}", "indent this line"),
        ("a: [-]\n", "-", "quote the text"),
        ("a: [!b, c]\n", "!b,", "quote the text if `!`"),
        ("a: b\u{2028}c\n", "\u{2028}", "remove it, or write `\\u2028`"),
        ("a: \"b\u{85}c\"\n", "\u{85}", "remove it, or write `\\x85`"),
        ("a: b\r\r\n", "\r", "delete it"),
        ("a: \"b'\\'\"\n", "\\'", "write `'`"),
        ("|\na\n", "a", "indent them"),
    ] {
        let told = told(text);
        assert_eq!(told.0, place, "{text:?} {told:?}");
        assert!(told.2.starts_with(help), "{text:?} {told:?}");
    }
}

#[test]
fn what_ends_too_early_or_goes_on_in_json_is_told() {
    let told = |text: &str| {
        let error = crate::split_json(text).unwrap_err();
        let bracket = error.related.map(|related| text[related.range].to_owned());
        (text[error.range].to_owned(), error.message.into_owned(), bracket)
    };
    let expected = |place: &str, message: &str, bracket: Option<&str>| {
        (place.to_owned(), message.to_owned(), bracket.map(str::to_owned))
    };
    assert_eq!(
        told("{\"a\": [1"),
        expected("", "the JSON ends too early, inside of a list", None)
    );
    assert_eq!(
        told("{\"a\": {\"b\": 1 é}}"),
        expected("é", "this is not JSON: expected `,` or `}`", None)
    );
    assert_eq!(
        told("{\"a\": \"b"),
        expected("", "the JSON ends too early, inside of a string", None)
    );
    for (text, place) in [
        ("{\"a\": 01.5}", "1"),
        ("{\"a\": 1.}", "}"),
        ("{\"a\": -}", "}"),
        ("{\"a\": 1e}", "}"),
    ] {
        assert_eq!(
            told(text),
            expected(place, "this is not JSON: invalid number", None)
        );
    }
    assert_eq!(told("[1]").1, "a JSON array is not a Kubernetes object");
    assert_eq!(
        told("1").1,
        "the top level of a JSON file can contain only objects"
    );
}

#[test]
fn dropped_text_is_shown() {
    assert_eq!(told("a: 1\n...\nb: 2\n").0, "b: 2");
    assert_eq!(told("\"a\":1\n").0, ":1");
}

proptest! {
    #[test]
    fn an_error_without_the_text_holds_no_word_of_it(
        text in "((hunter2|[\n \t\"'@%`*&!|>{}\\[\\],:#?\\\\\u{1}-]|<<|: |\n--- |!!int |k: |\n  k: |\n- ){0,30})",
        is_json in any::<bool>(),
    ) {
        let text = if is_json { format!("{{\"hunter2\": {text}") } else { format!("k: hunter2\n{text}") };
        if let Err(error) = read_all(&text, &Limits::default()) {
            let error = error.unquoted();
            let related = error.related.iter().map(|related| &related.text);
            for said in [&error.message, &error.help].into_iter().chain(related) {
                prop_assert!(!said.contains("hunter2"), "{:?}: {:?}", text, said);
                prop_assert!(!said.is_empty());
            }
        }
    }
}

#[test]
fn an_escape_that_yaml_does_not_have_is_shown_whole_with_what_to_write() {
    let (place, message, help) = told("a: \"x\\éy\"\n");
    assert_eq!(place, "\\é");
    assert_eq!(message, "`\\é` is not an escape in YAML");
    assert!(help.starts_with("write `\\\\é` for the same text"), "{help}");
    assert_eq!(told("a: \"x\\/y\"\n").2, "write `/`: only JSON allows `\\/`");
}

#[test]
fn an_escape_with_too_few_digits_is_shown_as_far_as_its_digits_go() {
    for (text, shown) in [
        ("a: \"\\x4\"\n", "\\x4"),
        ("a: \"\\x\u{117FF}\"\n", "\\x"),
        ("a: \"\\u00é9\"\n", "\\u00"),
        ("a: \"\\x+4\"\n", "\\x"),
    ] {
        let (place, message, _) = told(text);
        assert_eq!(place, shown, "{text}");
        assert!(message.ends_with("hexadecimal digits"), "{message}");
    }
    assert_eq!(
        told("a: \"\\ud83d\"\n").1,
        "half of a surrogate pair is not a character"
    );
    assert_eq!(told("a: \"\\U7fffffff\"\n").1, "no character has this number");
}

#[test]
fn a_second_api_version_may_be_the_begin_of_another_object() {
    let second = |key: &str| told(&format!("{key}: a\n{key}: b\n")).2;
    assert!(second("apiVersion").starts_with("if another object begins here, write `---`"));
    assert!(!second("kind").contains("---"), "{}", second("kind"));
}

#[test]
fn a_separator_inside_of_a_text_is_shown_with_where_the_text_is_opened() {
    let text = "a: \"b\n--- c\"\n";
    let found = error(text);
    assert_eq!(&text[found.range], "---");
    let related: Vec<&str> = found
        .related
        .iter()
        .map(|related| &text[related.range.clone()])
        .collect();
    assert_eq!(related, ["\""]);
}
