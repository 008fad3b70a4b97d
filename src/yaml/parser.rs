//! From tokens to events: the grammar of YAML.
//!
//! Owns: which token may follow which, what an absent node is, and the refusal of a second document. Flows in:
//! tokens. Flows out: events. Must not know: indentation, values, anchors' meaning.
//!
//! No recursion: what is open stands on a stack of states, so deep nesting costs memory only.

use std::borrow::Cow;
use std::ops::Range;

use super::error::{Error, ErrorKind, Outcome};
use super::event::{Event, Events, Properties};
use super::scan_property::resolve_tag;
use super::scanner::Scanner;
use super::token::{TagText, TokenKind};

/// What the parser expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Directives, `---` or the root node.
    DocumentStart,
    /// Nothing but the end.
    DocumentEnd,
    /// `- ` or the end, of a list that is indented.
    BlockEntry,
    /// `- ` of a list that is not indented under its key.
    IndentlessEntry,
    BlockKey,
    BlockValue,
    FlowEntry {
        first: bool,
    },
    /// The key of a single pair in a flow list: `[a: b]`.
    PairKey,
    PairValue,
    PairEnd,
    FlowKey {
        first: bool,
    },
    FlowValue {
        empty: bool,
    },
}

/// Which nodes may stand at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    /// Scalars and flow collections.
    Flow,
    /// Block collections too.
    Block,
    /// And a list at the indentation of the key.
    BlockOrIndentless,
}

/// Reads the events of one document.
#[derive(Debug)]
pub(super) struct Parser<'t> {
    scanner: Scanner<'t>,
    state: State,
    outer: Vec<State>,
    /// Where the open flow collections begin, for the message that one is never closed.
    open_flow: Vec<usize>,
    tag_directives: Vec<TagText<'t>>,
    /// The end of the last token that was text, where an absent node is said to stand.
    last_end: usize,
}

impl<'t> Parser<'t> {
    /// A parser in front of the document.
    pub(super) fn new(scanner: Scanner<'t>) -> Self {
        Self {
            scanner,
            state: State::DocumentStart,
            outer: Vec::new(),
            open_flow: Vec::new(),
            tag_directives: Vec::new(),
            last_end: 0,
        }
    }

