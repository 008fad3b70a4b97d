//! Equal mappings, kept once: the same labels, references, and filters stand in many places of a document, and in many
//! documents.
//!
//! Owns: the mappings that were complete last. Flows in: the values of a complete mapping. Flows out: the place where
//! one that may be equal is kept.
//! Must not know: events, positions.

use kube_json::{Map, Value};

/// How many mappings are remembered, at most: a document of a million mappings must not take twice their memory while it
/// is read. An object has a few dozen, so that those of the one before it are still there.
const REMEMBERED: usize = 1024;

/// The mappings that were complete last.
///
/// They are kept by a number that equal ones have in common; a later one takes the place of another with its number.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Map>);

impl Known {
    /// Where a mapping with these values is remembered.
    pub(super) fn slot(&mut self, values: &[Value]) -> Option<&mut Map> {
        if self.0.is_empty() {
            self.0.resize(REMEMBERED, Map::new());
        }
        self.0.get_mut(number(values) % REMEMBERED)
    }
}

/// Where a mapping is remembered. Its names do not matter: few mappings differ in them alone. Mappings inside it count by
/// their address: equal ones were shared.
fn number(values: &[Value]) -> usize {
    let mixed = values.iter().fold(0, mix);
    // The multiplication mixes upward.
    usize::try_from(mixed >> 48).unwrap_or_default()
}

fn mix(mixed: u64, value: &Value) -> u64 {
    match value {
        Value::Null => step(mixed, 0),
        Value::Bool(bool) => step(mixed, u64::from(*bool)),
        Value::Number(number) => step(mixed, number.as_u64().unwrap_or_default()),
        Value::String(text) => mix_text(mixed, text.as_bytes()),
        Value::Array(items) => items.iter().fold(mixed, mix),
        Value::Object(map) => step(
            mixed,
            u64::try_from(map.address().unwrap_or_default()).unwrap_or_default(),
        ),
    }
}

/// The ends of a text are enough to tell most from each other.
fn mix_text(mixed: u64, text: &[u8]) -> u64 {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => step(step(mixed, u64::from_le_bytes(*first)), u64::from_le_bytes(*last)),
        _ => step(
            mixed,
            text.iter().fold(1, |word, byte| word << 8 | u64::from(*byte)),
        ),
    }
}

const fn step(mixed: u64, word: u64) -> u64 {
    (mixed.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}
