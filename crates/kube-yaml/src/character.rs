//! Which characters a text may contain, and which of them end a line.
//!
//! Owns: the check over the whole text for characters that must be escaped, and the search for the end of a word. Flows
//! in: text, bytes. Flows out: the first forbidden character; classes of bytes.
//! Must not know: what a text means.

use super::error::{Error, ErrorKind, Outcome};

/// A set of bytes.
pub(super) type ByteSet = [bool; 256];

/// The set of exactly the given bytes.
#[expect(clippy::indexing_slicing, reason = "called when the crate is compiled")]
pub(super) const fn byte_set(members: &[u8]) -> ByteSet {
    let mut set = [false; 256];
    let mut index = 0;
    while index < members.len() {
        set[members[index] as usize] = true;
        index += 1;
    }
    set
}

/// The first position from `from` on whose byte is in `set`, or the length.
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a byte is always an index of a table of 256"
)]
pub(super) fn find_in(bytes: &[u8], from: usize, set: &ByteSet) -> usize {
    let tail = bytes.get(from..).unwrap_or(&[]);
    let found = tail
        .iter()
        .position(|byte| set[usize::from(*byte)])
        .unwrap_or(tail.len());
    bytes.len().min(from + found)
}

// ---- eight bytes at once: each answer has the high bit of a byte set if the byte is in a class; only the lowest of
// these bits is exact, because a borrow may set the ones above it

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

const fn less(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(limit as u64)) & !word & HIGH
}

const fn equal(word: u64, byte: u8) -> u64 {
    less(word ^ ONES.wrapping_mul(byte as u64), 1)
}

/// The first position from `from` on that `marked` marks, or the length. It must mark 0, with which the last word is
/// filled up.
#[inline]
fn find_marked(bytes: &[u8], from: usize, marked: impl Fn(u64) -> u64) -> usize {
    let mut rest = bytes.get(from..).unwrap_or(&[]);
    let mut at = from;
    loop {
        let word = match rest.split_first_chunk() {
            Some((word, tail)) => {
                rest = tail;
                u64::from_le_bytes(*word)
            }
            None => rest
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let marks = marked(word);
        if marks != 0 {
            let found = at + (marks.trailing_zeros() / 8) as usize;
            return found;
        }
        at += 8;
    }
}

/// Where a word ends: at a blank, a control character, a colon, or a character that is not ASCII.
#[inline]
pub(super) fn word_end(bytes: &[u8], from: usize) -> usize {
    find_marked(bytes, from, |word| {
        less(word, b'!') | equal(word, b':') | (word & HIGH)
    })
}

/// Where plain text may end: at a control character, a colon, a number sign, or a character that is not ASCII.
#[inline]
pub(super) fn text_end(bytes: &[u8], from: usize) -> usize {
    find_marked(bytes, from, |word| {
        less(word, b' ') | equal(word, b':') | equal(word, b'#') | (word & HIGH)
    })
}

/// Where spaces end.
#[inline]
pub(super) fn spaces_end(bytes: &[u8], from: usize) -> usize {
    find_marked(bytes, from, |word| word ^ ONES.wrapping_mul(u64::from(b' ')))
}

/// Whether a text may hold the character raw (docs/systems/kubernetes.md#structure-and-characters): no C0 but tab, LF and
/// CR, no DEL, no C1, neither U+FFFE nor U+FFFF. What readers of YAML take for different things is not allowed either:
/// the line breaks of YAML 1.1 alone (NEL, LS, PS), and a byte order mark behind the start.
pub(super) fn is_allowed(character: char) -> bool {
    !matches!(character,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}'
        | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The bytes that are checked at once.
const BLOCK: usize = 64;

/// Whether a block holds printable ASCII and LF alone. Written without branches, so that the compiler turns it
/// into a few wide instructions.
#[inline]
fn is_clean(block: &[u8; BLOCK]) -> bool {
    let unclean = block.iter().fold(0, |seen, byte| {
        seen | (u8::from(byte.wrapping_sub(b' ') >= 0x5F) & u8::from(*byte != b'\n'))
    });
    unclean == 0
}

/// Whether every line of the text ends in LF.
///
/// # Errors
/// The first character that may not be there raw.
pub(super) fn check(text: &str) -> Outcome<bool> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let mut only_lf = true;
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let unclean = blocks.iter().enumerate().filter(|(_, block)| !is_clean(block));
    let unclean = unclean.map(|(index, block)| (index, block.as_slice()));
    for (index, block) in unclean.chain([(blocks.len(), rest)]) {
        only_lf &= !block.contains(&b'\r');
        let end = index * BLOCK + block.len();
        let mut at = start.max(index * BLOCK);
        // A character may begin in the block before this one: only its first byte decides, so it was seen there.
        while at < end && !text.is_char_boundary(at) {
            at += 1;
        }
        for (offset, character) in text.get(at..).unwrap_or("").char_indices() {
            if at + offset >= end {
                break;
            }
            if !is_allowed(character) {
                return Err(refused(at + offset, character));
            }
        }
    }
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
        fn eight_bytes_at_once_end_where_single_bytes_end(text in "[ !-;a-c\n\té]{0,40}| {0,20}x?", from in 0usize..9) {
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let end = |ends: fn(u8) -> bool| {
                from + bytes.iter().skip(from).position(|byte| ends(*byte)).unwrap_or(bytes.len() - from)
            };
            prop_assert_eq!(word_end(bytes, from), end(|byte| byte <= b' ' || byte == b':' || byte >= 0x80));
            prop_assert_eq!(text_end(bytes, from), end(|byte| byte < b' ' || b":#".contains(&byte) || byte >= 0x80));
            prop_assert_eq!(spaces_end(bytes, from), end(|byte| byte != b' '));
        }

        #[test]
        fn the_check_over_blocks_finds_what_a_look_at_each_character_finds(
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
