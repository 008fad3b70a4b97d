//! A tree of files that need not stand on disk: a Git revision, an index.
//!
//! Owns: what such a tree must offer, how paths that people type lead into it, and following links inside it.
//! Flows in: paths. Flows out: places in the tree.

use std::collections::VecDeque;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What stands at a path of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeEntry {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link; its content is the target.
    Link,
    /// A submodule: its files are not in this tree.
    Submodule,
}

/// Something of the tree cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{path}`: {reason}")]
pub struct TreeError {
    /// Path in the tree.
    pub path: String,
    /// Why, a few words.
    pub reason: String,
    /// What to do about it.
    pub help: String,
}

/// A tree of files. Paths in it are relative to its root, with `/` between components; `""` is the root.
pub trait FileTree {
    /// The canonical directory on disk that the root stands for.
    fn root(&self) -> &Path;

    /// What the tree is called in front of a path: `HEAD` for `HEAD:hub/gateway.yaml`.
    fn name(&self) -> &str;

    /// What to do where a path leads out of the tree: the end of a help line.
    fn instead(&self) -> &str;

    /// The entries of a directory, sorted by name; nothing for a path that is no directory.
    ///
    /// # Errors
    /// When the directory is there and cannot be read.
    fn list(&self, directory: &str) -> Result<Vec<(String, TreeEntry)>, TreeError>;

    /// What stands at `path`, links not followed; `None` for nothing.
    ///
    /// # Errors
    /// When a directory on the way cannot be read.
    fn entry(&self, path: &str) -> Result<Option<TreeEntry>, TreeError>;

    /// The bytes of a file, or the target of a link.
    ///
    /// # Errors
    /// When it is neither, or cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, TreeError>;
}

/// Where a path that somebody typed lies in the tree; `None` outside of it. What is not on disk (any more) is
/// found by the directories above it.
pub(super) fn inside(tree: &dyn FileTree, path: &Path) -> Option<String> {
    let absolute = std::path::absolute(path).ok()?;
    let (existing, canonical) = absolute
        .ancestors()
        .find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)))?;
    let mut whole = canonical;
    for component in absolute.strip_prefix(existing).ok()?.components() {
        match component {
            Component::ParentDir => {
                whole.pop();
            }
            Component::Normal(name) => whole.push(name),
            _ => {}
        }
    }
    let relative: PathBuf = whole.strip_prefix(tree.root()).ok()?.to_owned();
    relative
        .components()
        .map(|component| component.as_os_str().to_str())
        .collect::<Option<Vec<&str>>>()
        .map(|parts| parts.join("/"))
}

/// Links that are followed on one way; more are a loop.
const MOST_LINKS: usize = 40;

/// Where a path leads, links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lead {
    /// To something: its real path, and what it is.
    To(String, TreeEntry),
    /// To nothing in the tree.
    Nowhere,
    /// Out of the tree.
    Outside,
}

impl Lead {
    /// What it leads to.
    pub(super) fn found(self) -> Option<(String, TreeEntry)> {
        match self {
            Self::To(path, entry) => Some((path, entry)),
            Self::Nowhere | Self::Outside => None,
        }
    }
}

/// Follows a path through the tree.
pub(super) fn resolve(tree: &dyn FileTree, path: &str) -> Result<Lead, TreeError> {
    let mut pending: VecDeque<String> = parts(path).map(str::to_owned).collect();
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
        match tree.entry(&candidate)? {
            Some(TreeEntry::Directory) => real = candidate,
            Some(TreeEntry::Link) => {
                links = links.saturating_add(1);
                let target = String::from_utf8(tree.read(&candidate)?).unwrap_or_default();
                if target.starts_with('/') {
                    return Ok(Lead::Outside);
                }
                if links > MOST_LINKS || target.is_empty() {
                    return Ok(Lead::Nowhere);
                }
                for part in parts(&target).rev() {
                    pending.push_front(part.to_owned());
                }
            }
            Some(last) if pending.is_empty() => return Ok(Lead::To(candidate, last)),
            _ => return Ok(Lead::Nowhere),
        }
    }
    Ok(Lead::To(real, TreeEntry::Directory))
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "."))
}

/// A path below a directory of the tree.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// Whether a path of the tree is a directory or lies below it.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
