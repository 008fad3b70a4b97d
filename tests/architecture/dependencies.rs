//! What comes in from outside: every direct dependency has its reason in docs/dependencies.md, and none needs a newer
//! Rust than Cargo.toml promises. Licenses, sources, and advisories are `cargo deny`'s (`.ci/run`).

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use kube_json::Value;

use super::{none, read, root, rows_below};

/// The member that only has dependencies, those of all others (.ci/dependencies/Cargo.toml).
const WITHOUT_CODE: &str = "all-dependencies";

#[test]
fn every_direct_dependency_has_its_reason_and_every_reason_its_dependency() {
    let packages = packages(&["--no-deps"]);
    let mut only_tests: BTreeMap<&str, bool> = BTreeMap::new();
    for (package, dependency) in foreign(&packages).filter(|(package, _)| package["name"] != WITHOUT_CODE) {
        let is_for_tests = text(package, "name").starts_with("test-")
            || dependency["kind"] == "dev"
            || dependency["target"] == "cfg(fuzzing)";
        *only_tests.entry(text(dependency, "name")).or_insert(true) &= is_for_tests;
    }
    let page = read("docs/dependencies.md");
    for (heading, wanted) in [
        ("## What the tool is made of", false),
        ("## What only tests and benchmarks need", true),
    ] {
        let (_, below) = page.split_once(heading).unwrap();
        let rows = below.split("\n## ").next().unwrap().lines();
        let named = rows.filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
        let named = named
            .flat_map(|(names, _)| names.split(", "))
            .filter(|name| *name != "crate");
        let used = only_tests.iter().filter(|(_, only_tests)| **only_tests == wanted);
        assert_eq!(
            named.collect::<BTreeSet<_>>(),
            used.map(|(name, _)| *name).collect(),
            "{heading}"
        );
    }
}

#[test]
fn the_member_without_code_has_all_dependencies_with_all_their_features() {
    let packages = packages(&["--no-deps"]);
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut listed = wanted.clone();
    for (package, dependency) in foreign(&packages) {
        let is_listed = package["name"] == WITHOUT_CODE;
        let lists = if is_listed { &mut listed } else { &mut wanted };
        let features = lists.entry(text(dependency, "name")).or_default();
        features.extend(
            dependency["features"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str),
        );
        features.extend((dependency["uses_default_features"] == true).then_some("default"));
    }
    assert_eq!(listed, wanted, ".ci/dependencies/Cargo.toml");
}

#[test]
fn no_dependency_needs_a_newer_rust_than_cargo_toml_and_the_readme_promise() {
    let host = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let host = String::from_utf8(host).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // The packages of other platforms may never have been downloaded.
    let packages = packages(&["--filter-platform", host]);
    let numbers = |package: &Value| {
        let parts = package["rust_version"].as_str()?.split('.');
        Some(parts.map(|part| part.parse().unwrap()).collect::<Vec<u32>>())
    };
    let own = packages
        .iter()
        .find(|package| package["name"] == "spokewright")
        .unwrap();
    let newer = packages.iter().filter(|package| numbers(package) > numbers(own));
    none(newer.map(|package| format!("{} needs Rust {}", package["name"], package["rust_version"])));
    let promised = format!("Rust {} or later", text(own, "rust_version"));
    assert!(
        read("README.md").contains(&promised),
        "README.md does not say {promised}"
    );
}

/// Tests may use what they like, but the root.
#[test]
fn a_member_of_the_workspace_depends_on_no_other_than_the_table_allows() {
    let packages = packages(&["--no-deps"]);
    let own: BTreeSet<&str> = packages.iter().map(|package| text(package, "name")).collect();
    for row in rows_below(&read("docs/architecture.md"), "| crate |") {
        let name = row[1].trim_matches('`');
        let package = packages
            .iter()
            .find(|package| package["name"] == name)
            .expect(name);
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = text(dependency, "name");
            let is_allowed = row[3].contains(&format!("`{used}`"))
                || (dependency["kind"] == "dev" && used != "spokewright");
            assert!(is_allowed || !own.contains(used), "{name} depends on {used}");
        }
    }
    for package in packages {
        let manifest = std::fs::read_to_string(text(&package, "manifest_path")).unwrap();
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{}",
            package["name"]
        );
        assert!(
            package["rust_version"].is_string(),
            "{} promises no Rust",
            package["name"]
        );
    }
}

/// The dependencies of members on packages of others.
fn foreign(packages: &[Value]) -> impl Iterator<Item = (&Value, &Value)> {
    let own: BTreeSet<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let all = packages.iter().flat_map(|package| {
        let dependencies = package["dependencies"].as_array().unwrap();
        dependencies.iter().map(move |dependency| (package, dependency))
    });
    all.filter(move |(_, dependency)| !own.contains(text(dependency, "name")))
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap()
}

fn packages(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}
