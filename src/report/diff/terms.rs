//! What a change does to the terms on which it is judged: the configuration, what lives on clusters, and suppressions.
//!
//! Nothing of this is rendered, so that a comparison of what is shipped never shows it. Whoever writes a change could
//! otherwise say in the same change that nobody misses what it removes.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Map, Value};
use schemars::JsonSchema;
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
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
            for (object, [old, new]) in differing(there) {
                let change = Change::between([&old, &new]);
                let is_policy = new.is_some_and(|new| !target_kinds(&Object::alone(new)).is_empty());
                let of_change = spokes.entry((change, object, is_policy)).or_default();
                of_change.push(cluster.clone());
            }
        }
        let is_overlay = |object: &Object| overlay::is_one(object).then(|| object.value.clone());
        let overlays = differing([old, new].map(|(_, hub, _)| by_key(Some(&hub.objects), is_overlay)));
        let overlays = overlays.map(|(object, [before, after])| {
            let all = [old, new]
                .into_iter()
                .flat_map(|(.., overlays)| &overlays.overlays);
            let same = all.filter(|overlay| ObjectKey::from(overlay.identity.clone()) == object);
            let clusters = same.flat_map(|overlay| overlay.clusters.iter());
            let clusters: BTreeSet<&String> = clusters.filter(|cluster| admits(cluster)).collect();
            LocalChange {
                change: Change::between([&before, &after]),
                object,
                clusters: clusters.into_iter().cloned().collect(),
                is_policy: false,
            }
        });
        let overlays = overlays.collect();
        // One that has another version now is written anew.
        let suppressing = |object: &Object| {
            let text = object.annotation(SUPPRESS_ANNOTATION)?;
            Some((object.api_version.to_string(), Value::from(text)))
        };
        let suppressions = differing([old, new].map(|(_, hub, _)| by_key(Some(&hub.objects), suppressing)));
        let suppressions = suppressions.map(|(object, [old, new])| FieldChange {
            path: object.to_string(),
            old: old.map(|(_, text)| text),
            new: new.map(|(_, text)| text),
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

/// The fields of a configuration that mean something.
fn written(config: &RenderConfig) -> Value {
    let fields = config.written.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| !["apiVersion", "kind"].contains(&&***name));
    let fields: Map = fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::Object(fields)
}

fn by_key<V>(objects: Option<&Objects>, value: impl Fn(&Object) -> Option<V>) -> BTreeMap<ObjectKey, V> {
    let objects = objects.into_iter().flat_map(Objects::iter);
    let with_values = objects.filter_map(|object| Some((ObjectKey::from(object.identity()), value(object)?)));
    with_values.collect()
}

/// What is not the same on both sides.
fn differing<V: PartialEq>(
    [mut old, mut new]: [BTreeMap<ObjectKey, V>; 2],
) -> impl Iterator<Item = (ObjectKey, [Option<V>; 2])> {
    let keys: BTreeSet<ObjectKey> = old.keys().chain(new.keys()).cloned().collect();
    let both = keys.into_iter().map(move |key| {
        let values = [old.remove(&key), new.remove(&key)];
        (key, values)
    });
    both.filter(|(_, [old, new])| old != new)
}
