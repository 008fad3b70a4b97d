//! A short, always equal slice of what fuzzing does: every target on its seeds, and on a few changes of each.
//!
//! `fuzz/run` lets the fuzzer look for more. What it finds becomes a seed or a test of the part that was wrong.

#[path = "../fuzz/src/lib.rs"]
#[allow(dead_code, unreachable_pub)]
mod targets;

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

slices! { cel config git_index hub inventory params pattern placement yaml }
