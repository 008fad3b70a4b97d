//! A short, always equal slice of what fuzzing does: every target on its seeds, and on a few changes of each.
//!
//! `fuzz/run` lets the fuzzer look for more. What it finds becomes a seed or a test of the part that was wrong.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

#[path = "../fuzz/src/lib.rs"]
#[allow(dead_code, unreachable_pub)]
mod targets;

use std::collections::BTreeSet;

use targets::{TARGETS, Target};

/// Changes of each seed: many of a small one, one of a whole hub.
const MOST_CHANGES: usize = 12;
const BYTES: usize = 20_000;
/// Pieces that mean something to some target.
const PIECES: [&str; 20] = [
    "\n---\n",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "&a ",
    "*a",
    "!!binary ",
    "\"",
    "'",
    "|\n",
    "\u{85}",
    "\u{feff}",
    "\u{1b}[31m",
    "\u{202e}",
    "kind: Secret\n",
    "null",
    "9999999999999999999",
    "${X}",
];

/// A sequence of numbers that is the same at every run (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit.max(1) as u64)).unwrap_or_default()
    }
}

fn changed(seed: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(data.len() + 1);
        match numbers.below(5) {
            0 => {
                let end = (at + numbers.below(8)).min(data.len());
                data.drain(at..end);
            }
            1 => {
                let piece = PIECES[numbers.below(PIECES.len())];
                data.splice(at..at, piece.bytes());
            }
            2 => {
                let from = numbers.below(other.len() + 1);
                let to = (from + numbers.below(40)).min(other.len());
                data.splice(at..at, other[from..to].iter().copied());
            }
            3 => data.truncate(at),
            _ => {
                if let Some(byte) = data.get_mut(at) {
                    *byte ^= 1 << numbers.below(7);
                }
            }
        }
    }
    data
}

#[track_caller]
fn slice(name: &str) {
    let target: &Target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target");
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for seed in &seeds {
        (target.body)(seed);
        for _ in 0..(BYTES / seed.len().max(1)).clamp(1, MOST_CHANGES) {
            let other = &seeds[numbers.below(seeds.len())];
            (target.body)(&changed(seed, other, &mut numbers));
        }
    }
}

macro_rules! slices {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            slice(stringify!($name));
        })*

        #[test]
        fn every_target_has_its_slice_and_its_program() {
            let tried = [$(stringify!($name)),*];
            let named: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(named, tried);
            let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/fuzz_targets");
            let mut programs: Vec<String> = std::fs::read_dir(programs)
                .expect("the programs")
                .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
                .collect();
            programs.sort();
            assert_eq!(programs, tried.map(|name| format!("{name}.rs")));
        }
    };
}

/// CI does not compile `fuzz/`: libFuzzer and a nightly toolchain would take minutes. The library is a part of this test;
/// what could be missing there is a dependency.
#[test]
fn every_crate_that_a_fuzz_target_names_is_a_dependency_of_the_targets() {
    let fuzz = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz");
    let manifest = std::fs::read_to_string(format!("{fuzz}/Cargo.toml")).expect("the manifest");
    let (_, dependencies) = manifest.split_once("[dependencies]\n").expect("dependencies");
    let lines = dependencies.lines().take_while(|line| !line.starts_with('['));
    let declared: BTreeSet<String> = lines
        .filter_map(|line| Some(line.split_once(" =")?.0.replace('-', "_")))
        .collect();
    let mut named = BTreeSet::new();
    for directory in ["src", "fuzz_targets", "examples"] {
        let files = std::fs::read_dir(format!("{fuzz}/{directory}")).expect("the directory");
        for file in files {
            let path = file.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            // The first parts of paths, and what is imported by a single name.
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let words = line.split(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter));
                let paths = words.filter(|word| word.contains("::") || line.starts_with("use "));
                named.extend(paths.filter_map(|path| path.split(':').next().map(str::to_owned)));
            }
        }
    }
    assert!(
        named.contains("spokewright") && named.contains("kube_yaml"),
        "{named:?}"
    );
    // Every crate of this workspace and of its manifest that is named; other first parts of paths are types and modules.
    let own =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).expect("the lock file");
    let known = own
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let known: BTreeSet<String> = known
        .map(|name| name.replace('-', "_"))
        .chain(["libfuzzer_sys".to_owned()])
        .collect();
    let missing: Vec<&String> = named
        .iter()
        .filter(|name| known.contains(*name) && !declared.contains(*name))
        .collect();
    assert!(missing.is_empty(), "not in fuzz/Cargo.toml: {missing:?}");
    let unused: Vec<&String> = declared.iter().filter(|name| !named.contains(*name)).collect();
    assert!(unused.is_empty(), "only in fuzz/Cargo.toml: {unused:?}");
}

slices! { cel config git_index hub inventory overlay params pattern placement yaml }
