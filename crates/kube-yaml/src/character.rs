//! Which characters a text may contain, and which of them end a line.
//!
//! Owns: the check over the whole text for characters that must be escaped, and the tables that the scanner uses. Flows
//! in: text, bytes. Flows out: the first forbidden character; classes of bytes.
//! Must not know: tokens.

/// The length in bytes of the line break at `at`, or 0 (YAML 1.1: LF, CR, CR LF, NEL, LS, PS).
///
/// With `joined_lines`, CR CR LF is one break: the splitter takes CR LF for the end of the line and writes LF,
/// and the CR before it then joins that LF (docs/systems/kubernetes.md#documents-in-a-stream).
#[inline]
pub(super) fn break_length(bytes: &[u8], at: usize, joined_lines: bool) -> usize {
    let byte = |offset: usize| bytes.get(at + offset).copied().unwrap_or(0);
    match byte(0) {
        b'\n' => 1,
        b'\r' if byte(1) == b'\n' => 2,
        b'\r' if joined_lines && byte(1) == b'\r' && byte(2) == b'\n' => 3,
        b'\r' => 1,
        0xC2 if byte(1) == 0x85 => 2,
        0xE2 if byte(1) == 0x80 && matches!(byte(2), 0xA8 | 0xA9) => 3,
        _ => 0,
    }
}

/// Counts the work of the scanner, in bytes looked at, for the tests that it stays linear; nothing otherwise.
#[inline]
pub(super) fn count_work(bytes: usize) {
    #[cfg(test)]
    WORK.with(|work| work.set(work.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

#[cfg(test)]
thread_local! {
    /// The work on this thread so far.
    pub(super) static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

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
    count_work(found + 1);
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
            count_work(found - from + 1);
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

/// Whether YAML allows the character raw (docs/systems/kubernetes.md#structure-and-characters): no C0 but
/// tab, LF and CR, no DEL, no C1 but NEL, neither U+FFFE nor U+FFFF.
pub(super) fn is_allowed(character: char) -> bool {
    !matches!(character,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}'
        | '\u{fffe}' | '\u{ffff}')
}

/// What a whole text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Charset {
    /// Every character is ASCII: bytes count as characters.
    pub(super) ascii: bool,
    /// Every line ends in LF: nothing else has to be looked for.
    pub(super) only_lf: bool,
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

/// What the text is made of.
///
/// # Errors
/// The first character that may not be there raw, with its position.
pub(super) fn check(text: &str) -> Result<Charset, (usize, char)> {
    let mut ascii = true;
    let mut carriage_return = false;
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let unclean = blocks.iter().enumerate().filter(|(_, block)| !is_clean(block));
    let unclean = unclean.map(|(index, block)| (index, block.as_slice()));
    for (index, block) in unclean.chain([(blocks.len(), rest)]) {
        carriage_return |= block.contains(&b'\r');
        let start = index * BLOCK;
        if block.is_ascii() {
            if let Some(found) = block.iter().position(|byte| !is_allowed(char::from(*byte))) {
                return Err((start + found, block.get(found).copied().map_or('\0', char::from)));
            }
            continue;
        }
        ascii = false;
        // A character may begin in the block before this one: only its first byte decides, so it was seen there.
        let end = start + block.len();
        let mut at = start;
        while at < end && !text.is_char_boundary(at) {
            at += 1;
        }
        for (offset, character) in text.get(at..).unwrap_or("").char_indices() {
            if at + offset >= end {
                break;
            }
            if !is_allowed(character) {
                return Err((at + offset, character));
            }
        }
    }
    // NEL, LS and PS are not ASCII.
    Ok(Charset {
        ascii,
        only_lf: ascii && !carriage_return,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_line_break_has_its_length() {
        let length = |text: &str| break_length(text.as_bytes(), 0, false);
        let lengths = [
            "\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "a", "\u{a0}", "\u{2030}", "",
        ];
        assert_eq!(lengths.map(length), [1, 1, 2, 2, 3, 3, 0, 0, 0, 0]);
        assert_eq!(length("\r\r\n"), 1);
        assert_eq!(break_length(b"\r\r\n", 0, true), 3);
        assert_eq!(break_length(b"\r\r\r\n", 0, true), 1);
    }

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
            let expected = text.char_indices().find(|(_, character)| !is_allowed(*character));
            prop_assert_eq!(check(&text).err(), expected);
            if expected.is_none() {
                let only_lf = text.is_ascii() && !text.contains('\r');
                prop_assert_eq!(check(&text), Ok(Charset { ascii: text.is_ascii(), only_lf }));
            }
        }
    }
}
