//! From a file's text to its documents.
//!
//! Owns: separators, which are found by the start of a line before anything is parsed
//! (docs/systems/kubernetes.md#documents-in-a-stream), and the choice between YAML and JSON. Flows in: text.
//! Flows out: chunks of one document each. Must not know: what the documents say.

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
    /// The document, without its separator line. Never empty; it may still say nothing (comments, blank lines).
    pub text: &'t str,
    /// Where it begins in the longer text, in bytes.
    pub offset: usize,
    /// The number of its first line there, from 1.
    pub line: usize,
    /// How it is read.
    pub syntax: Syntax,
}

/// The documents of a YAML file. A text that starts with `{` and is a stream of JSON objects is read as that,
/// as Kubernetes' tools do; otherwise every line that starts with `---` separates, also inside block and quoted
/// scalars.
///
/// # Errors
/// [`ErrorKind::Stream`] for a separator with anything but a comment behind it.
pub fn split(text: &str) -> Result<Vec<Chunk<'_>>, Error> {
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    if without_mark
        .trim_start_matches([' ', '\t', '\r', '\n'])
        .starts_with('{')
        && let Ok(chunks) = json_chunks(text)
    {
        return Ok(chunks);
    }
    yaml_chunks(text).map_err(|error| error.settled(text))
}

/// The objects of a JSON file: any number of them, one after the other.
///
/// # Errors
/// [`ErrorKind::Syntax`] for a text that is no JSON, [`ErrorKind::Stream`] for values that are no objects.
pub fn split_json(text: &str) -> Result<Vec<Chunk<'_>>, Error> {
    json_chunks(text).map_err(|error| error.settled(text))
}

fn json_chunks(text: &str) -> Outcome<Vec<Chunk<'_>>> {
    let ranges = json::objects(text)?;
    let mut chunks = Vec::with_capacity(ranges.len());
    let mut line = 1;
    let mut counted = 0;
    for range in ranges {
        line += newlines(text.get(counted..range.start).unwrap_or(""));
        counted = range.start;
        let offset = range.start;
        let chunk = text.get(range).unwrap_or("");
        chunks.push(Chunk {
            text: chunk,
            offset,
            line,
            syntax: Syntax::Json,
        });
    }
    Ok(chunks)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn yaml_chunks(text: &str) -> Outcome<Vec<Chunk<'_>>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut start_line = 1;
    let mut at = 0;
    let mut line = 1;
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
    };
    while at < text.len() {
        let rest = text.get(at..).unwrap_or("");
        let length = rest.find('\n').map_or(rest.len(), |found| found + 1);
        if let Some(tail) = rest.get(..length).and_then(|line| line.strip_prefix("---")) {
            check_separator(tail, at)?;
            push(start, at, start_line);
            start = at + length;
            start_line = line + 1;
        }
        at += length;
        line += 1;
    }
    push(start, text.len(), start_line);
    Ok(chunks)
}

/// What follows `---` on its line, which starts at `at`: blanks, and a comment behind at least one of them.
fn check_separator(tail: &str, at: usize) -> Outcome<()> {
    let content = tail.trim();
    if content.is_empty() || (content.starts_with('#') && !tail.starts_with('#')) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Stream,
        at..at + 3 + tail.trim_end().len(),
        format!(
            "`---` separates documents, and `{}` cannot follow on its line",
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
        assert_eq!(texts("---\na: 1\n---\n---\n"), ["a: 1\n"]);
        assert_eq!(texts("a: 1\r\n---\r\nb: 2\r\n"), ["a: 1\r\n", "b: 2\r\n"]);
        assert_eq!(texts(""), Vec::<&str>::new());
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
    fn anything_else_behind_the_dashes_is_an_error() {
        for line in [
            "--- foo",
            "--- !tag",
            "---a: 1",
            "--- |",
            "--- {json}",
            "----",
            "---#c",
        ] {
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
