//! CustomResourceDefinitions: how the input defines kinds of its own. The built-in kinds are in [`super::kinds`].

use crd_schema::SchemaProblem;
use kube_json::{Map, Text, Value};
use strsim::damerau_levenshtein;

use super::policy::TARGETS;
use super::{catalog, violation};
use crate::diagnostic::{Code, Finding, Severity, nearest};
use crate::object::Object;
use apimachinery::pointer::child;
use apimachinery::{ApiVersion, Work};

pub use crd_schema::{Crd, Scope};

#[cfg(test)]
mod tests;

/// API group of CustomResourceDefinitions.
pub const GROUP: &str = "apiextensions.k8s.io";
/// Their kind.
pub const KIND: &str = "CustomResourceDefinition";

/// Reads a definition, as far as it can be read.
///
/// `None` if not even group, kind, plural, and scope are there: the findings explain why. Broken versions and
/// schemas are left out, with findings.
pub fn read(object: &Object) -> (Option<Crd>, Vec<Finding>) {
    let crd = Crd::read(&object.value);
    let misspelled = misspelled(object);
    let wrong = match &crd {
        // What a misspelled key means is missing elsewhere: the other problems may follow from it.
        _ if !misspelled.is_empty() => misspelled,
        Ok(crd) => findings(object, &crd.problems),
        Err(problems) => findings(object, problems),
    };
    (crd.ok(), wrong)
}

/// Which patterns and CEL rules of a definition cannot be used: [`read`] leaves them to the first object that needs
/// them. `object` is the one that `crd` was read from. Patterns and rules beyond the limit of `work` are not reported.
pub fn verify(crd: &Crd, object: &Object, work: &Work) -> Vec<Finding> {
    findings(object, &crd.verify(work))
}

/// The finding if the definitions of the input need more work than a run spends on them; `object` is the first.
pub fn too_much_work(object: &Object) -> Finding {
    let stage = "evaluating the schemas, CEL rules, and patterns of the CustomResourceDefinitions";
    let place = object.place("/spec/versions");
    let help =
        "remove the CustomResourceDefinition that has rules over long lists, or patterns with large counts";
    Finding::too_costly(stage, place, "no object is checked against them").help(help)
}

/// The group and the kind that a definition names, each if it can be read. Neither can be empty.
pub fn declared_kind(definition: &Object) -> (Option<&str>, Option<&str>) {
    let spec = definition.root().get("spec");
    let written = [spec.get("group"), spec.get("names").get("kind")];
    let [group, kind] = written.map(|field| field.str().filter(|text| !text.is_empty()));
    (group, kind)
}

/// Whether `object` is a definition.
pub fn is_one(object: &Object) -> bool {
    object.is(GROUP, KIND)
}

/// Checks an object of a kind as an API server with strict field validation would, but for what every
/// object's metadata must be: that is checked for all kinds alike, in `hub`. Where `work` is spent afterwards, no
/// answer that it was for counts.
pub fn check(crd: &Crd, object: &Object, work: &Work) -> Vec<Finding> {
    let version = crd.version(&object.api_version.version);
    let Some(version) = version.filter(|version| version.served) else {
        return vec![not_served(object, crd)];
    };
    let Some(schema) = &version.schema else {
        return Vec::new();
    };
    violation::findings(&schema.validate_within(&object.value, work), object)
}

/// Checks an object against `crd`, the definition of its kind in the built-in catalog. A version that the catalog does
/// not have is not checked.
///
/// With `only`, these fields of the spec alone count: that one of them is missing, or that an unknown field was meant
/// to be one of them, or the spec.
pub(crate) fn check_by_catalog(crd: &Crd, object: &Object, only: Option<&[&str]>) -> Vec<Finding> {
    let version = &object.api_version.version;
    let Some(schema) = crd.version(version).and_then(|version| version.schema.as_ref()) else {
        return Vec::new();
    };
    let mut violations = schema.validate_beside_metadata(&object.value);
    if let Some(only) = only {
        let only: Vec<String> = only.iter().map(|field| format!("/spec/{field}")).collect();
        violations.retain(|violation| {
            only.contains(&violation.pointer)
                || violation::meant(violation).is_some_and(|meant| meant == "/spec" || only.contains(&meant))
        });
    }
    if violations.is_empty() {
        return Vec::new();
    }
    let product = catalog::find(&crd.group, &crd.kind).and_then(|entry| entry.product(version));
    let product = product.unwrap_or_default();
    // All findings about the object share it.
    let note = Text::from(format!(
        "as of {product}; add your own CRD to the input to check against it"
    ));
    let found = violation::findings(&violations, object).into_iter();
    found.map(|finding| finding.note(note.clone())).collect()
}

