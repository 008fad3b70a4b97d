//! A directory on disk as a tree of files that no link leads out of.
//!
//! Owns: reading beneath one open directory: the checkout of an Application, which has those of others next to it.
//! Flows in: the directory. Flows out: a [`FileTree`] whose links are followed as in a Git revision: as long as they
//! stay inside. Must not know: which files are input.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use kube_yaml::Limits;

use super::disk::{read_at_most, refused};
use super::tree::{FileTree, TreeEntry, TreeError};
use crate::beneath::Enclosure;

/// The files below an open directory. No other file can be read.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
    files: Enclosure,
}

impl Checkout {
    /// Opens a directory.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let root = path.canonicalize()?;
        let files = Enclosure::open(&root)?;
        Ok(Self { root, files })
    }
}

impl FileTree for Checkout {
    fn root(&self) -> &Path {
        &self.root
    }

    fn name(&self) -> Option<&str> {
        None
    }

    fn instead(&self) -> &'static str {
        "name a path inside the repository"
    }

    fn must_have_inputs(&self) -> bool {
        true
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let entries = self.files.entries(directory).and_then(|entries| {
            entries
                .map(|entry| entry.map(|(name, entry)| (name, entry.into())))
                .collect::<io::Result<Vec<_>>>()
        });
        let mut entries = entries.map_err(|error| refused(&error))?;
        entries.sort_unstable();
        Ok(entries)
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        match self.files.entry(path) {
            Ok(entry) => Ok(entry.map(TreeEntry::from)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(&error)),
            Err(_) => Ok(None),
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        if self.entry(path)? == Some(TreeEntry::Link) {
            let target = self.files.link(path).map_err(|error| refused(&error))?;
            return Ok(target.into_os_string().into_encoded_bytes());
        }
        let read = self
            .files
            .file(path)
            .and_then(|file| read_at_most(file, Limits::default().document_bytes));
        read.map_err(|error| refused(&error))
    }
}
