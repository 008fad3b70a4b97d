//! One run at a time in one directory.
//!
//! Owns: the lock of an output. Flows in: its root. Flows out: a lock that is released when it is dropped. Must not
//! know: what is read or written under it.
//!
//! The operating system locks the directory itself: the lock leaves nothing behind, and ends with a run that is killed.
//! Where there is no such lock, runs are not kept apart: on Windows, which opens no directories, and on some network
//! file systems.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::error::OutputError;
use super::root::Root;

/// The purpose of a run under the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It reads: with others that do.
    Read,
    /// It writes: alone.
    Write,
}

/// Takes the lock of an existing directory, and waits for its holder; with `no_wait`, a held lock is an error. The
/// directory may be gone by then: [`stands_at`] checks that.
pub(super) fn lock(root: &Root, access: Access, no_wait: bool) -> Result<Option<File>, OutputError> {
    let Ok(directory) = root.directory.as_file() else {
        // The next reader or writer reports why.
        return Ok(None);
    };
    let tried = match access {
        Access::Read => directory.try_lock_shared(),
        Access::Write => directory.try_lock(),
    };
    match tried {
        Ok(()) => {}
        Err(TryLockError::Error(_)) => return Ok(None),
        Err(TryLockError::WouldBlock) if no_wait => {
            return Err(OutputError::Busy {
                root: root.path().to_path_buf(),
            });
        }
        Err(TryLockError::WouldBlock) => {
            // What cannot be waited for is not there to be had.
            let _ = match access {
                Access::Read => directory.lock_shared(),
                Access::Write => directory.lock(),
            };
        }
    }
    Ok(Some(directory))
}

/// Whether what is locked is what a path leads to now: a run that wrote nothing removes the root that it made.
pub(super) fn stands_at(lock: &File, root: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let locked = lock.metadata().map(identity);
        std::fs::metadata(root).map(identity).ok() == locked.ok()
    }
    #[cfg(not(unix))]
    {
        let _ = (lock, root);
        true
    }
}
