//! Writes a string so that every reader reads it as that string.
//!
//! Owns: the choice between plain, literal block and double quotes
//! (docs/systems/kubernetes.md#writing-safely), and the escapes. Flows in: a string. Flows out: its style,
//! its quoted text. Must not know: where in a document it goes.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::character::{ByteSet, byte_set};

/// One of the three forms in which a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    Plain,
    /// Behind `|`, on lines of its own.
    Literal,
    /// Between double quotes.
    Quoted,
}

/// What a plain scalar may start with; all that is not ASCII is looked at character by character.
#[expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "evaluated when the crate is compiled, for numbers below 256"
)]
const PLAIN_START: ByteSet = {
    let mut set = byte_set(b"/_$.(+");
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() || byte >= 0x80 {
            set[byte] = true;
        }
        byte += 1;
    }
    set
};

/// Whether a byte needs a closer look inside a plain scalar: controls, `:`, `#`, and all that is not ASCII.
const fn needs_look(byte: u8) -> bool {
    !matches!(byte, b' '..=b'~') || matches!(byte, b':' | b'#')
}

/// The words that some reader takes for null or a boolean, in whatever case.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// The bytes of the longest.
const LONGEST_WORD: usize = "false".len();

/// What they begin with.
#[expect(clippy::indexing_slicing, reason = "evaluated when the crate is compiled")]
const BEGINS_WORD: ByteSet = {
    let mut set = byte_set(b"");
    let mut word = 0;
    while word < WORDS.len() {
        let first = WORDS[word].as_bytes()[0];
        set[first as usize] = true;
        set[first.to_ascii_uppercase() as usize] = true;
        word += 1;
    }
    set
};

/// The form for a value.
pub(super) fn style(text: &str) -> Style {
    if is_plain(text) {
        Style::Plain
    } else if is_literal(text) {
        Style::Literal
    } else {
        Style::Quoted
    }
}

/// The string on one line: plain or between double quotes, as a key, a value or an entry in block context.
pub fn scalar(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(double_quoted(text))
    }
}

/// Whether every reader takes the text without quotes for this string.
#[expect(
    clippy::indexing_slicing,
    reason = "a byte is always an index of a table of 256"
)]
pub(super) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    if !PLAIN_START[usize::from(*first)] || matches!(last, b' ' | b':') {
        return false;
    }
    if needs_no_look(bytes) {
        return is_plain_by_start(*first, text);
    }
    let mut ascii = true;
    let mut previous = 0;
    let mut at = 0;
    while let Some(offset) = bytes
        .get(at..)
        .and_then(|tail| tail.iter().position(|byte| needs_look(*byte)))
    {
        let found = at + offset;
        let byte = bytes.get(found).copied().unwrap_or(0);
        match byte {
            b':' if bytes.get(found + 1) == Some(&b' ') => return false,
            b'#' => {
                previous = found
                    .checked_sub(1)
                    .and_then(|before| bytes.get(before))
                    .copied()
                    .unwrap_or(previous);
                if previous == b' ' {
                    return false;
                }
            }
            b':' => {}
            0x80.. => {
                ascii = false;
                break;
            }
            _ => return false,
        }
        at = found + 1;
    }
    (ascii || is_plain_beyond_ascii(text)) && is_plain_by_start(*first, text)
}

/// Whether no byte needs a closer look, as with most texts. Eight bytes at a time.
fn needs_no_look(bytes: &[u8]) -> bool {
    match bytes.last_chunk() {
        // The last eight may overlap with those before.
        Some(last) => !bytes
            .as_chunks()
            .0
            .iter()
            .chain([last])
            .any(|eight| needs_look_at_eight(*eight)),
        None => !bytes.iter().any(|byte| needs_look(*byte)),
    }
}

/// Whether any of eight bytes needs a closer look: all in one number, in which the highest bit of a byte tells.
fn needs_look_at_eight(eight: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let eight = u64::from_ne_bytes(eight);
    let has_less_than = |eight: u64, byte: u64| eight.wrapping_sub(ONES * byte) & !eight;
    let has = |byte: u8| has_less_than(eight ^ (ONES * u64::from(byte)), 1);
    let seen = eight | has_less_than(eight, 0x20) | has(0x7f) | has(b':') | has(b'#');
    seen & (ONES * 0x80) != 0
}

/// The rule of [`is_plain`] that goes by the whole of a text.
fn is_plain_by_start(first: u8, text: &str) -> bool {
    match first {
        b'0'..=b'9' | b'.' | b'+' => !looks_like_number(text) && !text.starts_with("..."),
        _ => !is_word(first, text),
    }
}

/// The rules of [`is_plain`] that hold inside a text, one character after the other.
fn is_plain_beyond_ascii(text: &str) -> bool {
    let mut previous = '\0';
    for character in text.chars() {
        let broken = match character {
            ' ' => previous == ':',
            '#' => previous == ' ',
            _ => needs_escape(character) || character.is_whitespace(),
        };
        if broken {
            return false;
        }
        previous = character;
    }
    true
}

