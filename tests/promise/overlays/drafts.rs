//! Generated ClusterOverlays: which clusters, which objects and fields of a hub, which values.
//!
//! Owns: [`Draft`], choices that are read modulo what there is to choose from, and [`Overlay`], what they come to in a hub.
//! Flows in: the objects of a hub. Flows out: overlays, as objects too. Must not know: what becomes of them.

use kube_json::{Map, Value, json};
use proptest::prelude::*;

use super::super::hubs::few;

/// The clusters of every input, with their ManagedClusters.
pub(crate) const FLEET: [&str; 3] = ["eu-1", "eu-2", "us-1"];
/// Priorities.
const PRIORITIES: [i32; 3] = [0, 7, -3];

/// An overlay in short.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    clusters: usize,
    priority: usize,
    changes: Vec<ChangeDraft>,
}

#[derive(Debug, Clone)]
struct ChangeDraft {
    target: usize,
    by_labels: bool,
    set: Vec<FieldDraft>,
}

#[derive(Debug, Clone)]
struct FieldDraft {
    /// Of all fields that the object has, and some that it may have.
    field: usize,
    /// How the path is written.
    notation: usize,
    /// What becomes of the field.
    action: usize,
    number: usize,
}

/// Mostly one or two, of few fields, so that overlays meet now and then.
pub(crate) fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let field =
        (any::<u16>(), 0..3_usize, actions(), 1..6_usize).prop_map(|(field, notation, action, number)| {
            FieldDraft {
                field: field.into(),
                notation,
                action,
                number,
            }
        });
    let change = (0..24_usize, prop::bool::weighted(0.25), few(field, 1, 3, 0.3)).prop_map(
        |(target, by_labels, set)| ChangeDraft {
            target,
            by_labels,
            set,
        },
    );
    let draft = (0..40_usize, 0..PRIORITIES.len(), few(change, 1, 3, 0.3)).prop_map(
        |(clusters, priority, changes)| Draft {
            clusters,
            priority,
            changes,
        },
    );
    few(draft, 1, 4, 0.4)
}

/// Most values are plausible.
fn actions() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![20 => Just(0), 8 => Just(1), 2 => Just(2), 8 => Just(3), 3 => Just(4), 1 => Just(5), 1 => Just(6)]
}

/// A ClusterOverlay.
#[derive(Debug, Clone)]
pub(crate) struct Overlay {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) priority: i32,
    /// Of [`selected`].
    pub(crate) clusters: usize,
    pub(crate) changes: Vec<Change>,
}

/// What it changes.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) target: Target,
    pub(crate) set: Vec<Field>,
}

/// The objects.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Name(String),
    /// The value of the label `app`.
    Label(String),
}

/// One field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) steps: Vec<Step>,
    /// The value as it is written; nothing where the field is removed.
    pub(crate) value: Option<Value>,
    pub(crate) value_type: Option<&'static str>,
    pub(crate) default: Option<Value>,
    pub(crate) notation: usize,
    number: usize,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Member(String),
    Item(usize),
    /// The one element with this text in `name`.
    Named(String),
}

