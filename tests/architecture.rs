//! The rules of docs/architecture.md, read off the source text: which module may import which, who may touch the
//! file system, the environment, the clock and other programs, and that every file says what it is for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of src/ from the top down: none imports one that stands below it.
const ORDER: [&str; 13] = [
    "diagnostic",
    "progress",
    "source",
    "object",
    "api",
    "hub",
    "placement",
    "policy",
    "render",
    "output",
    "report",
    "pipeline",
    "cli",
];

/// What only some modules may use, and which.
const RESERVED: [(&str, &[&str]); 11] = [
    ("std::fs", &["source", "output", "cli"]),
    ("std::env", &["cli"]),
    ("process::Command", &[]),
    ("process::exit", &[]),
    ("TcpStream", &[]),
    ("UdpSocket", &[]),
    ("ToSocketAddrs", &[]),
    ("SystemTime", &[]),
    ("Timestamp::now", &[]),
    ("Zoned::now", &[]),
    ("Instant", &["cli"]),
];

/// One source file of the crate, without its tests and comments.
struct Source {
    /// Path from the root of the project.
    path: String,
    /// The module of src/ that it belongs to, `lib` or `main`.
    module: String,
    text: String,
    code: String,
}

#[test]
fn no_module_imports_one_that_stands_below_it() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !is_root(source)) {
        let own = rank(&source.module).unwrap_or_else(|| {
            panic!(
                "{}: `{}` has no place in the order of docs/architecture.md",
                source.path, source.module
            )
        });
        for imported in imported_modules(&source.code) {
            if rank(&imported).is_some_and(|rank| rank > own) {
                wrong.push(format!("{} imports {imported}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_order_of_this_test_is_the_table_of_the_architecture_page() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let table: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(module, _)| module.to_owned())
        .filter(|module| rank(module).is_some())
        .collect();
    assert_eq!(table, ORDER);
}

#[test]
fn files_environment_clock_network_and_programs_are_touched_only_where_that_is_allowed() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (path, allowed) in RESERVED {
            if uses(&source.code, path) && !allowed.contains(&source.module.as_str()) {
                wrong.push(format!("{} uses {path}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_source_file_begins_by_saying_what_it_is_for() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.path)
        .collect();
    assert!(silent.is_empty(), "no `//!` at the top: {}", silent.join(", "));
}

#[test]
fn the_main_function_knows_nothing_but_the_command_line() {
    let sources = sources();
    let main = sources
        .iter()
        .find(|source| source.module == "main")
        .expect("main");
    assert!(!main.code.contains("spokewright::"), "{}", main.code);
    assert!(main.code.contains("cli::main()"), "{}", main.code);
}

#[test]
fn no_path_of_a_developer_s_machine_stands_in_the_project() {
    let mut wrong = Vec::new();
    let places = [
        ".ci",
        "benches",
        "crates",
        "docs",
        "examples",
        "fixtures",
        "schemas",
        "src",
        "tests",
        "CHANGELOG.md",
        "Cargo.toml",
        "README.md",
        "clippy.toml",
        "deny.toml",
    ];
    for place in places.map(|place| root().join(place)) {
        let found = if place.is_dir() {
            files(&place)
        } else {
            vec![place]
        };
        for path in found {
            let text = fs::read_to_string(&path).unwrap_or_default();
            for start in ["home", "work", "farm", "root", "Users"].map(|name| format!("/{name}/")) {
                let named = text.match_indices(&start).any(|(at, _)| {
                    // Argo CD's own home is part of its contract.
                    if text
                        .get(at..)
                        .is_some_and(|rest| rest.starts_with("/home/argocd/"))
                    {
                        return false;
                    }
                    // Relative paths are none: a machine's path begins a word.
                    text.get(..at)
                        .and_then(|before| before.chars().next_back())
                        .is_none_or(|before| " \"'`(=:\n".contains(before))
                });
                if named {
                    wrong.push(format!("{} names {start}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn these_checks_see_what_they_look_for() {
    let code = "use crate::{hub, render::Plan};\nlet x = crate::cli::run();\nuse crate::api;\n";
    let found: Vec<String> = imported_modules(code).into_iter().collect();
    assert_eq!(found, ["api", "cli", "hub", "render"]);
    assert!(uses("use std::{fs, io};", "std::fs"));
    assert!(uses("std::fs::write(path, text)", "std::fs"));
    assert!(uses("use std::{\n    env,\n    path::Path,\n};", "std::env"));
    assert!(!uses("use std::fmt;", "std::fs"));
    assert!(!uses("a_very_last_Instantiation()", "Instant"));
    let text = "//! x\nuse std::fmt;\n// std::fs\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    assert!(!uses(&without_tests_and_comments(text), "std::fs"));
    assert!(uses(&without_tests_and_comments(text), "std::fmt"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

/// `lib.rs` and `main.rs` stand above all modules.
fn is_root(source: &Source) -> bool {
    matches!(source.module.as_str(), "lib" | "main")
}

/// Every file below src/ that is part of the crate, not of its tests.
fn sources() -> Vec<Source> {
    let base = root().join("src");
    files(&base)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| {
            let relative = path.strip_prefix(&base).expect("below src").to_owned();
            let parts: Vec<String> = relative
                .iter()
                .map(|part| part.to_string_lossy().trim_end_matches(".rs").to_owned())
                .collect();
            let is_test = parts
                .iter()
                .any(|part| matches!(part.as_str(), "tests" | "fixture"));
            let text = fs::read_to_string(&path).expect("text");
            (!is_test).then(|| Source {
                path: format!("src/{}", relative.display()),
                module: parts.first().cloned().unwrap_or_default(),
                code: without_tests_and_comments(&text),
                text,
            })
        })
        .collect()
}

/// All files below a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else {
        return found;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The code of a file: comments go, and so does what follows `#[cfg(test)]` and `mod NAME {` there.
fn without_tests_and_comments(text: &str) -> String {
    let mut lines = Vec::new();
    let mut after_test_attribute = false;
    for line in text.lines() {
        let is_attribute = line == "#[cfg(test)]";
        if after_test_attribute && line.contains("mod ") && line.ends_with('{') {
            break;
        }
        after_test_attribute = is_attribute || (after_test_attribute && line.starts_with("#["));
        let code = if line.trim_start().starts_with("//") {
            ""
        } else {
            line
        };
        lines.push(code);
    }
    lines.join("\n")
}

/// The modules named after `crate::`, also inside braces.
fn imported_modules(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for prefix in ["crate::", "spokewright::"] {
        for (_, rest) in code
            .match_indices(prefix)
            .map(|(at, _)| code.split_at(at + prefix.len()))
        {
            modules.extend(first_names(rest));
        }
    }
    modules
}

/// The first name of a path, or of each path of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut expected = true;
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expected = true,
            other if expected && !other.is_whitespace() => {
                names.push(name(group.split_at(at).1));
                expected = false;
            }
            _ => {}
        }
    }
    names
}

fn name(text: &str) -> String {
    text.chars()
        .take_while(|character| character.is_alphanumeric() || *character == '_')
        .collect()
}

/// Whether code names a path: as it stands, or as `std::{…, fs, …}`.
fn uses(code: &str, path: &str) -> bool {
    let boundary = |at: usize| {
        code.split_at(at + path.len())
            .1
            .chars()
            .next()
            .is_none_or(|next| !next.is_alphanumeric() && next != '_')
    };
    let literally = code.match_indices(path).any(|(at, _)| boundary(at));
    let grouped = path.strip_prefix("std::").is_some_and(|item| {
        code.match_indices("std::{")
            .any(|(at, _)| first_names(code.split_at(at + "std::".len()).1).contains(&item.to_owned()))
    });
    literally || grouped
}
