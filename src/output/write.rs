//! Makes a directory contain exactly a wanted tree, without ever losing a byte that is not ours.
//!
//! What an interrupted run leaves depends on the order of the steps below. What the files are for does not matter here.
//!
//! # Who owns a file?
//!
//! A file is ours if the *record* lists its path with the hash of its current bytes. The record is the inventory and,
//! while a run is under way or after one was interrupted, the plan next to it. Only files of ours are overwritten or
//! deleted. A file that already has the wanted bytes is never touched, regardless of who wrote it, and is on record
//! from then on. Any other file in a place where we would write stops the run before its first write.
//!
//! The record is a file of the repository, so a stranger may have written it. A file is ours only if it also has the shape
//! of ours ([`Tree::has_shape`]). In an output that must contain nothing else ([`Output::exceptions`]), anything else stops
//! the run as well.
//!
//! # The steps of a run, and what an interruption leaves
//!
//! First the root is made and locked; if two runs start at once, the second waits. Then the run reads the record, the
//! directories, and every file that is wanted or on record. If something is in the way, the run ends here. If nothing
//! differs, the run is over without having written anything, and a root that was made for the lock is removed again.
//! Otherwise:
//!
//! | step | what is on disk when the run dies in it | why the next run is right |
//! |---|---|---|
//! | 1. make the root | some directories on the way to it | it makes the others |
//! | 2. remove temporary files and directories of a killed run | the older plan, which still lists their targets | it removes the others |
//! | 3. write the plan: what is wanted, and what an older plan lists; wait for the medium | the old plan, or the new one, and a temporary file | rename is atomic: both are complete, both list all that is there |
//! | 4. make directories; write files, each to a temporary file that is renamed; a new directory is filled under a temporary name and renamed | each wanted file is old, new or missing, never torn; a new directory is missing or has all of its files | old ones are in the inventory (or carried on by the plan), new ones in the plan |
//! | 5. delete stale files | some are gone | those left are on record |
//! | 6. remove emptied directories | some are left | their former files are on record, so they are looked at |
//! | 7. if the plan carried more than what is wanted, write it again without that | as in 3; the disk holds what is wanted and nothing else of ours | as in 3 |
//! | 8. rename the plan to the inventory | one of both | both describe the disk |
//!
//! So at every moment each of our files is whole, and record and bytes agree. A next run with *another* input compares
//! with the same record, and its plan carries over what the older one lists (step 3), so this is true for any number of
//! interrupted runs. Files are written before stale ones are deleted: a full disk stops the run
//! before anything is gone. The same is true of a power failure, as far as the medium keeps the order of synced writes:
//! the plan is synced, single files are not (100,000 syncs would take minutes). Such a
//! file may come back empty; its hash is then wrong, the next run names it, and `--force` writes it again.
//!
//! The name of a temporary file has `TEMPORARY_PREFIX`, a mark of the path that it is for, and the process.
//! Only those whose mark belongs to a path in the plan are removed; a file of yours with the same prefix stays.
//!
//! # New directories
//!
//! Where a directory is missing, and no wanted file is further below it, it is made next to its place under such a name,
//! with the mark of its own path. Its files get their names at once, and the directory gets its own when all are there.
//! The rename destroys nothing: if something has the name by then, the system refuses, the temporary directory is
//! removed, and the run ends with an error; only an empty directory is replaced. A full disk leaves no temporary
//! directory. One that a killed run left is removed if its mark belongs to the directory of a path in the plan, and if
//! everything in it is a file that the plan lists there; one with anything else in it is yours, and stays as it is.
//! Windows renames no directory while anything in it is open, by us or by another program (a scanner, an indexer): there a
//! new directory is made in its place, and its files get their names one by one, as in one that was there.
//!
//! # Parts of a tree
//!
//! A tree may be responsible for only a part of the directory ([`Tree::owns`]: `--clusters`, `--shard`). The files that
//! the record lists for the other parts are then neither wanted nor stale: their lines are carried over unchanged
//! through the plan of step 3, that of step 7, and the inventory. If an interrupted run of another part left two hashes
//! for a path, the one that the file has is carried over; if the file is gone, the inventory's, so that the other
//! part's next run still finds the directory to remove. So the parts, run one after the other in any order, leave
//! exactly the bytes that one run over the whole leaves. Files that belong to no part (the root's list of clusters) are
//! the same in each.
//!
//! Where the system has no locks (`root`), two runs at once into one directory are the caller's mistake; they cannot
//! tear a file, but one of them fails.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::apply::apply;
use super::error::{Offender, OutputError};
use super::inventory::{FilesByDirectory, INVENTORY, PLAN, Record};
use super::read::Earlier;
use super::root::{Disk, Root, Storage, open};
use super::scan::{Scan, State, scan};
use super::tree::Tree;
use crate::progress::Progress;

/// How to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Overwrite and delete files that were edited by hand, and overwrite foreign files. Directories, links, and
    /// what cannot be read stay in the way.
    pub force: bool,
    /// Compare only: nothing on disk is touched.
    pub check: bool,
    /// Another run in the directory is an error, instead of waited for.
    pub no_wait: bool,
}

