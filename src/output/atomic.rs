//! Single files below a directory, each written whole, atomically and only when it changes.
//!
//! Owns: writing such files. Flows in: a directory, paths in it and texts. Flows out: changed files, and how many. Must
//! not know: what is in them.
//!
//! For files that are also input, such as PlacementDecisions: no inventory makes them ours, so nothing is pruned.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::apply::make_directory;
use super::compare::{Compared, compare};
use super::error::{Action, Obstacle, Offender, OutputError, TreeFault};
use super::place::{misplaced, open};
use super::root::Root;
use super::storage::{Disk, replace};
use super::tree::{directory_of, is_safe_path, name_of};
use crate::beneath::{Directory, Entry, Obstruction};

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
        if entry
            .map_err(|error| root.error(Action::Read, path, error))?
            .is_some()
        {
            existing.push(path.clone());
        }
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
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(failed(io::Error::from(io::ErrorKind::InvalidInput)));
    };
    if let Some(fault) = misplaced(path, None) {
        let path = path.to_path_buf();
        return Err(OutputError::Root { path, fault });
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    let directory = Directory::named(parent).map_err(failed)?;
    let root = Root::new(directory, parent.to_path_buf());
    let directory = make_directory(&Disk, &root, "")?;
    entry_at(&root, &directory, name)?;
    replace(&Disk, &root, &directory, name, |file| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        fill(&mut file)?;
        file.flush()
    })
}

/// Whether a file had to be written.
fn write_file(root: &Root, path: &str, text: &str) -> Result<bool, OutputError> {
    let name = name_of(path);
    let directory = make_directory(&Disk, root, directory_of(path))?;
    if entry_at(root, &directory, path)? {
        let compared = directory
            .open(name)
            .and_then(|file| compare(file, text.as_bytes(), &mut Vec::new()));
        if matches!(compared, Ok(Compared::Same)) {
            return Ok(false);
        }
    }
    replace(&Disk, root, &directory, path, |file| {
        file.write_all(text.as_bytes())
    })
    .map(|()| true)
}

/// Whether there is a file at a path, in its directory; anything else is not replaced.
fn entry_at(root: &Root, directory: &Directory, path: &str) -> Result<bool, OutputError> {
    let obstacle = match directory.entry(name_of(path)) {
        Ok(None) => return Ok(false),
        Ok(Some(Entry::File)) => return Ok(true),
        Ok(Some(Entry::Link)) => Obstacle::Symlink,
        Ok(Some(Entry::Directory)) => Obstacle::Directory,
        Ok(Some(Entry::Other)) => Obstacle::NotAFile,
        Err(error) => return Err(root.error(Action::Read, path, error)),
    };
    Err(OutputError::Refused {
        root: root.path().to_path_buf(),
        offenders: vec![Offender {
            path: path.to_owned(),
            obstacle,
        }],
    })
}
