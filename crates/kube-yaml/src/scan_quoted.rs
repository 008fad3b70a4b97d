//! Scalars in single and double quotes.
//!
//! Owns: escapes, folding, and the rule that continuation lines need no indentation
//! (docs/systems/kubernetes.md#structure-and-characters). Flows in: the scanner at the opening quote. Flows
//! out: one token, borrowed from the text when it is there verbatim. Must not know: what the text means.

use std::borrow::Cow;

use super::character::{ByteSet, byte_set, find_in};
use super::error::{Error, Outcome};
use super::scan_plain::push_break;
use super::scanner::Scanner;
use super::token::{Token, TokenKind};

const IN_SINGLE: ByteSet = byte_set(b"'\n\r\xC2\xE2");
const IN_DOUBLE: ByteSet = byte_set(b"\"\\\n\r\xC2\xE2");

impl<'t> Scanner<'t> {
    pub(super) fn scan_quoted(&mut self, quote: u8) -> Outcome<Token<'t>> {
        let start = self.pos;
        let set = if quote == b'"' { &IN_DOUBLE } else { &IN_SINGLE };
        self.pos += 1;
        let mut owned: Option<String> = None;
        // Verbatim text that has not been copied yet.
        let mut piece = self.pos;
        loop {
            if self.at_document_indicator() {
                return Err(self.cut_off_by_separator(start));
            }
            self.pos = find_in(self.bytes, self.pos, set);
            match self.at(self.pos) {
                byte if byte == quote && byte == b'\'' && self.at(self.pos + 1) == b'\'' => {
                    self.pos += 1;
                    self.copy_piece(&mut owned, piece, self.pos);
                    self.pos += 1;
                    piece = self.pos;
                }
                byte if byte == quote && self.pos < self.bytes.len() => {
                    let content = self.pos;
                    self.pos += 1;
                    let text = match owned {
                        None => self.verbatim(piece, content),
                        Some(mut text) => {
                            text.push_str(self.slice(piece, content));
                            Cow::Owned(text)
                        }
                    };
                    return Ok(Token {
                        kind: TokenKind::Scalar { text, plain: false },
                        start,
                        end: self.pos,
                    });
                }
                0 => return Err(self.never_closed(start, quote)),
                b'\\' => {
                    self.copy_piece(&mut owned, piece, self.pos);
                    let text = owned.get_or_insert_default();
                    let length = self.break_at(self.pos + 1);
                    if length > 0 {
                        self.pos += 1;
                        // An escaped line break is nothing; the empty lines behind it stay.
                        self.fold_lines(text, false);
                    } else {
                        self.scan_escape(text)?;
                    }
                    piece = self.pos;
                }
                b'\n' | b'\r' => {
                    self.fold_piece(&mut owned, piece);
                    piece = self.pos;
                }
                _ if self.break_at(self.pos) > 0 => {
                    self.fold_piece(&mut owned, piece);
                    piece = self.pos;
                }
                _ => self.pos += 1,
            }
        }
    }

    fn copy_piece(&self, owned: &mut Option<String>, from: usize, to: usize) {
        owned.get_or_insert_default().push_str(self.slice(from, to));
    }

    /// Copies the text in front of a line break, without its final blanks, and folds the break.
    fn fold_piece(&mut self, owned: &mut Option<String>, from: usize) {
        let text = owned.get_or_insert_default();
        text.push_str(self.slice(from, self.pos).trim_end_matches([' ', '\t']));
        self.fold_lines(text, true);
    }

    /// Goes over line breaks and blanks, appending what they stand for.
    fn fold_lines(&mut self, text: &mut String, first_counts: bool) {
        let mut breaks = 0usize;
        let mut first_folds = first_counts;
        loop {
            let length = self.break_at(self.pos);
            if length > 0 {
                breaks += 1;
                let stays = length == 3 && self.at(self.pos) != b'\r';
                if breaks == 1 {
                    first_folds &= !stays;
                }
                if breaks > 1 || (stays && first_counts) {
                    push_break(self.text, self.pos, length, text);
                }
                self.pos += length;
                self.line_start = self.pos;
            } else if matches!(self.at(self.pos), b' ' | b'\t') {
                self.pos += 1;
            } else {
                break;
            }
        }
        if breaks == 1 && first_folds {
            text.push(' ');
        }
    }

    /// One escape, `pos` at its backslash.
    fn scan_escape(&mut self, text: &mut String) -> Outcome<()> {
        let start = self.pos;
        let letter = self.at(start + 1);
        let character = match letter {
            b'0' => '\0',
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\u{b}',
            b'f' => '\u{c}',
            b'r' => '\r',
            b'e' => '\u{1b}',
            b' ' | b'"' | b'\'' | b'\\' => char::from(letter),
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.scan_number_escape(2, text),
            b'u' => return self.scan_number_escape(4, text),
            b'U' => return self.scan_number_escape(8, text),
            _ => {
                let end = self.character_end(start + 1);
                let shown = self.slice(start, end);
                let help = if letter == b'/' {
                    "write `/`: only JSON allows `\\/`".to_owned()
                } else {
                    format!("write `\\{shown}` for the same text, or use single quotes")
                };
                return Err(Error::syntax(
                    start..end,
                    format!("`{shown}` is not an escape in YAML"),
                    help,
                ));
            }
        };
        text.push(character);
        self.pos = start + 2;
        Ok(())
    }

    fn scan_number_escape(&mut self, digits: usize, text: &mut String) -> Outcome<()> {
        let start = self.pos;
        let first = start + 2;
        let mut number = 0u32;
        for at in first..first + digits {
            let Some(digit) = char::from(self.at(at)).to_digit(16) else {
                return Err(Error::syntax(
                    start..self.character_end(at.max(start)).max(at),
                    format!("this escape needs {digits} hexadecimal digits"),
                    "write `\\xNN`, `\\uNNNN` or `\\UNNNNNNNN`",
                ));
            };
            number = number.wrapping_mul(16).wrapping_add(digit);
        }
        self.pos = first + digits;
        let Some(character) = char::from_u32(number) else {
            let message = if (0xD800..0xE000).contains(&number) {
                "half of a surrogate pair is not a character"
            } else {
                "no character has this number"
            };
            return Err(Error::syntax(
                start..self.pos,
                message,
                "write the character itself, or `\\U` with its eight digits, such as \"\\U0001F600\"",
            ));
        };
        text.push(character);
        Ok(())
    }

    fn never_closed(&self, start: usize, quote: u8) -> Box<Error> {
        let quote = char::from(quote);
        Error::syntax(
            start..start + 1,
            format!("the text that `{quote}` opens is never closed"),
            format!("close it with `{quote}`"),
        )
    }

    fn cut_off_by_separator(&self, start: usize) -> Box<Error> {
        Error::syntax(
            self.pos..self.pos + 3,
            "a line that starts with `---` or `...` ends the document, even between quotes",
            "indent the line, or write the text on one line with \\n",
        )
        .with_related(start..start + 1, "the text is opened here")
    }
}
