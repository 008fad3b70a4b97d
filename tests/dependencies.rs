//! What comes in from outside: every direct dependency has its reason in docs/dependencies.md, and none needs a newer
//! Rust than Cargo.toml promises, a license that deny.toml does not allow, or another source than crates.io. Advisories
//! are `cargo deny`'s (`.ci/run`).

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

#[test]
fn every_dependency_is_of_crates_io_names_a_version_and_has_a_license_that_is_allowed() {
    let policy = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let allowed: Vec<&str> = policy
        .lines()
        .skip_while(|line| *line != "allow = [")
        .skip(1)
        .map_while(|line| line.trim().strip_prefix('"')?.strip_suffix("\","))
        .collect();
    // Packages that name their license by file.
    let values = |key: &'static str| {
        let lines = policy.lines();
        lines.filter_map(move |line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
    };
    let clarified: BTreeMap<&str, &str> = values("crate").zip(values("expression")).collect();
    let metadata = try_metadata(&[]).unwrap_or_else(|_| {
        println!(
            "SKIPPED: the licenses of what only other platforms need, which is not downloaded (cargo fetch)"
        );
        of_this_platform()
    });
    let packages = metadata["packages"].as_array().expect("packages");
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        if package["source"].is_null() {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let is_any = |of: &&Value| of["req"] == "*" && of["path"].is_null();
            wrong.extend(
                dependencies
                    .iter()
                    .filter(is_any)
                    .map(|of| format!("{name} takes any {}", of["name"])),
            );
            continue;
        }
        let license = package["license"].as_str().or(clarified.get(name).copied());
        if !is_allowed(license.unwrap_or_default(), &allowed) {
            wrong.push(format!("{name}: {license:?}"));
        }
    }
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let sources = lock.lines().filter(|line| line.starts_with("source = "));
    let crates_io = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    wrong.extend(sources.filter(|line| *line != crates_io).map(str::to_owned));
    assert!(packages.len() > 150 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_license_is_allowed_if_each_part_has_a_choice_that_is() {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception"];
    for license in [
        "MIT",
        "MIT OR GPL-3.0",
        "GPL-3.0/MIT",
        "MIT AND (GPL-3.0 OR MIT)",
        "GPL-3.0 AND GPL-2.0 OR MIT",
        "Apache-2.0 WITH LLVM-exception AND MIT",
    ] {
        assert!(is_allowed(license, &allowed), "{license}");
    }
    for license in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR GPL-3.0) AND GPL-3.0",
        "Apache-2.0 OR GPL-3.0",
        "MITx",
    ] {
        assert!(!is_allowed(license, &allowed), "{license}");
    }
}

/// If an expression of SPDX can be met with licenses that are allowed. `/` is an older form of `OR`.
fn is_allowed(license: &str, allowed: &[&str]) -> bool {
    // The innermost parentheses first: what they say becomes a license that is allowed, or one that is not.
    if let Some((before, rest)) = license.rsplit_once('(')
        && let Some((inside, after)) = rest.split_once(')')
    {
        let said = if is_allowed(inside, allowed) {
            allowed[0]
        } else {
            ""
        };
        return is_allowed(&format!("{before}{said}{after}"), allowed);
    }
    let license = license.replace('/', " OR ");
    let mut choices = license.split(" OR ");
    choices.any(|choice| choice.split(" AND ").all(|part| allowed.contains(&part.trim())))
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
    for dependency in with_code.flat_map(|package| package["dependencies"].as_array().expect("dependencies"))
    {
        let name = dependency["name"].as_str().expect("a name");
        if !own.contains(name) {
            let is_for_tests = dependency["kind"] == "dev" || dependency["target"] == "cfg(fuzzing)";
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
    try_metadata(arguments).unwrap_or_else(|error| panic!("{error}"))
}

fn try_metadata(arguments: &[&str]) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&output.stdout).expect("JSON"))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
