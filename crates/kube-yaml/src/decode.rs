//! Decodes bytes to text. Which encodings Kubernetes reads: docs/systems/kubernetes.md#structure-and-characters.

use std::borrow::Cow;

use super::character::character_end;
use super::error::{Error, ErrorKind};

/// Bytes that are not text, with the part that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{error}")]
pub struct Undecodable {
    /// What is wrong; its range counts the bytes of [`text`](Self::text).
    pub error: Error,
    /// The text as far as it can be read, to show the place; U+FFFD replaces the bytes that cannot be read.
    pub text: String,
}

impl Undecodable {
    /// A fault at the byte `at` of `text`.
    fn new(
        text: String,
        at: usize,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Box<Self> {
        let place = at..character_end(&text, at);
        let error = *Error::new(ErrorKind::Encoding, place, message, help);
        Box::new(Self { error, text })
    }
}

/// The text of a file: UTF-8, with or without a byte order mark (which stays: readers skip it), or big-endian
/// UTF-16 with a byte order mark and a final newline, one document only.
///
/// # Errors
/// [`ErrorKind::Encoding`] at the first bytes that are not text (or are of a kind that Kubernetes refuses), with their
/// place.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Box<Undecodable>> {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest).map(Cow::Owned),
        [0xFF, 0xFE, rest @ ..] => Err(refuse_utf16(
            rest,
            u16::from_le_bytes,
            "little-endian UTF-16",
            "UTF-16",
        )),
        // Without a mark the zero byte of a first character below U+0100 tells (YAML 1.2.2, section 5.2).
        [0, 1..=255, rest @ ..] if rest.len() % 2 == 0 => Err(refuse_utf16(
            bytes,
            u16::from_be_bytes,
            "UTF-16 without a byte order mark",
            "UTF-16BE",
        )),
        [1..=255, 0, rest @ ..] if rest.len() % 2 == 0 => Err(refuse_utf16(
            bytes,
            u16::from_le_bytes,
            "UTF-16 without a byte order mark",
            "UTF-16LE",
        )),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => {
                let start = error.valid_up_to();
                let byte = bytes.get(start).copied().unwrap_or(0);
                let help = if bytes.contains(&0) {
                    "exclude the file: it is not text"
                } else {
                    "save the file as UTF-8 (`iconv -f ISO-8859-1 -t UTF-8` converts Latin-1), or exclude it if it is not text"
                };
                // What is read before the first such byte is the same, so it is at the same place there.
                let text = String::from_utf8_lossy(bytes).into_owned();
                let message = format!("the byte 0x{byte:02X} at offset {start} is not UTF-8");
                Err(Undecodable::new(text, start, message, help))
            }
        },
    }
}

/// UTF-16 of a kind that Kubernetes does not read.
fn refuse_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, kind: &str, encoding: &str) -> Box<Undecodable> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text = char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Undecodable::new(
        text,
        0,
        format!("Kubernetes does not read {kind}"),
        convert(encoding),
    )
}

fn convert(encoding: &str) -> String {
    format!("convert the file: `iconv -f {encoding} -t UTF-8 FILE > NEW && mv NEW FILE`")
}

