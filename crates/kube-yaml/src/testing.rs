//! Our events against libyaml-safer's, and the values of lines against those of events: for tests and for fuzzing, never
//! for reading.
//!
//! libyaml-safer reads YAML 1.1 as Kubernetes' reader does, but for the classes of
//! docs/systems/kubernetes.md#libyaml-safer. Where both accept a text, the events are the same. We refuse more: what
//! YAML 1.1 and 1.2 read differently.

use std::panic::catch_unwind;

use crate::character::check;
use crate::compose::{Event, Limits, Properties, compose};
use crate::error::ErrorKind;
use crate::lines::read_lines;
use crate::position::Located;
use crate::read::read_document;
use crate::source::read_events;

/// Parts of the messages of what we refuse although libyaml-safer may take it
/// (docs/systems/why-we-differ.md#yaml-that-readers-take-differently). Any other refusal of such a text is a fault.
const STRICTER: [&str; 21] = [
    "a carriage return stands in front of this line break",
    "a comment begins with a space",
    "a key of the mapping is expected here",
    "a list cannot begin on the line of its key",
    "a tab cannot indent",
    "a tab stands between",
    "each line must be indented deeper than the key",
    "goes on in a line that is not indented deeper than its key",
    "in front of a bracket or a comma",
    "is a directive",
    "is indented less than the line that begins the block text",
    "is missing before this",
    "must be escaped in YAML",
    "must be on one line",
    "starts a key for Kubernetes' reader",
    "starts a tag, but Kubernetes' reader",
    "starts an alias, whose name",
    "starts an anchor, whose name",
    "the bracket is too near to",
    "the lines of a block text must be indented",
    "the text ends in a line of blanks",
];

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
    let show = |properties: Option<Box<Properties<'_>>>| {
        let properties = properties.map(|properties| *properties).unwrap_or_default();
        format!(
            "&{} !{}",
            properties.anchor.unwrap_or(""),
            properties.tag.unwrap_or_default()
        )
    };
    let mut note = |event: Event<'_>| {
        events.push(match event {
            Event::Scalar {
                text,
                plain,
                properties,
                ..
            } => {
                format!("{} plain={plain} {text:?}", show(properties))
            }
            Event::Alias { name, .. } => format!("*{name}"),
            Event::SequenceStart { properties, .. } => format!("[ {}", show(properties)),
            Event::MappingStart { properties, .. } => format!("{{ {}", show(properties)),
            Event::End { .. } => "end".to_owned(),
            // It is not in YAML.
            Event::Literal { .. } => "?".to_owned(),
        });
        Ok(())
    };
    let read = check(text).and_then(|_| read_events(text, &mut note));
    let end = match read {
        Ok(()) => End::Accepted,
        Err(error) if error.kind == ErrorKind::Dropped => End::MoreFollows,
        Err(error) => End::Refused(format!("{:?} {error}", error.range)),
    };
    // Of an empty text, libyaml-safer's run below has this event.
    if events.is_empty() && end == End::Accepted {
        events.push("& ! plain=true \"\"".to_owned());
    }
    Run { events, end }
}

fn theirs(text: &str) -> Run {
    use libyaml_safer::{EventData, ScalarStyle};
    let mut input = text.as_bytes();
    let mut parser = libyaml_safer::Parser::new();
    parser.set_input_string(&mut input);
    let mut events = Vec::new();
    let mut complete = false;
    // libyaml-safer leaves aliases to its caller. Kubernetes' reader knows the anchor of a collection once that ends.
    let (mut named, mut open) = (Vec::new(), Vec::new());
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
            EventData::Alias { anchor } if !named.contains(&Some(anchor.clone())) => {
                return Run {
                    events,
                    end: End::Refused(format!("no anchor of {anchor} is complete before this alias")),
                };
            }
            EventData::Alias { anchor } => events.push(format!("*{anchor}")),
            EventData::Scalar {
                anchor,
                tag,
                value,
                style,
                ..
            } => {
                named.push(anchor.clone());
                events.push(format!(
                    "{} plain={} {value:?}",
                    show(anchor, tag),
                    matches!(style, ScalarStyle::Plain)
                ));
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                open.push(anchor.clone());
                events.push(format!("[ {}", show(anchor, tag)));
            }
            EventData::MappingStart { anchor, tag, .. } => {
                open.push(anchor.clone());
                events.push(format!("{{ {}", show(anchor, tag)));
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                named.extend(open.pop());
                events.push("end".to_owned());
            }
        }
    }
}

/// Whether a text can be read line by line. If it can, that gives the value and the places that its events give.
///
/// # Errors
/// What each of them finds, if they differ.
pub fn lines_agree_with_events(text: &str) -> Result<bool, String> {
    if !check(text).unwrap_or(false) {
        return Ok(false);
    }
    let limits = Limits::default();
    let Some(lines) = read_lines::<Located>(text, &limits) else {
        return Ok(false);
    };
    let events = compose::<Located>(read_events, text, &limits, &mut 0);
    let (lines, events) = (format!("{lines:?}"), format!("{events:?}"));
    if events == format!("Ok({lines})") {
        Ok(true)
    } else {
        Err(format!("{text:?}\n lines {lines}\n events {events}"))
    }
}

/// Whether both find the same in a text, but for what is known.
///
/// # Errors
/// What each of them finds.
pub fn agrees(text: &str) -> Result<(), String> {
    let ours = ours(text);
    // libyaml-safer panics on some texts: those say nothing.
    let Ok(theirs) = catch_unwind(|| theirs(text)) else {
        return Ok(());
    };
    let agree = match (&ours.end, &theirs.end) {
        (End::Accepted, End::Accepted) => ours.events == theirs.events,
        // The composer refuses absent keys.
        (End::Accepted, _) => read_document(text, &Limits::default()).is_err(),
        (End::Refused(why), End::Accepted) => STRICTER.iter().any(|refusal| why.contains(refusal)),
        // A fault in the line behind the root node may show before or after the document is complete.
        (End::Refused(_), _) | (End::MoreFollows, End::Refused(_)) => true,
        (End::MoreFollows, End::MoreFollows) => theirs.events.starts_with(&ours.events),
        (End::MoreFollows, End::Accepted) => false,
    };
    if agree {
        Ok(())
    } else {
        Err(format!("{text:?}\n ours {ours:?}\n theirs {theirs:?}"))
    }
}
