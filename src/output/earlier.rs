//! The files of an earlier run that another tree would replace or remove.
//!
//! Owns: which files of the record those are, and their texts. Flows in: a directory, a [`Tree`]. Flows out: paths, texts.
//! Must not know: what a file means, or whether anything will be written.

use std::path::Path;

use super::directories::position;
use super::error::OutputError;
use super::hash::{Hash, sha256};
use super::inventory::Inventory;
use super::place::open_to_read;
use super::read::{InFile, read_file};
use super::record::Record;
use super::root::Root;
use super::tree::Tree;
use super::unexpected::unexpected;
use crate::diagnostic::Finding;

/// The files of the last complete run into a directory.
#[derive(Debug)]
pub struct Earlier {
    root: Option<Root>,
    record: Record,
}

impl Earlier {
    /// Looks into a directory, which must be `within` another; one without an inventory has nothing of ours.
    ///
    /// # Errors
    /// The directory is elsewhere, or the inventory cannot be read or is damaged.
    pub fn open(root: &Path, within: Option<&Path>) -> Result<Self, OutputError> {
        let root = open_to_read(root, within)?;
        let record = root.as_ref().map(Record::read).transpose()?.unwrap_or_default();
        Ok(Self { root, record })
    }

    /// The paths of the files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.inventory().map(|(path, _)| path)
    }

    fn inventory(&self) -> impl Iterator<Item = (&str, &Hash)> {
        self.record.inventory().into_iter().flat_map(Inventory::iter)
    }

    /// What is in the directory although neither `tree` nor the record nor `exceptions` list it; nothing if no run has
    /// written there.
    pub fn unexpected(&self, tree: &dyn Tree, exceptions: &[String]) -> Vec<Finding> {
        let root = self.root.as_ref().filter(|_| self.record.inventory().is_some());
        let Some(root) = root else { return Vec::new() };
        let mut offenders = unexpected(root, tree, &self.record, exceptions);
        offenders.sort_unstable();
        let findings = offenders.iter().map(|offender| offender.finding(root.path()));
        findings.collect()
    }

    /// The text of a file that `tree` would replace or remove, as it is now; `None` for one that stays as it is, is another
    /// part's, or is gone. Only files that would be replaced are read: the record has the hashes of the others.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn replaced(&self, tree: &dyn Tree, path: &str) -> Result<Option<String>, OutputError> {
        if !tree.owns(path) {
            return Ok(None);
        }
        let mut buffer = Vec::new();
        if let Some(index) = position(tree, path) {
            tree.content(index, &mut buffer);
            let wanted = sha256(&buffer);
            if self
                .record
                .inventory()
                .into_iter()
                .flat_map(|inventory| inventory.hashes(path))
                .any(|listed| *listed == wanted)
            {
                return Ok(None);
            }
        }
        let Some(root) = &self.root else { return Ok(None) };
        let found = read_file(&mut root.directories(), path, &mut buffer)?;
        // A file that is no longer ours stops the writing, which reports it.
        Ok((found == InFile::Read).then(|| String::from_utf8_lossy(&buffer).into_owned()))
    }
}
