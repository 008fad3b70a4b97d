//! Our parser against libyaml-safer's, event by event, over random texts.
//!
//! Where both accept a text, the events are the same. One may accept what the other refuses only in the known
//! classes of docs/systems/kubernetes.md#libyaml-safer, where libyaml-safer is not Kubernetes' parser:
//!
//! 1. a colon in front of a flow indicator (`[a:, b]`, `[-:]`, `{k: on:}`): a plain text to Kubernetes, refused
//!    by libyaml-safer;
//! 2. tags in flow context take `,` and brackets to Kubernetes (`[!x, b]` is `["b"]`); libyaml-safer ends them
//!    there, or panics;
//! 3. `?` ends a plain text in flow context; not so in libyaml-safer;
//! 4. the escapes `\/` (libyaml-safer only) and `\'` (Kubernetes only), and `%YAML 1.2` (libyaml-safer only);
//! 5. text behind the root node, which Kubernetes drops: we refuse it, and libyaml-safer may find it well formed
//!    or not;
//! 6. a byte order mark at the start of a later line: libyaml-safer skips it, Kubernetes makes it part of a key or a
//!    value, we refuse it.

use std::panic::catch_unwind;

use proptest::prelude::*;

use crate::error::ErrorKind;
use crate::event::{Event, Events as _, Properties};
use crate::parser::Parser;
use crate::scanner::Scanner;

/// The events of one document, and how it ended.
#[derive(Debug, PartialEq)]
struct Run {
    events: Vec<String>,
    end: End,
}

#[derive(Debug, PartialEq)]
enum End {
    Accepted,
    /// The document is complete, and more text follows.
    MoreFollows,
    Refused(String),
}

fn ours(text: &str) -> Run {
    let mut events = Vec::new();
    let scanner = match Scanner::new(text, false) {
        Ok(scanner) => scanner,
        Err(error) => {
            return Run {
                events,
                end: End::Refused(error.to_string()),
            };
        }
    };
    let mut parser = Parser::new(scanner);
    let show = |properties: &Option<Box<Properties<'_>>>| {
        let properties = properties.as_deref().cloned().unwrap_or_default();
        format!(
            "&{} !{}",
            properties.anchor.unwrap_or(""),
            properties.tag.unwrap_or_default()
        )
    };
    loop {
        let event = match parser.next() {
            Ok(Event::DocumentEnd) => {
                return Run {
                    events,
                    end: End::Accepted,
                };
            }
            Ok(event) => event,
            Err(error) if error.kind == ErrorKind::Dropped => {
                return Run {
                    events,
                    end: End::MoreFollows,
                };
            }
            Err(error) => {
                return Run {
                    events,
                    end: End::Refused(format!("{:?} {error}", error.range)),
                };
            }
        };
        events.push(match event {
            Event::Scalar {
                text,
                plain,
                properties,
                ..
            } => {
                format!("{} plain={plain} {text:?}", show(&properties))
            }
            Event::Alias { name, .. } => format!("*{name}"),
            Event::SequenceStart { properties, .. } => format!("[ {}", show(&properties)),
            Event::MappingStart { properties, .. } => format!("{{ {}", show(&properties)),
            Event::End { .. } => "end".to_owned(),
            Event::Literal { .. } | Event::DocumentEnd => unreachable!("not in YAML"),
        });
    }
}

fn theirs(text: &str) -> Run {
    use libyaml_safer::{EventData, ScalarStyle};
    let mut input = text.as_bytes();
    let mut parser = libyaml_safer::Parser::new();
    parser.set_input_string(&mut input);
    let mut events = Vec::new();
    let mut complete = false;
    let show = |anchor: Option<String>, tag: Option<String>| {
        format!("&{} !{}", anchor.unwrap_or_default(), tag.unwrap_or_default())
    };
    loop {
        let event = match parser.parse() {
            Ok(event) => event,
            Err(_) if complete => {
                return Run {
                    events,
                    end: End::MoreFollows,
                };
            }
            Err(error) => {
                return Run {
                    events,
                    end: End::Refused(error.to_string()),
                };
            }
        };
        match event.data {
            EventData::StreamStart { .. } => {}
            EventData::StreamEnd => {
                if !complete {
                    events.push("& ! plain=true \"\"".to_owned());
                }
                return Run {
                    events,
                    end: End::Accepted,
                };
            }
            EventData::DocumentStart { .. } if complete => {
                return Run {
                    events,
                    end: End::MoreFollows,
                };
            }
            EventData::DocumentStart { .. } => {}
            EventData::DocumentEnd { .. } => complete = true,
            EventData::Alias { anchor } => events.push(format!("*{anchor}")),
            EventData::Scalar {
                anchor,
                tag,
                value,
                style,
                ..
            } => {
                events.push(format!(
                    "{} plain={} {value:?}",
                    show(anchor, tag),
                    matches!(style, ScalarStyle::Plain)
                ));
            }
            EventData::SequenceStart { anchor, tag, .. } => events.push(format!("[ {}", show(anchor, tag))),
            EventData::MappingStart { anchor, tag, .. } => events.push(format!("{{ {}", show(anchor, tag))),
            EventData::SequenceEnd | EventData::MappingEnd => events.push("end".to_owned()),
        }
    }
}

/// Whether a text has what the two are known to treat differently (see the top of this file).
fn is_known_to_differ(text: &str) -> bool {
    let in_flow = text.contains(['[', '{']);
    let colon_before_indicator = text
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b':' && b",[]{}?".contains(&pair[1]));
    (in_flow && (text.contains(['!', '?']) || colon_before_indicator))
        || text.contains("\\/")
        || text.contains("\\'")
        || text.contains("%YAML 1.2")
        // Tags of Kubernetes' parser take flow indicators in block context, too.
        || (text.contains('!') && text.contains([',', ']', '[']))
        || text.contains('\u{feff}')
}

fn compare(text: &str) -> Result<(), TestCaseError> {
    let ours = ours(text);
    // libyaml-safer panics on some texts: those say nothing.
    let Ok(theirs) = catch_unwind(|| theirs(text)) else {
        return Ok(());
    };
    match (&ours.end, &theirs.end) {
        (End::Accepted, End::Accepted) | (End::MoreFollows, End::MoreFollows) => {
            prop_assert_eq!(&ours.events, &theirs.events, "events of {:?}", text);
        }
        (End::Refused(_), End::Refused(_)) => {}
        // A fault in the line behind the root node may show before or after the document is complete.
        (End::Refused(_), End::MoreFollows) | (End::MoreFollows, End::Refused(_)) => {}
        _ => prop_assert!(
            is_known_to_differ(text),
            "{:?}\n ours {:?}\n theirs {:?}",
            text,
            ours,
            theirs
        ),
    }
    Ok(())
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
    fn what_we_write_gives_the_same_events(value in super::writing::values()) {
        // A text whose first byte is 0xEF is a broken byte order mark to libyaml-safer.
        let text = format!("# c\n{}", crate::write_document(&value));
        let (ours, theirs) = (ours(&text), theirs(&text));
        prop_assert_eq!(&ours.end, &End::Accepted, "{}", text);
        prop_assert_eq!(ours, theirs, "{}", text);
    }
}

#[test]
fn the_observed_texts_give_the_same_events() {
    for line in include_str!("../../fixtures/read.ndjson").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        compare(text).unwrap_or_else(|error| panic!("{error}"));
    }
}
