//! The disk as a tree of files.
//!
//! Owns: how links and directories on disk are looked at. Flows in: paths. Flows out: a [`FileTree`] whose real paths
//! are canonical, so that one file has one path whatever links lead to it. Must not know: which files are input.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use kube_yaml::Limits;

use super::paths::reason;
use super::tree::{FileTree, Lead, TreeEntry, TreeError};

/// The files on disk, as they are now.
#[derive(Debug)]
pub(super) struct Disk;

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

    fn must_have_inputs(&self) -> bool {
        true
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn repository(&self, directory: &Path) -> Option<PathBuf> {
        directory
            .ancestors()
            .find(|ancestor| ancestor.join(".git").exists())
            .map(Path::to_owned)
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let entries = fs::read_dir(directory).and_then(|entries| {
            entries
                .map(|entry| {
                    let entry = entry?;
                    Ok((entry.file_name(), kind(entry.file_type()?)))
                })
                .collect::<io::Result<Vec<(OsString, TreeEntry)>>>()
        });
        let mut entries = entries.map_err(|error| refused(&error))?;
        // A directory lists its entries in an order of its own, and findings would come in that order.
        entries.sort_unstable();
        Ok(entries)
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(kind(metadata.file_type()))),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(&error)),
            Err(_) => Ok(None),
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        read_at_most(path, Limits::default().document_bytes).map_err(|error| refused(&error))
    }

    fn resolve(&self, path: &Path) -> Result<Lead, TreeError> {
        match fs::metadata(path) {
            // A pipe that a shell names (`/dev/fd/63`) can be read, and has no path of its own.
            Ok(metadata) => Ok(Lead::To(
                fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
                kind(metadata.file_type()),
            )),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(&error)),
            // Missing, below a file, or a loop of links: all the same to whoever wants to read it.
            Err(_) => Ok(Lead::Nowhere),
        }
    }
}

/// The bytes of a file, as far as one beyond `most`: a device has no end. A pipe is read that a shell has made and named by
/// its descriptor (`<(command)`); any other may have nobody at its other end, and would never open.
pub(super) fn read_at_most(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let is_descriptor = path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || (path.starts_with("/proc") && path.parent().is_some_and(|parent| parent.ends_with("fd")));
    if !fs::metadata(path)?.is_file() && !is_descriptor {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn kind(kind: fs::FileType) -> TreeEntry {
    if kind.is_file() {
        TreeEntry::File
    } else if kind.is_dir() {
        TreeEntry::Directory
    } else if kind.is_symlink() {
        TreeEntry::Link
    } else {
        TreeEntry::Other
    }
}

fn refused(error: &io::Error) -> TreeError {
    TreeError {
        reason: reason(error),
        help: help_for(error).to_owned(),
    }
}

/// What to do about a file that cannot be read.
pub(super) fn help_for(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::InvalidInput {
        "name a file or a directory, or pipe it: `COMMAND | spokewright check -`"
    } else {
        "check the permissions, or list the path under `exclude` in spokewright.yaml"
    }
}
