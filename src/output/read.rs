//! Reads an output tree back: what a run wrote, as its inventory lists it.

use std::fs;
use std::io;
use std::path::Path;

use rayon::prelude::*;

use super::error::{Action, OutputError};
use super::inventory::{INVENTORY, Inventory};

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

/// The files that the inventory of `root` lists, as they are now, sorted by path. A listed file that is gone is
/// left out, and so is everything that is not listed: it is not ours.
///
/// # Errors
/// When the inventory or a file cannot be read, or the inventory is damaged.
pub fn read_tree(root: &Path) -> Result<Vec<TreeFile>, OutputError> {
    let inventory = Inventory::read(&root.join(INVENTORY))?.unwrap_or_default();
    let paths: Vec<&str> = inventory.iter().map(|(path, _)| path).collect();
    let files: Result<Vec<Option<TreeFile>>, OutputError> =
        paths.par_iter().map(|path| read_file(root, path)).collect();
    Ok(files?.into_iter().flatten().collect())
}

/// Links are not followed: none of our files is one.
fn read_file(root: &Path, path: &str) -> Result<Option<TreeFile>, OutputError> {
    let full = root.join(path);
    let failed = |error| OutputError::io(Action::Read, &full, error);
    match fs::symlink_metadata(&full) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let bytes = fs::read(&full).map_err(failed)?;
    Ok(Some(TreeFile {
        path: path.to_owned(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }))
}
