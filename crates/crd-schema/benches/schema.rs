//! Compiling a schema, and checking an object against it.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use crd_schema::Schema;
use divan::{Bencher, black_box};
use kube_json::{Value, json};

fn main() {
    divan::main();
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "required": ["rules"], "properties": {
        "rules": {"type": "array", "maxItems": 64, "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63},
                "weight": {"type": "integer", "format": "int32", "minimum": 0, "default": 1},
                "mode": {"type": "string", "enum": ["Exact", "Prefix"]},
                "value": {"type": "string"},
            },
            "x-kubernetes-validations": [{"rule": "!has(self.mode) || has(self.value)", "message": "value is needed"}],
        }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    }}}})
}

fn object() -> Value {
    let rules: Vec<Value> = (0..32)
        .map(|index| json!({"name": format!("rule-{index}"), "mode": "Exact", "value": "x"}))
        .collect();
    json!({"apiVersion": "example.com/v1", "kind": "Test", "metadata": {"name": "a"}, "spec": {"rules": rules}})
}

#[divan::bench]
fn compile(bencher: Bencher) {
    let schema = schema();
    bencher.bench(|| Schema::from_resource(black_box(&schema), true));
}

#[divan::bench]
fn validate(bencher: Bencher) {
    let (schema, _) = Schema::from_resource(&schema(), true);
    let object = object();
    bencher.bench(|| schema.validate(black_box(&object)));
}
