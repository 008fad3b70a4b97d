//! Makes foreign text safe to print: nothing in the input may control a terminal or hide in it.
//!
//! A log of GitHub Actions is a terminal of its own: the runner obeys a line that begins with `::` after any blanks,
//! and `##[` anywhere in a line (actions/runner, src/Runner.Common/ActionCommand.cs). Neither survives here.

use std::fmt::{Display, Write as _};
use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use unicode_width::UnicodeWidthChar as _;

/// Stands where something was cut off.
pub(super) const ELLIPSIS: &str = "...";

/// The marker that turns the text after it into a command, wherever it is in a line.
const MARKER: &str = "##[";

/// Characters that nobody sees, as a class of patterns that Rust and `page.js` read alike: controls, formats (directions,
/// tags, joiners), blanks and separators, and whatever Unicode says to ignore where it is not known (variation selectors, fillers
/// of Hangul). Unicode has no property for the last five, which are drawn as nothing. The tables are those of
/// regex-syntax.
pub const UNSEEN: &str = r"\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{2800}\u{16FE4}\u{1D159}\u{13441}\u{13442}";

/// The ranges of [`UNSEEN`] but for the space, in ascending order.
static UNSEEN_RANGES: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let parsed = regex_syntax::parse(&format!("[{UNSEEN}&&[^ ]]"));
    match parsed.as_ref().map(regex_syntax::hir::Hir::kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        // Without the table, no character is safe to show.
        _ => vec![('\0', char::MAX)],
    }
});

/// Whether nobody sees `character`, or what it does to its surroundings: the one table for all that is printed.
pub fn is_unseen(character: char) -> bool {
    if matches!(character, ' '..='~') {
        return false;
    }
    let after = UNSEEN_RANGES.partition_point(|(start, _)| *start <= character);
    let range = after.checked_sub(1).and_then(|at| UNSEEN_RANGES.get(at));
    range.is_some_and(|(_, end)| character <= *end)
}

