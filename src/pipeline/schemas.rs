//! JSON Schemas of the files that users write for this tool, and of the reports that it prints. Tests make the files in
//! `schemas/` from the types.

use kube_json::{Map, Value, json};

use crate::api::{catalog, kinds, own_kinds, schema};

/// The committed text of each schema of a report.
macro_rules! reports {
    ($($name:literal),* $(,)?) => {
        &[
            ("config", schema::CONFIG),
            ("overlay", schema::OVERLAY),
            ("params", schema::PARAMS),
            ("rule", schema::RULE),
            $((
                concat!("report/", $name),
                include_str!(concat!("../../schemas/report/", $name, ".schema.json")),
            )),*
        ]
    };
}

/// The JSON Schemas, by name, as in `schemas/<name>.schema.json`: of the configuration, of ClusterOverlays, of the
/// parameters, and of each report.
pub const SCHEMAS: &[(&str, &str)] = reports![
    "coverage",
    "diff",
    "effective-policy",
    "explain",
    "explain-request",
    "findings",
    "page",
    "placement",
    "placement-why",
    "policies",
    "render",
    "status",
    "argocd-parameters",
];

/// The entries of SchemaStore's catalog, by which editors find the schema of a file.
pub const SCHEMA_STORE_CATALOG: &str = include_str!("../../schemas/catalog.json");

/// The CustomResourceDefinitions of ClusterOverlays and FleetRules, as YAML, for an API server that should store them.
pub fn definitions() -> String {
    let definitions = [
        definition(own_kinds::OVERLAY, "Namespaced", schema::OVERLAY),
        definition(own_kinds::RULE, "Cluster", schema::RULE),
    ];
    definitions.join("---\n")
}

fn definition(kind: &str, scope: &str, schema: &str) -> String {
    let plural = kinds::plural(kind);
    let schema: Value = schema.parse().unwrap_or_default();
    let mut schema = structural(&schema);
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        // An API server has rules of its own for these.
        for (name, type_name) in [
            ("apiVersion", "string"),
            ("kind", "string"),
            ("metadata", "object"),
        ] {
            fields.insert(name, json!({"type": type_name}));
        }
    }
    kube_yaml::write_document(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", own_kinds::GROUP)},
        "spec": {
            "group": own_kinds::GROUP,
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
            "scope": scope,
            "versions": [{
                "name": own_kinds::VERSION, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
            }],
        },
    }))
}

/// A schema of ours as a CustomResourceDefinition may contain it: each level has one type, and choices of constants are
/// enums. An API server drops nulls, so no field need accept them.
fn structural(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema.clone();
    };
    let mut structural = Map::default();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("$id" | "$schema" | "title", _)
            | ("additionalProperties", Value::Bool(false))
            | ("default", Value::Null) => {}
            ("additionalProperties", Value::Bool(true)) => {
                structural.insert("x-kubernetes-preserve-unknown-fields", true.into());
            }
            ("type", Value::Array(types)) => {
                let named = types.iter().find(|name| *name != "null");
                structural.insert("type", named.cloned().unwrap_or_default());
            }
            // Each choice is a constant with a description, or, beside null, the only one.
            ("oneOf" | "anyOf", Value::Array(choices)) => {
                let constants: Vec<Value> = choices
                    .iter()
                    .filter_map(|choice| choice.get("const").cloned())
                    .collect();
                if constants.is_empty() {
                    let chosen = choices.iter().map(structural_fields).next().unwrap_or_default();
                    for (name, value) in chosen {
                        structural.insert_if_absent(&name, || value);
                    }
                } else {
                    structural.insert("type", "string".into());
                    structural.insert("enum", Value::Array(constants));
                }
            }
            ("properties", Value::Object(properties)) => {
                let mut below = properties.clone();
                for property in below.values_mut() {
                    *property = self::structural(property);
                }
                structural.insert("properties", Value::Object(below));
            }
            ("items" | "additionalProperties", below) => {
                structural.insert(name.clone(), self::structural(below));
            }
            _ => {
                structural.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(structural)
}

fn structural_fields(schema: &Value) -> Map {
    match structural(schema) {
        Value::Object(fields) => fields,
        _ => Map::default(),
    }
}