/// What the ManagedClusters have for overlays, by cluster: what is written, and its value.
pub(crate) fn values(cluster: &str) -> Vec<(&'static str, &'static str)> {
    let mut values = match cluster {
        "eu-1" => vec![
            (r#"${cluster.labels["region"]}"#, "eu"),
            (r#"${cluster.labels["weight"]}"#, "5"),
            (r#"${cluster.labels["main"]}"#, "true"),
            (
                r#"${cluster.claims["id.k8s.io"]}"#,
                "one: 'x'\n- \"${cluster.name}\"",
            ),
        ],
        "eu-2" => vec![
            (r#"${cluster.labels["region"]}"#, "eu"),
            (r#"${cluster.labels["weight"]}"#, "high"),
        ],
        _ => vec![
            (r#"${cluster.labels["region"]}"#, "us"),
            (r#"${cluster.labels["weight"]}"#, "7"),
            (r#"${cluster.labels["main"]}"#, "false"),
            (r#"${cluster.claims["id.k8s.io"]}"#, "$${x} #"),
        ],
    };
    values.push((r#"${cluster.annotations["acme.example/note"]}"#, "a, b"));
    values
}

/// Their ManagedClusters.
pub(crate) fn managed_clusters() -> Vec<Value> {
    let managed = FLEET.iter().map(|cluster| {
        let (mut labels, mut claims) = (Map::new(), Vec::new());
        for (written, value) in values(cluster) {
            let key = written.split('"').nth(1).unwrap_or_default();
            if written.contains(".labels[") {
                labels.insert(key.to_owned(), json!(value));
            } else if written.contains(".claims[") {
                claims.push(json!({"name": key, "value": value}));
            }
        }
        json!({
            "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
            "metadata": {"name": cluster, "labels": labels, "annotations": {"acme.example/note": "a, b"}},
            "spec": {"hubAcceptsClient": true},
            "status": {"clusterClaims": claims},
        })
    });
    managed.collect()
}

/// How overlays select clusters, and those that are then selected; `None` where a name is that of no cluster.
fn selected(choice: usize) -> (Value, Option<&'static [&'static str]>) {
    match choice {
        0 => (json!({"names": ["eu-1"]}), Some(&["eu-1"])),
        1 => (json!({"names": ["eu-2"]}), Some(&["eu-2"])),
        2 => (json!({"names": ["us-1"]}), Some(&["us-1"])),
        3 => (json!({"names": ["us-1", "eu-1"]}), Some(&["eu-1", "us-1"])),
        4 => (
            json!({"labelSelector": {"matchLabels": {"region": "eu"}}}),
            Some(&["eu-1", "eu-2"]),
        ),
        5 => (json!({"labelSelector": {}}), Some(&FLEET)),
        6 => {
            let expression = json!({"key": "region", "operator": "NotIn", "values": ["eu", "asia"]});
            (
                json!({"labelSelector": {"matchExpressions": [expression]}}),
                Some(&["us-1"]),
            )
        }
        7 => {
            let expression = json!({"key": "main", "operator": "DoesNotExist"});
            (
                json!({"labelSelector": {"matchExpressions": [expression]}}),
                Some(&["eu-2"]),
            )
        }
        8 => {
            let expression = json!({"key": "id.k8s.io", "operator": "Exists"});
            (
                json!({"claimSelector": {"matchExpressions": [expression]}}),
                Some(&["eu-1", "us-1"]),
            )
        }
        9 => (
            json!({"names": ["eu-1", "eu-2"], "labelSelector": {"matchLabels": {"main": "true"}}}),
            Some(&["eu-1"]),
        ),
        10 => (
            json!({"names": ["eu-1"], "labelSelector": {"matchLabels": {"region": "us"}}}),
            Some(&[]),
        ),
        11 => (json!({"names": ["eu-1", "eu-9"]}), None),
        other => selected(other % 10),
    }
}

impl Draft {
    /// What the choices come to among these objects; nothing where there is nothing to change.
    pub(crate) fn overlay(&self, number: usize, objects: &[Value]) -> Option<Overlay> {
        let eligible: Vec<&Value> = objects.iter().filter(|object| may_be_target(object)).collect();
        let mut namespace = None;
        let (mut changes, mut paths) = (Vec::new(), Vec::new());
        for change in &self.changes {
            let there = |object: &&&Value| namespace.is_none_or(|one| object["metadata"]["namespace"] == one);
            let there: Vec<&&Value> = eligible.iter().filter(there).collect();
            let Some(object) = there.get(change.target % there.len().max(1)) else {
                continue;
            };
            namespace = namespace.or(object["metadata"]["namespace"].as_str());
            let set = change.set.iter().map(|field| field.field(object, objects));
            // Of the fields that meet in one overlay, which is an error, a few stay.
            let set = set.filter(|field| {
                let meets =
                    |other: &Vec<Step>| other.starts_with(&field.steps) || field.steps.starts_with(other);
                let is_kept = field.number == 5 || !paths.iter().any(meets);
                paths.push(field.steps.clone());
                is_kept
            });
            let set: Vec<Field> = set.collect();
            if set.is_empty() {
                continue;
            }
            let label = object["metadata"]["labels"]["app"].as_str();
            let target = match label.filter(|_| change.by_labels) {
                Some(label) => Target::Label(label.to_owned()),
                None => Target::Name(text(object, "/metadata/name")),
            };
            changes.push(Change {
                group: group(object).to_owned(),
                kind: text(object, "/kind"),
                target,
                set,
            });
        }
        Some(Overlay {
            name: format!("overlay-{number}"),
            namespace: namespace?.to_owned(),
            priority: PRIORITIES[self.priority],
            clusters: self.clusters,
            changes,
        })
    }
}

impl Overlay {
    /// The clusters that it selects; `None` where it names one that does not exist.
    pub(crate) fn clusters(&self) -> Option<&'static [&'static str]> {
        selected(self.clusters).1
    }

    /// The object, as its author would write it.
    pub(crate) fn object(&self) -> Value {
        let changes = self.changes.iter().map(|change| {
            let mut target = json!({"group": change.group, "kind": change.kind});
            match &change.target {
                Target::Name(name) => target["name"] = json!(name),
                Target::Label(label) => target["labelSelector"] = json!({"matchLabels": {"app": label}}),
            }
            let set: Vec<Value> = change.set.iter().map(Field::written).collect();
            json!({"target": target, "set": set})
        });
        json!({
            "apiVersion": "spokewright.dev/v1alpha1", "kind": "ClusterOverlay",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {
                "priority": self.priority,
                "clusters": selected(self.clusters).0,
                "changes": changes.collect::<Vec<_>>(),
            },
        })
    }
}

impl Field {
    fn written(&self) -> Value {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Member(name) if self.notation == 2 && !path.is_empty() || name.contains(['/', '.']) => {
                    path.push_str(&format!("[{}]", json!(name)));
                }
                Step::Member(name) if path.is_empty() => path.push_str(name),
                Step::Member(name) => path.push_str(&format!(".{name}")),
                Step::Item(position) => path.push_str(&format!("[{position}]")),
                Step::Named(name) => path.push_str(&format!("[name={name}]")),
            }
        }
        let mut written = json!({"path": path});
        match &self.value {
            Some(value) => written["value"] = value.clone(),
            None => written["remove"] = json!(true),
        }
        if let Some(value_type) = self.value_type {
            written["as"] = json!(value_type);
        }
        if let Some(default) = &self.default {
            written["default"] = default.clone();
        }
        written
    }
}

/// What ships, or may.
fn may_be_target(object: &Value) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    matches!(kind, "Gateway" | "ListenerSet" | "Service")
        || kind.ends_with("Route")
        || kind.ends_with("Policy")
}

pub(crate) fn text(object: &Value, pointer: &str) -> String {
    let text = object.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

pub(crate) fn group(object: &Value) -> &str {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    version.split_once('/').map_or("", |(group, _)| group)
}

impl FieldDraft {
    fn field(&self, object: &Value, objects: &[Value]) -> Field {
        let mut fields = Vec::new();
        if let Some(spec) = object["spec"].as_object() {
            for (name, value) in spec {
                let path = vec![Step::Member("spec".to_owned()), Step::Member(name.to_string())];
                // Most draws of such a field would be in vain.
                if !matches!(&**name, "targetRef" | "targetRefs" | "parentRef" | "parentRefs") {
                    collect(value, path, self.notation, &mut fields);
                }
            }
        }
        let kind = object["kind"].as_str().unwrap_or_default();
        let new: &[(&[&str], Value)] = &match kind {
            "Gateway" | "ListenerSet" => [
                (
                    &["spec", "listeners", "0", "hostname"][..],
                    json!("*.${cluster.name}.example.com"),
                ),
                (&["spec", "gatewayClassName"], json!("second")),
            ],
            "HTTPRoute" | "GRPCRoute" => [
                (
                    &["spec", "hostnames"][..],
                    json!(["www.${cluster.name}.example.com"]),
                ),
                (&["spec", "parentRefs", "0", "name"], json!("prod-web-2")),
            ],
            _ => [
                (&["spec", "overrides"][..], json!({"fresh": "${cluster.name}"})),
                (&["spec", "targetRef", "name"], json!("prod-web-2")),
            ],
        };
        let annotations = (
            &["metadata", "annotations"][..],
            json!({"acme.example/a": r#"<${cluster.annotations["acme.example/note"]}>"#}),
        );
        // Those around others are drawn less often.
        let often = |(_, value): &(_, &Value)| {
            if value.is_object() || value.is_array() {
                1
            } else {
                4
            }
        };
        let drawn: Vec<usize> = (0..fields.len())
            .flat_map(|at| std::iter::repeat_n(at, often(&fields[at])))
            .collect();
        let choice = self.field % (drawn.len() + new.len() + 1);
        let (steps, current) = match drawn.get(choice) {
            Some(at) => (fields[*at].0.clone(), fields[*at].1),
            None => {
                let fields = &new[..if self.number == 5 { 2 } else { 1 }];
                let (path, value) = fields.get(choice - drawn.len()).unwrap_or(&annotations);
                let steps = path.iter().map(|step| match step.parse() {
                    Ok(position) => Step::Item(position),
                    Err(_) => Step::Member((*step).to_owned()),
                });
                return self.with(steps.collect(), Some(value.clone()));
            }
        };
        self.changed(steps, current, object, objects)
    }

    fn with(&self, steps: Vec<Step>, value: Option<Value>) -> Field {
        Field {
            steps,
            value,
            value_type: None,
            default: None,
            notation: self.notation,
            number: self.number,
        }
    }

    fn changed(&self, steps: Vec<Step>, current: &Value, object: &Value, objects: &[Value]) -> Field {
        let plausible = || {
            let key = steps.iter().rev().find_map(|step| match step {
                Step::Member(name) => Some(name.as_str()),
                _ => None,
            });
            plausible(key.unwrap_or_default(), current, self.number)
        };
        let value = match self.action {
            1 => {
                let siblings = objects.iter().filter(|one| one["kind"] == object["kind"]);
                let mut theirs = siblings.filter_map(|one| resolve(one, &steps)?.1.cloned());
                theirs.find(|value| value != current).unwrap_or_else(plausible)
            }
            2 => current.clone(),
            3 => {
                let (value, value_type, default) = match current {
                    Value::Number(_) => (r#"${cluster.labels["weight"]}"#, Some("Integer"), json!(2)),
                    Value::Bool(_) => (r#"${cluster.labels["main"]}"#, Some("Boolean"), json!(true)),
                    Value::String(_) if self.number == 1 => {
                        (r#"${cluster.claims["id.k8s.io"]}"#, None, json!("x"))
                    }
                    Value::String(_) => (
                        r#"a-${cluster.name}-${cluster.labels["region"]}"#,
                        None,
                        json!("x"),
                    ),
                    _ => return self.with(steps.clone(), Some(plausible())),
                };
                return Field {
                    value_type,
                    default: Some(default).filter(|_| !self.number.is_multiple_of(4)),
                    ..self.with(steps, Some(json!(value)))
                };
            }
            4 if matches!(steps.last(), Some(Step::Member(_))) => return self.with(steps, None),
            5 => json!([{"odd": self.number}]),
            6 => json!("odd"),
            _ => plausible(),
        };
        self.with(steps, Some(value))
    }
}

/// Every value from here on, with its path.
fn collect<'v>(value: &'v Value, path: Vec<Step>, notation: usize, fields: &mut Vec<(Vec<Step>, &'v Value)>) {
    let below = |step: Step| {
        let mut path = path.clone();
        path.push(step);
        path
    };
    match value {
        Value::Object(members) => {
            let is_listener = path.len() == 3 && path[1] == Step::Member("listeners".to_owned());
            for (name, value) in members.iter().filter(|(name, _)| !is_listener || *name != "name") {
                collect(value, below(Step::Member(name.to_string())), notation, fields);
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                let name = item["name"].as_str().filter(|_| notation > 0);
                let step = name.map_or(Step::Item(position), |name| Step::Named(name.to_owned()));
                collect(item, below(step), notation, fields);
            }
        }
        _ => {}
    }
    fields.push((path, value));
}

/// Another value that an author may write there.
fn plausible(key: &str, current: &Value, number: usize) -> Value {
    match current {
        Value::Bool(flag) => json!(!flag),
        Value::Number(known) => {
            json!(known.as_i64().unwrap_or_default() + i64::try_from(number).unwrap_or(1))
        }
        Value::String(text) => match key {
            "from" => json!(["All", "Same", "None"][number % 3]),
            "type" => json!(["Exact", "PathPrefix"][number % 2]),
            "strategy" if text.starts_with(char::is_uppercase) => json!(["Atomic", "Patch"][number % 2]),
            "strategy" => json!(["atomic", "merge"][number % 2]),
            "mergeType" => json!(["StrategicMerge", "JSONMerge"][number % 2]),
            "window" => json!(format!("{number}0s")),
            "protocol" => json!("HTTP"),
            _ => json!(format!("{text}{number}")),
        },
        Value::Array(items) => {
            let mut items: Vec<Value> = items.clone();
            let count = items.len().max(1);
            if let Some(item) = items.get_mut(number % count) {
                *item = plausible(key, item, number);
            }
            json!(items)
        }
        Value::Object(members) => {
            let mut members = members.clone();
            let names = members.keys().map(ToString::to_string);
            let names: Vec<String> = names.filter(|name| name != "name").collect();
            if let Some(name) = names.get(number % names.len().max(1)) {
                if number > 3 && names.len() > 1 {
                    members.remove(name);
                } else if let Some(value) = members.get_mut(name) {
                    *value = plausible(name, value, number);
                }
            }
            Value::Object(members)
        }
        Value::Null => json!(number),
    }
}

/// The pointer that steps lead to, and the value there; only the last member may be missing.
pub(crate) fn resolve<'v>(object: &'v Value, steps: &[Step]) -> Option<(String, Option<&'v Value>)> {
    let (mut pointer, mut here) = (String::new(), Some(object));
    for step in steps {
        let (token, next) = match (step, here?) {
            (Step::Member(name), Value::Object(members)) => {
                (name.replace('~', "~0").replace('/', "~1"), members.get(name))
            }
            (Step::Item(position), Value::Array(items)) => {
                (position.to_string(), Some(items.get(*position)?))
            }
            (Step::Named(name), Value::Array(items)) => {
                let mut named = items.iter().enumerate().filter(|(_, item)| item["name"] == *name);
                let (position, item) = named.next()?;
                if named.next().is_some() {
                    return None;
                }
                (position.to_string(), Some(item))
            }
            _ => return None,
        };
        pointer = format!("{pointer}/{token}");
        here = next;
    }
    Some((pointer, here))
}
