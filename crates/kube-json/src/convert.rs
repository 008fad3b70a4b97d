//! Values of other types as JSON values, comparisons with them, `serde`'s data, and the text of JSON.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::{Map, Number, Text, Value};

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(bool) => Self::Bool(bool),
            serde_json::Value::Number(number) => Self::Number(number),
            serde_json::Value::String(text) => Self::String(text.into()),
            serde_json::Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(map) => {
                let members = map.into_iter();
                Self::Object(members.map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                let members = map.iter();
                Self::Object(
                    members
                        .map(|(name, value)| (name.into(), Self::from(value)))
                        .collect(),
                )
            }
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

macro_rules! texts {
    ($($text:ty)*) => {$(
        impl From<$text> for Value {
            fn from(text: $text) -> Self {
                Self::String(text.into())
            }
        }
    )*};
}

texts!(&str &String String Cow<'_, str> Text);

impl From<&Text> for Value {
    fn from(text: &Text) -> Self {
        Self::String(text.clone())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Object(map)
    }
}

/// A float that JSON cannot represent becomes `null`.
impl From<f64> for Value {
    fn from(float: f64) -> Self {
        Number::from_f64(float).map_or(Self::Null, Self::Number)
    }
}

/// A float that JSON cannot represent becomes `null`.
impl From<f32> for Value {
    fn from(float: f32) -> Self {
        Self::from(f64::from(float))
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<Text>> FromIterator<(K, Self)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, Self)>>(members: I) -> Self {
        Self::Object(members.into_iter().collect())
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value {
            fn from(integer: $integer) -> Self {
                Self::Number(integer.into())
            }
        }

        impl PartialEq<$integer> for Value {
            fn eq(&self, other: &$integer) -> bool {
                self.as_number().is_some_and(|number| *number == Number::from(*other))
            }
        }
    )*};
}

integers!(i32 i64 u16 u32 u64 usize);

impl PartialEq<bool> for Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<Value> for &str {
    fn eq(&self, other: &Value) -> bool {
        other.as_str() == Some(*self)
    }
}

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
