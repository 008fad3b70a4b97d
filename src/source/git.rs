//! A Git revision as a tree of files, read straight from the object store: no `git` program, nothing written.
//!
//! Owns: opening a repository, resolving a revision, the errors of both with what to type, and reading trees and
//! blobs. Flows in: a path and a revision. Flows out: a [`FileTree`]. Must not know: which files are input.
//!
//! Work trees (`git worktree`), submodules as repositories of their own, and shallow clones are repositories
//! like any other; only what the repository itself says is read, no configuration of the machine or the person.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::objs::tree::EntryKind;
use gix::revision::spec::parse;
use gix::{ObjectId, Repository};

use super::tree::{FileTree, TreeEntry, TreeError, key};
use crate::diagnostic::{nearest, shell_name};

/// Why a revision cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// No repository holds the path.
    #[error("`{path}` is in no Git repository")]
    NoRepository {
        /// What was asked for.
        path: String,
    },
    /// A repository of a form that cannot be read.
    #[error("cannot open the Git repository of `{path}`: {reason}")]
    Repository {
        /// What was asked for.
        path: String,
        /// Why.
        reason: String,
    },
    /// A repository without files on disk.
    #[error("the repository of `{path}` is bare: it has no work tree to compare with")]
    Bare {
        /// What was asked for.
        path: String,
    },
    /// The branch has no commit yet.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// A revision that is not there, or not here.
    #[error("there is no revision `{revision}` in this {}", if *shallow { "shallow clone" } else { "repository" })]
    NoRevision {
        /// What was asked for.
        revision: String,
        /// Whether the clone has only a part of the history.
        shallow: bool,
        /// A branch or tag with a similar name.
        nearest: Option<String>,
    },
    /// The first digits of several objects.
    #[error("`{revision}` is short for {} objects", candidates.len())]
    Ambiguous {
        /// What was asked for.
        revision: String,
        /// What it may mean, with a word about each.
        candidates: Vec<String>,
    },
    /// All that lies between two revisions.
    #[error("`{revision}` is a range, and no revision")]
    Range {
        /// What was asked for.
        revision: String,
    },
    /// A file or a directory of a revision.
    #[error("`{revision}` is no commit")]
    NoCommitObject {
        /// What was asked for.
        revision: String,
    },
    /// An object that is there but cannot be read.
    #[error("cannot read the revision `{revision}`: {reason}")]
    Unreadable {
        /// What was asked for.
        revision: String,
        /// Why.
        reason: String,
    },
}

impl GitError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoRepository { .. } | Self::Repository { .. } => {
                "name a directory to compare with: `--base DIR` (a rendered tree, or another input)".to_owned()
            }
            Self::Bare { .. } => "run it in a work tree: `git worktree add DIR`".to_owned(),
            Self::NoCommit => "commit first, or name a directory: `--base DIR`".to_owned(),
            Self::NoRevision {
                shallow: true,
                revision,
                ..
            } if is_relative(revision) => "fetch what is older: `git fetch --unshallow` (in GitHub Actions: \
                 `fetch-depth: 0` for actions/checkout)"
                .to_owned(),
            Self::NoRevision {
                shallow: true,
                revision,
                ..
            } => format!(
                "fetch it: `git fetch --unshallow`, or `git fetch --depth=1 origin {}` and `--base FETCH_HEAD` \
                 (in GitHub Actions: `fetch-depth: 0` for actions/checkout)",
                shell_name(revision.strip_prefix("origin/").unwrap_or(revision))
            ),
            Self::NoRevision {
                nearest: Some(nearest),
                ..
            } => format!("did you mean `{nearest}`?"),
            Self::NoRevision { .. } => {
                "fetch it first (`git fetch origin`), or name a branch, tag, commit or directory that is there"
                    .to_owned()
            }
            Self::Ambiguous { candidates, .. } => format!(
                "write more digits, of one of: {}",
                candidates.iter().take(MOST_CANDIDATES).cloned().collect::<Vec<_>>().join(", ")
            ),
            Self::Range { .. } => {
                "name its older end; `git merge-base A B` prints where two branches parted".to_owned()
            }
            Self::NoCommitObject { .. } => "name a branch, a tag or a commit".to_owned(),
            Self::Unreadable { .. } => "check the repository: `git fsck`".to_owned(),
        }
    }
}