/// Big-endian UTF-16 after its mark.
fn decode_utf16(bytes: &[u8]) -> Result<String, Box<Undecodable>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
    let mut text = String::with_capacity(pairs.len());
    let mut at = 2;
    let mut fault = None;
    for character in char::decode_utf16(units) {
        if character.is_err() && fault.is_none() {
            fault = Some((text.len(), at, "half of a surrogate pair is not a character"));
        }
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        text.push(character);
        at += 2 * character.len_utf16();
    }
    let last = text.chars().next_back();
    let fault = fault.or_else(|| {
        let end = text.len();
        if !rest.is_empty() {
            return Some((end, at, "the last character of this UTF-16 text is cut off"));
        }
        if last != Some('\n') {
            let length = last.map_or((0, 0), |last| (last.len_utf8(), 2 * last.len_utf16()));
            let message = "Kubernetes reads UTF-16 only with a final newline";
            return Some((end - length.0, at - length.1, message));
        }
        // Kubernetes looks for separators before it decodes, finds none, and drops all documents but the first.
        let found = text.find("\n---")? + 1;
        let before: usize = text.get(..found).unwrap_or("").chars().map(char::len_utf16).sum();
        let message = "Kubernetes reads only one document of a UTF-16 file";
        Some((found, 2 + 2 * before, message))
    });
    match fault {
        None => Ok(text),
        Some((place, byte, message)) => {
            let message = format!("{message} (byte {byte} of the file)");
            Err(Undecodable::new(text, place, message, convert("UTF-16")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        std::iter::once(0xFEFF)
            .chain(text.encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect()
    }

    #[test]
    fn utf_8_is_borrowed_as_it_is() {
        assert!(matches!(
            decode("\u{feff}a: é\n".as_bytes()),
            Ok(Cow::Borrowed("\u{feff}a: é\n"))
        ));
    }

    /// Byte in the file, line and column.
    #[track_caller]
    fn refused(bytes: &[u8]) -> (usize, usize, usize) {
        let refused = decode(bytes).unwrap_err();
        assert_eq!(refused.error.kind, ErrorKind::Encoding);
        let range = refused.error.range.clone();
        let (before, at) = refused.text.split_at(range.start);
        assert!(at.get(..range.len()).is_some(), "{refused:?}");
        let message = &refused.error.message;
        let words = message
            .split([' ', ')'])
            .skip_while(|word| !matches!(*word, "offset" | "(byte"));
        let byte = {
            let mut words = words;
            words.nth(1)
        }
        .and_then(|word| word.parse().ok());
        let line = before.rsplit('\n').next().unwrap_or_default();
        let (lines, column) = (before.matches('\n').count(), line.chars().count());
        (byte.unwrap(), lines + 1, column + 1)
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_refused_at_their_place() {
        assert_eq!(refused(b"a: b\xFFc"), (4, 1, 5));
        assert_eq!(refused(b"a: \xE2\x82"), (3, 1, 4));
        assert_eq!(refused(&"a: ü\nb: é".as_bytes()[..10]), (9, 2, 4));
        assert_eq!(refused(b"a: 1\nb: caf\xE9\n"), (11, 2, 7));
        let latin = decode(b"a: 1\nb: caf\xE9\n").unwrap_err();
        assert_eq!(latin.error.message, "the byte 0xE9 at offset 11 is not UTF-8");
        assert!(
            latin.error.help.contains("iconv -f ISO-8859-1 -t UTF-8"),
            "{latin:?}"
        );
        assert_eq!(latin.text, "a: 1\nb: caf\u{fffd}\n");
    }

    #[test]
    fn big_endian_utf_16_is_read_with_a_final_newline_only() {
        assert_eq!(decode(&utf16("a: é😀\n")).unwrap(), "a: é😀\n");
        assert_eq!(refused(&utf16("a: b")), (8, 1, 4));
        assert_eq!(refused(&utf16("a: b\n---\nc: d\n")), (12, 2, 1));
        let mut cut = utf16("a\n");
        cut.push(0);
        assert_eq!(refused(&cut), (6, 2, 1));
        assert_eq!(refused(&[0xFE, 0xFF]), (2, 1, 1));
        // A character of four bytes.
        assert_eq!(refused(&utf16("a: 😀")), (8, 1, 4));
        assert_eq!(refused(&utf16("😀a\n---\nc: d\n")), (10, 2, 1));
    }

    #[test]
    fn an_odd_number_of_bytes_is_no_utf_16_without_a_mark() {
        assert_eq!(decode(b"a\0b").unwrap(), "a\0b");
        assert_eq!(decode(b"\0ab").unwrap(), "\0ab");
    }

    #[test]
    fn other_utf_16_is_named_also_without_a_mark_with_the_way_to_convert_it() {
        let little: Vec<u8> = "a: 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked: Vec<u8> = [0xFF, 0xFE].iter().chain(&little).copied().collect();
        for (bytes, encoding) in [
            (marked, "UTF-16"),
            (little, "UTF-16LE"),
            (utf16("a: 1\n")[2..].to_vec(), "UTF-16BE"),
        ] {
            let refused = decode(&bytes).unwrap_err();
            assert!(refused.error.message.contains("UTF-16"), "{refused:?}");
            assert!(
                refused
                    .error
                    .help
                    .contains(&format!("iconv -f {encoding} -t UTF-8")),
                "{refused:?}"
            );
            assert_eq!((refused.text.as_str(), refused.error.range.start), ("a: 1\n", 0));
        }
    }

    #[test]
    fn lone_surrogates_are_refused() {
        assert_eq!(refused(&[0xFE, 0xFF, 0xD8, 0, 0, b'\n']), (2, 1, 1));
        assert_eq!(
            refused(&[0xFE, 0xFF, 0, b'a', 0, b'\n', 0xDC, 0, 0, b'\n']),
            (6, 2, 1)
        );
    }
}
