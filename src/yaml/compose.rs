//! From events to one value: keys, duplicates, merges, anchors, limits.
//!
//! Owns: the rules of yaml.md 3, made as strict as the design asks (section 4). Flows in: events of YAML or of
//! JSON. Flows out: the value, and the places of its parts when they are asked for. Must not know: tokens,
//! characters.
//!
//! One composer serves both kinds of reading, so they cannot diverge. It keeps what is open on a stack of its
//! own, so the depth of a document costs no machine stack.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::Limits;
use super::error::{Error, ErrorKind, Outcome};
use super::event::{Event, Events, Properties};
use super::position::Record;
use super::resolve::{Scalar, is_merge, resolve};
use super::scan_property::is_name_byte;

/// Bytes of text that weigh as much as one value, when aliases are counted.
const BYTES_PER_VALUE: usize = 64;

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

/// A node that an alias may ask for.
struct Anchored<N> {
    /// `Err` when JSON cannot hold it; `None` while it is still open.
    value: Option<Outcome<Value>>,
    /// The text as a key, when it is a scalar.
    key: Option<Outcome<String>>,
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
        entries: R::Entries,
    },
    Mapping {
        map: Map<String, Value>,
        fields: R::Fields,
        pending: Pending,
        merged: Merged,
    },
}

/// The keys of a mapping that came through a merge and were not written again since.
type Merged = Option<Box<BTreeMap<String, Range<usize>>>>;

/// What the next value of a mapping belongs to.
enum Pending {
    /// It is a key.
    Nothing,
    Key(String, Range<usize>),
    Merge(Range<usize>),
}

/// A complete value on its way into the collection around it.
struct Complete<N> {
    value: Value,
    node: N,
    range: Range<usize>,
    height: usize,
    from_alias: bool,
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
    expanded: usize,
    stored: usize,
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
                    let key = resolve(text, plain, None, &range)?.into_key(&range)?;
                    self.set_key(key, range);
                    return Ok(());
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

    fn key_is_next(&self) -> bool {
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

    fn set_key(&mut self, key: String, range: Range<usize>) {
        self.set_pending(Pending::Key(key, range));
    }

    fn merge_is_next(&mut self, range: Range<usize>) {
        // Kubernetes' reader takes no step for this key.
        self.steps -= 1;
        self.set_pending(Pending::Merge(range));
    }

    // ---- anchors and aliases

    /// A place for an anchored node, known by its name from now on; `None` when no alias asks for it.
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

    fn take_anchored_scalar(
        &mut self,
        scalar: Scalar<'t>,
        name: Option<&'t str>,
        range: Range<usize>,
    ) -> Outcome<()> {
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
            let key = scalar.into_key(&range)?;
            self.set_key(key, range);
            return Ok(());
        }
        let value = scalar.into_value(&range)?;
        self.complete_scalar(value, range)
    }