/// At most so many objects with the same first digits are named.
const MOST_CANDIDATES: usize = 5;

/// The files of one revision.
pub struct GitTree {
    repository: Repository,
    root: PathBuf,
    revision: String,
    tree: ObjectId,
    /// Directories that were read, by path.
    listed: RefCell<HashMap<String, Rc<Vec<Item>>>>,
}

struct Item {
    name: String,
    entry: TreeEntry,
    id: ObjectId,
}

/// Whether a revision is told by way of another, as `HEAD~1`: no server knows such a name.
fn is_relative(revision: &str) -> bool {
    revision.contains(['~', '^', '@', ':']) || revision == "HEAD"
}

impl GitTree {
    /// Opens `revision` (whatever `git rev-parse` takes for one commit) of the repository that holds
    /// `path`, or the nearest directory above it.
    ///
    /// # Errors
    /// When there is no such repository or revision, or it cannot be read.
    pub fn open(path: &Path, revision: &str) -> Result<Self, GitError> {
        let repository = open_repository(path)?;
        let root = repository
            .workdir()
            .and_then(|directory| std::fs::canonicalize(directory).ok())
            .ok_or_else(|| GitError::Bare {
                path: path.display().to_string(),
            })?;
        let tree = tree_of(&repository, revision)?;
        Ok(Self {
            repository,
            root,
            revision: revision.to_owned(),
            tree,
            listed: RefCell::new(HashMap::new()),
        })
    }

    /// The revision, as it was asked for.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    fn items(&self, directory: &str) -> Result<Rc<Vec<Item>>, TreeError> {
        if let Some(known) = self.listed.borrow().get(directory) {
            return Ok(Rc::clone(known));
        }
        let id = if directory.is_empty() {
            Some(self.tree)
        } else {
            let (parent, name) = directory.rsplit_once('/').unwrap_or(("", directory));
            self.items(parent)?
                .iter()
                .find(|item| item.name == name && item.entry == TreeEntry::Directory)
                .map(|item| item.id)
        };
        let items = match id {
            Some(id) => self.read_directory(id)?,
            None => Vec::new(),
        };
        let items = Rc::new(items);
        self.listed
            .borrow_mut()
            .insert(directory.to_owned(), Rc::clone(&items));
        Ok(items)
    }

    fn read_directory(&self, id: ObjectId) -> Result<Vec<Item>, TreeError> {
        let tree = self.repository.find_tree(id).map_err(|error| missing(&error))?;
        let mut items = Vec::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|error| missing(&error))?;
            // A name that is not UTF-8 cannot be typed, and is no manifest's.
            let Ok(name) = std::str::from_utf8(entry.filename()) else {
                continue;
            };
            items.push(Item {
                name: name.to_owned(),
                entry: match entry.mode().kind() {
                    EntryKind::Tree => TreeEntry::Directory,
                    EntryKind::Blob | EntryKind::BlobExecutable => TreeEntry::File,
                    EntryKind::Link => TreeEntry::Link,
                    EntryKind::Commit => TreeEntry::Submodule,
                },
                id: entry.object_id(),
            });
        }
        items.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(items)
    }

    fn item<T>(&self, path: &Path, take: impl FnOnce(&Item) -> T) -> Result<Option<T>, TreeError> {
        let Some(path) = key(path) else { return Ok(None) };
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let items = self.items(parent)?;
        let found = items.binary_search_by(|item| item.name.as_str().cmp(name)).ok();
        Ok(found.and_then(|position| items.get(position)).map(take))
    }
}

