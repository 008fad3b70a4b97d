//! The committed catalog is what its generator makes, and it agrees with the projects' CRDs.

mod generate;

use generate::catalog;
use kube_json::{Value, json};

use super::*;

#[test]
fn every_schema_of_the_catalog_compiles_without_problems() {
    let mut count = 0;
    for entry in kinds() {
        let crd = entry.definition().expect("a definition");
        assert_eq!(crd.problems, vec![], "{} {}", entry.group, entry.kind);
        assert_eq!(
            crd.verify(&apimachinery::Work::unlimited()),
            vec![],
            "{} {}",
            entry.group,
            entry.kind
        );
        for version in entry.served_versions() {
            assert!(entry.product(version).is_some());
            assert!(
                crd.version(version)
                    .is_some_and(|version| version.schema.is_some())
            );
        }
        count += 1;
    }
    assert!(count >= 100, "{count}");
    assert_eq!(CATALOG.products.first(), Some(&"Gateway API v1.6.1"));
}

#[test]
fn the_catalog_holds_facts_and_no_words() {
    fn keywords(schema: &Value, found: &mut Vec<String>) {
        let Value::Object(fields) = schema else { return };
        for (keyword, value) in fields {
            match keyword.as_str() {
                "properties" => {
                    for (_, schema) in value.as_object().into_iter().flatten() {
                        keywords(schema, found);
                    }
                }
                "items" | "additionalProperties" | "not" => keywords(value, found),
                "allOf" | "anyOf" | "oneOf" => {
                    for schema in value.as_array().into_iter().flatten() {
                        keywords(schema, found);
                    }
                }
                _ => {}
            }
            found.push(keyword.to_string());
        }
    }
    let mut found = Vec::new();
    for entry in kinds() {
        let definition = entry.value();
        for version in definition["spec"]["versions"].as_array().expect("versions") {
            keywords(&version["schema"]["openAPIV3Schema"], &mut found);
        }
    }
    found.sort();
    found.dedup();
    for words in [
        "description",
        "example",
        "title",
        "externalDocs",
        "x-kubernetes-validations",
    ] {
        assert!(!found.contains(&words.to_owned()), "{words}");
    }
    assert!(
        found.contains(&"x-kubernetes-list-map-keys".to_owned()),
        "{found:?}"
    );
}

#[test]
fn kinds_are_found_with_their_versions_and_releases() {
    let gateway = find("gateway.networking.k8s.io", "Gateway").expect("known");
    assert_eq!(gateway.served_versions().collect::<Vec<_>>(), ["v1", "v1beta1"]);
    assert_eq!(gateway.product("v1"), Some("Gateway API v1.6.1"));
    assert_eq!(gateway.product("v9"), None);
    assert_eq!((gateway.plural, gateway.scope()), ("gateways", Scope::Namespaced));
    let auth = find("kuadrant.io", "AuthPolicy").expect("known");
    assert!(auth.has_reference("targetRef") && !auth.has_reference("targetRefs"));
    assert!(find("kuadrant.io", "AuthPolcy").is_none());
}

#[test]
fn of_a_version_that_two_releases_have_the_first_counts_and_what_only_the_later_has_is_added() {
    let definition = |versions: &[(&str, bool, &str)]| {
        let version = |(name, served, kind): &(&str, bool, &str)| {
            json!({"name": name, "served": served, "storage": true,
                "schema": {"openAPIV3Schema": {"type": kind, "description": "words"}}})
        };
        let versions: Vec<Value> = versions.iter().map(version).collect();
        json!({"metadata": {"name": "tests.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
            "names": {"kind": "Test", "plural": "tests"}, "versions": versions}})
    };
    let newer = definition(&[("v1", true, "object"), ("v1beta1", false, "object")]);
    let older = definition(&[("v1", true, "string"), ("v1beta1", true, "string")]);
    let made = catalog(&[
        ("Test v2".to_owned(), vec![newer]),
        ("Test v1".to_owned(), vec![older]),
    ]);
    let versions = &made["definitions"][0]["spec"]["versions"];
    let said = |index: usize| {
        let version = &versions[index];
        (
            version["name"].clone(),
            version["product"].clone(),
            version["schema"].clone(),
        )
    };
    let schema = |kind: &str| json!({"openAPIV3Schema": {"type": kind}});
    assert_eq!(said(0), (json!("v1"), json!(0), schema("object")));
    assert_eq!(said(1), (json!("v1beta1"), json!(1), schema("string")));
    assert_eq!(versions.as_array().map(Vec::len), Some(2));
}

#[cfg(feature = "real-crds")]
#[test]
fn the_committed_file_is_made_of_the_crds_of_its_sources() {
    use self::generate::text;
    use crate::tests::real_crds;

    let sources: Value = serde_json::from_str(include_str!("sources.json")).expect("JSON");
    let root = std::path::PathBuf::from(std::env::var_os("SPOKEWRIGHT_CRDS").expect("a directory"));
    let crds = real_crds();
    let products: Vec<(String, Vec<Value>)> = sources
        .as_array()
        .expect("a list")
        .iter()
        .map(|source| {
            let directories = source["directories"].as_array().expect("a list").iter();
            let definitions = directories.flat_map(|directory| {
                let directory = root.join(directory.as_str().expect("a path"));
                let inside = crds
                    .iter()
                    .filter(|(path, _)| path.parent() == Some(&directory))
                    .collect::<Vec<_>>();
                assert!(!inside.is_empty(), "no CRDs in {}", directory.display());
                inside.into_iter().map(|(_, object)| object.value.clone())
            });
            (
                source["product"].as_str().expect("a name").to_owned(),
                definitions.collect(),
            )
        })
        .collect();
    let made = text(catalog(&products));
    if std::env::var_os("UPDATE_CATALOG").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/catalog/catalog.jsonl");
        std::fs::write(path, &made).expect("writable");
    } else {
        assert!(made == TEXT, "run with UPDATE_CATALOG=1");
    }
}
