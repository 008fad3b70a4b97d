//! Generated overlays: which conflict, what they come to in any order, and what they can never change.

use kube_json::{Map, Value, json};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::super::overlays::Overlays;
use super::*;

const CLUSTERS: [&str; 3] = ["a", "b", "c"];
/// Paths with their pointers; some are one field, some are inside others.
const FIELDS: [(&str, &str); 8] = [
    ("spec.limits", "/spec/limits"),
    ("spec.limits.reads", "/spec/limits/reads"),
    ("spec[\"limits\"].reads", "/spec/limits/reads"),
    ("spec.limits.reads.rates[0]", "/spec/limits/reads/rates/0"),
    ("spec.limits.reads.rates[id=x]", "/spec/limits/reads/rates/0"),
    (
        "spec.limits.reads.rates[0].limit",
        "/spec/limits/reads/rates/0/limit",
    ),
    ("spec.limits.readsToo", "/spec/limits/readsToo"),
    ("spec.new", "/spec/new"),
];

fn policy() -> Value {
    json!({
        "apiVersion": "kuadrant.io/v1",
        "kind": "RateLimitPolicy",
        "metadata": {"name": "limits", "namespace": "shop"},
        "spec": {"limits": {
            "reads": {"rates": [{"id": "x", "limit": 1}, {"id": "y", "limit": 1}]},
            "readsToo": 2,
        }},
    })
}

/// An overlay: its priority, its clusters, and for each field its position above and the value; nothing removes it.
#[derive(Debug, Clone)]
struct Draft {
    priority: i32,
    clusters: Vec<&'static str>,
    set: Vec<(usize, Option<i32>)>,
}

impl Draft {
    fn object(&self, number: usize) -> Value {
        let set = self.set.iter().map(|(field, value)| match value {
            Some(value) => json!({"path": FIELDS[*field].0, "value": value}),
            None => json!({"path": FIELDS[*field].0, "remove": true}),
        });
        overlay(number, self.priority, &self.clusters, set.collect())
    }
}

fn overlay(number: usize, priority: i32, clusters: &[&str], set: Vec<Value>) -> Value {
    json!({
        "apiVersion": "spokewright.dev/v1alpha1",
        "kind": "ClusterOverlay",
        "metadata": {"name": format!("o{number}"), "namespace": "shop"},
        "spec": {
            "priority": priority,
            "clusters": {"names": clusters},
            "changes": [{
                "target": {"group": "kuadrant.io", "kind": "RateLimitPolicy", "name": "limits"},
                "set": set,
            }],
        },
    })
}

fn cluster_of(name: &str) -> Value {
    json!({
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name},
    })
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let field = prop_oneof![
        4 => (0..FIELDS.len(), (0..2_i32).prop_map(Some)),
        1 => (select(&[0_usize, 1, 5, 6][..]), Just(None)),
    ];
    let set = prop::collection::vec(field, 1..3);
    let clusters = subsequence(CLUSTERS.to_vec(), 1..=3);
    let draft = (0..3_i32, clusters, set).prop_map(|(priority, clusters, set)| Draft {
        priority,
        clusters,
        set,
    });
    prop::collection::vec(draft, 1..5)
}

/// Whether two changes of one object on one cluster conflict: the table, word for word.
fn conflict(one: (usize, i32, &str, Option<i32>), other: (usize, i32, &str, Option<i32>)) -> bool {
    let ((overlay, priority, pointer, value), (other_overlay, other_priority, other_pointer, other_value)) =
        (one, other);
    let is_above = |one: &str, other: &str| other.starts_with(&format!("{one}/"));
    let (above, below) = (is_above(pointer, other_pointer), is_above(other_pointer, pointer));
    if pointer != other_pointer && !above && !below {
        return false;
    }
    if overlay == other_overlay {
        return true;
    }
    if pointer == other_pointer {
        return priority == other_priority && value != other_value;
    }
    let (upper, lower) = if above {
        (priority, other_priority)
    } else {
        (other_priority, priority)
    };
    upper <= lower
}

/// Every change on a cluster.
fn changes<'d>(drafts: &'d [Draft], cluster: &str) -> Vec<(usize, i32, &'static str, Option<i32>)> {
    let on = drafts
        .iter()
        .enumerate()
        .filter(|(_, draft)| draft.clusters.contains(&cluster));
    let changes = on.flat_map(|(number, draft): (usize, &'d Draft)| {
        let set = draft.set.iter();
        set.map(move |(field, value)| (number, draft.priority, FIELDS[*field].1, *value))
    });
    changes.collect()
}

