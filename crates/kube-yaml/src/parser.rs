//! From tokens to events: the grammar of YAML.
//!
//! Owns: which token may follow which, what an absent node is, and the refusal of a second document. Flows in:
//! tokens. Flows out: events. Must not know: indentation, values, anchors' meaning.
//!
//! There is no recursion: open nodes are on a stack of states, so deep nesting costs only memory.

use std::borrow::Cow;
use std::ops::Range;

use super::error::Outcome;
use super::event::{Event, Events, Properties};
use super::scan_property::resolve_tag;
use super::scanner::Scanner;
use super::token::{TagText, TokenKind};

/// What the parser expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
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

/// Which nodes may be at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
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
    pub(super) scanner: Scanner<'t>,
    pub(super) state: State,
    pub(super) outer: Vec<State>,
    /// Where the open flow collections begin, for the message that one is never closed.
    pub(super) open_flow: Vec<usize>,
    pub(super) tag_directives: Vec<TagText<'t>>,
    /// The end of the last token that was text, where an absent node is said to stand.
    pub(super) last_end: usize,
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

    pub(super) fn peek(&mut self) -> Outcome<&TokenKind<'t>> {
        Ok(&self.scanner.peek()?.kind)
    }

    pub(super) fn peek_range(&mut self) -> Outcome<Range<usize>> {
        let token = self.scanner.peek()?;
        Ok(token.start..token.end)
    }

    /// Takes an indicator.
    pub(super) fn skip(&mut self) -> Outcome<Range<usize>> {
        let token = self.scanner.take()?;
        if token.end > token.start {
            self.last_end = token.end;
        }
        Ok(token.start..token.end)
    }

    pub(super) fn pop(&mut self) {
        self.state = self.outer.pop().unwrap_or(State::DocumentEnd);
    }

    /// The node after which `then` holds.
    pub(super) fn node_then(&mut self, then: State, allowed: Allowed) -> Outcome<Event<'t>> {
        self.outer.push(then);
        self.node(allowed)
    }

    /// An absent node, after which `then` holds.
    pub(super) fn absent_then(&mut self, then: State) -> Event<'t> {
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
                "start it with `- `, or align it with the lines above",
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
                "a key of the mapping is expected here",
                "write `key: value`, align it with the lines above, or quote the value above if it is text",
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
