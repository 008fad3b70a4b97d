//! Making the packed form: from the definitions that `sources.json` names to `catalog.bin`.
//!
//! Owns: what of a definition is a structural fact, and writing the packed form. Only tests need it:
//!
//!     SPOKEWRIGHT_CRDS=DIR UPDATE_CATALOG=1 cargo test --lib --features real-crds made_of

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::pack::{FALSE, LIST, MAPPING, NULL, NUMBER, TEXT, TRUE};

/// The keywords of a schema that say what a value must be. No words, no examples, no rules.
const FACTS: [&str; 24] = [
    "default",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "required",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-preserve-unknown-fields",
];

/// The structural facts of a schema.
fn facts(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema.clone();
    };
    let each = |schemas: &Value| {
        schemas
            .as_array()
            .expect("a list of schemas")
            .iter()
            .map(facts)
            .collect()
    };
    let kept = fields.iter().filter_map(|(keyword, value)| {
        let value = match keyword.as_str() {
            "properties" => {
                let properties = value.as_object().expect("a mapping of properties");
                let below = properties
                    .iter()
                    .map(|(name, schema)| (name.clone(), facts(schema)));
                Value::Object(below.collect())
            }
            "items" | "additionalProperties" | "not" => facts(value),
            "allOf" | "anyOf" | "oneOf" => each(value),
            keyword if FACTS.contains(&keyword) => value.clone(),
            _ => return None,
        };
        Some((keyword.clone(), value))
    });
    Value::Object(kept.collect::<Map<_, _>>())
}

/// The served versions of a definition, as the catalog keeps them.
fn versions(definition: &Value, product: usize) -> Vec<Value> {
    let versions = definition["spec"]["versions"].as_array().expect("versions");
    versions
        .iter()
        .filter(|version| version["served"] == true)
        .map(|version| {
            let mut kept = json!({
                "name": version["name"], "served": true, "product": product,
                "schema": {"openAPIV3Schema": facts(&version["schema"]["openAPIV3Schema"])},
            });
            if version["subresources"]["status"].is_object() {
                kept["subresources"] = json!({"status": {}});
            }
            kept
        })
        .collect()
}

/// Puts the definitions of all products into one catalog. Of a version that several have, the first one counts: the
/// experimental channel before the standard one, newer releases before older ones.
pub(super) fn catalog(products: &[(String, Vec<Value>)]) -> Value {
    let mut definitions: Vec<Value> = Vec::new();
    for (product, (_, of_product)) in products.iter().enumerate() {
        for definition in of_product {
            let spec = &definition["spec"];
            let same = |known: &&mut Value| {
                known["spec"]["group"] == spec["group"]
                    && known["spec"]["names"]["kind"] == spec["names"]["kind"]
            };
            let served = versions(definition, product);
            if let Some(known) = definitions.iter_mut().find(same) {
                let known = known["spec"]["versions"].as_array_mut().expect("versions");
                for version in served {
                    if !known.iter().any(|other| other["name"] == version["name"]) {
                        known.push(version);
                    }
                }
            } else if !served.is_empty() {
                definitions.push(json!({
                    "metadata": {"name": definition["metadata"]["name"]},
                    "spec": {
                        "group": spec["group"], "scope": spec["scope"],
                        "names": {"kind": spec["names"]["kind"], "plural": spec["names"]["plural"]},
                        "versions": served,
                    },
                }));
            }
        }
    }
    let key = |definition: &Value| {
        let text = |pointer: &str| definition.pointer(pointer).map(Value::to_string);
        (text("/spec/group"), text("/spec/names/kind"))
    };
    definitions.sort_by_cached_key(key);
    let products: Vec<&str> = products.iter().map(|(product, _)| product.as_str()).collect();
    json!({"definitions": definitions, "products": products})
}

/// Packs a value.
pub(super) fn pack(value: &Value) -> Vec<u8> {
    let mut packer = Packer::default();
    let root = packer.value(value);
    let root = u32::try_from(root).expect("less than 4 GiB");
    packer.bytes.extend(root.to_le_bytes());
    packer.bytes
}

#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    /// Where each value begins that is there already, by its bytes.
    known: HashMap<Vec<u8>, usize>,
}

impl Packer {
    fn value(&mut self, value: &Value) -> usize {
        let mut packed = Vec::new();
        match value {
            Value::Null => packed.push(NULL),
            Value::Bool(false) => packed.push(FALSE),
            Value::Bool(true) => packed.push(TRUE),
            Value::Number(number) => sized(&mut packed, NUMBER, &number.to_string()),
            Value::String(text) => sized(&mut packed, TEXT, text),
            Value::Array(items) => {
                let items: Vec<usize> = items.iter().map(|item| self.value(item)).collect();
                packed.push(LIST);
                number(&mut packed, items.len());
                for item in items {
                    number(&mut packed, item);
                }
            }
            Value::Object(fields) => {
                let keys = fields.keys().map(|key| Value::String(key.clone())).collect();
                let keys = self.value(&Value::Array(keys));
                let values: Vec<usize> = fields.values().map(|value| self.value(value)).collect();
                packed.push(MAPPING);
                number(&mut packed, keys);
                for value in values {
                    number(&mut packed, value);
                }
            }
        }
        if let Some(at) = self.known.get(&packed) {
            return *at;
        }
        let at = self.bytes.len();
        self.bytes.extend(&packed);
        self.known.insert(packed, at);
        at
    }
}

fn sized(packed: &mut Vec<u8>, tag: u8, text: &str) {
    packed.push(tag);
    number(packed, text.len());
    packed.extend(text.as_bytes());
}

fn number(packed: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            packed.push(low);
            return;
        }
        packed.push(low | 0x80);
    }
}