fn set_at(object: &mut Value, pointer: &str, value: Option<i32>) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    match (object.pointer_mut(parent).expect("a parent"), value) {
        (Value::Object(members), Some(value)) => drop(members.insert(name, value.into())),
        (Value::Object(members), None) => drop(members.remove(name)),
        (Value::Array(items), Some(value)) => {
            items[name.parse::<usize>().expect("a position")] = value.into();
        }
        (other, _) => panic!("{other:?}"),
    }
}

fn hub_with(overlays: Vec<Value>) -> Hub {
    let clusters = CLUSTERS.iter().map(|name| cluster_of(name));
    hub_of(overlays.into_iter().chain(clusters).chain([policy()]).collect())
}

/// The conflicts on one cluster, and the policy there.
fn on(hub: &Hub, cluster: &str) -> (Vec<[String; 3]>, Value) {
    let mut findings = Findings::new();
    let overlays = Overlays::new(hub, |name| name == cluster, &mut findings);
    let changed = overlays
        .classes
        .first()
        .map(|class| class.objects[0].value.clone());
    (
        texts(findings.iter().cloned().collect()),
        changed.unwrap_or_else(policy),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn two_changes_conflict_exactly_if_the_table_says_so_and_otherwise_the_higher_ones_are_applied(
        drafts in drafts(), order in Just((0..4_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let objects = |order: &[usize]| -> Vec<Value> {
            let drafts = order.iter().filter_map(|number| Some(drafts.get(*number)?.object(*number)));
            drafts.collect()
        };
        let hub = hub_with(objects(&[0, 1, 2, 3]));
        let shuffled = hub_with(objects(&order));
        for cluster in CLUSTERS {
            let mut changes = changes(&drafts, cluster);
            let pairs = changes.iter().enumerate();
            let mut pairs = pairs.flat_map(|(position, one)| changes[..position].iter().map(move |other| (*other, *one)));
            let conflicts = pairs.any(|(one, other)| conflict(one, other));
            let (found, value) = on(&hub, cluster);
            let codes: Vec<&str> = found.iter().map(|[code, ..]| code.as_str()).collect();
            prop_assert!(codes.iter().all(|code| *code == "overlay/conflict"), "{:?}", found);
            prop_assert_eq!(!codes.is_empty(), conflicts, "{}: {:?}", cluster, found);
            prop_assert_eq!(on(&shuffled, cluster), (found, value.clone()));
            if !conflicts {
                changes.sort_by_key(|(_, priority, ..)| *priority);
                let mut expected = policy();
                for (_, _, pointer, value) in changes {
                    set_at(&mut expected, pointer, value);
                }
                prop_assert_eq!(value, expected);
            }
        }
        // All clusters at once come to the same as one by one.
        let mut findings = Findings::new();
        let overlays = Overlays::new(&hub, |_| true, &mut findings);
        for cluster in CLUSTERS {
            let class = overlays.classes.iter().find(|class| class.clusters.iter().any(|name| name == cluster));
            let value = class.map_or_else(policy, |class| class.objects[0].value.clone());
            prop_assert_eq!(&value, &on(&hub, cluster).1);
            prop_assert!(class.is_none() || value != policy(), "a class of clusters with nothing changed");
        }
        let values: Vec<&Value> = overlays.classes.iter().map(|class| &class.objects[0].value).collect();
        prop_assert!((1..values.len()).all(|one| !values[..one].contains(&values[one])), "two classes are equal");
    }
}

/// What an overlay must not change, for a Gateway or a policy.
fn fixed(object: &Value) -> Value {
    let mut metadata = object
        .get("metadata")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let annotations = metadata.remove("annotations").unwrap_or_default();
    let own = annotations.as_object().into_iter().flatten();
    let own = own.filter(|(key, _)| {
        key.starts_with("spokewright.dev/") || key.starts_with("kuadrant.io/policy-synced")
    });
    let own: Map = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    let is_gateway = object["kind"] == "Gateway";
    let spec = [
        "targetRef",
        "targetRefs",
        "targetSelectors",
        "parentRef",
        "parentRefs",
    ]
    .into_iter();
    let spec = spec.chain(is_gateway.then_some("gatewayClassName"));
    let spec: Vec<&Value> = spec.map(|field| &object["spec"][field]).collect();
    let names = object["spec"]["listeners"].as_array().filter(|_| is_gateway);
    let names: Option<Vec<&Value>> =
        names.map(|names| names.iter().map(|listener| &listener["name"]).collect());
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "status": object["status"],
        "metadata": Value::Object(metadata), "annotations": Value::Object(own), "spec": spec, "names": names,
    })
}

fn targets() -> [Value; 2] {
    [
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {"name": "x", "namespace": "shop", "labels": {"a": "b"}, "annotations": {"spokewright.dev/suppress": "s", "c": "d"}},
            "spec": {"gatewayClassName": "ours", "listeners": [{"name": "www", "port": 80}, {"name": "api", "port": 443}]},
            "status": {"addresses": []},
        }),
        json!({
            "apiVersion": "kuadrant.io/v1", "kind": "RateLimitPolicy",
            "metadata": {"name": "x", "namespace": "shop", "annotations": {"kuadrant.io/policy-synced": "true", "c": "d"}},
            "spec": {"targetRef": {"kind": "Gateway", "name": "web"}, "limits": {"a": {"rates": [1, 2]}}},
        }),
    ]
}

