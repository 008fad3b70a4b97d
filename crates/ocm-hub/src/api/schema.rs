//! The files and texts that users write for spokewright: reading their YAML; the JSON Schema of each, as it is committed in
//! `schemas/`, and the way from a value to the type that the schema is made from (a test makes it); and the shapes that
//! they share.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use apimachinery::{LabelSelector, MatchExpression, pointer};
use crd_schema::{Schema, Violation, ViolationKind};
use kube_json::{Map, Value};
use kube_yaml::Limits;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The schema of `spokewright.yaml`.
pub const CONFIG: &str = include_str!("../../../../schemas/config.schema.json");

/// The schema of the parameters of a GatewayClass.
pub const PARAMS: &str = include_str!("../../../../schemas/params.schema.json");

/// The schema of a ClusterOverlay.
pub const OVERLAY: &str = include_str!("../../../../schemas/overlay.schema.json");

/// The schema of a FleetRule.
pub const RULE: &str = include_str!("../../../../schemas/rule.schema.json");

/// Where [`CONFIG`] describes a profile.
const PROFILE: &str = "/properties/profiles/items";

/// The schema of the configuration. It accepts any profile: `policy` checks each against [`profile`].
pub(super) fn config() -> Schema {
    let mut schema: Value = CONFIG.parse().unwrap_or_default();
    if let Some(profile) = schema.pointer_mut(PROFILE) {
        *profile = Value::Bool(true);
    }
    Schema::from_value(&schema).0
}

/// The schema of the parameters.
pub(super) fn params() -> &'static Schema {
    // They are read again for each hub that ClusterOverlays make of one.
    static COMPILED: LazyLock<Schema> =
        LazyLock::new(|| Schema::from_value(&PARAMS.parse().unwrap_or_default()).0);
    &COMPILED
}

/// The schema of a ClusterOverlay.
pub(super) fn overlay() -> &'static Schema {
    // A hub may have many.
    static COMPILED: LazyLock<Schema> = LazyLock::new(|| without_required(OVERLAY));
    &COMPILED
}

/// The schema of a FleetRule.
pub(super) fn rule() -> &'static Schema {
    static COMPILED: LazyLock<Schema> = LazyLock::new(|| without_required(RULE));
    &COMPILED
}

/// The spec may lack anything, because a field that is refused is removed, and the rest is still read.
fn without_required(schema: &str) -> Schema {
    let mut schema: Value = schema.parse().unwrap_or_default();
    if let Some(Value::Object(spec)) = schema.pointer_mut("/properties/spec") {
        spec.remove("required");
    }
    Schema::from_value(&schema).0
}

/// The schema of one of the configuration's profiles.
pub fn profile() -> Schema {
    let schema: Value = CONFIG.parse().unwrap_or_default();
    Schema::from_value(schema.pointer(PROFILE).unwrap_or(&Value::Null)).0
}

/// A list whose items keep their positions: one that the schema refuses leaves a gap.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct List<T>(#[schemars(with = "Option<Vec<T>>")] Option<Vec<Option<T>>>);

