//! The objects on clusters as the old side of a comparison: works, as the plan has them, with the objects that were exported.
//!
//! Only the fields that a work sends are compared, as server-side apply does (docs/systems/ocm-work.md#server-side-apply).
//! The values of an object that no work owns, and those of Secrets, are never compared, so no report can contain them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use apimachinery::{FieldPath, pointer};
use kube_json::Value;

use super::fields::paired;
use super::side::{LiveObject, LiveState, ObjectKey, Side};
use crate::api::ocm_work::is_owned_by_work;
use crate::object::Object;
use crate::output::TreeFile;
use crate::render::{ManifestSummary, Plan, Work, list, text};
use crate::report::stored_work;

/// The name under which a work agent applies (docs/systems/ocm-work.md#server-side-apply).
const AGENT: &str = "work-agent";
/// Parts of an object that servers and controllers write.
const WRITTEN_THERE: [&str; 2] = ["/metadata", "/status"];

/// The objects on clusters, as far as a plan is compared with them.
#[derive(Debug, Default)]
pub struct OnClusters {
    works: Vec<TreeFile>,
    objects: Vec<LiveObject>,
}

impl OnClusters {
    /// The objects that were exported, by cluster. Fields that no work sends are reported if `is_verbose`.
    pub(crate) fn new(objects: &BTreeMap<String, Vec<Object>>, plan: &Plan, is_verbose: bool) -> Self {
        let mut works = Vec::new();
        let mut states: BTreeMap<(ObjectKey, LiveState), Vec<String>> = BTreeMap::new();
        for (cluster, objects) in objects {
            let by_key = objects
                .iter()
                .map(|object| (ObjectKey::from(object.identity()), object));
            let by_key: HashMap<ObjectKey, &Object> = by_key.collect();
            for work in plan.works_of(cluster) {
                let mut found = Vec::new();
                works.push(TreeFile {
                    path: format!("{cluster}/{}.yaml", work.name),
                    text: on_cluster(cluster, work, &by_key, &mut found),
                });
                for (key, mut state) in found {
                    state.extra.retain(|_| is_verbose);
                    if !state.is_owned || !state.managers.is_empty() || !state.extra.is_empty() {
                        states.entry((key, state)).or_default().push(cluster.clone());
                    }
                }
            }
        }
        let objects = states.into_iter().map(|((object, state), clusters)| LiveObject {
            object,
            state,
            clusters,
        });
        let objects = objects.collect();
        Self { works, objects }
    }

    /// As a side.
    pub fn side(&self) -> Side<'_> {
        Side {
            is_live: true,
            objects: &self.objects,
            ..Side::of_files(&self.works)
        }
    }
}

/// A work with its objects as they are on a cluster, and their states. An object that is absent, or that no work owns, is
/// not in it.
fn on_cluster(
    cluster: &str,
    work: &Work,
    live: &HashMap<ObjectKey, &Object>,
    states: &mut Vec<(ObjectKey, LiveState)>,
) -> String {
    let mut value = work.text.value(cluster);
    let configs = list(&value, "/spec/manifestConfigs").to_vec();
    let manifests = value.pointer_mut("/spec/workload/manifests");
    let mut summaries = work.manifests.iter();
    if let Some(manifests) = manifests.and_then(Value::as_array_mut) {
        manifests.retain_mut(|manifest| {
            let Some(summary) = summaries.next() else {
                return true;
            };
            let key = ObjectKey::from(summary.identity());
            let Some(object) = live.get(&key) else {
                return false;
            };
            // A work leaves its Namespaces on the cluster, so it does not own them.
            let is_owned = key.is_namespace() || is_owned_by_work(object);
            let mut sent = Sent::new(summary, manifest, &configs);
            if is_owned && key.kind != "Secret" {
                let managed = list(&object.value, "/metadata/managedFields").iter();
                let managed =
                    managed.filter_map(|entry| Some((text(entry, "/manager"), entry.get("fieldsV1")?)));
                *manifest = sent.part("", manifest, &object.value, &managed.collect());
            }
            sent.managers.remove(AGENT);
            let state = LiveState {
                is_owned,
                managers: sent.managers.into_iter().map(str::to_owned).collect(),
                extra: sent.extra,
            };
            states.push((key, state));
            is_owned
        });
    }
    kube_yaml::write_document(&value)
}

/// Fields that have managers: each manager with its part of `metadata.managedFields`.
type Managed<'o> = Vec<(&'o str, &'o Value)>;

