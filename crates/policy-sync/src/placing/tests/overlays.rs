//! What overlays change where, and what is reported about them.

use apimachinery::Identity;
use kube_json::{Value, json};

use super::*;
use crate::placing::overlays::{Overlays, effects};

/// Clusters, and objects of the namespace `shop`.
const HUB: &str = "
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: eu-1, labels: {region: eu, geo: EU, main: 'true'}, annotations: {acme.example/weight: '200'}}
status: {clusterClaims: [{name: zone, value: a}, {name: zone, value: b}]}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: eu-2, labels: {region: eu, geo: EU, main: 'no'}, annotations: {acme.example/weight: heavy}}
status: {clusterClaims: [{name: zone, value: a}]}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: us-1, labels: {region: us}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: p-1, namespace: shop, labels: {cluster.open-cluster-management.io/placement: p}}
status: {decisions: [{clusterName: eu-1}, {clusterName: us-9}, {clusterName: ''}]}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: limits, namespace: shop, labels: {team: a}, annotations: {spokewright.dev/suppress: x}}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}
  limits:
    reads: {rates: [{limit: 200, window: 1s}]}
    writes: {rates: [{limit: 20, window: 1s}]}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: bursts, namespace: shop, labels: {team: a}}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}, limits: {}}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: away, namespace: other}
spec: {limits: {}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: shop}
spec:
  gatewayClassName: ours
  listeners:
  - {name: www, port: 443, hostname: www.shop.example}
  - {name: api, port: 443, hostname: api.shop.example}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: ours}
spec: {controllerName: x, parametersRef: {group: '', kind: ConfigMap, namespace: shop, name: params}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: params, namespace: shop}
data: {params: x}
";

/// An overlay of the namespace `shop`.
fn overlay(name: &str, priority: i32, clusters: &str, changes: &str) -> String {
    format!(
        "
---
apiVersion: spokewright.dev/v1alpha1
kind: ClusterOverlay
metadata: {{name: {name}, namespace: shop}}
spec: {{priority: {priority}, clusters: {clusters}, changes: [{changes}]}}
"
    )
}

/// A change of the RateLimitPolicy `limits`.
fn limits(set: &str) -> String {
    format!("{{target: {{group: kuadrant.io, kind: RateLimitPolicy, name: limits}}, set: [{set}]}}")
}

fn applied(yaml: &[&str]) -> (Hub, Overlays, Vec<Finding>) {
    let hub = hub(&([&[HUB], yaml].concat()).concat());
    let mut findings = Findings::new();
    let overlays = Overlays::new(&hub, |_| true, &mut findings);
    (hub, overlays, findings.iter().cloned().collect())
}

/// Code and message of each finding, and its help.
fn reported(yaml: &[&str]) -> Vec<String> {
    let (_, _, findings) = applied(yaml);
    let texts = texts(findings).into_iter();
    texts
        .map(|[code, message, help]| format!("{code}: {message} ({help})"))
        .collect()
}

/// The clusters of a class, and the name of each object with a value in it.
type Class = (String, Vec<(String, Option<Value>)>);

/// For each class of clusters, each object with the value at a pointer.
fn values(overlays: &Overlays, pointer: &str) -> Vec<Class> {
    let classes = overlays.classes.iter().map(|class| {
        let objects = class.objects.iter();
        let objects = objects.map(|object| (object.name.to_string(), object.value.pointer(pointer).cloned()));
        (class.clusters.join(" "), objects.collect())
    });
    classes.collect()
}

const READS: &str = "/spec/limits/reads/rates/0/limit";
const READS_PATH: &str = "'spec.limits.reads.rates[0].limit'";

