//! Changing the disk, in the order that `write.rs` explains.
//!
//! Owns: creating, replacing and deleting, in parallel, and where a failure stops. Flows in: a [`Tree`] and its
//! [`Scan`]. Flows out: a changed disk, or the first error. Must not know: whose a file is; the scan says so.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::directories::Directory;
use super::error::{Action, OutputError};
use super::inventory::{Hash, INVENTORY, PLAN, write_line};
use super::scan::{FILES_PER_TASK, Scan, State};
use super::storage::{Storage, replace};
use super::tree::{Tree, prefixes};
use crate::progress::{Progress, Stage};

/// How much of a plan is collected before it is written.
const CHUNK: usize = 64 * 1024;

/// Makes the disk what the scan found wanting. The caller has made sure that nothing stands in the way.
pub(super) fn apply(
    storage: &dyn Storage,
    root: &Path,
    tree: &dyn Tree,
    scan: &Scan,
    progress: &Progress,
) -> Result<(), OutputError> {
    delete(storage, root, &scan.leftovers)?;
    let mut carried_on = [scan.older_plan.as_slice(), &scan.kept].concat();
    carried_on.sort_unstable();
    write_plan(storage, root, tree, scan, &carried_on)?;
    write_files(storage, root, tree, scan, progress)?;
    if !scan.stale.is_empty() {
        let _deleting = progress.begin(Stage::Deleting);
        delete(storage, root, &scan.stale)?;
    }
    remove_emptied(storage, root, scan)?;
    if !scan.older_plan.is_empty() {
        write_plan(storage, root, tree, scan, &scan.kept)?;
    }
    let inventory = root.join(INVENTORY);
    storage
        .rename(&root.join(PLAN), &inventory)
        .map_err(|error| OutputError::io(Action::Write, &inventory, error))
}

/// Makes the root and what is missing on the way to it, and gives what was made, the outermost first.
pub(super) fn create_root<'r>(storage: &dyn Storage, root: &'r Path) -> Result<Vec<&'r Path>, OutputError> {
    let mut missing = Vec::new();
    let mut path = Some(root);
    while let Some(directory) = path.filter(|path| !path.as_os_str().is_empty() && !path.exists()) {
        missing.push(directory);
        path = directory.parent();
    }
    missing.reverse();
    missing
        .iter()
        .try_for_each(|directory| create_dir(storage, directory))?;
    Ok(missing)
}

/// Makes a directory, unless another thread (or run) was faster.
fn create_dir(storage: &dyn Storage, path: &Path) -> Result<(), OutputError> {
    storage.create_dir(path).or_else(|error| {
        let is_there = error.kind() == io::ErrorKind::AlreadyExists
            && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
        if is_there {
            Ok(())
        } else {
            Err(OutputError::io(Action::Write, path, error))
        }
    })
}

/// Writes the plan, and waits until it is on the medium: whatever comes after must find it there.
fn write_plan(
    storage: &dyn Storage,
    root: &Path,
    tree: &dyn Tree,
    scan: &Scan,
    also: &[(String, Hash)],
) -> Result<(), OutputError> {
    replace(storage, root, PLAN, |file| {
        let mut lines = Vec::with_capacity(CHUNK.saturating_mul(2));
        let mut also = also.iter().map(|(path, hash)| (path.as_str(), hash)).peekable();
        for (index, wanted) in scan.hashes.iter().enumerate() {
            let path = tree.path(index);
            while let Some((path, hash)) = also.next_if(|extra| *extra < (path.as_ref(), wanted)) {
                write_line(&mut lines, path, hash)?;
            }
            write_line(&mut lines, &path, wanted)?;
            if lines.len() >= CHUNK {
                storage.write(file, &lines)?;
                lines.clear();
            }
        }
        for (path, hash) in also {
            write_line(&mut lines, path, hash)?;
        }
        storage.write(file, &lines)?;
        storage.sync(file)
    })?;
    // The rename too, where the platform can say so. One that cannot loses nothing but the guarantee after a
    // power failure.
    if let Ok(directory) = File::open(root) {
        let _ = storage.sync(&directory);
    }
    Ok(())
}

