//! PlacementDecision files: the lock that keeps later runs steady (`placement --write DIR`).
//!
//! They are input, so no inventory makes them ours: one file a Placement, `<namespace>/<placement>.yaml`, written
//! whole, atomically and only when it changes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::Builder;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecisionFiles {
    /// Files that were written.
    pub written: usize,
    /// Files that held the wanted text already.
    pub unchanged: usize,
}

/// A decision file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
pub struct DecisionFileError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// The path of the file for a Placement. Both names were checked by Kubernetes' rules when they were read.
#[must_use]
pub fn decision_file(directory: &Path, namespace: &str, placement: &str) -> PathBuf {
    directory.join(namespace).join(format!("{placement}.yaml"))
}

/// Writes PlacementDecision objects, those of one Placement (by its label) into one file.
///
/// # Errors
/// The first file that the operating system refuses.
pub fn write_decisions(directory: &Path, objects: &[Value]) -> Result<DecisionFiles, DecisionFileError> {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for object in objects {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let placement = text("/metadata/labels/cluster.open-cluster-management.io~1placement");
        let path = decision_file(directory, text("/metadata/namespace"), placement);
        let file = texts.entry(path).or_default();
        if !file.is_empty() {
            file.push_str("---\n");
        }
        file.push_str(&kube_yaml::write_document(object));
    }
    let mut done = DecisionFiles::default();
    for (path, text) in texts {
        if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            done.unchanged = done.unchanged.saturating_add(1);
            continue;
        }
        replace(&path, &text).map_err(|source| DecisionFileError { path, source })?;
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
    let mut file = builder.prefix(super::TEMPORARY_PREFIX).tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
