//! Scalars without quotes.
//!
//! Owns: where a plain scalar ends and how its lines fold. Flows in: the scanner at its first character. Flows
//! out: one token, borrowed from the text when it is on one line. Must not know: what the text means.

use std::borrow::Cow;

use super::character::{ByteSet, break_length, byte_set, find_in};
use super::error::{Error, Outcome};
use super::scanner::Scanner;
use super::token::{Token, TokenKind};

/// Bytes at which a plain scalar may end. 0xC2 and 0xE2 begin NEL, LS and PS.
const IN_BLOCK: ByteSet = byte_set(b" \t\n\r:\xC2\xE2");
const IN_FLOW: ByteSet = byte_set(b" \t\n\r:\xC2\xE2,?[]{}");

/// One line of a plain scalar.
struct Line {
    /// The end of its text, without blanks behind it.
    end: usize,
    /// Where looking stopped: at a line break, or at what ends the scalar.
    stop: usize,
    /// Whether a line break is there.
    at_break: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn scan_plain(&mut self) -> Outcome<Token<'t>> {
        let start = self.pos;
        let least_column = self.indent + 1;
        let mut line = self.plain_line(start);
        let mut end = line.end;
        let mut folded: Option<String> = None;
        let mut after_break = false;
        loop {
            if !line.at_break {
                if !after_break || line.end > self.pos {
                    self.pos = line.stop;
                    after_break = false;
                }
                break;
            }
            let gap = line.stop;
            self.pos = gap;
            self.skip_lines_in_plain(least_column)?;
            after_break = true;
            let outdented = !self.in_flow() && self.column() < least_column;
            if outdented || self.at_document_indicator() || self.at(self.pos) == b'#' {
                break;
            }
            line = self.plain_line(self.pos);
            if line.end == self.pos {
                break;
            }
            after_break = false;
            let joined = folded.get_or_insert_with(|| self.slice(start, end).to_owned());
            fold(
                self.text.get(gap..self.pos).unwrap_or(""),
                self.joined_lines,
                joined,
            );
            joined.push_str(self.text.get(self.pos..line.end).unwrap_or(""));
            end = line.end;
        }
        if after_break {
            self.key_allowed = true;
        }
        let text = folded.map_or_else(|| self.verbatim(start, end), Cow::Owned);
        Ok(Token {
            kind: TokenKind::Scalar { text, plain: true },
            start,
            end,
        })
    }

    /// The part of the line from `at` that belongs to a plain scalar.
    fn plain_line(&self, at: usize) -> Line {
        let set = if self.in_flow() { &IN_FLOW } else { &IN_BLOCK };
        let mut at = at;
        loop {
            at = find_in(self.bytes, at, set);
            match self.at(at) {
                b':' if !self.is_gap(at + 1) => at += 1,
                b' ' | b'\t' => {
                    let mut next = at + 1;
                    while matches!(self.at(next), b' ' | b'\t') {
                        next += 1;
                    }
                    if self.break_at(next) > 0 {
                        return Line {
                            end: at,
                            stop: next,
                            at_break: true,
                        };
                    }
                    let ends = match self.at(next) {
                        0 | b'#' => true,
                        b':' => self.is_gap(next + 1),
                        byte => self.in_flow() && matches!(byte, b',' | b'?' | b'[' | b']' | b'{' | b'}'),
                    };
                    if ends {
                        return Line {
                            end: at,
                            stop: next,
                            at_break: false,
                        };
                    }
                    at = next;
                }
                b'\n' | b'\r' => {
                    return Line {
                        end: at,
                        stop: at,
                        at_break: true,
                    };
                }
                0xC2 | 0xE2 if self.break_at(at) == 0 => at += 1,
                0xC2 | 0xE2 => {
                    return Line {
                        end: at,
                        stop: at,
                        at_break: true,
                    };
                }
                _ => {
                    return Line {
                        end: at,
                        stop: at,
                        at_break: false,
                    };
                }
            }
        }
    }

    /// Goes over line breaks and the blanks in front of the next line's text.
    fn skip_lines_in_plain(&mut self, least_column: isize) -> Outcome<()> {
        loop {
            let length = self.break_at(self.pos);
            if length > 0 {
                self.pos += length;
                self.line_start = self.pos;
                continue;
            }
            match self.at(self.pos) {
                b' ' => self.pos += 1,
                b'\t' if self.column() < least_column => {
                    return Err(Error::syntax(
                        self.pos..self.pos + 1,
                        "a tab cannot indent",
                        "indent with spaces",
                    ));
                }
                b'\t' => self.pos += 1,
                _ => return Ok(()),
            }
        }
    }
}

/// Appends what the line breaks in `gap` stand for: one folds to a space, of more each but the first stays; LS
/// and PS stay as they are.
fn fold(gap: &str, joined_lines: bool, out: &mut String) {
    let bytes = gap.as_bytes();
    let mut at = 0;
    let mut breaks = 0usize;
    let mut first_folds = true;
    while at < bytes.len() {
        let length = break_length(bytes, at, joined_lines);
        if length == 0 {
            at += 1;
            continue;
        }
        let stays = length == 3 && bytes.get(at) != Some(&b'\r');
        breaks += 1;
        if breaks == 1 {
            first_folds = !stays;
        }
        if breaks > 1 || stays {
            push_break(gap, at, length, out);
        }
        at += length;
    }
    if breaks == 1 && first_folds {
        out.push(' ');
    }
}

/// Appends one line break as the value has it: LS and PS as they are, all others as LF.
pub(super) fn push_break(text: &str, at: usize, length: usize, out: &mut String) {
    match text.get(at..at + length) {
        Some(kept) if length == 3 && !kept.starts_with('\r') => out.push_str(kept),
        _ => out.push('\n'),
    }
}
