//! Changing the disk: creating, replacing, and deleting the files of a tree, in parallel and in the order that `write.rs`
//! explains, where the first failure stops; and single files, each written whole, atomically, and only when it changes. The
//! latter are for files that are also input, such as PlacementDecisions: no inventory makes them ours, so nothing is pruned.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Action, Obstacle, Offender, OutputError, TreeFault};
use super::inventory::{DirectoryFiles, INVENTORY, PLAN, write_line};
use super::root::{Compared, Disk, Hash, Root, compare, make, misplaced, open, replace, temporary};
use super::scan::{FILES_PER_TASK, Scan, State};
use super::tree::{Tree, directory_of, is_safe_path, name_of};
use crate::parallel;
use crate::progress::{Progress, Stage};
use crate::sandbox::{Directory, Entry, Obstruction, prefixes};

/// How much of a plan is collected before it is written.
const CHUNK: usize = 64 * 1024;

/// Makes the disk what the scan found wanting. The caller has made sure that nothing is in the way.
pub(super) fn apply(
    root: &Root<'_>,
    tree: &dyn Tree,
    scan: &Scan,
    progress: &Progress,
) -> Result<(), OutputError> {
    // First, while the older plan still lists what they are for: afterwards nothing shows that they are ours.
    delete(root, &scan.leftovers)?;
    for directory in &scan.unfinished {
        remove_if_empty(root, directory)?;
    }
    let also = [scan.older_plan.as_slice(), &scan.kept].concat();
    write_plan(root, tree, scan, &also)?;
    write_wanted(root, tree, scan, progress)?;
    // A full disk stops the run before this, so that nothing is gone that has no successor.
    if !scan.stale.is_empty() {
        let _deleting = progress.begin(Stage::Deleting);
        delete(root, &scan.stale)?;
    }
    remove_emptied(root, scan)?;
    if !scan.older_plan.is_empty() {
        write_plan(root, tree, scan, &scan.kept)?;
    }
    root.storage
        .rename(&root.directory, PLAN, INVENTORY)
        .map_err(|error| root.error(Action::Write, INVENTORY, error))
}

/// Writes the plan, and waits until it is on the medium: whatever comes after must find it there.
fn write_plan(
    root: &Root<'_>,
    tree: &dyn Tree,
    scan: &Scan,
    also: &[(String, Hash)],
) -> Result<(), OutputError> {
    replace(root, &root.directory, PLAN, |file| {
        let mut lines = Vec::with_capacity(CHUNK.saturating_mul(2));
        for (path, hash) in scan.lines(tree, also) {
            write_line(&mut lines, &path, &hash)?;
            if lines.len() >= CHUNK {
                root.storage.write(file, &lines)?;
                lines.clear();
            }
        }
        root.storage.write(file, &lines)?;
        root.storage.sync(file)
    })?;
    // The rename too, where the platform can say so. One that cannot loses nothing but the guarantee after a
    // power failure.
    if let Ok(directory) = root.directory.as_file() {
        let _ = root.storage.sync(&directory);
    }
    Ok(())
}

/// Stops all threads at the first failure, and reports the failure with the smallest path.
#[derive(Default)]
struct Failures(AtomicBool);

impl Failures {
    fn run(&self, work: impl FnOnce() -> Result<(), OutputError>) -> Option<OutputError> {
        if self.any() {
            return None;
        }
        self.note(work())
    }

    fn note(&self, result: Result<(), OutputError>) -> Option<OutputError> {
        let failed = |_: &OutputError| self.0.store(true, Ordering::Relaxed);
        result.inspect_err(failed).err()
    }

