//! Lines that fit a terminal.
//!
//! Owns: where a sentence may be broken: at a blank, and never inside a path, a locator or a command. Flows in: one line
//! of printable text. Flows out: its lines. Must not know: terminals, or what the text says.

use super::visible::columns;

/// The lines of `text`, each at most `room` columns wide where its words allow that, broken at blanks only. A word stays
/// whole, and so does what stands between two backticks: somebody will copy it.
///
/// ```
/// use spokewright::diagnostic::wrapped;
///
/// assert_eq!(wrapped("run `git fetch origin` first", 12), ["run", "`git fetch origin`", "first"]);
/// ```
#[must_use]
pub fn wrapped(text: &str, room: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    // Byte offsets of the line, and of the last word that fits.
    let (mut start, mut end) = (0_usize, 0_usize);
    for (from, to) in words(text) {
        let line = text.get(start..to).unwrap_or_default();
        if end > start && columns(line) > room {
            lines.push(text.get(start..end).unwrap_or_default());
            start = from;
        }
        end = to;
    }
    lines.push(text.get(start..end).unwrap_or_default());
    lines
}

/// The same where the first line has another room than those after it, which are indented.
///
/// ```
/// use spokewright::diagnostic::wrapped_hanging;
///
/// assert_eq!(wrapped_hanging("one two three", 8, 6), ["one two", "three"]);
/// ```
#[must_use]
pub fn wrapped_hanging(text: &str, first: usize, others: usize) -> Vec<&str> {
    let line = wrapped(text, first).into_iter().next().unwrap_or_default();
    let rest = text.get(line.len()..).unwrap_or_default().trim_start_matches(' ');
    let mut lines = vec![line];
    if !rest.is_empty() {
        lines.extend(wrapped(rest, others));
    }
    lines
}

/// Where the words are, as byte offsets; blanks before the first one belong to it.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        // A backtick that nothing closes quotes nothing.
        if character == '`'
            && (quoted
                || text
                    .get(at.saturating_add(1)..)
                    .is_some_and(|rest| rest.contains('`')))
        {
            quoted = !quoted;
        }
        if character == ' ' && !quoted {
            if in_word {
                words.push((start, at));
                in_word = false;
                start = at.saturating_add(1);
            } else if !words.is_empty() {
                start = at.saturating_add(1);
            }
        } else {
            in_word = true;
        }
    }
    if in_word {
        words.push((start, text.len()));
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_ends_at_the_last_blank_that_fits() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("one two", 7), ["one two"]);
        assert_eq!(wrapped("", 7), [""]);
    }

    #[test]
    fn paths_and_commands_stay_whole() {
        assert_eq!(
            wrapped(
                "see /a/very/long/path and `a command with blanks` or it's` over",
                8
            ),
            [
                "see",
                "/a/very/long/path",
                "and",
                "`a command with blanks`",
                "or it's`",
                "over"
            ]
        );
    }

    #[test]
    fn what_is_wide_counts_twice() {
        assert_eq!(wrapped("日本 日本", 8), ["日本", "日本"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_only_single_words_are_too_long(text in "[ab` /é]{0,60}", room in 0_usize..20) {
            let lines = wrapped(&text, room);
            let bare = |text: &str| text.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
            for line in lines {
                prop_assert!(columns(line) <= room || words(line).len() <= 1 || line.contains('`'), "{:?}", line);
            }
        }
    }
}
