//! The wanted tree: a sorted set of files whose bytes are generated only when they are needed, which paths are safe, and
//! one stream of all objects (`-o -`, and the output of an Argo CD plugin).

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Component, Path};

use rayon::slice::ParallelSliceMut as _;

use super::error::OutputError;

/// What a file is for. Streams contain only objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// One Kubernetes object to apply.
    Object,
    /// A `kustomization.yaml`: read by kustomize, never applied.
    Kustomization,
}

/// When an object must be applied, so that one pass over all objects is enough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Turn {
    /// Before all others: they may refer to it.
    First,
    /// Before what needs the rights that it gives.
    Rights,
    /// Before the Gateways and routes that they protect, which would be open until then.
    Policies,
    /// After these.
    #[default]
    Rest,
}

/// The wanted files, in strictly ascending byte order of their paths.
///
/// A tree of 100,000 files is never in memory as a whole: the engine asks for one file at a time, from any thread, at
/// most twice in a run (to compare, and to write if it differs), and both times the bytes must be the same.
///
/// Paths are relative, with `/` between components, and their components come from validated names: the engine
/// checks once more that none is empty, `.`, `..`, `.git` or begins with `.spokewright-`, and that no path is also a
/// directory of another, and refuses the tree otherwise.
pub trait Tree: Sync {
    /// How many files there are.
    fn len(&self) -> usize;

    /// Whether there are no files at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The path of a file; `index` is below [`Tree::len`]. Called often: it must be cheap.
    fn path(&self, index: usize) -> Cow<'_, str>;

    /// What the file is for.
    fn kind(&self, index: usize) -> FileKind;

    /// When the object in a file is to be applied.
    fn turn(&self, _index: usize) -> Turn {
        Turn::default()
    }

    /// Whether this tree speaks for a path: whether it would list the path if a file belonged there. The others
    /// are another run's part of the same directory; their files and their entries in the record stay as they are.
    /// Every path of the tree is its own.
    fn owns(&self, _path: &str) -> bool {
        true
    }

    /// Whether a tree of this kind may contain a file of this path that starts like this. No other file is overwritten or
    /// deleted, regardless of the record: whoever writes a commit writes the inventory in it.
    fn has_shape(&self, _path: &str, _start: &[u8]) -> bool {
        true
    }

    /// Appends the bytes of the file to `buffer`.
    fn content(&self, index: usize, buffer: &mut Vec<u8>);
}

/// The directory of a path inside the tree, `""` for the root.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The last component of a path inside the tree.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Where Git keeps what it runs and believes.
const GIT: &str = ".git";

/// Whether a name is that of Git's own directory, on any file system: some take `.GIT` for the same.
pub(super) fn is_git_directory(name: &str) -> bool {
    name.eq_ignore_ascii_case(GIT)
}

/// Whether a path stays inside the root on every platform, and is neither one of our own bookkeeping files nor one of
/// Git's.
///
/// This guards against both a tree that was built from an unchecked name and an inventory that somebody (or a
/// broken merge) filled with `../` or absolute paths: neither may ever reach the file system.
pub(super) fn is_safe_path(path: &str) -> bool {
    // All that is not safe is empty or begins with a dot: this runs for every wanted and every listed path.
    let is_safe_part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && (!part.starts_with('.')
                || !part.starts_with(".spokewright-") && !part.eq_ignore_ascii_case(GIT))
    };
    if memchr::memchr(0, path.as_bytes()).is_some() || !path.split('/').all(is_safe_part) {
        return false;
    }
    // Elsewhere a drive letter or a backslash may have a special meaning: the platform's interpretation must agree.
    cfg!(unix) || {
        let is_normal = |component| matches!(component, Component::Normal(_));
        Path::new(path).components().all(is_normal)
            && Path::new(path).components().count() == path.split('/').count()
    }
}

/// How much is collected before it is written.
const CHUNK: usize = 256 * 1024;

/// Writes all objects of a tree, `---` alone on its line between them (Argo CD refuses anything else on that line):
/// those that come first, then sorted by cluster, turn and work. The names decide, not the bytes of the paths, in which
/// `eu-1-b/` comes before `eu-1/`. `kubectl apply -f -` applies them in this order (docs/systems/gitops.md#kubectl).
/// Kustomizations are left out. A reader that has seen enough (a broken pipe) is no error.
///
/// # Errors
/// When writing fails for any other reason.
pub fn stream(tree: &dyn Tree, sink: &mut dyn Write) -> Result<(), OutputError> {
    match write_all(tree, sink) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(OutputError::Stream),
    }
}

fn write_all(tree: &dyn Tree, sink: &mut dyn Write) -> io::Result<()> {
    let mut order = (0..tree.len())
        .filter(|index| tree.kind(*index) == FileKind::Object)
        .collect::<Vec<_>>();
    // Sorted anew: by bytes, `eu-1-b/x` comes before `eu-1/x`, and turns are not in the paths.
    order.par_sort_by_cached_key(|index| {
        let (turn, path) = (tree.turn(*index), tree.path(*index));
        let (directory, name) = names(&path);
        let directory: Vec<String> = directory.split('/').map(str::to_owned).collect();
        (turn != Turn::First, directory, turn, name.to_owned())
    });
    let mut buffer = Vec::with_capacity(CHUNK.saturating_mul(2));
    for (position, index) in order.into_iter().enumerate() {
        if position > 0 {
            buffer.extend_from_slice(b"---\n");
        }
        tree.content(index, &mut buffer);
        // The next `---` must begin a line.
        if buffer.last().is_some_and(|last| *last != b'\n') {
            buffer.push(b'\n');
        }
        if buffer.len() >= CHUNK {
            sink.write_all(&buffer)?;
            buffer.clear();
        }
    }
    sink.write_all(&buffer)?;
    sink.flush()
}

/// The names in a path: cluster, work.
fn names(path: &str) -> (&str, &str) {
    let path = path.strip_suffix(".yaml").unwrap_or(path);
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::prefixes;

    #[test]
    fn a_path_that_leaves_the_root_or_names_our_bookkeeping_is_not_safe() {
        for path in [
            "",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            ".",
            "a\0b",
            ".spokewright-inventory",
            ".spokewright-inventory.next",
            "a/.spokewright-tmp-1",
            ".git",
            ".git/hooks/pre-commit",
            "a/.GIT/config",
        ] {
            assert!(!is_safe_path(path), "{path:?}");
        }
        for path in ["a", "a/b.yaml", "_hub/x.yaml", "...", "a/..b", ".gitattributes"] {
            assert!(is_safe_path(path), "{path:?}");
        }
    }

    #[test]
    fn prefixes_run_from_the_outermost_to_the_directory_itself() {
        assert_eq!(prefixes("a/b/c").collect::<Vec<_>>(), ["a", "a/b", "a/b/c"]);
        assert_eq!(prefixes("").count(), 0);
        assert_eq!((directory_of("a/b/c"), name_of("a/b/c")), ("a/b", "c"));
        assert_eq!((directory_of("c"), name_of("c")), ("", "c"));
    }
}