#[test]
fn a_change_is_for_the_clusters_of_the_overlay_and_leads_back_to_its_entry() {
    let set = format!("{{path: {READS_PATH}, value: 60}}");
    let (_, overlays, findings) = applied(&[&overlay("slow", 0, "{names: [eu-2]}", &limits(&set))]);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(
        values(&overlays, READS),
        [("eu-2".to_owned(), vec![("limits".to_owned(), Some(json!(60)))])]
    );
    let overlaid = overlays.classes[0].objects[0]
        .overlaid
        .clone()
        .expect("what changed it");
    let fields: Vec<_> = overlaid
        .iter()
        .map(|field| (field.pointer.as_str(), field.entry.as_str()))
        .collect();
    assert_eq!(fields, [(READS, "/spec/changes/0/set/0")]);
    let [field] = overlays.overlays[0].fields.as_slice() else {
        panic!("{:?}", overlays.overlays)
    };
    assert_eq!(
        (field.path.as_str(), field.pointer.as_str()),
        ("spec.limits.reads.rates[0].limit", READS)
    );
    assert_eq!(field.hub, Some(json!(200)));
    assert_eq!(
        (field.here[0].value.clone(), field.here[0].clusters.to_vec()),
        (Some(json!(60)), vec!["eu-2".to_owned()])
    );
}

#[test]
fn all_fields_of_clusters_must_match_and_clusters_without_labels_are_unknown() {
    let selected = |clusters: &str| {
        let set = format!("{{path: {READS_PATH}, value: 60}}");
        let (_, overlays, _) = applied(&[&overlay("o", 0, clusters, &limits(&set))]);
        let overlay = overlays.overlays.first();
        overlay.map(|overlay| format!("{} / {}", overlay.clusters.join(" "), overlay.unknown.join(" ")))
    };
    for (clusters, expected) in [
        ("{names: [us-9, eu-1]}", "eu-1 us-9 / "),
        ("{names: [eu-1, eu-1, eu-3]}", "eu-1 / "),
        ("{labelSelector: {}}", "eu-1 eu-2 us-1 / us-9"),
        ("{labelSelector: {matchLabels: {region: eu}}}", "eu-1 eu-2 / us-9"),
        (
            "{labelSelector: {matchExpressions: [{key: geo, operator: DoesNotExist}]}}",
            "us-1 / us-9",
        ),
        (
            "{labelSelector: {matchExpressions: [{key: geo, operator: NotIn, values: [EU]}]}}",
            "us-1 / us-9",
        ),
        // Of a repeated claim, the last one counts.
        ("{claimSelector: {matchLabels: {zone: a}}}", "eu-2 / us-9"),
        (
            "{names: [eu-1, us-1], labelSelector: {matchLabels: {region: eu}}}",
            "eu-1 / ",
        ),
        (
            "{labelSelector: {matchLabels: {region: eu}}, claimSelector: {matchLabels: {zone: b}}}",
            "eu-1 / us-9",
        ),
        ("{}", " / "),
        ("{names: [eu-1], labelSelector: {matchLabels: {'!': x}}}", " / "),
    ] {
        assert_eq!(selected(clusters).as_deref(), Some(expected), "{clusters}");
    }
}

#[test]
fn clusters_with_equal_changed_objects_are_one_class() {
    let geo = limits("{path: spec.geo, value: '${cluster.labels[\"geo\"]}', default: none}");
    let all = overlay("a", 0, "{labelSelector: {}}", &geo);
    let eu = overlay(
        "b",
        0,
        "{names: [eu-2]}",
        &limits("{path: spec.limits.writes, remove: true}"),
    );
    // The value of the hub is no change.
    let same = overlay(
        "c",
        0,
        "{names: [us-1]}",
        &limits(&format!("{{path: {READS_PATH}, value: 200}}")),
    );
    let (_, overlays, findings) = applied(&[&all, &same]);
    assert!(findings.is_empty(), "{findings:?}");
    let class = |clusters: &str, value: &str| {
        (
            clusters.to_owned(),
            vec![("limits".to_owned(), Some(json!(value)))],
        )
    };
    assert_eq!(
        values(&overlays, "/spec/geo"),
        [class("eu-1 eu-2", "EU"), class("us-1", "none")]
    );
    let of_same = &overlays.overlays[1].fields[0];
    assert_eq!(of_same.same_as_hub.to_vec(), ["us-1"]);
    let (_, overlays, _) = applied(&[&all, &eu, &same]);
    let clusters: Vec<_> = overlays
        .classes
        .iter()
        .map(|class| (class.clusters.join(" "), class.overlays.clone()))
        .collect();
    assert_eq!(
        clusters,
        [
            ("eu-1".to_owned(), vec![0]),
            ("eu-2".to_owned(), vec![0, 1]),
            ("us-1".to_owned(), vec![0])
        ]
    );
}

