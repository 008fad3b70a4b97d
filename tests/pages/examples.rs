//! The example on the page of each finding code provokes the code and prints what it shows, what stands under "Fix" helps,
//! and what stands under "Silence" is so.
//!
//! Every example starts from the hub that `spokewright init` writes, without the policy of a cluster. A block of YAML is a
//! file whose name its first line bears, a block of diff changes one, and a transcript is run; only on Linux, as all
//! transcripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use spokewright::diagnostic::{CODES, Code, Severity};

use super::findings::file;
use super::transcripts::{copy, shell_with, without_times};
use super::{UPDATE, is_update, root, text, write};

/// Columns of a terminal of 80 less those by which `spokewright finding` indents a transcript.
const COLUMNS: &str = "76";

/// What stands between the fences of a block.
struct Block<'p> {
    section: &'p str,
    language: &'p str,
    text: &'p str,
    /// Where `text` begins on the page.
    at: usize,
}

#[test]
fn every_example_provokes_its_code_and_prints_what_its_page_shows() {
    CODES.par_iter().for_each(|&(code, severity, _)| {
        let page = text(&file(code));
        let mut updated = String::new();
        let mut kept = 0;
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let directory = scratch.path();
        copy(&root().join("examples/start"), directory);
        // `check` says what has to be put into it.
        fs::remove_file(directory.join(".gitlab-ci.yml")).expect("a pipeline");
        let mut last = String::new();
        let mut printed = String::new();
        let mut is_fixed = false;
        for block in blocks(&page) {
            let is_example = block.section == "Example";
            if !is_example && !is_fixed {
                agree(directory, code);
                silence(directory, code, severity, &last);
                is_fixed = true;
            }
            match block.language {
                "yaml" => put(directory, block.text, code),
                "diff" => change(directory, block.text, code),
                "console" => {
                    let mut transcript = String::new();
                    for command in commands(block.text) {
                        let output = run(directory, &command);
                        transcript.push_str(&format!("$ {}\n{output}", command.replace('\n', "\n> ")));
                        if is_example {
                            printed.push_str(&output);
                            last = command;
                        }
                    }
                    if is_update() {
                        updated.push_str(&page[kept..block.at]);
                        updated.push_str(&transcript);
                        kept = block.at + block.text.len();
                    } else {
                        assert_eq!(transcript, block.text, "{}: {UPDATE}", file(code));
                    }
                }
                "" | "json" | "text" => {}
                other => panic!("{}: a block of {other}", file(code)),
            }
        }
        assert_eq!(
            codes_of(&printed),
            BTreeSet::from([code.name()]),
            "{}:\n{printed}",
            file(code)
        );
        if is_fixed {
            let after = run(directory, &last);
            assert!(
                !codes_of(&after).contains(code.name()),
                "{}:\n{after}",
                file(code)
            );
        } else {
            agree(directory, code);
            silence(directory, code, severity, &last);
        }
        updated.push_str(&page[kept..]);
        if updated != page {
            write(&file(code), &updated);
        }
    });
}

/// `render -o -` and `diff` say the same of the input and refuse the same, whether there is an earlier tree or not. What is
/// wrong with that tree itself concerns only who reads all of it, and what an answer cannot list, only who asks for it.
fn agree(directory: &Path, code: Code) {
    let of_earlier = [
        Code::OUTPUT_UNEXPECTED,
        Code::OUTPUT_INVENTORY,
        Code::OUTPUT_NOT_A_DIRECTORY,
    ];
    if of_earlier.contains(&code) {
        return;
    }
    let scratch = tempfile::tempdir().expect("a temporary directory");
    fs::write(scratch.path().join(".spokewright-inventory"), "").expect("a file");
    let earlier = directory.join("rendered");
    let is_there = earlier.join(".spokewright-inventory").is_file() && code.group() != "output";
    let base = if is_there { &earlier } else { scratch.path() };
    let found = scratch.path().join("found");
    let answer = |arguments: &str| {
        let command = format!(
            "spokewright {arguments} --also human={} >/dev/null; echo $?",
            found.display()
        );
        let said = run(directory, &command);
        let status = said.trim_end().rsplit('\n').next().expect("a status").to_owned();
        let found = fs::read_to_string(&found).expect("the findings");
        let codes: BTreeSet<String> = codes_of(&found).into_iter().map(str::to_owned).collect();
        (if status == "1" { "0".to_owned() } else { status }, codes)
    };
    assert_eq!(
        answer("render -o -"),
        answer(&format!("diff --base-tree {}", base.display())),
        "{code}: `render -o -` and `diff` disagree"
    );
}

