//! JSON Schemas of the files that users write for this tool, and of the reports that it prints.
//!
//! Owns: putting them together, because `policy` knows what a profile may contain and `api` knows the rest of the
//! configuration; where they are published. Flows out: documents and their text. Must not know: values.

use serde_json::{Value, json};

use super::argocd;
use crate::api::{catalog, config, params};
use crate::policy::entry_schema;
use crate::report;

/// Where the schemas are published.
const PUBLISHED: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main/schemas");

/// The JSON Schemas, by name, as in `schemas/<name>.schema.json`: of the configuration, of the parameters, and of each
/// report.
#[must_use]
pub fn schema_documents() -> Vec<(&'static str, Value)> {
    let mut configuration = config::json_schema();
    if let Some(items) = configuration.pointer_mut("/properties/profiles/items") {
        *items = entry_schema();
    }
    let mut documents = vec![("config", configuration), ("params", params::json_schema())];
    documents.extend(report::schema_documents());
    documents.push(("report/argocd-parameters", argocd::announcement::json_schema()));
    for (name, document) in &mut documents {
        if let Some(fields) = document.as_object_mut() {
            fields.insert("$id".to_owned(), address(name).into());
        }
    }
    documents
}

fn address(name: &str) -> String {
    format!("{PUBLISHED}/{name}.schema.json")
}

/// The entries of SchemaStore's catalog, by which editors find the schema of a file, as in `schemas/catalog.json`.
#[must_use]
pub fn schema_store_catalog() -> Value {
    let entry = |name: &str, title: &str, description: &str, files: &[&str]| json!({"name": title, "description": description, "fileMatch": files, "url": address(name)});
    json!({
        "$schema": "https://json.schemastore.org/schema-catalog.json",
        "version": 1,
        "schemas": [
            entry(
                "config",
                "spokewright configuration",
                "What spokewright reads, and where it writes",
                &["spokewright.yaml"],
            ),
            entry(
                "params",
                "spokewright GatewayClass parameters",
                "What ships with the Gateways of a GatewayClass",
                &["spokewright-params.yaml", "spokewright-params.json"],
            ),
        ],
    })
}

/// The contents of the built-in catalog: a line for each version of each kind, with the release that its schema is
/// from.
#[must_use]
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

/// A schema document as it is printed and committed: indented, with a final newline.
#[must_use]
pub fn schema_text(document: &Value) -> String {
    // `{:#}` of a value is its indented JSON.
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crd_schema::Schema;

    #[test]
    fn committed_schemas_are_in_step_with_the_types() {
        let named = |(name, document)| (format!("{name}.schema.json"), name, document);
        let mut files: Vec<(String, &str, Value)> = schema_documents().into_iter().map(named).collect();
        files.push(("catalog.json".to_owned(), "schema-store", schema_store_catalog()));
        for (file, name, document) in files {
            let path = format!("{}/schemas/{file}", env!("CARGO_MANIFEST_DIR"));
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            let expected = schema_text(&document);
            if committed != expected {
                let diff = similar::TextDiff::from_lines(&committed, &expected);
                panic!(
                    "schemas/{file} is out of step; update it with\n  \
                     spokewright schema {name} > schemas/{file}\n{}",
                    diff.unified_diff().header("committed", "generated")
                );
            }
        }
    }

    #[test]
    fn our_own_schemas_compile_without_problems() {
        // Those that input is checked against; a report is never read.
        for (name, document) in schema_documents().into_iter().take(2) {
            let (_, problems) = Schema::of_value(&document.into());
            assert_eq!(problems, vec![], "{name}");
        }
    }

    #[test]
    fn the_schema_of_the_configuration_knows_what_a_profile_may_say() {
        let (_, configuration) = schema_documents().remove(0);
        let profile = &configuration["properties"]["profiles"]["items"]["properties"];
        assert_eq!(profile["ends"]["type"][0], "array", "{profile}");
    }
}
