//! Agreement with other engines, on values made from the schemas of public projects.

use kube_json::{Map, Value, json};
use test_crds::real_crds;

use super::texts;
use crate::{Schema, Violation, ViolationKind, check, metadata};

/// OpenAPI v3 as Kubernetes reads it, in the words of JSON Schema 2020-12.
fn as_json_schema(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema.clone();
    };
    let flag = |name: &str| fields.get(name).and_then(Value::as_bool) == Some(true);
    let mut mapped = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "properties" => value
                .as_object()
                .map(|all| {
                    Value::Object(
                        all.iter()
                            .map(|(name, schema)| (name.clone(), as_json_schema(schema)))
                            .collect(),
                    )
                })
                .unwrap_or_default(),
            "items" | "not" => as_json_schema(value),
            "additionalProperties" => as_json_schema(value),
            "allOf" | "anyOf" | "oneOf" => Value::Array(
                value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(as_json_schema)
                    .collect(),
            ),
            "exclusiveMinimum" if flag(name) => fields["minimum"].clone(),
            "exclusiveMaximum" if flag(name) => fields["maximum"].clone(),
            "type" => {
                // An API server takes a list for a text with a format.
                let format = fields.get("format").and_then(Value::as_str);
                let is_formatted = matches!(format, Some("byte" | "cidr" | "date-time")) && value == "string";
                let others = [(is_formatted, "array"), (flag("nullable"), "null")];
                let others = others.iter().filter(|(is_taken, _)| *is_taken);
                std::iter::once(value.clone())
                    .chain(others.map(|(_, name)| json!(name)))
                    .collect()
            }
            "enum" | "pattern" | "required" | "minimum" | "maximum" | "minLength" | "maxLength"
            | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "multipleOf" => value.clone(),
            "format" if value == "ipv4" || value == "ipv6" => value.clone(),
            _ => continue,
        };
        mapped.insert(name.clone(), value);
    }
    if flag("x-kubernetes-int-or-string") {
        mapped.insert("type".to_owned(), json!(["integer", "string"]));
    }
    Value::Object(mapped)
}

/// Numbers that repeat for a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    /// A value that mostly fits a schema.
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if self.roll(40) == 0 || depth > 12 {
            let odd = [
                json!(null),
                json!(""),
                json!("x"),
                json!(-1),
                json!(70_000),
                json!(1.5),
                json!([]),
                json!({}),
                json!(true),
            ];
            return odd[usize::try_from(self.roll(9)).unwrap()].clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return choices[usize::try_from(self.roll(choices.len() as u64)).unwrap()].clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => {
                let mut fields = Map::new();
                let required = schema.get("required").cloned().unwrap_or_default();
                for (name, property) in schema
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                {
                    let needed = required.as_array().is_some_and(|all| all.contains(&json!(name)));
                    if needed && self.roll(12) > 0 || self.roll(4) == 0 {
                        fields.insert(name.clone(), self.value(property, depth + 1));
                    }
                }
                if let Some(additional @ Value::Object(_)) = schema.get("additionalProperties") {
                    for index in 0..self.roll(3) {
                        fields.insert(format!("k{index}"), self.value(additional, depth + 1));
                    }
                }
                Value::Object(fields)
            }
            Some("array") => {
                let items = schema.get("items").cloned().unwrap_or_default();
                (0..self.roll(4)).map(|_| self.value(&items, depth + 1)).collect()
            }
            Some("integer") => json!(self.roll(600)),
            Some("boolean") => json!(self.roll(2) == 0),
            _ => {
                let pool = [
                    "a",
                    "example.com",
                    "10.0.0.1",
                    "::1",
                    "web-1",
                    "Not Valid",
                    "*.a.b",
                    "10s",
                    "1h30m",
                    "80%",
                    "gateway.networking.k8s.io",
                    "Gateway",
                    "/path",
                    "kuadrant.io/x",
                    "HTTPRoute",
                    "True",
                    "2026-11-20T10:00:00Z",
                ];
                json!(pool[usize::try_from(self.roll(pool.len() as u64)).unwrap()])
            }
        }
    }
}

