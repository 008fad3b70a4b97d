//! The disk as a tree of files. Real paths are canonical, so one file has one path whatever links lead to it.
//!
//! A path on the command line may lead anywhere. Everything below it is read below the directory that was opened for
//! it, so a link that somebody adds in the meantime leads nowhere.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use kube_yaml::Limits;

use super::tree::{FileTree, Lead, TreeEntry, TreeError, reason};
use crate::sandbox::{Entry, RealPaths, SandboxDir};

/// The files on disk, as they are now.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Open directories by their canonical paths.
    roots: BTreeMap<PathBuf, SandboxDir>,
    real_paths: RealPaths,
}

impl Disk {
    /// The disk, of which what lies below these paths is read, and rules of Git above them.
    pub(super) fn below<'p>(named: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut disk = Self::default();
        for path in named {
            let Ok(real) = fs::canonicalize(path) else {
                continue;
            };
            let directory = if real.is_dir() {
                Some(real.as_path())
            } else {
                real.parent()
            };
            let Some(directory) = directory else { continue };
            let repository = repository(directory);
            for root in [Some(directory), repository].into_iter().flatten() {
                if !disk.roots.contains_key(root)
                    && let Ok(files) = SandboxDir::open(root)
                {
                    disk.roots.insert(root.to_owned(), files);
                }
            }
        }
        disk
    }

    /// The open directory that a canonical path lies below, the innermost, and the rest of the path.
    fn below_root<'p>(&self, path: &'p Path) -> io::Result<(&SandboxDir, &'p Path)> {
        path.ancestors()
            .find_map(|root| Some((self.roots.get(root)?, path.strip_prefix(root).ok()?)))
            .ok_or_else(|| io::Error::new(io::ErrorKind::PermissionDenied, "it is not below a named path"))
    }

    /// Opens a file at its canonical path. A pipe is opened that a shell has made and named by its descriptor
    /// (`<(command)`); any other may have no process at its other end, and would never open.
    pub(super) fn open(&self, path: &Path) -> io::Result<File> {
        if is_descriptor(path) {
            return File::open(path);
        }
        let (root, path) = self.below_root(path)?;
        root.file(path)
    }
}

/// Whether a path names what a shell has opened.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || (path.starts_with("/proc") && path.parent().is_some_and(|parent| parent.ends_with("fd")))
}

/// The root of the repository around a directory.
fn repository(directory: &Path) -> Option<&Path> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
}

impl From<Entry> for TreeEntry {
    fn from(entry: Entry) -> Self {
        match entry {
            Entry::File => Self::File,
            Entry::Directory => Self::Directory,
            Entry::Link => Self::Link,
            Entry::Other => Self::Other,
        }
    }
}

impl FileTree for Disk {
    fn root(&self) -> &Path {
        Path::new("/")
    }

    fn name(&self) -> Option<&str> {
        None
    }

    fn instead(&self) -> &'static str {
        "name another path"
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn repository(&self, directory: &Path) -> Option<PathBuf> {
        repository(directory).map(Path::to_owned)
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let listed = self.below_root(directory);
        let listed = listed.and_then(|(root, directory)| entries(root, directory));
        listed.map_err(|error| refused(&error))
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        found(fs::symlink_metadata(path).map(Entry::from).map(Some))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        bytes(self.open(path))
    }

    fn resolve(&self, path: &Path) -> Result<Lead, TreeError> {
        match fs::metadata(path) {
            Ok(metadata) => {
                // A pipe that a shell names (`/dev/fd/63`) can be read, and has no path of its own.
                let real = (!is_descriptor(path)).then(|| self.real_paths.resolve(path));
                let real = real.flatten().unwrap_or_else(|| path.to_owned());
                Ok(Lead::To(real, Entry::from(metadata).into()))
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(&error)),
            // Missing, below a file, or a loop of links: all the same to whoever wants to read it.
            Err(_) => Ok(Lead::Nowhere),
        }
    }
}

/// The entries of an open directory, sorted: it lists them in an order of its own, and findings would come in that order.
fn entries(files: &SandboxDir, directory: &Path) -> io::Result<Vec<(OsString, TreeEntry)>> {
    let entries = files.entries(directory)?;
    let entries = entries.map(|entry| entry.map(|(name, entry)| (name, entry.into())));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable();
    Ok(entries)
}

fn bytes(file: io::Result<File>) -> Result<Vec<u8>, TreeError> {
    let read = file.and_then(|file| read_at_most(file, Limits::default().document_bytes));
    read.map_err(|error| refused(&error))
}

/// The bytes of a file, as far as one beyond `most`: a device has no end.
pub(super) fn read_at_most(file: File, most: usize) -> io::Result<Vec<u8>> {
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    // Without room for all of it, it would be copied each time that the room is doubled.
    let length = file.metadata().map_or(0, |known| known.len()).min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What was found at a path. What is missing, below a file, or behind a loop of links is nothing.
fn found(entry: io::Result<Option<Entry>>) -> Result<Option<TreeEntry>, TreeError> {
    match entry {
        Ok(entry) => Ok(entry.map(TreeEntry::from)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(&error)),
        Err(_) => Ok(None),
    }
}

/// A refusal of the system as that of a tree.
pub(super) fn refused(error: &io::Error) -> TreeError {
    TreeError::new(reason(error), help_for(error))
}

/// What to do about a file that cannot be read.
pub(super) fn help_for(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::InvalidInput {
        "name a file or a directory, or pipe it: `COMMAND | spokewright check -`"
    } else {
        "check the permissions, or list the path under `exclude` in spokewright.yaml"
    }
}

/// The files below an open directory. No other file can be read.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
    files: SandboxDir,
}

impl Checkout {
    /// Opens a directory.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let root = path.canonicalize()?;
        let files = SandboxDir::open(&root)?;
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

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        entries(&self.files, directory).map_err(|error| refused(&error))
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        found(self.files.entry(path))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        if self.entry(path)? == Some(TreeEntry::Link) {
            let target = self.files.link(path).map_err(|error| refused(&error))?;
            return Ok(target.into_os_string().into_encoded_bytes());
        }
        bytes(self.files.file(path))
    }
}
