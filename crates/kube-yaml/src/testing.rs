//! Our parser against libyaml-safer's, and against itself by tokens alone, event by event: for tests and for fuzzing,
//! never for reading.
//!
//! Owns: what the two are known to treat differently. Flows in: texts. Flows out: agreement, or the result of each.
//! Must not know: where texts come from.
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

use crate::compose::compose;
use crate::error::ErrorKind;
use crate::event::{Event, Events as _, Properties};
use crate::limits::Limits;
use crate::lines::read_lines;
use crate::parser::Parser;
use crate::position::Located;
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
        let event = match event {
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
            // Neither is in YAML.
            Event::Literal { .. } | Event::DocumentEnd => "?".to_owned(),
        };
        events.push(event);
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
        .any(|pair| matches!(pair, [b':', b',' | b'[' | b']' | b'{' | b'}' | b'?']));
    (in_flow && (text.contains(['!', '?']) || colon_before_indicator))
        || text.contains("\\/")
        || text.contains("\\'")
        || text.contains("%YAML 1.2")
        // Tags of Kubernetes' parser take flow indicators in block context, too.
        || (text.contains('!') && text.contains([',', ']', '[']))
        || text.contains('\u{feff}')
}

/// Whether a text can be read line by line. If it can, that gives the value and the places that its tokens give.
///
/// # Errors
/// What each of them finds, if they differ.
pub fn lines_agree_with_tokens(text: &str) -> Result<bool, String> {
    let Ok(mut scanner) = Scanner::new(text, false) else {
        return Ok(false);
    };
    let limits = Limits::default();
    let Some(lines) = read_lines::<Located>(&mut scanner, &limits) else {
        return Ok(false);
    };
    scanner.rewind();
    let tokens = compose::<Located>(&mut Parser::new(scanner), text, &limits, &mut 0);
    let (lines, tokens) = (format!("{lines:?}"), format!("{tokens:?}"));
    if tokens == format!("Ok({lines})") {
        Ok(true)
    } else {
        Err(format!("{text:?}\n lines {lines}\n tokens {tokens}"))
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
        (End::Accepted, End::Accepted) | (End::MoreFollows, End::MoreFollows) => ours.events == theirs.events,
        // A fault in the line behind the root node may show before or after the document is complete.
        (End::Refused(_), End::Refused(_) | End::MoreFollows) | (End::MoreFollows, End::Refused(_)) => true,
        _ => is_known_to_differ(text),
    };
    if agree {
        Ok(())
    } else {
        Err(format!("{text:?}\n ours {ours:?}\n theirs {theirs:?}"))
    }
}