impl<T> List<T> {
    /// Whether the file has it, and not as null.
    pub(super) const fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// The items with their positions.
    pub fn items(&self) -> impl Iterator<Item = (usize, &T)> {
        let items = self.0.iter().flatten().enumerate();
        items.filter_map(|(position, item)| Some((position, item.as_ref()?)))
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The labels of objects, or the claims of clusters, as in any Kubernetes label selector.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Labels {
    /// Labels with their values.
    #[serde(default)]
    match_labels: Option<BTreeMap<String, String>>,
    /// Requirements on labels; all must be met.
    #[serde(default)]
    match_expressions: List<Expression>,
}

/// A requirement on a label.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expression {
    /// The label's key.
    key: String,
    /// In, NotIn, Exists or DoesNotExist.
    operator: String,
    /// The values of In and NotIn.
    #[serde(default)]
    values: List<String>,
}

impl Labels {
    /// The selector, not yet checked.
    pub(super) fn selector(&self) -> LabelSelector {
        let expression = |(_, written): (usize, &Expression)| MatchExpression {
            key: written.key.clone(),
            operator: written.operator.clone(),
            values: written.values.items().map(|(_, value)| value.clone()).collect(),
        };
        LabelSelector {
            match_labels: self.match_labels.clone().unwrap_or_default(),
            match_expressions: self.match_expressions.items().map(expression).collect(),
        }
    }
}

/// A file, as far as its schema accepts it.
pub(super) struct Typed<T> {
    /// The file; an error if the schema accepts what the type does not.
    pub(super) file: Result<T, serde_json::Error>,
    /// Its value: what the schema refuses is gone, so that it falls back to its default.
    pub(super) value: Value,
    /// What the schema refuses.
    pub(super) violations: Vec<Violation>,
}

/// Whether a schema refuses something at a pointer or below, so that what replaces it is not what the author meant.
pub(super) fn refuses(refused: &[String], at: &str) -> bool {
    let mut refused = refused.iter();
    refused.any(|refused| pointer::inside(refused, at).is_some())
}

/// No schema of ours is deeper.
const MOST_LEVELS: usize = 16;

/// Reads a file by its schema. An item of a list and its fields go together if one of them is required.
pub(super) fn typed<T: DeserializeOwned>(schema: &Schema, value: &Value) -> Typed<T> {
    let mut value = schema.defaulted(value).into_owned();
    let violations = schema.validate_defaulted(&value);
    let mut refused = violations.clone();
    for _ in 0..MOST_LEVELS {
        for violation in &refused {
            remove(&mut value, violation);
        }
        refused = schema.validate_defaulted(&value);
        refused.retain(|violation| value.pointer(&violation.pointer) != Some(&Value::Null));
        if refused.is_empty() {
            break;
        }
    }
    Typed {
        file: kube_json::from_value(&value),
        value,
        violations,
    }
}

/// Removes what is refused from a value; without a required field, what lacks it, but not the whole file.
fn remove(value: &mut Value, violation: &Violation) {
    let mut refused = violation.pointer.as_str();
    if violation.kind == ViolationKind::Required {
        refused = refused.rsplit_once('/').map_or("", |(holder, _)| holder);
        if refused.is_empty() {
            return;
        }
    }
    let Some((holder, _)) = refused.rsplit_once('/') else {
        *value = Value::Object(Map::default());
        return;
    };
    let name = pointer::tokens(refused).last().unwrap_or_default();
    match value.pointer_mut(holder) {
        Some(Value::Object(fields)) => drop(fields.remove(&name)),
        Some(Value::Array(items)) => {
            if let Some(item) = name.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                *item = Value::Null;
            }
        }
        _ => {}
    }
}

/// How much aliases inside such a text may expand to: there may be as many texts as a hub has objects.
const MOST_FROM_ALIASES: usize = 10_000;

/// Reads a text of one document, YAML as Kubernetes reads it, so JSON too.
///
/// # Errors
/// If it is not YAML, or has several documents.
pub(super) fn read(text: &str) -> Result<Value, kube_yaml::Error> {
    let limits = Limits {
        alias_nodes: MOST_FROM_ALIASES,
        ..Limits::default()
    };
    kube_yaml::read_document(text, &limits)
}

/// The text in base64, if it is one.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(kube_yaml::base64(text.as_bytes())?).ok()
}

/// The JSON Schema of a mapping with any fields.
pub(super) fn mapping(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "additionalProperties": true})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_schemas_compile_without_problems() {
        for text in [CONFIG, PARAMS, OVERLAY, RULE] {
            let schema: Value = serde_json::from_str(text).expect("JSON");
            let (_, problems) = Schema::from_value(&schema);
            assert_eq!(problems, vec![]);
        }
    }

    #[test]
    fn the_schema_of_the_configuration_knows_what_a_profile_may_say() {
        let schema: Value = CONFIG.parse().expect("JSON");
        let profile = &schema["properties"]["profiles"]["items"]["properties"];
        assert_eq!(profile["ends"]["type"][0], "array", "{profile}");
    }
}
