//! The open directory of the output: everything that is read or changed in an output goes through it.
//!
//! Owns: the way to the directories in it, and their paths in messages. Flows in: an open directory and its path. Flows
//! out: directories, errors with full paths. Must not know: where an output may be, or what is in it.

use std::io;
use std::path::{Path, PathBuf};

use super::error::{Action, Obstacle, Offender, OutputError};
use super::tree::directory_of;
use crate::beneath::{Blocked, Directory, Obstruction};

/// The directory of an output, and what people call it.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) directory: Directory,
    path: PathBuf,
}

impl Root {
    pub(super) fn new(directory: Directory, path: PathBuf) -> Self {
        Self { directory, path }
    }

    /// Opens a path of the command line for reading, whatever links lead to it; `None` if nothing exists there.
    pub(super) fn to_read(path: &Path) -> Result<Option<Self>, OutputError> {
        match Directory::named(path) {
            Ok(directory) => Ok(Some(Self {
                directory,
                path: path.to_path_buf(),
            })),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(OutputError::io(Action::Read, path, error)),
        }
    }

    /// The name of a path in it, for people.
    pub(super) fn shown(&self, path: &str) -> PathBuf {
        if path.is_empty() {
            self.path.clone()
        } else {
            self.path.join(path)
        }
    }

    /// Its name, for people.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn error(&self, action: Action, path: &str, cause: io::Error) -> OutputError {
        OutputError::io(action, &self.shown(path), cause)
    }

    /// An obstacle to a directory.
    pub(super) fn blocked(&self, action: Action, blocked: Blocked<'_>) -> OutputError {
        let obstacle = match blocked.by {
            Obstruction::Link => Obstacle::Symlink,
            Obstruction::NoDirectory => Obstacle::NotADirectory,
            by @ (Obstruction::Nothing | Obstruction::Failure(_)) => {
                return self.error(action, blocked.at, by.into_error());
            }
        };
        OutputError::Refused {
            root: self.path.clone(),
            offenders: vec![Offender {
                path: blocked.at.to_owned(),
                obstacle,
            }],
        }
    }

    /// Its directories one after the other, the last one kept: neighbors nearly always share theirs.
    pub(super) fn directories(&self) -> Directories<'_> {
        Directories {
            root: self,
            last: None,
        }
    }
}

/// The way to the directories of paths in sorted order.
pub(super) struct Directories<'r> {
    root: &'r Root,
    last: Option<(String, Directory)>,
}

impl<'r> Directories<'r> {
    /// Whose they are.
    pub(super) fn root(&self) -> &'r Root {
        self.root
    }

    /// The directory that a path is in.
    pub(super) fn of<'p>(&mut self, path: &'p str) -> Result<&Directory, Blocked<'p>> {
        let directory = directory_of(path);
        if directory.is_empty() {
            return Ok(&self.root.directory);
        }
        let last = match self.last.take() {
            Some(last) if last.0 == directory => last,
            _ => (directory.to_owned(), self.root.directory.enter(directory)?),
        };
        Ok(&self.last.insert(last).1)
    }
}

/// Whether nothing is there.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
