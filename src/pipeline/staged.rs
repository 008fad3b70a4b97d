//! Whether Git's index contains the output that is wanted, so that a commit would include it.
//!
//! Owns: which files count. Flows in: the index, the last commit, a [`Tree`]. Flows out: files that differ. Must not
//! know: the caller, or what is reported about them.
//!
//! A tree that was rendered and not added is as bad as one that was not rendered: the root in the commit would name
//! clusters whose files exist on one machine only (docs/guides/pre-commit.md).

use std::path::Path;

use crate::output::{Change, ChangeKind, INVENTORY, Tree, inventory_bytes, listed};
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
    let kind = |path: &str, bytes: &[u8]| match index.holds(&at.join(path), bytes) {
        Held::Same => None,
        Held::Other => Some(ChangeKind::Changed),
        Held::Nothing => Some(ChangeKind::Missing),
    };
    let mut differing = Vec::new();
    let mut note = |path: &str, kind: Option<ChangeKind>| {
        differing.extend(kind.map(|kind| Change {
            path: path.to_owned(),
            kind,
        }));
    };
    let mut buffer = Vec::new();
    let mut wanted = Vec::new();
    for number in 0..tree.len() {
        let path = tree.path(number).into_owned();
        buffer.clear();
        tree.content(number, &mut buffer);
        note(&path, kind(&path, &buffer));
        wanted.push(path);
    }
    if let Some(inventory) = inventory_bytes(output, within) {
        note(INVENTORY, kind(INVENTORY, &inventory));
    }
    let is_left = |path: &String| {
        tree.owns(path) && wanted.binary_search(path).is_err() && staged.binary_search(path).is_ok()
    };
    for path in committed(head, &at).iter().filter(|path| is_left(path)) {
        note(path, Some(ChangeKind::Stale));
    }
    differing.sort_unstable();
    differing
}

/// The files of ours in the last commit.
fn committed(head: Option<&GitTree>, output: &Path) -> Vec<String> {
    let inventory = head.and_then(|head| head.read(&output.join(INVENTORY)).ok());
    inventory.map_or_else(Vec::new, |inventory| listed(&inventory))
}