/// The text that is printed for `character`. Control characters become their pictures; C1 controls (`U+009B` starts a
/// terminal sequence just as `ESC [` does) and all else that nobody sees become `U+FFFD`.
pub(super) fn shown(character: char) -> char {
    match character {
        '\0'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        '\u{7f}' => '\u{2421}',
        other if is_unseen(other) => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}

/// Whether a line shows `text` unchanged.
pub(super) fn is_printed_as_it_is(text: &str) -> bool {
    text.chars().all(|character| shown(character) == character) && !text.contains(MARKER)
}

/// `text` on one line, safe to print, at most `limit` characters long. Line ends and tabs become spaces.
pub fn one_line(text: &str, limit: usize) -> String {
    let text = text.trim_end();
    let mut line = String::with_capacity(text.len().min(limit));
    let mut previous = ' ';
    for (count, character) in text.chars().enumerate() {
        if count >= limit {
            line.push_str(ELLIPSIS);
            break;
        }
        match character {
            '\n' if previous == '\r' => {}
            '\r' | '\n' | '\t' => line.push(' '),
            other => line.push(shown(other)),
        }
        previous = character;
    }
    without_marker(line)
}

/// `line` without the marker that makes a command of what follows it; as wide as before.
pub(super) fn without_marker(line: String) -> String {
    if line.contains(MARKER) {
        line.replace(MARKER, "#\u{fffd}[")
    } else {
        line
    }
}

/// `text` as a line of its own: uncut, safe to print, and not a command to a CI system that reads the log.
pub fn whole_line(text: &str) -> String {
    not_a_command(one_line(text, usize::MAX))
}

/// `line` as a log shows it and does not obey it; as wide as before.
pub fn not_a_command(line: String) -> String {
    let mut line = without_marker(line);
    let start = line.len().saturating_sub(line.trim_start().len());
    if line.get(start..).is_some_and(|rest| rest.starts_with("::")) {
        line.replace_range(start..start.saturating_add(1), "\u{fffd}");
    }
    line
}

/// A text for people as it grows, line by line. No line can be added that is two, that steers a terminal, or that a
/// log obeys: whatever is in it may come from the input.
#[derive(Debug, Default)]
pub struct Lines(String);

impl Lines {
    /// Appends one line.
    pub fn push(&mut self, line: impl Display) {
        self.0.push_str(&whole_line(&line.to_string()));
        self.0.push('\n');
    }

    /// Appends an empty line.
    pub fn blank(&mut self) {
        self.0.push('\n');
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, with its last line end.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// JSON text in which every character that could steer a terminal or hide is an escape. Outside of strings JSON
/// has none of them but line ends, so the document stays the same.
pub(crate) fn json_escaped(json: String) -> String {
    let harmless = |character: char| character == '\n' || shown(character) == character;
    let json = if json.contains(MARKER) {
        // Only a string can hold it.
        json.replace(MARKER, "#\\u0023[")
    } else {
        json
    };
    // Without a branch for each byte, the compiler looks at many bytes at a time.
    let is_usual = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if json.bytes().fold(true, |usual, byte| usual & is_usual(byte)) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if harmless(character) {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// Columns that printable text takes on a terminal.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

pub(super) fn width(character: char) -> usize {
    character.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_line_has_no_control_characters_and_no_more_than_its_limit() {
        assert_eq!(one_line("a\n\u{1b}[2Jb", 100), "a \u{241b}[2Jb");
        assert_eq!(one_line("abcdef", 3), "abc...");
    }

    /// The table by what Unicode says of single characters, from another crate's tables: `unicode-width` gives no columns to
    /// what is ignored where it is not known, and to marks, which are seen.
    #[test]
    fn every_character_that_nobody_sees_is_in_the_table_and_no_letter_is() {
        let ignored = [
            0xad..=0xad,
            0x34f..=0x34f,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x17b4..=0x17b5,
            0x180b..=0x180f,
            0x200b..=0x200f,
            0x2028..=0x202e,
            0x2060..=0x206f,
            0x3164..=0x3164,
            0xfe00..=0xfe0f,
            0xfeff..=0xfeff,
            0xffa0..=0xffa0,
            0xfff0..=0xfffb,
            0x1bca0..=0x1bca3,
            0x1d173..=0x1d17a,
            0xe0000..=0xe0fff,
        ];
        let blank = [
            0xa0..=0xa0,
            0x1680..=0x1680,
            0x2000..=0x200a,
            0x202f..=0x202f,
            0x205f..=0x205f,
            0x2800..=0x2800,
            0x3000..=0x3000,
        ];
        for code in (0..=0x1f)
            .chain(0x7f..=0x9f)
            .chain(ignored.into_iter().flatten())
            .chain(blank.into_iter().flatten())
        {
            let character = char::from_u32(code).expect("a character");
            assert!(
                is_unseen(character) && shown(character) != character,
                "U+{code:04X}"
            );
        }
        for character in
            ('\0'..=char::MAX).filter(|character| *character == ' ' || character.is_alphanumeric())
        {
            let is_filler = "\u{115f}\u{1160}\u{3164}\u{ffa0}\u{13441}\u{13442}".contains(character);
            assert!(
                !is_unseen(character) || is_filler,
                "U+{:04X}",
                u32::from(character)
            );
        }
        for character in
            ('\0'..=char::MAX).filter(|character| character.is_control() || character.is_whitespace())
        {
            assert!(
                is_unseen(character) || character == ' ',
                "U+{:04X}",
                u32::from(character)
            );
        }
        assert!(!is_unseen('\u{301}') && !is_unseen('\u{fffd}') && !is_unseen('\u{2421}'));
    }

    #[test]
    fn the_page_has_the_same_table() {
        let script = include_str!("../../../../src/report/page/page.js");
        let whole = script.replace("` +\n      String.raw`", "");
        assert!(
            whole.contains(&format!("String.raw`(?![ \\t\\n])[{UNSEEN}]`")),
            "const HIDDEN in page.js"
        );
    }

    #[test]
    fn no_character_is_printed_that_nobody_sees_whichever_function_prints_it() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for characters in all.chunks(200) {
            let text: String = characters.iter().collect();
            let mut lines = Lines::default();
            lines.push(&text);
            let printed = [
                one_line(&text, usize::MAX),
                whole_line(&text),
                lines.into_text().trim_end_matches('\n').to_owned(),
                json_escaped(format!("\"{text}\"")).replace('\n', ""),
            ];
            for printed in printed {
                assert!(!printed.contains(is_unseen), "{printed:?}");
            }
        }
    }

    #[test]
    fn one_line_replaces_line_ends_and_controls_and_keeps_the_rest() {
        assert_eq!(
            one_line("a\r\nb\nc\td\re \u{1b}[0m é\n", 99),
            "a b c d e \u{241b}[0m é"
        );
        assert_eq!(one_line("abcdef", 3), "abc...");
        assert_eq!(one_line("abc", 3), "abc");
    }

    proptest! {
        #[test]
        fn a_line_is_one_and_neither_steers_nor_hides_nor_is_obeyed(
            texts in proptest::collection::vec("(::|##|\\[|error|#|:|\\PC|[\\x00-\\x20\u{80}-\u{a0}\u{2028}-\u{202e}\u{2066}\u{feff}]){0,12}", 1..4),
        ) {
            let mut lines = Lines::default();
            for text in &texts {
                lines.push(text);
            }
            let printed = lines.into_text();
            prop_assert_eq!(printed.matches('\n').count(), texts.len());
            for line in printed.lines() {
                prop_assert!(line.chars().all(|character| shown(character) == character), "{:?}", line);
                prop_assert!(!line.trim_start().starts_with("::") && !line.contains(MARKER), "{:?}", line);
            }
        }

        #[test]
        fn json_stays_what_it_was_and_holds_nothing_raw(text in "(##\\[|\\\\|\"|\\PC|[\\x00-\\x20\u{7f}-\u{a0}\u{2028}-\u{202e}\u{feff}]){0,40}") {
            let value = kube_json::json!({text.as_str(): [text]});
            let json = json_escaped(serde_json::to_string_pretty(&value).unwrap());
            prop_assert!(json.chars().all(|character| character == '\n' || shown(character) == character), "{:?}", json);
            prop_assert!(!json.contains(MARKER), "{:?}", json);
            prop_assert_eq!(serde_json::from_str::<kube_json::Value>(&json).unwrap(), value);
        }

        #[test]
        fn one_line_never_holds_a_control_character(text in any::<String>(), limit in 0usize..50) {
            let line = one_line(&text, limit);
            prop_assert!(!line.contains(char::is_control));
            prop_assert!(line.chars().count() <= limit + ELLIPSIS.len());
        }
    }
}
