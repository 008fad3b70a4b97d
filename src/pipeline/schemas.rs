//! JSON Schemas of the files that users write for this tool, and of the reports that it prints.
//!
//! Owns: their names; the files in `schemas/`, which tests make from the types. Flows out: texts. Must not know: values.

use crate::api::{catalog, schema};

/// The committed text of each schema of a report.
macro_rules! reports {
    ($($name:literal),* $(,)?) => {
        &[
            ("config", schema::CONFIG),
            ("params", schema::PARAMS),
            $((
                concat!("report/", $name),
                include_str!(concat!("../../schemas/report/", $name, ".schema.json")),
            )),*
        ]
    };
}

/// The JSON Schemas, by name, as in `schemas/<name>.schema.json`: of the configuration, of the parameters, and of each
/// report.
pub const SCHEMAS: &[(&str, &str)] = reports![
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use schemars::generate::SchemaSettings;
    use serde_json::Value;

    use super::*;
    use crate::api::{config, own_kinds, params};
    use crate::diagnostic::API_VERSION;
    use crate::pipeline::argocd::announcement;
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
            ("params", schema_of::<params::Params>()),
        ];
        documents.extend(report::schema_documents());
        documents.push(("report/argocd-parameters", announcement::json_schema()));
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