#[test]
fn a_target_with_labels_is_each_object_of_the_namespace_that_has_them() {
    let change = "{target: {group: kuadrant.io, kind: RateLimitPolicy, labelSelector: {matchLabels: {team: a}}}, \
                  set: [{path: spec.new, value: {a: [1]}}]}";
    let (_, overlays, findings) = applied(&[&overlay("o", 0, "{names: [eu-1]}", change)]);
    assert!(findings.is_empty(), "{findings:?}");
    let new = Some(json!({"a": [1]}));
    assert_eq!(
        values(&overlays, "/spec/new"),
        [(
            "eu-1".to_owned(),
            vec![("bursts".to_owned(), new.clone()), ("limits".to_owned(), new)]
        )]
    );
}

#[test]
fn every_mistake_is_reported_with_what_is_near() {
    let changes =
        |target: &str, set: &str| format!("{{target: {{group: kuadrant.io, {target}}}, set: [{set}]}}");
    let set = "{path: spec.new, value: 1}";
    for (clusters, change, expected) in [
        (
            "{names: [eu-3, other]}",
            limits(set),
            vec![
                "overlay/unknown-cluster: ClusterOverlay shop/o names cluster `eu-3`, which the input does not have (did you mean `eu-1`?)",
                "overlay/unknown-cluster: ClusterOverlay shop/o names cluster `other`, which the input does not have (correct the name, or add the ManagedCluster to the input)",
            ],
        ),
        (
            "{names: [eu-3]}",
            changes("kind: RateLimitPolicy, name: limitz", set),
            vec![
                "overlay/unknown-cluster: ClusterOverlay shop/o names cluster `eu-3`, which the input does not have (did you mean `eu-1`?)",
                "overlay/target-not-found: ClusterOverlay shop/o changes RateLimitPolicy shop/limitz, which is not in the input (did you mean `limits`?)",
            ],
        ),
        (
            "{names: [eu-1]}",
            changes("kind: RateLimitPolcy, name: limits", set),
            vec![
                "overlay/target-not-found: ClusterOverlay shop/o changes RateLimitPolcy shop/limits, which is not in the input (did you mean `RateLimitPolicy`?)",
            ],
        ),
        (
            "{names: [eu-1]}",
            limits(set).replace("kuadrant.io", "kuadrant.com"),
            vec![
                "overlay/target-not-found: ClusterOverlay shop/o changes RateLimitPolicy shop/limits, which is not in the input (did you mean `kuadrant.io`?)",
            ],
        ),
        (
            "{names: [eu-1]}",
            changes("kind: RateLimitPolicy, name: away", set),
            vec![
                "overlay/target-not-found: ClusterOverlay shop/o changes RateLimitPolicy shop/away, which is not in the input (move the overlay into namespace `other`, or correct the target)",
            ],
        ),
        (
            "{names: [eu-1]}",
            changes(
                "kind: RateLimitPolicy, labelSelector: {matchLabels: {team: z}}",
                set,
            ),
            vec![
                "overlay/target-not-found: ClusterOverlay shop/o changes objects of kind RateLimitPolicy by their labels, and none in namespace `shop` has these (correct the selector, or label the objects)",
            ],
        ),
        (
            "{names: [eu-1]}",
            limits(
                "{path: spec.limits.read.rates, value: []}, {path: spec.limits.x, remove: true}, {path: 'spec.limits.reads.rates[1].limit', value: 1}",
            ),
            vec![
                "overlay/path-not-found: RateLimitPolicy shop/limits has no `spec.limits.read` (did you mean `reads`?)",
                "overlay/path-not-found: RateLimitPolicy shop/limits has no `spec.limits.x` (remove this entry, or correct `path`)",
                "overlay/path-not-found: RateLimitPolicy shop/limits has no `spec.limits.reads.rates[1]` (correct `path`: only its last name may be new)",
            ],
        ),
        (
            "{labelSelector: {}}",
            limits("{path: spec.geo, value: '${cluster.labels[\"geo\"]}'}"),
            vec!["overlay/no-value: us-1 has no label `geo` (label the cluster, or give `default`)"],
        ),
        (
            "{names: [eu-1, eu-2, us-1]}",
            limits(
                "{path: spec.weight, value: '${cluster.annotations[\"acme.example/weight\"]}', as: Integer}",
            ),
            vec![
                "overlay/no-value: annotation `acme.example/weight` of eu-2 is `heavy`, not an integer (correct the ManagedCluster, or select other clusters)",
            ],
        ),
    ] {
        assert_eq!(
            reported(&[&overlay("o", 0, clusters, &change)]),
            expected,
            "{clusters} {change}"
        );
    }
    let read = limits("{path: spec.limits.read.rates, value: []}");
    let (_, _, findings) = applied(&[&overlay("o", 0, "{names: [eu-1]}", &read)]);
    assert_eq!(findings[0].related[0].text, "it has `reads`, `writes`");
}

