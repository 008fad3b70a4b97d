//! Which token is at a place in the text.
//!
//! Owns: the choice by the first byte, what lies between tokens, and what each token does to keys and indentation.
//! Flows in: the scanner behind the last token. Flows out: at least one more token in its queue. Must not know:
//! how scalars, tags and anchors are spelled (the `scan_` modules do).

use super::error::{Error, ErrorKind, Outcome};
use super::scanner::{LONGEST_SIMPLE_KEY, PossibleKey, Scanner};
use super::token::{Token, TokenKind};

impl<'t> Scanner<'t> {
    /// Skips blanks, comments and line breaks.
    fn skip_to_token(&mut self) -> Outcome<()> {
        loop {
            self.refuse_mark()?;
            // A tab never indents what could be a block collection.
            let tabs = self.in_flow() || !self.key_allowed;
            while self.at(self.pos) == b' ' || (tabs && self.at(self.pos) == b'\t') {
                self.pos += 1;
            }
            if self.at(self.pos) == b'#' {
                self.pos = self.line_end(self.pos);
            }
            let length = self.break_at(self.pos);
            if length == 0 {
                return Ok(());
            }
            self.pos += length;
            self.line_start = self.pos;
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }

    /// A byte order mark is skipped at the start of the text only. Where a line begins with one, go-yaml takes it for
    /// part of a key or a value, and other readers skip it: no such text has a meaning that is safe to pass on.
    fn refuse_mark(&self) -> Outcome<()> {
        let mark = '\u{feff}';
        if self.pos != self.line_start
            || self.at(self.pos) != 0xEF
            || !self
                .text
                .get(self.pos..)
                .is_some_and(|tail| tail.starts_with(mark))
        {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Syntax,
            self.pos..self.pos.saturating_add(mark.len_utf8()),
            "this line starts with an invisible byte order mark (U+FEFF)",
            "delete it: it is allowed only at the start of a file (joined files often contain one)",
        ))
    }

