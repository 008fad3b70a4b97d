//! A file that is cut gives the same objects, and the same places, as one that is read as a whole.

use std::io::{Read, repeat};

use kube_json::{Value, json};
use proptest::prelude::*;

use super::{MOST_KEPT, Reading};
use crate::diagnostic::{Code, DocumentId, Findings, Locate as _, Place, SourceId};
use crate::source::documents::MOST_BYTES_OF_AN_OBJECT;
use crate::source::walk::Discovered;
use crate::source::{Document, Room, Sources};

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

/// Files, of which those of more than `most` bytes are cut, and what they list.
struct Export {
    most: usize,
    kept: usize,
    values: Vec<Value>,
    sources: Sources,
    findings: Findings,
}

impl Export {
    fn new(most: usize) -> Self {
        Self {
            most,
            kept: 0,
            values: Vec::new(),
            sources: Sources::default(),
            findings: Findings::new(),
        }
    }

    /// Reads a file. Somebody may ask for the values that have a field `asks`.
    fn and(mut self, name: &str, mut text: impl Read) -> Self {
        let make = |document: Document| {
            let asks = document.value.to_string().contains("asks");
            (listed(document.value), asks)
        };
        let file = Discovered {
            room: Room::Hub,
            relative: name.to_owned(),
            path: name.into(),
            at: name.into(),
        };
        let mut reading = Reading {
            is_list,
            make: &make,
            sources: &mut self.sources,
            findings: &mut self.findings,
            made: Vec::new(),
            small: Vec::new(),
            bytes: 0,
            kept: self.kept,
            most: self.most,
        };
        reading.file(&file, &mut text);
        reading.read_small();
        self.kept = reading.kept;
        self.values.extend(reading.made.into_iter().flatten());
        self
    }

    fn codes(&self) -> Vec<Code> {
        self.findings.iter().map(|finding| finding.code).collect()
    }

    /// Nothing if something is wrong.
    fn values(self) -> Option<Vec<Value>> {
        self.findings.is_empty().then_some(self.values)
    }

    /// The text, line, and column of a place.
    fn span(&self, source: u32, index: u32, pointer: &str) -> (String, usize, usize) {
        let source = SourceId(source);
        let place = Place::value(DocumentId { source, index }, pointer);
        let span = self.sources.locate(&place).expect("a span");
        let text = span.text.get(span.start..span.end).expect("a part");
        (text.to_owned(), span.line, span.column)
    }
}

fn whole(name: &str, text: &str) -> Export {
    Export::new(usize::MAX >> 1).and(name, text.as_bytes())
}

fn cut(name: &str, text: &str) -> Export {
    Export::new(0).and(name, text.as_bytes())
}

/// Lines that together may be anything: documents, or what only looks like some.
const LINES: [&str; 30] = [
    "items:\n",
    "- a: 1\n",
    "  b: 2\r\n",
    "- a: |\n",
    "    text\n",
    "- \"q\n",
    "x\"\n",
    "- [1,\n",
    "  2]\n",
    "c: d\n",
    "c: &a 1\n",
    "d: *a\n",
    "...\n",
    "\n",
    "# c\n",
    "---\n",
    "---\n",
    "---\r\n",
    "--- # c\n",
    "--- d\n",
    "--- # c\u{85}e: f\n",
    "---",
    "--",
    "kind: List\n",
    "apiVersion: v1\n",
    "foo: |\n",
    "\u{feff}",
    "%TAG ! tag:yaml.org,2002:\n",
    "{\"a\": 1}\n",
    "{\"a\": 1} {\"a\": 2}\n",
];