#[test]
fn which_object_it_is_where_it_goes_and_what_it_is_attached_to_cannot_change() {
    let parts = |kind: &str, group: &str, name: &str, path: &str, value: &str| {
        let set = format!(
            "{{target: {{group: {group}, kind: {kind}, name: {name}}}, set: [{{path: '{path}', {value}}}]}}"
        );
        let reported = reported(&[&overlay("o", 0, "{names: [eu-1]}", &set)]);
        let parts = reported.iter().map(|text| {
            let text = text
                .strip_prefix("overlay/not-allowed: an overlay cannot change ")
                .expect(text);
            text.split_once(':').expect(text).0.to_owned()
        });
        parts.collect::<Vec<_>>().join(" ")
    };
    for (path, value, part) in [
        ("apiVersion", "value: kuadrant.io/v2", "`apiVersion`"),
        ("kind", "value: AuthPolicy", "`kind`"),
        ("status", "value: {}", "`status`"),
        ("metadata.name", "value: limits", "`metadata.name`"),
        ("metadata.labels.team", "value: b", "`metadata.labels.team`"),
        ("metadata.labels", "remove: true", "`metadata.labels`"),
        ("metadata", "value: {name: limits}", "`metadata.labels`"),
        (
            "metadata.annotations",
            "value: {a: b}",
            "`metadata.annotations[\"spokewright.dev/suppress\"]`",
        ),
        (
            "metadata.annotations",
            "value: {spokewright.dev/suppress: x, a: b}",
            "",
        ),
        ("metadata.annotations[\"a.b/c\"]", "value: x", ""),
        (
            "metadata.annotations[\"spokewright.dev/work-name\"]",
            "value: x",
            "`metadata.annotations[\"spokewright.dev/work-name\"]`",
        ),
        (
            "metadata.annotations[\"kuadrant.io/origin-creation\"]",
            "value: x",
            "`metadata.annotations[\"kuadrant.io/origin-creation\"]`",
        ),
        ("spec.targetRef.name", "value: web", "`spec.targetRef.name`"),
        ("spec.targetRefs", "value: []", "`spec.targetRefs`"),
        ("spec.parentRefs", "value: []", "`spec.parentRefs`"),
        ("spec", "value: {limits: {}}", "`spec.targetRef`"),
        ("spec", "remove: true", "`spec.targetRef`"),
        (
            "spec",
            "value: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}}",
            "",
        ),
        (
            "spec",
            "value: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: \"${cluster.name}\"}}",
            "`spec.targetRef`",
        ),
        ("spec.gatewayClassName", "value: x", ""),
        ("spec.listeners", "value: []", ""),
    ] {
        let found = parts("RateLimitPolicy", "kuadrant.io", "limits", path, value);
        assert_eq!(found, part, "{path} {value}");
    }
    for (path, value, part) in [
        ("spec.gatewayClassName", "value: ours", "`spec.gatewayClassName`"),
        (
            "spec.listeners[name=www].name",
            "value: www",
            "`spec.listeners[name=www].name`",
        ),
        ("spec.listeners[name=www].hostname", "value: x.example", ""),
        ("spec.listeners[0]", "value: {name: www, port: 80}", ""),
        (
            "spec.listeners[0]",
            "value: {name: w, port: 80}",
            "`spec.listeners`",
        ),
        ("spec.listeners", "value: [{name: www}]", "`spec.listeners`"),
        (
            "spec.listeners",
            "value: [{name: api}, {name: www}]",
            "`spec.listeners`",
        ),
        ("spec.listeners", "value: [{name: www}, {name: api}]", ""),
        ("spec.listeners", "value: none", "`spec.listeners`"),
        ("spec", "value: {gatewayClassName: ours}", "`spec.listeners`"),
    ] {
        let found = parts("Gateway", "gateway.networking.k8s.io", "web", path, value);
        assert_eq!(found, part, "{path} {value}");
    }
    assert_eq!(
        parts("ConfigMap", "\"\"", "params", "data.params", "value: y"),
        "ConfigMap shop/params"
    );
}