impl FileTree for GitTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn name(&self) -> Option<&str> {
        Some(&self.revision)
    }

    fn instead(&self) -> &'static str {
        "compare with a directory instead: `--base DIR`"
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let Some(directory) = key(directory) else {
            return Ok(Vec::new());
        };
        let items = self.items(&directory)?;
        Ok(items
            .iter()
            .map(|item| (OsString::from(&item.name), item.entry))
            .collect())
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        if path.as_os_str().is_empty() {
            return Ok(Some(TreeEntry::Directory));
        }
        self.item(path, |item| item.entry)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        let id = self.item(path, |item| item.id)?.ok_or_else(|| TreeError {
            reason: "there is no such file in this revision".to_owned(),
            help: "name a file that is there".to_owned(),
        })?;
        let mut blob = self.repository.find_blob(id).map_err(|error| missing(&error))?;
        Ok(blob.take_data())
    }
}

fn tree_of(repository: &Repository, revision: &str) -> Result<ObjectId, GitError> {
    if revision == "HEAD" && repository.head().is_ok_and(|head| head.is_unborn()) {
        return Err(GitError::NoCommit);
    }
    let options = parse::Options {
        object_kind_hint: Some(parse::ObjectKindHint::Committish),
        ..parse::Options::default()
    };
    let spec = gix::revision::Spec::from_bstr(revision, repository, options)
        .map_err(|error| ambiguous(revision, &error).unwrap_or_else(|| no_revision(repository, revision)))?;
    let id = spec.single().ok_or_else(|| GitError::Range {
        revision: revision.to_owned(),
    })?;
    let object = id.object().map_err(|_| no_revision(repository, revision))?;
    let commit = object.peel_to_commit().map_err(|_| GitError::NoCommitObject {
        revision: revision.to_owned(),
    })?;
    let tree = commit.tree_id().map_err(|error| GitError::Unreadable {
        revision: revision.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(tree.detach())
}

fn ambiguous(revision: &str, error: &gix::Error) -> Option<GitError> {
    let parse::Error::AmbiguousPrefix { candidates, .. } = error.downcast_any_ref()? else {
        return None;
    };
    Some(GitError::Ambiguous {
        revision: revision.to_owned(),
        candidates: candidates
            .iter()
            .map(|(id, about)| format!("{id} ({about})"))
            .collect(),
    })
}

/// An object that a complete clone would have.
pub(super) fn missing(error: &dyn std::error::Error) -> TreeError {
    TreeError {
        reason: whole(error),
        help: "a partial clone lacks objects: `git fetch --refetch --no-filter`; else check it: `git fsck`"
            .to_owned(),
    }
}

/// An error with all that caused it: the first words alone say little.
pub(super) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let words = deeper.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = deeper.source();
    }
    text
}

pub(super) fn open_repository(path: &Path) -> Result<Repository, GitError> {
    let none = || GitError::NoRepository {
        path: path.display().to_string(),
    };
    let absolute = std::path::absolute(path).map_err(|_| none())?;
    let directory = absolute
        .ancestors()
        .find(|ancestor| ancestor.is_dir())
        .ok_or_else(none)?;
    let isolated = gix::sec::trust::Mapping {
        full: gix::open::Options::isolated(),
        reduced: gix::open::Options::isolated(),
    };
    gix::ThreadSafeRepository::discover_opts(directory, gix::discover::upwards::Options::default(), isolated)
        .map(|repository| repository.to_thread_local())
        .map_err(|error| {
            if absolute
                .ancestors()
                .any(|ancestor| ancestor.join(".git").exists())
            {
                GitError::Repository {
                    path: path.display().to_string(),
                    reason: whole(&error),
                }
            } else {
                none()
            }
        })
}

fn no_revision(repository: &Repository, revision: &str) -> GitError {
    let names: Vec<String> = repository
        .references()
        .ok()
        .and_then(|references| {
            let all = references.all().ok()?;
            Some(
                all.filter_map(Result::ok)
                    .map(|reference| reference.name().shorten().to_string())
                    .collect(),
            )
        })
        .unwrap_or_default();
    GitError::NoRevision {
        revision: revision.to_owned(),
        shallow: repository.is_shallow().unwrap_or(false),
        nearest: nearest(revision, names.iter().map(String::as_str)).map(str::to_owned),
    }
}

impl std::fmt::Debug for GitTree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("GitTree")
            .field("root", &self.root)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
