//! Escapes text of the input inside markup, and data inside a script.
//!
//! Owns: the replacements for characters that would end either one, or that are invisible. Flows in: text. Flows out:
//! text that a browser reads as text. Must not know: where it is.

use std::fmt::Write as _;

use crate::diagnostic::is_unseen;

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
            other if is_unseen(other) && !matches!(other, '\t' | '\n') => {
                let _ = write!(page, "&lt;U+{:04X}&gt;", u32::from(other));
            }
            other => page.push(other),
        }
    }
}

/// JSON inside a script element, which markup would end, whatever it is in JSON. These characters are in strings
/// only.
pub(super) fn escape_data(json: &str, page: &mut String) {
    for character in json.chars() {
        match character {
            other if "<>&".contains(other) || (other != '\n' && is_unseen(other)) => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(page, "\\u{unit:04x}");
                }
            }
            other => page.push(other),
        }
    }
}