/// Whether some reader takes the text for null or a boolean.
#[expect(
    clippy::indexing_slicing,
    reason = "a byte is always an index of a table of 256"
)]
fn is_word(first: u8, text: &str) -> bool {
    BEGINS_WORD[usize::from(first)]
        && text.len() <= LONGEST_WORD
        && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether some reader could take a text that starts with a digit, a dot or a plus for a number or a time.
/// With two dots or more it is a version or an address; with other letters a quantity or a name.
fn looks_like_number(text: &str) -> bool {
    // Underscores are dropped before anything is read: `0_x1F` is 31.
    let without: Cow<'_, str> = if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    };
    let bare = without.strip_prefix('+').unwrap_or(&without);
    if let [
        b'0',
        prefix @ (b'x' | b'X' | b'o' | b'O' | b'b' | b'B'),
        digits @ ..,
    ] = bare.as_bytes()
    {
        let hexadecimal = matches!(prefix, b'x' | b'X');
        // Go takes a sign behind `0b`.
        let digits = match digits {
            [b'+' | b'-', digits @ ..] => digits,
            digits => digits,
        };
        return digits.iter().all(|byte| match byte {
            b'0'..=b'9' => true,
            byte => hexadecimal && byte.is_ascii_hexdigit(),
        });
    }
    if bare.eq_ignore_ascii_case(".inf") || bare.eq_ignore_ascii_case(".nan") {
        return true;
    }
    let dashes = text.contains('-');
    let mut dots = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'_' | b'+' | b'-' | b':' | b'e' | b'E' => {}
            b'.' => dots += 1,
            b't' | b'T' | b'z' | b'Z' | b' ' if dashes => {}
            _ => return false,
        }
    }
    dots < 2
}

fn is_literal(text: &str) -> bool {
    text.contains('\n') && fits_literal(text)
}

/// Whether the text can be behind `|`: no line with blanks at its end, nothing that needs an escape, and a first line that
/// shows the indentation.
pub(super) fn fits_literal(text: &str) -> bool {
    if text.starts_with([' ', '\t', '\n']) {
        return false;
    }
    let bytes = text.as_bytes();
    let mut previous = 0;
    let mut ascii = true;
    for byte in bytes {
        match byte {
            b'\n' if matches!(previous, b' ' | b'\t') => return false,
            b'\n' | b'\t' | b' '..=b'~' => {}
            0x80.. => ascii = false,
            _ => return false,
        }
        previous = *byte;
    }
    !matches!(previous, b' ' | b'\t')
        && (ascii || !text.chars().any(|c| c != '\n' && c != '\t' && needs_escape(c)))
}

/// Whether a character is only written as an escape: controls, what looks like a blank or like nothing, what
/// turns the direction of writing, line breaks beyond LF, the byte order mark, the two that are no characters.
fn needs_escape(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The text between double quotes, on one line.
pub(super) fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_double_quoted(&mut out, text);
    out
}

/// Appends the text between double quotes.
pub(super) fn push_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    // Without a branch, so that many bytes are looked at a time: expressions are long, and few have anything to escape.
    let is_as_is = |byte: u8| matches!(byte, b' '..=b'!' | b'#'..=b'[' | b']'..=b'~');
    if text.bytes().fold(true, |all, byte| all & is_as_is(byte)) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut piece = 0;
    for (at, character) in text.char_indices() {
        let escape = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            '\0' => "\\0",
            ' '..='~' => continue,
            character if !needs_escape(character) => continue,
            _ => "",
        };
        out.push_str(text.get(piece..at).unwrap_or(""));
        piece = at + character.len_utf8();
        if escape.is_empty() {
            let number = u32::from(character);
            // Writing to a String cannot fail.
            let _ = if number <= 0xFF {
                write!(out, "\\x{number:02x}")
            } else {
                write!(out, "\\u{number:04x}")
            };
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(text.get(piece..).unwrap_or(""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes_need_a_closer_look_where_one_of_them_does() {
        for byte in 0..=u8::MAX {
            for (at, around) in (0..8).flat_map(|at| [(at, b' '), (at, b'~'), (at, b'9'), (at, b'!')]) {
                let mut eight = [around; 8];
                eight[at] = byte;
                assert_eq!(needs_look_at_eight(eight), needs_look(byte), "{eight:?}");
            }
        }
    }

    #[test]
    fn whether_a_text_is_plain_does_not_depend_on_how_much_stands_around_its_characters() {
        for (character, is_kept) in [
            ("#", true),
            (":", true),
            (": ", false),
            (" #", false),
            ("\t", false),
            ("é", true),
        ] {
            for (before, after) in (0..20).flat_map(|before| (1..20).map(move |after| (before, after))) {
                let text = format!("a{}{character}{}", "b".repeat(before), "c".repeat(after));
                assert_eq!(is_plain(&text), is_kept, "{text}");
            }
        }
    }
}
