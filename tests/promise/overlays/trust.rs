//! What no overlay and no value of a cluster can do, whoever writes them (docs/threat-model.md).
//!
//! Owns: a small hub, and what stays as it is there. Flows in: hostile values, expressions. Flows out: nothing. Must not
//! know: how overlays are applied.

use std::collections::BTreeMap;

use kube_json::{Value, json};
use proptest::prelude::*;
use proptest::sample::select;

use super::super::spokes::Input;
use super::Rendered;

const CLUSTERS: [&str; 3] = ["eu-1", "eu-2", "us-1"];
/// The values on the hub.
const NOTE: &str = "a note of the hub";
/// One that Flux would change, so that its work says that it must not.
const MARKED: &str = "a note with ${variable}";
const PARAMETER: &str = "a parameter of the hub";
/// Pieces of values that mean something to a reader of YAML, of JSON, or of overlays.
const PIECES: [&str; 28] = [
    "\n",
    "\n  spec: {}\n",
    "\n---\nkind: Secret\n",
    "\"",
    "\", \"b\": \"",
    "'",
    "''",
    "${cluster.name}",
    r#"${cluster.claims["note"]}"#,
    "${",
    "$${",
    "}",
    ": ",
    "- ",
    "{a: b}",
    "]",
    " #",
    "&a ",
    "*a",
    "!!binary ",
    "|\n",
    "\\n",
    "\t",
    "\u{85}",
    "\u{2028}",
    "null",
    "007",
    "é",
];

/// What a ManagedCluster says of itself.
#[derive(Debug, Clone)]
struct Said {
    label: String,
    annotation: String,
    claim: String,
}

fn said() -> impl Strategy<Value = Vec<Said>> {
    let hostile = || {
        let pieces = prop::collection::vec(prop_oneof![select(PIECES.to_vec()), Just("text")], 1..6);
        pieces.prop_map(|pieces| pieces.concat())
    };
    let one = ("[a-z]{1,8}", hostile(), hostile());
    prop::collection::vec(one, CLUSTERS.len()).prop_map(|all| {
        let all = all.into_iter().zip(CLUSTERS);
        let all = all.map(|((label, annotation, claim), cluster)| Said {
            label: format!("only-{cluster}-{label}"),
            annotation: format!("only-{cluster}{annotation}"),
            claim: format!("{claim}only-{cluster}"),
        });
        all.collect()
    })
}

fn managed_cluster(name: &str, said: &Said) -> Value {
    json!({
        "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
        "metadata": {
            "name": name, "uid": "hidden-uid", "labels": {"note": said.label}, "annotations": {"note": said.annotation},
        },
        "spec": {
            "hubAcceptsClient": true,
            "managedClusterClientConfigs": [{"url": "https://hidden.example.com", "caBundle": "aGlkZGVu"}],
        },
        "status": {
            "version": {"kubernetes": "v1.31.2-hidden"},
            "conditions": [{
                "type": "HubAcceptedManagedCluster", "status": "True", "reason": "hidden", "message": "hidden message",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
            "clusterClaims": [{"name": "note", "value": said.claim}],
        },
    })
}

/// Two routes of one name with the same labels, in two namespaces, on three clusters.
fn hub(note: &str, parameter: &str) -> Vec<Value> {
    const GROUP: &str = "gateway.networking.k8s.io";
    let params = json!({"resourcesToSync": [{"group": GROUP, "version": "v1", "resource": "httproutes"}]});
    let mut objects = vec![
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "multicluster"},
            "spec": {
                "controllerName": "kuadrant.io/mgc-gw-controller",
                "parametersRef": {"group": "", "kind": "ConfigMap", "namespace": "gateways", "name": "params"},
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "params", "namespace": "gateways"},
            "data": {"params": params.to_string()},
        }),
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {
                "name": "web", "namespace": "gateways",
                "labels": {"cluster.open-cluster-management.io/placement": "everywhere"},
            },
            "spec": {
                "gatewayClassName": "multicluster",
                "listeners": [{
                    "name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}},
                }],
            },
        }),
        json!({
            "apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision",
            "metadata": {
                "name": "everywhere-1", "namespace": "gateways",
                "labels": {"cluster.open-cluster-management.io/placement": "everywhere"},
            },
            "status": {"decisions": CLUSTERS.map(|cluster| json!({"clusterName": cluster, "reason": ""}))},
        }),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "secret", "namespace": "shop"},
            "data": {"note": "hidden in an object"},
        }),
    ];
    let route = |namespace: &str| {
        let params = json!([{"name": "note", "value": parameter}]);
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {
                "name": "cart", "namespace": namespace, "labels": {"app": "cart"}, "annotations": {"example.com/note": note},
            },
            "spec": {
                "parentRefs": [{"name": "web", "namespace": "gateways"}],
                "hostnames": [format!("{namespace}.example.com")],
                "rules": [{
                    "matches": [{"queryParams": params}],
                    "backendRefs": [{"name": "cart", "port": 80}],
                }],
            },
        })
    };
    objects.extend(["shop", "team"].map(route));
    objects
}

