//! Equal mappings of one document, kept once: the same labels, references, and filters stand in many places of it.
//!
//! Owns: the mappings that were complete last. Flows in: a complete mapping. Flows out: the same, or one that is equal.
//! Must not know: events, positions.

use kube_json::{Map, Value};

/// How many mappings are remembered, at most: what is equal stands near in most documents, and a document of a million
/// mappings must not take twice their memory while it is read.
const REMEMBERED: usize = 64;

/// Mappings by a number that equal ones have in common; a later one takes the place of another with its number. The number
/// decides only what is shared, never what is read.
#[derive(Default)]
pub(super) struct Shared(Vec<Map>);

impl Shared {
    /// The mapping without unused room, or a clone of one that is equal.
    pub(super) fn mapping(&mut self, mut map: Map) -> Map {
        if map.is_empty() {
            return map;
        }
        if self.0.is_empty() {
            self.0.resize(REMEMBERED, Map::new());
        }
        match self.0.get_mut(number(&map) % REMEMBERED) {
            Some(known) if *known == map => known.clone(),
            slot => {
                map.shrink_to_fit();
                if let Some(slot) = slot {
                    slot.clone_from(&map);
                }
                map
            }
        }
    }
}

/// Where a mapping is remembered. Its names do not matter: few mappings differ in them alone. Mappings inside it count by
/// their address: equal ones were shared.
fn number(map: &Map) -> usize {
    let mixed = map.values().fold(0, mix);
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
