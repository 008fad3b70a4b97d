//! Paths as people see them, and the wording of an I/O error.
//!
//! Owns: both. Flows in: paths, I/O errors. Flows out: text. Must not know: files.

use std::path::{Component, Path, PathBuf};

/// A path for people and reports: `/` between components, whatever the platform.
pub(super) fn show(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace('\\', "/")
    }
}

/// `./a.yaml` and `a.yaml` are one file.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

/// The words of an I/O error without its number.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