const NOTE_PATH: &str = r#"metadata.annotations["example.com/note"]"#;
const PARAMETER_PATH: &str = "spec.rules[0].matches[0].queryParams[0].value";

fn overlay(namespace: &str, clusters: Value, target: Value, set: Value) -> Value {
    let mut target = target;
    target["group"] = json!("gateway.networking.k8s.io");
    target["kind"] = json!("HTTPRoute");
    json!({
        "apiVersion": "spokewright.dev/v1alpha1", "kind": "ClusterOverlay",
        "metadata": {"name": "hostile", "namespace": namespace},
        "spec": {"clusters": clusters, "changes": [{"target": target, "set": set}]},
    })
}

fn render(objects: &[Value]) -> Rendered {
    let documents: Vec<String> = objects.iter().map(kube_yaml::write_document).collect();
    let texts = [("hub/all.yaml".to_owned(), documents.join("---\n"))];
    Rendered::of(
        &Input {
            texts: texts.into(),
            replica_sets: false,
        },
        &[],
    )
}

/// The documents of each cluster.
fn documents(rendered: &Rendered) -> BTreeMap<&str, Vec<Value>> {
    let limits = kube_yaml::Limits::default();
    let read = |(path, text): &(String, String)| {
        kube_yaml::read_document(text, &limits).unwrap_or_else(|error| panic!("{path}: {error:?}\n{text}"))
    };
    let files = rendered.files.iter();
    let files = files.map(|(cluster, files)| (cluster.as_str(), files.iter().map(read).collect()));
    files.collect()
}

