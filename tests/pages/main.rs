//! The README and the book against the binary: the reference lists exactly what there is, transcripts are what a run prints,
//! links lead somewhere, and every page is in the table of contents.
//!
//! `UPDATE_PAGES=1 cargo test --test pages -- --test-threads 1` writes the table of codes and the transcripts anew; read
//! the difference before you commit it.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

#[cfg(target_os = "linux")]
mod examples;
mod findings;
#[cfg(target_os = "linux")]
mod transcripts;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use spokewright::diagnostic::CODES;
use spokewright::pipeline::SCHEMAS;
use spokewright::pipeline::start::CONTROLLERS;

const COMMANDS: &str = "docs/reference/commands.md";
/// Where the repository is; its owner puts the name in.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/");
const FINDINGS: &str = "docs/reference/findings.md";

#[test]
fn every_finding_code_stands_in_the_reference_with_its_severity_exit_status_and_meaning() {
    let expected: Vec<String> = CODES
        .iter()
        .map(|(code, severity, summary)| {
            let severity = format!("{severity:?}").to_lowercase();
            let fixed = if code.is_configurable() { "" } else { ", fixed" };
            format!(
                "| [`{code}`](findings/{code}.md) | {severity}{fixed} | {} | {summary} |",
                code.exit_status()
            )
        })
        .collect();
    let page = text(FINDINGS);
    let found: Vec<String> = rows(section(&page, "# Findings"))
        .filter(|row| row.starts_with("| ") && row.contains('`'))
        .map(str::to_owned)
        .collect();
    if is_update() {
        write(
            FINDINGS,
            &page.replacen(&found.join("\n"), &expected.join("\n"), 1),
        );
        return;
    }
    let missing: Vec<&String> = expected.iter().filter(|row| !found.contains(row)).collect();
    let wrong: Vec<&String> = found.iter().filter(|row| !expected.contains(row)).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "add these rows:\n{missing:#?}\nremove these:\n{wrong:#?}"
    );
    assert_eq!(found, expected, "in the order of the names");
}

#[test]
fn codes_in_the_prose_exist() {
    let groups: BTreeSet<&str> = CODES.iter().map(|(code, ..)| code.group()).collect();
    let names: BTreeSet<&str> = CODES.iter().map(|(code, ..)| code.name()).collect();
    for file in pages() {
        for word in quoted(&text(&file)) {
            let Some((group, rest)) = word.split_once('/') else {
                continue;
            };
            let plain = rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            if plain && !rest.is_empty() && groups.contains(group) {
                assert!(names.contains(word.as_str()), "{file}: there is no code `{word}`");
            }
        }
    }
}

#[test]
fn every_command_has_its_section_and_every_section_its_command() {
    let page = text(COMMANDS);
    let sections: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## `spokewright "))
        .filter_map(|rest| rest.split([' ', '`']).next())
        .map(str::to_owned)
        .collect();
    assert_eq!(sections, commands());
}