/// The finding about an object whose version is not one of those that are served.
fn not_served(object: &Object, crd: &Crd) -> Finding {
    let ApiVersion { group, version } = &object.api_version;
    let (kind, key, plural) = (&object.kind, object.key(), &crd.plural);
    let message = format!("{kind} {key}: version {version:?} of {plural}.{group} is not served");
    let finding = Finding::new(Code::OBJECT_SCHEMA, object.place("/apiVersion"), message);
    let served: Vec<&str> = crd.served_versions().collect();
    let all = served.join(", ");
    match served.first() {
        Some(first) => finding.help(format!("write `apiVersion: {group}/{first}`; served: {all}")),
        None => finding.help("no version is served: correct the CustomResourceDefinition"),
    }
}

fn findings(object: &Object, problems: &[SchemaProblem]) -> Vec<Finding> {
    problems.iter().map(|problem| finding(object, problem)).collect()
}

fn finding(object: &Object, problem: &SchemaProblem) -> Finding {
    let message = format!("CustomResourceDefinition {}: {problem}", object.name);
    let finding = Finding::new(Code::OBJECT_SCHEMA, object.place(&problem.pointer), message);
    match &problem.suggestion {
        Some(name) => finding.help(format!("name it {name}")),
        None if problem.unsupported => {
            let finding = finding.severity(Severity::Warning);
            finding.help("this rule is not checked here; the API server will check it")
        }
        None => finding,
    }
}

// An API server drops an unknown key, or refuses the definition with strict field validation
// (docs/systems/kubernetes.md#pruning). Either way, the rule that the author meant is not in effect. A key that resembles
// no known one is not reported, because a later release may know it.
const ROOT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];
#[rustfmt::skip] // as many in a row as fit
const SPEC: &[&str] = &["conversion", "group", "names", "preserveUnknownFields", "scope", "versions"];
#[rustfmt::skip]
const NAMES: &[&str] = &["categories", "kind", "listKind", "plural", "shortNames", "singular"];
#[rustfmt::skip]
const VERSION: &[&str] = &[
    "additionalPrinterColumns", "deprecated", "deprecationWarning", "name", "schema", "selectableFields", "served",
    "storage", "subresources",
];
const VALIDATION: &[&str] = &["openAPIV3Schema"];
const SUBRESOURCES: &[&str] = &["scale", "status"];
#[rustfmt::skip]
const SCHEMA: &[&str] = &[
    "$ref", "$schema", "additionalItems", "additionalProperties", "allOf", "anyOf", "default", "definitions",
    "dependencies", "description", "enum", "example", "exclusiveMaximum", "exclusiveMinimum", "externalDocs", "format",
    "id", "items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties",
    "minimum", "multipleOf", "not", "nullable", "oneOf", "pattern", "patternProperties", "properties", "required",
    "title", "type", "uniqueItems", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
];

/// The keys of a definition that have a typo.
fn misspelled(object: &Object) -> Vec<Finding> {
    let mut speller = Speller {
        object,
        found: Vec::new(),
    };
    let Some(root) = speller.mapping(&object.value, "", ROOT) else {
        return speller.found;
    };
    let spec = root.get("spec");
    if let Some(spec) = spec.and_then(|spec| speller.mapping(spec, "/spec", SPEC)) {
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
        let schema = version.get("schema");
        let schema = schema.and_then(|schema| self.mapping(schema, &at, VALIDATION));
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
