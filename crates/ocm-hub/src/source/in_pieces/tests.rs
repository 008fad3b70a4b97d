//! A text that is read in pieces gives the same objects as the whole text.

use std::io::{Cursor, Read, repeat};

use kube_json::{Value, json};
use proptest::prelude::*;

use super::{Batch, Make, Part, Reading};
use crate::diagnostic::{Code, DocumentId, Findings, Locate as _, Place, SourceId};
use crate::source::pieces::cut;
use crate::source::walk::Discovered;
use crate::source::{Room, Sources};

fn is_list(value: &Value) -> bool {
    value["kind"] == "List" && value["items"].is_array()
}

/// What a value lists, as `hub` takes it apart. What an object that is no list says is compared without `items`, which may
/// be left out.
fn listed(mut value: Value) -> Vec<Value> {
    let is_list = is_list(&value);
    match value.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if is_list => items.into_iter().flat_map(listed).collect(),
        Some(items) => {
            value["items"] = if items.is_array() { json!([]) } else { items };
            vec![value]
        }
        None => vec![value],
    }
}

fn as_a_whole(text: &str, is_json: bool) -> Option<Vec<Value>> {
    let limits = kube_yaml::Limits::default();
    let split = if is_json {
        kube_yaml::split_json
    } else {
        kube_yaml::split
    };
    let mut values = Vec::new();
    for chunk in split(text).ok()? {
        let value = kube_yaml::read(&chunk, &limits).ok()?;
        if !value.is_null() {
            values.extend(listed(value));
        }
    }
    Some(values)
}

/// `None` where it cannot be read in pieces; then it is read as a whole.
fn in_pieces(text: &str, is_json: bool) -> Option<Vec<Value>> {
    let make = |part: Part| (listed(part.value), false);
    let make = Make { is_list, make: &make };
    let mut batch = Batch::new(&make, SourceId(0), true, 0);
    let reader = OneByOne(Cursor::new(text.as_bytes()));
    cut(reader, is_json, &mut |piece| batch.take(piece)).ok()?;
    batch.read().ok()?;
    assert!(batch.findings.is_empty());
    Some(batch.made.concat())
}

/// A reader may give as little as it likes.
struct OneByOne<R>(R);

impl<R: Read> Read for OneByOne<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let one = buffer.len().min(7);
        self.0.read(&mut buffer[..one])
    }
}

/// Lines that together may be anything: a list, or what only looks like one.
const LINES: [&str; 62] = [
    "items:\n",
    "items: # c\n",
    "items: []\n",
    "items:\r\n",
    " items:\n",
    "items:",
    "- a: 1\n",
    "- a: 1\r\n",
    "  b: 2\n",
    "- a: |\n",
    "- |\n",
    "- >-\n",
    "    text\n",
    "  - in\n",
    "   - odd\n",
    "- \"q\n",
    "  - in\"\n",
    "- x\"\n",
    "\"\n",
    "- 'it\n",
    "- b'\n",
    "- [1,\n",
    "  2]\n",
    "- 2]\n",
    "- {a: b,\n",
    "c: d}\n",
    "}\n",
    "- &a x\n",
    "- *a\n",
    "- b: *a\n",
    "- &a b: 1\n",
    "c: &a 1\n",
    "d: *a\n",
    "- !!str 1\n",
    "  items:\n",
    "  - y\n",
    "...\n",
    "- - z\n",
    "-\n",
    "\t- t\n",
    "\n",
    " \n",
    "# c\n",
    "- # c\n",
    "---\n",
    "--- # c\n",
    "kind: List\n",
    "kind: Other\n",
    "apiVersion: v1\n",
    "metadata: {}\n",
    "foo: \"bar\n",
    "kind: List\"\n",
    "foo: |\n",
    "foo: [\n",
    "? a\n",
    ": b\n",
    "\u{feff}",
    "- \u{85}- n\n",
    "- a\r- b\n",
    "%TAG ! tag:yaml.org,2002:\n",
    "  <<: {a: 1}\n",
    "{\"a\": 1}\n",
];

/// The same of JSON.
const TOKENS: [&str; 26] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"items\"",
    "\"items\": [",
    "\"kind\": \"List\"",
    "{\"a\": 1}",
    "{\"a\": [1, \"]\"]}",
    "\"]\"",
    "\"\\\"\"",
    "\"it\\u0065ms\"",
    "1",
    "null",
    " ",
    "\n",
    "\"items",
    "{\"items\": [{\"b\": \"}\"}, {}]",
    "\"kind\": \"Other\"",
    "\\",
    "\"x\": {\"items\": [1]}",
    "{\"kind\": \"List\", \"items\": [",
    "]}",
    "// c\n",
];

