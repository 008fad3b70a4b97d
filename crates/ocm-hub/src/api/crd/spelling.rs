//! Typos in the keys of a CustomResourceDefinition.
//!
//! An API server drops an unknown key, or refuses the definition with strict field validation
//! (docs/systems/kubernetes.md#pruning). Either way, the rule that the author meant is not in effect. A key that
//! resembles no known one is not reported, because a later release may know it.

use kube_json::{Map, Value};
use strsim::damerau_levenshtein;

use crate::api::policy::TARGETS;
use crate::diagnostic::{Code, Finding, nearest};
use crate::object::Object;
use apimachinery::pointer::child;

const ROOT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];
const SPEC: &[&str] = &[
    "conversion",
    "group",
    "names",
    "preserveUnknownFields",
    "scope",
    "versions",
];
const NAMES: &[&str] = &[
    "categories",
    "kind",
    "listKind",
    "plural",
    "shortNames",
    "singular",
];
const VERSION: &[&str] = &[
    "additionalPrinterColumns",
    "deprecated",
    "deprecationWarning",
    "name",
    "schema",
    "selectableFields",
    "served",
    "storage",
    "subresources",
];
const VALIDATION: &[&str] = &["openAPIV3Schema"];
const SUBRESOURCES: &[&str] = &["scale", "status"];
const SCHEMA: &[&str] = &[
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// The keys of a definition that have a typo.
pub(super) fn misspelled(object: &Object) -> Vec<Finding> {
    let mut speller = Speller {
        object,
        found: Vec::new(),
    };
    let Some(root) = speller.mapping(&object.value, "", ROOT) else {
        return speller.found;
    };
    let spec = root
        .get("spec")
        .and_then(|spec| speller.mapping(spec, "/spec", SPEC));
    if let Some(spec) = spec {
        if let Some(names) = spec.get("names") {
            speller.mapping(names, "/spec/names", NAMES);
        }
        let versions = spec.get("versions").and_then(Value::as_array);
        for (index, version) in versions.into_iter().flatten().enumerate() {
            speller.version(version, &format!("/spec/versions/{index}"));
        }
    }
    speller.found
}

struct Speller<'o> {
    object: &'o Object,
    found: Vec<Finding>,
}

impl<'o> Speller<'o> {
    /// The mapping at a pointer, whose keys are these.
    fn mapping(&mut self, value: &'o Value, at: &str, known: &[&str]) -> Option<&'o Map> {
        let mapping = value.as_object()?;
        for key in mapping.keys().filter(|key| !known.contains(&key.as_str())) {
            let missing = known.iter().copied().filter(|key| !mapping.contains_key(key));
            if let Some(near) = nearest(key, missing) {
                self.report(at, key, near);
            }
        }
        Some(mapping)
    }

    fn report(&mut self, at: &str, key: &str, near: &str) {
        let message = format!("{}: unknown field {key:?}", self.object.identity());
        let place = self.object.key_place(&child(at, key));
        let finding = Finding::new(Code::OBJECT_UNKNOWN_FIELD, place, message);
        let finding = finding.help(format!("did you mean `{near}`?"));
        self.found
            .push(finding.misspells(self.object.place(&child(at, near))));
    }

    /// Properties of a schema that are one edit away from a field that it does not have.
    fn properties(&mut self, schema: &'o Value, at: &str, fields: &[&str]) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        let own = properties.keys().filter(|key| !fields.contains(&key.as_str()));
        for key in own {
            let near = fields.iter().filter(|field| damerau_levenshtein(key, field) == 1);
            let (there, missing): (Vec<&str>, Vec<&str>) =
                near.partition(|field| properties.contains_key(field));
            // With one of them, nothing shows which of the two is meant: `targetRef` or `targetRefs`.
            if let ([], [near, ..]) = (there.as_slice(), missing.as_slice()) {
                self.report(&child(at, "properties"), key, near);
            }
        }
    }

    fn version(&mut self, version: &'o Value, at: &str) {
        let Some(version) = self.mapping(version, at, VERSION) else {
            return;
        };
        if let Some(subresources) = version.get("subresources") {
            self.mapping(subresources, &child(at, "subresources"), SUBRESOURCES);
        }
        let at = child(at, "schema");
        let schema = version
            .get("schema")
            .and_then(|schema| self.mapping(schema, &at, VALIDATION));
        if let Some(schema) = schema.and_then(|schema| schema.get("openAPIV3Schema")) {
            let at = child(&at, "openAPIV3Schema");
            // Fields of every object, and those by which policies name their targets: a schema does not invent them.
            self.properties(schema, &at, ROOT);
            if let Some(spec) = schema.pointer("/properties/spec") {
                self.properties(spec, &format!("{at}/properties/spec"), &TARGETS);
            }
            self.schema(schema, &at);
        }
    }

    fn schema(&mut self, schema: &'o Value, at: &str) {
        let Some(schema) = self.mapping(schema, at, SCHEMA) else {
            return;
        };
        for (key, value) in schema {
            let at = child(at, key);
            match (key.as_str(), value) {
                ("properties" | "patternProperties" | "definitions", Value::Object(schemas)) => {
                    for (name, schema) in schemas {
                        self.schema(schema, &child(&at, name));
                    }
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &child(&at, &index.to_string()));
                    }
                }
                ("items" | "additionalProperties" | "not", Value::Object(_)) => self.schema(value, &at),
                _ => {}
            }
        }
    }
}
