//! Our parser against libyaml-safer's, over random texts.

use proptest::prelude::*;

use crate::testing::{agrees, lines_agree_with_events};

fn compare(text: &str) -> Result<(), TestCaseError> {
    agrees(text).map_err(TestCaseError::fail)
}

fn compare_lines(text: &str) -> Result<(), TestCaseError> {
    lines_agree_with_events(text)
        .map(|_| ())
        .map_err(TestCaseError::fail)
}

const FRAGMENTS: &[&str] = &[
    "a",
    "b",
    "a: ",
    "b: ",
    "a:",
    "- ",
    "-",
    "? ",
    ": ",
    ":",
    " ",
    "  ",
    "   ",
    "\n",
    "\n",
    "\n ",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    "\na: ",
    "\n  b: ",
    "\t",
    "#",
    " # c",
    "'",
    "''",
    "\"",
    "\"x\"",
    "'y'",
    "\\n",
    "\\",
    "\\x41",
    "\\u00e9",
    "\\x",
    "\\u00",
    "\u{1F600}",
    "|",
    ">",
    "|-",
    ">+",
    "|2",
    "| # c\n",
    "|\n  x\n",
    ">\n x\n\n  y\n",
    "[",
    "]",
    "{",
    "}",
    ",",
    ", ",
    "[a, b]",
    "{a: b}",
    "{a: b, ",
    "[a: ",
    "&x ",
    "*x",
    "*x ",
    "!t ",
    "!!str ",
    "! ",
    "!<t> ",
    "!e!f ",
    "%TAG ! t:",
    "---",
    "...",
    "\n---\n",
    "\n...\n",
    "--- ",
    "é",
    "日本",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\r\n",
    "\r",
    "1",
    "x y",
    "a b",
    "k: v\n",
    "@",
    "`",
    "%",
    "=",
    "<<",
    "~",
    "-1",
    ".5",
    "a#b",
    "http://x",
    "x:y",
    "word word",
];

/// Texts of tricky pieces, with a final newline: without one libyaml-safer panics on block scalars.
pub(super) fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => prop::sample::select(FRAGMENTS).prop_map(str::to_owned), 1 => "[ -~]{1,3}"];
    prop::collection::vec(piece, 1..24).prop_map(|pieces| pieces.concat() + "\n")
}

/// Texts that are nearly well formed: lines of a mapping or list at changing depths.
fn lines() -> impl Strategy<Value = String> {
    let value = prop::sample::select(
        &[
            "", "v", "1", "[a, b]", "{a: b}", "|", ">-", "\"x", "y\"", "'z'", "*x", "&x", "&x v", "- a",
            "a: b", "[", "]", "{", "}", "v # c", "\"a b\"", "-", "x\ty", "{a: b,", "c: d}", "[e,", "!t v",
            "? k", ": v",
        ][..],
    );
    let start = prop::sample::select(
        &[
            "", "a: ", "b: ", "c:", "- ", "- a: ", "- - ", "? ", ": ", "\"q\": ", "# ",
        ][..],
    );
    let line = (0usize..5, start, value)
        .prop_map(|(indent, start, value)| format!("{}{start}{value}\n", " ".repeat(indent)));
    prop::collection::vec(line, 1..10).prop_map(|lines| lines.concat())
}

