//! Splits a file's text into its documents. Separators are found by the start of a line before anything is parsed
//! (docs/systems/kubernetes.md#documents-in-a-stream). It also decides between YAML and JSON.

use std::ops::Range;

use memchr::memmem;

use super::error::{Error, ErrorKind, Outcome};
use super::json;

/// How a chunk is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Syntax {
    /// The YAML that Kubernetes reads.
    Yaml,
    /// JSON alone.
    Json,
}

/// The text of one document, cut from a longer text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'t> {
    /// The document, without the separator above it unless that is the first line of the text or follows another
    /// separator. Never empty; it may still say nothing (comments, blank lines).
    pub text: &'t str,
    /// Where it begins in the longer text, in bytes.
    pub offset: usize,
    /// The number of its first line there, from 1.
    pub line: usize,
    /// How it is read.
    pub syntax: Syntax,
}

/// The documents of a YAML file. A text that starts with `{` is read as a stream of JSON objects as far as it is
/// one, as Kubernetes' tools do; everywhere else each line that starts with `---` separates, also inside block and
/// quoted scalars.
///
/// # Errors
/// [`ErrorKind::Stream`] for a separator with anything but a comment behind it, and what makes a stream of JSON
/// objects none: a value that is no object, anything behind the second object.
pub fn split(text: &str) -> Result<Vec<Chunk<'_>>, Error> {
    stream_chunks(text).map_err(|error| error.settled(text))
}

/// The documents of a part of a YAML file that begins with one, whatever it starts with.
///
/// # Errors
/// [`ErrorKind::Stream`] for a separator with anything but a comment behind it.
pub fn split_yaml(text: &str) -> Result<Vec<Chunk<'_>>, Error> {
    yaml_chunks(text, 0).map_err(|error| error.settled(text))
}

/// The objects of a JSON file: any number of them, one after the other.
///
/// # Errors
/// [`ErrorKind::Syntax`] for text that is not JSON, [`ErrorKind::Stream`] for values that are not objects.
pub fn split_json(text: &str) -> Result<Vec<Chunk<'_>>, Error> {
    let json::Objects { ranges, stopped } = json::objects(text);
    match stopped {
        Some(error) => Err(error.settled(text)),
        None => Ok(json_chunks(text, ranges)),
    }
}

/// A text changes from JSON to YAML at most once, in front of the first or of the second object
/// (docs/systems/kubernetes.md#documents-in-a-stream).
fn stream_chunks(text: &str) -> Outcome<Vec<Chunk<'_>>> {
    if !text.trim_start().starts_with('{') {
        return yaml_chunks(text, 0);
    }
    let json::Objects { ranges, stopped } = json::objects(text);
    let Some(error) = stopped else {
        return Ok(json_chunks(text, ranges));
    };
    if error.kind != ErrorKind::Syntax || ranges.len() > 1 {
        return Err(error);
    }
    let rest = ranges.first().map_or(0, |first| {
        let tail = text.get(first.end..).unwrap_or("");
        let line_end = tail.find('\n').map_or(tail.len(), |found| found + 1);
        let blanks = tail.len() - tail.trim_start().len();
        first.end + blanks.min(line_end)
    });
    let mut chunks = json_chunks(text, ranges);
    chunks.extend(yaml_chunks(text, rest)?);
    Ok(chunks)
}

fn json_chunks(text: &str, ranges: Vec<Range<usize>>) -> Vec<Chunk<'_>> {
    let mut line = 1;
    let mut counted = 0;
    ranges
        .into_iter()
        .map(|range| {
            line += newlines(text.get(counted..range.start).unwrap_or(""));
            counted = range.start;
            Chunk {
                offset: range.start,
                line,
                syntax: Syntax::Json,
                text: text.get(range).unwrap_or(""),
            }
        })
        .collect()
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// Where lines begin with `---`, from `start` on, which begins a line.
fn separators(text: &str, start: usize) -> impl Iterator<Item = usize> {
    let rest = text.get(start..).unwrap_or("");
    let is_first = rest.starts_with("---").then_some(start);
    let others = memmem::find_iter(rest.as_bytes(), "\n---").map(move |at| start + at + 1);
    is_first.into_iter().chain(others)
}

