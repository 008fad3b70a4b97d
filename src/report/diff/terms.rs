//! What a change does to the terms on which it is judged: the configuration, what lives on clusters, and suppressions.
//!
//! Owns: which of these differ. Flows in: configurations, hubs. Flows out: [`Terms`]. Must not know: formats.
//!
//! Nothing of this is rendered, so that a comparison of what is shipped never shows it. Whoever writes a change could
//! otherwise say in the same change that nobody misses what it removes.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Map, Value, json};
use serde::Serialize;

use super::change::Change;
use super::fields::{FieldChange, field_changes};
use super::object::ObjectKey;
use crate::api::config::RenderConfig;
use crate::diagnostic::Hidden;
use crate::hub::{Hub, Objects};
use crate::object::Object;
use crate::object::well_known::SUPPRESS_ANNOTATION;

/// What differs in what decides about a change, but is not shipped.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Terms {
    /// Fields of the configuration, as they are written.
    pub configuration: Vec<FieldChange>,
    /// Objects that are said to live on clusters.
    pub spokes: Vec<LocalChange>,
    /// The annotation `spokewright.dev/suppress` of hub objects; `path` is the object.
    pub suppressions: Vec<FieldChange>,
}

/// An object that the change adds to `spokes`, changes, or removes there.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LocalChange {
    /// What happens to it there.
    pub change: Change,
    /// The object.
    #[serde(flatten)]
    pub object: ObjectKey,
    /// The clusters, sorted.
    pub clusters: Vec<String>,
}

impl Terms {
    /// The terms that differ on the new side; `admits` selects clusters.
    #[must_use]
    pub fn new(
        old: (&RenderConfig, &Hub),
        new: (&RenderConfig, &Hub),
        admits: impl Fn(&str) -> bool,
    ) -> Self {
        let clusters: BTreeSet<&String> = old.1.spokes.keys().chain(new.1.spokes.keys()).collect();
        let mut spokes: BTreeMap<(Change, ObjectKey), Vec<String>> = BTreeMap::new();
        for cluster in clusters.into_iter().filter(|cluster| admits(cluster)) {
            let whole = |object: &Object| Some(object.value.clone());
            let there = [old, new].map(|(_, hub)| by_key(hub.spokes.get(cluster), whole));
            for (object, [before, after]) in differing(there) {
                let change = match (before, after) {
                    (None, _) => Change::Added,
                    (_, None) => Change::Removed,
                    _ => Change::Changed,
                };
                spokes.entry((change, object)).or_default().push(cluster.clone());
            }
        }
        let suppressions = differing([old, new].map(|(_, hub)| by_key(Some(&hub.objects), suppressing)));
        let suppressions = suppressions.map(|(object, [old, new])| {
            let annotation = |object: Value| {
                object
                    .get("metadata")?
                    .get("annotations")?
                    .get(SUPPRESS_ANNOTATION)
                    .cloned()
            };
            FieldChange {
                path: object.to_string(),
                old: old.and_then(annotation),
                new: new.and_then(annotation),
            }
        });
        let spokes = spokes
            .into_iter()
            .map(|((change, object), clusters)| LocalChange {
                change,
                object,
                clusters,
            });
        Self {
            configuration: field_changes(&written(old.0), &written(new.0)),
            spokes: spokes.collect(),
            suppressions: suppressions.collect(),
        }
    }

    /// Hides the values of Secrets, as in the rest of the report.
    pub(super) fn conceal(&mut self, hidden: &mut Hidden) {
        for change in self.configuration.iter_mut().chain(&mut self.suppressions) {
            for value in [&mut change.old, &mut change.new].into_iter().flatten() {
                *value = hidden.conceal(value, false);
            }
        }
    }
}

/// The fields of a configuration that mean something.
fn written(config: &RenderConfig) -> Value {
    let fields = config.written.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| !["apiVersion", "kind"].contains(&&***name));
    let fields: Map = fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::Object(fields)
}

/// An object with only its suppressions, if it has any.
fn suppressing(object: &Object) -> Option<Value> {
    let text = object.annotation(SUPPRESS_ANNOTATION)?;
    let metadata = json!({"annotations": {SUPPRESS_ANNOTATION: text}});
    Some(
        json!({"apiVersion": object.api_version.to_string(), "kind": object.kind.as_str(), "metadata": metadata}),
    )
}

type ByKey = BTreeMap<ObjectKey, Value>;

fn by_key(objects: Option<&Objects>, value: impl Fn(&Object) -> Option<Value>) -> ByKey {
    let objects = objects.into_iter().flat_map(Objects::iter);
    let with_values = objects.filter_map(|object| Some((ObjectKey::from(object.identity()), value(object)?)));
    with_values.collect()
}

/// What is not the same on both sides.
fn differing([mut old, mut new]: [ByKey; 2]) -> impl Iterator<Item = (ObjectKey, [Option<Value>; 2])> {
    let keys: BTreeSet<ObjectKey> = old.keys().chain(new.keys()).cloned().collect();
    let both = keys.into_iter().map(move |key| {
        let values = [old.remove(&key), new.remove(&key)];
        (key, values)
    });
    both.filter(|(_, [old, new])| old != new)
}
