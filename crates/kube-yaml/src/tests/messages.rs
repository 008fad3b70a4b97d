//! What a person reads about a fault, and where it points.

use proptest::prelude::*;

use super::error;
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
        ("@", "a text without quotes cannot start with `@`")
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
    assert_eq!(told("a: \"b\nc: d\n").0, "\"");
    assert_eq!(told("a: 'b\nc: d\n").1, "the text that `'` opens is never closed");
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
