//! Composes one value from events: keys, duplicates, merges, anchors, limits.
//!
//! Owns: the rules of docs/systems/kubernetes.md#keys, made as strict as
//! docs/systems/why-we-differ.md#yaml-that-loses-text says. Flows in: events of YAML or of JSON. Flows out:
//! the value, and the places of its parts when they are asked for. Must not know: tokens, characters.
//!
//! One composer serves both kinds of reading, so they cannot diverge.

use std::collections::BTreeMap;
use std::ops::Range;

use kube_json::Value;

use super::composer::{
    Anchored, BYTES_PER_VALUE, Composer, Content, Frame, Opened, Pending, collection_as_key,
};
use super::error::Outcome;
use super::event::{Event, Events, Properties};
use super::fields::Complete;
use super::limits::Limits;
use super::position::Record;
use super::resolve::{is_merge, resolve};

/// The value of one document; `copied` becomes what its aliases cost ([`Limits::alias_nodes`]), also when it fails.
///
/// # Errors
/// All that [`ErrorKind`](crate::ErrorKind) names beyond the encoding and the stream.
pub(super) fn compose<'t, R: Record>(
    events: Events<'t>,
    text: &'t str,
    limits: &Limits,
    copied: &mut usize,
) -> Outcome<(Value, R::Node)> {
    let mut composer = Composer::<R>::new(text, limits);
    let taken = events(text, &mut |event| composer.take(event));
    *copied = composer.copied;
    taken?;
    composer.finish()
}

impl<'t, R: Record> Composer<'t, '_, R> {
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
                    members: BTreeMap::new(),
                    fields: R::Fields::default(),
                    pending: Pending::Nothing,
                    merged: None,
                };
                self.open(content, properties, range)
            }
            Event::End { at } => self.close(at),
        }
    }

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
            Content::Sequence { mut items, entries } => {
                items.shrink_to_fit();
                (Value::Array(items), R::sequence(entries, &range))
            }
            Content::Mapping { members, fields, .. } => {
                (Value::Object(members.into()), R::mapping(fields, &range))
            }
        };
        let height = frame.height + 1;
        if let Some(opened) = frame.anchor {
            let weight = self.weight - opened.weight;
            self.copied = self.copied.saturating_add(weight);
            if self.copied > self.limits.alias_nodes {
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
}
