//! The places of findings: each document is read again only once, and lines are counted only once.

use std::sync::Arc;

use super::super::source_map::{DocumentRange, Found, Lines, Lookups, MOST_BYTES, SourceFile, Sources};
use super::super::walk::Room;
use crate::diagnostic::{DocumentId, Inside, Locate as _, Part, Place, SourceId};

fn sources(text: &str) -> Sources {
    let mut sources = Sources::default();
    let chunks = kube_yaml::split(text).unwrap();
    sources.push(SourceFile {
        room: Room::Hub,
        relative: "a.yaml".to_owned(),
        shown: "a.yaml".to_owned(),
        text: Arc::new(text.to_owned()),
        documents: chunks.iter().map(DocumentRange::from_chunk).collect(),
    });
    sources
}

fn document(index: u32) -> DocumentId {
    let source = SourceId(0);
    DocumentId { source, index }
}

#[test]
fn a_document_is_read_again_once_however_many_findings_are_in_it() {
    let fields: String = (0..500).map(|n| format!("x{n}: {n}\n")).collect();
    let embedded: String = (0..500).map(|n| format!("  x{n}: {n}\n")).collect();
    let text = format!("{fields}---\n{fields}---\na: |\n{embedded}");
    let sources = sources(&text);
    assert_eq!(sources.lookups().made(), 0, "nobody asked yet");
    for index in 0..2 {
        for field in 0..500 {
            let span = sources.locate(&Place::value(document(index), format!("/x{field}")));
            let line = 1 + field + usize::try_from(index).unwrap() * 501;
            assert_eq!(span.map(|span| span.line), Some(line));
        }
    }
    assert_eq!(sources.lookups().made(), 2, "two documents");
    for field in 0..500 {
        let span = sources.locate(&Place::Embedded {
            document: document(2),
            inside: Box::new(Inside {
                pointer: "/a".into(),
                inner: format!("/x{field}").into(),
            }),
            part: Part::Value,
        });
        assert_eq!(span.map(|span| span.line), Some(1004 + field));
    }
    assert_eq!(sources.lookups().made(), 4, "a document, and the text in it");
}

#[test]
fn lines_are_counted_once_in_a_file_larger_than_the_documents_that_are_kept() {
    let one = format!("a: {}\n---\n", "x".repeat(MOST_BYTES / 4));
    let documents = 9_u32;
    let sources = sources(&one.repeat(documents as usize));
    for index in 0..documents {
        sources.locate(&Place::value(document(index), "/a"));
    }
    let text = &sources.files()[0].text;
    let lines = || sources.lookups().lines(SourceId(0), text);
    let first = lines();
    sources.locate(&Place::value(document(0), "/a"));
    assert!(Arc::ptr_eq(&first, &lines()));
}

#[test]
fn lines_and_columns_are_what_counting_says() {
    for text in [
        "",
        "\n",
        "a\n\nb",
        &"ä€\n".repeat(1000),
        &"x".repeat(5000),
        &"é🎉x\r\n".repeat(700),
        &format!("a\nb{}\nc", "é".repeat(2000)),
    ] {
        let lines = Lines::new(text);
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let before = &text[..at];
            let counted = lines.before(text, at);
            assert_eq!(counted.newlines, before.matches('\n').count(), "{at}");
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            assert_eq!(counted.characters, text[start..at].chars().count(), "{at}");
        }
    }
}

#[test]
fn what_is_kept_in_mind_has_a_limit() {
    let lookups = Lookups::default();
    let nothing = || Found {
        positions: None,
        embedded: Vec::new(),
    };
    let ask = |index: u32, bytes: usize| {
        let before = lookups.made();
        lookups.found(document(index), None, bytes, nothing);
        lookups.made() - before
    };
    for index in 0..4 {
        assert_eq!(ask(index, MOST_BYTES / 4), 1);
    }
    assert_eq!(ask(0, MOST_BYTES / 4), 0, "four fit");
    assert_eq!(ask(4, MOST_BYTES * 2), 1);
    assert_eq!(ask(4, MOST_BYTES * 2), 0, "a larger one by itself");
    assert_eq!(ask(0, MOST_BYTES / 4), 1, "what made room for it is found anew");
}
