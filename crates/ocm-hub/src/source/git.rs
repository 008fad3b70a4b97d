//! A Git repository: its trees and blobs with limits on reading them, and a revision as a tree of files, read straight from the
//! object store: no `git` program, nothing written.
//!
//! Work trees (`git worktree`), submodules as repositories of their own, and shallow clones are repositories
//! like any other. [`open`] decides which directories count as repositories, and which of their settings are trusted.
//!
//! The size of a repository does not limit the size of its contents: two megabytes can unpack to two gigabytes, and ten
//! nested trees of ten entries each are ten billion paths. So nothing is unpacked before its size is known.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use apimachinery::Work;
use gix::config::Source;
use gix::objs::tree::EntryKind;
use gix::revision::spec::parse;
use gix::{ObjectId, Repository};
use sha2::{Digest as _, Sha256};

use super::disk::read_at_most;
use super::tree::{FileTree, SMALLER, STEPS_PER_COPY, TreeEntry, TreeError, key};
use crate::diagnostic::{nearest, shell_name, shell_word};
use crate::parallel;
use crate::sandbox::SandboxDir;

/// Why a revision cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The branch has no commit yet.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// A repository that is no work tree of its own: it has none, has it elsewhere, or borrows objects of another one.
    #[error(transparent)]
    Foreign(TreeError),
    /// There is no such repository or revision, or it cannot be read.
    #[error(transparent)]
    Unreadable(TreeError),
}

impl GitError {
    fn foreign(reason: String, help: &str) -> Self {
        Self::Foreign(TreeError::new(reason, help))
    }

    fn unreadable(reason: String, help: impl Into<String>) -> Self {
        Self::Unreadable(TreeError::new(reason, help))
    }

    /// How to fix it.
    pub fn help(&self) -> &str {
        match self {
            Self::NoCommit => "commit first, or name another input: `--base-dir DIR`",
            Self::Foreign(error) | Self::Unreadable(error) => &error.help,
        }
    }
}

/// What to do without a repository that can be read.
const OTHER_INPUT: &str =
    "name another input to compare with: `--base-dir DIR`, or a rendered tree: `--base-tree DIR`";

/// At most so many objects with the same first digits are named.
const MOST_CANDIDATES: usize = 5;

/// The files of one revision.
#[derive(Debug)]
pub struct GitTree {
    objects: Objects,
    root: PathBuf,
    revision: String,
    tree: ObjectId,
    /// Trees that were read: one that is at many paths is held once.
    listed: RefCell<HashMap<ObjectId, Rc<Vec<Entry>>>>,
}

/// Whether a revision is relative to another, as in `HEAD~1`: no server knows such a name.
fn is_relative(revision: &str) -> bool {
    revision.contains(['~', '^', '@', ':']) || revision == "HEAD"
}

/// Whether what a revision means is in the configuration of a branch.
fn is_configured(revision: &str) -> bool {
    let revision = revision.to_ascii_lowercase();
    ["@{u}", "@{upstream}", "@{push}"]
        .iter()
        .any(|suffix| revision.contains(suffix))
}

impl GitTree {
    /// Opens `revision` (anything that `git rev-parse` resolves to one commit, except `@{upstream}` and `@{push}`) of
    /// the repository that contains `path`, or the nearest directory above it.
    ///
    /// # Errors
    /// If there is no such repository or revision, or it cannot be read.
    pub fn open(path: &Path, revision: &str) -> Result<Self, GitError> {
        let Opened { repository, root } = open(path)?;
        let tree = tree_of(&repository, revision)?;
        Ok(Self {
            objects: Objects::new(repository),
            root,
            revision: revision.to_owned(),
            tree,
            listed: RefCell::new(HashMap::new()),
        })
    }

    /// The revision, as it was asked for.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The tree at a directory; `None` where there is no directory.
    fn directory(&self, directory: &Path) -> Result<Option<ObjectId>, TreeError> {
        let Some(directory) = key(directory) else {
            return Ok(None);
        };
        let mut id = self.tree;
        for name in directory.split('/').filter(|name| !name.is_empty()) {
            match named(&self.entries(id)?, name) {
                Some(entry) if entry.entry == TreeEntry::Directory => id = entry.id,
                _ => return Ok(None),
            }
        }
        Ok(Some(id))
    }