/// Documents in the usual form, nearly: each line belongs to a collection that is open.
pub(super) fn documents() -> impl Strategy<Value = String> {
    let key = prop::sample::select(
        &[
            "a", "b", "c", "d", "e.f/g", "x:y", "\"q\"", "'r: s'", "9p", "on", "1", "a b", "<<", "é",
        ][..],
    );
    let value = prop::sample::select(
        &[
            " v",
            " v",
            " word word  ",
            " 1",
            " 1.0",
            " -5",
            " --x",
            " true",
            " ~",
            " 'q'",
            " \"d\\n\"",
            " \"a\" # c",
            " v # c",
            " a#b",
            " http://x",
            " []",
            " {}",
            " [a, 1, \"b\", {c: d, 'e': [f]}]",
            " {a: x:y, b: }",
            " {a#b: c, d: e # f}",
            " [-a, --b=c, -]",
            " ^[a-z]{2}$",
            " =",
            " <<",
            " (a) b",
            " [a,]",
            " [a: b]",
            " |\n      text\n       more\n\n",
            " >-\n      text\n",
            " |",
            " x\n      continued",
            " 'x\n      y'",
            "",
            "",
            " # c",
            " a: b",
            " *x",
            " &x v",
            " !t v",
            "\tv",
            " \"a\"#c",
            " é",
            " a\u{2028}b",
            " v\r",
        ][..],
    );
    // How many of the open collections stay open, the key, what follows it, what it opens.
    let line = (0usize..8, key, value, 0usize..8);
    let pieces = (
        any::<bool>(),
        prop::sample::select(&["", "", "---\n", "--- # c\n", "# c\n\n", "\u{feff}"][..]),
    );
    (pieces, prop::collection::vec(line, 1..12)).prop_map(|((list, start), lines)| {
        let mut text = start.to_owned();
        let mut open = vec![(0, list)];
        for (stay, key, value, opens) in lines {
            open.truncate(1 + stay.min(open.len() - 1));
            let Some((mut column, is_list)) = open.last().copied() else {
                break;
            };
            text.push_str(&" ".repeat(column));
            if is_list {
                text.push_str("- ");
                column += 2;
                match opens {
                    0..4 => open.push((column, false)),
                    4 => {
                        text.push_str("- ");
                        open.push((column, true));
                    }
                    _ => {}
                }
            }
            if !is_list || opens < 4 {
                text.push_str(key);
                text.push(':');
            }
            match opens {
                0 => open.push((column + 2, false)),
                1 => open.push((column + 1, true)),
                2 => open.push((column, true)),
                _ => text.push_str(value),
            }
            text.push_str(["\n", "\n", "\n# c\n", "\n\n"][stay % 4]);
        }
        text
    })
}

/// 2,000 cases, or as many as PROPTEST_CASES says if that is more.
fn many() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig {
        cases: config.cases.max(2000),
        failure_persistence: None,
        ..config
    }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn random_pieces_give_the_same_events(text in texts()) {
        compare(&text)?;
    }

    #[test]
    fn random_lines_give_the_same_events(text in lines()) {
        compare(&text)?;
    }

    #[test]
    fn random_pieces_read_as_lines_give_what_events_give(text in texts()) {
        compare_lines(&text)?;
    }

    #[test]
    fn random_lines_read_as_lines_give_what_events_give(text in lines()) {
        compare_lines(&text)?;
    }

    #[test]
    fn nearly_usual_documents_read_as_lines_give_what_events_give(text in documents()) {
        compare_lines(&text)?;
    }

    #[test]
    fn what_we_write_gives_the_same_events(value in super::writing::values()) {
        // A text whose first byte is 0xEF is a broken byte order mark to libyaml-safer.
        let text = format!("# c\n{}", crate::write_document(&value));
        compare(&text)?;
        compare_lines(&text)?;
        prop_assert!(crate::read_document(&text, &crate::Limits::default()).is_ok(), "{}", text);
    }
}

#[test]
fn documents_in_the_usual_form_are_read_line_by_line() {
    for text in [
        "a: b\n",
        "---\na: 1\nb: true\nc:\nd: ~\n",
        "# c\n\na:\n  b: c # c\n  # c\n  d:\n  - e: f\n    g: 'h''i'\n  - j\n  -\n  - - k\nl: -1\n",
        "\"a\": |\n  b: c\n\n  d\n'e': |-\n  f\ng: h\n  i\nj: \"k\\n\"\n",
        "a: []\nb: {}\nc: [d, 1, \"e\", {f: g, 'h': [i]}]\nj.k/l: http://m\n",
        "- a\n- b:\n    c: é\n",
        "- a\n- 'b': c\n- \"d\"",
    ] {
        assert_eq!(lines_agree_with_events(text), Ok(true), "{text:?}");
    }
    for text in [
        "",
        "a",
        "é: b\n",
        "a: &b c\n",
        "a: !b c\n",
        "<<: {}\n",
        "a:\r\n  b: c\r\n",
        "on: a\n",
        "a: 1\na: 2\n",
    ] {
        assert_eq!(lines_agree_with_events(text), Ok(false), "{text:?}");
    }
}

#[test]
fn the_observed_texts_give_the_same_events() {
    for line in include_str!("../../fixtures/read.ndjson").lines() {
        let case: kube_json::Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        agrees(text).unwrap_or_else(|error| panic!("{error}"));
        lines_agree_with_events(text).unwrap_or_else(|error| panic!("{error}"));
    }
}
