//! Where keys and values stand.

use std::ops::Range;

use crate::{Limits, Positions, read_document_located, read_located, split, split_json};

/// The bytes of a key that exists.
fn key(positions: &Positions, pointer: &str) -> Option<Range<usize>> {
    let found = positions.nearest(pointer);
    found.key.filter(|_| found.pointer == pointer)
}

/// The bytes of a value that exists.
fn value(positions: &Positions, pointer: &str) -> Option<Range<usize>> {
    let found = positions.nearest(pointer);
    (found.pointer == pointer).then_some(found.value)
}

fn positions(text: &str) -> Positions {
    read_document_located(text, &Limits::default()).unwrap().1
}

#[test]
fn keys_and_values_have_their_exact_places() {
    let text = "# c\nspec:\n  \"a/b\": [x, 'y z']  # c\n  list:\n  - name: n\n    port: 80\n  - {q: {r: 1}}\n  e:\nlast: |\n  one\n  two\n";
    let positions = positions(text);
    let key = |pointer: &str| key(&positions, pointer).map(|range| &text[range]);
    let value = |pointer: &str| value(&positions, pointer).map(|range| &text[range]);
    assert_eq!(key("/spec"), Some("spec"));
    assert_eq!(key("/spec/a~1b"), Some("\"a/b\""));
    assert_eq!(value("/spec/a~1b"), Some("[x, 'y z']"));
    assert_eq!(value("/spec/a~1b/1"), Some("'y z'"));
    assert_eq!(key("/spec/a~1b/1"), None);
    assert_eq!(value("/spec/list/0"), Some("name: n\n    port: 80"));
    assert_eq!(value("/spec/list/0/port"), Some("80"));
    assert_eq!(value("/spec/list/1/q"), Some("{r: 1}"));
    assert_eq!(
        value("/spec/list"),
        Some("- name: n\n    port: 80\n  - {q: {r: 1}}")
    );
    assert_eq!(value("/spec/e"), Some(""));
    assert_eq!(
        positions.nearest("/spec/e").value.start,
        text.find("\n  e:").unwrap() + 5
    );
    assert_eq!(value("/last"), Some("|\n  one\n  two"));
    assert_eq!(
        (key(""), value("/nothing"), value("spec"), value("/spec/list/00")),
        (None, None, None, None)
    );
}

#[test]
fn the_nearest_existing_part_of_a_pointer_is_found() {
    let text = "spec:\n  list: [a]\n";
    let positions = positions(text);
    let nearest = positions.nearest("/spec/list/3/name");
    assert_eq!(
        (nearest.pointer, nearest.key, &text[nearest.value]),
        ("/spec/list", Some(8..12), "[a]")
    );
    assert_eq!(positions.nearest("/metadata/name").pointer, "");
    assert_eq!(positions.nearest("/spec").pointer, "/spec");
}

#[test]
fn aliases_and_merges_point_at_the_text_they_bring() {
    let text =
        "x: &x {p: {q: 1}}\nz:\n  <<: *x\n  r: 2\nw: *x\no: {<<: *x, p: 3}\nl: {<<: [{s: 1}, {t: 2}]}\n";
    let positions = positions(text);
    assert_eq!(key(&positions, "/z/p"), Some(7..8));
    assert_eq!(value(&positions, "/z/p/q"), Some(14..15));
    assert_eq!(value(&positions, "/w/p/q"), Some(14..15));
    assert_eq!(
        key(&positions, "/w"),
        Some(text.find("w:").unwrap()..text.find("w:").unwrap() + 1)
    );
    assert_eq!(&text[value(&positions, "/o/p").unwrap()], "3");
    assert_eq!(&text[value(&positions, "/l/t").unwrap()], "2");
}

#[test]
fn chunks_count_from_their_own_start_and_json_has_places_too() {
    let text = "a: 1\n---\nb: é\n";
    let chunk = split(text).unwrap()[1];
    let positions = read_located(&chunk, &Limits::default()).unwrap().1;
    assert_eq!(value(&positions, "/b"), Some(3..5));
    let text = " {\"a\": {\"b\": [true]}}";
    let chunk = split_json(text).unwrap()[0];
    let positions = read_located(&chunk, &Limits::default()).unwrap().1;
    assert_eq!(
        (chunk.offset, key(&positions, "/a/b"), value(&positions, "/a/b/0")),
        (1, Some(7..10), Some(13..17))
    );
}