    fn entries(&self, id: ObjectId) -> Result<Rc<Vec<Entry>>, TreeError> {
        if let Some(known) = self.listed.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        let entries = Rc::new(self.objects.tree(id)?);
        self.listed.borrow_mut().insert(id, Rc::clone(&entries));
        Ok(entries)
    }

    fn item(&self, path: &Path) -> Result<Option<(TreeEntry, ObjectId)>, TreeError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str)) else {
            return Ok(None);
        };
        let Some(directory) = self.directory(parent)? else {
            return Ok(None);
        };
        Ok(named(&self.entries(directory)?, name).map(|entry| (entry.entry, entry.id)))
    }
}

fn named<'e>(entries: &'e [Entry], name: &str) -> Option<&'e Entry> {
    let position = entries.binary_search_by(|entry| entry.name.as_str().cmp(name));
    entries.get(position.ok()?)
}

impl FileTree for GitTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn name(&self) -> Option<&str> {
        Some(&self.revision)
    }

    fn instead(&self) -> &'static str {
        "compare with a directory instead: `--base-dir DIR`"
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let Some(directory) = self.directory(directory)? else {
            return Ok(Vec::new());
        };
        let entries = self.entries(directory)?;
        let entries = entries.iter();
        Ok(entries
            .map(|entry| (OsString::from(&entry.name), entry.entry))
            .collect())
    }

    /// Its id: the same tree may be at many paths.
    fn identity(&self, directory: &Path) -> Result<PathBuf, TreeError> {
        let id = self.directory(directory)?;
        Ok(id.map_or_else(|| directory.to_owned(), |id| PathBuf::from(id.to_string())))
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        if path.as_os_str().is_empty() {
            return Ok(Some(TreeEntry::Directory));
        }
        Ok(self.item(path)?.map(|(entry, _)| entry))
    }

    fn prepare(&self, files: &[&Path]) {
        let files = files.iter().filter_map(|path| match self.item(path) {
            Ok(Some((TreeEntry::File, id))) => Some((*path, id)),
            _ => None,
        });
        self.objects.take_over(&self.root, files);
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        let found = self.item(path)?;
        let (entry, id) = found.ok_or_else(|| {
            TreeError::new(
                "there is no such file in this revision",
                "name a file that is there",
            )
        })?;
        self.objects.file(id, entry)
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
    let id = spec.single().ok_or_else(|| {
        let reason = format!("`{revision}` is a range, not a revision");
        GitError::unreadable(
            reason,
            "name its older end; `git merge-base A B` prints where two branches parted",
        )
    })?;
    let object = id.object().map_err(|_| no_revision(repository, revision))?;
    let commit = object.peel_to_commit().map_err(|_| {
        let reason = format!("`{revision}` is not a commit");
        GitError::unreadable(reason, "name a branch, a tag or a commit")
    })?;
    let tree = commit.tree_id().map_err(|error| {
        let reason = format!("cannot read the revision `{revision}`: {error}");
        GitError::unreadable(reason, "check the repository: `git fsck`")
    })?;
    Ok(tree.detach())
}

fn ambiguous(revision: &str, error: &gix::Error) -> Option<GitError> {
    let parse::Error::AmbiguousPrefix { candidates, .. } = error.downcast_any_ref()? else {
        return None;
    };
    let reason = format!(
        "`{revision}` is ambiguous: it is short for {} objects",
        candidates.len()
    );
    let candidates = candidates.iter().take(MOST_CANDIDATES);
    let candidates: Vec<String> = candidates.map(|(id, about)| format!("{id} ({about})")).collect();
    let help = format!("write more digits, of one of: {}", candidates.join(", "));
    Some(GitError::unreadable(reason, help))
}

/// A repository, and the root of its work tree.
pub(super) struct Opened {
    pub(super) repository: Repository,
    pub(super) root: PathBuf,
}

