//! Where each key and each value of a document is in its text. The tree of places is parallel to the tree of values;
//! composing can leave it out.

use std::ops::Range;
use std::sync::Arc;

use kube_json::Text;

/// Bytes of the text, small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    start: u32,
    end: u32,
}

impl Place {
    fn new(range: &Range<usize>) -> Self {
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: small(range.start),
            end: small(range.end),
        }
    }

    fn range(self) -> Range<usize> {
        let wide = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        wide(self.start)..wide(self.end)
    }
}

/// One value, its key and what is inside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Spot {
    key: Option<Place>,
    value: Place,
    inside: Inside,
}

/// An alias shares what is inside the value that it names.
#[derive(Clone, Debug, Default)]
enum Inside {
    #[default]
    Nothing,
    Entries(Arc<[Spot]>),
    /// Sorted by name.
    Fields(Arc<[(Text, Spot)]>),
}

/// Where the keys and values of one document are: byte ranges of the text that was read, by JSON pointer (RFC 6901). A
/// value that came through an alias or a merge points at the place where its text really is.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    pub(super) root: Spot,
}

/// The deepest part of a pointer that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest<'p> {
    /// That part of the pointer; empty for the whole document.
    pub pointer: &'p str,
    /// Its key, unless it is the whole document or an entry of a list.
    pub key: Option<Range<usize>>,
    /// Its value.
    pub value: Range<usize>,
}

impl Positions {
    /// The deepest existing part of `pointer`: a place for a finding about something that is missing.
    pub fn nearest<'p>(&self, pointer: &'p str) -> Nearest<'p> {
        let mut spot = &self.root;
        let mut depth = 0;
        for part in pointer.split('/').skip(1) {
            let Some(inner) = spot.step(part) else { break };
            spot = inner;
            depth += part.len() + 1;
        }
        Nearest {
            pointer: pointer.get(..depth).unwrap_or(""),
            key: spot.key.map(Place::range),
            value: spot.value.range(),
        }
    }
}

impl Spot {
    fn new(range: &Range<usize>, inside: Inside) -> Self {
        Self {
            key: None,
            value: Place::new(range),
            inside,
        }
    }

    fn step(&self, part: &str) -> Option<&Self> {
        match &self.inside {
            Inside::Nothing => None,
            Inside::Entries(entries) => entries.get(kube_json::index(part)?),
            Inside::Fields(fields) => {
                let position = kube_json::position(fields, &kube_json::unescape(part))?;
                fields.get(position).map(|(_, spot)| spot)
            }
        }
    }
}

/// What the composer does with places: nothing, or everything. One composer, two of these.
pub(super) trait Record {
    /// The place of one value and of what is inside it.
    type Node: Clone + Default;
    /// The places of a mapping's fields, so far.
    type Fields: Default;

    /// A scalar.
    fn scalar(range: &Range<usize>) -> Self::Node;
    /// A list with its entries.
    fn sequence(entries: Vec<Self::Node>, range: &Range<usize>) -> Self::Node;
    /// A mapping with its fields.
    fn mapping(fields: Self::Fields, range: &Range<usize>) -> Self::Node;
    /// One more field, or another place for a field.
    fn insert(fields: &mut Self::Fields, name: &str, key: &Range<usize>, value: Self::Node);
    /// Where the key of a field stands, if that is recorded.
    fn key_of(fields: &Self::Fields, name: &str) -> Option<Range<usize>>;
    /// The entries of a list.
    fn into_entries(node: Self::Node) -> Vec<Self::Node>;
    /// Moves all fields of `from` into `fields`.
    fn merge(fields: &mut Self::Fields, from: Self::Node);
}

/// Records nothing, at no cost.
pub(super) struct Unlocated;

impl Record for Unlocated {
    type Node = ();
    type Fields = ();

    fn scalar(_: &Range<usize>) {}
    fn sequence(_: Vec<()>, _: &Range<usize>) {}
    fn mapping((): (), _: &Range<usize>) {}
    fn insert((): &mut (), _: &str, _: &Range<usize>, (): ()) {}
    fn key_of((): &(), _: &str) -> Option<Range<usize>> {
        None
    }
    fn into_entries((): ()) -> Vec<()> {
        Vec::new()
    }
    fn merge((): &mut (), (): ()) {}
}

/// Records every place.
pub(super) struct Located;

impl Record for Located {
    type Node = Spot;
    /// As they were inserted; of several with one name, the last one counts.
    type Fields = Vec<(Text, Spot)>;

    fn scalar(range: &Range<usize>) -> Spot {
        Spot::new(range, Inside::Nothing)
    }
    fn sequence(mut entries: Vec<Spot>, range: &Range<usize>) -> Spot {
        for entry in &mut entries {
            entry.key = None;
        }
        Spot::new(range, Inside::Entries(entries.into()))
    }
    fn mapping(mut fields: Vec<(Text, Spot)>, range: &Range<usize>) -> Spot {
        // Stable: those with one name stay in their order.
        fields.sort_by(|(name, _), (other, _)| name.cmp(other));
        fields.dedup_by(|later, kept| {
            let is_again = later.0 == kept.0;
            if is_again {
                std::mem::swap(&mut later.1, &mut kept.1);
            }
            is_again
        });
        Spot::new(range, Inside::Fields(fields.into()))
    }
    fn insert(fields: &mut Vec<(Text, Spot)>, name: &str, key: &Range<usize>, mut value: Spot) {
        value.key = Some(Place::new(key));
        fields.push((name.into(), value));
    }
    fn key_of(fields: &Vec<(Text, Spot)>, name: &str) -> Option<Range<usize>> {
        // Only for an error, which ends the reading.
        let (_, spot) = fields.iter().rfind(|(there, _)| there == name)?;
        spot.key.map(Place::range)
    }
    fn into_entries(node: Spot) -> Vec<Spot> {
        if let Inside::Entries(entries) = node.inside {
            entries.to_vec()
        } else {
            Vec::new()
        }
    }
    fn merge(fields: &mut Vec<(Text, Spot)>, from: Spot) {
        if let Inside::Fields(more) = from.inside {
            fields.extend(more.iter().cloned());
        }
    }
}
