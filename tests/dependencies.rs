//! What comes in from outside: every direct dependency has its reason in docs/dependencies.md, and none needs a newer
//! Rust than Cargo.toml promises. Licenses, sources, and advisories are `cargo deny`'s (`.ci/run`).

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kube_json::Value;

#[test]
fn every_direct_dependency_has_its_reason_and_every_reason_its_dependency() {
    let page = fs::read_to_string(root().join("docs/dependencies.md")).expect("docs/dependencies.md");
    let (shipped, tests) = direct();
    assert_eq!(named_below(&page, "## What the tool is made of"), shipped);
    assert_eq!(
        named_below(&page, "## What only tests and benchmarks need"),
        tests
    );
}

#[test]
fn the_member_without_code_has_all_dependencies_with_all_their_features() {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let own = names_of(packages);
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut listed = wanted.clone();
    for package in packages {
        let lists = if package["name"] == WITHOUT_CODE {
            &mut listed
        } else {
            &mut wanted
        };
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["name"].as_str().expect("a name");
            if own.contains(name) {
                continue;
            }
            let features = lists.entry(name).or_default();
            let named = dependency["features"].as_array().expect("features");
            features.extend(named.iter().filter_map(Value::as_str));
            if dependency["uses_default_features"] == true {
                features.insert("default");
            }
        }
    }
    assert_eq!(listed, wanted, ".ci/dependencies/Cargo.toml");
}

#[test]
fn no_dependency_needs_a_newer_rust_than_is_promised() {
    let metadata = of_this_platform();
    let packages = metadata["packages"].as_array().expect("packages");
    let own = packages
        .iter()
        .find(|package| package["name"] == "spokewright")
        .expect("ourselves");
    let promised = version(own).expect("rust-version in Cargo.toml");
    let newer: Vec<String> = packages
        .iter()
        .filter(|package| version(package) > Some(promised))
        .map(|package| {
            format!(
                "{} {} needs Rust {}",
                package["name"], package["version"], package["rust_version"]
            )
        })
        .collect();
    assert!(
        newer.is_empty(),
        "promised: {}\n{}",
        own["rust_version"],
        newer.join("\n")
    );
}

/// Tests may use what they like, but the root.
#[test]
fn a_member_of_the_workspace_depends_on_no_other_than_the_table_allows() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| crate |"));
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).skip(2).collect();
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let own = names_of(packages);
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let name = cells[1].trim().trim_matches('`');
        let package = packages
            .iter()
            .find(|package| package["name"] == name)
            .expect(name);
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let used = dependency["name"].as_str().expect("a name");
            let is_allowed = cells[3].contains(&format!("`{used}`"))
                || (dependency["kind"] == "dev" && used != "spokewright");
            assert!(is_allowed || !own.contains(used), "{name} depends on {used}");
        }
    }
    for package in packages {
        let manifest =
            fs::read_to_string(package["manifest_path"].as_str().expect("a path")).expect("Cargo.toml");
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{}",
            package["name"]
        );
    }
}

#[test]
fn the_readme_promises_the_rust_that_cargo_toml_promises() {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let promised: BTreeSet<&str> = packages
        .iter()
        .map(|package| {
            package["rust_version"]
                .as_str()
                .expect("each member promises one")
        })
        .collect();
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    assert_eq!(promised.len(), 1, "{promised:?}");
    for promised in promised {
        assert!(
            readme.contains(&format!("Rust {promised} or later")),
            "README.md does not say Rust {promised}"
        );
    }
}

/// The member that only has dependencies, those of all others (.ci/dependencies/Cargo.toml).
const WITHOUT_CODE: &str = "all-dependencies";

fn names_of(packages: &[Value]) -> BTreeSet<&str> {
    let names = packages.iter().map(|package| package["name"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

/// The names of direct dependencies of all members with code: those that are shipped, and those of tests alone.
fn direct() -> (BTreeSet<String>, BTreeSet<String>) {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let own = names_of(packages);
    let mut only_tests: BTreeMap<&str, bool> = BTreeMap::new();
    let with_code = packages.iter().filter(|package| package["name"] != WITHOUT_CODE);
    let of_packages = with_code.flat_map(|package| {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        dependencies.iter().map(move |dependency| (package, dependency))
    });
    for (package, dependency) in of_packages {
        let name = dependency["name"].as_str().expect("a name");
        if !own.contains(name) {
            let is_of_tests = package["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("test-"));
            let is_for_tests =
                is_of_tests || dependency["kind"] == "dev" || dependency["target"] == "cfg(fuzzing)";
            *only_tests.entry(name).or_insert(true) &= is_for_tests;
        }
    }
    let of = |wanted: bool| {
        let names = only_tests.iter().filter(|(_, only_tests)| **only_tests == wanted);
        names.map(|(name, _)| (*name).to_owned()).collect()
    };
    (of(false), of(true))
}

/// The crates in the first column of the table below a heading.
fn named_below(page: &str, heading: &str) -> BTreeSet<String> {
    page.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .flat_map(|(names, _)| names.split(", ").map(str::to_owned))
        .filter(|name| name != "crate")
        .collect()
}

/// The Rust that a package says it needs, as numbers.
fn version(package: &Value) -> Option<[u32; 3]> {
    let mut parts = package["rust_version"]
        .as_str()?
        .split('.')
        .map(|part| part.parse().expect("a number"));
    Some([0; 3].map(|_: u32| parts.next().unwrap_or(0)))
}

/// Only this platform's packages: the others' may never have been downloaded.
fn of_this_platform() -> Value {
    let host = Command::new("rustc").arg("-vV").output().expect("rustc").stdout;
    let host = String::from_utf8(host).expect("text");
    let host = host
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("a host");
    metadata(&["--filter-platform", host])
}

fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