/// Stops all threads at the first failure, and reports the failure with the smallest path.
#[derive(Default)]
struct Failures(AtomicBool);

impl Failures {
    fn run(&self, work: impl FnOnce() -> Result<(), OutputError>) -> Option<OutputError> {
        if self.0.load(Ordering::Relaxed) {
            return None;
        }
        work()
            .inspect_err(|_| self.0.store(true, Ordering::Relaxed))
            .err()
    }
}

fn first(errors: Vec<OutputError>) -> Result<(), OutputError> {
    let path = |error: &OutputError| match error {
        OutputError::Io { path, .. } => path.clone(),
        _ => std::path::PathBuf::new(),
    };
    errors.into_iter().min_by_key(path).map_or(Ok(()), Err)
}

fn write_files(
    storage: &dyn Storage,
    root: &Path,
    tree: &dyn Tree,
    scan: &Scan,
    progress: &Progress,
) -> Result<(), OutputError> {
    let is_wanting = |state: &&State| matches!(state, State::Missing | State::Changed);
    let steps = progress.count(Stage::Writing, scan.states.iter().filter(is_wanting).count());
    let failures = Failures::default();
    let differs = |index: &usize| matches!(scan.states.get(*index), Some(State::Missing | State::Changed));
    let errors = scan
        .directories
        .par_iter()
        .flat_map_iter(|directory| {
            let indices = directory
                .wanted
                .iter()
                .copied()
                .filter(differs)
                .collect::<Vec<_>>();
            if indices.is_empty() {
                return Vec::new();
            }
            if let Some(error) = failures.run(|| create_directory(storage, root, directory)) {
                return vec![error];
            }
            indices
                .par_chunks(FILES_PER_TASK)
                .filter_map(|indices| {
                    let mut content = Vec::new();
                    let failure = indices.iter().find_map(|&index| {
                        failures.run(|| {
                            content.clear();
                            tree.content(index, &mut content);
                            replace(storage, root, &tree.path(index), |file| {
                                storage.write(file, &content)
                            })
                        })
                    });
                    steps.advance(indices.len());
                    failure
                })
                .collect()
        })
        .collect();
    first(errors)
}

fn create_directory(storage: &dyn Storage, root: &Path, directory: &Directory) -> Result<(), OutputError> {
    if directory.exists {
        return Ok(());
    }
    prefixes(&directory.path).try_for_each(|prefix| {
        let path = root.join(prefix);
        // Not through a link that somebody put there since the scan.
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
            Ok(())
        } else {
            create_dir(storage, &path)
        }
    })
}

fn delete(storage: &dyn Storage, root: &Path, paths: &[String]) -> Result<(), OutputError> {
    let failures = Failures::default();
    let remove = |path: &String| {
        let path = root.join(path);
        match storage.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(OutputError::io(Action::Delete, &path, error))
            }
            _ => Ok(()),
        }
    };
    first(
        paths
            .par_iter()
            .with_min_len(FILES_PER_TASK)
            .filter_map(|path| failures.run(|| remove(path)))
            .collect(),
    )
}

/// Removes the directories that pruning emptied, innermost first. One that still holds something stays.
fn remove_emptied(storage: &dyn Storage, root: &Path, scan: &Scan) -> Result<(), OutputError> {
    let mut by_depth: BTreeMap<std::cmp::Reverse<usize>, Vec<&String>> = BTreeMap::new();
    for directory in &scan.perhaps_empty {
        by_depth
            .entry(std::cmp::Reverse(prefixes(directory).count()))
            .or_default()
            .push(directory);
    }
    for directory in by_depth.into_values().flatten() {
        let path = root.join(directory);
        match storage.remove_dir(&path) {
            Err(error) if !is_still_in_use(&error) => {
                return Err(OutputError::io(Action::Delete, &path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_still_in_use(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::ResourceBusy
    )
}