/// Opens the repository that contains `path`, or the nearest directory above it. There is no other way to open one.
///
/// What lies below `path` may be a stranger's, and so may be anything that looks like a repository there. So:
///
/// - Only `.git` counts, a directory or the file that a work tree or a submodule has: Git takes no such name into a
///   commit. A directory that looks like a bare repository is a directory (`safe.bareRepository=explicit` of Git).
/// - The work tree is the directory that holds `.git`; a repository that says otherwise is refused.
/// - An object is what its name says: no `refs/replace`, no grafts (gix reads none), no alternates elsewhere.
/// - Of the configuration only what says how objects and refs are stored is read: no section passes the filter but
///   our own. The format of the repository, `extensions` and `core.bare` are asked for before it.
/// - What is unpacked has a limit: [`Objects`].
/// - Nothing comes from the environment, `GIT_DIR` included.
pub(super) fn open(path: &Path) -> Result<Opened, GitError> {
    let shown = || path.display().to_string();
    let none = || {
        let reason = format!(
            "`{}` is not in a Git repository: neither it nor a directory above it has a `.git`",
            shown()
        );
        GitError::unreadable(reason, OTHER_INPUT)
    };
    let unopened = |reason: String| unopened(path, &reason);
    let absolute = std::path::absolute(path).map_err(|_| none())?;
    let directory = absolute
        .ancestors()
        .find(|ancestor| ancestor.join(DOT_GIT).symlink_metadata().is_ok())
        .ok_or_else(none)?;
    let options = gix::open::Options::isolated()
        // The owner of the files does not matter, because nothing in them is run or obeyed: containers own none of
        // theirs.
        .with(gix::sec::Trust::Full)
        .filter_config_section(|section| section.source == Source::Api)
        .config_overrides([
            "core.useReplaceRefs=false".to_owned(),
            format!("gitoxide.objects.allocLimit={ALLOCATION}"),
        ]);
    let mut repository = gix::ThreadSafeRepository::open_opts(directory.join(DOT_GIT), options)
        .map_err(|error| unopened(whole(&error)))?
        .to_thread_local();
    // gix reads it past the filter.
    repository.clear_namespace();
    let work_tree = repository.workdir().ok_or_else(|| {
        let reason = format!(
            "the repository of `{}` is bare: it has no work tree to compare with",
            shown()
        );
        GitError::foreign(reason, "run it in a work tree: `git worktree add DIR`")
    })?;
    let root = std::fs::canonicalize(directory).map_err(|error| unopened(error.to_string()))?;
    for work_tree in configured_work_tree(&repository)
        .iter()
        .map(PathBuf::as_path)
        .chain([work_tree])
    {
        if !std::fs::canonicalize(work_tree).is_ok_and(|work_tree| work_tree == root) {
            let work_tree = work_tree.display();
            return Err(GitError::foreign(
                format!(
                    "the repository of `{}` has its work tree elsewhere: `{work_tree}`",
                    shown()
                ),
                "only the directory that contains `.git` is a work tree: `git config --unset core.worktree`, or `git worktree add DIR`",
            ));
        }
    }
    refuse_alternates(&repository, path)?;
    Ok(Opened { repository, root })
}

fn unopened(path: &Path, reason: &str) -> GitError {
    let reason = format!("cannot open the Git repository of `{}`: {reason}", path.display());
    GitError::unreadable(reason, OTHER_INPUT)
}

/// The entry that marks the root of a work tree.
const DOT_GIT: &str = ".git";

/// `core.worktree`, which submodules have. A work tree that was added shares the configuration of the first one, whose
/// place is not its own.
fn configured_work_tree(repository: &Repository) -> Option<PathBuf> {
    let git_dir = repository.git_dir();
    let is_added = repository.common_dir() != git_dir;
    let configuration = repository.config_snapshot();
    let value = configuration
        .plumbing()
        .string_filter("core.worktree", |section| {
            section.source == Source::Worktree || !is_added
        })?;
    let value = gix::path::from_bstring(value).ok()?;
    // A link to `.git` is followed first, as Git does.
    Some(std::fs::canonicalize(git_dir).ok()?.join(value))
}

/// Another repository's objects were not checked together with this one.
fn refuse_alternates(repository: &Repository, path: &Path) -> Result<(), GitError> {
    let failed = |reason: String| unopened(path, &reason);
    let objects = repository.objects.store_ref().path().to_owned();
    let home = std::fs::canonicalize(repository.common_dir()).map_err(|error| failed(error.to_string()))?;
    let alternates =
        gix::odb::alternate::resolve(objects, Path::new("/")).map_err(|error| failed(whole(&error)))?;
    for alternate in alternates {
        if !std::fs::canonicalize(&alternate).is_ok_and(|alternate| alternate.starts_with(&home)) {
            let (path, alternate) = (path.display(), alternate.display());
            return Err(GitError::foreign(
                format!("the repository of `{path}` uses objects from outside: `{alternate}`"),
                "copy them: `git repack -a -d`, then remove `objects/info/alternates` (`git clone` does it with `--dissociate`)",
            ));
        }
    }
    Ok(())
}

