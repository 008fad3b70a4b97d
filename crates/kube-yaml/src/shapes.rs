//! The shapes of mappings: which names they have, so that mappings of one shape share the list of them.
//!
//! Owns: the shapes that were met, each as one step from another one with one name less, in the order in which the names
//! were written. Flows in: names. Flows out: shapes, the places of names in them, lists of names. Must not know: values.
//!
//! Nearly every mapping has the shape of one before it. Then each of its names is compared once.

use kube_json::{Names, Text, is_same};

/// A mapping with more names than this has no shape.
pub(super) const MOST_NAMES: usize = 64;
/// With more shapes than this, the next document begins anew. An object has a few dozen.
const KEPT: usize = 1 << 12;
/// More shapes than this are not kept while one document is read: whoever writes it may invent names.
const MOST_SHAPES: usize = 1 << 16;
/// Steps to be found, at once.
const FOUND: usize = 1 << 12;

/// A shape, as long as one document is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape(u32);

impl Shape {
    /// A number that no other shape has.
    pub(super) fn number(self) -> u64 {
        u64::from(self.0)
    }
}

#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// The first is the shape without names.
    steps: Vec<Step>,
    /// Shapes by the step that leads to them; a later one takes the place of another.
    found: Vec<Shape>,
}

/// The step that leads to a shape.
#[derive(Debug, Default)]
struct Step {
    from: Shape,
    name: Text,
    /// Where the name is among all names, sorted.
    place: usize,
    length: usize,
    names: Option<Names>,
}

/// Where a name is in a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// The shape has it, at this position of the sorted names.
    There(usize),
    /// This is the shape with it, and its position among the sorted names there.
    Next(Shape, usize),
    /// The shape does not have it, and there is no shape with it.
    #[default]
    Beyond,
}

impl Shapes {
    /// Begins a document; whether shapes of the last one are none of this one.
    pub(super) fn begin(&mut self) -> bool {
        let is_new = self.steps.is_empty() || self.steps.len() > KEPT;
        if is_new {
            self.steps.clear();
            // No step leads here.
            let from = Shape(u32::MAX);
            self.steps.push(Step {
                from,
                ..Step::default()
            });
            self.found.clear();
            self.found.resize(FOUND, Shape::default());
        }
        is_new
    }

    fn step(&self, shape: Shape) -> Option<&Step> {
        self.steps.get(usize::try_from(shape.0).ok()?)
    }

    fn step_mut(&mut self, shape: Shape) -> Option<&mut Step> {
        self.steps.get_mut(usize::try_from(shape.0).ok()?)
    }

    /// Where a name is in a shape.
    #[inline]
    pub(super) fn place(&mut self, shape: Shape, name: &str) -> Place {
        let slot = number(shape, name) % FOUND;
        let found = self.found.get(slot).copied().unwrap_or_default();
        match self.step(found) {
            Some(step) if step.from == shape && is_same(&step.name, name) => Place::Next(found, step.place),
            _ => self.add(shape, name, slot),
        }
    }

    /// The same where the step that leads there is not found at once, at its slot.
    #[inline(never)]
    fn add(&mut self, from: Shape, name: &str, slot: usize) -> Place {
        if self.way(from).any(|step| step.name == name) {
            let position = self.names(from).and_then(|names| names.position(name));
            return position.map_or(Place::Beyond, Place::There);
        }
        let place = self.way(from).filter(|step| step.name.as_str() < name).count();
        let length = self.step(from).map_or(0, |step| step.length) + 1;
        match u32::try_from(self.steps.len()) {
            Ok(number) if length <= MOST_NAMES && self.steps.len() < MOST_SHAPES => {
                self.steps.push(Step {
                    from,
                    name: name.into(),
                    place,
                    length,
                    names: None,
                });
                if let Some(slot) = self.found.get_mut(slot) {
                    *slot = Shape(number);
                }
                Place::Next(Shape(number), place)
            }
            _ => Place::Beyond,
        }
    }