/// A value with other texts in the places of two.
fn with_texts(value: &Value, texts: &[(&str, String)]) -> Value {
    match value {
        Value::String(text) => {
            let other = texts.iter().find(|(known, _)| text == known);
            other.map_or_else(|| value.clone(), |(_, other)| json!(other))
        }
        Value::Array(items) => items.iter().map(|item| with_texts(item, texts)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.to_string(), with_texts(value, texts)))
                .collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_value_of_a_cluster_adds_a_field_or_leaves_its_text(said in said()) {
        let note = r#"<${cluster.annotations["note"]}|${cluster.claims["note"]}|$${cluster.name}>"#;
        let parameter = r#"${cluster.claims["note"]}"#;
        let set = json!([{"path": NOTE_PATH, "value": note}, {"path": PARAMETER_PATH, "value": parameter}]);
        let mut objects = hub(MARKED, PARAMETER);
        objects.extend(CLUSTERS.iter().zip(&said).map(|(cluster, said)| managed_cluster(cluster, said)));
        let plain = render(&objects);
        for namespace in ["shop", "team"] {
            let clusters = json!({"labelSelector": {}});
            let mut overlay = overlay(namespace, clusters, json!({"name": "cart"}), set.clone());
            overlay["metadata"]["name"] = json!(format!("hostile-{namespace}"));
            objects.push(overlay);
        }
        let rendered = render(&objects);
        prop_assert!(rendered.errors.is_empty(), "{}", rendered.said);
        let (plain, filled) = (documents(&plain), documents(&rendered));
        for (cluster, said) in CLUSTERS.iter().zip(&said) {
            let texts = [
                (MARKED, format!("<{}|{}|${{cluster.name}}>", said.annotation, said.claim)),
                (PARAMETER, said.claim.clone()),
            ];
            let expected: Vec<Value> = plain[cluster].iter().map(|value| with_texts(value, &texts)).collect();
            prop_assert_eq!(&filled[cluster], &expected);
        }
    }

    #[test]
    fn nothing_that_one_cluster_says_appears_in_the_works_of_another(
        said in said(),
        selected in prop::sample::subsequence(CLUSTERS.to_vec(), 1..=CLUSTERS.len()),
        field in select(vec!["labels", "annotations", "claims"]),
    ) {
        let value = format!("<${{cluster.{field}[\"note\"]}} of ${{cluster.name}}>");
        let set = json!([{"path": NOTE_PATH, "value": value}, {"path": PARAMETER_PATH, "value": value}]);
        let mut objects = hub(NOTE, PARAMETER);
        objects.extend(CLUSTERS.iter().zip(&said).map(|(cluster, said)| managed_cluster(cluster, said)));
        objects.push(overlay("shop", json!({"names": selected}), json!({"name": "cart"}), set));
        let rendered = render(&objects);
        prop_assert!(rendered.errors.is_empty(), "{}", rendered.said);
        for cluster in CLUSTERS {
            let all: String = rendered.files[cluster].iter().map(|(_, text)| text.as_str()).collect();
            prop_assert_eq!(all.contains(&format!("only-{cluster}")), selected.contains(&cluster));
            for other in CLUSTERS.iter().filter(|other| **other != cluster) {
                prop_assert!(!all.contains(other), "{} in the works of {}:\n{}", other, cluster, all);
            }
        }
    }

    #[test]
    fn a_value_of_a_cluster_is_its_name_a_label_an_annotation_or_a_claim_and_nothing_else(
        pieces in prop::collection::vec(select(vec![
            "cluster", ".", "name", "labels", "annotations", "claims", "[\"note\"]", "[note]", "[\"", "\"]", "note",
            "spec", "status", "metadata", "uid", "conditions[0]", "message", "version", "kubernetes", "[0]", "hub",
            "shop/secret", "data", "env", "PATH", "HOME", " ", "|", "(", ")", "*", "..", "$", "{", "eu-2", "'", "\\",
        ]), 1..9),
        begins in any::<bool>(),
    ) {
        let inside = format!("{}{}", if begins { "cluster." } else { "" }, pieces.concat());
        reads_nothing_else(&inside)?;
    }
}