/// How a file differs from what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It is wanted and not there.
    Missing,
    /// It is there with other bytes.
    Changed,
    /// It is there and no longer wanted.
    Stale,
}

/// One file that differs, or differed before it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// Path inside the output, with `/` between components. The inventory and a leftover plan count too.
    pub path: String,
    /// How it differs.
    pub kind: ChangeKind,
}

/// The results of a run. They are the same for any number of threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Files of the tree that were written; with [`Options::check`], that would be.
    pub written: usize,
    /// Files of the tree that already had the wanted bytes and were not written.
    pub unchanged: usize,
    /// Files that were deleted because they are no longer wanted; with [`Options::check`], that would be.
    pub deleted: usize,
    /// Everything that differed, in byte order of the paths. Empty exactly when nothing had to be done.
    pub differing: Vec<Change>,
    /// With [`Options::check`] only: what would stop a run with the same `force`. Otherwise that is an error.
    pub offenders: Vec<Offender>,
}

/// Where a tree goes.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// The directory.
    pub root: &'a Path,
    /// The directory that it must stay within, wherever links lead: what a file of the input names stays in its
    /// repository.
    pub within: Option<&'a Path>,
    /// The files that may be in it besides ours; none: any may.
    pub exceptions: Option<&'a [String]>,
    /// The files of an earlier run that the caller has judged. If another run has written other ones since, nothing is
    /// written: what the caller allowed may be something else by now.
    pub judged: Option<&'a Earlier>,
}

impl<'a> Output<'a> {
    /// A directory, wherever it is.
    pub fn anywhere(root: &'a Path) -> Self {
        Self {
            root,
            within: None,
            exceptions: None,
            judged: None,
        }
    }
}

/// Makes `root` contain exactly the files of `tree`, in addition to files that are not ours; or only compares.
///
/// The root is created if it does not exist, with its parents. An existing directory without an inventory is fine: its
/// files are foreign. Only files that differ are written; all others keep their modification time. When nothing
/// differs, nothing at all is written. The top of this function's source file explains ownership and interruptions.
///
/// # Errors
/// Before anything is written: the root is a file or a link, the record cannot be trusted, the tree breaks its
/// rules, or something is in the way (all of it is named). Later: the operating system refuses to write or
/// delete, such as on a full disk; every file is whole then, and a next run completes the work.
pub fn write(root: &Path, tree: &dyn Tree, options: Options) -> Result<Summary, OutputError> {
    write_into(Output::anywhere(root), tree, options, &Progress::default())
}

/// The same for a root that must stay within a directory. Says how far it is.
///
/// # Errors
/// Those of [`write()`], and that the root leaves the directory.
pub fn write_into(
    output: Output<'_>,
    tree: &dyn Tree,
    options: Options,
    progress: &Progress,
) -> Result<Summary, OutputError> {
    run(&Disk, output, tree, options, progress)
}

/// Waits until no other run is writing into an output, so that the tree in it is whole.
///
/// # Errors
/// [`OutputError::Busy`] with [`Options::no_wait`]; and those of an output that cannot be opened.
pub fn wait(output: Output<'_>, options: Options) -> Result<(), OutputError> {
    let root = open(output.root, output.within, None)?.map(|(root, _)| root);
    let reading = Options {
        check: true,
        ..options
    };
    root.map(|root| lock(&root, reading)).transpose()?;
    Ok(())
}

#[cfg(test)]
pub(super) fn write_with(
    storage: &dyn Storage,
    root: &Path,
    tree: &dyn Tree,
    options: Options,
) -> Result<Summary, OutputError> {
    let output = Output::anywhere(root);
    run(storage, output, tree, options, &Progress::default())
}

fn run(
    storage: &dyn Storage,
    output: Output<'_>,
    tree: &dyn Tree,
    options: Options,
    progress: &Progress,
) -> Result<Summary, OutputError> {
    // A final `/` would make the system follow a link before anybody has looked at it.
    let path = &output.root.components().collect::<PathBuf>();
    let within = output.within;
    let output = Output { root: path, ..output };
    if options.check {
        let root = open(path, within, None)?.map(|(root, _)| root);
        let _lock = root.as_ref().map(|root| lock(root, options)).transpose()?;
        return compare_or_write((output, root.as_ref()), tree, options, progress);
    }
    let (root, made, _lock) = loop {
        let Some((root, made)) = open(path, within, Some(storage))? else {
            continue;
        };
        let lock = lock(&root, options)?;
        if lock.as_ref().is_none_or(|lock| stands_at(lock, path)) {
            break (root, made, lock);
        }
    };
    let result = compare_or_write((output, Some(&root)), tree, options, progress);
    if !result.as_ref().is_ok_and(|summary| !summary.differing.is_empty()) {
        // It was made for the lock. One that holds something stays; Windows removes none that is open.
        drop(root);
        for (around, name) in made.into_iter().rev() {
            let _ = storage.remove_dir(&around, &name);
        }
    }
    result
}

