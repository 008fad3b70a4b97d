//! Reads an output tree back: the files that a run wrote, as its inventory lists them, and those that another tree would
//! replace or remove.

use std::io::Read as _;
use std::path::Path;

use super::error::{Action, Obstacle, Offender, OutputError};
use super::inventory::{INVENTORY, Inventory, Record, position, stale};
use super::root::{Directories, Root, open_to_read, sha256};
use super::scan::{FILES_PER_TASK, unexpected};
use super::tree::{Tree, name_of};
use crate::diagnostic::Finding;
use crate::parallel;
use crate::sandbox::{Directory, Entry, Obstruction};

/// A file of an output tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Path in the tree, `/` between components.
    pub path: String,
    /// The whole text; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Whether a directory is an output tree: whether it has an inventory.
pub fn is_tree(root: &Path) -> bool {
    Directory::named(root).is_ok_and(|root| matches!(root.entry(INVENTORY), Ok(Some(Entry::File))))
}

/// The inventory of an output as it is on disk; `None` if there is none that can be read.
pub fn inventory_bytes(root: &Path, within: Option<&Path>) -> Option<Vec<u8>> {
    let root = open_to_read(root, within).ok()??;
    let mut bytes = Vec::new();
    let read = read_file(&mut root.directories(), INVENTORY, &mut bytes).ok()?;
    (read == InFile::Read).then_some(bytes)
}

/// The paths that an inventory lists, and that a tree which speaks for them does not want, sorted; none if it is damaged.
pub fn unwanted(tree: &dyn Tree, inventory: &[u8]) -> Vec<String> {
    Inventory::from_bytes(inventory).map_or_else(Vec::new, |list| stale(tree, &list))
}

/// The files of a tree that was read to be compared.
#[derive(Debug, Default)]
pub struct TreeFiles {
    /// Paths of the files with exactly the expected bytes, sorted. Their texts are not kept.
    pub as_expected: Vec<String>,
    /// All others, sorted by path.
    pub others: Vec<TreeFile>,
}

/// The files that the inventory of `root`, which must be `within` another directory, lists, as they are now. A listed
/// file that is gone is left out, and so is everything that is not listed: it is not ours.
///
/// `is_expected` is called for each path with its bytes: a tree of 100,000 files whose contents are already known is
/// read, but never held in memory. An unexpected file must have the bytes that the record lists: adding a line to an
/// inventory does not make a file ours.
///
/// # Errors
/// When the directory lies elsewhere, the inventory or a file cannot be read, the inventory is damaged, or files have
/// other bytes than it lists.
pub fn read_tree(
    root: &Path,
    within: Option<&Path>,
    is_expected: impl Fn(&str, &[u8]) -> bool + Sync,
) -> Result<TreeFiles, OutputError> {
    let Some(root) = &open_to_read(root, within)? else {
        return Ok(TreeFiles::default());
    };
    let record = Record::read(root)?;
    let inventory = record.inventory.iter().flat_map(Inventory::iter);
    let paths: Vec<&str> = inventory.map(|(path, _)| path).collect();
    let tasks: Vec<&[&str]> = paths.chunks(FILES_PER_TASK).collect();
    let read = parallel::map(&tasks, |paths| -> Result<_, OutputError> {
        let (mut buffer, mut directories) = (Vec::new(), root.directories());
        let (mut files, mut offenders) = (TreeFiles::default(), Vec::new());
        for path in *paths {
            match read_file(&mut directories, path, &mut buffer)? {
                InFile::Nothing => {}
                // It may be a directory on the way.
                InFile::Link(path) => offenders.push(Offender::new(&path, Obstacle::Symlink)),
                // These need no record: whoever wrote them wrote what we would.
                InFile::Read if is_expected(path, &buffer) => files.as_expected.push((*path).to_owned()),
                InFile::Read if record.is_ours(path, &sha256(&buffer)) => files.others.push(TreeFile {
                    path: (*path).to_owned(),
                    text: String::from_utf8_lossy(&buffer).into_owned(),
                }),
                InFile::Read => offenders.push(Offender::new(path, Obstacle::Edited)),
            }
        }
        Ok((files, offenders))
    });
    let (mut files, mut offenders) = (TreeFiles::default(), Vec::new());
    for found in read {
        let (found, in_the_way) = found?;
        files.as_expected.extend(found.as_expected);
        files.others.extend(found.others);
        offenders.extend(in_the_way);
    }
    // A link on the way to several files is found at each of them.
    offenders.sort_unstable();
    // A link on the way is found once for each file behind it.
    offenders.dedup();
    if offenders.is_empty() {
        return Ok(files);
    }
    Err(root.refused(offenders))
}

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InFile {
    /// It is in the buffer.
    Read,
    /// There is none.
    Nothing,
    /// A link is at this path: none of our files is one, nor is behind one.
    Link(String),
}