/// Either refused, or one of the four.
fn reads_nothing_else(inside: &str) -> Result<(), TestCaseError> {
    let said = CLUSTERS.map(|cluster| Said {
        label: format!("label-{cluster}"),
        annotation: format!("annotation-{cluster}"),
        claim: format!("claim-{cluster}"),
    });
    let mut objects = hub(NOTE, PARAMETER);
    objects.extend(
        CLUSTERS
            .iter()
            .zip(&said)
            .map(|(cluster, said)| managed_cluster(cluster, said)),
    );
    let set = json!([{"path": NOTE_PATH, "value": format!("<${{{inside}}}>")}]);
    objects.push(overlay(
        "shop",
        json!({"names": ["eu-1"]}),
        json!({"name": "cart"}),
        set,
    ));
    let rendered = render(&objects);
    let all: String = rendered
        .files
        .values()
        .flatten()
        .map(|(_, text)| text.as_str())
        .collect();
    prop_assert!(!all.contains("hidden") && !all.contains("aGlkZGVu"), "{}", all);
    if rendered.errors.is_empty() {
        let allowed = [
            ("cluster.name", "eu-1"),
            (r#"cluster.labels["note"]"#, "label-eu-1"),
            (r#"cluster.annotations["note"]"#, "annotation-eu-1"),
            (r#"cluster.claims["note"]"#, "claim-eu-1"),
        ];
        let value = allowed.iter().find(|(written, _)| *written == inside);
        prop_assert!(
            value.is_some_and(|(_, value)| all.contains(&format!("<{value}>"))),
            "{} gives\n{}",
            inside,
            all
        );
    } else {
        prop_assert!(
            rendered.errors.iter().all(|code| code.starts_with("overlay/")),
            "{}",
            rendered.said
        );
        prop_assert!(!all.contains("${"), "{}", all);
    }
    Ok(())
}

#[test]
fn every_other_field_of_a_managed_cluster_is_refused_by_name() {
    for allowed in [
        "cluster.name",
        "cluster.labels[\"note\"]",
        "cluster.annotations[\"note\"]",
        "cluster.claims[\"note\"]",
    ] {
        reads_nothing_else(allowed).expect("one of the four");
    }
    let other = [
        "cluster",
        "cluster.metadata.uid",
        "cluster.uid",
        "cluster.spec.hubAcceptsClient",
        "cluster.labels",
        "cluster.spec.managedClusterClientConfigs[0].url",
        "cluster.status.version.kubernetes",
        "env.PATH",
        "PATH",
        "cluster.status.conditions[0].message",
        "cluster.metadata.labels[\"note\"]",
        "clusters[\"eu-2\"].labels[\"note\"]",
        "hub.objects",
        "cluster.labels[\"note\"].size()",
        "cluster.claims.note",
        "cluster.labels[\"uid\"]",
        "cluster.annotations[\"hubAcceptsClient\"]",
        "cluster.claims[\"version\"]",
        "cluster.Name",
        " cluster.name",
        "",
    ];
    for inside in other {
        reads_nothing_else(inside).unwrap_or_else(|error| panic!("{inside}: {error}"));
    }
}

#[test]
fn an_overlay_changes_no_object_of_another_namespace() {
    let plain = render(&hub(NOTE, PARAMETER));
    let plain = documents(&plain);
    let targets = [
        json!({"name": "cart"}),
        json!({"labelSelector": {"matchLabels": {"app": "cart"}}}),
        json!({"labelSelector": {}}),
    ];
    for (namespace, other) in [
        ("shop", "team"),
        ("team", "shop"),
        ("gateways", "shop"),
        ("nobody", "shop"),
    ] {
        for target in &targets {
            let set = json!([{"path": NOTE_PATH, "value": "changed"}, {"path": PARAMETER_PATH, "value": "changed"}]);
            let mut objects = hub(NOTE, PARAMETER);
            objects.push(overlay(
                namespace,
                json!({"names": CLUSTERS}),
                target.clone(),
                set,
            ));
            let rendered = render(&objects);
            let has_routes = namespace == "shop" || namespace == "team";
            assert_eq!(
                rendered.errors.contains("overlay/target-not-found"),
                !has_routes,
                "{}",
                rendered.said
            );
            assert_eq!(
                rendered.errors.len(),
                usize::from(!has_routes),
                "{}",
                rendered.said
            );
            for (cluster, documents) in documents(&rendered) {
                let of = |namespace: &str, documents: &[Value]| -> Vec<Value> {
                    let manifests = documents
                        .iter()
                        .filter_map(|work| work.pointer("/spec/workload/manifests")?.as_array());
                    let manifests = manifests
                        .flatten()
                        .filter(|manifest| manifest["metadata"]["namespace"] == namespace);
                    manifests.cloned().collect()
                };
                assert_eq!(of(other, &documents), of(other, &plain[cluster]), "on {cluster}");
                assert_eq!(
                    of(namespace, &documents) != of(namespace, &plain[cluster]),
                    has_routes,
                    "on {cluster}"
                );
            }
        }
    }
}
