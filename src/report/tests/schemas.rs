//! JSON Schemas of the reports, made from the types that are serialized.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::diagnostic::{API_VERSION, FindingList};
use crate::outcome::effective_policy::{self, EffectivePolicy};
use crate::outcome::{CoverageReport, ObjectExplanation, PolicyReport, RequestExplanation};
use crate::report::diff::DiffDocument;
use crate::report::page::FleetPage;
use crate::report::placement::{PlacementExplanation, PlacementReport};
use crate::report::render_report::RenderReport;
use crate::report::status::StatusReport;

/// The schemas by name, in the order of the names.
pub(crate) fn schema_documents() -> Vec<(&'static str, Value)> {
    vec![
        ("report/coverage", document::<CoverageReport>("CoverageReport")),
        ("report/diff", document::<DiffDocument<'_>>("DiffReport")),
        (
            "report/effective-policy",
            document_of::<EffectivePolicy>(effective_policy::API_VERSION, "EffectivePolicy"),
        ),
        ("report/explain", document::<ObjectExplanation>("Explanation")),
        (
            "report/explain-request",
            document::<RequestExplanation>("RequestExplanation"),
        ),
        ("report/findings", document::<FindingList<'_>>("FindingList")),
        ("report/page", document::<FleetPage<'_>>("FleetPage")),
        (
            "report/placement",
            document::<PlacementReport<'_>>("PlacementReport"),
        ),
        (
            "report/placement-why",
            document::<PlacementExplanation<'_>>("PlacementExplanation"),
        ),
        ("report/policies", document::<PolicyReport>("PolicyReport")),
        ("report/render", document::<RenderReport<'_>>("RenderReport")),
        ("report/status", document::<StatusReport>("StatusReport")),
    ]
}

/// The schema of what is written, not of what could be read: a field that is left out where it says nothing is optional.
/// `apiVersion` and `kind` say which report it is, so only their values are allowed.
fn document<T: JsonSchema>(kind: &str) -> Value {
    document_of::<T>(API_VERSION, kind)
}

fn document_of<T: JsonSchema>(api_version: &str, kind: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), json!(kind));
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        properties.insert("apiVersion".to_owned(), json!({"const": api_version}));
        properties.insert("kind".to_owned(), json!({"const": kind}));
    }
    schema.to_value()
}