/// The managers of the members that `is_meant` selects. The manager of a whole value has no members.
fn below<'o>(managed: &Managed<'o>, is_meant: impl Fn(&str) -> bool) -> Managed<'o> {
    let below = managed.iter().flat_map(|(manager, fields)| {
        let members = fields.as_object().into_iter().flatten();
        let members = members.filter(|(name, _)| is_meant(name)).map(|(_, below)| below);
        let whole = fields.is_empty().then_some(*fields);
        members.chain(whole).map(|below| (*manager, below))
    });
    below.collect()
}

/// What a work sends of an object, as it is on a cluster.
#[derive(Default)]
struct Sent<'o> {
    /// JSON pointers of the fields that a cluster may change.
    ignored: Vec<String>,
    /// The managers of the fields that differ.
    managers: BTreeSet<&'o str>,
    /// JSON pointers of the fields that are not sent.
    extra: Vec<String>,
}

impl<'o> Sent<'o> {
    /// Of the entries in `manifestConfigs` that name an object, the first with a strategy counts.
    fn new(summary: &ManifestSummary, manifest: &Value, configs: &[Value]) -> Self {
        let mut named = stored_work::configs(configs, summary);
        let strategy = named.find_map(|config| config.get("updateStrategy"));
        let entries = strategy.map_or(&[][..], |strategy| {
            list(strategy, "/serverSideApply/ignoreFields")
        });
        // An API server converts versions.
        let mut ignored = vec!["/apiVersion".to_owned()];
        for entry in entries {
            let texts = |field| list(entry, field).iter().filter_map(Value::as_str);
            ignored.extend(texts("/jsonPointers").map(str::to_owned));
            let paths =
                texts("/jsonPaths").filter_map(|path| FieldPath::parse(path.trim_start_matches('.')).ok());
            ignored.extend(paths.filter_map(|path| path.resolve(manifest, true).ok()));
        }
        Self {
            ignored,
            ..Self::default()
        }
    }

    /// The part of `live` that is sent.
    fn part(&mut self, at: &str, planned: &Value, live: &'o Value, managed: &Managed<'o>) -> Value {
        if planned == live || is_inside(at, &self.ignored) {
            return planned.clone();
        }
        match (planned, live) {
            (Value::Object(planned), Value::Object(live)) => {
                let extra = live.keys().filter(|name| !planned.contains_key(name));
                let extra = extra.map(|name| pointer::child(at, name));
                self.extra
                    .extend(extra.filter(|field| !is_inside(field, &WRITTEN_THERE)));
                let members = planned.iter().filter_map(|(name, value)| {
                    let at = pointer::child(at, name);
                    let Some(live) = live.get(name) else {
                        // A server may drop an empty value.
                        let is_same = value.is_empty() || is_inside(&at, &self.ignored);
                        return is_same.then(|| (name.clone(), value.clone()));
                    };
                    let managed = below(managed, |field| field.strip_prefix("f:") == Some(name));
                    Some((name.clone(), self.part(&at, value, live, &managed)))
                });
                return members.collect();
            }
            (Value::Array(planned), Value::Array(live)) => {
                if let Some((planned, entries)) = paired(planned, live) {
                    // In a list by keys, which only `managedFields` show, entries of others are no difference.
                    let mut names = managed.iter().filter_map(|(_, fields)| fields.as_object());
                    let is_by_key = names.any(|names| names.keys().any(|name| name.starts_with("k:")));
                    let labels = if is_by_key { planned.keys() } else { entries.keys() };
                    let items = labels.filter_map(|label| {
                        let entry = *entries.get(label)?;
                        let managed = below(managed, |field| is_key_of(field, entry));
                        let (position, _, planned) =
                            planned.get_full(label).unwrap_or((0, label, &&Value::Null));
                        let at = pointer::child(at, &position.to_string());
                        Some(self.part(&at, planned, entry, &managed))
                    });
                    return items.collect();
                }
                if planned.len() == live.len() {
                    let items = planned.iter().zip(live).enumerate();
                    let items = items.map(|(position, (planned, live))| {
                        let at = pointer::child(at, &position.to_string());
                        self.part(&at, planned, live, managed)
                    });
                    return items.collect();
                }
            }
            _ => {}
        }
        self.managers.extend(managed.iter().map(|(manager, _)| *manager));
        live.clone()
    }
}

fn is_inside(at: &str, parts: &[impl AsRef<str>]) -> bool {
    let mut parts = parts.iter();
    parts.any(|part| pointer::inside(at, part.as_ref()).is_some())
}

/// Whether a name in `managedFields`, such as `k:{"name":"web"}`, is that of an entry of a list.
fn is_key_of(field: &str, entry: &Value) -> bool {
    let key = field.strip_prefix("k:").and_then(|key| key.parse::<Value>().ok());
    let key = key.as_ref().and_then(Value::as_object);
    key.is_some_and(|key| {
        key.iter()
            .all(|(name, value)| entry.get(name.as_str()) == Some(value))
    })
}