fn text() -> impl Strategy<Value = Value> {
    let words = "(- |: |# |items:|---|\n|\"|'|\\||a|é| |kind: List|\t){0,8}";
    words.prop_map(Value::from)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![text(), any::<i32>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("(a|b|items|kind|- x)", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn list() -> impl Strategy<Value = (Vec<Value>, Value)> {
    prop::collection::vec(value(), 1..5).prop_map(|items| {
        let list =
            json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
        (items, list)
    })
}

proptest! {
    #[test]
    fn whatever_is_read_in_pieces_is_what_the_whole_says(
        is_headed in any::<bool>(),
        lines in prop::collection::vec(prop::sample::select(&LINES[..]), 1..12),
        is_tailed in any::<bool>(),
    ) {
        let head = if is_headed { "apiVersion: v1\nitems:\n" } else { "" };
        let tail = if is_tailed { "kind: List\n" } else { "" };
        let text = format!("{head}{}{tail}", lines.concat());
        if let Some(values) = in_pieces(&text, false) {
            prop_assert_eq!(Some(values), as_a_whole(&text, false), "{:?}", text);
        }
    }

    #[test]
    fn the_same_holds_for_json(
        tokens in prop::collection::vec(prop::sample::select(&TOKENS[..]), 1..12),
        is_json in any::<bool>(),
    ) {
        let text = tokens.concat();
        if let Some(values) = in_pieces(&text, is_json) {
            prop_assert_eq!(Some(values), as_a_whole(&text, is_json), "{:?}", text);
        }
    }

    #[test]
    fn a_list_as_kubectl_writes_it_is_read_in_pieces(
        (items, list) in list(),
        is_indented in any::<bool>(),
        is_crlf in any::<bool>(),
    ) {
        let items: Vec<Value> = items.into_iter().flat_map(listed).collect();
        let mut text = kube_yaml::write_document(&list);
        if is_indented {
            let lines = text.lines().map(|line| {
                let is_of_list = line.starts_with(['-', ' ']);
                format!("{}{line}\n", if is_of_list { "    " } else { "" })
            });
            text = lines.collect();
        }
        let ours = if is_crlf { text.replace('\n', "\r\n") } else { text };
        let two = format!("{ours}---\n{ours}");
        if as_a_whole(&ours, false).as_ref() == Some(&items) {
            prop_assert_eq!(in_pieces(&ours, false), Some(items.clone()), "{}", ours);
            prop_assert_eq!(in_pieces(&two, false), Some([items.clone(), items.clone()].concat()), "{}", ours);
        }
        for text in [list.to_string(), format!("{:#}\n", serde_json::Value::from(&list))] {
            prop_assert_eq!(in_pieces(&text, true), Some(items.clone()), "{}", text);
            prop_assert_eq!(in_pieces(&text, false), Some(items.clone()), "{}", text);
        }
    }
}

#[test]
fn a_list_that_cannot_be_cut_is_not_read_in_pieces() {
    for text in [
        "items:\n- &a x\n- *a\nkind: List\napiVersion: v1\n",
        "items:\n- \"q\n- x\"\nkind: List\n",
        "foo: \"bar\nitems:\n- x\nkind: y\"\n",
        "foo: \"\nitems:\n- x\nb: \"\nitems:\n",
        "c: &a 1\nitems:\n- &a 2\nd: *a\nkind: List\n",
        "items:\n- [1,\n- 2]\n",
        "%TAG ! tag:yaml.org,2002:\n---\nitems:\n- !int 1\n",
    ] {
        assert_eq!(in_pieces(text, false), None, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_list_is_one_document() {
    let text = "apiVersion: v1\nitems:\n- a: 1\n- b: 2\nkind: Other\n";
    let other = json!({"apiVersion": "v1", "items": [], "kind": "Other"});
    assert_eq!(in_pieces(text, false), Some(vec![other]));
}

#[test]
fn an_item_may_be_nested_as_deep_as_in_its_list() {
    for depth in [253, 254, 255, 256] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (text, is_json) in [
            (format!("{{\"items\": [{deep}], \"kind\": \"List\"}}"), true),
            (format!("items:\n- {deep}\nkind: List\n"), false),
        ] {
            assert_eq!(
                in_pieces(&text, is_json),
                as_a_whole(&text, is_json),
                "{depth} {is_json}"
            );
        }
    }
}

/// Reads a text of which only so many bytes may be read as a whole. Every value may be asked for.
fn read(text: impl Read, most: usize) -> (Vec<Value>, Sources, Findings) {
    let make = |part: Part| (part.value, true);
    let make = Make { is_list, make: &make };
    let (mut sources, mut findings) = (Sources::default(), Findings::new());
    let mut reading = Reading {
        make: &make,
        sources: &mut sources,
        findings: &mut findings,
        made: Vec::new(),
        kept: 0,
        most,
    };
    let file = Discovered {
        room: Room::Hub,
        relative: "works.yaml".to_owned(),
        path: "works.yaml".into(),
    };
    reading.file(&file, &mut { text });
    let made = reading.made;
    (made, sources, findings)
}

const WORKS: &str = "apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: é\n    of: b\nkind: List\n---\nkind: Other\n";

#[test]
fn a_place_in_a_file_that_is_not_kept_is_the_same() {
    for text in [WORKS.to_owned(), WORKS.replace('\n', "\r\n")] {
        let (whole, all, _) = read(text.as_bytes(), usize::MAX >> 1);
        let (made, sources, findings) = read(text.as_bytes(), 10);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(made, whole);
        assert_eq!(made.len(), 3);
        assert_eq!(sources.file(SourceId(0)).map(|file| file.text.len()), Some(0));
        for (index, pointer) in [
            (0, "/items/1/metadata/of"),
            (0, "/items/1/metadata/name"),
            (0, "/items/1/metadata/missing"),
            (0, "/items/0"),
            (1, "/kind"),
        ] {
            let source = SourceId(0);
            let place = Place::value(DocumentId { source, index }, pointer);
            let span = |sources: &Sources| {
                let span = sources.locate(&place).expect("a span");
                let text = span.text.get(span.start..span.end).map(str::to_owned);
                (span.path.to_owned(), text, span.line, span.column)
            };
            assert_eq!(span(&sources), span(&all), "{pointer}");
        }
    }
}

#[test]
fn what_is_wrong_in_a_large_file_has_its_line_and_reading_goes_on() {
    let text = WORKS.replace("name: a", "name: \"a");
    let text = text.replace("- metadata:\n    name: é", "- metadata:\n    name: é\n- x");
    let broken = "apiVersion: v1\nitems:\n- a: 1\n- b: [1\n- c: 3\nkind: List\n";
    let (made, sources, findings) = read(broken.as_bytes(), 10);
    assert_eq!(made, [json!({"a": 1}), json!({"c": 3})]);
    let finding = findings.iter().next().expect("a finding");
    assert_eq!(finding.code, Code::YAML_SYNTAX);
    assert_eq!(sources.locate(&finding.place).map(|span| span.line), Some(4));
    // A line at the indentation of the items that is neither an item nor a key of the document.
    let (_, sources, findings) = read(text.replace("- x", "...").as_bytes(), 10);
    let finding = findings.iter().next().expect("a finding");
    assert_eq!(finding.code, Code::YAML_LIMIT);
    assert!(sources.locate(&finding.place).is_some());
}

#[test]
fn an_object_that_is_too_large_is_a_finding_and_reading_goes_on() {
    let large = "x".repeat(super::MOST_BYTES_OF_AN_OBJECT);
    let text = format!("apiVersion: v1\nitems:\n- a: {large}\n- b: 1\nkind: List\n");
    for most in [10, usize::MAX >> 1] {
        let (made, sources, findings) = read(text.as_bytes(), most);
        assert_eq!(made, [json!({"b": 1})]);
        let finding = findings.iter().next().expect("a finding");
        assert_eq!(finding.code, Code::YAML_LIMIT);
        assert_eq!(sources.locate(&finding.place).map(|span| span.line), Some(3));
    }
}

#[test]
fn an_input_without_end_is_refused() {
    for byte in [0, b'a'] {
        let (made, _, findings) = read(repeat(byte), 10);
        assert_eq!(made, Vec::<Value>::new());
        let codes: Vec<Code> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Code::YAML_LIMIT], "{byte}");
    }
}
