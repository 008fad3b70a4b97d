//! Paths as people see them, and the wording of an I/O error.

use std::ffi::OsStr;
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

/// The names of files that are read without being named.
pub(super) const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Whether a file of this name is read.
pub(super) fn is_manifest(name: &OsStr) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    // As editors and other systems write them, too: a policy in `auth.YAML` must not be missing.
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|read| read.eq_ignore_ascii_case(extension)))
}
