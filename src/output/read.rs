//! Reads an output tree back: what a run wrote, as its inventory lists it.
//!
//! Owns: telling an output tree from other directories, and reading its files in parallel. Flows in: a directory, and
//! who says whether a file is as expected. Flows out: [`TreeFiles`], with the texts of those that are not. Must not
//! know: what a file means.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use rayon::prelude::*;

use super::error::{Action, Obstacle, Offender, OutputError};
use super::inventory::{INVENTORY, Inventory, hash};
use super::record::Record;

/// A file of an output tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Path in the tree, `/` between components.
    pub path: String,
    /// The whole text; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Whether a directory is an output tree: whether it has an inventory.
#[must_use]
pub fn is_tree(root: &Path) -> bool {
    fs::symlink_metadata(root.join(INVENTORY)).is_ok_and(|metadata| metadata.is_file())
}

/// The files of a tree that was read to be compared.
#[derive(Debug, Default)]
pub struct TreeFiles {
    /// Paths of the files that hold just what was expected, sorted. Their texts are not kept.
    pub as_expected: Vec<String>,
    /// All others, sorted by path.
    pub others: Vec<TreeFile>,
}

/// The files that the inventory of `root` lists, as they are now. A listed file that is gone is left out, and so is
/// everything that is not listed: it is not ours.
///
/// `is_expected` is asked for each path with the bytes there: a tree of 100,000 files that hold what is known already
/// is read, and never held. What is not expected must have the bytes that the record lists: whoever adds a line to an
/// inventory makes no file ours.
///
/// # Errors
/// When the inventory or a file cannot be read, the inventory is damaged, or files have other bytes than it lists.
pub fn read_tree(
    root: &Path,
    is_expected: impl Fn(&str, &[u8]) -> bool + Sync,
) -> Result<TreeFiles, OutputError> {
    let record = Record::read(root)?;
    let paths: Vec<&str> = record
        .inventory()
        .into_iter()
        .flat_map(Inventory::iter)
        .map(|(path, _)| path)
        .collect();
    let read: Result<Vec<Found>, OutputError> = paths
        .par_iter()
        .map_init(Vec::new, |buffer, path| {
            if !read_file(root, path, buffer)? {
                return Ok(Found::Nothing);
            }
            Ok(if is_expected(path, buffer) {
                Found::Expected
            } else if record.is_ours(path, &hash(buffer)) {
                Found::Other(String::from_utf8_lossy(buffer).into_owned())
            } else {
                Found::Edited
            })
        })
        .collect();
    let mut files = TreeFiles::default();
    let mut offenders = Vec::new();
    for (path, found) in paths.into_iter().zip(read?) {
        let path = path.to_owned();
        match found {
            Found::Nothing => {}
            Found::Expected => files.as_expected.push(path),
            Found::Other(text) => files.others.push(TreeFile { path, text }),
            Found::Edited => offenders.push(Offender {
                path,
                obstacle: Obstacle::Edited,
            }),
        }
    }
    if offenders.is_empty() {
        return Ok(files);
    }
    Err(OutputError::Refused {
        root: root.to_path_buf(),
        offenders,
    })
}

/// What stands where the inventory lists a file.
enum Found {
    Nothing,
    Expected,
    Other(String),
    Edited,
}

/// Reads a file into `buffer`; whether there is one. Links are not followed: none of our files is one.
pub(super) fn read_file(root: &Path, path: &str, buffer: &mut Vec<u8>) -> Result<bool, OutputError> {
    let full = root.join(path);
    let failed = |error| OutputError::io(Action::Read, &full, error);
    match fs::symlink_metadata(&full) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    }
    buffer.clear();
    let read = File::open(&full).and_then(|mut file| file.read_to_end(buffer));
    read.map_err(failed)?;
    Ok(true)
}
