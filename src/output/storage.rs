//! The few ways in which we change a disk, behind a seam, so that tests can stop the run at every single one.
//!
//! Owns: [`Storage`], and replacing a file atomically with it. Flows in: paths, bytes. Flows out: changes of the disk.
//! Must not know: what is wanted.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::error::{Action, OutputError};
use super::inventory::hash;
use super::tree::directory_of;

/// How the names of all our temporary files begin.
pub(crate) const TEMPORARY_PREFIX: &str = ".spokewright-tmp-";

/// Everything that changes a disk. Reading needs no seam: it leaves nothing behind.
pub(super) trait Storage: Sync {
    /// Makes one directory.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes a new file; what already bears the name is an error.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Writes all bytes.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the file's bytes are on the medium.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Replaces `to` by `from`, atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file or a link.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// The disk. Files and directories get the modes that every tool's get: 0666 and 0777 less the umask. Modes are
/// no part of what is compared: Git keeps none but the executable bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk;

impl Storage for Disk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// The temporary file of a path, in the same directory: the prefix, 16 digits that only this path has (the
/// name itself could be too long to get a prefix), and the process, so that two runs never share one.
pub(super) fn temporary(path: &str) -> String {
    let directory = directory_of(path);
    let separator = if directory.is_empty() { "" } else { "/" };
    format!(
        "{directory}{separator}{TEMPORARY_PREFIX}{}-{}",
        mark(path),
        std::process::id()
    )
}

/// The digits that stand for a path in the name of its temporary file.
pub(super) fn mark(path: &str) -> String {
    let [a, b, c, d, e, f, g, h, ..] = hash(path.as_bytes());
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

/// Writes one file so that its name holds either the old bytes or the new ones, never a part of them: a temporary
/// file in the same directory, then a rename. What fails leaves no temporary file, what is killed leaves one.
pub(super) fn replace(
    storage: &dyn Storage,
    root: &Path,
    path: &str,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), OutputError> {
    let target = root.join(path);
    let unfinished = root.join(temporary(path));
    let error = |cause| OutputError::io(Action::Write, &target, cause);
    let mut file = storage.create(&unfinished).map_err(error)?;
    let filled = fill(&mut file);
    drop(file);
    filled
        .and_then(|()| storage.rename(&unfinished, &target))
        .map_err(|cause| {
            // The first error is the one to report; a temporary file that stays is removed by the next run.
            let _ = storage.remove_file(&unfinished);
            error(cause)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_we_make_are_taken_for_temporary_files() {
        let name = temporary("eu-1/a.yaml");
        let name = name.strip_prefix("eu-1/").unwrap();
        assert_eq!(mark_of(name), Some(mark("eu-1/a.yaml").as_str()));
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
