//! Every promise of the threat model names tests that hold it, and they are there.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of all tests in the files below a directory.
fn tests_below(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
                    if is_test {
                        found.insert(name.to_owned());
                    }
                    is_test = false;
                } else if line == "#[test]" {
                    is_test = true;
                }
            }
        }
    }
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = BTreeSet::new();
    for directory in ["src", "crates", "tests"] {
        tests_below(&root.join(directory), &mut tests);
    }
    let page = fs::read_to_string(root.join("docs/threat-model.md")).expect("the page");
    let promises = page.split("\n## Promises\n").nth(1).expect("the promises");
    let promises = promises.split("\n## ").next().expect("the promises");
    let rows: Vec<&str> = promises
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let names: Vec<&str> = row
            .rsplit(" | ")
            .next()
            .unwrap_or_default()
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            let is_case = name.starts_with("tests/cases/") && root.join(name).join("cmd").exists();
            assert!(
                is_case || tests.contains(name),
                "no test is called `{name}`: {row}"
            );
        }
    }
}
