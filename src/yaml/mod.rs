//! The Kubernetes dialect of YAML: reading, writing, positions.
//!
//! Owns: how text becomes a [`serde_json::Value`] exactly as an API server's clients read it, where every key
//! and value stands in the text, and how a value becomes canonical text that every reader takes for the same
//! value. Flows in: text. Flows out: values, positions, text.
//! Must not know: anything else of this crate.

use serde_json::Value;

/// STAND-IN until the real reader lands: every document of a stream.
///
/// # Errors
/// The text of the parser's complaint.
pub fn stand_in_read_all(text: &str) -> Result<Vec<Value>, String> {
    use serde::Deserialize as _;
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).map_err(|error| error.to_string()))
        .collect()
}
