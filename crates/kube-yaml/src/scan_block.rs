//! Block scalars: `|` and `>`.
//!
//! Owns: their header, their indentation, folding and chomping. Flows in: the scanner at the `|` or `>`. Flows
//! out: one token. Must not know: what the text means.

use std::borrow::Cow;

use super::error::{Error, Outcome};
use super::scan_plain::push_break;
use super::scanner::Scanner;
use super::token::{Token, TokenKind};

/// How final line breaks are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// `-`: none stays.
    Strip,
    /// Nothing: one stays.
    Clip,
    /// `+`: all stay.
    Keep,
}

impl<'t> Scanner<'t> {
    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Outcome<Token<'t>> {
        let start = self.pos;
        self.pos += 1;
        let (chomping, increment) = self.scan_block_header()?;
        let base = self.indent.max(0);
        let mut indent = increment.map(|increment| base + increment);
        let mut text = String::new();
        // The end of the last line of text, and the line breaks since.
        let mut end = self.pos;
        let mut leading_break = String::new();
        let mut empty_lines = String::new();
        self.scan_empty_lines(&mut indent, &mut empty_lines)?;
        let indent = indent.unwrap_or(1);
        let mut previous_is_indented = false;
        while self.column() == indent && self.pos < self.bytes.len() {
            let is_indented = matches!(self.at(self.pos), b' ' | b'\t');
            let folds = !literal && !previous_is_indented && !is_indented && leading_break == "\n";
            if !folds {
                text.push_str(&leading_break);
            } else if empty_lines.is_empty() {
                text.push(' ');
            }
            text.push_str(&empty_lines);
            leading_break.clear();
            empty_lines.clear();
            previous_is_indented = is_indented;
            end = self.line_end(self.pos);
            text.push_str(self.slice(self.pos, end));
            self.pos = end;
            self.take_break(&mut leading_break);
            self.scan_empty_lines(&mut Some(indent), &mut empty_lines)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(&leading_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&empty_lines);
        }
        Ok(Token {
            kind: TokenKind::Scalar {
                text: Cow::Owned(text),
                plain: false,
            },
            start,
            end,
        })
    }

    /// What follows `|` or `>` on its line: chomping and indentation, in either order.
    fn scan_block_header(&mut self) -> Outcome<(Chomping, Option<isize>)> {
        let mut chomping = None;
        let mut increment = None;
        loop {
            match self.at(self.pos) {
                b'+' if chomping.is_none() => chomping = Some(Chomping::Keep),
                b'-' if chomping.is_none() => chomping = Some(Chomping::Strip),
                b'0' if increment.is_none() => {
                    return Err(Error::syntax(
                        self.pos..self.pos + 1,
                        "a block scalar cannot be indented by 0 spaces",
                        "remove the number, or write the number of spaces, 1 to 9",
                    ));
                }
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(isize::from(digit - b'0')),
                _ => break,
            }
            self.pos += 1;
        }
        while matches!(self.at(self.pos), b' ' | b'\t') {
            self.pos += 1;
        }
        if self.at(self.pos) == b'#' {
            self.pos = self.line_end(self.pos);
        }
        let length = self.break_at(self.pos);
        if length == 0 && self.pos < self.bytes.len() {
            return Err(Error::syntax(
                self.pos..self.character_end(self.pos),
                "only `+`, `-`, a digit, and a comment can follow `|` or `>` on the same line",
                "begin the text on the next line, indented; or quote it if `|` or `>` is part of it",
            ));
        }
        if length > 0 {
            self.pos += length;
            self.line_start = self.pos;
        }
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    /// Goes over empty lines up to the next text; finds the indentation when it is not known yet.
    fn scan_empty_lines(&mut self, indent: &mut Option<isize>, breaks: &mut String) -> Outcome<()> {
        let mut deepest = 0;
        loop {
            while self.at(self.pos) == b' ' && indent.is_none_or(|indent| self.column() < indent) {
                self.pos += 1;
            }
            deepest = deepest.max(self.column());
            if self.at(self.pos) == b'\t' && indent.is_none_or(|indent| self.column() < indent) {
                return Err(Error::syntax(
                    self.pos..self.pos + 1,
                    "a tab cannot indent a block scalar",
                    "indent with spaces; quote text that starts with a tab",
                ));
            }
            if !self.take_break(breaks) {
                break;
            }
        }
        if indent.is_none() {
            *indent = Some(deepest.max(self.indent + 1).max(1));
        }
        Ok(())
    }

    /// Appends the line break at `pos`, if one is there, and goes over it.
    fn take_break(&mut self, out: &mut String) -> bool {
        let length = self.break_at(self.pos);
        if length == 0 {
            return false;
        }
        if self.at(self.pos) == b'\n' {
            out.push('\n');
        } else {
            push_break(self.text, self.pos, length, out);
        }
        self.pos += length;
        self.line_start = self.pos;
        true
    }
}