/// The documents from `start` on. A separator with nothing in front of it ends nothing and stays where it is, as
/// the first line of the document below it: its comment may end at a character that breaks lines in YAML alone, and a
/// byte order mark below it does not begin the text.
fn yaml_chunks(text: &str, start: usize) -> Outcome<Vec<Chunk<'_>>> {
    let mut chunks = Vec::new();
    let mut line = 1 + newlines(text.get(..start).unwrap_or(""));
    let mut start = start;
    let mut push = |start: usize, end: usize, line: usize| {
        let chunk = text.get(start..end).unwrap_or("");
        if !chunk.is_empty() {
            chunks.push(Chunk {
                text: chunk,
                offset: start,
                line,
                syntax: Syntax::Yaml,
            });
        }
        newlines(chunk)
    };
    for at in separators(text, start) {
        let rest = text.get(at..).unwrap_or("");
        let length = rest.find('\n').map_or(rest.len(), |found| found + 1);
        check_separator(rest.get(3..length).unwrap_or(""), at)?;
        if start < at {
            line += push(start, at, line) + 1;
            start = at + length;
        }
    }
    push(start, text.len(), line);
    Ok(chunks)
}

/// What follows `---` on its line, which starts at `at`: a comment, and blanks.
fn check_separator(tail: &str, at: usize) -> Outcome<()> {
    let content = tail.trim();
    if content.is_empty() || content.starts_with('#') {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Stream,
        at..at + 3 + tail.trim_end().len(),
        format!(
            "`---` separates documents, so `{}` cannot follow on its line",
            shortened(content)
        ),
        "put the document on the next line; indent the line if `---` is part of a text",
    ))
}

