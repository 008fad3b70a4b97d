//! Single files, each written whole, atomically and only when it changes.
//!
//! Owns: writing such a file. Flows in: paths and texts. Flows out: changed files, and how many. Must not know: what is
//! in them.
//!
//! For files that are input as well, such as PlacementDecisions: no inventory makes them ours, so nothing is pruned.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::storage::TEMPORARY_PREFIX;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrittenFiles {
    /// Files that were written.
    pub written: usize,
    /// Files that held the wanted text already.
    pub unchanged: usize,
}

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
#[non_exhaustive]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// Writes whole files, with the directories around them.
///
/// # Errors
/// The first file that the operating system refuses.
pub fn write_files(texts: BTreeMap<PathBuf, String>) -> Result<WrittenFiles, FileError> {
    let mut done = WrittenFiles::default();
    for (path, text) in texts {
        if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            done.unchanged = done.unchanged.saturating_add(1);
            continue;
        }
        replace(&path, &text).map_err(|source| FileError { path, source })?;
        done.written = done.written.saturating_add(1);
    }
    Ok(done)
}

/// A temporary file beside the target, then a rename: a reader sees the old text or the new one.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(directory)?;
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any new file: readable for all, less the umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(TEMPORARY_PREFIX).tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