fn no_revision(repository: &Repository, revision: &str) -> GitError {
    let references = repository.references().ok();
    let references = references.as_ref().and_then(|references| references.all().ok());
    let references = references.into_iter().flatten().filter_map(Result::ok);
    let names: Vec<String> = references
        .map(|reference| reference.name().shorten().to_string())
        .collect();
    let nearest = nearest(revision, names.iter().map(String::as_str));
    let is_shallow = repository.is_shallow().unwrap_or(false);
    let kind = if is_shallow { "shallow clone" } else { "repository" };
    let help = match nearest {
        _ if is_configured(revision) => format!(
            "the configuration of branches is not read; name the branch that this prints: `git rev-parse --abbrev-ref \
             {}`",
            shell_word(revision)
        ),
        _ if is_shallow && is_relative(revision) => "fetch older commits: `git fetch --unshallow` (in GitHub Actions: \
             `fetch-depth: 0` for actions/checkout)"
            .to_owned(),
        _ if is_shallow => format!(
            "fetch it: `git fetch --unshallow`, or `git fetch --depth=1 origin {}` and `--base FETCH_HEAD` \
             (in GitHub Actions: `fetch-depth: 0` for actions/checkout)",
            shell_name(revision.strip_prefix("origin/").unwrap_or(revision))
        ),
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "fetch it first (`git fetch origin`), or name a branch, tag or commit that is there; pass another input with \
             `--base-dir DIR`, or a rendered tree with `--base-tree DIR`"
            .to_owned(),
    };
    GitError::unreadable(format!("there is no revision `{revision}` in this {kind}"), help)
}

/// The maximum size of one file, as on disk.
const MOST_OF_A_FILE: usize = kube_yaml::Limits::DEFAULT_DOCUMENT_BYTES;
/// The maximum size of the target of a link: Linux accepts no longer path (`PATH_MAX`).
const MOST_OF_A_LINK: usize = 4096;
/// The maximum size of one directory: 400,000 names.
const MOST_OF_A_DIRECTORY: usize = 16 << 20;
/// The maximum total size of all files that are taken over from a work tree.
const MOST_TOGETHER: usize = 256 << 20;
/// Bytes of files that are read in one step.
const BYTES_PER_STEP: usize = 9;
/// The work for a byte of a file that is the same as another: each of its documents is an object of its own, which takes
/// sixty times its text.
const STEPS_PER_COPIED_BYTE: u64 = 7;

/// The memory that gix may use for one object on the way to another: the base of a delta may be larger than its result.
pub(super) const ALLOCATION: usize = 4 * MOST_OF_A_FILE;

/// The objects of a repository.
#[derive(Debug)]
pub(super) struct Objects {
    repository: Repository,
    /// Contents of files that are known already, by their names.
    offered: RefCell<HashMap<ObjectId, Vec<u8>>>,
    read: RefCell<HashSet<ObjectId>>,
    work: Work,
}

/// One entry of a tree.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) entry: TreeEntry,
    pub(super) id: ObjectId,
}

impl Objects {
    pub(super) fn new(repository: Repository) -> Self {
        Self {
            repository,
            offered: RefCell::default(),
            read: RefCell::default(),
            work: Work::default(),
        }
    }

    /// Whether Git's own directory has one of this name.
    pub(super) fn has_directory(&self, name: &str) -> bool {
        self.repository.common_dir().join(name).is_dir()
    }