fn shortened(text: &str) -> &str {
    text.char_indices()
        .nth(40)
        .and_then(|(end, _)| text.get(..end))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        split(text).unwrap().iter().map(|chunk| chunk.text).collect()
    }

    #[test]
    fn lines_that_start_with_three_dashes_separate() {
        assert_eq!(
            texts("a: 1\n---\nb: 2\n--- # c\nc: 3\n---  \t\nd: 4"),
            ["a: 1\n", "b: 2\n", "c: 3\n", "d: 4"]
        );
        assert_eq!(texts("a: 1\n---#c\nb: 2\n"), ["a: 1\n", "b: 2\n"]);
        assert_eq!(texts("a: 1\r\n---\r\nb: 2\r\n"), ["a: 1\r\n", "b: 2\r\n"]);
        assert_eq!(texts(""), Vec::<&str>::new());
    }

    #[test]
    fn a_separator_with_nothing_in_front_of_it_belongs_to_the_document_below() {
        assert_eq!(texts("---\na: 1\n---\n---\n"), ["---\na: 1\n", "---\n"]);
        assert_eq!(texts("---\n---\n---\na: 1\n"), ["---\n", "---\na: 1\n"]);
        let value = |text: &str| crate::read_all(text, &crate::Limits::default());
        let text = "--- # c\rmetadata: 1\nkind: 2\n";
        assert_eq!(
            value(text),
            Ok(vec![kube_json::json!({"metadata": 1, "kind": 2})])
        );
        let text = format!("a: 1\n{text}");
        let below = value(&text).unwrap();
        assert_eq!(below.get(1), Some(&kube_json::json!({"kind": 2})), "{text:?}");
        assert_eq!(
            value("a: 1\n---\n\u{feff}b: 2\nc: 3\n").map(|values| values.len()),
            Ok(2)
        );
        assert!(value("---\n\u{feff}b: 2\nc: 3\n").is_err());
        assert!(value("---#c\nb: 2\n").is_err());
    }

    #[test]
    fn a_stream_of_json_becomes_yaml_in_front_of_its_second_object_at_most() {
        let parts = |text: &str| -> Vec<(String, usize, Syntax)> {
            let chunks = split(text).unwrap();
            chunks
                .iter()
                .map(|chunk| (chunk.text.to_owned(), chunk.line, chunk.syntax))
                .collect()
        };
        assert_eq!(
            parts("{\"a\": 1} \n---\n{b: 2}\n"),
            [
                ("{\"a\": 1}".to_owned(), 1, Syntax::Json),
                ("---\n{b: 2}\n".to_owned(), 2, Syntax::Yaml)
            ]
        );
        assert_eq!(
            parts("{\"a\": 1} b: 2"),
            [
                ("{\"a\": 1}".to_owned(), 1, Syntax::Json),
                ("b: 2".to_owned(), 1, Syntax::Yaml)
            ]
        );
        assert_eq!(
            split("{} {}\n---\n{}\n").map_err(|error| error.kind),
            Err(ErrorKind::Syntax)
        );
        // What is JSON stays JSON when a JSON reader refuses its value: no text comes of a number.
        for text in ["{\"a\": 1e400}", "{\"a\": 1e400}\n---\nb: 1\n", "{} 1"] {
            assert!(
                crate::read_all(text, &crate::Limits::default()).is_err(),
                "{text}"
            );
        }
        assert_eq!(
            crate::read_all("{\"a\": \"x\u{2028}y\"}\n---\nb: 1\n", &crate::Limits::default()),
            Ok(vec![
                kube_json::json!({"a": "x\u{2028}y"}),
                kube_json::json!({"b": 1})
            ])
        );
        // A byte order mark is no blank to them.
        assert_eq!(parts("\u{feff}{}").first().map(|part| part.2), Some(Syntax::Yaml));
    }

    proptest! {
        #[test]
        fn separators_and_lines_are_those_of_a_look_at_every_line(text in "(-|\n|a|é| #){0,40}", start in 0_usize..4) {
            let start = start.min(text.find('\n').map_or(0, |found| found + 1));
            let start = if text.get(..start).is_some_and(|before| before.ends_with('\n')) { start } else { 0 };
            let mut expected = Vec::new();
            let mut at = start;
            for line in text.get(start..).unwrap_or("").split_inclusive('\n') {
                expected.extend(line.starts_with("---").then_some(at));
                at += line.len();
            }
            prop_assert_eq!(separators(&text, start).collect::<Vec<_>>(), expected);
            prop_assert_eq!(newlines(&text), text.matches('\n').count());
            for chunk in split(&text).unwrap_or_default() {
                prop_assert_eq!(chunk.line, 1 + text[..chunk.offset].matches('\n').count());
            }
        }
    }

    #[test]
    fn newlines_are_counted_in_long_texts() {
        for count in [254, 255, 256, 1_000] {
            assert_eq!(newlines(&"\n".repeat(count)), count);
        }
    }

    #[test]
    fn separators_count_inside_block_scalars_too() {
        assert_eq!(texts("a: |\n  x\n---\n  y\n"), ["a: |\n  x\n", "  y\n"]);
        assert_eq!(texts(" ---\n"), [" ---\n"]);
    }

    #[test]
    fn chunks_know_their_place() {
        let chunks = split("# c\n---\na: 1\nb: 2\n---\nc: 3\n").unwrap();
        let places: Vec<_> = chunks.iter().map(|chunk| (chunk.offset, chunk.line)).collect();
        assert_eq!(places, [(0, 1), (8, 3), (22, 6)]);
    }

    #[test]
    fn what_is_behind_the_dashes_is_quoted_up_to_forty_characters() {
        let long = "x".repeat(50);
        for (content, quoted) in [("a: b", "a: b"), (long.as_str(), &long[..40])] {
            let message = split(&format!("--- {content}\n")).unwrap_err().message;
            assert!(message.contains(&format!("`{quoted}`")), "{message}");
        }
    }

    #[test]
    fn anything_else_behind_the_dashes_is_an_error() {
        for line in ["--- foo", "--- !tag", "---a: 1", "--- |", "--- {json}", "----"] {
            let text = format!("a: 1\n{line}\nb: 2\n");
            let error = split(&text).unwrap_err();
            assert_eq!(
                (error.kind, error.range),
                (ErrorKind::Stream, 5..5 + line.len()),
                "{line}"
            );
        }
    }

    #[test]
    fn a_stream_of_json_objects_is_read_as_that_and_else_as_yaml() {
        let chunks = split("{\"a\": \"\\/\"}\n{\"b\": 2} {}\n").unwrap();
        let found: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.text, chunk.line, chunk.syntax))
            .collect();
        assert_eq!(
            found,
            [
                ("{\"a\": \"\\/\"}", 1, Syntax::Json),
                ("{\"b\": 2}", 2, Syntax::Json),
                ("{}", 2, Syntax::Json)
            ]
        );
        assert_eq!(
            split("{a: 1}\n---\n{\"b\": 2}\n")
                .unwrap()
                .iter()
                .map(|chunk| chunk.syntax)
                .collect::<Vec<_>>(),
            [Syntax::Yaml, Syntax::Yaml]
        );
    }

    #[test]
    fn a_json_file_holds_objects_only() {
        let error = split_json("[{}]").unwrap_err();
        assert_eq!((error.kind, error.range), (ErrorKind::Stream, 0..1));
        assert_eq!(split_json("{} 1").unwrap_err().kind, ErrorKind::Stream);
        assert_eq!(split_json("{a: 1}").unwrap_err().kind, ErrorKind::Syntax);
        assert_eq!(split_json(" \n").unwrap(), []);
    }
}
