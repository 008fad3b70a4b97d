//! Builds the tree with all mutants that the compiler takes.
//!
//! In: a copy of the checkout, and the mutants. Out: the numbers of those that are in the build. Each round writes the
//! files, asks the compiler, and takes out the mutants that its errors point at.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use kube_json::Value;

use super::mutant::Mutant;
use super::weave::weave;

/// What a mutant asks: whether it is on. With `MUTANT=reached`, none is, and the first question of each is noted.
const SWITCH: &str = r#"
/// Whether this mutant is on.
#[allow(warnings, clippy::all)]
pub(crate) fn mutated(number: usize) -> bool {
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static ON: LazyLock<usize> = LazyLock::new(|| match std::env::var("MUTANT").as_deref() {
        Err(_) => 0,
        Ok("reached") => usize::MAX,
        Ok(number) => {
            // The first failure is enough.
            std::panic::set_hook(Box::new(|_| std::process::exit(101)));
            number.parse().unwrap()
        }
    });
    static REACHED: LazyLock<Vec<AtomicBool>> = LazyLock::new(|| (0..20_000).map(|_| AtomicBool::new(false)).collect());
    if *ON == usize::MAX && !REACHED[number].swap(true, Ordering::Relaxed) {
        let path = std::env::var("MUTANT_REACHED").unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(format!("{number}\n").as_bytes()).unwrap();
    }
    *ON == number
}
"#;

/// The numbers of the mutants that could be built.
pub(crate) fn build(
    tree: &Path,
    mutants: &[Mutant],
    state: &Path,
) -> Result<BTreeSet<usize>, Box<dyn Error>> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut crates = BTreeSet::new();
    for mutant in mutants {
        if !files.contains_key(mutant.file.as_str()) {
            files.insert(&mutant.file, fs::read_to_string(tree.join(&mutant.file))?);
        }
        let (before, _) = mutant.file.split_once("src/").ok_or("a mutant outside of src/")?;
        crates.insert(format!("{before}src/lib.rs"));
    }
    for root in crates {
        let path = tree.join(&root);
        // A mutant that always fails is an answer, too. On the first line, so that every mutant stays in its line.
        let allowed = "#![allow(arithmetic_overflow, unconditional_panic)] ";
        let text = format!("{allowed}{}{SWITCH}", fs::read_to_string(&path)?);
        fs::write(path, &text)?;
        if let Some(known) = files.get_mut(root.as_str()) {
            *known = text;
        }
    }
    let kept = state.join("refused");
    let known = fs::read_to_string(&kept).unwrap_or_default();
    let mut refused: BTreeSet<usize> = known.lines().filter_map(|line| line.parse().ok()).collect();
    loop {
        let mut places: BTreeMap<&str, Vec<(usize, Range<usize>)>> = BTreeMap::new();
        for (file, text) in &files {
            let of_file = mutants
                .iter()
                .enumerate()
                .map(|(index, mutant)| (index + 1, mutant));
            let of_file =
                of_file.filter(|(number, mutant)| mutant.file == *file && !refused.contains(number));
            let woven = weave(text, &of_file.collect::<Vec<_>>())?;
            fs::write(tree.join(file), woven.text)?;
            places.insert(file, woven.places);
        }
        let errors = errors(tree)?;
        let before = refused.len();
        for (file, bytes) in &errors {
            let Some(places) = places.get(file.as_str()) else {
                continue;
            };
            let hit = places
                .iter()
                .filter(|(_, place)| place.start < bytes.end && bytes.start < place.end);
            refused.extend(hit.map(|(number, _)| *number));
        }
        // What a function returns early can be an error at what it returns else: `impl Iterator` is one type.
        if refused.len() == before {
            for (file, bytes) in &errors {
                let Some(places) = places.get(file.as_str()) else {
                    continue;
                };
                let ahead = places.iter().filter(|(_, place)| place.start <= bytes.start);
                let Some((nearest, _)) = ahead.max_by_key(|(_, place)| place.start) else {
                    continue;
                };
                let line = mutants[nearest - 1].function_line();
                let same = |number: &usize| mutants[number - 1].function_line() == line;
                refused.extend(places.iter().map(|(number, _)| *number).filter(same));
            }
        }
        eprintln!("{} errors, {} mutants refused", errors.len(), refused.len());
        let lines: String = refused.iter().map(|number| format!("{number}\n")).collect();
        fs::write(&kept, lines)?;
        if errors.is_empty() {
            return Ok(places.into_values().flatten().map(|(number, _)| number).collect());
        }
        if refused.len() == before {
            return Err(format!("errors that belong to no mutant: {errors:?}").into());
        }
    }
}

/// Where an error of the compiler is: a file, and bytes in it.
type Fault = (String, Range<usize>);

/// The places of the compiler's errors.
fn errors(tree: &Path) -> Result<Vec<Fault>, Box<dyn Error>> {
    let output = Command::new("cargo")
        .args([
            "check",
            "--workspace",
            "--lib",
            "--keep-going",
            "--message-format=json",
            "--quiet",
        ])
        .current_dir(tree)
        .stderr(Stdio::null())
        .output()?;
    let mut errors = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let value: Value = serde_json::from_str(line)?;
        let message = &value["message"];
        if message["level"] != "error" {
            continue;
        }
        for span in message["spans"].as_array().into_iter().flatten() {
            let number = |key: &str| span[key].as_u64().and_then(|number| usize::try_from(number).ok());
            if let (Some(file), Some(start), Some(end)) = (
                span["file_name"].as_str(),
                number("byte_start"),
                number("byte_end"),
            ) {
                errors.push((file.to_owned(), start..end));
            }
        }
    }
    Ok(errors)
}
