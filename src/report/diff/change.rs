//! Kinds of change, and how many there are of each: the wording of every format.
//!
//! Owns: this wording and the counts. Flows in: nothing. Flows out: [`Change`], [`Counts`]. Must not know: what
//! changed.

use serde::Serialize;

/// What happened to an object, a work, or a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the new side has it.
    Added,
    /// Both have it, with different values.
    Changed,
    /// Only the old side has it.
    Removed,
}

impl Change {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// How much was added, changed, and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Counts {
    /// Only on the new side.
    pub added: usize,
    /// On both, and different.
    pub changed: usize,
    /// Only on the old side.
    pub removed: usize,
}

impl Counts {
    /// Counts one more.
    pub fn count(&mut self, change: Change) {
        let field = match change {
            Change::Added => &mut self.added,
            Change::Changed => &mut self.changed,
            Change::Removed => &mut self.removed,
        };
        *field = field.saturating_add(1);
    }
}
