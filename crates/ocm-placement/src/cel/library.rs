//! The functions of OCM.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use cel_eval::{Call, Failure, Functions, Meter};
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{ExecutionError, Value};
use kube_json::Value as Json;

use crate::input::Input;

/// Bytes that a byte of JSON may become: `[[],[]]`, each list in a list with room for more.
const BYTES_PER_BYTE: usize = 64;

/// Lists of `{name, value}` by cluster, then by AddOnPlacementScore.
type Scores<'i> = HashMap<&'i str, HashMap<&'i str, Value>>;

/// All scores of the input. `validUntil` does not count here.
fn all_scores<'i>(input: &Input<'i>) -> Scores<'i> {
    let mut scores = Scores::new();
    for object in &input.inventory.scores {
        let items = object.scores.iter().map(|(name, value)| {
            let entries = HashMap::from([
                (Key::from("name".to_owned()), Value::from(*name)),
                (Key::from("value".to_owned()), Value::Int(i64::from(*value))),
            ]);
            Value::Map(Map {
                map: Arc::new(entries),
            })
        });
        // Of two objects with one identity (an error elsewhere) the first one counts.
        let list = scores.entry(object.cluster).or_default().entry(object.name);
        list.or_insert_with(|| Value::List(Arc::new(items.collect())));
    }
    scores
}

/// What expressions may call besides what every expression may.
pub(super) struct Library<'i> {
    input: &'i Input<'i>,
    /// Read when the first expression asks for scores.
    scores: OnceLock<Scores<'i>>,
}

impl Functions for Library<'_> {
    fn call(&self, call: Call<'_>, meter: &mut Meter<'_, '_>) -> Option<Result<Value, Failure>> {
        match (call.name, call.target, call.args) {
            ("scores", Some(cluster), [Value::String(name)]) => Some(self.scores(cluster, name)),
            ("parseJSON", Some(Value::String(text)), []) => Some(parse_json(text, meter)),
            _ => None,
        }
    }

    /// A list, and for each of its maps the map and the call: OCM's own estimate.
    fn price(&self, call: Call<'_>, result: &Value) -> Option<u64> {
        match (call.name, result) {
            ("scores", Value::List(items)) => {
                let items = u64::try_from(items.len()).unwrap_or(u64::MAX);
                Some(items.saturating_mul(31).saturating_add(10))
            }
            _ => None,
        }
    }
}

impl<'i> Library<'i> {
    pub(super) fn new(input: &'i Input<'i>) -> Self {
        Self {
            input,
            scores: OnceLock::new(),
        }
    }

    fn scores(&self, cluster: &Value, name: &str) -> Result<Value, Failure> {
        let missing = || ExecutionError::function_error("scores", "failed to get score: not found");
        let cluster = field(field(Some(cluster), "metadata"), "name");
        let Some(Value::String(cluster)) = cluster else {
            return Err(missing().into());
        };
        let scores = self.scores.get_or_init(|| all_scores(self.input));
        let of_cluster = scores.get(cluster.as_str());
        let list = of_cluster.and_then(|objects| objects.get(name));
        Ok(list.cloned().ok_or_else(missing)?)
    }
}

fn field<'v>(value: Option<&'v Value>, name: &str) -> Option<&'v Value> {
    match value? {
        Value::Map(map) => map.map.get(&Key::from(name.to_owned())),
        _ => None,
    }
}

fn parse_json(text: &str, meter: &mut Meter<'_, '_>) -> Result<Value, Failure> {
    meter.hold(text.len().saturating_mul(BYTES_PER_BYTE))?;
    let parsed: Json = serde_json::from_str(text)
        .map_err(|error| ExecutionError::function_error("parseJSON", error.to_string()))?;
    Ok(decoded(&parsed))
}

/// A JSON value as Go's decoder leaves it: every number a float.
fn decoded(value: &Json) -> Value {
    match value {
        Json::Number(number) => number.as_f64().map_or(Value::Null, Value::Float),
        other => super::view::converted(other, &decoded),
    }
}