    fn take_alias(&mut self, name: &'t str, range: Range<usize>) -> Outcome<()> {
        let anchored = self.names.get(name).and_then(|index| self.anchors.get(*index));
        let Some(anchored) = anchored else {
            return Err(Error::new(
                ErrorKind::Alias,
                range,
                format!("no `&{name}` stands in front of this alias"),
                format!("define it with `&{name}`, or quote the text if `*` is part of it: \"*{name}\""),
            ));
        };
        let Some(value) = &anchored.value else {
            return Err(Error::new(
                ErrorKind::Alias,
                range,
                format!("`*{name}` stands inside the value that `&{name}` names"),
                "a value cannot contain itself",
            ));
        };
        self.steps = self.steps.saturating_add(1 + anchored.steps);
        self.alias_steps = self.alias_steps.saturating_add(anchored.steps);
        self.weight = self.weight.saturating_add(anchored.weight);
        self.expanded = self.expanded.saturating_add(anchored.weight);
        if self.expanded > self.limits.alias_nodes {
            return Err(self.too_many_aliases(range));
        }
        if self.key_is_next() {
            let key = match &anchored.key {
                Some(Ok(key)) => key.clone(),
                Some(Err(error)) => return Err(at_alias(error, range)),
                None => return Err(collection_as_key(range)),
            };
            self.check_alias_share(range.clone())?;
            self.set_key(key, range);
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

    /// Kubernetes' own limit (yaml.md 3): how much of a document may come from aliases.
    #[allow(clippy::cast_precision_loss)]
    fn check_alias_share(&self, range: Range<usize>) -> Outcome<()> {
        const FEW: u64 = 400_000;
        const MANY: u64 = 4_000_000;
        if self.alias_steps <= 100 || self.steps <= 1000 {
            return Ok(());
        }
        let allowed = match self.steps {
            ..=FEW => 0.99,
            MANY.. => 0.10,
            steps => 0.99 - 0.89 * ((steps - FEW) as f64 / (MANY - FEW) as f64),
        };
        if self.alias_steps as f64 / self.steps as f64 > allowed {
            return Err(Error::new(
                ErrorKind::Limit,
                range,
                "nearly all of the document comes from aliases: Kubernetes refuses that",
                "write the values out, or use fewer aliases inside of anchors",
            ));
        }
        Ok(())
    }

    fn too_many_aliases(&self, range: Range<usize>) -> Box<Error> {
        Error::new(
            ErrorKind::Limit,
            range,
            format!("aliases expand to more than {} values", self.limits.alias_nodes),
            "use fewer aliases inside of anchors",
        )
    }

    fn too_deep(&self, range: Range<usize>) -> Box<Error> {
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

/// Puts a written field into a mapping. It may replace a merged one, never a written one.
fn insert<R: Record>(
    map: &mut Map<String, Value>,
    fields: &mut R::Fields,
    merged: &mut Merged,
    key: String,
    range: &Range<usize>,
    value: Value,
    node: R::Node,
) -> Outcome<()> {
    match map.entry(key) {
        Entry::Vacant(vacant) => {
            R::insert(fields, vacant.key(), range, node);
            vacant.insert(value);
            Ok(())
        }
        Entry::Occupied(mut occupied) => {
            let overrides = merged
                .as_mut()
                .is_some_and(|merged| merged.remove(occupied.key()).is_some());
            if overrides {
                R::insert(fields, occupied.key(), range, node);
                occupied.insert(value);
                return Ok(());
            }
            let key = occupied.key();
            let error = Error::new(
                ErrorKind::DuplicateKey,
                range.clone(),
                format!("the key `{key}` is already in this mapping"),
                "remove one of the two; keys such as `1` and \"1\", or `yes` and \"true\", are the same key",
            );
            Err(match R::key_of(fields, key) {
                Some(first) => error.with_related(first, format!("`{key}` stands here first")),
                None => error,
            })
        }
    }
}

/// Merges a mapping, or each mapping of a list, into the one around `<<`. No key may be there already.
fn merge<R: Record>(
    map: &mut Map<String, Value>,
    fields: &mut R::Fields,
    merged: &mut Merged,
    key_range: &Range<usize>,
    complete: Complete<R::Node>,
) -> Outcome<()> {
    let refuse = || {
        Err(Error::new(
            ErrorKind::Merge,
            complete.range.clone(),
            "`<<` merges a mapping or a list of mappings, and this is neither",
            "quote the key if it is meant as text: \"<<\"",
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
    let merged = merged.get_or_insert_default();
    for (source, node) in sources {
        for (key, value) in source {
            match map.entry(key) {
                Entry::Vacant(vacant) => {
                    merged.insert(vacant.key().clone(), key_range.clone());
                    vacant.insert(value);
                }
                Entry::Occupied(occupied) => {
                    let key = occupied.key();
                    let earlier = merged.get(key);
                    let message = if earlier.is_some() {
                        format!("two merged mappings have the key `{key}`")
                    } else {
                        format!("the merge would overwrite the key `{key}` in front of it")
                    };
                    let place = if complete.range.is_empty() {
                        key_range.clone()
                    } else {
                        complete.range.clone()
                    };
                    let error = Error::new(
                        ErrorKind::Merge,
                        place,
                        message,
                        "put `<<` in front of the keys that differ, and merge mappings without a key in common",
                    );
                    return Err(match R::key_of(fields, key) {
                        Some(first) => error.with_related(first, format!("`{key}` comes from here")),
                        None => error,
                    });
                }
            }
        }
        R::merge(fields, node);
    }
    Ok(())
}

fn collection_as_key(range: Range<usize>) -> Box<Error> {
    Error::new(
        ErrorKind::Key,
        range,
        "a key cannot be a list or a mapping",
        "quote the text if a bracket is part of it; `{{ ... }}` of a template needs quotes, too",
    )
}

/// The fault of an anchored scalar, told at the alias that uses it.
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