    /// Takes over the files of a work tree that these objects are: most of them, and opening one is faster than unpacking
    /// an object, which a partial clone may lack. Its content proves that it is the same, and nothing else does. It counts
    /// as if it were unpacked.
    pub(super) fn take_over<'p>(&self, root: &Path, files: impl Iterator<Item = (&'p Path, ObjectId)>) {
        let Ok(work_tree) = SandboxDir::open(root) else {
            return;
        };
        let kind = self.repository.object_hash();
        let held = AtomicUsize::new(0);
        let same = |&(path, id): &(&Path, ObjectId)| {
            let bytes = read_at_most(work_tree.file(path).ok()?, MOST_OF_A_FILE).ok()?;
            let is_held = bytes.len() <= MOST_OF_A_FILE
                && is_blob_of(kind, id, &bytes)
                && held.fetch_add(bytes.len(), Relaxed) <= MOST_TOGETHER;
            is_held.then_some((id, bytes))
        };
        let same = parallel::map(&files.collect::<Vec<_>>(), same);
        self.offered.borrow_mut().extend(same.into_iter().flatten());
    }

    /// The entries of a tree, in the order of their names.
    ///
    /// # Errors
    /// It is missing, damaged, or too large, or has a name that leads out of it.
    pub(super) fn tree(&self, id: ObjectId) -> Result<Vec<Entry>, TreeError> {
        self.check_size(id, MOST_OF_A_DIRECTORY)?;
        let tree = self.repository.find_tree(id).map_err(|error| missing(&error))?;
        let mut entries = Vec::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|error| missing(&error))?;
            // A name that is not UTF-8 cannot be typed, and does not belong to a manifest.
            let Ok(name) = std::str::from_utf8(entry.filename()) else {
                continue;
            };
            if !is_name(name) {
                let reason = format!("it has an entry named `{name}`, which Git never checks out");
                return Err(TreeError::new(reason, "check it: `git fsck`"));
            }
            entries.push(Entry {
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
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The bytes of a file or a link.
    ///
    /// # Errors
    /// It is missing, damaged, or too large, alone or with what was read before.
    pub(super) fn file(&self, id: ObjectId, entry: TreeEntry) -> Result<Vec<u8>, TreeError> {
        let most = if entry == TreeEntry::Link {
            MOST_OF_A_LINK
        } else {
            MOST_OF_A_FILE
        };
        let offered = (entry == TreeEntry::File).then(|| self.offered.borrow_mut().remove(&id));
        if let Some(bytes) = offered.flatten() {
            let is_too_much = self.count(id, 1, bytes.len())?;
            return Ok(if is_too_much { Vec::new() } else { bytes });
        }
        let size = self.check_size(id, most)?;
        if self.count(id, 1, size)? {
            return Ok(Vec::new());
        }
        let mut blob = self.repository.find_blob(id).map_err(|error| missing(&error))?;
        Ok(blob.take_data())
    }

    /// The size in the object's header; the object database enforces it.
    fn check_size(&self, id: ObjectId, most: usize) -> Result<usize, TreeError> {
        let size = self
            .repository
            .find_header(id)
            .map_err(|error| missing(&error))?
            .size();
        usize::try_from(size)
            .ok()
            .filter(|size| *size <= most)
            .ok_or_else(|| TreeError::new(format!("it has {size} bytes; at most {most} are read"), SMALLER))
    }

    /// Counts a directory of so many entries, or a file of so many bytes. Whether there is no more to read, as it was too
    /// much before.
    ///
    /// # Errors
    /// When it is too much now.
    pub(super) fn count(&self, id: ObjectId, entries: usize, bytes: usize) -> Result<bool, TreeError> {
        // It is reported once; what comes then is empty.
        if self.work.is_spent() {
            return Ok(true);
        }
        if !self.read.borrow_mut().insert(id) {
            self.work.pay(entries, STEPS_PER_COPY);
            self.work.pay(bytes, STEPS_PER_COPIED_BYTE);
        }
        if self.work.pay(bytes / BYTES_PER_STEP, 1) {
            return Ok(false);
        }
        Err(TreeError::too_costly())
    }
}

/// Whether Git gives a file of this content this name.
pub(super) fn is_blob_of(kind: gix::hash::Kind, id: ObjectId, content: &[u8]) -> bool {
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content).is_ok_and(|found| found == id)
}

/// Whether Git itself would take a name into a tree or an index (git/git read-cache.c@v2.44.0 `verify_path`, fsck.c
/// `fsck_tree`). Any other leads around in circles, or out.
pub(super) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.bytes().any(|byte| matches!(byte, b'/' | b'\0'))
        && !name.eq_ignore_ascii_case(".git")
}

/// An object that a complete clone would have.
fn missing(error: &dyn std::error::Error) -> TreeError {
    let help = "a partial clone lacks objects: `git fetch --refetch --no-filter`; else check it: `git fsck`";
    TreeError::new(whole(error), help)
}

/// An error with all its causes: the first message alone explains little.
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

/// Whether a file is a pointer of Git LFS, of any version. It stands for a file that is stored outside the repository; the format
/// is in the specification of Git LFS, "The Pointer".
pub(super) fn is_pointer(start: &[u8]) -> bool {
    start.starts_with(b"version https://git-lfs.github.com/spec/")
}

/// The pointer that Git LFS puts into the repository for a content. Its keys are sorted and its form is fixed, so one content
/// has one pointer.
pub(super) fn pointer(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let oid: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let size = content.len();
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
}
