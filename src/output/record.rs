//! The record: what earlier runs noted about the files that are ours.
//!
//! Owns: inventory and plan together, and so which files are ours. Flows in: the output's directory. Flows out:
//! [`Record`]. Must not know: what is wanted now.

use super::error::OutputError;
use super::hash::Hash;
use super::inventory::{INVENTORY, Inventory, PLAN};
use super::root::Root;

/// The inventory of the last complete run and the plan of an interrupted one, as far as they exist.
#[derive(Debug, Default)]
pub(super) struct Record {
    inventory: Option<Inventory>,
    plan: Option<Inventory>,
}

impl Record {
    /// Reads both.
    ///
    /// # Errors
    /// When one of them cannot be read or trusted.
    pub(super) fn read(root: &Root) -> Result<Self, OutputError> {
        let inventory = Inventory::read(root, INVENTORY)?;
        let plan = Inventory::read(root, PLAN)?;
        Ok(Self { inventory, plan })
    }

    /// The inventory of the last complete run.
    pub(super) fn inventory(&self) -> Option<&Inventory> {
        self.inventory.as_ref()
    }

    /// The plan of an interrupted run.
    pub(super) fn plan(&self) -> Option<&Inventory> {
        self.plan.as_ref()
    }

    /// Both.
    pub(super) fn lists(&self) -> impl Iterator<Item = &Inventory> {
        self.inventory.iter().chain(&self.plan)
    }

    /// The paths of both, those of each in ascending order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.lists().flat_map(Inventory::iter).map(|(path, _)| path)
    }

    /// Whether a path is on record, with whatever bytes.
    pub(super) fn mentions(&self, path: &str) -> bool {
        self.lists().any(|list| list.hashes(path).next().is_some())
    }

    /// Whether a file with these bytes is ours.
    pub(super) fn is_ours(&self, path: &str, hash: &Hash) -> bool {
        // Two branches rendered the list of a directory, each its own way: what is there now is what Git made of both. It
        // lists files and nothing else, so that nothing is lost with it; any other file must have the bytes of one side.
        let is_list = path.rsplit('/').next() == Some("kustomization.yaml");
        let is_merged = |list: &Inventory| is_list && list.hashes(path).nth(1).is_some();
        self.lists()
            .any(|list| list.hashes(path).any(|listed| listed == hash))
            || self.inventory.as_ref().is_some_and(is_merged)
    }
}