    /// The steps that lead to a shape, the last one first.
    fn way(&self, shape: Shape) -> impl Iterator<Item = &Step> {
        let at = |shape: Shape| self.step(shape).filter(|_| shape != Shape::default());
        std::iter::successors(at(shape), move |step| at(step.from))
    }

    /// The names of a shape, sorted.
    pub(super) fn names(&mut self, shape: Shape) -> Option<&Names> {
        if self.step(shape)?.names.is_none() {
            let mut sorted: Vec<Text> = self.way(shape).map(|step| step.name.clone()).collect();
            sorted.sort_unstable();
            self.step_mut(shape)?.names = Some(Names::from_sorted(sorted));
        }
        self.step(shape)?.names.as_ref()
    }
}

/// The ends of a text, which tell it from most others.
#[inline]
pub(super) fn ends(text: &str) -> (u64, u64) {
    let bytes = text.as_bytes();
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => (
                u64::from(u32::from_le_bytes(*first)),
                u64::from(u32::from_le_bytes(*last)),
            ),
            _ => (
                bytes.first().copied().map_or(0, u64::from),
                bytes.last().copied().map_or(0, u64::from),
            ),
        },
    }
}

/// A number that few steps have in common.
#[inline]
fn number(from: Shape, name: &str) -> usize {
    let (first, last) = ends(name);
    let mixed = first ^ last.rotate_left(23) ^ u64::from(from.0) << 40;
    // The multiplication mixes upward.
    usize::try_from(mixed.wrapping_mul(0x517c_c1b7_2722_0a95) >> 48).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(shapes: &mut Shapes, names: &[&str]) -> Shape {
        names
            .iter()
            .fold(Shape::default(), |shape, name| match shapes.place(shape, name) {
                Place::Next(next, _) => next,
                other => panic!("{name}: {other:?}"),
            })
    }

    #[test]
    fn mappings_with_the_same_names_in_one_order_have_one_shape_and_all_shapes_have_sorted_names() {
        let mut shapes = Shapes::default();
        shapes.begin();
        let one = shape(&mut shapes, &["name", "port", "kind"]);
        let other = shape(&mut shapes, &["name", "kind"]);
        assert_eq!(shape(&mut shapes, &["name", "port", "kind"]), one);
        assert_ne!(shape(&mut shapes, &["name", "port"]), other);
        assert_eq!(shapes.names(one).unwrap().as_slice(), ["kind", "name", "port"]);
        assert_eq!(shapes.names(other).unwrap().as_slice(), ["kind", "name"]);
        let again = shape(&mut shapes, &["kind", "name", "port"]);
        assert_ne!(again, one);
        assert_eq!(shapes.names(again).unwrap().as_slice(), ["kind", "name", "port"]);
    }

    #[test]
    fn a_name_that_is_there_is_found_and_leads_nowhere() {
        let mut shapes = Shapes::default();
        shapes.begin();
        let both = shape(&mut shapes, &["b", "a"]);
        assert_eq!(shapes.place(both, "b"), Place::There(1));
        assert_eq!(shapes.place(both, "a"), Place::There(0));
    }

    #[test]
    fn shapes_are_kept_for_the_next_document_and_none_beyond_what_they_may_take() {
        let mut shapes = Shapes::default();
        shapes.begin();
        let few = shape(&mut shapes, &["a", "b"]);
        shapes.begin();
        assert_eq!(shape(&mut shapes, &["a", "b"]), few);
        let invented = (0..MOST_SHAPES).map(|number| format!("n{number}"));
        let places: Vec<Place> = invented
            .map(|name| shapes.place(Shape::default(), &name))
            .collect();
        // There are three before them.
        let (kept, beyond) = places.split_at(MOST_SHAPES - 3);
        assert!(kept.iter().all(|place| matches!(place, Place::Next(..))));
        assert!(beyond.iter().all(|place| *place == Place::Beyond));
        shapes.begin();
        assert_eq!(shapes.steps.len(), 1);
        let names: Vec<String> = (0..MOST_NAMES).map(|number| format!("n{number}")).collect();
        let most = shape(&mut shapes, &names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(shapes.place(most, "more"), Place::Beyond);
        assert_eq!(shapes.place(most, "n7"), Place::There(61));
    }
}
