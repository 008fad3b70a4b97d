//! The order of findings in texts, and their positions.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::source_map::{DocumentRange, SourceFile, Sources};
use super::super::walk::Room;
use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, Inside, Locate as _, Part, Place, Severity, SourceId, Span,
    Suppressed, SuppressedBy, Warnings,
};

/// Documents whose fields are in another order than their names, with what begins and ends documents in unusual ways.
const DOCUMENTS: [&str; 6] = [
    "z: 1\na: {y: 2, b: 3}\n",
    "# a comment\nb:\n- z: 1\n  a: 2\n- 3\n",
    "",
    "{z: 1, a: 2}\n",
    "m: &m {z: 1}\na: *m\nt: |\n  z: 1\n  a: 2\n",
    "z: [\n",
];
const POINTERS: [&str; 9] = [
    "",
    "/z",
    "/a",
    "/a/b",
    "/a/y",
    "/b/0/a",
    "/b/1",
    "/m/z",
    "/no/where",
];

fn sources(files: &[Vec<usize>]) -> Sources {
    let mut sources = Sources::default();
    for (number, documents) in files.iter().enumerate() {
        let documents: Vec<&str> = documents.iter().map(|document| DOCUMENTS[*document]).collect();
        let text = documents.join("---\n");
        // Not in the order of their numbers.
        let path = format!("{}.yaml", 9 - number);
        let chunks = kube_yaml::split(&text).expect("a text");
        sources.push(SourceFile {
            room: Room::Hub,
            relative: path.clone(),
            shown: path,
            documents: chunks.iter().map(DocumentRange::from_chunk).collect(),
            text: Arc::new(text),
        });
    }
    sources
}

fn place() -> impl Strategy<Value = Place> {
    let document = || {
        (0..3_u32, 0..4_u32).prop_map(|(source, index)| DocumentId {
            source: SourceId(source),
            index,
        })
    };
    let part = || prop::sample::select(vec![Part::Key, Part::Value]);
    let pointer = || prop::sample::select(POINTERS.to_vec());
    let field = (document(), pointer(), part()).prop_map(|(document, pointer, part)| Place::Field {
        document,
        pointer: pointer.into(),
        part,
    });
    let embedded = (document(), pointer(), part()).prop_map(|(document, inner, part)| Place::Embedded {
        document,
        inside: Box::new(Inside {
            pointer: "/t".into(),
            inner: inner.into(),
        }),
        part,
    });
    let text = (0..3_u32, 0..60_usize).prop_map(|(source, start)| Place::Text {
        source: SourceId(source),
        start,
        end: start + 1,
    });
    let path = (0..3).prop_map(|number| Place::Path(format!("{}.yaml", 9 - number)));
    prop_oneof![12 => field, 1 => embedded, 1 => text, 1 => path, 1 => Just(Place::Run)]
}

fn findings() -> impl Strategy<Value = Vec<Finding>> {
    let finding = (place(), 0..3_u8, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
        |(place, message, is_error, is_suppressed)| {
            let finding = Finding::new(Code::POLICY_UNUSED, place, message.to_string());
            let severity = if is_error {
                Severity::Error
            } else {
                Severity::Warning
            };
            let mut findings = Findings::new();
            findings.push(finding.severity(severity));
            findings.suppress(|_| {
                is_suppressed.then(|| Suppressed {
                    by: SuppressedBy::Configuration,
                    reason: "known".to_owned(),
                })
            });
            findings.iter().next().expect("one").clone()
        },
    );
    prop::collection::vec(finding, 0..24)
}

proptest! {
    #[test]
    fn a_position_and_what_a_document_has_do_not_depend_on_how_a_text_is_kept(
        files in prop::collection::vec(prop::collection::vec(0..DOCUMENTS.len(), 1..4), 1..4),
        places in prop::collection::vec(place(), 0..24),
    ) {
        let looked_at = sources(&files);
        let expected: Vec<_> = places.iter().map(|place| looked_at.locate(place).map(Span::position)).collect();
        let in_passing = sources(&files);
        let positions: Vec<_> = places.iter().map(|place| in_passing.position(place)).collect();
        prop_assert_eq!(positions, expected);
        let has = |sources: &Sources| -> Vec<bool> {
            let documents = places.iter().filter_map(Place::document);
            documents.map(|document| sources.text_of(document).is_some_and(|text| text.contains("z: 1"))).collect()
        };
        prop_assert_eq!(has(&sources(&files)), has(&looked_at));
    }

    #[test]
    fn findings_are_in_the_order_of_their_positions(
        files in prop::collection::vec(prop::collection::vec(0..DOCUMENTS.len(), 1..4), 1..4),
        found in findings(),
    ) {
        let sources = sources(&files);
        let mut finished = Findings::new();
        finished.extend(found);
        finished.finish(&BTreeMap::new(), Warnings::Reported);

        let position = |finding: &Finding| match (sources.locate(&finding.place), &finding.place) {
            (Some(span), _) => (false, span.path.to_owned(), span.line, span.column),
            (None, Place::Path(path)) => (false, path.clone(), 0, 0),
            (None, _) => (true, String::new(), 0, 0),
        };
        let mut expected: Vec<Finding> = finished.iter().cloned().collect();
        expected.sort_by_key(position);

        // Nobody has looked at these.
        finished.order_by_position(&self::sources(&files));
        let ordered: Vec<Finding> = finished.iter().cloned().collect();
        prop_assert_eq!(ordered, expected);
    }
}