/// Values near to those of the targets, so that some changes leave the fixed parts as they are.
fn values() -> impl Strategy<Value = Value> {
    let parts = targets().into_iter().flat_map(|target| {
        let listeners = target["spec"]["listeners"].clone();
        [
            target["spec"].clone(),
            target["metadata"].clone(),
            target["metadata"]["annotations"].clone(),
            listeners,
        ]
    });
    let part = select(parts.collect::<Vec<_>>());
    let leaf = select(vec![
        json!("www"),
        json!(1),
        json!(null),
        json!({}),
        json!([]),
        json!({"name": "www", "port": 8080}),
    ]);
    let changed = (
        part,
        select(vec!["port", "c", "limits", "name", "status"]),
        leaf.clone(),
    );
    let changed = changed.prop_map(|(mut part, key, leaf)| {
        match &mut part {
            Value::Object(members) => drop(members.insert(key, leaf)),
            Value::Array(items) => items[0] = leaf,
            _ => {}
        }
        part
    });
    prop_oneof![leaf, changed]
}

fn paths() -> impl Strategy<Value = String> {
    let paths = [
        "apiVersion",
        "kind",
        "status",
        "status.addresses",
        "metadata",
        "metadata.name",
        "metadata.labels",
        "metadata.labels.a",
        "metadata.annotations",
        "metadata.annotations.c",
        "metadata.annotations[\"spokewright.dev/suppress\"]",
        "metadata.annotations[\"kuadrant.io/policy-synced\"]",
        "metadata.finalizers",
        "spec",
        "spec.targetRef",
        "spec.targetRef.name",
        "spec.targetRefs",
        "spec.targetSelectors",
        "spec.parentRef",
        "spec.parentRefs",
        "spec.gatewayClassName",
        "spec.listeners",
        "spec.listeners[0]",
        "spec.listeners[name=www]",
        "spec.listeners[1].name",
        "spec.listeners[1].port",
        "spec.limits",
        "spec.limits.a.rates[0]",
        "spec.limits.b",
    ];
    select(paths.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_accepted_change_affects_which_object_it_is_where_it_goes_or_what_it_is_attached_to(
        set in prop::collection::vec((paths(), prop::option::weighted(0.9, values())), 1..4), target in 0..2_usize,
    ) {
        let object = targets()[target].clone();
        let set = set.into_iter().map(|(path, value)| match value {
            Some(value) => json!({"path": path, "value": value}),
            None => json!({"path": path, "remove": true}),
        });
        let mut written = overlay(0, 0, &["a"], set.collect());
        let (group, _) = object["apiVersion"].as_str().and_then(|api| api.split_once('/')).expect("a group");
        written["spec"]["changes"][0]["target"] = json!({"group": group, "kind": object["kind"], "name": "x"});
        let hub = hub_of(vec![written, cluster_of("a"), object.clone()]);
        let overlays = Overlays::new(&hub, |_| true, &mut Findings::new());
        for changed in overlays.classes.iter().flat_map(|class| &class.objects) {
            prop_assert_eq!(fixed(&changed.value), fixed(&object));
        }
    }
}

#[test]
fn overlays_that_make_too_many_objects_are_reported_and_not_applied() {
    let many: Vec<Value> = (0..4_000)
        .map(|number| cluster_of(&format!("c{number}")))
        .collect();
    let mut large = policy();
    large["spec"]["large"] = json!("x".repeat(40_000));
    let set = json!({"path": "spec.new", "value": "${cluster.name}"});
    let mut all = overlay(0, 0, &[], vec![set]);
    all["spec"]["clusters"] = json!({"labelSelector": {}});
    let with = |objects: Value| {
        let hub = hub_of(many.iter().cloned().chain([objects, all.clone()]).collect());
        let mut findings = Findings::new();
        let overlays = Overlays::new(&hub, |_| true, &mut findings);
        (overlays.classes.len(), texts(findings.iter().cloned().collect()))
    };
    assert_eq!(with(policy()), (4_000, Vec::new()));
    let (classes, found) = with(large);
    assert_eq!(classes, 0);
    assert_eq!(found[0][0], "input/too-costly", "{found:?}");
}
