//! The parts of the output that a tree is not responsible for: their lines of the record are carried over.
//!
//! Owns: which lines stay, and with which hash. Flows in: the record, a [`Tree`] for a part of the output. Flows out:
//! paths with hashes. Must not know: how parts are chosen.

use std::collections::BTreeMap;

use super::compare::hash_of;
use super::hash::Hash;
use super::inventory::Inventory;
use super::record::Record;
use super::root::{Directories, Root};
use super::tree::{Tree, name_of};

/// What the record lists of parts that the tree does not speak for. After an interrupted run of such a part a path
/// may be listed with several hashes: the one that its file has counts, or else the inventory's. A path that is
/// gone from the disk stays on record, so that its own part still looks at its directory.
pub(super) fn kept(root: Option<&Root>, tree: &dyn Tree, record: &Record) -> Vec<(String, Hash)> {
    let mut listed: BTreeMap<&str, Vec<&Hash>> = BTreeMap::new();
    for (path, hash) in record.lists().flat_map(Inventory::iter) {
        if !tree.owns(path) {
            let hashes = listed.entry(path).or_default();
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
    }
    let mut directories = root.map(Root::directories);
    let one = |(path, hashes): (&str, Vec<&Hash>)| {
        let first = **hashes.first()?;
        let is_known = hashes.len() == 1;
        let found = match &mut directories {
            Some(directories) if !is_known => hash_of_file(directories, path),
            _ => None,
        };
        let found = found.filter(|found| hashes.contains(&found));
        Some((path.to_owned(), found.unwrap_or(first)))
    };
    listed.into_iter().filter_map(one).collect()
}

/// The hash of a regular file that can be read.
fn hash_of_file(directories: &mut Directories<'_>, path: &str) -> Option<Hash> {
    hash_of(directories.of(path).ok()?.open(name_of(path)).ok()?).ok()
}
