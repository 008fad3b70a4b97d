//! From one text to the next one, over blanks, comments, and line breaks.
//!
//! Owns: where the next text is, as long as lines end in LF. Flows in: the scanner behind a text. Flows out: the scanner at
//! the next text. Must not know: what a text means.

use super::character::spaces_end;
use super::scanner::Scanner;

impl Scanner<'_> {
    pub(super) fn skip_spaces(&mut self) {
        self.pos = spaces_end(self.bytes, self.pos);
    }

    /// Goes over blanks and comments up to the next text.
    pub(super) fn skip_blank_lines(&mut self) {
        loop {
            self.skip_spaces();
            if self.at(self.pos) == b'#' {
                self.pos = self.line_end(self.pos);
            }
            if self.at(self.pos) != b'\n' {
                return;
            }
            self.pos += 1;
            self.line_start = self.pos;
        }
    }

    /// Goes to the next text, which must be on another line.
    pub(super) fn next_line(&mut self) -> Option<()> {
        let (pos, line_start) = (self.pos, self.line_start);
        // Most texts are on the line behind the last one.
        if self.at(pos) == b'\n' {
            self.line_start = pos + 1;
            self.pos = spaces_end(self.bytes, self.line_start);
            if !matches!(self.at(self.pos), b'\n' | b'#') {
                return Some(());
            }
        }
        // A comment has a blank in front of it.
        if self.at(pos) == b'#' && self.at(pos - 1) != b' ' {
            return None;
        }
        self.skip_blank_lines();
        (self.line_start != line_start || self.pos >= self.bytes.len()).then_some(())
    }
}
