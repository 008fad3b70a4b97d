//! Finds what is in an output although no run wrote it: whoever applies the output reads that, too.
//!
//! Owns: which entries of a directory nobody accounts for. Flows in: the directory, a [`Tree`], the record, the files
//! that a configuration excepts. Flows out: offenders. Must not know: what any file means to those who apply it.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::compare::start_of;
use super::error::{Obstacle, Offender};
use super::inventory::{INVENTORY, Inventory, PLAN};
use super::record::Record;
use super::root::Root;
use super::storage::{mark, mark_of};
use super::tree::{Tree, directory_of, is_git_directory, name_of, prefixes};
use crate::beneath::{Directory, Entry};

/// Everything in the output that is not wanted, not on record, not excepted, and not in a part that the tree does not
/// speak for. A directory with nothing of ours is one offender; one without any file is none, because Git has none.
pub(super) fn unexpected(
    root: &Root,
    tree: &dyn Tree,
    record: &Record,
    exceptions: &[String],
) -> Vec<Offender> {
    let mut directories = root.directories();
    let mut has_shape = |path: &str| {
        let open = directories.of(path).ok();
        let start = open.and_then(|open| open.open(name_of(path)).and_then(start_of).ok());
        start.is_none_or(|start| tree.has_shape(path, &start))
    };
    let wanted: BTreeSet<String> = (0..tree.len())
        .map(|index| tree.path(index).into_owned())
        .collect();
    let recorded = record.lists().flat_map(Inventory::iter).map(|(path, _)| path);
    // An inventory makes nothing ours that we never write.
    let recorded = recorded.filter(|path| !wanted.contains(*path) && (!tree.owns(path) || has_shape(path)));
    let recorded: BTreeSet<&str> = recorded.chain([INVENTORY, PLAN]).collect();
    let excepted: BTreeSet<&str> = exceptions.iter().map(String::as_str).collect();
    let ours = || wanted.iter().map(String::as_str).chain(recorded.iter().copied());
    let is_known = |path: &str, entry| {
        let is_ours = wanted.contains(path) || recorded.contains(path);
        is_ours || (entry == Entry::File && excepted.contains(path))
    };
    let all = ours().chain(excepted.iter().copied());
    let around: BTreeSet<&str> = all.flat_map(|path| prefixes(directory_of(path))).collect();
    let marks = LazyCell::new(|| ours().map(mark).collect::<BTreeSet<String>>());

    let mut offenders = Vec::new();
    let mut offend = |path: &str, obstacle| {
        offenders.push(Offender {
            path: path.to_owned(),
            obstacle,
        });
    };
    let mut pending = vec![String::new()];
    while let Some(here) = pending.pop() {
        // One that is missing or something else is the business of its files.
        let Ok(open) = root.directory.enter(&here) else {
            continue;
        };
        let entries = match open.entries() {
            Ok(entries) => entries,
            Err(error) => {
                offend(&here, Obstacle::Unreadable(error.to_string()));
                continue;
            }
        };
        for (name, entry) in entries.flatten() {
            let name = name.to_string_lossy();
            let path = if here.is_empty() {
                name.to_string()
            } else {
                format!("{here}/{name}")
            };
            match entry {
                // No commit contains one.
                _ if is_git_directory(&name) => {}
                Entry::Directory if around.contains(path.as_str()) => pending.push(path),
                Entry::Directory if !tree.owns(&format!("{path}/")) || !has_files(&open, &name) => {}
                Entry::Directory => offend(&path, Obstacle::Unexpected),
                // A run that is under way, or was killed, made it.
                Entry::File if mark_of(&name).is_some_and(|mark| marks.contains(mark)) => {}
                _ if is_known(&path, entry) || !tree.owns(&path) => {}
                _ => offend(&path, Obstacle::Unexpected),
            }
        }
    }
    offenders
}

/// Whether anything but directories is below one.
fn has_files(open: &Directory, name: &str) -> bool {
    let mut pending = vec![name.to_owned()];
    while let Some(path) = pending.pop() {
        // What cannot be listed may contain anything.
        let Ok(Ok(entries)) = open.enter(&path).map(|directory| directory.entries()) else {
            return true;
        };
        for entry in entries {
            match entry {
                Ok((name, Entry::Directory)) => pending.push(format!("{path}/{}", name.to_string_lossy())),
                _ => return true,
            }
        }
    }
    false
}
