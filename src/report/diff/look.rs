//! The layout of texts for people.
//!
//! Owns: indents and wrapping. Flows in: lines. Flows out: text. Must not know: the meaning of a line.

use anstyle::Style;

use crate::diagnostic::{not_a_command, one_line, wrapped_hanging};

/// Where a text is shown: whether it may be colored, and how wide it may become.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether with escapes for a terminal.
    pub colour: bool,
    /// Columns of the terminal; none where nothing is wrapped, because a program may read it.
    pub width: Option<usize>,
}

impl Look {
    /// Appends one line, wrapped where it is too wide: `indent` blanks before its first line, `hang` before others.
    pub(super) fn line(self, text: &mut String, (indent, hang): (usize, usize), style: Style, line: &str) {
        let line = one_line(line, usize::MAX);
        let Some(width) = self.width else {
            self.put(text, indent, style, &line);
            return;
        };
        let lines = wrapped_hanging(&line, width.saturating_sub(indent), width.saturating_sub(hang));
        for (number, line) in lines.into_iter().enumerate() {
            self.put(text, if number == 0 { indent } else { hang }, style, line);
        }
    }

    /// Appends one printable line.
    pub(super) fn put(self, text: &mut String, indent: usize, style: Style, line: &str) {
        let line = not_a_command(line.to_owned());
        text.push_str(&" ".repeat(indent));
        if self.colour && style != Style::new() {
            text.push_str(&format!("{style}{line}{style:#}\n"));
        } else {
            text.push_str(&line);
            text.push('\n');
        }
    }
}
