//! What a change does to the terms on which it is judged: the configuration, what lives on clusters, and suppressions.
//!
//! Owns: which of these differ. Flows in: configurations, hubs. Flows out: [`Terms`]. Must not know: formats.
//!
//! Nothing of this is rendered, so that a comparison of what is shipped never shows it. Whoever writes a change could
//! otherwise say in the same change that nobody misses what it removes.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Map, Value, json};
use serde::Serialize;

use super::compare::Change;
use super::fields::{FieldChange, field_changes};
use super::side::ObjectKey;
use crate::api::config::RenderConfig;
use crate::api::overlay;
use crate::api::policy::target_kinds;
use crate::diagnostic::Hidden;
use crate::hub::{Hub, Objects};
use crate::object::Object;
use crate::object::well_known::SUPPRESS_ANNOTATION;
use crate::placing::overlays::Overlays;

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
    /// ClusterOverlays, with the clusters that they select on either side. What follows from them is compared as well.
    pub overlays: Vec<LocalChange>,
}

/// An object of some clusters that the change adds, changes, or removes.
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
    /// Whether it is a policy on the new side: it takes the place of a synced one on its target.
    #[serde(skip)]
    pub is_policy: bool,
}

impl Terms {
    /// The terms that differ on the new side; `admits` selects clusters.
    #[must_use]
    pub fn new(
        old: (&RenderConfig, &Hub, &Overlays),
        new: (&RenderConfig, &Hub, &Overlays),
        admits: impl Fn(&str) -> bool,
    ) -> Self {
        let clusters: BTreeSet<&String> = old.1.spokes.keys().chain(new.1.spokes.keys()).collect();
        let mut spokes: BTreeMap<(Change, ObjectKey, bool), Vec<String>> = BTreeMap::new();
        for cluster in clusters.into_iter().filter(|cluster| admits(cluster)) {
            let whole = |object: &Object| Some(object.value.clone());
            let there = [old, new].map(|(_, hub, _)| by_key(hub.spokes.get(cluster), whole));
            for (object, values) in differing(there) {
                let [_, new] = &values;
                let is_policy = new
                    .as_ref()
                    .is_some_and(|new| !target_kinds(&Object::alone(new.clone())).is_empty());
                let key = (change(&values), object, is_policy);
                spokes.entry(key).or_default().push(cluster.clone());
            }
        }
        let is_overlay = |object: &Object| overlay::is_one(object).then(|| object.value.clone());
        let overlays = differing([old, new].map(|(_, hub, _)| by_key(Some(&hub.objects), is_overlay)));
        let overlays = overlays.map(|(object, values)| {
            let all = [old, new]
                .into_iter()
                .flat_map(|(.., overlays)| &overlays.overlays);
            let same = all.filter(|overlay| ObjectKey::from(overlay.identity.clone()) == object);
            let clusters = same.flat_map(|overlay| overlay.clusters.iter());
            let clusters: BTreeSet<&String> = clusters.filter(|cluster| admits(cluster)).collect();
            LocalChange {
                change: change(&values),
                object,
                clusters: clusters.into_iter().cloned().collect(),
                is_policy: false,
            }
        });
        let overlays = overlays.collect();
        let suppressions = differing([old, new].map(|(_, hub, _)| by_key(Some(&hub.objects), suppressing)));
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
            .map(|((change, object, is_policy), clusters)| LocalChange {
                change,
                object,
                clusters,
                is_policy,
            });
        Self {
            configuration: field_changes(&written(old.0), &written(new.0)),
            spokes: spokes.collect(),
            suppressions: suppressions.collect(),
            overlays,
        }
    }

    /// Whether a later change would be judged as before.
    pub(super) const fn is_empty(&self) -> bool {
        self.configuration.is_empty() && self.spokes.is_empty() && self.suppressions.is_empty()
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

/// What happens to what has these values on both sides.
const fn change(values: &[Option<Value>; 2]) -> Change {
    match values {
        [None, _] => Change::Added,
        [_, None] => Change::Removed,
        _ => Change::Changed,
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
