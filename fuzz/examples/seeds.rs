//! Writes the seeds of every target below a directory, one directory for each, where the fuzzer looks for them.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: seeds DIRECTORY")?);
    for target in spokewright_fuzz::TARGETS {
        let directory = corpus.join(target.name);
        fs::create_dir_all(&directory)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(directory.join(format!("seed-{number:03}")), seed)?;
        }
    }
    Ok(())
}
