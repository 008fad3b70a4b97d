//! Whether Git's index contains the output that is wanted, so that a commit would include it.
//!
//! Owns: which files count. Flows in: the index, the last commit, a [`Tree`]. Flows out: files that differ. Must not
//! know: the caller, or what is reported about them.
//!
//! A tree that was rendered and not added is as bad as one that was not rendered: the root in the commit would name
//! clusters whose files exist on one machine only (docs/guides/pre-commit.md).

use std::path::Path;

use crate::output::{Change, ChangeKind, FILES_PER_TASK, INVENTORY, Tree, inventory_bytes, listed, position};
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
    let staged = index.files_below(&at);
    if staged.is_empty() && index.ignores(&at) {
        return Vec::new();
    }
    let entries = index.entries();
    let compared = |path: &str, bytes: &[u8]| {
        let kind = match entries.holds(&at.join(path), bytes) {
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
    let found = parallel::map(&tasks, |numbers| {
        let mut buffer = Vec::new();
        let of_file = |number: &usize| {
            buffer.clear();
            tree.content(*number, &mut buffer);
            compared(&tree.path(*number), &buffer)
        };
        numbers.iter().filter_map(of_file).collect::<Vec<_>>()
    });
    let mut differing: Vec<Change> = found.into_iter().flatten().collect();
    if let Some(inventory) = inventory_bytes(output, within) {
        differing.extend(compared(INVENTORY, &inventory));
    }
    let is_left = |path: &String| {
        tree.owns(path) && staged.binary_search(path).is_ok() && position(tree, path).is_none()
    };
    let left = committed(head, &at).into_iter().filter(is_left);
    differing.extend(left.map(|path| Change {
        path,
        kind: ChangeKind::Stale,
    }));
    differing.sort_unstable();
    differing
}

/// The files of ours in the last commit.
fn committed(head: Option<&GitTree>, output: &Path) -> Vec<String> {
    let inventory = head.and_then(|head| head.read(&output.join(INVENTORY)).ok());
    inventory.map_or_else(Vec::new, |inventory| listed(&inventory))
}