#[test]
fn structural_verdicts_agree_with_another_engine_on_public_schemas() {
    let crds = real_crds();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut checked, mut refused) = (0, 0);
    for (path, definition) in &crds {
        let versions = definition["spec"]["versions"].as_array().expect("versions");
        for version in versions {
            let raw = &version["schema"]["openAPIV3Schema"];
            let (ours, problems) = Schema::from_value(raw);
            assert_eq!(problems, vec![]);
            let theirs = jsonschema::options()
                .should_validate_formats(true)
                .build(&as_json_schema(raw).into())
                .expect("a schema");
            for _ in 0..60 {
                let value = ours.defaulted(&dice.value(raw, 0)).into_owned();
                // What the other engine does not know is left out, embedded resources too.
                let accepts = check::check(
                    &ours.root,
                    &metadata::NODE,
                    &value,
                    &mut check::trusted().allowance_of(0),
                )
                .iter()
                .all(|violation| {
                    matches!(violation.kind, ViolationKind::UnknownField { .. })
                        || violation.message.starts_with("Duplicate value")
                        || violation.message.contains("with format int32")
                        || (value.pointer(&violation.pointer).is_some_and(Value::is_string)
                            && ["date-time", "byte"].iter().any(|format| {
                                violation.message.contains(&format!("must be of type {format}"))
                            }))
                        || (violation.pointer.contains("/workload/manifests/")
                            && ["apiVersion", "kind", "metadata"]
                                .iter()
                                .any(|field| violation.pointer.split('/').any(|step| step == *field)))
                });
                let json = serde_json::Value::from(&value);
                let expected = theirs.is_valid(&json);
                assert_eq!(
                    accepts,
                    expected,
                    "{}\n{value:#}\nours: {:#?}\ntheirs: {:?}",
                    path.display(),
                    texts(&ours, &value),
                    theirs
                        .iter_errors(&json)
                        .map(|error| format!("{}: {error}", error.instance_path()))
                        .collect::<Vec<_>>()
                );
                checked += 1;
                refused += usize::from(!expected);
            }
        }
    }
    eprintln!("{checked} values, {refused} refused");
    assert!(
        refused > checked / 20 && refused < checked * 19 / 20,
        "{refused} of {checked}: the dice are loaded"
    );
}

/// Rules run level by level on reduced schemas must say what the engine's own walk over the whole says.
#[test]
fn rules_agree_with_the_engines_own_walk_over_the_whole() {
    let crds = real_crds();
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    let (mut checked, mut broken) = (0, 0);
    for (path, definition) in &crds {
        for version in definition["spec"]["versions"].as_array().expect("versions") {
            let raw = &version["schema"]["openAPIV3Schema"];
            let (ours, _) = Schema::from_value(raw);
            let theirs = kube_cel::compile_schema(&raw.into());
            for _ in 0..20 {
                let value = ours.defaulted(&dice.value(raw, 0)).into_owned();
                // An API server runs no rule where the structure is wrong. There, that engine finds a list without any
                // field, and cel-go (as ours) has no answer.
                let is_rule = |violation: &Violation| matches!(violation.kind, ViolationKind::Rule { .. });
                if !ours.validate(&value).iter().all(is_rule) {
                    continue;
                }
                let mut violations = Vec::new();
                crate::evaluate::check_rules(
                    &ours.root,
                    (None, &value),
                    &mut check::trusted().allowance_of(0),
                    &mut violations,
                );
                // That engine knows no optional values; `super::rules` has their cases.
                let of_both = |violation: &Violation| !matches!(&violation.kind, ViolationKind::Rule { rule } if rule.contains(".?"));
                let mut said: Vec<String> = violations
                    .into_iter()
                    .filter(of_both)
                    .map(|violation| {
                        // The value, which that engine does not show.
                        let shown = value.pointer(&violation.pointer).map(crate::violation::shown);
                        let shown = format!("Invalid value: {}: ", shown.unwrap_or_default());
                        violation.message.replacen(&shown, "Invalid value: ", 1)
                    })
                    .collect();
                let mut expected: Vec<String> =
                    match kube_cel::validate_compiled(&theirs, &(&value).into(), None) {
                        Ok(()) => Vec::new(),
                        Err(errors) => errors
                            .into_iter()
                            .filter(|error| error.kind != kube_cel::ErrorKind::CompilationFailure)
                            .map(|error| format!("Invalid value: {}", error.message))
                            .collect(),
                    };
                // Why a rule has no answer is worded as an API server words it; that engine has words of its own.
                for message in said.iter_mut().chain(&mut expected) {
                    let signs = [
                        " evaluating rule: ",
                        "'no such overload'",
                        "rule evaluation error: ",
                    ];
                    if signs.iter().any(|sign| message.contains(sign)) {
                        "Invalid value: the rule has no answer".clone_into(message);
                    }
                }
                said.sort();
                expected.sort();
                assert_eq!(said, expected, "{}\n{value:#}", path.display());
                checked += 1;
                broken += usize::from(!expected.is_empty());
            }
        }
    }
    eprintln!("{checked} values, {broken} break rules");
    assert!(broken > checked / 20, "{broken} of {checked}");
}
