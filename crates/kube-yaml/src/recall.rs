//! Members of mappings that were read before: the same lines stand in many places of a document, and in many documents.
//!
//! Owns: the last members, with their texts. Flows in: the text at a member, and once it is read, its value. Flows out:
//! the value of a member with the same text. Must not know: what the text means, and where it ends.
//!
//! Who asks says what a text means the same under: the names before it, its column, how deep it may be.

use kube_json::Value;

use super::shapes::{Place, Shape};

/// How many members are remembered, at most.
const REMEMBERED: usize = 1 << 11;
/// Longer texts are not remembered: what is long rarely occurs twice, and all of them together must stay small.
pub(super) const LONGEST: usize = 512;
/// However many others are read, one of them is remembered after half as many.
const MOST_OTHERS: u32 = 64;

/// The members that were read last.
///
/// They are kept by a number that equal ones have in common. Another one with that number takes the place at once if the
/// last one was found until then, and rarely if texts differ all the time: to remember costs more than to read.
#[derive(Debug, Default)]
pub(super) struct Recall(Vec<Option<Box<Member>>>);

/// A member, and where it means the same.
#[derive(Debug, Default)]
struct Member {
    context: Context,
    /// From its key to the end of its last line.
    text: Vec<u8>,
    /// Where its name belongs.
    place: Place,
    value: Value,
    /// How many more others were read in its place.
    others: u32,
}

/// What the meaning of a member depends on, beside its text and what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The names in front of it.
    pub(super) shape: Shape,
    pub(super) column: usize,
    /// How many levels are allowed.
    pub(super) depth: usize,
}

/// What is known of the member at a text.
pub(super) enum Recalled<'m> {
    /// The length of its text, where its name belongs, and its value.
    Member(usize, Place, &'m Value),
    /// It must be read, and may then be remembered.
    Other { keep: bool },
}

impl Recall {
    /// Forgets all members.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The member that a text begins with.
    #[inline]
    pub(super) fn find(&mut self, context: Context, text: &[u8]) -> Recalled<'_> {
        let slot = context.slot(text).and_then(|slot| self.0.get_mut(slot));
        let Some(Some(member)) = slot else {
            return Recalled::Other { keep: true };
        };
        if member.is(context, text) {
            member.others = member.others.saturating_sub(1);
            return Recalled::Member(member.text.len(), member.place, &member.value);
        }
        member.others = if member.others < MOST_OTHERS {
            member.others.saturating_add(1)
        } else {
            MOST_OTHERS / 2 + 1
        };
        let keep = member.others.is_power_of_two();
        Recalled::Other { keep }
    }

    /// Remembers a member that was not found.
    pub(super) fn keep(&mut self, context: Context, text: &[u8], place: Place, value: Value) {
        if self.0.is_empty() {
            self.0.resize_with(REMEMBERED, || None);
        }
        if let Some(slot) = context.slot(text).and_then(|slot| self.0.get_mut(slot)) {
            let member = slot.get_or_insert_default();
            member.context = context;
            member.text.clear();
            member.text.extend_from_slice(text);
            member.place = place;
            member.value = value;
        }
    }
}

impl Member {
    #[inline]
    fn is(&self, context: Context, text: &[u8]) -> bool {
        self.context.shape == context.shape
            && self.context.column == context.column
            && self.context.depth <= context.depth
            && text.starts_with(&self.text)
    }
}

impl Context {
    /// Where a member is remembered: the start of its text tells it from most others.
    #[inline]
    fn slot(self, text: &[u8]) -> Option<usize> {
        let start = u64::from_le_bytes(*text.first_chunk()?);
        let mixed = start ^ (self.shape.number() << 6 | self.column as u64).rotate_left(40);
        // The multiplication mixes upward.
        usize::try_from(mixed.wrapping_mul(0x517c_c1b7_2722_0a95) >> 53).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_with_its_text_behind_its_names_at_its_column_and_not_deeper() {
        let context = Context {
            shape: Shape::default(),
            column: 4,
            depth: 8,
        };
        let text = b"name: value\n";
        let mut recall = Recall::default();
        recall.keep(context, text, Place::Next(Shape::default(), 0), Value::Bool(true));
        let mut is_found = |context: Context, text: &[u8]| {
            matches!(
                recall.find(context, text),
                Recalled::Member(12, _, Value::Bool(true))
            )
        };
        assert!(is_found(context, b"name: value\nother: value\n"));
        assert!(is_found(Context { depth: 9, ..context }, text));
        assert!(!is_found(Context { depth: 7, ..context }, text));
        assert!(!is_found(context, b"name: value"));
        assert!(!is_found(context, b"name: values\n"));
        // Many of these have the same number.
        assert!((5..100_000).all(|column| !is_found(Context { column, ..context }, text)));
    }

    #[test]
    fn another_member_takes_the_place_of_one_that_does_not_occur_again() {
        let context = Context::default();
        let mut recall = Recall::default();
        let mut kept = 0;
        for number in 0..10_000 {
            let text = format!("same name: {number}\n");
            if let Recalled::Other { keep: true } = recall.find(context, text.as_bytes()) {
                recall.keep(context, text.as_bytes(), Place::Beyond, Value::Null);
                kept += 1;
            }
        }
        assert!((300..400).contains(&kept), "{kept}");
    }
}
