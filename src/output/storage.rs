//! The few ways in which we change a disk, behind a trait, so that tests can stop the run at every single one.
//!
//! Owns: [`Storage`], and replacing a file atomically with it. Flows in: names in open
//! directories, bytes. Flows out: changes of the disk.
//! Must not know: what is wanted.

use std::fs::File;
use std::io::{self, Write as _};

use super::error::{Action, OutputError};
use super::hash::sha256;
use super::root::Root;
use super::tree::name_of;
use crate::beneath::Directory;

/// How the names of all our temporary files begin.
pub(crate) const TEMPORARY_PREFIX: &str = ".spokewright-tmp-";

/// Everything that changes a disk: names in directories that are open. Reading needs no seam: it leaves nothing behind.
pub(super) trait Storage: Sync {
    /// Makes one directory.
    fn create_dir(&self, at: &Directory, name: &str) -> io::Result<()>;
    /// Creates a new file; it is an error if the name is already taken.
    fn create(&self, at: &Directory, name: &str) -> io::Result<File>;
    /// Writes all bytes.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the file's bytes are on the medium.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Replaces `to` by `from`, atomically.
    fn rename(&self, at: &Directory, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file or a link.
    fn remove_file(&self, at: &Directory, name: &str) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, at: &Directory, name: &str) -> io::Result<()>;
}

/// The disk. Files and directories get the usual modes: 0666 and 0777 less the umask. Modes are not compared: Git keeps
/// only the executable bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk;

impl Storage for Disk {
    fn create_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        at.make(name)
    }

    fn create(&self, at: &Directory, name: &str) -> io::Result<File> {
        at.create(name)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, at: &Directory, from: &str, to: &str) -> io::Result<()> {
        at.rename(from, to)
    }

    fn remove_file(&self, at: &Directory, name: &str) -> io::Result<()> {
        at.remove_file(name)
    }

    fn remove_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        at.remove_directory(name)
    }
}

/// The name of the temporary file of a path, in the same directory: the prefix, 16 digits that only this path has (the
/// name itself could be too long to get a prefix), and the process, so that two runs never share one.
pub(super) fn temporary(path: &str) -> String {
    format!("{TEMPORARY_PREFIX}{}-{}", mark(path), std::process::id())
}

/// The digits that stand for a path in the name of its temporary file.
pub(super) fn mark(path: &str) -> String {
    let [a, b, c, d, e, f, g, h, ..] = sha256(path.as_bytes());
    format!("{:016x}", u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// The mark in a name that [`temporary`] made, whichever process it was; `None` for all other names.
pub(super) fn mark_of(name: &str) -> Option<&str> {
    let (mark, process) = name.strip_prefix(TEMPORARY_PREFIX)?.split_once('-')?;
    let is_ours = mark.len() == 16
        && mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && !process.is_empty()
        && process.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then_some(mark)
}

/// Writes the file at a path, in the directory where it is, so that its name has either the old bytes or the new ones,
/// never a part of them: a temporary file in the same directory, then a rename. A failed write leaves no temporary
/// file; a killed one does.
pub(super) fn replace(
    storage: &dyn Storage,
    root: &Root,
    at: &Directory,
    path: &str,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), OutputError> {
    let unfinished = temporary(path);
    let error = |cause| root.error(Action::Write, path, cause);
    let mut file = storage.create(at, &unfinished).map_err(error)?;
    let filled = fill(&mut file);
    drop(file);
    filled
        .and_then(|()| storage.rename(at, &unfinished, name_of(path)))
        .map_err(|cause| {
            // The first error is the one to report; a temporary file that stays is removed by the next run.
            let _ = storage.remove_file(at, &unfinished);
            error(cause)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_we_make_are_taken_for_temporary_files() {
        let name = temporary("eu-1/a.yaml");
        assert_eq!(mark_of(&name), Some(mark("eu-1/a.yaml").as_str()));
        assert!(temporary("a.yaml").starts_with(TEMPORARY_PREFIX));
        for foreign in [
            ".spokewright-tmp-",
            ".spokewright-tmp-notes.txt",
            ".spokewright-tmp-0123456789abcdef",
            ".spokewright-tmp-0123456789abcdef-",
            ".spokewright-tmp-0123456789ABCDEF-1",
            ".spokewright-tmp-0123456789abcdef-1x",
            "x.spokewright-tmp-0123456789abcdef-1",
        ] {
            assert_eq!(mark_of(foreign), None, "{foreign}");
        }
    }
}
