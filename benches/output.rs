//! Writing 100,000 files of 5 KB, and not writing them again, beside reading and `cp -r` of the same tree.
//!
//! `cargo bench --bench output [-- FILES]`. Works in a temporary directory; everything is in the page cache, so
//! the figures compare work, not disks.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::borrow::Cow;
use std::error::Error;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use spokewright::output::{FileKind, Options, Tree, write};

const FILES_PER_CLUSTER: usize = 100;
const BYTES_PER_FILE: usize = 5_000;

/// Works that differ between clusters in a few places only, spliced when they are asked for.
struct Fleet {
    files: usize,
    shared: Vec<u8>,
    /// Every so many files differ from revision to revision.
    revision: usize,
}

impl Tree for Fleet {
    fn len(&self) -> usize {
        self.files
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        Cow::Owned(format!(
            "cluster-{:05}/gateway-gateways-web-{:03}.yaml",
            index / FILES_PER_CLUSTER,
            index % FILES_PER_CLUSTER
        ))
    }

    fn kind(&self, _: usize) -> FileKind {
        FileKind::Object
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        let revision = if index.is_multiple_of(100) {
            self.revision
        } else {
            0
        };
        buffer.extend_from_slice(format!("cluster: {index}\nrevision: {revision}\n").as_bytes());
        buffer.extend_from_slice(&self.shared);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let files = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(100_000);
    let shared = "        hostname: \"*.example.com\"\n"
        .bytes()
        .cycle()
        .take(BYTES_PER_FILE - 30)
        .collect();
    let mut fleet = Fleet {
        files,
        shared,
        revision: 0,
    };
    let parent = tempfile::tempdir()?;
    let root = parent.path().join("rendered");
    println!("{files} files of {BYTES_PER_FILE} bytes, {FILES_PER_CLUSTER} in a directory");

    let first = timed("first write", || {
        Ok(write(&root, &fleet, Options::default())?.written)
    })?;
    // In turns, so that whatever else the machine does hits all of them.
    let (mut copying, mut reading, mut again) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut first = first;
    for round in 0..3 {
        let copy = parent.path().join("copy");
        copying = copying.min(timed("cp -r", || copy_tree(&root, &copy))?);
        fs::remove_dir_all(&copy)?;
        let other = parent.path().join("again");
        first = first.min(timed("first write", || {
            Ok(write(&other, &fleet, Options::default())?.written)
        })?);
        fs::remove_dir_all(&other)?;
        reading = reading.min(timed("reading, one thread after the other", || read_tree(&root))?);
        timed("reading, all threads", || read_tree_parallel(&root))?;
        again = again.min(timed("unchanged re-run", || {
            Ok(write(&root, &fleet, Options::default())?.unchanged)
        })?);
        fleet.revision = round + 1;
        timed("1 % changed", || {
            Ok(write(&root, &fleet, Options::default())?.written)
        })?;
    }
    println!(
        "first write / cp -r:        {:.2}",
        first.as_secs_f64() / copying.as_secs_f64()
    );
    println!(
        "unchanged re-run / reading: {:.2}",
        again.as_secs_f64() / reading.as_secs_f64()
    );
    if let Some(peak) = fs::read_to_string("/proc/self/status")?
        .lines()
        .find(|line| line.starts_with("VmHWM"))
    {
        println!("peak memory: {}", peak.trim_start_matches("VmHWM:").trim());
    }
    Ok(())
}

fn timed(
    name: &str,
    work: impl FnOnce() -> Result<usize, Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let count = work()?;
    let taken = start.elapsed();
    println!("{name:36} {:8.3} s  ({count} files)", taken.as_secs_f64());
    Ok(taken)
}

fn copy_tree(from: &Path, to: &Path) -> Result<usize, Box<dyn Error>> {
    let status = Command::new("cp").arg("-r").args([from, to]).status()?;
    if status.success() {
        Ok(0)
    } else {
        Err("cp failed".into())
    }
}

fn directories(root: &Path) -> Result<Vec<std::path::PathBuf>, Box<dyn Error>> {
    let mut directories = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            directories.push(entry.path());
        }
    }
    Ok(directories)
}

fn read_directory(directory: &Path, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(directory)? {
        buffer.clear();
        File::open(entry?.path())?.read_to_end(buffer)?;
        count += 1;
    }
    Ok(count)
}

fn read_tree(root: &Path) -> Result<usize, Box<dyn Error>> {
    let mut buffer = Vec::new();
    let mut count = 0;
    for directory in directories(root)? {
        count += read_directory(&directory, &mut buffer)?;
    }
    Ok(count)
}

fn read_tree_parallel(root: &Path) -> Result<usize, Box<dyn Error>> {
    let counts = directories(root)?
        .par_iter()
        .map(|directory| read_directory(directory, &mut Vec::new()))
        .collect::<std::io::Result<Vec<_>>>()?;
    Ok(counts.into_iter().sum())
}