    /// Whether something may not have been done.
    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn first(errors: impl Iterator<Item = OutputError>) -> Result<(), OutputError> {
    let path = |error: &OutputError| match error {
        OutputError::Io { path, .. } => path.clone(),
        _ => PathBuf::new(),
    };
    // Which thread fails first differs from run to run; what is reported should not.
    errors.min_by_key(path).map_or(Ok(()), Err)
}

fn write_wanted(
    root: &Root<'_>,
    tree: &dyn Tree,
    scan: &Scan,
    progress: &Progress,
) -> Result<(), OutputError> {
    let differs = |index: &usize| {
        let state = scan.files.get(*index).map(|(state, _)| state);
        matches!(state, Some(State::Missing | State::Changed))
    };
    let steps = progress.count(Stage::Writing, (0..tree.len()).filter(differs).count());
    let failures = Failures::default();
    let around: BTreeSet<&str> = scan
        .directories
        .iter()
        .flat_map(|directory| prefixes(directory_of(&directory.path)))
        .collect();
    let errors = parallel::map(&scan.directories, |directory| {
        let wanted = directory.wanted.iter().copied();
        let indices: Vec<usize> = wanted.filter(differs).collect();
        if indices.is_empty() {
            return Vec::new();
        }
        // Windows renames no directory in which anything is open (`write`). One that other wanted directories are in
        // cannot appear last, because they are filled at the same time.
        let is_new = cfg!(unix) && !directory.exists && !around.contains(directory.path.as_str());
        if failures.any() {
            return Vec::new();
        }
        let ground = match Ground::make(root, directory, is_new) {
            Ok(ground) => ground,
            Err(error) => return failures.note(Err(error)).into_iter().collect(),
        };
        let tasks: Vec<&[usize]> = indices.chunks(FILES_PER_TASK).collect();
        let errors = parallel::map(&tasks, |indices| {
            let mut content = Vec::new();
            let failure = indices.iter().find_map(|&index| {
                failures.run(|| {
                    content.clear();
                    tree.content(index, &mut content);
                    ground.write(root, &tree.path(index), &content)
                })
            });
            steps.advance(indices.len());
            failure
        });
        let mut errors: Vec<OutputError> = errors.into_iter().flatten().collect();
        let names = || indices.iter().map(|&index| tree.path(index));
        errors.extend(if failures.any() {
            ground.abandon(root, names());
            None
        } else {
            failures.note(ground.finish(root, &directory.path, names()))
        });
        errors
    });
    first(errors.into_iter().flatten())
}

/// Where the files of one directory are written.
struct Ground {
    /// The directory, or the one that will be it.
    open: Directory,
    /// If it will be it: the directory around it, and its temporary name there.
    unfinished: Option<(Directory, String)>,
}

impl Ground {
    /// Opens a directory of the output. One that is new is made under a temporary name: nobody else writes into it, so
    /// its files need no temporary names, and no rename each.
    fn make(root: &Root<'_>, directory: &DirectoryFiles, is_new: bool) -> Result<Self, OutputError> {
        let path = directory.path.as_str();
        if is_new {
            let error = |cause| root.error(Action::Write, path, cause);
            let around = make_directory(root, directory_of(path))?;
            let name = temporary(path);
            match root.storage.create_dir(&around, &name) {
                Ok(()) => {
                    let entered = around.enter(&name).map_err(|blocked| blocked.by.into_error());
                    let open = entered.map_err(|cause| {
                        let _ = root.storage.remove_dir(&around, &name);
                        error(cause)
                    })?;
                    let unfinished = Some((around, name));
                    return Ok(Self { open, unfinished });
                }
                // One that has this name and stays is not ours.
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(error(cause)),
            }
        }
        Ok(Self {
            open: make_directory(root, path)?,
            unfinished: None,
        })
    }

    fn write(&self, root: &Root<'_>, path: &str, content: &[u8]) -> Result<(), OutputError> {
        if self.unfinished.is_none() {
            return replace(root, &self.open, path, |file| root.storage.write(file, content));
        }
        root.storage
            .create(&self.open, name_of(path))
            .and_then(|mut file| root.storage.write(&mut file, content))
            .map_err(|cause| root.error(Action::Write, path, cause))
    }

    /// Gives a new directory its name. The system refuses that where anything has it by now, except an empty directory,
    /// which is replaced.
    fn finish<P: AsRef<str>>(
        self,
        root: &Root<'_>,
        directory: &str,
        written: impl Iterator<Item = P>,
    ) -> Result<(), OutputError> {
        let Some((around, name)) = &self.unfinished else {
            return Ok(());
        };
        let Err(cause) = root.storage.rename(around, name, name_of(directory)) else {
            return Ok(());
        };
        self.abandon(root, written);
        Err(match root.directory.enter(directory) {
            Err(blocked) if matches!(blocked.by, Obstruction::Link | Obstruction::NoDirectory) => {
                root.blocked(Action::Write, blocked)
            }
            _ => root.error(Action::Write, directory, cause),
        })
    }

    /// Removes a new directory that does not get all of its files. The first error is the one to report; what stays is
    /// removed by the next run.
    fn abandon<P: AsRef<str>>(self, root: &Root<'_>, written: impl Iterator<Item = P>) {
        let Some((around, name)) = self.unfinished else {
            return;
        };
        for path in written {
            let _ = root.storage.remove_file(&self.open, name_of(path.as_ref()));
        }
        drop(self.open);
        let _ = root.storage.remove_dir(&around, &name);
    }
}

/// Opens a directory of the output, and makes what is missing of it. A link that appeared there since the scan is
/// an error.
fn make_directory(root: &Root<'_>, directory: &str) -> Result<Directory, OutputError> {
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
        make(root.storage, &open, name).map_err(|error| root.error(Action::Write, prefix, error))?;
        open = open.enter(name).map_err(|mut blocked| {
            blocked.at = prefix;
            root.blocked(Action::Write, blocked)
        })?;
    }
    Ok(open)
}

