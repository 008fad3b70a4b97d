//! Mutation testing of the whole workspace in one build.
//!
//! ```text
//! git worktree add --detach ../mutated
//! cargo mutants --workspace --list --json -f 'crates/policy-sync/src/policy/**' > mutants.json
//! cargo run --example mutants -- ../mutated mutants.json state
//! ```
//!
//! A fourth word, `unit`, leaves the tests of the command out. If `CARGO_TARGET_DIR` is set, set another one for this
//! program: Cargo takes the two trees for one.
//!
//! cargo-mutants says which mutants there are. It builds each of them alone, which takes a minute in a crate of this
//! size. Here every mutant is woven into one copy of the tree (`weave`), where `MUTANT=7` in the environment turns one
//! of them on; what the compiler refuses is taken out again (`build`). Then each test says once which mutants it
//! reaches, and each mutant meets only the tests that reach it (`run`).
//!
//! Prints the mutants that survive, and a line of counts for each directory. The copy is changed: throw it away, or
//! restore it (`git -C ../mutated restore .`) and go on with the same list and state.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

mod build;
pub(crate) mod mutant;
mod run;
pub(crate) mod weave;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use mutant::Mutant;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// There is no place for it in the one build, or the compiler refuses it.
    NotViable,
    Detected,
    /// No test reaches it.
    NotReached,
    Survived,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(tree), Some(list), Some(state)) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: mutants TREE LIST STATE [unit]");
        return Ok(ExitCode::from(2));
    };
    let kinds: &[bool] = if arguments.next().as_deref() == Some("unit") {
        &[false]
    } else {
        &[false, true]
    };
    let tree = Path::new(&tree).canonicalize()?;
    let mutants: Vec<Mutant> = serde_json::from_slice(&std::fs::read(list)?)?;
    let state = Path::new(&state);
    std::fs::create_dir_all(state)?;
    let viable = build::build(&tree, &mutants, state)?;
    eprintln!("{} of {} mutants are in the build", viable.len(), mutants.len());
    let fates = run::run(&tree, &mutants, &viable, state, kinds)?;
    print(&mutants, &fates);
    Ok(ExitCode::SUCCESS)
}

fn print(mutants: &[Mutant], fates: &[Fate]) {
    let mut counts: BTreeMap<&str, BTreeMap<Fate, usize>> = BTreeMap::new();
    for (mutant, fate) in mutants.iter().zip(fates) {
        let directory = mutant
            .file
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        *counts.entry(directory).or_default().entry(*fate).or_default() += 1;
        match fate {
            Fate::Survived => println!("survived     {}", mutant.name),
            Fate::NotReached => println!("not reached  {}", mutant.name),
            Fate::NotViable | Fate::Detected => {}
        }
    }
    println!("directory: mutants, not viable, detected, not reached, survived");
    for (directory, counts) in counts {
        let of = |fate| counts.get(&fate).copied().unwrap_or(0);
        println!(
            "{directory}: {}, {}, {}, {}, {}",
            counts.values().sum::<usize>(),
            of(Fate::NotViable),
            of(Fate::Detected),
            of(Fate::NotReached),
            of(Fate::Survived),
        );
    }
}