/// Reads a file into `buffer`, through no link.
fn read_file(
    directories: &mut Directories<'_>,
    path: &str,
    buffer: &mut Vec<u8>,
) -> Result<InFile, OutputError> {
    let root = directories.root;
    let failed = |error| root.error(Action::Read, path, error);
    let directory = match directories.of(path) {
        Ok(directory) => directory,
        Err(blocked) => {
            return match blocked.by {
                Obstruction::Nothing | Obstruction::NoDirectory => Ok(InFile::Nothing),
                Obstruction::Link => Ok(InFile::Link(blocked.at.to_owned())),
                Obstruction::Failure(error) => Err(failed(error)),
            };
        }
    };
    let name = name_of(path);
    match directory.entry(name) {
        Ok(Some(Entry::File)) => {}
        Ok(Some(Entry::Link)) => return Ok(InFile::Link(path.to_owned())),
        Ok(_) => return Ok(InFile::Nothing),
        Err(error) => return Err(failed(error)),
    }
    buffer.clear();
    let read = directory.open(name).and_then(|mut file| file.read_to_end(buffer));
    read.map_err(failed)?;
    Ok(InFile::Read)
}

/// The files of the last complete run into a directory.
#[derive(Debug)]
pub struct Earlier {
    root: Option<Root<'static>>,
    record: Record,
}

impl Earlier {
    /// Looks into a directory, which must be `within` another; one without an inventory has nothing of ours.
    ///
    /// # Errors
    /// The directory is elsewhere, or the inventory cannot be read or is damaged.
    pub fn open(root: &Path, within: Option<&Path>) -> Result<Self, OutputError> {
        let root = open_to_read(root, within)?;
        let record = root.as_ref().map(Record::read).transpose()?.unwrap_or_default();
        Ok(Self { root, record })
    }

    /// Whether a record, which may be newer, lists the same files with the same bytes in the part that `tree` speaks for.
    pub(super) fn is_current(&self, tree: &dyn Tree, record: &Record) -> bool {
        let [judged, current] = [&self.record, record].map(|record| {
            let inventory = record.inventory.iter().flat_map(Inventory::iter);
            inventory.filter(|(path, _)| tree.owns(path))
        });
        judged.eq(current)
    }

    /// The paths of the files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let inventory = self.record.inventory.iter();
        inventory.flat_map(Inventory::iter).map(|(path, _)| path)
    }

    /// What is in the directory although neither `tree` nor the record nor `exceptions` list it; nothing if no run has
    /// written there.
    pub fn unexpected(&self, tree: &dyn Tree, exceptions: &[String]) -> Vec<Finding> {
        // Without an inventory, no run has written here, and everything would be unexpected: the first run is
        // allowed.
        let root = self.root.as_ref().filter(|_| self.record.inventory.is_some());
        let Some(root) = root else { return Vec::new() };
        let mut offenders = unexpected(root, tree, &self.record, exceptions);
        offenders.sort_unstable();
        let findings = offenders.iter().map(|offender| offender.finding(&root.path));
        findings.collect()
    }

    /// The text of a file that `tree` would replace or remove, as it is now; `None` for one that stays as it is, is another
    /// part's, or is gone. Only files that would be replaced are read: the record has the hashes of the others.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn replaced(&self, tree: &dyn Tree, path: &str) -> Result<Option<String>, OutputError> {
        if !tree.owns(path) {
            return Ok(None);
        }
        let mut buffer = Vec::new();
        if let Some(index) = position(tree, path) {
            tree.content(index, &mut buffer);
            let wanted = sha256(&buffer);
            let inventory = self.record.inventory.as_ref();
            if inventory.is_some_and(|inventory| inventory.hashes(path).any(|listed| *listed == wanted)) {
                return Ok(None);
            }
        }
        let Some(root) = &self.root else { return Ok(None) };
        let found = read_file(&mut root.directories(), path, &mut buffer)?;
        // A file that is no longer ours stops the writing, which reports it.
        Ok((found == InFile::Read).then(|| String::from_utf8_lossy(&buffer).into_owned()))
    }
}