/// The run under the lock.
fn compare_or_write(
    (output, root): (Output<'_>, Option<&Root<'_>>),
    tree: &dyn Tree,
    options: Options,
    progress: &Progress,
) -> Result<Summary, OutputError> {
    let record = || root.map_or_else(|| Ok(Record::default()), Record::read);
    // The record is read under the lock: what an earlier look saw may be another run's by now.
    let (directories, record) = rayon::join(|| FilesByDirectory::new(tree), record);
    let (directories, record) = (directories?, record?);
    if output
        .judged
        .is_some_and(|judged| !judged.is_current(tree, &record))
    {
        return Err(OutputError::Overtaken {
            root: output.root.to_path_buf(),
        });
    }
    let mut scan = scan((root, output.exceptions), tree, &record, directories, progress);
    // `--force` overrides an edit, and never a link or a directory: what they lead to was not named.
    scan.offenders
        .retain(|offender| !(options.force && offender.obstacle.yields_to_force()));
    if !options.check && !scan.offenders.is_empty() {
        return Err(OutputError::Refused {
            root: output.root.to_path_buf(),
            offenders: scan.offenders,
        });
    }
    let mut summary = summarise(tree, &record, &scan);
    if options.check {
        summary.offenders = scan.offenders;
    } else if let Some(root) = root
        && !summary.differing.is_empty()
    {
        apply(root, tree, &scan, progress)?;
    }
    Ok(summary)
}

fn summarise(tree: &dyn Tree, record: &Record, scan: &Scan) -> Summary {
    let wanted = scan.files.iter().enumerate().filter_map(|(index, (state, _))| {
        let kind = match state {
            State::Missing => ChangeKind::Missing,
            State::Changed => ChangeKind::Changed,
            State::Same | State::Blocked => return None,
        };
        let path = tree.path(index).into_owned();
        Some(Change { path, kind })
    });
    let differing: Vec<Change> = wanted.collect();
    let unchanged = scan.files.iter().filter(|(state, _)| *state == State::Same);
    let mut summary = Summary {
        written: differing.len(),
        unchanged: unchanged.count(),
        deleted: scan.stale.len(),
        differing,
        offenders: Vec::new(),
    };
    let leftovers = scan.stale.iter().chain(&scan.leftovers).chain(&scan.unfinished);
    summary.differing.extend(leftovers.map(|path| Change {
        path: path.clone(),
        kind: ChangeKind::Stale,
    }));
    summary.differing.extend(bookkeeping(tree, record, scan));
    summary.differing.sort_unstable();
    summary
}

/// How inventory and plan differ from what they should be: exactly what is wanted, and absent.
fn bookkeeping(tree: &dyn Tree, record: &Record, scan: &Scan) -> Vec<Change> {
    let inventory = match &record.inventory {
        None => Some(ChangeKind::Missing),
        // Where something is in the way, the wanted inventory is not known.
        Some(_) if scan.files.iter().any(|(state, _)| *state == State::Blocked) => None,
        Some(inventory) if inventory.holds(scan.lines(tree, &scan.kept).into_iter()) => None,
        Some(_) => Some(ChangeKind::Changed),
    };
    let inventory = inventory.map(|kind| Change {
        path: INVENTORY.to_owned(),
        kind,
    });
    let plan = record.plan.as_ref().map(|_| Change {
        path: PLAN.to_owned(),
        kind: ChangeKind::Stale,
    });
    inventory.into_iter().chain(plan).collect()
}

/// Takes the lock of an existing directory, and waits for its holder; with `no_wait`, a held lock is an error. A run that
/// only compares has it together with others that do, one that writes alone. The directory may be gone by then:
/// [`stands_at`] checks that.
fn lock(root: &Root<'_>, options: Options) -> Result<Option<File>, OutputError> {
    let Ok(directory) = root.directory.as_file() else {
        // The next reader or writer reports why.
        return Ok(None);
    };
    let tried = if options.check {
        directory.try_lock_shared()
    } else {
        directory.try_lock()
    };
    match tried {
        Ok(()) => {}
        Err(TryLockError::Error(_)) => return Ok(None),
        Err(TryLockError::WouldBlock) if options.no_wait => {
            return Err(OutputError::Busy {
                root: root.path.clone(),
            });
        }
        Err(TryLockError::WouldBlock) => {
            // What cannot be waited for is not there to be had.
            let _ = if options.check {
                directory.lock_shared()
            } else {
                directory.lock()
            };
        }
    }
    Ok(Some(directory))
}

/// Whether what is locked is what a path leads to now: a run that wrote nothing removes the root that it made.
pub(super) fn stands_at(lock: &File, root: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let locked = lock.metadata().map(identity);
        std::fs::metadata(root).map(identity).ok() == locked.ok()
    }
    #[cfg(not(unix))]
    {
        let _ = (lock, root);
        true
    }
}
