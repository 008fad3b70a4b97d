//! From events to one value: keys, duplicates, merges, anchors, limits.
//!
//! Owns: the rules of docs/systems/kubernetes.md#keys, made as strict as
//! docs/systems/why-we-differ.md#yaml-that-loses-text says. Flows in: events of YAML or of JSON. Flows out:
//! the value, and the places of its parts when they are asked for. Must not know: tokens, characters.
//!
//! One composer serves both kinds of reading, so they cannot diverge. It keeps what is open on a stack of its
//! own, so the depth of a document costs no machine stack.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::{Map, Value};

use super::Limits;
use super::alias::{Anchored, BYTES_PER_VALUE};
use super::error::{Error, ErrorKind, Outcome};
use super::event::{Event, Events, Properties};
use super::fields::{Merged, insert, merge};
use super::position::Record;
use super::resolve::{Scalar, is_merge, resolve};

/// The value of one document.
///
/// # Errors
/// All that [`ErrorKind`] names beyond the encoding and the stream.
pub(super) fn compose<'t, R: Record>(
    events: &mut impl Events<'t>,
    text: &'t str,
    limits: &Limits,
) -> Outcome<(Value, R::Node)> {
    let mut composer = Composer::<R>::new(text, limits);
    loop {
        match events.next()? {
            Event::DocumentEnd => break,
            event => composer.take(event)?,
        }
    }
    composer.finish()
}

/// A collection that is still open.
pub(super) struct Frame<R: Record> {
    content: Content<R>,
    start: usize,
    anchor: Option<Opened>,
    /// How many collections are nested inside, at most.
    height: usize,
}

/// The counts when an anchored node began.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    anchor: usize,
    pub(super) steps: u64,
    pub(super) weight: usize,
}

pub(super) enum Content<R: Record> {
    Sequence {
        items: Vec<Value>,
        entries: R::Entries,
    },
    Mapping {
        map: Map<String, Value>,
        fields: R::Fields,
        pending: Pending,
        merged: Merged,
    },
}

/// What the next value of a mapping belongs to.
pub(super) enum Pending {
    /// It is a key.
    Nothing,
    Key(String, Range<usize>),
    Merge(Range<usize>),
}

/// A complete value on its way into the collection around it.
pub(super) struct Complete<N> {
    pub(super) value: Value,
    pub(super) node: N,
    pub(super) range: Range<usize>,
    pub(super) height: usize,
    /// Whether it is the copy of a value that stands elsewhere.
    pub(super) from_alias: bool,
}

pub(super) struct Composer<'t, 'l, R: Record> {
    pub(super) text: &'t str,
    pub(super) limits: &'l Limits,
    pub(super) depth: usize,
    pub(super) frames: Vec<Frame<R>>,
    root: Option<(Value, R::Node)>,
    pub(super) names: HashMap<&'t str, usize>,
    pub(super) anchors: Vec<Anchored<R::Node>>,
    /// The names that some `*` in the text is followed by; found out at the first anchor.
    pub(super) wanted: Option<HashSet<&'t str>>,
    /// What Kubernetes counts: one step for each node, and those of them that came through aliases.
    pub(super) steps: u64,
    pub(super) alias_steps: u64,
    pub(super) weight: usize,
    /// The weight of everything that was copied, for an alias or to have it ready for one.
    pub(super) expanded: usize,
    pub(super) stored: usize,
}

impl<'t, 'l, R: Record> Composer<'t, 'l, R> {
    fn new(text: &'t str, limits: &'l Limits) -> Self {
        Self {
            text,
            limits,
            depth: limits.depth.min(Limits::GREATEST_DEPTH),
            frames: Vec::new(),
            root: None,
            names: HashMap::new(),
            anchors: Vec::new(),
            wanted: None,
            steps: 1,
            alias_steps: 0,
            weight: 0,
            expanded: 0,
            stored: 0,
        }
    }

    fn finish(self) -> Outcome<(Value, R::Node)> {
        self.check_alias_share(0..0)?;
        Ok(self.root.unwrap_or_default())
    }

    fn take(&mut self, event: Event<'t>) -> Outcome<()> {
        match event {
            Event::Scalar {
                text,
                plain,
                properties: None,
                range,
            } => {
                self.steps += 1;
                self.weight += 1 + text.len() / BYTES_PER_VALUE;
                if self.key_is_next() {
                    if plain && &*text == "<<" {
                        self.merge_is_next(range);
                        return Ok(());
                    }
                    let scalar = resolve(text, plain, None, &range)?;
                    return self.take_scalar_key(scalar, range);
                }
                let value = resolve(text, plain, None, &range)?.into_value(&range)?;
                self.complete_scalar(value, range)
            }
            Event::Scalar {
                text,
                plain,
                properties: Some(properties),
                range,
            } => {
                self.steps += 1;
                self.weight += 1 + text.len() / BYTES_PER_VALUE;
                if self.key_is_next() && is_merge(&text, plain, properties.tag.as_deref()) {
                    self.merge_is_next(range);
                    return Ok(());
                }
                let range = if range.is_empty() {
                    properties.range.clone()
                } else {
                    range
                };
                let scalar = resolve(text, plain, properties.tag.as_deref(), &range)?;
                self.take_anchored_scalar(scalar, properties.anchor, range)
            }
            Event::Literal { value, range } => {
                self.steps += 1;
                self.weight += 1;
                self.complete_scalar(value, range)
            }
            Event::Alias { name, range } => self.take_alias(name, range),
            Event::SequenceStart { properties, range } => {
                let content = Content::Sequence {
                    items: Vec::new(),
                    entries: R::Entries::default(),
                };
                self.open(content, properties, range)
            }
            Event::MappingStart { properties, range } => {
                let content = Content::Mapping {
                    map: Map::new(),
                    fields: R::Fields::default(),
                    pending: Pending::Nothing,
                    merged: None,
                };
                self.open(content, properties, range)
            }
            Event::End { at } => self.close(at),
            Event::DocumentEnd => Ok(()),
        }
    }

