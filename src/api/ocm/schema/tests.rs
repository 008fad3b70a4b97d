//! The tables against OCM's own CRDs, where those are present beside the project.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::diagnostic::{DocumentId, SourceId};
use crate::object::Origin;
use apimachinery::ApiVersion;

const KINDS: [(&str, &str, &str); 6] = [
    (
        "ManagedCluster",
        "v1",
        "0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
    ),
    (
        "ManagedClusterSet",
        "v1beta2",
        "0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml",
    ),
    (
        "ManagedClusterSetBinding",
        "v1beta2",
        "0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml",
    ),
    (
        "Placement",
        "v1beta1",
        "0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
    ),
    (
        "PlacementDecision",
        "v1beta1",
        "0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
    ),
    (
        "AddOnPlacementScore",
        "v1alpha1",
        "0000_05_clusters.open-cluster-management.io_addonplacementscores.crd.yaml",
    ),
];

fn object(kind: &str, version: &str) -> Object {
    Object {
        api_version: ApiVersion::parse(&format!("cluster.open-cluster-management.io/{version}")),
        kind: kind.to_owned(),
        namespace: None,
        name: "x".to_owned(),
        value: json!({}),
        origin: Origin {
            document: DocumentId {
                source: SourceId(0),
                index: 0,
            },
            pointer: String::new(),
        },
    }
}

/// Every way in which a table says something else than a schema.
fn compare(path: &str, shape: &Shape, schema: &Value, found: &mut Vec<String>) {
    let kind = schema["type"].as_str();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            found.push(format!("{path}: {what}: {schema}"));
        }
    };
    match shape {
        Shape::Any => {}
        Shape::Boolean => expect(kind == Some("boolean"), "no boolean"),
        Shape::Integer(least, most) => {
            expect(kind == Some("integer"), "no integer");
            let bits = schema["format"] == json!("int64");
            let (low, high) = if bits {
                (i64::MIN, i64::MAX)
            } else {
                (i64::from(i32::MIN), i64::from(i32::MAX))
            };
            // The one thing that we refuse and the CRD does not.
            let low = if path.ends_with(".numberOfClusters") {
                0
            } else {
                low
            };
            expect(
                schema["minimum"].as_i64().unwrap_or(low) == *least,
                "another minimum",
            );
            expect(
                schema["maximum"].as_i64().unwrap_or(high) == *most,
                "another maximum",
            );
        }
        Shape::Text(format) => {
            expect(kind == Some("string"), "no string");
            let ruled = ["pattern", "enum", "format", "minLength", "maxLength"]
                .iter()
                .any(|key| schema.get(*key).is_some());
            expect(ruled != matches!(format, Format::Any), "a rule more or less");
            if let Format::OneOf(values) = format {
                expect(schema["enum"] == json!(values), "another enum");
            }
            if let Format::Length(least, most) = format {
                expect(
                    schema["minLength"].as_u64().unwrap_or(0) == *least as u64,
                    "another minLength",
                );
                let longest = schema["maxLength"].as_u64().unwrap_or(usize::MAX as u64);
                expect(longest == *most as u64, "another maxLength");
            }
        }
        Shape::IntegerOrText(_) | Shape::Quantity => {
            expect(
                schema["x-kubernetes-int-or-string"] == json!(true),
                "no int or string",
            );
        }
        Shape::Mapping(members) => compare_members(path, members, schema, found),
        Shape::Table(item) => compare(
            &format!("{path}{{}}"),
            item,
            &schema["additionalProperties"],
            found,
        ),
        Shape::Labels => expect(false, "labels outside metadata"),
        Shape::List(list) => {
            expect(kind == Some("array"), "no list");
            let keys = &schema["x-kubernetes-list-map-keys"];
            expect(keys.is_null() == list.keys.is_empty(), "other map keys");
            expect(
                list.keys.is_empty() || *keys == json!(list.keys),
                "other map keys",
            );
            expect(
                schema["maxItems"].as_u64().unwrap_or(usize::MAX as u64) == list.longest as u64,
                "another maxItems",
            );
            compare(&format!("{path}[]"), &list.item, &schema["items"], found);
        }
    }
}

fn compare_members(path: &str, members: &[Member], schema: &Value, found: &mut Vec<String>) {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for name in properties.keys() {
        if !members.iter().any(|member| member.name == name) {
            found.push(format!("{path}.{name}: not in the table"));
        }
    }
    for member in members {
        let Some(property) = properties.get(member.name) else {
            found.push(format!("{path}.{}: not in the schema", member.name));
            continue;
        };
        let required = schema["required"]
            .as_array()
            .is_some_and(|names| names.contains(&json!(member.name)));
        // What has a default is never missing.
        let required = required && property.get("default").is_none();
        // The one field where the tables are kinder: see DECISION.
        let lenient = path.ends_with(".status.decisions[]") && member.name == "reason";
        if required != member.required && !lenient {
            found.push(format!("{path}.{}: required is {required}", member.name));
        }
        if member.name != "metadata" {
            compare(&format!("{path}.{}", member.name), &member.shape, property, found);
        }
    }
}

#[test]
fn the_tables_say_what_the_crds_say() {
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/crds/ocm");
    if !crds.is_dir() {
        eprintln!("SKIPPED: no CRDs at {}", crds.display());
        return;
    }
    let mut found = Vec::new();
    for (kind, version, file) in KINDS {
        let text = fs::read_to_string(crds.join(file)).unwrap_or_default();
        let crd = kube_yaml::read_all(&text, &kube_yaml::Limits::default())
            .unwrap_or_default()
            .into_iter()
            .next()
            .unwrap_or_default();
        let versions = crd["spec"]["versions"].as_array().cloned().unwrap_or_default();
        let served = versions
            .iter()
            .find(|one| one["served"] == json!(true))
            .cloned()
            .unwrap_or_default();
        assert_eq!(served["name"], json!(version), "{kind}");
        let Some((ours, members)) = kinds::of(&object(kind, version)) else {
            panic!("{kind} has no table");
        };
        assert_eq!(ours, version, "{kind}");
        compare_members(kind, members, &served["schema"]["openAPIV3Schema"], &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
