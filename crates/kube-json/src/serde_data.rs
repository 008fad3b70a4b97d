//! Values as `serde`'s data, and as the text of JSON.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::{Map, Value};

/// The value that something serializes to.
///
/// # Errors
/// What its `Serialize` refuses, and maps whose keys are no texts.
pub fn to_value(data: impl Serialize) -> Result<Value, serde_json::Error> {
    serde_json::to_value(data).map(Value::from)
}

/// What a value says, as a type.
///
/// # Errors
/// What the type's `Deserialize` refuses.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    T::deserialize(serde_json::Value::from(value))
}

impl FromStr for Value {
    type Err = serde_json::Error;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(json)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(bool) => serializer.serialize_bool(*bool),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(Self::from)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(map) => Ok(map),
            _ => Err(D::Error::custom("expected a mapping")),
        }
    }
}

/// The compact text of JSON.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Value {
    fn inline_schema() -> bool {
        serde_json::Value::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        serde_json::Value::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        serde_json::Value::json_schema(generator)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Map {
    fn inline_schema() -> bool {
        serde_json::Map::<String, serde_json::Value>::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        serde_json::Map::<String, serde_json::Value>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        serde_json::Map::<String, serde_json::Value>::json_schema(generator)
    }
}
