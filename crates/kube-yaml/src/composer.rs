//! The value so far: which collections are open around the next value, and the counts for the limits.
//!
//! Owns: where a complete value or key goes. Flows in: values and keys, from `compose` and `alias`. Flows out: the one
//! value in the end. Must not know: events.
//!
//! Open collections are on a stack of their own, so a deep document does not use machine stack.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use kube_json::{Text, Value};

use super::error::{Error, ErrorKind, Outcome};
use super::fields::{Complete, Merged, insert, merge};
use super::limits::Limits;
use super::position::Record;
use super::value::Scalar;

/// Bytes of text that weigh as much as one value, when aliases are counted.
pub(super) const BYTES_PER_VALUE: usize = 64;

/// A node that an alias may refer to.
pub(super) struct Anchored<N> {
    /// `Err` if JSON cannot represent it; `None` while it is still open.
    pub(super) value: Option<Outcome<Value>>,
    /// The text as a key, when it is a scalar.
    pub(super) key: Option<Outcome<Text>>,
    pub(super) node: N,
    /// How many steps Kubernetes' reader takes through it.
    pub(super) steps: u64,
    pub(super) weight: usize,
    pub(super) height: usize,
}

/// A collection that is still open.
pub(super) struct Frame<R: Record> {
    pub(super) content: Content<R>,
    pub(super) start: usize,
    pub(super) anchor: Option<Opened>,
    /// How many collections are nested inside, at most.
    pub(super) height: usize,
}

/// The counts when an anchored node began.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    pub(super) anchor: usize,
    pub(super) steps: u64,
    pub(super) weight: usize,
}

pub(super) enum Content<R: Record> {
    Sequence {
        items: Vec<Value>,
        entries: R::Entries,
    },
    Mapping {
        members: BTreeMap<Text, Value>,
        fields: R::Fields,
        pending: Pending,
        merged: Merged,
    },
}

/// The key that the next value of a mapping belongs to.
pub(super) enum Pending {
    /// It is a key.
    Nothing,
    Key(Text, Range<usize>),
    Merge(Range<usize>),
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
    pub(super) copied: usize,
}

impl<'t, 'l, R: Record> Composer<'t, 'l, R> {
    pub(super) fn new(text: &'t str, limits: &'l Limits) -> Self {
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
            copied: 0,
        }
    }

    pub(super) fn finish(self) -> Outcome<(Value, R::Node)> {
        self.check_alias_share(0..0)?;
        Ok(self.root.unwrap_or_default())
    }

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

    pub(super) fn set_key(&mut self, key: Text, range: Range<usize>) {
        self.set_pending(Pending::Key(key, range));
    }

    /// The key that a scalar says. To Kubernetes' reader the floats `0.0` and `-0.0` are one key, though their texts
    /// differ, and the later one wins.
    pub(super) fn take_scalar_key(&mut self, scalar: Scalar<'t>, range: Range<usize>) -> Outcome<()> {
        let is_zero = matches!(scalar, Scalar::Float(float) if float == 0.0);
        let key = scalar.into_key(&range)?;
        if is_zero
            && let Some(Content::Mapping { members, .. }) = self.frames.last().map(|frame| &frame.content)
            && members.contains_key(if key == "0" { "-0" } else { "0" })
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

    pub(super) fn merge_is_next(&mut self, range: Range<usize>) {
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
            "no Kubernetes object is that deep: look for an extra bracket",
        )
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
                members,
                fields,
                pending,
                merged,
            } => match std::mem::replace(pending, Pending::Nothing) {
                Pending::Key(key, range) => insert::<R>(
                    members,
                    fields,
                    merged,
                    key,
                    &range,
                    complete.value,
                    complete.node,
                ),
                Pending::Merge(range) => merge::<R>(members, fields, merged, &range, complete),
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
        "quote the text if a bracket is part of it; `{{ ... }}` of a template also needs quotes",
    )
}
