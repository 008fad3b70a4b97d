//! Which characters a text may contain, and which of them end a line.

use super::error::{Error, ErrorKind, Outcome};

/// The first position from `from` on whose byte is one of those that `ends` accepts, or the length.
#[inline]
pub(super) fn find_from(bytes: &[u8], from: usize, ends: impl Fn(u8) -> bool) -> usize {
    let tail = bytes.get(from..).unwrap_or(&[]);
    let found = tail.iter().position(|byte| ends(*byte)).unwrap_or(tail.len());
    bytes.len().min(from + found)
}

/// Where a word ends: at a blank, a control character, a colon, or a character that is not ASCII.
#[inline]
pub(super) fn word_end(bytes: &[u8], from: usize) -> usize {
    find_from(bytes, from, |byte| byte <= b' ' || byte == b':' || byte >= 0x80)
}

/// Where plain text may end: at a control character, a colon, a number sign, or a character that is not ASCII.
#[inline]
pub(super) fn text_end(bytes: &[u8], from: usize) -> usize {
    find_from(bytes, from, |byte| {
        byte < b' ' || matches!(byte, b':' | b'#' | 0x80..)
    })
}

/// Where spaces end.
#[inline]
pub(super) fn spaces_end(bytes: &[u8], from: usize) -> usize {
    find_from(bytes, from, |byte| byte != b' ')
}

/// Where the character at `at` ends, if there is one.
pub(super) fn character_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.chars().next().map_or(0, char::len_utf8)
}

/// What the names of anchors consist of.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a text may hold the character raw (docs/systems/kubernetes.md#structure-and-characters): no C0 but tab, LF and
/// CR, no DEL, no C1, neither U+FFFE nor U+FFFF. What readers of YAML take for different things is not allowed either:
/// the line breaks of YAML 1.1 alone (NEL, LS, PS), and a byte order mark behind the start.
pub(super) fn is_allowed(character: char) -> bool {
    !matches!(character,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}'
        | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether every line of the text ends in LF.
///
/// # Errors
/// The first character that may not be there raw.
pub(super) fn check(text: &str) -> Outcome<bool> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    // Most texts are ASCII, and decoding them would take a tenth of the time of a `check`. Without a branch for each byte,
    // the compiler looks at many bytes at a time.
    let is_usual = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    let are_usual = |chunk: &&[u8]| chunk.iter().fold(true, |usual, byte| usual & is_usual(byte));
    let bytes = text.as_bytes().get(start..).unwrap_or_default();
    let ascii = start
        + bytes
            .chunks(64)
            .take_while(are_usual)
            .map(<[u8]>::len)
            .sum::<usize>();
    let mut characters = text.get(ascii..).unwrap_or_default().char_indices();
    if let Some((at, character)) = characters.find(|(_, character)| !is_allowed(*character)) {
        return Err(refused(ascii + at, character));
    }
    let only_lf = !text.contains('\r');
    if let Some(at) = memchr::memmem::find(text.as_bytes(), b"\r\r\n").filter(|_| !only_lf) {
        return Err(Error::new(
            ErrorKind::Character,
            at..at + 1,
            "a carriage return stands in front of this line break, which readers take for one break or for two",
            "delete it: a line ends in LF, or in CR LF",
        ));
    }
    Ok(only_lf)
}

/// The fault of a character that may not be there raw.
pub(super) fn refused(at: usize, character: char) -> Box<Error> {
    let number = u32::from(character);
    let escape = if number <= 0xFF {
        format!("\\x{number:02x}")
    } else {
        format!("\\u{number:04x}")
    };
    let what = match character {
        '\u{feff}' => "the invisible byte order mark",
        '\u{85}' | '\u{2028}' | '\u{2029}' => "the invisible line break",
        _ => "the control character",
    };
    let help = if character == '\u{feff}' {
        "delete it (joined files often contain one)"
    } else {
        "remove it"
    };
    Error::new(
        ErrorKind::Character,
        at..at + character.len_utf8(),
        format!("{what} U+{number:04X} must be escaped in YAML"),
        format!("{help}, or write `{escape}` between double quotes"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_character_that_is_not_allowed_is_refused(
            text in "[a\r\u{7e}-\u{a1}é\u{fffd}-\u{ffff}\u{1F600}\n\t\u{1}]{0,200}|[ -~]{60,70}\u{85}?\u{7f}?"
        ) {
            let expected = text.char_indices().find(|(at, character)| {
                !is_allowed(*character) && (*at > 0 || *character != '\u{feff}')
            });
            let found = check(&text);
            match expected {
                Some((at, _)) => prop_assert_eq!(found.unwrap_err().range.start, at),
                None => prop_assert_eq!(found, Ok(!text.contains('\r'))),
            }
        }
    }
}