#[test]
fn every_exit_status_of_the_help_stands_in_the_reference() {
    let help = help(&[]);
    let offered: BTreeSet<String> = after(&help, "Exit status:")
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        .map(str::to_owned)
        .collect();
    assert!(offered.len() > 5, "{offered:?}");
    let page = text("docs/reference/exit-statuses.md");
    let documented: BTreeSet<String> = rows(section(&page, "# Exit statuses"))
        .filter_map(|row| row.split('|').nth(1))
        .map(|cell| cell.trim().to_owned())
        .filter(|cell| cell.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    assert_eq!(documented, offered);
}

#[test]
fn the_tables_of_configuration_and_parameters_are_those_of_their_schemas() {
    const HEAD: &str = "| field | meaning | values | default |\n|---|---|---|---|\n";
    for (name, file) in [
        ("config", "docs/reference/configuration.md"),
        ("overlay", "docs/reference/overlays.md"),
        ("params", "docs/reference/parameters.md"),
        ("rule", "docs/reference/rules.md"),
    ] {
        let page = text(file);
        let schema = SCHEMAS.iter().find(|(schema, _)| *schema == name);
        let schema = serde_json::from_str(schema.expect("the schema").1).expect("JSON");
        let mut expected = String::new();
        fields(&schema, "", &mut expected);
        let found = after(&page, HEAD).trim_start_matches(HEAD);
        let found: String = found
            .split_inclusive('\n')
            .take_while(|line| line.starts_with("| "))
            .collect();
        if is_update() && found != expected {
            write(
                file,
                &page.replacen(&format!("{HEAD}{found}"), &format!("{HEAD}{expected}"), 1),
            );
        } else {
            assert_eq!(found, expected, "{file}: {UPDATE}");
        }
    }
}

#[test]
fn every_schema_of_a_report_is_in_the_table_of_documents() {
    let page = text("docs/reference/json.md");
    let listed: Vec<&str> = rows(&page)
        .filter_map(|row| row.split('`').nth(1))
        .filter(|name| name.starts_with("report/"))
        .collect();
    let names = SCHEMAS.iter().map(|(name, _)| *name);
    let mut expected: Vec<&str> = names.filter(|name| name.starts_with("report/")).collect();
    let mut sorted = listed.clone();
    expected.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
}

#[test]
fn the_library_example_is_the_one_that_the_documentation_compiles() {
    let page = text("docs/library.md");
    let example = section(&page, "# As a library");
    let example = after(example, "```rust\n").trim_start_matches("```rust\n");
    let example = example.split("```").next().unwrap_or_default();
    let pipeline = text("src/pipeline.rs");
    let documentation: String = pipeline
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    assert!(
        documentation.contains(example),
        "src/pipeline.rs does not have\n{example}"
    );
}

#[test]
fn every_link_leads_somewhere() {
    for file in pages() {
        let page = text(&file);
        let prose: String = page.split("```").step_by(2).collect();
        for (at, _) in prose.match_indices("](") {
            let target = prose.split_at(at + 2).1.split(')').next().unwrap_or_default();
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            // The book has its own pages alone: what else stands in the repository, it links there.
            let outside = path
                .strip_prefix(REPOSITORY)
                .and_then(|path| path.split_once("/main/"));
            let to = match outside {
                Some((_, path)) => root().join(path),
                None if target.starts_with("https://") => continue,
                None if path.is_empty() => root().join(&file),
                None => root().join(&file).with_file_name(path),
            };
            let stays = file.starts_with("docs/") && outside.is_none();
            assert!(
                !stays
                    || to
                        .canonicalize()
                        .is_ok_and(|to| to.starts_with(root().join("docs"))),
                "{file}: {target} is not in the book: link to {REPOSITORY}"
            );
            assert!(to.exists(), "{file}: {target} does not exist");
            if heading.is_empty() {
                continue;
            }
            let there = fs::read_to_string(&to).unwrap_or_else(|error| panic!("{file}: {target}: {error}"));
            let mut headings = there.lines().filter(|line| line.starts_with('#')).map(anchor);
            assert!(
                headings.any(|known| known == heading),
                "{file}: no heading for {target}"
            );
        }
    }
}

/// `tools/set-repository` sets them all; one that was written later by hand must not fall behind.
#[test]
fn every_address_of_the_repository_is_that_of_cargo_toml() {
    let others = [
        "book.toml",
        "examples/pre-commit/.pre-commit-config.yaml",
        "SECURITY.md",
    ];
    for file in pages().into_iter().chain(others.map(str::to_owned)) {
        let page = text(&file);
        for (at, host) in page.match_indices("https://github.com/") {
            let mut parts = page
                .split_at(at + host.len())
                .1
                .split(['/', '"', ')', '`', '\n', ' ']);
            let (owner, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if name == "spokewright" {
                assert_eq!(format!("{host}{owner}/{name}/"), REPOSITORY, "{file}");
            }
        }
    }
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    let contents = text("docs/SUMMARY.md");
    let listed: BTreeSet<String> = contents
        .match_indices("](")
        .filter_map(|(at, _)| contents.split_at(at + 2).1.split(')').next())
        .map(|page| format!("docs/{page}"))
        .collect();
    let there: BTreeSet<String> = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/") && page != "docs/SUMMARY.md")
        .collect();
    assert_eq!(listed, there);
}

/// Whoever looks for a controller and many clusters finds its page, and on each page the same things in the same places.
#[test]
fn every_controller_of_init_has_a_page_of_one_form_that_is_linked() {
    const PARTS: [&str; 6] = [
        "## What the clusters need",
        "## Parameters",
        "## Example",
        "## How it decides",
        "## What is not followed",
        "## Versions",
    ];
    for (name, ..) in CONTROLLERS {
        let file = format!("docs/controllers/{name}.md");
        let page = text(&file);
        let title = page.lines().next().unwrap_or_default();
        assert!(title.ends_with(" multi-cluster policies"), "{file}: {title}");
        let parts: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(parts, PARTS, "{file}");
        for shown in [
            format!("    spokewright init fleet --policies {name}\n"),
            format!("$ spokewright init -q fleet --policies {name}\n"),
            "$ spokewright render fleet\n".to_owned(),
            "$ spokewright explain ".to_owned(),
        ] {
            assert!(page.contains(&shown), "{file}: {shown}");
        }
        for (from, link) in [
            ("README.md", file.as_str()),
            ("docs/index.md", &file["docs/".len()..]),
            (COMMANDS, &file.replacen("docs", "..", 1)),
        ] {
            assert!(
                text(from).contains(&format!("]({link})")),
                "{from} has no link to {file}"
            );
        }
    }
}

#[test]
fn the_readme_fits_a_first_look() {
    let lines = text("README.md").lines().count();
    assert!(lines <= 200, "{lines} lines");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Everything that people read: at the root, in the book, beside the examples.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
        .map(str::to_owned)
        .to_vec();
    let mut open = vec!["docs".to_owned(), "examples".to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(root().join(&directory))
            .expect("a directory")
            .flatten()
        {
            let path = format!("{directory}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                open.push(path);
            } else if Path::new(&path).extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// How a page is written anew.
const UPDATE: &str = "`UPDATE_PAGES=1 cargo test --test pages -- --test-threads 1` writes it anew";

/// Whether pages are to be written anew where they are wrong.
fn is_update() -> bool {
    std::env::var_os("UPDATE_PAGES").is_some()
}

fn write(file: &str, text: &str) {
    fs::write(root().join(file), text).unwrap_or_else(|error| panic!("{file}: {error}"));
}

/// The commands that the help lists.
fn commands() -> BTreeSet<String> {
    let help = help(&[]);
    let commands: BTreeSet<String> = after(&help, "Commands:")
        .lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        // A description that goes on in the next line is indented further.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .map(str::to_owned)
        .collect();
    assert!(commands.contains("render"), "{help}");
    commands
}

/// What a command prints for `--help`.
fn help(command: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_spokewright"))
        .args(command)
        .arg("--help")
        .stdin(Stdio::null())
        .output()
        .expect("the binary");
    assert!(run.status.success());
    String::from_utf8(run.stdout).expect("text")
}

/// A section of a page, from the first line that begins with `heading` to the next heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = if page.starts_with(heading) {
        0
    } else {
        let start = page.find(&format!("\n{heading}"));
        start.unwrap_or_else(|| panic!("no section {heading}")) + 1
    };
    let rest = page.split_at(start).1;
    let end = rest
        .match_indices("\n#")
        .map(|(at, _)| at)
        .next()
        .unwrap_or(rest.len());
    rest.split_at(end).0
}

/// The rows of the tables of a section.
fn rows(section: &str) -> impl Iterator<Item = &str> {
    section
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|---"))
}

fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    let at = text
        .find(mark)
        .unwrap_or_else(|| panic!("no {mark:?} in\n{text}"));
    text.split_at(at).1
}

/// The words between single backticks, outside fenced blocks.
fn quoted(page: &str) -> Vec<String> {
    let prose: String = page.split("```").step_by(2).collect();
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A row for each field of a schema, and for those inside of it, as `a.b` and `a[].b`.
fn fields(schema: &Value, path: &str, table: &mut String) {
    for schema in alternatives(schema) {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}{name}");
            let default = match &field["default"] {
                Value::Bool(_) | Value::Number(_) => format!("`{}`", field["default"]),
                Value::String(text) if !text.is_empty() => format!("`{text}`"),
                Value::Array(items) if !items.is_empty() => format!("`{}`", field["default"]),
                _ if required.contains(&name.as_str().into()) => "required".to_owned(),
                _ => "none".to_owned(),
            };
            let meaning = field["description"].as_str().unwrap_or_default();
            let row = format!("| `{path}` | {meaning} | {} | {default} |", values(field));
            table.push_str(&row.replace('\n', " "));
            table.push('\n');
            fields(field, &format!("{path}."), table);
            fields(&field["items"], &format!("{path}[]."), table);
        }
    }
}

/// The schema itself, or those of which a value has to be of one.
fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema["anyOf"].as_array() {
        Some(several) => several.iter().collect(),
        None => vec![schema],
    }
}