#[test]
fn two_overlays_conflict_unless_they_agree_or_one_has_a_higher_priority() {
    let set = |value: &str| limits(&format!("{{path: {READS_PATH}, value: {value}}}"));
    let a = overlay("a", 0, "{names: [eu-1, eu-2]}", &set("1"));
    let equal = overlay("b", 0, "{names: [eu-1]}", &set("1"));
    let other = overlay("b", 0, "{names: [eu-1]}", &set("2"));
    let higher = overlay("b", 1, "{names: [eu-1]}", &set("2"));
    assert!(reported(&[&a, &equal]).is_empty());
    assert_eq!(
        reported(&[&other, &a]),
        [
            "overlay/conflict: two overlays set `spec.limits.reads.rates[0].limit` of RateLimitPolicy shop/limits on \
             eu-1: 1 and 2 (give one of them a higher `priority`, or select other clusters)"
        ]
    );
    let (_, overlays, findings) = applied(&[&a, &higher]);
    assert!(findings.is_empty(), "{findings:?}");
    let classes: Vec<_> = values(&overlays, READS)
        .into_iter()
        .map(|(clusters, mut objects)| (clusters, objects.remove(0).1))
        .collect();
    assert_eq!(
        classes,
        [
            ("eu-1".to_owned(), Some(json!(2))),
            ("eu-2".to_owned(), Some(json!(1)))
        ]
    );
    let overridden = &overlays.overlays[0].fields[0].overridden;
    assert_eq!(overridden.len(), 1);
    assert_eq!(
        overridden.get("eu-1").map(|overlay| overlay.name.as_str()),
        Some("b")
    );
    let twice = limits(&format!(
        "{{path: spec.limits.writes, remove: true}}, {{path: {READS_PATH}, value: 1}}, {{path: spec.limits.reads, value: {{}}}}"
    ));
    assert_eq!(
        reported(&[&overlay("a", 0, "{names: [eu-1]}", &twice)]),
        [
            "overlay/conflict: ClusterOverlay shop/a changes `spec.limits.reads` of RateLimitPolicy shop/limits and \
             `spec.limits.reads.rates[0].limit`, which is inside it, on eu-1 (keep one of the two entries)"
        ]
    );
}

