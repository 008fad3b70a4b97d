//! Escapes text of the input inside markup, and data inside a script.
//!
//! Owns: the replacements for characters that would end either one, or that are invisible. Flows in: text. Flows out:
//! text that a browser reads as text. Must not know: where it is.

use std::fmt::Write as _;

/// Text inside an element, or of an attribute in quotes.
pub(super) fn escape_markup(text: &str, page: &mut String) {
    for character in text.chars() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            // Characters that could hide or reverse the text next to them.
            other if is_hidden(other) => {
                let _ = write!(page, "&lt;U+{:04X}&gt;", u32::from(other));
            }
            other => page.push(other),
        }
    }
}

/// Control, bidirectional, and zero-width characters: `HIDDEN` in `page.js`.
fn is_hidden(character: char) -> bool {
    matches!(
        u32::from(character),
        0..=0x8
            | 0xb..=0x1f
            | 0x7f..=0x9f
            | 0xad
            | 0x61c
            | 0x180e
            | 0x200b..=0x200f
            | 0x2028..=0x202e
            | 0x2060..=0x206f
            | 0xfeff
            | 0xfff9..=0xfffb
    )
}

/// JSON inside a script element, which markup would end, whatever it is in JSON. These characters are in strings
/// only.
pub(super) fn escape_data(json: &str, page: &mut String) {
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(page, "\\u{:04x}", u32::from(character));
            }
            other => page.push(other),
        }
    }
}