/// What a field may say: its words, each with what it means, or its types.
fn values(schema: &Value) -> String {
    let mut all = Vec::new();
    for schema in alternatives(schema) {
        for word in schema["oneOf"].as_array().into_iter().flatten() {
            let meaning = word["description"].as_str().unwrap_or_default();
            let meaning = meaning.trim_end_matches('.');
            match word["const"].as_str() {
                Some(word) if meaning.is_empty() => all.push(format!("`{word}`")),
                Some(word) => all.push(format!("`{word}`: {meaning}")),
                None => all.push(values(word)),
            }
        }
        let words = schema["enum"].as_array().into_iter().flatten();
        all.extend(words.filter_map(|word| Some(format!("`{}`", word.as_str()?))));
        if schema["enum"].is_array() || schema["oneOf"].is_array() {
            continue;
        }
        let types = match &schema["type"] {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect::<Vec<_>>(),
        };
        if schema["x-kubernetes-preserve-unknown-fields"] == true {
            all.push("any".to_owned());
        }
        for kind in types.into_iter().filter(|kind| *kind != "null") {
            all.push(match kind {
                "array" => format!("list of {}", values(&schema["items"])),
                "object" => "mapping".to_owned(),
                _ => kind.to_owned(),
            });
        }
    }
    all.join("; ")
}

/// The anchor that a heading gets where Markdown is shown.
fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'))
        .map(|character| if character == ' ' { '-' } else { character })
        .collect()
}
