//! Generates `catalog.jsonl` from the definitions that `sources.json` names.
//!
//! It writes which parts of a definition are structural facts, and the results of trying targets against its rules.
//! Only tests need it:
//!
//!     SPOKEWRIGHT_CRDS=DIR UPDATE_CATALOG=1 cargo test --lib --features real-crds made_of

use std::collections::BTreeSet;

use apimachinery::Work;
use crd_schema::Schema;
use kube_json::{Map, Value, json};

use crate::api::targeting::Targeting;

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

/// The fields of a spec by which an object attaches to others: every run asks for these of all kinds.
const REFERENCES: [&str; 4] = ["parentRefs", "targetRef", "targetRefs", "targetSelectors"];

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
    Value::Object(kept.collect::<Map>())
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
            let (schema, _) = Schema::from_resource(&version["schema"]["openAPIV3Schema"], true);
            let targeting = Targeting::from_schema(&schema, &BTreeSet::new(), &Work::unlimited());
            if let Some(targeting) = targeting {
                kept["targeting"] = kube_json::to_value(targeting).expect("facts");
            }
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
    for definition in &mut definitions {
        let versions = definition["spec"]["versions"].as_array().expect("versions");
        let has = |field: &&str| {
            let pointer = format!("/schema/openAPIV3Schema/properties/spec/properties/{field}");
            versions.iter().any(|version| version.pointer(&pointer).is_some())
        };
        let references: Vec<&str> = REFERENCES.into_iter().filter(has).collect();
        definition["references"] = json!(references);
    }
    let products: Vec<&str> = products.iter().map(|(product, _)| product.as_str()).collect();
    json!({"definitions": definitions, "products": products})
}

/// The catalog as it is committed: a line with what every run needs of all kinds, and a line for each definition.
#[cfg(feature = "real-crds")]
pub(super) fn text(mut catalog: Value) -> String {
    let products = std::mem::take(&mut catalog["products"]);
    let definitions = catalog["definitions"].as_array_mut().expect("a list").iter_mut();
    let rows = definitions.map(|definition| {
        let take = |version: &mut Value, name: &str| version.as_object_mut().expect("a version").remove(name);
        let versions = definition["spec"]["versions"].as_array_mut().expect("versions");
        let versions = versions.iter_mut().map(|version| {
            let mut row = json!({"name": version["name"], "product": take(version, "product")});
            if let Some(targeting) = take(version, "targeting") {
                row["targeting"] = targeting;
            }
            row
        });
        let versions: Vec<Value> = versions.collect();
        let (metadata, spec) = (&definition["metadata"], &definition["spec"]);
        let kind = json!({
            "group": spec["group"], "kind": spec["names"]["kind"], "plural": spec["names"]["plural"],
            "is_namespaced": spec["scope"] != "Cluster", "references": definition["references"], "versions": versions,
        });
        (kind, json!({"metadata": metadata, "spec": spec}))
    });
    let (kinds, definitions): (Vec<Value>, Vec<Value>) = rows.unzip();
    let lines = std::iter::once(json!({"kinds": kinds, "products": products})).chain(definitions);
    lines.map(|line| format!("{line}\n")).collect()
}
