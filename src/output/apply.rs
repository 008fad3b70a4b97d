//! Changing the disk, in the order that `write.rs` explains.
//!
//! Owns: creating, replacing and deleting, in parallel, and where a failure stops. Flows in: a [`Tree`] and its
//! [`Scan`]. Flows out: a changed disk, or the first error. Must not know: who owns a file; the scan decides that.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Action, OutputError};
use super::inventory::{Hash, INVENTORY, PLAN, write_line};
use super::root::Root;
use super::scan::{FILES_PER_TASK, Scan, State};
use super::storage::{Storage, replace};
use super::tree::{Tree, directory_of, name_of, prefixes};
use crate::beneath::{Directory as Open, Obstruction};
use crate::parallel;
use crate::progress::{Progress, Stage};

/// How much of a plan is collected before it is written.
const CHUNK: usize = 64 * 1024;

/// Makes the disk what the scan found wanting. The caller has made sure that nothing is in the way.
pub(super) fn apply(
    storage: &dyn Storage,
    root: &Root,
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
    storage
        .rename(&root.directory, PLAN, INVENTORY)
        .map_err(|error| root.error(Action::Write, INVENTORY, error))
}

/// Writes the plan, and waits until it is on the medium: whatever comes after must find it there.
fn write_plan(
    storage: &dyn Storage,
    root: &Root,
    tree: &dyn Tree,
    scan: &Scan,
    also: &[(String, Hash)],
) -> Result<(), OutputError> {
    replace(storage, root, &root.directory, PLAN, |file| {
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
    if let Ok(directory) = root.directory.as_file() {
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

fn first(errors: impl Iterator<Item = OutputError>) -> Result<(), OutputError> {
    let path = |error: &OutputError| match error {
        OutputError::Io { path, .. } => path.clone(),
        _ => std::path::PathBuf::new(),
    };
    errors.min_by_key(path).map_or(Ok(()), Err)
}

fn write_files(
    storage: &dyn Storage,
    root: &Root,
    tree: &dyn Tree,
    scan: &Scan,
    progress: &Progress,
) -> Result<(), OutputError> {
    let is_wanting = |state: &&State| matches!(state, State::Missing | State::Changed);
    let steps = progress.count(Stage::Writing, scan.states.iter().filter(is_wanting).count());
    let failures = Failures::default();
    let differs = |index: &usize| matches!(scan.states.get(*index), Some(State::Missing | State::Changed));
    let errors = parallel::map(&scan.directories, |directory| {
        let indices = directory
            .wanted
            .iter()
            .copied()
            .filter(differs)
            .collect::<Vec<_>>();
        if indices.is_empty() {
            return Vec::new();
        }
        let mut made = None;
        let make = || {
            made = Some(make_directory(storage, root, &directory.path)?);
            Ok(())
        };
        let failure = failures.run(make);
        let Some(open) = &made else {
            return failure.into_iter().collect();
        };
        let tasks: Vec<&[usize]> = indices.chunks(FILES_PER_TASK).collect();
        let errors = parallel::map(&tasks, |indices| {
            let mut content = Vec::new();
            let failure = indices.iter().find_map(|&index| {
                failures.run(|| {
                    content.clear();
                    tree.content(index, &mut content);
                    replace(storage, root, open, &tree.path(index), |file| {
                        storage.write(file, &content)
                    })
                })
            });
            steps.advance(indices.len());
            failure
        });
        errors.into_iter().flatten().collect()
    });
    first(errors.into_iter().flatten())
}

/// Opens a directory of the output, and makes what is missing of it. A link that appeared there since the scan is
/// an error.
pub(super) fn make_directory(
    storage: &dyn Storage,
    root: &Root,
    directory: &str,
) -> Result<Open, OutputError> {
    match root.directory.enter(directory) {
        Ok(open) => return Ok(open),
        Err(blocked) if matches!(blocked.by, Obstruction::Nothing) => {}
        Err(blocked) => return Err(root.blocked(Action::Write, blocked)),
    }
    let mut open = root
        .directory
        .enter("")
        .map_err(|blocked| root.blocked(Action::Write, blocked))?;
    for prefix in prefixes(directory) {
        let name = name_of(prefix);
        match storage.create_dir(&open, name) {
            // Another thread (or run) was faster, or it was there.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(root.error(Action::Write, prefix, error));
            }
            _ => {}
        }
        open = open.enter(name).map_err(|mut blocked| {
            blocked.at = prefix;
            root.blocked(Action::Write, blocked)
        })?;
    }
    Ok(open)
}

fn delete(storage: &dyn Storage, root: &Root, paths: &[String]) -> Result<(), OutputError> {
    let failures = Failures::default();
    let remove = |open: &Open, path: &str| match storage.remove_file(open, name_of(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(root.error(Action::Delete, path, error)),
        _ => Ok(()),
    };
    let tasks: Vec<&[String]> = paths.chunks(FILES_PER_TASK).collect();
    let errors = parallel::map(&tasks, |paths| {
        let mut directories = root.directories();
        paths.iter().find_map(|path| {
            failures.run(|| match directories.of(path) {
                Ok(open) => remove(open, path),
                // What stands nowhere is deleted.
                Err(blocked) if matches!(blocked.by, Obstruction::Nothing) => Ok(()),
                Err(blocked) => Err(root.blocked(Action::Delete, blocked)),
            })
        })
    });
    first(errors.into_iter().flatten())
}

/// Removes the directories that pruning emptied, innermost first. One that is not empty stays.
fn remove_emptied(storage: &dyn Storage, root: &Root, scan: &Scan) -> Result<(), OutputError> {
    let mut by_depth: BTreeMap<std::cmp::Reverse<usize>, Vec<&String>> = BTreeMap::new();
    for directory in &scan.perhaps_empty {
        by_depth
            .entry(std::cmp::Reverse(prefixes(directory).count()))
            .or_default()
            .push(directory);
    }
    for directory in by_depth.into_values().flatten() {
        // If it is no longer a directory, nothing of ours is left behind it.
        let Ok(around) = root.directory.enter(directory_of(directory)) else {
            continue;
        };
        match storage.remove_dir(&around, name_of(directory)) {
            Err(error) if !is_still_in_use(&error) => {
                return Err(root.error(Action::Delete, directory, error));
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
