//! Equal mappings, kept once: the same labels, references, and filters stand in many places of a document, and in many
//! documents.
//!
//! Owns: the mappings that were complete last. Flows in: the values of a complete mapping. Flows out: the place where
//! one that may be equal is kept.
//! Must not know: events, positions.

use kube_json::{Map, Value};

use super::shapes::ends;

/// How many mappings are remembered, at most: a document of a million mappings must not take twice their memory while it
/// is read. An object has a few dozen, so that those of the one before it are still there.
const REMEMBERED: usize = 1024;

/// The mappings that were complete last.
///
/// They are kept by a number that equal ones have in common; a later one takes the place of another with its number.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<(u64, Map)>);

impl Known {
    /// Where a mapping with these values is remembered, and the number that it has in common with equal ones.
    pub(super) fn slot(&mut self, values: &[Value]) -> Option<(u64, &mut (u64, Map))> {
        if self.0.is_empty() {
            self.0.resize(REMEMBERED, (0, Map::new()));
        }
        let number = number(values);
        // The multiplication mixes upward.
        let slot = usize::try_from(number >> 48).unwrap_or_default();
        self.0.get_mut(slot % REMEMBERED).map(|slot| (number, slot))
    }
}

/// What equal mappings have in common. The names do not matter: few mappings differ in them alone. Mappings inside count by
/// their address: equal ones were shared.
fn number(values: &[Value]) -> u64 {
    values.iter().fold(0, mix)
}

fn mix(mixed: u64, value: &Value) -> u64 {
    match value {
        Value::Null => step(mixed, 0),
        Value::Bool(bool) => step(mixed, u64::from(*bool)),
        Value::Number(number) => step(mixed, number.as_u64().unwrap_or_default()),
        Value::String(text) => {
            let (first, last) = ends(text);
            step(step(mixed, first), last)
        }
        Value::Array(items) => items.iter().fold(mixed, mix),
        Value::Object(map) => step(
            mixed,
            u64::try_from(map.address().unwrap_or_default()).unwrap_or_default(),
        ),
    }
}

const fn step(mixed: u64, word: u64) -> u64 {
    (mixed.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}
