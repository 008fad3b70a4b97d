//! JSON Schemas of what users write for this tool.
//!
//! Owns: putting them together, as what a profile may say is known to `policy` and the rest of the configuration to
//! `api`. Flows out: documents and their text. Must not know: values.

use serde_json::Value;

use crate::api::{catalog, config, params};
use crate::policy::entry_schema;

/// The JSON Schemas, by name, as `schemas/<name>.schema.json` holds them.
#[must_use]
pub fn schema_documents() -> Vec<(&'static str, Value)> {
    let mut configuration = config::json_schema();
    if let Some(items) = configuration.pointer_mut("/properties/profiles/items") {
        *items = entry_schema();
    }
    vec![("config", configuration), ("params", params::json_schema())]
}

/// What the built-in catalog knows: a line for each version of each kind, with the release that its schema is of.
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
        for (name, document) in schema_documents() {
            let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            let expected = schema_text(&document);
            if committed != expected {
                let diff = similar::TextDiff::from_lines(&committed, &expected);
                panic!(
                    "schemas/{name}.schema.json is out of step; update it with\n  \
                     spokewright schema {name} > schemas/{name}.schema.json\n{}",
                    diff.unified_diff().header("committed", "generated")
                );
            }
        }
    }

    #[test]
    fn our_own_schemas_compile_without_problems() {
        for (name, document) in schema_documents() {
            let (_, problems) = Schema::of_value(&document);
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
