//! Runs the tests against each mutant.
//!
//! In: the tree with its mutants. Out: the fate of each. A test is run alone once to learn which mutants it reaches and
//! how long it takes; a mutant meets the tests that reach it, the quickest first, until one fails.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use kube_json::Value;
use rayon::prelude::*;

use super::Fate;
use super::mutant::Mutant;

/// How long the tests that meet one mutant may take together, without the mutant.
const ENOUGH: Duration = Duration::from_secs(10);

/// A program of tests, and where it runs.
struct Program {
    target: String,
    path: PathBuf,
    directory: PathBuf,
}

struct Test {
    program: usize,
    name: String,
    takes: Duration,
    reaches: Vec<usize>,
}

/// The fate of every mutant, in their order. `state` keeps what is known, so that a run that was ended goes on.
///
/// `kinds` says whose tests run, in this order: `true` stands for the command's. These start processes and take longer
/// than all others, so they meet what the unit tests let live.
pub(crate) fn run(
    tree: &Path,
    mutants: &[Mutant],
    viable: &BTreeSet<usize>,
    state: &Path,
    kinds: &[bool],
) -> Result<Vec<Fate>, Box<dyn Error>> {
    let is_viable = |number: usize| {
        if viable.contains(&number) {
            Fate::NotReached
        } else {
            Fate::NotViable
        }
    };
    let mut fates: Vec<Fate> = (1..=mutants.len()).map(is_viable).collect();
    for &of_command in kinds {
        let programs = programs(tree, of_command)?;
        let tests = tests(&programs, state)?;
        let mut reached: BTreeMap<usize, Vec<&Test>> = BTreeMap::new();
        for test in &tests {
            for number in &test.reaches {
                reached.entry(*number).or_default().push(test);
            }
        }
        let known = state.join(format!("fates-{of_command}"));
        let lines = fs::read_to_string(&known).unwrap_or_default();
        let lines: BTreeSet<&str> = lines.lines().collect();
        let known = Mutex::new(OpenOptions::new().append(true).create(true).open(known)?);
        fates
            .par_iter_mut()
            .zip(mutants)
            .enumerate()
            .for_each(|(index, (fate, mutant))| {
                let Some(tests) = reached.get(&(index + 1)) else {
                    return;
                };
                if matches!(fate, Fate::NotViable | Fate::Detected) {
                    return;
                }
                let line = |fate: Fate| format!("{fate:?} {}", mutant.name);
                let before = [Fate::Detected, Fate::Survived]
                    .into_iter()
                    .find(|fate| lines.contains(line(*fate).as_str()));
                *fate = before.unwrap_or_else(|| {
                    let is_detected = detected(&programs, tests, index + 1);
                    let fate = if is_detected {
                        Fate::Detected
                    } else {
                        Fate::Survived
                    };
                    if let Ok(mut known) = known.lock() {
                        let _ = writeln!(known, "{}", line(fate));
                    }
                    fate
                });
            });
    }
    Ok(fates)
}

/// The tests of these programs and what they reach: first those that reach least, which say most about it.
fn tests(programs: &[Program], state: &Path) -> Result<Vec<Test>, Box<dyn Error>> {
    let mut names = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let mut list = Command::new(&program.path);
        list.args(["--list", "--format", "terse"])
            .current_dir(&program.directory);
        let listed = String::from_utf8(list.output()?.stdout)?;
        let listed = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        names.extend(listed.map(|name| (index, name.to_owned())));
    }
    eprintln!("{} tests say what they reach", names.len());
    let notes = state.join("reached");
    fs::create_dir_all(&notes)?;
    let tests = names.par_iter().map(|(index, name)| {
        let program = &programs[*index];
        let notes = notes.join(format!("{}::{name}", program.target));
        reach(program, *index, name, &notes)
    });
    let mut tests: Vec<Test> = tests.collect();
    tests.sort_by_key(|test| (test.takes.as_millis() / 200, test.reaches.len()));
    Ok(tests)
}

/// Builds the programs of tests: the tests of the command, or the unit tests of every member.
fn programs(tree: &Path, of_command: bool) -> Result<Vec<Program>, Box<dyn Error>> {
    let targets: &[&str] = if of_command {
        &["--test", "cli"]
    } else {
        &["--lib"]
    };
    let built = Command::new("cargo")
        .args(["test", "--workspace"])
        .args(targets)
        .args(["--no-run", "--message-format=json", "--quiet"])
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
                target: value["target"]["name"].as_str().unwrap_or_default().to_owned(),
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

/// What a test reaches and how long it takes: from the notes, or by running it once.
fn reach(program: &Program, index: usize, name: &str, notes: &Path) -> Test {
    let took = |notes: &str| {
        notes
            .lines()
            .find_map(|line| line.strip_prefix("took ")?.parse().ok())
    };
    let mut known = fs::read_to_string(notes).unwrap_or_default();
    let takes = took(&known).unwrap_or_else(|| {
        let start = Instant::now();
        let mut command = command(program, &[name]);
        command.env("MUTANT", "reached").env("MUTANT_REACHED", notes);
        passes(&mut command, Duration::from_secs(120));
        let takes = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        known = fs::read_to_string(notes).unwrap_or_default();
        let _ = fs::write(notes, format!("{known}took {takes}\n"));
        takes
    });
    // Several processes of one test may note the same mutant.
    let reaches: BTreeSet<usize> = known.lines().filter_map(|line| line.parse().ok()).collect();
    Test {
        program: index,
        name: name.to_owned(),
        takes: Duration::from_millis(takes),
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
            if !passes(&mut command, usual * 3 + Duration::from_secs(5)) {
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