    fn peek(&mut self) -> Outcome<&TokenKind<'t>> {
        Ok(&self.scanner.peek()?.kind)
    }

    fn peek_range(&mut self) -> Outcome<Range<usize>> {
        let token = self.scanner.peek()?;
        Ok(token.start..token.end)
    }

    /// Takes an indicator.
    fn skip(&mut self) -> Outcome<Range<usize>> {
        let token = self.scanner.take()?;
        if token.end > token.start {
            self.last_end = token.end;
        }
        Ok(token.start..token.end)
    }

    fn pop(&mut self) {
        self.state = self.outer.pop().unwrap_or(State::DocumentEnd);
    }

    /// The node after which `then` holds.
    fn node_then(&mut self, then: State, allowed: Allowed) -> Outcome<Event<'t>> {
        self.outer.push(then);
        self.node(allowed)
    }

    /// An absent node, after which `then` holds.
    fn absent_then(&mut self, then: State) -> Event<'t> {
        self.state = then;
        self.absent(None)
    }

    fn absent(&self, properties: Option<Box<Properties<'t>>>) -> Event<'t> {
        let range = self.last_end..self.last_end;
        Event::Scalar {
            text: Cow::Borrowed(""),
            plain: true,
            properties,
            range,
        }
    }

    fn node(&mut self, allowed: Allowed) -> Outcome<Event<'t>> {
        let properties = match self.peek()? {
            TokenKind::Anchor(_) | TokenKind::Tag(_) => Some(self.properties()?),
            _ => None,
        };
        let token = self.scanner.peek()?;
        let range = token.start..token.end;
        match &token.kind {
            TokenKind::Scalar { .. } => {
                let token = self.scanner.take()?;
                self.last_end = token.end;
                let TokenKind::Scalar { text, plain } = token.kind else {
                    return self.no_node();
                };
                self.pop();
                Ok(Event::Scalar {
                    text,
                    plain,
                    properties,
                    range,
                })
            }
            TokenKind::Alias(name) if properties.is_none() => {
                let name = *name;
                self.skip()?;
                self.pop();
                Ok(Event::Alias { name, range })
            }
            TokenKind::BlockMappingStart if allowed != Allowed::Flow => {
                self.skip()?;
                self.state = State::BlockKey;
                Ok(Event::MappingStart { properties, range })
            }
            TokenKind::BlockSequenceStart if allowed != Allowed::Flow => {
                self.skip()?;
                self.state = State::BlockEntry;
                Ok(Event::SequenceStart { properties, range })
            }
            TokenKind::BlockEntry if allowed == Allowed::BlockOrIndentless => {
                self.state = State::IndentlessEntry;
                Ok(Event::SequenceStart {
                    properties,
                    range: range.start..range.start,
                })
            }
            TokenKind::FlowMappingStart => {
                self.skip()?;
                self.open_flow.push(range.start);
                self.state = State::FlowKey { first: true };
                Ok(Event::MappingStart { properties, range })
            }
            TokenKind::FlowSequenceStart => {
                self.skip()?;
                self.open_flow.push(range.start);
                self.state = State::FlowEntry { first: true };
                Ok(Event::SequenceStart { properties, range })
            }
            _ if properties.is_some() => {
                self.pop();
                Ok(self.absent(properties))
            }
            _ => self.no_node(),
        }
    }

    /// One anchor, one tag, or both, in either order.
    fn properties(&mut self) -> Outcome<Box<Properties<'t>>> {
        let mut found = Properties {
            range: self.peek_range()?,
            ..Properties::default()
        };
        loop {
            let first_of_kind = match self.peek()? {
                TokenKind::Anchor(_) => found.anchor.is_none(),
                TokenKind::Tag(_) => found.tag.is_none(),
                _ => false,
            };
            if !first_of_kind {
                return Ok(Box::new(found));
            }
            let token = self.scanner.take()?;
            self.last_end = token.end;
            found.range.end = token.end;
            match token.kind {
                TokenKind::Anchor(name) => found.anchor = Some(name),
                TokenKind::Tag(tag) => {
                    let tag = resolve_tag(*tag, &self.tag_directives, token.start..token.end)?;
                    found.tag = Some(tag);
                }
                _ => {}
            }
        }
    }

    fn document_start(&mut self) -> Outcome<Event<'t>> {
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
                            "this directive is there already",
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
                        "a `%` directive has to be followed by its document, behind `---` in the same chunk",
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

    fn document_end(&mut self) -> Outcome<Event<'t>> {
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
                "Kubernetes silently drops the text behind `...`",
                "separate documents with `---`, or remove what follows",
            )
        } else {
            (
                "Kubernetes silently drops the text behind the end of the document's value",
                "indent it to fit the value above, separate it with `---`, or remove it",
            )
        };
        Err(Error::new(ErrorKind::Dropped, start..end, message, help))
    }

    fn block_entry(&mut self) -> Outcome<Event<'t>> {
        match self.peek()? {
            TokenKind::BlockEntry => {
                self.skip()?;
                match self.peek()? {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => Ok(self.absent_then(State::BlockEntry)),
                    _ => self.node_then(State::BlockEntry, Allowed::Block),
                }
            }
            TokenKind::BlockEnd => {
                self.skip()?;
                self.pop();
                Ok(Event::End { at: self.last_end })
            }
            _ => self.not_expected(
                "this line is indented like an entry of the list, but does not start with `- `",
                "start it with `- `, or fit its indentation to the lines above",
            ),
        }
    }

    fn indentless_entry(&mut self) -> Outcome<Event<'t>> {
        if *self.peek()? != TokenKind::BlockEntry {
            self.pop();
            return Ok(Event::End { at: self.last_end });
        }
        self.skip()?;
        match self.peek()? {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.absent_then(State::IndentlessEntry))
            }
            _ => self.node_then(State::IndentlessEntry, Allowed::Block),
        }
    }

    fn block_key(&mut self) -> Outcome<Event<'t>> {
        match self.peek()? {
            TokenKind::Key => {
                self.skip()?;
                match self.peek()? {
                    TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                        Ok(self.absent_then(State::BlockValue))
                    }
                    _ => self.node_then(State::BlockValue, Allowed::BlockOrIndentless),
                }
            }
            TokenKind::BlockEnd => {
                self.skip()?;
                self.pop();
                Ok(Event::End { at: self.last_end })
            }
            TokenKind::Value => self.no_node(),
            _ => self.not_expected(
                "a key of the mapping should stand here",
                "write `key: value`, fit the indentation to the lines above, or quote the value above if it is a \
                 text",
            ),
        }
    }

    fn block_value(&mut self) -> Outcome<Event<'t>> {
        if *self.peek()? != TokenKind::Value {
            return Ok(self.absent_then(State::BlockKey));
        }
        self.skip()?;
        match self.peek()? {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => Ok(self.absent_then(State::BlockKey)),
            _ => self.node_then(State::BlockKey, Allowed::BlockOrIndentless),
        }
    }

    fn close_flow(&mut self) -> Outcome<Event<'t>> {
        let at = self.skip()?.end;
        self.open_flow.pop();
        self.pop();
        Ok(Event::End { at })
    }

    fn flow_entry(&mut self, first: bool) -> Outcome<Event<'t>> {
        if !first {
            match self.peek()? {
                TokenKind::FlowEntry => {
                    self.skip()?;
                }
                TokenKind::FlowSequenceEnd => {}
                _ => return self.flow_not_closed("`,` or `]`"),
            }
        }
        match self.peek()? {
            TokenKind::FlowSequenceEnd => self.close_flow(),
            TokenKind::Key => {
                let range = self.skip()?;
                self.state = State::PairKey;
                Ok(Event::MappingStart {
                    properties: None,
                    range,
                })
            }
            _ => self.node_then(State::FlowEntry { first: false }, Allowed::Flow),
        }
    }

    fn flow_key(&mut self, first: bool) -> Outcome<Event<'t>> {
        if !first {
            match self.peek()? {
                TokenKind::FlowEntry => {
                    self.skip()?;
                }
                TokenKind::FlowMappingEnd => {}
                _ => return self.flow_not_closed("`,` or `}`"),
            }
        }
        match self.peek()? {
            TokenKind::FlowMappingEnd => self.close_flow(),
            TokenKind::Key => {
                self.skip()?;
                match self.peek()? {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        Ok(self.absent_then(State::FlowValue { empty: false }))
                    }
                    _ => self.node_then(State::FlowValue { empty: false }, Allowed::Flow),
                }
            }
            _ => self.node_then(State::FlowValue { empty: true }, Allowed::Flow),
        }
    }

    fn flow_value(&mut self, empty: bool) -> Outcome<Event<'t>> {
        let then = State::FlowKey { first: false };
        if empty || *self.peek()? != TokenKind::Value {
            return Ok(self.absent_then(then));
        }
        self.skip()?;
        match self.peek()? {
            TokenKind::FlowEntry | TokenKind::FlowMappingEnd => Ok(self.absent_then(then)),
            _ => self.node_then(then, Allowed::Flow),
        }
    }

    fn pair_key(&mut self) -> Outcome<Event<'t>> {
        match self.peek()? {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                Ok(self.absent_then(State::PairValue))
            }
            _ => self.node_then(State::PairValue, Allowed::Flow),
        }
    }

    fn pair_value(&mut self) -> Outcome<Event<'t>> {
        if *self.peek()? != TokenKind::Value {
            return Ok(self.absent_then(State::PairEnd));
        }
        self.skip()?;
        match self.peek()? {
            TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => Ok(self.absent_then(State::PairEnd)),
            _ => self.node_then(State::PairEnd, Allowed::Flow),
        }
    }

    fn no_node(&mut self) -> Outcome<Event<'t>> {
        let range = self.peek_range()?;
        let message = match self.peek()? {
            TokenKind::FlowEntry => "a value is missing in front of `,`",
            TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd => {
                "a value is missing in front of the bracket"
            }
            TokenKind::BlockEntry => "a list of `- ` entries cannot stand inside `[ ]` or `{ }`",
            TokenKind::Value => "a key is missing in front of `:`",
            TokenKind::StreamEnd => return self.flow_not_closed("a value"),
            TokenKind::DocumentEnd => "`...` ends a document that has not begun",
            _ => "no value can stand here",
        };
        Err(Error::syntax(
            range,
            message,
            "quote what is meant as text, or remove it",
        ))
    }

    fn flow_not_closed(&mut self, expected: &str) -> Outcome<Event<'t>> {
        let range = self.peek_range()?;
        let at_end = matches!(
            self.peek()?,
            TokenKind::StreamEnd | TokenKind::DocumentStart | TokenKind::DocumentEnd
        );
        let Some(start) = self.open_flow.last().copied() else {
            return self.not_expected(
                "no value can stand here",
                "quote what is meant as text, or remove it",
            );
        };
        let (range, message) = if at_end {
            (
                start..start + 1,
                format!("this bracket is never closed: {expected} is missing at the end"),
            )
        } else {
            (range, format!("{expected} is missing in front of this"))
        };
        Err(Error::syntax(
            range,
            message,
            "separate entries with `,`, close the bracket, or quote the text",
        )
        .with_related(start..start + 1, "the bracket opens here"))
    }

    fn not_expected(&mut self, message: &str, help: &str) -> Outcome<Event<'t>> {
        let range = self.peek_range()?;
        let end = if range.is_empty() {
            self.scanner.line_end(range.start)
        } else {
            range.end
        };
        Err(Error::syntax(range.start..end, message, help))
    }
}

impl<'t> Events<'t> for Parser<'t> {
    fn next(&mut self) -> Outcome<Event<'t>> {
        match self.state {
            State::DocumentStart => self.document_start(),
            State::DocumentEnd => self.document_end(),
            State::BlockEntry => self.block_entry(),
            State::IndentlessEntry => self.indentless_entry(),
            State::BlockKey => self.block_key(),
            State::BlockValue => self.block_value(),
            State::FlowEntry { first } => self.flow_entry(first),
            State::FlowKey { first } => self.flow_key(first),
            State::FlowValue { empty } => self.flow_value(empty),
            State::PairKey => self.pair_key(),
            State::PairValue => self.pair_value(),
            State::PairEnd => {
                self.state = State::FlowEntry { first: false };
                Ok(Event::End { at: self.last_end })
            }
        }
    }
}