    /// Puts at least one more token into the queue, unless the text has ended.
    pub(super) fn fetch(&mut self) -> Outcome<()> {
        self.skip_to_token()?;
        self.unroll_indent(self.column());
        let byte = self.at(self.pos);
        if self.pos == self.line_start {
            if byte == b'%' {
                return self.fetch_directive();
            }
            if self.at_document_indicator() {
                return self.fetch_document_indicator(byte);
            }
        }
        match byte {
            0 => self.fetch_stream_end(),
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.is_gap(self.pos + 1) => self.fetch_block_entry(),
            b'?' if self.in_flow() || self.is_gap(self.pos + 1) => self.fetch_key(),
            b':' if self.in_flow() || self.is_gap(self.pos + 1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(byte),
            b'!' => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.scan_tag()?;
                self.queue.push_back(token);
                Ok(())
            }
            b'|' | b'>' if !self.in_flow() => {
                self.remove_key()?;
                self.key_allowed = true;
                let token = self.scan_block_scalar(byte == b'|')?;
                self.queue.push_back(token);
                Ok(())
            }
            b'\'' | b'"' => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.scan_quoted(byte)?;
                self.queue.push_back(token);
                Ok(())
            }
            b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => Err(self.cannot_start(byte)),
            _ => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.scan_plain()?;
                self.queue.push_back(token);
                Ok(())
            }
        }
    }

    fn push_indicator(&mut self, kind: TokenKind<'t>, length: usize) {
        let start = self.pos;
        self.pos += length;
        self.queue.push_back(Token {
            kind,
            start,
            end: self.pos,
        });
    }

    fn fetch_stream_end(&mut self) -> Outcome<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.ended = true;
        self.push_indicator(TokenKind::StreamEnd, 0);
        Ok(())
    }

    fn fetch_directive(&mut self) -> Outcome<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        if let Some(token) = self.scan_directive()? {
            self.queue.push_back(token);
        }
        Ok(())
    }

    fn fetch_document_indicator(&mut self, byte: u8) -> Outcome<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        let kind = if byte == b'-' {
            TokenKind::DocumentStart
        } else {
            TokenKind::DocumentEnd
        };
        self.push_indicator(kind, 3);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'t>) -> Outcome<()> {
        self.save_key()?;
        self.keys.push(PossibleKey::default());
        self.key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'t>) -> Outcome<()> {
        self.remove_key()?;
        if self.keys.len() > 1 {
            self.keys.pop();
        }
        self.key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Outcome<()> {
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Outcome<()> {
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(Error::syntax(
                    self.pos..self.pos + 1,
                    "a list cannot begin on the line of its key",
                    "put each `- ` on a line of its own; quote the text if `-` is meant as text",
                ));
            }
            self.roll_indent(self.column(), None, TokenKind::BlockSequenceStart, self.pos);
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Outcome<()> {
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(Error::syntax(
                    self.pos..self.pos + 1,
                    "`? ` starts a key, and no key can begin here",
                    "quote the text if `?` is meant as text",
                ));
            }
            self.roll_indent(self.column(), None, TokenKind::BlockMappingStart, self.pos);
        }
        self.remove_key()?;
        self.key_allowed = !self.in_flow();
        self.push_indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Outcome<()> {
        let level = self.keys.len().saturating_sub(1);
        if self.key_still_fits(level)? {
            let key = self.keys.get(level).copied().unwrap_or_default();
            self.insert(
                key.token,
                Token {
                    kind: TokenKind::Key,
                    start: key.pos,
                    end: key.pos,
                },
            );
            let column = isize::try_from(key.pos - key.line_start).unwrap_or(isize::MAX);
            self.roll_indent(column, Some(key.token), TokenKind::BlockMappingStart, key.pos);
            if let Some(key) = self.keys.last_mut() {
                key.possible = false;
            }
            // A key cannot follow a key on the same line.
            self.key_allowed = false;
        } else {
            if !self.in_flow() {
                if !self.key_allowed {
                    return Err(self.colon_out_of_place());
                }
                self.roll_indent(self.column(), None, TokenKind::BlockMappingStart, self.pos);
            }
            self.key_allowed = !self.in_flow();
        }
        self.push_indicator(TokenKind::Value, 1);
        Ok(())
    }

    fn fetch_anchor(&mut self, byte: u8) -> Outcome<()> {
        self.save_key()?;
        self.key_allowed = false;
        let token = self.scan_anchor(byte)?;
        self.queue.push_back(token);
        Ok(())
    }

    fn colon_out_of_place(&self) -> Box<Error> {
        let place = self.pos..self.pos + 1;
        let key = self.keys.last().copied().unwrap_or_default();
        if self.line_start == key.line_start && self.pos.saturating_sub(key.pos) > LONGEST_SIMPLE_KEY {
            return Error::syntax(
                place,
                "a key ends at most 1,024 characters after its start",
                "write `? ` before a key this long, and `: ` in front of its value on the next line",
            );
        }
        Error::syntax(
            place,
            "`: ` starts a value, and no value can begin here",
            "quote the whole text if `: ` is part of it; otherwise look at the indentation of this line and the \
             one above",
        )
    }

    fn cannot_start(&self, byte: u8) -> Box<Error> {
        let shown = char::from(byte);
        let place = self.pos..self.pos + 1;
        if byte == b'\t' {
            return Error::syntax(place, "a tab cannot indent", "indent with spaces");
        }
        let word = self.word_here();
        Error::syntax(
            place,
            format!("text without quotes cannot start with `{shown}`"),
            format!("quote the text: {}", super::style::double_quoted(&word)),
        )
    }

    /// The rest of this line up to a comment, for help lines; at most 60 characters.
    pub(super) fn word_here(&self) -> String {
        let line = self.slice(self.pos, self.line_end(self.pos));
        let mut end = line.find(" #").unwrap_or(line.len());
        if self.in_flow() {
            end = end.min(line.find([',', ']', '}']).unwrap_or(line.len()));
        }
        let word = line.get(..end).unwrap_or(line).trim_end();
        let word = word.strip_suffix(':').unwrap_or(word);
        word.chars().take(60).collect()
    }
}
