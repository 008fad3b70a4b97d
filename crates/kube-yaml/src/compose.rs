//! Composes one value from events: keys, duplicates, merges, anchors, aliases, limits.
//!
//! The rules are those of docs/systems/kubernetes.md#keys and docs/systems/kubernetes.md#aliases, made as strict as
//! docs/systems/why-we-differ.md#yaml-that-loses-text says. One composer serves both kinds of reading, with and without
//! places, so they cannot diverge. Open collections are on a stack of their own, so a deep document does not use machine
//! stack.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use kube_json::{Text, Value};

use crate::character::is_name_byte;
use crate::error::{Error, ErrorKind, Outcome};
use crate::position::Record;
use crate::scalar::{Scalar, is_merge, resolve};

/// Gives the events of a text to something, until that has an error.
pub(super) type Events<'t> = fn(&'t str, &mut dyn FnMut(Event<'t>) -> Outcome<()>) -> Outcome<()>;

/// The properties in front of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Properties<'t> {
    /// The name behind `&`.
    pub(super) anchor: Option<&'t str>,
    /// The whole tag, handle resolved.
    pub(super) tag: Option<String>,
    /// Where they are.
    pub(super) range: Range<usize>,
}

/// One step through a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event<'t> {
    /// A scalar.
    Scalar {
        /// What it says.
        text: Cow<'t, str>,
        /// Whether it may be more than a string.
        plain: bool,
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    },
    /// JSON's `null`, `true`, `false` or a number.
    Literal {
        value: kube_json::Value,
        range: Range<usize>,
    },
    /// `*name`
    Alias { name: &'t str, range: Range<usize> },
    /// A list begins.
    SequenceStart {
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    },
    /// A mapping begins.
    MappingStart {
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    },
    /// The innermost collection ends at this byte.
    End { at: usize },
}

impl<'t> Event<'t> {
    /// A string of JSON.
    pub(super) fn string(text: Cow<'t, str>, range: Range<usize>) -> Self {
        Self::Scalar {
            text,
            plain: false,
            properties: None,
            range,
        }
    }
}

/// The limits of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many lists and mappings may be nested; [`Limits::GREATEST_DEPTH`] at most.
    pub depth: usize,
    /// The bytes of one document.
    pub document_bytes: usize,
    /// The values that all aliases together may expand to, with those that are kept for an alias to come; each 64 bytes
    /// of a text count as one more.
    pub alias_nodes: usize,
}

impl Limits {
    /// No depth beyond this is allowed, regardless of [`Limits::depth`]: values are dropped and cloned by recursion.
    pub const GREATEST_DEPTH: usize = 1000;
    /// The depth of JSON at most: that of serde_json.
    pub const JSON_DEPTH: usize = 127;
    /// [`Limits::document_bytes`] by default.
    pub const DEFAULT_DOCUMENT_BYTES: usize = 64 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 256,
            document_bytes: Self::DEFAULT_DOCUMENT_BYTES,
            alias_nodes: 1_000_000,
        }
    }
}

/// The value of one document; `copied` becomes what its aliases cost ([`Limits::alias_nodes`]), also when it fails.
///
/// # Errors
/// All that [`ErrorKind`] names beyond the encoding and the stream.
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

/// Bytes of text that weigh as much as one value, when aliases are counted.
const BYTES_PER_VALUE: usize = 64;

/// A node that an alias may refer to.
struct Anchored<N> {
    /// `Err` if JSON cannot represent it; `None` while it is still open.
    value: Option<Outcome<Value>>,
    /// The text as a key, when it is a scalar.
    key: Option<Outcome<Text>>,
    node: N,
    /// How many steps Kubernetes' reader takes through it.
    steps: u64,
    weight: usize,
    height: usize,
}

/// A collection that is still open.
struct Frame<R: Record> {
    content: Content<R>,
    start: usize,
    anchor: Option<Opened>,
    /// How many collections are nested inside, at most.
    height: usize,
}

/// The counts when an anchored node began.
#[derive(Clone, Copy)]
struct Opened {
    anchor: usize,
    steps: u64,
    weight: usize,
}

enum Content<R: Record> {
    Sequence {
        items: Vec<Value>,
        entries: Vec<R::Node>,
    },
    Mapping(Mapping<R>),
}

/// A mapping that is still open.
struct Mapping<R: Record> {
    members: BTreeMap<Text, Value>,
    fields: R::Fields,
    pending: Pending,
    /// The keys that came through a merge and were not written again since.
    merged: BTreeSet<Text>,
}

/// The key that the next value of a mapping belongs to.
enum Pending {
    /// It is a key.
    Nothing,
    Key(Text, Range<usize>),
    Merge(Range<usize>),
}

