//! One policy: its settings and its targets.
//!
//! Owns: [`Policy`], and [`Authored`], the object that it was made from. Flows in: what `reading` reads and `targets`
//! resolves.
//! Flows out: the same. Must not know: other policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::declared_target::{Declared, Target};
use super::ids::{AuthoredId, KindId, PolicyId};
use super::layer::{Layer, Leaf, Side};
use super::precedence::Standing;
use crate::object::{Object, Rank};
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
    /// Its settings.
    pub layers: Arc<[Layer]>,
    /// Its targets, in their order; selectors are followed by what they select.
    pub targets: Vec<Declared>,
    /// Why nothing of it counts.
    pub invalid: Option<String>,
    /// Why no API server admits it: it is on no cluster, whatever it targets.
    pub inadmissible: Option<String>,
    /// What it stands for, the one that has its name first: never nothing.
    pub(super) authored: Vec<Authored<'a>>,
    /// Of a merged policy, which of those each setting comes from; what is not listed comes from the first.
    pub(super) settings: BTreeMap<Arc<str>, u32>,
}

/// A policy as written: itself; or, of a copy on a cluster, a policy of the hub that was copied, merged into
/// the copy, or gave way to it.
#[derive(Debug, Clone)]
pub struct Authored<'a> {
    /// The object, which has a file and a line.
    pub object: &'a Object,
    /// Its locator in reports.
    pub locator: Arc<str>,
    /// Its settings.
    pub layers: Arc<[Layer]>,
    /// Age and `namespace/name`.
    pub(crate) rank: Rank,
}

/// The original of a copy on a cluster.
#[derive(Debug, Clone)]
pub struct Copied<'a> {
    /// What it stands for, the one that has its name first: never nothing.
    pub(crate) authored: Vec<Authored<'a>>,
    /// Of a merged policy, the position of the one that each setting comes from.
    pub(crate) settings: BTreeMap<Arc<str>, u32>,
}

impl Authored<'_> {
    /// Where it is against others of its level.
    pub(super) fn standing(&self) -> Standing<'_> {
        Standing {
            side: self.layers.last().map_or(Side::Defaults, |layer| layer.side),
            rank: &self.rank,
        }
    }
}

impl<'a> Policy<'a> {
    /// Its locator in reports: on the hub, where it comes from there.
    pub fn locator(&self) -> Arc<str> {
        self.authored
            .first()
            .map_or_else(|| Arc::from(""), |first| Arc::clone(&first.locator))
    }

    /// Its originals, by number.
    pub fn authors(&self, id: PolicyId) -> impl Iterator<Item = (AuthoredId, &Authored<'a>)> {
        let number = move |position| AuthoredId { policy: id, position };
        (0..).map(number).zip(&self.authored)
    }

    /// Whether one of those gave it its name or any of its settings; the others gave way to it.
    pub fn contributes(&self, id: AuthoredId) -> bool {
        id.position == 0 || self.settings.values().any(|position| *position == id.position)
    }

    /// Which of those a setting comes from.
    pub(super) fn author_of(&self, key: &str, leaf: &Leaf) -> AuthoredId {
        AuthoredId {
            policy: leaf.policy,
            position: self.settings.get(key).copied().unwrap_or_default(),
        }
    }

    /// Whether it names or selects targets, instead of applying only because of its namespace or its labels.
    pub(super) fn has_targets(&self) -> bool {
        self.targets.iter().any(|declared| !declared.is_held)
    }

    /// The nodes that it is attached to, each once.
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
}