#[test]
fn only_admitted_clusters_have_values_and_names_are_judged_against_the_fleet() {
    let set = limits("{path: spec.geo, value: '${cluster.labels[\"geo\"]}'}");
    let yaml = [HUB, &overlay("o", 0, "{names: [eu-1, us-1]}", &set)].concat();
    let hub = hub(&yaml);
    let mut findings = Findings::new();
    let overlays = Overlays::new(&hub, |cluster| cluster == "eu-1", &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(overlays.classes.len(), 1);
    assert_eq!(overlays.overlays[0].clusters.to_vec(), ["eu-1", "us-1"]);
}

/// Messages of what has no effect, or is unknown, if all objects go to these clusters.
fn without_effect(yaml: &[&str], clusters: &[&str], local: bool) -> Vec<String> {
    let (hub, overlays, findings) = applied(yaml);
    assert!(findings.is_empty(), "{findings:?}");
    let policy = Identity::new(
        "kuadrant.io",
        "RateLimitPolicy",
        Some("kuadrant-shop"),
        "maintenance",
    );
    let winner = |_: &Identity, cluster: &str| (local && cluster == "eu-1").then(|| policy.clone());
    let found = effects(
        &overlays,
        &hub,
        &|_| !clusters.is_empty(),
        &|_, cluster| clusters.contains(&cluster),
        &winner,
    );
    texts(found)
        .into_iter()
        .map(|[code, message, _]| format!("{code}: {message}"))
        .collect()
}

#[test]
fn a_named_cluster_where_nothing_remains_of_a_change_is_reported() {
    let set = |value: &str| limits(&format!("{{path: {READS_PATH}, value: {value}}}"));
    let named = overlay("a", 0, "{names: [eu-2, eu-1]}", &set("1"));
    let all = ["eu-1", "eu-2", "us-1", "us-9"];
    assert!(without_effect(&[&named], &all, false).is_empty());
    assert_eq!(
        without_effect(&[&named], &["eu-2"], true),
        [
            "overlay/no-effect: ClusterOverlay shop/a changes nothing on eu-1: a local policy, kuadrant-shop/maintenance, overrides it"
        ],
        "a policy that is overridden as a whole is not shipped"
    );
    assert_eq!(
        without_effect(&[&named], &["eu-1"], false),
        [
            "overlay/no-effect: ClusterOverlay shop/a changes nothing on eu-2: eu-2 does not get RateLimitPolicy shop/limits"
        ]
    );
    assert_eq!(
        without_effect(&[&named], &all, true),
        [
            "overlay/no-effect: ClusterOverlay shop/a changes nothing on eu-1: a local policy, kuadrant-shop/maintenance, overrides it"
        ]
    );
    assert_eq!(
        without_effect(&[&named.replace("value: 1", "value: 200")], &all, false),
        [
            "overlay/no-effect: ClusterOverlay shop/a changes nothing on eu-2, eu-1: the hub has this value already"
        ]
    );
    let higher = overlay("b", 1, "{labelSelector: {matchLabels: {region: eu}}}", &set("2"));
    let us_9 = |found: Vec<String>| {
        found
            .into_iter()
            .filter(|text| !text.contains("unknown-labels"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        us_9(without_effect(&[&named, &higher], &all, false)),
        [
            "overlay/no-effect: ClusterOverlay shop/a changes nothing on eu-2, eu-1: the priority of `shop/b` is higher"
        ]
    );
    let both = overlay(
        "a",
        0,
        "{names: [eu-1, us-1], labelSelector: {matchLabels: {region: eu}}}",
        &set("1"),
    );
    assert_eq!(
        without_effect(&[&both], &all, false),
        ["overlay/no-effect: ClusterOverlay shop/a changes nothing on us-1: its selectors do not match"]
    );
}

#[test]
fn an_overlay_without_names_is_reported_if_it_has_an_effect_nowhere() {
    let set = |value: &str| limits(&format!("{{path: {READS_PATH}, value: {value}}}"));
    let eu = overlay("a", 0, "{labelSelector: {matchLabels: {region: eu}}}", &set("1"));
    assert!(without_effect(&[&eu], &["eu-2"], false).is_empty());
    assert_eq!(
        without_effect(&[&eu], &["us-1"], false),
        [
            "overlay/no-effect: ClusterOverlay shop/a changes nothing: no cluster that it selects gets RateLimitPolicy shop/limits"
        ]
    );
    assert_eq!(
        without_effect(&[&eu], &["eu-1", "us-9"], false),
        [
            "overlay/unknown-labels: ClusterOverlay shop/a selects by labels, but those of us-9 are unknown: it gets RateLimitPolicy shop/limits and has no ManagedCluster"
        ]
    );
    let none = overlay(
        "a",
        0,
        "{names: [eu-1], labelSelector: {matchLabels: {region: us}}}",
        &set("1"),
    );
    assert_eq!(
        without_effect(&[&none], &["eu-1"], false),
        ["overlay/no-effect: ClusterOverlay shop/a changes nothing on eu-1: its selectors do not match"]
    );
    let value = overlay(
        "a",
        0,
        "{names: [us-9]}",
        &limits("{path: spec.geo, value: '${cluster.labels[\"geo\"]}', default: x}"),
    );
    assert_eq!(
        without_effect(&[&value], &["us-9"], false),
        [
            "overlay/unknown-labels: ClusterOverlay shop/a uses values of its clusters, but those of us-9 are unknown: it gets RateLimitPolicy shop/limits and has no ManagedCluster"
        ]
    );
    let name = overlay(
        "a",
        0,
        "{names: [us-9]}",
        &limits("{path: spec.geo, value: '${cluster.name}'}"),
    );
    assert!(without_effect(&[&name], &["us-9"], false).is_empty());
}
