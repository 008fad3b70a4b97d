//! A tree of files: the disk, a Git revision, Git's index. Links inside a tree that is not on disk are followed here. Also paths as
//! people see them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Component, Path, PathBuf};

use crate::diagnostic::{Code, Finding, Place};
use crate::sandbox::{MOST_LINKS, join, resolved};

/// The kind of entry at a path of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeEntry {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link; in a tree that is not on disk its content is the target.
    Link,
    /// A submodule: its files are not in this tree.
    Submodule,
    /// A file whose content Git LFS stores outside the repository.
    Pointer,
    /// A pipe, a socket, a device: it is read only if it is named.
    Other,
}

/// Something of the tree cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct TreeError {
    /// Why, a few words.
    pub reason: String,
    /// How to fix it.
    pub help: String,
}

/// The work for a file or directory that is walked again, with all that is in it: ten nested trees of ten entries each are
/// ten billion paths, and so are thirty directories that link to each other.
pub(super) const STEPS_PER_COPY: u64 = 300;

/// What to do about too much input.
pub(super) const SMALLER: &str = "exclude it in spokewright.yaml, or name a smaller input";

impl TreeError {
    pub(super) fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        let (reason, help) = (reason.into(), help.into());
        Self { reason, help }
    }

    /// There is no work left to read or walk it.
    pub(super) fn too_costly() -> Self {
        let reason = "reading everything up to it takes more work than a run allows";
        Self::new(reason, SMALLER)
    }

    /// As a finding about what people call `path`.
    pub(super) fn finding(&self, tree: &dyn FileTree, path: &Path) -> Finding {
        let prefix = tree.name().map(|name| format!("{name}:")).unwrap_or_default();
        about(Code::INPUT_UNREADABLE, path, |shown| {
            format!("cannot read `{prefix}{shown}`: {}", self.reason)
        })
        .help(self.help.clone())
    }
}

/// A tree of files.
///
/// Its real paths have no link on the way: one file has one. On disk they are canonical; in any other tree they are
/// relative to its root, with `/` between components, and the empty path is the root.
pub trait FileTree: Debug {
    /// The canonical directory on disk that the root stands for.
    fn root(&self) -> &Path;

    /// The name of the tree in front of a path, `HEAD` for `HEAD:hub/gateway.yaml`. The disk has no name.
    fn name(&self) -> Option<&str>;

    /// How to fix a path that leads out of the tree: the end of a help line.
    fn instead(&self) -> &str;

    /// Where a path that was typed is in the tree; `None` outside it. By default, relative to the root; a path that is not (or
    /// no longer) on disk is found by the directories above it.
    fn locate(&self, path: &Path) -> Option<PathBuf> {
        let real = resolved(path, |_| true).ok()?;
        real.strip_prefix(self.root()).ok().map(Path::to_owned)
    }

    /// The root of the repository around a real directory: above it, no `.gitignore` counts.
    fn repository(&self, _directory: &Path) -> Option<PathBuf> {
        Some(PathBuf::new())
    }

    /// The entries of a real directory, sorted by name; none for a path that is not a directory.
    ///
    /// # Errors
    /// The directory exists, but cannot be read.
    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError>;

    /// What a real directory is: two that have all in common may be the same. By default, its path.
    ///
    /// # Errors
    /// It cannot be read.
    fn identity(&self, directory: &Path) -> Result<PathBuf, TreeError> {
        Ok(directory.to_owned())
    }

    /// The kind of entry at `path`, without following links; `None` if there is none.
    ///
    /// # Errors
    /// A directory on the way cannot be read.
    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError>;

    /// The bytes of a file; of a link, in a tree that is not on disk, its target.
    ///
    /// # Errors
    /// It is neither, or cannot be read.
    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError>;

    /// Prepares the tree for reading these files, each once.
    fn prepare(&self, _files: &[&Path]) {}

    /// Where a path leads, links followed.
    ///
    /// # Errors
    /// Something on the way cannot be read.
    fn resolve(&self, path: &Path) -> Result<Lead, TreeError> {
        follow(self, path)
    }
}

/// Where a path leads, links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lead {
    /// To something: its real path, and what it is.
    To(PathBuf, TreeEntry),
    /// To nothing in the tree.
    Nowhere,
    /// Out of the tree.
    Outside,
}

/// Follows a path through a tree that is not on disk.
fn follow<T: FileTree + ?Sized>(tree: &T, path: &Path) -> Result<Lead, TreeError> {
    let Some(path) = key(path) else {
        return Ok(Lead::Nowhere);
    };
    let mut pending: VecDeque<String> = parts(&path).map(str::to_owned).collect();
    let mut real = String::new();
    let mut links = 0_usize;
    while let Some(part) = pending.pop_front() {
        if part == ".." {
            if real.is_empty() {
                return Ok(Lead::Outside);
            }
            real.truncate(real.rfind('/').unwrap_or_default());
            continue;
        }
        let candidate = join(&real, &part);
        match tree.entry(Path::new(&candidate))? {
            Some(TreeEntry::Directory) => real = candidate,
            Some(TreeEntry::Link) => {
                links = links.saturating_add(1);
                let target = String::from_utf8(tree.read(Path::new(&candidate))?).unwrap_or_default();
                if links > MOST_LINKS || target.is_empty() {
                    return Ok(Lead::Nowhere);
                }
                let mut rest = target.as_str();
                if target.starts_with('/') {
                    // As on disk: an absolute link is inside where its target is.
                    let below = Path::new(&target).strip_prefix(tree.root()).ok();
                    let Some(below) = below.and_then(Path::to_str) else {
                        return Ok(Lead::Outside);
                    };
                    rest = below;
                    real.clear();
                }
                for part in parts(rest).rev() {
                    pending.push_front(part.to_owned());
                }
            }
            Some(last) if pending.is_empty() => return Ok(Lead::To(candidate.into(), last)),
            _ => return Ok(Lead::Nowhere),
        }
    }
    Ok(Lead::To(real.into(), TreeEntry::Directory))
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "."))
}

/// A path as Git writes it; `None` for one that no tree of ours has.
pub(super) fn key(path: &Path) -> Option<String> {
    path.to_str()
        .map(|path| path.replace(std::path::MAIN_SEPARATOR, "/"))
}

/// A path for people and reports: `/` between components, whatever the platform.
pub(super) fn show(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace('\\', "/")
    }
}

/// A finding about a path, with a message that has it as people see it.
pub(super) fn about(code: Code, path: &Path, message: impl FnOnce(&str) -> String) -> Finding {
    let shown = show(path);
    let message = message(&shown);
    Finding::new(code, Place::Path(shown), message)
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
