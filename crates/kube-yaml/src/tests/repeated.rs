//! Members that occur again, in one document and in those after it: each means what it means by itself.

use kube_json::Value;
use proptest::prelude::*;

use crate::oracle::documents_agree_with_each_alone;
use crate::{ErrorKind, Limits, Shared, read_all, read_counting, read_located, split};

/// What may follow `key:` of a mapping at the first column, without the final line break.
const CONTENTS: &[&str] = &[
    " 1",
    " 1 # c",
    " 1\n",
    " 1\n# c",
    " 1\n  # c\n\n",
    " 12",
    " 1\r",
    "\t1",
    " 1\t",
    " 1\n  continued",
    " 1\n\n  continued",
    " 1\n\tcontinued",
    " 1\u{85}",
    " 1\u{85}  continued",
    " 1\u{2028}",
    " \"1\"",
    " \"1\" # c",
    " \"1\"# c",
    " \"1",
    " \"1\n2\"",
    " '1'",
    " '1\n\n  2'",
    " |",
    " |\n  text",
    " |\n  text\n   more",
    " |\n  text\n\n",
    " |+\n  text\n\n",
    " |+\n  text",
    " |1\n  text",
    " |\n\n   text\n\n  # text",
    " >-\n  a\n  b\n# c",
    " [a, b]",
    " [a,\n  b]",
    " {a: b, c: d}",
    " []",
    "",
    " # c",
    "\n# c",
    "\n",
    "\n- a",
    "\n- a\n- b",
    "\n-",
    "\n- a: b\n  c: d",
    "\n  - a",
    "\n  - a: b\n    c: d",
    "\n  a: b",
    "\n  a: b\n  c: d",
    "\n  a:\n    b: c",
    "\n    a: b",
    "\n a: b",
    "\n  a: b\n a: b",
    "\n  a",
    " a: b",
    " - a",
    " &x 1",
    " *x",
    " !!str 1",
    " \u{e9}",
];

/// What may stand behind a mapping at the first column.
const ENDS: &[&str] = &[
    "",
    "",
    "",
    "\n",
    "# c\n",
    " \n",
    "  ",
    "- a\n",
    "-\n",
    "  - a\n",
    "  a\n",
    "  a: b\n",
    " a\n",
    "\ta\n",
    "\r\n",
    "\u{85}",
    "\u{85}a\n",
    "\u{2028}\n",
    "...\n",
    "...",
    "? a\n",
    ": a\n",
    "\"key\": a\n",
    "zzz: a\n",
    "\u{feff}\n",
];

const NAMES: &[&str] = &["kind", "name", "\"name\"", "port.number", "selectors"];

/// What may stand between a content and the line break behind it, or stand there in addition.
const MORE: &[&str] = &[
    " # c",
    "#c",
    "\n",
    "\n\n",
    "\n# c",
    "\n  # c",
    "\n- b",
    "\n- b\n- c",
    "\n  - b",
    "\n  b",
    "\n  z: y",
    "\n    z: y",
    "\n b",
    "\ny\"",
    "\"",
    "'",
    "\r",
    "\n\r",
    "\t",
    "\u{85}",
    "\u{2028}",
    ":",
    " z",
    "0",
];

/// Mappings of a few members, each of which is likely to occur again, in places of different depth and column.
fn documents() -> impl Strategy<Value = Vec<String>> {
    let more = prop::collection::vec(prop::sample::select(MORE), 0..3);
    (
        prop::sample::select(CONTENTS),
        prop::sample::select(CONTENTS),
        more,
    )
        .prop_flat_map(|(one, other, more)| {
            let with = more.iter().map(|more| format!("{one}{more}"));
            let contents: Vec<String> = [one, one, other]
                .map(str::to_owned)
                .into_iter()
                .chain(with)
                .collect();
            let content = prop::sample::select(contents);
            let members = prop::collection::vec((0..NAMES.len(), content), 1..4);
            let break_at_end = prop::sample::select(&["\n", "\n", "\n", "\r\n", ""][..]);
            let document = (0usize..7, members, prop::sample::select(ENDS), break_at_end);
            let document = document.prop_map(|(place, members, end, break_at_end)| {
                let mut lines = String::new();
                for (name, content) in members {
                    let name = NAMES.get(name).copied().unwrap_or_default();
                    lines.push_str(&format!("{name}:{content}{break_at_end}"));
                }
                lines.push_str(end);
                placed(place, &lines)
            });
            prop::collection::vec(document, 2..8)
        })
}

/// A mapping at one of several places of a document.
fn placed(place: usize, lines: &str) -> String {
    let indented = |by: &str| lines.replace('\n', &format!("\n{by}"));
    let outdented = |text: String| text.trim_end_matches(' ').to_owned();
    match place {
        0 | 1 => lines.to_owned(),
        2 => outdented(format!("a:\n  {}", indented("  "))),
        3 => outdented(format!("- {}", indented("  "))) + "- b\n",
        4 => outdented(format!("a:\n- {}", indented("  "))) + "b: c\n",
        5 => outdented(format!("a:\n  b:\n    {}", indented("    "))) + "  c: d\n",
        _ => outdented(format!("- - {}", indented("    "))) + "  - b\n",
    }
}

