//! From bytes to text.
//!
//! Owns: which encodings Kubernetes reads (docs/systems/kubernetes.md#structure-and-characters). Flows in: a
//! file's bytes. Flows out: its text. Must not know: YAML beyond the separator line.

use std::borrow::Cow;

use super::error::{Error, ErrorKind};

/// The text of a file: UTF-8, with or without a byte order mark (which stays: readers skip it), or big-endian
/// UTF-16 with a byte order mark and a final newline, one document only.
///
/// # Errors
/// [`ErrorKind::Encoding`] at the first bytes that are no text (or of a kind Kubernetes refuses); the range
/// counts the bytes of the file.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Error> {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest).map(Cow::Owned).map_err(|error| *error),
        [0xFF, 0xFE, ..] => Err(*refuse(0, 2, "Kubernetes does not read little-endian UTF-16")),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => {
                let start = error.valid_up_to();
                let byte = bytes.get(start).copied().unwrap_or(0);
                let length = error.error_len().unwrap_or(bytes.len() - start);
                Err(*refuse(
                    start,
                    length,
                    &format!("the byte 0x{byte:02X} is not UTF-8"),
                ))
            }
        },
    }
}

fn refuse(start: usize, length: usize, message: &str) -> Box<Error> {
    Error::new(
        ErrorKind::Encoding,
        start..start.saturating_add(length),
        message,
        "save the file as UTF-8, or exclude it if it is no text",
    )
}

fn decode_utf16(bytes: &[u8]) -> Result<String, Box<Error>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(refuse(
            bytes.len() + 1,
            1,
            "the last character of this UTF-16 text is cut off",
        ));
    }
    let units = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
    let mut text = String::with_capacity(pairs.len());
    let mut at = 2;
    for character in char::decode_utf16(units) {
        match character {
            Ok(character) => {
                text.push(character);
                at += 2 * character.len_utf16();
            }
            Err(_) => return Err(refuse(at, 2, "half of a surrogate pair is no character")),
        }
    }
    if !text.ends_with('\n') {
        return Err(refuse(
            at - 2,
            2,
            "Kubernetes reads UTF-16 only with a final newline",
        ));
    }
    // Kubernetes looks for separators before it decodes, finds none, and drops all documents but the first.
    if let Some(found) = text.find("\n---") {
        let before: usize = text
            .get(..=found)
            .unwrap_or("")
            .chars()
            .map(char::len_utf16)
            .sum();
        return Err(refuse(
            2 + 2 * before,
            6,
            "Kubernetes reads only one document of a UTF-16 file",
        ));
    }
    Ok(text)
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

    #[test]
    fn bytes_that_are_no_utf_8_are_refused_at_their_place() {
        let error = decode(b"a: b\xFFc").unwrap_err();
        assert_eq!((error.kind, error.range), (ErrorKind::Encoding, 4..5));
        let error = decode(b"a: \xE2\x82").unwrap_err();
        assert_eq!(error.range, 3..5);
    }

    #[test]
    fn big_endian_utf_16_is_read_with_a_final_newline_only() {
        assert_eq!(decode(&utf16("a: é😀\n")).unwrap(), "a: é😀\n");
        assert_eq!(decode(&utf16("a: b")).unwrap_err().range, 8..10);
        assert_eq!(decode(&utf16("a: b\n---\nc: d\n")).unwrap_err().range, 12..18);
        let mut cut = utf16("a\n");
        cut.push(0);
        assert_eq!(decode(&cut).unwrap_err().range, 6..7);
    }

    #[test]
    fn little_endian_utf_16_and_lone_surrogates_are_refused() {
        assert_eq!(
            decode(&[0xFF, 0xFE, b'a', 0, b'\n', 0]).unwrap_err().kind,
            ErrorKind::Encoding
        );
        assert_eq!(decode(&[0xFE, 0xFF, 0xD8, 0, 0, b'\n']).unwrap_err().range, 2..4);
    }
}
