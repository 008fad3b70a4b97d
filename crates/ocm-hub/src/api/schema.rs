//! The JSON Schemas of the files that users write, as they are committed in `schemas/`. A test makes them from types.
//!
//! Owns: which schema a file is checked against. Flows out: texts, compiled schemas. Must not know: what a field means.

use crd_schema::Schema;
use kube_json::Value;

/// The schema of `spokewright.yaml`.
pub const CONFIG: &str = include_str!("../../../../schemas/config.schema.json");

/// The schema of the parameters of a GatewayClass.
pub const PARAMS: &str = include_str!("../../../../schemas/params.schema.json");

/// Where [`CONFIG`] describes a profile.
const PROFILE: &str = "/properties/profiles/items";

/// The schema of the configuration. It accepts any profile: `policy` checks each against [`profile`].
pub(super) fn config() -> Schema {
    let mut schema = value(CONFIG);
    if let Some(profile) = schema.pointer_mut(PROFILE) {
        *profile = Value::Bool(true);
    }
    compiled(&schema)
}

/// The schema of the parameters.
pub(super) fn params() -> Schema {
    compiled(&value(PARAMS))
}

/// The schema of one of the configuration's profiles.
#[must_use]
pub fn profile() -> Schema {
    compiled(value(CONFIG).pointer(PROFILE).unwrap_or(&Value::Null))
}

fn compiled(schema: &Value) -> Schema {
    let (schema, _) = Schema::of_value(schema);
    schema
}

/// The value of a committed text, which is JSON.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_schemas_compile_without_problems() {
        for text in [CONFIG, PARAMS] {
            let schema: Value = serde_json::from_str(text).expect("JSON");
            let (_, problems) = Schema::of_value(&schema);
            assert_eq!(problems, vec![]);
        }
    }

    #[test]
    fn the_schema_of_the_configuration_knows_what_a_profile_may_say() {
        let profile = &value(CONFIG)["properties"]["profiles"]["items"]["properties"];
        assert_eq!(profile["ends"]["type"][0], "array", "{profile}");
    }
}