/// What the page's last part says, tried in a copy: one code off, down to a warning, or refused.
fn silence(directory: &Path, code: Code, severity: Severity, command: &str) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    copy_all(directory, scratch.path());
    let configuration = scratch.path().join("spokewright.yaml");
    let before = fs::read_to_string(&configuration).unwrap_or_default();
    let level = match severity {
        Severity::Error if code.is_configurable() => "warning",
        _ => "off",
    };
    let silent = format!("findings: {{{code}: {level}");
    let text = if before.contains("findings: {") {
        before.replacen("findings: {", &format!("{silent}, "), 1)
    } else {
        format!("{before}{silent}}}\n")
    };
    fs::write(&configuration, text).expect("a file");
    let printed = run(scratch.path(), command);
    let is_as_said = match severity {
        _ if !code.is_configurable() => printed.contains("error["),
        Severity::Warning => !printed.contains(code.name()),
        Severity::Error => {
            printed.contains(&format!("warning[{code}]")) && !printed.contains(&format!("error[{code}]"))
        }
    };
    assert!(is_as_said, "{}: silenced, it prints\n{printed}", file(code));
}

/// Symbolic links stay what they are.
fn copy_all(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .status()
        .expect("cp");
    assert!(status.success());
}

/// What a shell prints in a hub, without the time that it took.
fn run(directory: &Path, command: &str) -> String {
    let (output, _) = shell_with(directory, command, 0, COLUMNS);
    let output = output.replace(&directory.display().to_string(), "fleet");
    without_times(&output)
}

/// The codes of the findings in what was printed.
fn codes_of(printed: &str) -> BTreeSet<&str> {
    let known = |name: &&str| Code::from_name(name).is_some();
    let mut codes = BTreeSet::new();
    for severity in ["error[", "warning[", "title="] {
        let after = printed
            .split(severity)
            .skip(1)
            .filter_map(|rest| rest.split([']', ':', ',']).next());
        codes.extend(after.filter(known));
    }
    codes
}

/// The commands of a transcript; one that goes on bears `> ` in its further lines.
fn commands(transcript: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in transcript.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
            goes_on = true;
        } else if let (true, Some(more), Some(command)) =
            (goes_on, line.strip_prefix("> "), commands.last_mut())
        {
            command.push('\n');
            command.push_str(more);
        } else {
            goes_on = false;
        }
    }
    commands
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = page;
    let mut section = "";
    while let Some((before, after)) = rest.split_once("```") {
        if let Some((_, heading)) = before.rsplit_once("\n## ") {
            section = heading.lines().next().unwrap_or_default();
        }
        let (language, after) = after.split_once('\n').expect("a line");
        let (text, after) = after.split_once("```").expect("the end of a block");
        blocks.push(Block {
            section,
            language,
            text,
            at: page.len() - after.len() - "```".len() - text.len(),
        });
        rest = after;
    }
    blocks
}

/// Writes the file that the first line of a block names.
fn put(directory: &Path, text: &str, code: Code) {
    let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
    let path = directory.join(name.unwrap_or_else(|| panic!("{}: name the file", file(code))));
    fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    fs::write(path, text).expect("a file");
}

/// Replaces lines of the file that the first line of a block names: those with `-` by those with `+`.
fn change(directory: &Path, text: &str, code: Code) {
    let (name, lines) = text.split_once('\n').expect("lines");
    let name = name
        .strip_prefix("--- ")
        .unwrap_or_else(|| panic!("{}: name the file", file(code)));
    let side = |marks: [char; 2]| -> String {
        lines
            .lines()
            .filter_map(|line| line.strip_prefix(marks))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    let path = directory.join(name);
    let before = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {name}: {error}", file(code)));
    let from = side([' ', '-']);
    assert_eq!(
        before.matches(&from).count(),
        1,
        "{}: {name} has not once\n{from}",
        file(code)
    );
    fs::write(path, before.replacen(&from, &side([' ', '+']), 1)).expect("a file");
}
