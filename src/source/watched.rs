//! What a run reads, as it stood at one moment, so that a later look says what changed.
//!
//! Owns: which directories are to be watched, which events deserve a second look, and what counts as a change. The
//! second look walks the input again, by the very rules of reading it: what is not read (the output, `.git`, what
//! is ignored or excluded) can never be a change, whatever happens to it.
//! Flows in: a [`Request`] and the configuration's place. Flows out: [`Watched`], and [`Change`]s between two.
//! Must not know: how events reach us, or what is done about a change.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::discover::{Request, explore, show};
use crate::diagnostic::Findings;

/// The input of one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Every file that a run would read, by the path that people see.
    files: BTreeMap<String, Fingerprint>,
    /// The real directories that were walked.
    directories: BTreeSet<PathBuf>,
    /// Real directories around the input: where it would appear again, and where a `.gitignore` counts.
    around: BTreeSet<PathBuf>,
    /// Where inputs are, or would be.
    roots: BTreeSet<PathBuf>,
    missing: Vec<PathBuf>,
}

/// What distinguishes two states of a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    modified: Option<Duration>,
    length: u64,
    identity: u64,
    permissions: fs::Permissions,
}

/// How a file differs from what it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is read now.
    Added(String),
    /// It is not read any more.
    Removed(String),
    /// It has other bytes, or may have.
    Changed(String),
}

impl Change {
    /// The file, as people see it.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Added(path) | Self::Removed(path) | Self::Changed(path) => path,
        }
    }
}

impl Watched {
    /// Looks at everything that a run would read, and at `config`, the file that says what that is.
    #[must_use]
    pub fn look(request: &Request, config: Option<&Path>) -> Self {
        // What is wrong with the input is for the run to say.
        let explored = explore(request, &mut Findings::new());
        let mut watched = Self::default();
        let named = explored.files.iter().map(|file| file.path.as_path());
        for path in named.chain(config) {
            if let Some(fingerprint) = fingerprint(path) {
                watched.files.insert(show(path), fingerprint);
            }
        }
        let real = |path: &PathBuf| fs::canonicalize(path).ok();
        watched.directories = explored.directories.iter().filter_map(real).collect();
        let roots = request.hub.iter().chain(&request.spokes);
        for root in roots.map(PathBuf::as_path).chain(config) {
            watched.root(root);
        }
        watched.missing = request
            .hub
            .iter()
            .filter(|path| !path.exists())
            .cloned()
            .collect();
        watched
    }

    /// Where this input is, and what has to be watched so that nothing that happens to it is missed.
    fn root(&mut self, root: &Path) {
        let Ok(absolute) = std::path::absolute(root) else {
            return;
        };
        // A link and what it leads to can go away separately.
        for path in [Some(absolute.clone()), fs::canonicalize(&absolute).ok()]
            .into_iter()
            .flatten()
        {
            let standing = path.ancestors().skip(1).find_map(|directory| {
                let rest = path.strip_prefix(directory).ok()?;
                Some((fs::canonicalize(directory).ok()?, rest))
            });
            if let Some((directory, rest)) = standing {
                self.roots.insert(directory.join(rest));
                self.around.insert(directory);
            }
        }
        // Ignore files count up to the root of the repository.
        let Ok(real) = fs::canonicalize(&absolute) else {
            return;
        };
        if let Some(repository) = real.ancestors().find(|directory| directory.join(".git").exists()) {
            let above = real.ancestors().skip(1);
            self.around.extend(
                above
                    .take_while(|directory| directory.starts_with(repository))
                    .map(Path::to_owned),
            );
        }
    }

    /// The real directories to watch, each by itself: what stands below one that is not listed does not matter.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let around = self.around.difference(&self.directories);
        self.directories.iter().chain(around).map(PathBuf::as_path)
    }

    /// Inputs that were named and are not there.
    #[must_use]
    pub fn missing(&self) -> &[PathBuf] {
        &self.missing
    }

    /// How many files a run would read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether a run would read nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether something that happened to `path`, a real path, deserves a second look. A `no` is certain.
    #[must_use]
    pub fn concerns(&self, path: &Path) -> bool {
        if self.directories.contains(path) || self.roots.iter().any(|root| root.starts_with(path)) {
            return true;
        }
        let Some(parent) = path.parent() else { return false };
        let name = path.file_name().unwrap_or_default();
        if name == OsStr::new(".gitignore") {
            return self.directories.contains(parent) || self.around.contains(parent);
        }
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        !is_hidden && self.directories.contains(parent)
    }

    /// What is different from an earlier look, by path.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (path, fingerprint) in &self.files {
            match earlier.files.get(path) {
                None => changes.push(Change::Added(path.clone())),
                Some(before) if before != fingerprint => changes.push(Change::Changed(path.clone())),
                Some(_) => {}
            }
        }
        let gone = earlier
            .files
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        changes.extend(gone.cloned().map(Change::Removed));
        changes.sort_by(|a, b| a.path().cmp(b.path()));
        changes
    }
}

fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let metadata = fs::metadata(path).ok()?;
    let modified = metadata.modified().ok();
    Some(Fingerprint {
        modified: modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()),
        length: metadata.len(),
        identity: identity(&metadata),
        permissions: metadata.permissions(),
    })
}

/// A file that another one took the place of may have its time and its length.
#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> u64 {
    0
}

/// When a burst of events is over: an editor saves with several, a checkout with thousands.
///
/// Times count from any fixed moment.
///
/// ```
/// use std::time::Duration;
/// use spokewright::source::Debounce;
///
/// let at = Duration::from_millis;
/// let mut burst = Debounce::default();
/// assert_eq!(burst.wait(at(0)), None, "nothing happened");
/// burst.event(at(10));
/// burst.event(at(60));
/// assert_eq!(burst.wait(at(60)), Some(Debounce::QUIET));
/// assert_eq!(burst.wait(at(60) + Debounce::QUIET), Some(Duration::ZERO), "over");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Debounce {
    first: Option<Duration>,
    last: Duration,
}

impl Debounce {
    /// So long nothing must happen for a burst to be over.
    pub const QUIET: Duration = Duration::from_millis(100);
    /// A burst that goes on is cut after this: something writes all the time, and people want to see something.
    pub const LONGEST: Duration = Duration::from_secs(2);

    /// Something happened.
    pub fn event(&mut self, at: Duration) {
        self.first.get_or_insert(at);
        self.last = self.last.max(at);
    }

    /// How long to wait before the burst is over, unless more happens; `None` when nothing has happened.
    #[must_use]
    pub fn wait(&self, now: Duration) -> Option<Duration> {
        let first = self.first?;
        let quiet = self.last.saturating_add(Self::QUIET);
        let latest = first.saturating_add(Self::LONGEST);
        Some(quiet.min(latest).saturating_sub(now))
    }
}