fn delete(root: &Root<'_>, paths: &[String]) -> Result<(), OutputError> {
    let failures = Failures::default();
    let remove = |open: &Directory, path: &str| match root.storage.remove_file(open, name_of(path)) {
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
fn remove_emptied(root: &Root<'_>, scan: &Scan) -> Result<(), OutputError> {
    let mut directories: Vec<&String> = scan.perhaps_empty.iter().collect();
    directories.sort_by_key(|directory| Reverse(prefixes(directory).count()));
    for directory in directories {
        remove_if_empty(root, directory)?;
    }
    Ok(())
}

fn remove_if_empty(root: &Root<'_>, directory: &str) -> Result<(), OutputError> {
    // If it is no longer a directory, nothing of ours is left behind it.
    let Ok(around) = root.directory.enter(directory_of(directory)) else {
        return Ok(());
    };
    match root.storage.remove_dir(&around, name_of(directory)) {
        Err(error) if !is_still_in_use(&error) => Err(root.error(Action::Delete, directory, error)),
        _ => Ok(()),
    }
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

/// The result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrittenFiles {
    /// Files that were written.
    pub written: usize,
    /// Files that already had the wanted text.
    pub unchanged: usize,
}

/// Writes whole files, with the directories around them: below `root`, through no link and into no `.git`. The paths
/// have
/// `/` between components.
///
/// # Errors
/// The first file that cannot be written, or must not.
pub fn write_files(root: &Path, texts: &BTreeMap<String, String>) -> Result<WrittenFiles, OutputError> {
    let mut done = WrittenFiles::default();
    if let Some(path) = texts.keys().find(|path| !is_safe_path(path)) {
        return Err(OutputError::Tree {
            path: path.clone(),
            fault: TreeFault::Unsafe,
        });
    }
    // A final `/` would make the system follow a link before anybody has looked at it.
    let root = root.components().collect::<PathBuf>();
    if texts.is_empty() {
        return Ok(done);
    }
    let Some((root, _)) = open(&root, None, Some(&Disk))? else {
        return Ok(done);
    };
    for (path, text) in texts {
        if write_file(&root, path, text)? {
            done.written = done.written.saturating_add(1);
        } else {
            done.unchanged = done.unchanged.saturating_add(1);
        }
    }
    Ok(done)
}

/// The paths below a directory that already exist.
///
/// # Errors
/// A file that cannot be read, or must not be.
pub fn existing_files<'p>(
    root: &Path,
    paths: impl IntoIterator<Item = &'p String>,
) -> Result<Vec<String>, OutputError> {
    let Some(root) = Root::to_read(root)? else {
        return Ok(Vec::new());
    };
    let mut existing = Vec::new();
    for path in paths {
        let directory = match root.directory.enter(directory_of(path)) {
            Ok(directory) => directory,
            Err(blocked) if matches!(blocked.by, Obstruction::Nothing) => continue,
            Err(blocked) => return Err(root.blocked(Action::Read, blocked)),
        };
        let entry = directory.entry(name_of(path));
        let entry = entry.map_err(|error| root.error(Action::Read, path, error))?;
        existing.extend(entry.map(|_| path.clone()));
    }
    Ok(existing)
}

/// Writes one whole file that the user names, in an existing directory, regardless of the links that lead to it. The
/// file itself must not be a link, nor be in a `.git`.
///
/// # Errors
/// It cannot be written, or must not be.
pub fn write_named(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let failed = |error| OutputError::io(Action::Write, path, error);
    // Such as `..` or `/`: there is nothing to replace.
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(failed(io::Error::from(io::ErrorKind::InvalidInput)));
    };
    if let Some(fault) = misplaced(path, None) {
        return Err(OutputError::root(path, fault));
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    let directory = Directory::named(parent).map_err(failed)?;
    let root = Root::new(directory, parent.to_path_buf(), &Disk);
    let directory = make_directory(&root, "")?;
    entry_at(&root, &directory, name)?;
    replace(&root, &directory, name, |file| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        fill(&mut file)?;
        file.flush()
    })
}

/// Whether a file had to be written.
fn write_file(root: &Root<'_>, path: &str, text: &str) -> Result<bool, OutputError> {
    let name = name_of(path);
    let directory = make_directory(root, directory_of(path))?;
    // A file with these bytes keeps its modification time, or a watching tool runs for nothing.
    if entry_at(root, &directory, path)? {
        let compared = directory
            .open(name)
            .and_then(|file| compare(file, text.as_bytes(), &mut Vec::new()));
        if matches!(compared, Ok(Compared::Same)) {
            return Ok(false);
        }
    }
    replace(root, &directory, path, |file| file.write_all(text.as_bytes())).map(|()| true)
}

/// Whether there is a file at a path, in its directory; anything else is not replaced.
fn entry_at(root: &Root<'_>, directory: &Directory, path: &str) -> Result<bool, OutputError> {
    let obstacle = match directory.entry(name_of(path)) {
        Ok(None) => return Ok(false),
        Ok(Some(Entry::File)) => return Ok(true),
        Ok(Some(Entry::Link)) => Obstacle::Symlink,
        Ok(Some(Entry::Directory)) => Obstacle::Directory,
        Ok(Some(Entry::Other)) => Obstacle::NotAFile,
        Err(error) => return Err(root.error(Action::Read, path, error)),
    };
    Err(root.refused(vec![Offender::new(path, obstacle)]))
}
