//! What a person reads about a fault, and where it points.

use proptest::prelude::*;

use super::error;
use crate::{Limits, read_all};

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
