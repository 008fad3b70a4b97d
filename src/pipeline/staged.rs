//! Whether Git's index contains the output that is wanted, so that a commit would include it.
//!
//! Owns: which files count. Flows in: the index, the last commit, a [`Tree`]. Flows out: files that differ. Must not
//! know: the caller, or what is reported about them.
//!
//! A tree that was rendered and not added is as bad as one that was not rendered: the root in the commit would name
//! clusters whose files exist on one machine only (docs/guides/pre-commit.md).

use std::path::Path;

use crate::output::{Change, ChangeKind, FILES_PER_TASK, INVENTORY, Tree, inventory_bytes, unwanted};
use crate::parallel;
use crate::source::{FileTree as _, GitTree, Held, IndexTree};

/// How the index differs from a wanted tree and its inventory on disk, sorted. None if the output, which must be
/// `within` another directory, is outside the repository, or if the repository's rules exclude it.
///
/// A file that is no longer wanted counts if the last commit's inventory lists it: files of others may be next to ours.
#[must_use]
pub fn unstaged(
    index: &IndexTree,
    head: Option<&GitTree>,
    (output, within): (&Path, Option<&Path>),
    tree: &dyn Tree,
) -> Vec<Change> {
    let Some(at) = index.locate(output) else {
        return Vec::new();
    };
    let staged = index.below(&at);
    if staged.is_empty() && index.ignores(&at) {
        return Vec::new();
    }
    let compared = |path: &str, bytes: &[u8]| {
        let kind = match staged.holds(path, bytes) {
            Held::Same => return None,
            Held::Other => ChangeKind::Changed,
            Held::Nothing => ChangeKind::Missing,
        };
        Some(Change {
            path: path.to_owned(),
            kind,
        })
    };
    let numbers: Vec<usize> = (0..tree.len()).collect();
    let tasks: Vec<&[usize]> = numbers.chunks(FILES_PER_TASK).collect();
    let mut found = Vec::new();
    // The last commit is read meanwhile, by this thread: only one may.
    let left = rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            found = parallel::map(&tasks, |numbers| {
                let mut buffer = Vec::new();
                let of_file = |number: &usize| {
                    buffer.clear();
                    tree.content(*number, &mut buffer);
                    compared(&tree.path(*number), &buffer)
                };
                numbers.iter().filter_map(of_file).collect::<Vec<_>>()
            });
        });
        let committed = head.and_then(|head| head.read(&at.join(INVENTORY)).ok());
        committed.map_or_else(Vec::new, |inventory| unwanted(tree, &inventory))
    });
    let mut differing: Vec<Change> = found.into_iter().flatten().collect();
    if let Some(inventory) = inventory_bytes(output, within) {
        differing.extend(compared(INVENTORY, &inventory));
    }
    let left = left.into_iter().filter(|path| staged.has(path));
    differing.extend(left.map(|path| Change {
        path,
        kind: ChangeKind::Stale,
    }));
    differing.sort_unstable();
    differing
}
