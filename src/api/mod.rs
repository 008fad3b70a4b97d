//! Typed views of the kinds that spokewright interprets.
//!
//! Owns: what the fields of each kind mean and which values an API server or a controller would refuse.
//! Flows in: objects and texts. Flows out: typed views and findings.
//! Must not know: other objects of the input; that is `hub`.

pub mod config;
pub mod crd;
pub mod feedback_path;
pub mod ocm_work;
pub mod params;
mod reading;
pub mod schema;

use serde_json::Value;

/// The JSON Schemas of what users write for this tool, by name, as `schemas/<name>.schema.json` holds them.
#[must_use]
pub fn schema_documents() -> Vec<(&'static str, Value)> {
    vec![("config", config::json_schema()), ("params", params::json_schema())]
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
    use crate::api::schema::Schema;

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
}