/// The same of JSON.
const TOKENS: [&str; 30] = [
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
    "{\"b\": 1, \"b\": 2}",
    "\"]\"",
    "\"\\\"\"",
    "\"it\\u0065ms\": [",
    "1",
    "-",
    "1e999",
    "null",
    "tru",
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

proptest! {
    #[test]
    fn yaml_that_is_cut_says_what_the_whole_says(lines in prop::collection::vec(prop::sample::select(&LINES[..]), 1..16)) {
        let mut text = lines.concat();
        if text.trim_start().starts_with('{') {
            // A stream of JSON that goes on as YAML is read only as a whole.
            text.insert(0, '#');
        }
        prop_assert_eq!(cut("a.yaml", &text).values(), whole("a.yaml", &text).values(), "{:?}", text);
    }

    #[test]
    fn json_that_is_cut_says_what_the_whole_says(tokens in prop::collection::vec(prop::sample::select(&TOKENS[..]), 1..16)) {
        // An array is a value, and no object.
        let text = tokens.concat().trim_start_matches(['[', ' ', '\n']).to_owned();
        prop_assert_eq!(cut("a.json", &text).values(), whole("a.json", &text).values(), "{:?}", text);
        let stream = cut("a.yaml", &text);
        if text.trim_start().starts_with('{') && stream.findings.is_empty() {
            prop_assert_eq!(stream.values(), whole("a.yaml", &text).values(), "{:?}", text);
        }
    }

    #[test]
    fn a_list_as_kubectl_writes_it_is_read_item_by_item(items in prop::collection::vec(value(), 0..5)) {
        let list = json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
        let items: Vec<Value> = items.into_iter().flat_map(listed).collect();
        for text in [list.to_string(), format!("{:#}\n", serde_json::Value::from(&list))] {
            let two = format!("{text}\n{text}");
            prop_assert_eq!(cut("-", &two).values(), Some([items.clone(), items.clone()].concat()), "{}", text);
        }
        let text = format!("# c\n{}", kube_yaml::write_document(&list));
        prop_assert_eq!(cut("-", &text).values(), whole("-", &text).values(), "{}", text);
    }
}

#[test]
fn what_only_looks_like_a_list_is_one_document() {
    let list = "{\"kind\": \"List\", \"items\": [{\"a\": 1}]}";
    let other = "{\"kind\": \"Other\", \"items\": [{\"b\": 2}, {}]}";
    let none = "{\"kind\": \"Other\", \"items\": []}";
    let text = [list, other, none].concat();
    let expected = json!({"kind": "Other", "items": []});
    assert_eq!(
        cut("a.json", &text).values(),
        Some(vec![json!({"a": 1}), expected.clone(), expected])
    );
}

#[test]
fn an_item_may_be_nested_as_deep_as_in_its_list() {
    for depth in [124, 125, 126, 127, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!("{{\"items\": [{deep}], \"kind\": \"List\"}}");
        let values = cut("a.json", &text).values();
        assert_eq!(values.is_some(), depth <= 125, "{depth}");
        assert_eq!(values, whole("a.json", &text).values(), "{depth}");
    }
}

const LIST: &str = "{\n  \"items\": [\n    {\"asks\": 0},\n    {\"b\": 0},\n    {\n      \"of\": \"é\", \"asks\": 1\n    }\n  ],\n  \"kind\": \"List\"\n}\n{\"asks\": 2}\n";

#[test]
fn a_place_in_a_file_that_is_cut_is_the_same() {
    for text in [LIST.to_owned(), LIST.replace('\n', "\r\n")] {
        let (cut, whole) = (cut("a.json", &text), whole("a.json", &text));
        assert_eq!(cut.values.len(), 4);
        // The pieces are the items, the list without them, and the other document.
        for (piece, inside, document, pointer) in [
            (0, "/asks", 0, "/items/0/asks"),
            (2, "/of", 0, "/items/2/of"),
            (4, "/asks", 1, "/asks"),
        ] {
            assert_eq!(
                cut.span(0, piece, inside),
                whole.span(0, document, pointer),
                "{pointer}"
            );
        }
        assert_eq!(cut.span(0, 0, "/missing").1, 3);
        assert_eq!(cut.span(0, 1, "/b"), (String::new(), 4, 1));
    }
}

#[test]
fn a_text_that_is_not_kept_still_has_lines() {
    let text = "a: 1\n---\nb:\n  asks: 2\n";
    let without = "a: 1\n---\nb:\n  c: 2\n";
    for (kept, text, place) in [
        (0, without, ("2", 4, 6)),
        (MOST_KEPT, without, ("", 3, 1)),
        (MOST_KEPT, text, ("2", 4, 9)),
        (2 * MOST_KEPT, text, ("", 3, 1)),
    ] {
        let mut export = Export::new(usize::MAX >> 1);
        export.kept = kept;
        let pointer = if text == without { "/b/c" } else { "/b/asks" };
        let found = export.and("a.yaml", text.as_bytes()).span(0, 1, pointer);
        assert_eq!((found.0.as_str(), found.1, found.2), place, "{kept} {text}");
    }
}

#[test]
fn what_is_wrong_has_its_line_and_what_the_whole_says_of_it() {
    for (name, text, line) in [
        ("a.json", "{\"items\": [\n{\"a\": 1, \"a\": 2},\n{}]}", 2),
        ("a.json", "{\"items\": [\n{},\n{\"a\": tru}]}", 3),
        ("a.json", "{\"items\": [\n{},\n{\"a\": 1", 3),
        ("a.json", "{}\n{\"a\" 1}", 2),
        ("a.yaml", "a: 1\n---\nb: [\n", 3),
        ("a.yaml", "a: 1\n--- b\nc: d\n", 2),
    ] {
        let (cut, whole) = (cut(name, text), whole(name, text));
        let first = |export: &Export| {
            let finding = export.findings.iter().next().expect("a finding");
            let line = export.sources.locate(&finding.place).map(|span| span.line);
            (finding.code, finding.message.to_string(), line)
        };
        let (code, message, _) = first(&whole);
        assert_eq!(first(&cut), (code, message, Some(line)), "{text}");
    }
}

#[test]
fn an_object_or_a_document_that_is_too_large_is_refused() {
    let large = "x".repeat(MOST_BYTES_OF_AN_OBJECT);
    for (name, text) in [
        (
            "a.json",
            format!("{{\"items\": [\n{{}},\n{{\"a\": \"{large}\"}}]}}"),
        ),
        ("a.json", format!("{{}}\n\n{{\"a\": [\"{large}\"]}}")),
        ("a.yaml", format!("a: 1\n---\nb: {large}\n")),
    ] {
        let export = cut(name, &text);
        let finding = export.findings.iter().next().expect("a finding");
        assert_eq!(finding.code, Code::YAML_LIMIT);
        assert_eq!(
            export.sources.locate(&finding.place).map(|span| span.line),
            Some(3)
        );
    }
}

#[test]
fn an_input_without_end_is_refused() {
    for (name, byte) in [
        ("a.yaml", b'a'),
        ("a.yaml", b'\n'),
        ("a.json", b' '),
        ("a.json", b'['),
        ("a.json", b'\0'),
    ] {
        let export = Export::new(10).and(name, repeat(byte));
        assert_eq!(export.values, Vec::<Value>::new());
        assert_eq!(export.codes().len(), 1, "{name} {byte}");
    }
}