/// The contents of the built-in catalog: a line for each version of each kind, with the release that its schema is
/// from.
pub fn catalog_text() -> String {
    let mut text = String::new();
    for entry in catalog::kinds() {
        for version in entry.served_versions() {
            let product = entry.product(version).unwrap_or_default();
            text.push_str(&format!("{}/{version}  {}  {product}\n", entry.group, entry.kind));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use apimachinery::Work;
    use schemars::generate::SchemaSettings;
    use serde_json::Value;

    use super::super::argocd;
    use super::*;
    use crate::api::{config, crd, fleet_rule, overlay, params};
    use crate::diagnostic::API_VERSION;
    use crate::object::Object;
    use crate::policy::ProfileEntry;
    use crate::report;

    /// Where the schemas are published.
    const PUBLISHED: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main/schemas");

    fn schema_of<T: schemars::JsonSchema>() -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }

    /// The text of every schema, by name, from the types.
    fn made() -> Vec<(&'static str, String)> {
        let mut configuration = schema_of::<config::RenderConfig>();
        let mut profile = schema_of::<ProfileEntry>();
        profile.as_object_mut().expect("an object").remove("$schema");
        configuration["properties"]["profiles"]["items"] = profile;
        let mut documents = vec![
            ("config", configuration),
            ("overlay", schema_of::<overlay::Document>()),
            ("params", schema_of::<params::Params>()),
            ("rule", schema_of::<fleet_rule::Document>()),
        ];
        documents.extend(report::schema_documents());
        documents.push(("report/argocd-parameters", argocd::json_schema()));
        let text = |(name, mut document): (&'static str, Value)| {
            document["$id"] = format!("{PUBLISHED}/{name}.schema.json").into();
            // `{:#}` of a value is its indented JSON.
            (name, format!("{document:#}\n"))
        };
        documents.into_iter().map(text).collect()
    }

    #[test]
    fn the_reports_of_our_group_are_those_that_may_be_kept_beside_the_input() {
        let schemas = SCHEMAS
            .iter()
            .map(|(_, text)| serde_json::from_str::<Value>(text).expect("JSON"));
        let constant =
            |schema: &Value, field: &str| schema["properties"][field]["const"].as_str().map(str::to_owned);
        let mut kinds: Vec<String> = schemas
            .filter(|schema| constant(schema, "apiVersion").as_deref() == Some(API_VERSION))
            .filter_map(|schema| constant(&schema, "kind"))
            .collect();
        kinds.sort();
        assert_eq!(kinds, own_kinds::REPORTS);
    }

    #[test]
    fn the_definition_of_overlays_accepts_what_we_accept() {
        let read = |text: &str| {
            let value = kube_yaml::read_document(text, &kube_yaml::Limits::default());
            Object::alone(value.expect("YAML"))
        };
        let definition = read(&definition(own_kinds::OVERLAY, "Namespaced", schema::OVERLAY));
        let (crd, problems) = crd::read(&definition);
        assert_eq!(problems, []);
        let crd = crd.expect("a definition");
        assert_eq!(crd::verify(&crd, &definition, &Work::unlimited()), []);
        let text = "
apiVersion: spokewright.dev/v1alpha1
kind: ClusterOverlay
metadata: {name: sale, namespace: shop}
spec:
  clusters:
    names: [eu-1]
    labelSelector: {matchLabels: {region: eu}, matchExpressions: [{key: tier, operator: In, values: [prod]}]}
  changes:
  - target: {group: kuadrant.io, kind: RateLimitPolicy, name: per-route}
    set:
    - path: spec.limits.all
      value: {rates: [{limit: 50, any: {thing: null}}]}
    - {path: a, value: '${cluster.labels[\"a\"]}', as: Integer, default: {b: [1]}}
    - {path: b, remove: true}
";
        let valid = read(text);
        let (overlay, findings) = overlay::read(&valid);
        assert!(overlay.is_some() && findings.is_empty(), "{findings:?}");
        let refused = |object: &Object| crd::check(&crd, object, &Work::unlimited());
        assert_eq!(refused(&valid), []);
        for (right, wrong) in [
            ("names:", "nmes:"),
            ("path: spec", "pth: spec"),
            ("as: Integer", "as: integer"),
            ("remove: true", "remove: 1"),
            ("name: per-route", "name: 5"),
            ("matchLabels", "matchLabel"),
        ] {
            let wrong = read(&text.replacen(right, wrong, 1));
            assert!(!refused(&wrong).is_empty(), "{right}");
            assert!(!overlay::read(&wrong).1.is_empty(), "{right}");
        }
    }

    #[test]
    fn the_definition_of_rules_accepts_what_we_accept() {
        let read = |text: &str| {
            let value = kube_yaml::read_document(text, &kube_yaml::Limits::default());
            Object::alone(value.expect("YAML"))
        };
        let definition = read(&definition(own_kinds::RULE, "Cluster", schema::RULE));
        let (crd, problems) = crd::read(&definition);
        assert_eq!(problems, []);
        let crd = crd.expect("a definition");
        assert_eq!(crd::verify(&crd, &definition, &Work::unlimited()), []);
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rules");
        let refused = |object: &Object| crd::check(&crd, object, &Work::unlimited());
        for entry in std::fs::read_dir(rules).expect("rules") {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("text");
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            assert_eq!(refused(&read(&text)), [], "{}", path.display());
            for (right, wrong) in [
                ("expect: Violated", "expect: Broken"),
                ("assert:", "asert:"),
                ("  spec:", ""),
            ] {
                let wrong = read(&text.replacen(right, wrong, 1));
                assert_eq!(
                    refused(&wrong).is_empty(),
                    fleet_rule::read(&wrong).1.is_empty(),
                    "{right}"
                );
            }
        }
    }

    #[test]
    fn committed_schemas_are_those_of_the_types() {
        let made = made();
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
            for (name, text) in &made {
                std::fs::write(directory.join(format!("{name}.schema.json")), text).expect("a file");
            }
        }
        for (name, text) in &made {
            let committed = SCHEMAS.iter().find(|(committed, _)| committed == name);
            let (_, committed) = committed.unwrap_or_else(|| panic!("add {name} to `SCHEMAS`"));
            if committed != text {
                let diff = similar::TextDiff::from_lines(*committed, text.as_str());
                panic!(
                    "schemas/{name}.schema.json is out of date; write it with UPDATE_SCHEMAS=1\n{}",
                    diff.unified_diff().header("committed", "made")
                );
            }
        }
        assert_eq!(SCHEMAS.len(), made.len(), "a schema is of no type");
    }
}
