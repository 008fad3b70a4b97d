//! Runs the tests against each mutant.
//!
//! In: the tree with its mutants. Out: the fate of each. A test is run alone once to learn which mutants it reaches and
//! how long it takes; a mutant meets the tests that reach it, the quickest first, until one fails.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::Value;

use crate::{Fate, Mutant};

/// How long the tests that meet one mutant may take together, without the mutant.
const ENOUGH: Duration = Duration::from_secs(30);

/// A program of tests, and where it runs.
struct Program {
    path: PathBuf,
    directory: PathBuf,
}

struct Test {
    program: usize,
    name: String,
    takes: Duration,
    reaches: Vec<usize>,
}

/// The fate of every mutant, in their order.
pub(crate) fn run(
    tree: &Path,
    mutants: &[Mutant],
    viable: &BTreeSet<usize>,
) -> Result<Vec<Fate>, Box<dyn Error>> {
    let programs = programs(tree)?;
    let mut names = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let listed = Command::new(&program.path)
            .args(["--list", "--format", "terse"])
            .current_dir(&program.directory)
            .output()?;
        let listed = String::from_utf8(listed.stdout)?;
        names.extend(
            listed
                .lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .map(|name| (index, name.to_owned())),
        );
    }
    eprintln!("{} tests say what they reach", names.len());
    let scratch = tempfile::tempdir()?;
    let tests = names.par_iter().enumerate().map(|(index, (program, name))| {
        let notes = scratch.path().join(index.to_string());
        reach(&programs[*program], *program, name, &notes)
    });
    let mut tests: Vec<Test> = tests.collect();
    // Those that reach least say most about what they reach.
    tests.sort_by_key(|test| (test.takes.as_millis() / 200, test.reaches.len()));
    let mut reached: BTreeMap<usize, Vec<&Test>> = BTreeMap::new();
    for test in &tests {
        for number in &test.reaches {
            reached.entry(*number).or_default().push(test);
        }
    }
    eprintln!("{} mutants are reached", reached.len());
    let done = AtomicUsize::new(0);
    let numbers: Vec<usize> = (1..=mutants.len()).collect();
    let fates = numbers.par_iter().map(|number| {
        let fate = match reached.get(number) {
            _ if !viable.contains(number) => Fate::NotViable,
            None => Fate::NotReached,
            Some(tests) if detected(&programs, tests, *number) => Fate::Detected,
            Some(_) => Fate::Survived,
        };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if fate == Fate::Survived {
            eprintln!("{done}/{} {fate:?} {}", numbers.len(), mutants[number - 1].name);
        }
        fate
    });
    Ok(fates.collect())
}

/// Builds the programs of tests: the unit tests of every member, and the tests of the command.
fn programs(tree: &Path) -> Result<Vec<Program>, Box<dyn Error>> {
    let built = Command::new("cargo")
        .args([
            "test",
            "--workspace",
            "--lib",
            "--test",
            "cli",
            "--no-run",
            "--message-format=json",
            "--quiet",
        ])
        .current_dir(tree)
        .stderr(Stdio::inherit())
        .output()?;
    if !built.status.success() {
        return Err("the tests do not build; are test modules in the list?".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(built.stdout)?.lines() {
        let value: Value = serde_json::from_str(line)?;
        if value["profile"]["test"] == true
            && let (Some(path), Some(manifest)) =
                (value["executable"].as_str(), value["manifest_path"].as_str())
        {
            programs.push(Program {
                path: path.into(),
                directory: Path::new(manifest)
                    .parent()
                    .ok_or("a manifest without a directory")?
                    .to_owned(),
            });
        }
    }
    Ok(programs)
}

fn reach(program: &Program, index: usize, name: &str, notes: &Path) -> Test {
    let start = Instant::now();
    let mut command = command(program, &[name]);
    let _ = command
        .env("MUTANT", "reached")
        .env("MUTANT_REACHED", notes)
        .status();
    let numbers = fs::read_to_string(notes).unwrap_or_default();
    // Several processes of one test may note the same mutant.
    let reaches: BTreeSet<usize> = numbers.lines().filter_map(|line| line.parse().ok()).collect();
    Test {
        program: index,
        name: name.to_owned(),
        takes: start.elapsed(),
        reaches: reaches.into_iter().collect(),
    }
}

/// Whether one of the tests fails, or does not end, with the mutant.
fn detected(programs: &[Program], tests: &[&Test], number: usize) -> bool {
    let mut spent = Duration::ZERO;
    let mut at = 0;
    // Few tests at first, as one of them mostly fails; then more at once, as each process costs.
    for size in [4, 16, 64, 256, 1024] {
        let batch: Vec<&&Test> = tests
            .iter()
            .skip(at)
            .take(size)
            .take_while(|test| {
                spent += test.takes;
                spent <= ENOUGH
            })
            .collect();
        at += batch.len();
        for (index, program) in programs.iter().enumerate() {
            let batch: Vec<_> = batch.iter().filter(|test| test.program == index).collect();
            if batch.is_empty() {
                continue;
            }
            let usual: Duration = batch.iter().map(|test| test.takes).sum();
            let names: Vec<&str> = batch.iter().map(|test| test.name.as_str()).collect();
            let mut command = command(program, &names);
            command.env("MUTANT", number.to_string());
            if !passes(&mut command, usual * 4 + Duration::from_secs(20)) {
                return true;
            }
        }
        if spent > ENOUGH {
            break;
        }
    }
    false
}

fn command(program: &Program, names: &[&str]) -> Command {
    let mut command = Command::new(&program.path);
    command
        .arg("--exact")
        .args(names)
        .env("RUST_TEST_THREADS", "1")
        .env("PROPTEST_FAILURE_PERSISTENCE", "off");
    command
        .current_dir(&program.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Whether the command ends in time and well.
fn passes(command: &mut Command, limit: Duration) -> bool {
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