struct Composer<'t, 'l, R: Record> {
    text: &'t str,
    limits: &'l Limits,
    depth: usize,
    frames: Vec<Frame<R>>,
    root: Option<(Value, R::Node)>,
    names: HashMap<&'t str, usize>,
    anchors: Vec<Anchored<R::Node>>,
    /// The names that some `*` in the text is followed by; found out at the first anchor.
    wanted: Option<HashSet<&'t str>>,
    /// What Kubernetes counts: one step for each node, and those of them that came through aliases.
    steps: u64,
    alias_steps: u64,
    weight: usize,
    /// The weight of everything that was copied, for an alias or to have it ready for one.
    copied: usize,
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
            copied: 0,
        }
    }

    fn finish(self) -> Outcome<(Value, R::Node)> {
        self.check_alias_share(0..0)?;
        Ok(self.root.unwrap_or_default())
    }

    /// The innermost collection, if it is a mapping.
    fn mapping(&mut self) -> Option<&mut Mapping<R>> {
        match &mut self.frames.last_mut()?.content {
            Content::Mapping(mapping) => Some(mapping),
            Content::Sequence { .. } => None,
        }
    }

    fn key_is_next(&self) -> bool {
        let frame = self.frames.last();
        frame.is_some_and(|frame| match &frame.content {
            Content::Mapping(mapping) => matches!(mapping.pending, Pending::Nothing),
            Content::Sequence { .. } => false,
        })
    }

    fn set_pending(&mut self, pending: Pending) {
        if let Some(mapping) = self.mapping() {
            mapping.pending = pending;
        }
    }

    /// The key that a scalar says. To Kubernetes' reader the floats `0.0` and `-0.0` are one key, though their texts
    /// differ, and the later one wins.
    fn take_scalar_key(&mut self, scalar: Scalar<'t>, range: Range<usize>) -> Outcome<()> {
        let is_zero = matches!(scalar, Scalar::Float(float) if float == 0.0);
        let key = scalar.into_key(&range)?;
        let other = if key == "0" { "-0" } else { "0" };
        if is_zero
            && let Some(mapping) = self.mapping()
            && mapping.members.contains_key(other)
        {
            return Err(Error::new(
                ErrorKind::DuplicateKey,
                range,
                "the keys `0.0` and `-0.0` of one mapping are one number to Kubernetes' reader",
                "remove one of the two",
            ));
        }
        self.set_pending(Pending::Key(key, range));
        Ok(())
    }

    fn too_deep(&self, range: Range<usize>) -> Box<Error> {
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

    fn complete_scalar(&mut self, value: Value, range: Range<usize>) -> Outcome<()> {
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
    fn complete(&mut self, complete: Complete<R::Node>) -> Outcome<()> {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some((complete.value, complete.node));
            return Ok(());
        };
        frame.height = frame.height.max(complete.height);
        match &mut frame.content {
            Content::Sequence { items, entries } => {
                items.push(complete.value);
                entries.push(complete.node);
                Ok(())
            }
            Content::Mapping(mapping) => match std::mem::replace(&mut mapping.pending, Pending::Nothing) {
                Pending::Key(key, range) => mapping.insert(key, &range, complete.value, complete.node),
                Pending::Merge(range) => mapping.merge(&range, complete),
                Pending::Nothing => Err(collection_as_key(complete.range)),
            },
        }
    }

    fn take(&mut self, event: Event<'t>) -> Outcome<()> {
        match event {
            Event::Scalar {
                text,
                plain,
                properties,
                range,
            } => {
                self.steps += 1;
                self.weight += 1 + text.len() / BYTES_PER_VALUE;
                let (anchor, tag, range) = match properties.map(|properties| *properties) {
                    Some(properties) if range.is_empty() => {
                        (properties.anchor, properties.tag, properties.range)
                    }
                    Some(properties) => (properties.anchor, properties.tag, range),
                    None => (None, None, range),
                };
                if self.key_is_next() && is_merge(&text, plain, tag.as_deref()) {
                    // Kubernetes' reader takes no step for this key.
                    self.steps -= 1;
                    self.set_pending(Pending::Merge(range));
                    return Ok(());
                }
                let scalar = resolve(text, plain, tag.as_deref(), &range)?;
                self.take_scalar(scalar, anchor, range)
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
                    entries: Vec::new(),
                };
                self.open(content, properties, range)
            }
            Event::MappingStart { properties, range } => {
                let mapping = Mapping {
                    members: BTreeMap::new(),
                    fields: R::Fields::default(),
                    pending: Pending::Nothing,
                    merged: BTreeSet::new(),
                };
                self.open(Content::Mapping(mapping), properties, range)
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
            Content::Mapping(Mapping { members, fields, .. }) => {
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

    /// A place for an anchored node, known by its name from now on; `None` if no alias uses it.
    fn open_anchor(&mut self, name: &'t str) -> Option<usize> {
        let text = self.text;
        let wanted = self.wanted.get_or_insert_with(|| alias_names(text));
        if !wanted.contains(name) {
            return None;
        }
        self.names.insert(name, self.anchors.len());
        self.anchors.push(Anchored {
            value: None,
            key: None,
            node: R::Node::default(),
            steps: 0,
            weight: 0,
            height: 0,
        });
        Some(self.anchors.len() - 1)
    }

    fn take_scalar(&mut self, scalar: Scalar<'t>, name: Option<&'t str>, range: Range<usize>) -> Outcome<()> {
        if let Some(index) = name.and_then(|name| self.open_anchor(name))
            && let Some(anchored) = self.anchors.get_mut(index)
        {
            anchored.key = Some(scalar.clone().into_key(&range));
            anchored.value = Some(scalar.clone().into_value(&range));
            anchored.node = R::scalar(&range);
            anchored.steps = 1;
            anchored.weight = match &scalar {
                Scalar::Text(text) => 1 + text.len() / BYTES_PER_VALUE,
                _ => 1,
            };
        }
        if self.key_is_next() {
            return self.take_scalar_key(scalar, range);
        }
        let value = scalar.into_value(&range)?;
        self.complete_scalar(value, range)
    }

    fn take_alias(&mut self, name: &'t str, range: Range<usize>) -> Outcome<()> {
        let anchored = self.names.get(name).and_then(|index| self.anchors.get(*index));
        let Some(anchored) = anchored else {
            return Err(Error::unknown_alias(range, name));
        };
        let Some(value) = &anchored.value else {
            return Err(Error::new(
                ErrorKind::Alias,
                range,
                format!("`*{name}` is inside the value that `&{name}` names"),
                "a value cannot contain itself",
            ));
        };
        self.steps = self.steps.saturating_add(1 + anchored.steps);
        self.alias_steps = self.alias_steps.saturating_add(anchored.steps);
        self.weight = self.weight.saturating_add(anchored.weight);
        self.copied = self.copied.saturating_add(anchored.weight);
        if self.copied > self.limits.alias_nodes {
            return Err(self.too_many_aliases(range));
        }
        if self.key_is_next() {
            let key = match &anchored.key {
                Some(Ok(key)) => key.clone(),
                Some(Err(error)) => return Err(at_alias(error, range)),
                None => return Err(collection_as_key(range)),
            };
            self.check_alias_share(range.clone())?;
            self.set_pending(Pending::Key(key, range));
            return Ok(());
        }
        if self.frames.len() + anchored.height > self.depth {
            return Err(self.too_deep(range));
        }
        let value = match value {
            Ok(value) => value.clone(),
            Err(error) => return Err(at_alias(error, range)),
        };
        let complete = Complete {
            value,
            node: anchored.node.clone(),
            range: range.clone(),
            height: anchored.height,
            from_alias: true,
        };
        self.check_alias_share(range)?;
        self.complete(complete)
    }

    /// Refuses a document that comes from aliases beyond Kubernetes' own limit.
    fn check_alias_share(&self, range: Range<usize>) -> Outcome<()> {
        if comes_from_aliases(self.alias_steps, self.steps) {
            return Err(Error::new(
                ErrorKind::Limit,
                range,
                "nearly all of the document comes from aliases: Kubernetes refuses that",
                "write the values in full, or use fewer aliases inside anchors",
            ));
        }
        Ok(())
    }

    fn too_many_aliases(&self, range: Range<usize>) -> Box<Error> {
        Error::new(
            ErrorKind::Limit,
            range,
            format!("aliases expand to more than {} values", self.limits.alias_nodes),
            "use fewer aliases inside anchors",
        )
    }
}

fn collection_as_key(range: Range<usize>) -> Box<Error> {
    Error::new(
        ErrorKind::Key,
        range,
        "a key cannot be a list or a mapping",
        "quote the text if a bracket is part of it; `{{ ... }}` of a template also needs quotes",
    )
}

/// The fault of an anchored scalar, reported at the alias that uses it.
fn at_alias(error: &Error, range: Range<usize>) -> Box<Error> {
    Error::new(error.kind, range, error.message.clone(), error.help.clone())
}

/// Every name that follows a `*` in the text: all aliases, and perhaps more.
fn alias_names(text: &str) -> HashSet<&str> {
    text.split('*')
        .skip(1)
        .filter_map(|tail| {
            let end = tail.bytes().take_while(|byte| is_name_byte(*byte)).count();
            tail.get(..end)
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether more of a document comes from aliases than Kubernetes' reader takes: so many of its steps inside of what aliases
/// stand for, of so many in all (docs/systems/kubernetes.md#aliases).
#[allow(clippy::cast_precision_loss)]
pub(super) fn comes_from_aliases(alias_steps: u64, steps: u64) -> bool {
    const FEW: u64 = 400_000;
    const MANY: u64 = 4_000_000;
    if alias_steps <= 100 || steps <= 1000 {
        return false;
    }
    let allowed = match steps {
        ..=FEW => 0.99,
        MANY.. => 0.10,
        steps => 0.99 - 0.89 * ((steps - FEW) as f64 / (MANY - FEW) as f64),
    };
    alias_steps as f64 / steps as f64 > allowed
}

/// A complete value on its way into the collection around it.
struct Complete<N> {
    value: Value,
    node: N,
    range: Range<usize>,
    height: usize,
    /// Whether it is the copy of a value that is elsewhere.
    from_alias: bool,
}

impl<R: Record> Mapping<R> {
    /// Puts a written field into the mapping. It may replace a merged one, never a written one.
    fn insert(&mut self, key: Text, range: &Range<usize>, value: Value, node: R::Node) -> Outcome<()> {
        if self.merged.remove(&key) || !self.members.contains_key(&key) {
            R::insert(&mut self.fields, &key, range, node);
            self.members.insert(key, value);
            return Ok(());
        }
        let help = if key == "apiVersion" {
            "if another object begins here, write `---` on its own line before it; otherwise remove one of the two"
        } else {
            "remove one of the two; keys such as `1` and \"1\", or `yes` and \"true\", are the same key"
        };
        let error = Error::new(
            ErrorKind::DuplicateKey,
            range.clone(),
            format!("the key `{key}` is already in this mapping"),
            help,
        );
        Err(match R::key_of(&self.fields, &key) {
            Some(first) => error.with_related(first, format!("`{key}` is here first")),
            None => error,
        })
    }

    /// Merges a mapping, or each mapping of a list, into the one around `<<`. No key may be there already.
    fn merge(&mut self, key_range: &Range<usize>, complete: Complete<R::Node>) -> Outcome<()> {
        let refuse = || {
            Err(Error::new(
                ErrorKind::Merge,
                complete.range.clone(),
                "`<<` merges a mapping or a list of mappings, but this is neither",
                "quote the key if it is text: \"<<\"",
            ))
        };
        let sources = match complete.value {
            Value::Object(source) => vec![(source, complete.node)],
            Value::Array(items) if !complete.from_alias => {
                let mut nodes = R::into_entries(complete.node).into_iter();
                let mut sources = Vec::with_capacity(items.len());
                for item in items {
                    let Value::Object(source) = item else {
                        return refuse();
                    };
                    sources.push((source, nodes.next().unwrap_or_default()));
                }
                sources
            }
            _ => return refuse(),
        };
        for (source, node) in sources {
            for (key, value) in source {
                if let Entry::Vacant(vacant) = self.members.entry(key.clone()) {
                    self.merged.insert(key);
                    vacant.insert(value);
                    continue;
                }
                let message = if self.merged.contains(&key) {
                    format!("two merged mappings have the key `{key}`")
                } else {
                    format!("the merge would overwrite the key `{key}` before it")
                };
                let is_absent = complete.range.is_empty();
                let error = Error::new(
                    ErrorKind::Merge,
                    if is_absent { key_range } else { &complete.range }.clone(),
                    message,
                    "write `<<` before the keys that differ, and merge mappings that have no key in common",
                );
                return Err(match R::key_of(&self.fields, &key) {
                    Some(first) => error.with_related(first, format!("`{key}` comes from here")),
                    None => error,
                });
            }
            R::merge(&mut self.fields, node);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::comes_from_aliases;

    #[test]
    fn the_share_of_aliases_shrinks_from_99_to_10_percent_between_400_000_and_4_000_000_steps() {
        // The largest share that is taken, and one step more; in between, the share is no round number in binary.
        for (alias_steps, steps) in [
            (396_000, 400_000),
            (1_198_999, 2_200_000),
            (400_000, 4_000_000),
            (500_000, 5_000_000),
        ] {
            assert!(
                !comes_from_aliases(alias_steps, steps),
                "{alias_steps} of {steps}"
            );
            assert!(
                comes_from_aliases(alias_steps + 1, steps),
                "{alias_steps} of {steps}"
            );
        }
        // Small documents may do as they like.
        assert!(!comes_from_aliases(1000, 1000) && comes_from_aliases(1001, 1001));
        assert!(!comes_from_aliases(100, 1001));
    }
}