    // ---- keys

    pub(super) fn key_is_next(&self) -> bool {
        matches!(
            self.frames.last(),
            Some(Frame {
                content: Content::Mapping {
                    pending: Pending::Nothing,
                    ..
                },
                ..
            })
        )
    }

    fn set_pending(&mut self, next: Pending) {
        if let Some(Frame {
            content: Content::Mapping { pending, .. },
            ..
        }) = self.frames.last_mut()
        {
            *pending = next;
        }
    }

    pub(super) fn set_key(&mut self, key: String, range: Range<usize>) {
        self.set_pending(Pending::Key(key, range));
    }

    /// The key that a scalar says. To Kubernetes' reader the floats `0.0` and `-0.0` are one key, though their texts
    /// differ, and the later one wins.
    pub(super) fn take_scalar_key(&mut self, scalar: Scalar<'t>, range: Range<usize>) -> Outcome<()> {
        let is_zero = matches!(scalar, Scalar::Float(float) if float == 0.0);
        let key = scalar.into_key(&range)?;
        if is_zero
            && let Some(Content::Mapping { map, .. }) = self.frames.last().map(|frame| &frame.content)
            && map.contains_key(if key == "0" { "-0" } else { "0" })
        {
            return Err(Error::new(
                ErrorKind::DuplicateKey,
                range,
                "the keys `0.0` and `-0.0` of one mapping are one number to Kubernetes' reader",
                "remove one of the two",
            ));
        }
        self.set_key(key, range);
        Ok(())
    }

    fn merge_is_next(&mut self, range: Range<usize>) {
        // Kubernetes' reader takes no step for this key.
        self.steps -= 1;
        self.set_pending(Pending::Merge(range));
    }

    pub(super) fn too_deep(&self, range: Range<usize>) -> Box<Error> {
        Error::new(
            ErrorKind::Limit,
            range,
            format!(
                "more than {} levels of lists and mappings are nested here",
                self.depth
            ),
            "no Kubernetes object is that deep: look for a bracket too many",
        )
    }

    // ---- collections

    fn open(
        &mut self,
        content: Content<R>,
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    ) -> Outcome<()> {
        if self.key_is_next() {
            return Err(collection_as_key(range));
        }
        if self.frames.len() >= self.depth {
            return Err(self.too_deep(range));
        }
        let (steps, weight) = (self.steps, self.weight);
        self.steps += 1;
        self.weight += 1;
        let name = properties.and_then(|properties| properties.anchor);
        let anchor = name.and_then(|name| self.open_anchor(name)).map(|anchor| Opened {
            anchor,
            steps,
            weight,
        });
        self.frames.push(Frame {
            content,
            start: range.start,
            anchor,
            height: 0,
        });
        Ok(())
    }

    fn close(&mut self, at: usize) -> Outcome<()> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let range = frame.start..at.max(frame.start);
        let (value, node) = match frame.content {
            Content::Sequence { items, entries } => (Value::Array(items), R::sequence(entries, &range)),
            Content::Mapping { map, fields, .. } => (Value::Object(map), R::mapping(fields, &range)),
        };
        let height = frame.height + 1;
        if let Some(opened) = frame.anchor {
            let weight = self.weight - opened.weight;
            self.stored = self.stored.saturating_add(weight);
            if self.stored > self.limits.alias_nodes {
                return Err(self.too_many_aliases(range));
            }
            if let Some(anchored) = self.anchors.get_mut(opened.anchor) {
                *anchored = Anchored {
                    value: Some(Ok(value.clone())),
                    key: None,
                    node: node.clone(),
                    steps: self.steps - opened.steps,
                    weight,
                    height,
                };
            }
        }
        self.complete(Complete {
            value,
            node,
            range,
            height,
            from_alias: false,
        })
    }

    pub(super) fn complete_scalar(&mut self, value: Value, range: Range<usize>) -> Outcome<()> {
        let node = R::scalar(&range);
        self.complete(Complete {
            value,
            node,
            range,
            height: 0,
            from_alias: false,
        })
    }

    /// Puts a value where it belongs.
    pub(super) fn complete(&mut self, complete: Complete<R::Node>) -> Outcome<()> {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some((complete.value, complete.node));
            return Ok(());
        };
        frame.height = frame.height.max(complete.height);
        match &mut frame.content {
            Content::Sequence { items, entries } => {
                items.push(complete.value);
                R::push(entries, complete.node);
                Ok(())
            }
            Content::Mapping {
                map,
                fields,
                pending,
                merged,
            } => match std::mem::replace(pending, Pending::Nothing) {
                Pending::Key(key, range) => {
                    insert::<R>(map, fields, merged, key, &range, complete.value, complete.node)
                }
                Pending::Merge(range) => merge::<R>(map, fields, merged, &range, complete),
                Pending::Nothing => Err(collection_as_key(complete.range)),
            },
        }
    }
}

pub(super) fn collection_as_key(range: Range<usize>) -> Box<Error> {
    Error::new(
        ErrorKind::Key,
        range,
        "a key cannot be a list or a mapping",
        "quote the text if a bracket is part of it; `{{ ... }}` of a template needs quotes, too",
    )
}