/// 5,000 cases, or as many as PROPTEST_CASES says if that is more.
fn many() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig {
        cases: config.cases.max(5000),
        failure_persistence: None,
        ..config
    }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn a_document_with_members_that_were_read_before_gives_what_it_gives_alone(texts in documents()) {
        documents_agree_with_each_alone(&texts).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn random_documents_give_what_each_gives_alone(
        texts in prop::collection::vec(super::oracle::documents(), 2..5)
    ) {
        let twice = [texts.as_slice(), texts.as_slice()].concat();
        documents_agree_with_each_alone(&twice).map_err(TestCaseError::fail)?;
    }
}

/// The values of the documents of a file, with one memory.
fn values(text: &str, limits: &Limits) -> Vec<Result<Value, ErrorKind>> {
    let mut shared = Shared::default();
    let chunks = split(text).unwrap().into_iter();
    chunks
        .map(|chunk| read_counting(&chunk, limits, &mut shared).0)
        .map(|value| value.map_err(|error| error.kind))
        .collect()
}

/// Whether two documents have the same text in memory at a pointer.
fn share(values: &[Result<Value, ErrorKind>], pointer: &str) -> bool {
    let texts: Vec<&str> = values
        .iter()
        .map(|value| {
            value
                .as_ref()
                .unwrap()
                .pointer(pointer)
                .unwrap()
                .as_str()
                .unwrap()
        })
        .collect();
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
    texts.windows(2).all(|pair| pair[0].as_ptr() == pair[1].as_ptr())
}

#[test]
fn a_member_with_the_same_text_shares_its_value() {
    let limits = Limits::default();
    let text = "kind: a\nspec:\n  items:\n  - a text of more than 15 bytes\n";
    let twice = values(&format!("{text}---\n{text}"), &limits);
    assert!(share(&twice, "/spec/items/0"));
    // What follows is not part of it.
    let other = text.replace("kind: a", "kind: b") + "status: {}\n";
    assert!(share(
        &values(&format!("{text}---\n{other}"), &limits),
        "/spec/items/0"
    ));
}

#[test]
fn a_member_that_is_not_the_same_everywhere_is_read_anew() {
    let limits = Limits::default();
    let long = "a text of more than 15 bytes";
    for text in [
        // At another column.
        format!("a:\n  name: {long}\n  of: b\n---\na:\n    name: {long}\n    of: c\n"),
        // Behind other names.
        format!("a:\n  b: c\n  name: {long}\n---\na:\n  name: {long}\n"),
        // Too long to be kept.
        format!(
            "a:\n  name: {long}{0}\n  of: b\n---\na:\n  name: {long}{0}\n  of: c\n",
            "x".repeat(600)
        ),
    ] {
        assert!(!share(&values(&text, &limits), "/a/name"), "{text}");
    }
    let unshared = Limits {
        shares: false,
        ..limits
    };
    let text = format!("name: {long}\nof: b\n---\nname: {long}\nof: c\n");
    assert!(!share(&values(&text, &unshared), "/name"));
}

#[test]
fn members_that_occur_again_have_their_own_places() {
    let text = "- name: value\n  of: a\n- name: value\n  of: b\n";
    let chunk = split(text).unwrap().remove(0);
    let (_, positions) = read_located(&chunk, &Limits::default()).unwrap();
    for (pointer, start) in [("/0/name", 8), ("/1/name", 30)] {
        assert_eq!(positions.value(pointer), Some(start..start + 5), "{pointer}");
    }
}

#[test]
fn a_text_in_quotes_that_ends_at_the_end_of_the_document_is_no_other_one() {
    let texts = ["name: \"a\nkind\"", "name: \"a\nkind: b\""].map(str::to_owned);
    assert_eq!(documents_agree_with_each_alone(&texts), Ok(2));
}

#[test]
fn a_member_that_was_read_before_may_not_be_deeper_than_allowed() {
    let limits = Limits {
        depth: 3,
        ..Limits::default()
    };
    let text = "a:\n    name:\n    - b\n---\n- - name:\n    - b\n---\na:\n    name:\n    - b\n";
    let read = values(text, &limits);
    assert_eq!(
        read.iter().map(|value| value.as_ref().err()).collect::<Vec<_>>(),
        [None, Some(&ErrorKind::Limit), None]
    );
}

#[test]
fn a_name_that_comes_twice_is_found_where_its_member_was_read_before() {
    let text = "name: first\nkind: other\n---\nname: first\nname: first\n";
    let read = values(text, &Limits::default());
    assert_eq!(read[1], Err(ErrorKind::DuplicateKey));
}

#[test]
fn members_mean_the_same_behind_as_many_names_as_there_are_and_more_shapes_than_are_kept() {
    let many: String = (0..200).map(|number| format!("name{number}: value\n")).collect();
    let shapes: String = (0..5_000)
        .map(|number| format!("- name{number}: value\n  kind: other\n"))
        .collect();
    let text = [many.as_str(), &many, &shapes, &many, &shapes, &shapes].join("---\n");
    let read = values(&text, &Limits::default());
    let alone = read_all(&text, &Limits::default()).unwrap();
    assert_eq!(read.into_iter().map(Result::unwrap).collect::<Vec<_>>(), alone);
}
