//! Where a document begins and ends, and the parser's messages about unexpected tokens.
//!
//! Owns: directives, `---`, `...`, the refusal of what follows the root node, and the parser's messages. Flows in:
//! tokens at the borders of a document. Flows out: events, errors. Must not know: collections.

use super::error::{Error, ErrorKind, Outcome};
use super::event::Event;
use super::parser::{Allowed, Parser, State};
use super::token::TokenKind;

impl<'t> Parser<'t> {
    pub(super) fn document_start(&mut self) -> Outcome<Event<'t>> {
        let mut has_directives = false;
        let mut has_version = false;
        loop {
            match self.peek()? {
                TokenKind::VersionDirective | TokenKind::TagDirective(_) => {
                    let token = self.scanner.take()?;
                    let is_repeated = if let TokenKind::TagDirective(directive) = token.kind {
                        let is_known = self
                            .tag_directives
                            .iter()
                            .any(|known| known.handle == directive.handle);
                        self.tag_directives.push(*directive);
                        is_known
                    } else {
                        std::mem::replace(&mut has_version, true)
                    };
                    if is_repeated {
                        return Err(Error::syntax(
                            token.start..token.end,
                            "this directive is repeated",
                            "remove one of the two",
                        ));
                    }
                }
                TokenKind::DocumentStart => {
                    self.skip()?;
                    break;
                }
                TokenKind::StreamEnd if !has_directives => break,
                _ if has_directives => {
                    let range = self.peek_range()?;
                    return Err(Error::syntax(
                        range,
                        "a `%` directive must be followed by `---` and its document, in the same chunk",
                        "remove the line that starts with `%`",
                    ));
                }
                _ => return self.node_then(State::DocumentEnd, Allowed::Block),
            }
            has_directives = true;
        }
        match self.peek()? {
            TokenKind::StreamEnd
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::VersionDirective
            | TokenKind::TagDirective(_) => Ok(self.absent_then(State::DocumentEnd)),
            _ => self.node_then(State::DocumentEnd, Allowed::Block),
        }
    }

    pub(super) fn document_end(&mut self) -> Outcome<Event<'t>> {
        let mut after_marker = false;
        loop {
            match self.peek()? {
                TokenKind::StreamEnd => return Ok(Event::DocumentEnd),
                TokenKind::DocumentEnd => {
                    after_marker = true;
                    self.skip()?;
                }
                _ => break,
            }
        }
        let start = self.peek_range()?.start;
        let end = self.scanner.line_end(start);
        let (message, help) = if after_marker {
            (
                "Kubernetes silently drops text after `...`",
                "separate documents with `---`, or remove what follows",
            )
        } else {
            (
                "Kubernetes silently drops text after the value of the document",
                "indent it to match the value above, separate it with `---`, or remove it",
            )
        };
        Err(Error::new(ErrorKind::Dropped, start..end, message, help))
    }

    pub(super) fn no_node(&mut self) -> Outcome<Event<'t>> {
        let range = self.peek_range()?;
        let message = match self.peek()? {
            TokenKind::FlowEntry => "a value is missing before `,`",
            TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd => "a value is missing before the bracket",
            TokenKind::BlockEntry => "a list of `- ` entries is not allowed inside `[ ]` or `{ }`",
            TokenKind::Value => "a key is missing before `:`",
            TokenKind::StreamEnd => return self.flow_not_closed("a value"),
            TokenKind::DocumentEnd => "`...` ends a document that has not begun",
            _ => "no value is allowed here",
        };
        Err(Error::syntax(
            range,
            message,
            "quote it if it is text, or remove it",
        ))
    }

    pub(super) fn flow_not_closed(&mut self, expected: &str) -> Outcome<Event<'t>> {
        let range = self.peek_range()?;
        let at_end = matches!(
            self.peek()?,
            TokenKind::StreamEnd | TokenKind::DocumentStart | TokenKind::DocumentEnd
        );
        let Some(start) = self.open_flow.last().copied() else {
            return self.not_expected("no value is allowed here", "quote it if it is text, or remove it");
        };
        let (range, message) = if at_end {
            (
                start..start + 1,
                format!("this bracket is never closed: {expected} is missing at the end"),
            )
        } else {
            (range, format!("{expected} is missing before this"))
        };
        Err(Error::syntax(
            range,
            message,
            "separate entries with `,`, close the bracket, or quote the text",
        )
        .with_related(start..start + 1, "the bracket opens here"))
    }

    pub(super) fn not_expected(&mut self, message: &'static str, help: &'static str) -> Outcome<Event<'t>> {
        let range = self.peek_range()?;
        let end = if range.is_empty() {
            self.scanner.line_end(range.start)
        } else {
            range.end
        };
        Err(Error::syntax(range.start..end, message, help))
    }
}
