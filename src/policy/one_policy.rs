//! One policy: what it says and where it wants to be.
//!
//! Owns: [`Policy`]. Flows in: what `reading` reads and `targets` resolves. Flows out: the same.
//! Must not know: other policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::declared_target::{Declared, Target};
use super::ids::KindId;
use super::layer::{Layer, Side};
use super::precedence::{Rank, Standing};
use super::profile::Strategy;
use crate::object::Object;
use crate::topology::Node;

/// A policy.
#[derive(Debug, Clone)]
pub struct Policy<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its kind.
    pub kind: KindId,
    /// Whether it lives on the cluster that is looked at.
    pub local: bool,
    /// Age and `namespace/name`.
    pub rank: Rank,
    /// Its locator in reports.
    pub locator: Arc<str>,
    /// Its settings.
    pub layers: Arc<[Layer]>,
    /// Its targets, in their order; selectors are followed by what they select.
    pub targets: Vec<Declared>,
    /// Why nothing of it counts.
    pub invalid: Option<String>,
}

impl Policy<'_> {
    /// The nodes that it is attached to, each once.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let nodes: BTreeSet<Node> = self
            .targets
            .iter()
            .filter_map(|declared| match declared.target {
                Target::Attached(node) => Some(node),
                _ => None,
            })
            .collect();
        nodes.into_iter().collect()
    }

    /// The side that its settings stand on; overrides when it has both.
    #[must_use]
    pub fn side(&self) -> Side {
        self.layers.last().map_or(Side::Defaults, |layer| layer.side)
    }

    /// How it merges where its strategy counts.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.layers
            .first()
            .map_or(Strategy::Atomic, |layer| layer.strategy)
    }
    /// Where it stands against others of its level.
    pub(super) fn standing(&self) -> Standing<'_> {
        Standing {
            side: self.side(),
            rank: &self.rank,
        }
    }
}
