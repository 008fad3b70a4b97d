//! Equal mappings of one document, kept once: the same labels, references, and filters stand in many places of it.
//!
//! Owns: the mappings that were complete last. Flows in: a complete mapping. Flows out: the same, or one that is equal.
//! Must not know: events, positions.

use std::hash::{Hash as _, Hasher};

use kube_json::{Map, Value};

/// How many mappings are remembered, at most: what is equal stands near in most documents, and a document of a million
/// mappings must not take twice their memory while it is read.
const REMEMBERED: usize = 64;

/// Mappings by a number that equal ones have in common; a later one takes the place of another with its number.
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

/// Where a mapping is remembered. Mappings inside it count by their address: equal ones were shared.
fn number(map: &Map) -> usize {
    let mut mixed = Mixed(0);
    for (name, value) in map {
        mixed.write(name.as_bytes());
        mix(value, &mut mixed);
    }
    // The multiplication mixes upward.
    usize::try_from(mixed.0 >> 48).unwrap_or_default()
}

fn mix(value: &Value, mixed: &mut Mixed) {
    match value {
        Value::Null => {}
        Value::Bool(bool) => bool.hash(mixed),
        Value::Number(number) => number.hash(mixed),
        Value::String(text) => mixed.write(text.as_bytes()),
        Value::Array(items) => items.iter().for_each(|item| mix(item, mixed)),
        Value::Object(map) => map.address().hash(mixed),
    }
}

/// A fast mixture of bytes: who finds two mappings of one number only keeps one of them from being shared.
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(part) {
                *to = *from;
            }
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
