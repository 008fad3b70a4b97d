//! The size of a ManifestWork as OCM's webhook counts it. That is the length of a value as the API server's compact
//! JSON, and the protobuf framing around it (docs/systems/ocm-work.md#size). Nothing is serialized; only lengths are
//! added up.
//!
//! The API server writes sorted keys, no spaces, `<`, `>`, `&`, U+2028 and U+2029 as `\u....`, and numbers as
//! Go does. Key order does not change a length, so maps of either order count the same.

use kube_json::{Number, Value};

/// The size of all manifests of a work, in bytes.
pub fn work_size(manifests: &[Value]) -> u64 {
    manifests.iter().fold(0, |total: u64, manifest| {
        total.saturating_add(manifest_size(manifest))
    })
}

/// The bytes that one manifest adds to the size of its work.
pub fn manifest_size(manifest: &Value) -> u64 {
    manifest_size_of_json(json_bytes(manifest))
}

/// As [`manifest_size`], for who already knows the length of the compact JSON: a field tag, the length as a
/// varint, the text.
pub(crate) fn manifest_size_of_json(json_bytes: u64) -> u64 {
    let significant = u64::BITS.saturating_sub(json_bytes.leading_zeros()).max(1);
    let varint = u64::from(significant.div_ceil(7));
    json_bytes.saturating_add(varint).saturating_add(1)
}

/// The length of a value as the API server's compact JSON, in bytes.
pub(crate) fn json_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number_bytes(number),
        Value::String(text) => string_bytes(text),
        Value::Array(items) => items.iter().fold(enclosing(items.len()), |total, item| {
            total.saturating_add(json_bytes(item))
        }),
        Value::Object(fields) => fields
            .iter()
            .fold(enclosing(fields.len()), |total, (key, field)| {
                total
                    .saturating_add(string_bytes(key))
                    .saturating_add(1)
                    .saturating_add(json_bytes(field))
            }),
    }
}

/// Two brackets and the commas between `count` entries.
fn enclosing(count: usize) -> u64 {
    u64::try_from(count.saturating_sub(1))
        .unwrap_or(u64::MAX)
        .saturating_add(2)
}

/// Quotes, the text, and what its escapes take beside it.
fn string_bytes(text: &str) -> u64 {
    let escape = |character| match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 1,
        '<' | '>' | '&' | '\0'..='\u{1f}' => 5,
        // Three bytes of UTF-8 become six of escape.
        '\u{2028}' | '\u{2029}' => 3,
        _ => 0,
    };
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    text.chars()
        .map(escape)
        .fold(bytes.saturating_add(2), u64::saturating_add)
}

fn number_bytes(number: &Number) -> u64 {
    let text = match number.as_i64() {
        Some(integer) => integer.to_string(),
        None => go_float(number.as_f64().unwrap_or_default()),
    };
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// A float as Go's encoding/json writes it: shortest digits, an exponent below 1e-6 and from 1e21.
fn go_float(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = format!("{float:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        }
    } else if float == 0.0 && float.is_sign_negative() {
        "-0".to_owned()
    } else {
        float.to_string()
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_known_config_map_counts_103() {
        let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
            "metadata": {"name": "a", "namespace": "default"}});
        assert_eq!(manifest_size(&manifest), 103);
        assert_eq!(work_size(&[manifest.clone(), manifest]), 206);
        assert_eq!(work_size(&[]), 0);
    }

    #[test]
    fn the_length_prefix_grows_every_seven_bits() {
        for (length, size) in [(0, 2), (127, 129), (128, 131), (16_383, 16_386), (16_384, 16_388)] {
            assert_eq!(manifest_size_of_json(length), size, "{length}");
        }
        assert_eq!(manifest_size_of_json(u64::MAX), u64::MAX);
    }

    #[test]
    fn markup_and_control_characters_are_escaped_as_go_does() {
        assert_eq!(json_bytes(&json!("<>&")), 2 + 18);
        assert_eq!(json_bytes(&json!("\u{1}\n\"\\")), 2 + 6 + 2 + 2 + 2);
        assert_eq!(json_bytes(&json!("\u{2028}")), 2 + 6);
        assert_eq!(json_bytes(&json!("é")), 4);
        assert_eq!(json_bytes(&json!("\u{7f}")), 3);
    }

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (number, text) in [
            (json!(1.0), "1"),
            (json!(0.5), "0.5"),
            (json!(1e21), "1e+21"),
            (json!(1.5e-7), "1.5e-7"),
            (json!(-3), "-3"),
            (json!(u64::MAX), "18446744073709552000"),
        ] {
            assert_eq!(json_bytes(&number), text.len() as u64, "{text}");
        }
    }

    fn plain_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-zA-Z0-9 \"\\\\é\n]*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]*", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn without_markup_the_length_is_that_of_compact_json(value in plain_json()) {
            prop_assert_eq!(json_bytes(&value), value.to_string().len() as u64);
        }
    }
}
