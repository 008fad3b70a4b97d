//! How many errors and warnings there are, for the closing line of a run.
//!
//! Owns: that line. Flows in: findings. Flows out: [`FindingCounts`]. Must not know: which findings.

use std::fmt;

use super::text::counted;
use super::{Findings, Severity};

/// Counts of findings; prints as `2 errors, 1 warning, 3 suppressed`, and as `no findings` when there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FindingCounts {
    /// Findings that stop anything from being written.
    pub errors: usize,
    /// Findings that do not.
    pub warnings: usize,
    /// Accepted warnings, which are not counted.
    pub suppressed: usize,
}

impl FindingCounts {
    /// The count of one severity.
    pub(super) fn of(&mut self, severity: Severity) -> &mut usize {
        match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        }
    }

    /// The counts as what is left out: `37 more errors, 1 more warning`.
    pub(super) fn more(self) -> String {
        self.phrase("more ")
    }

    fn phrase(self, more: &str) -> String {
        let suppressed = (self.suppressed > 0).then(|| format!("{} {more}suppressed", self.suppressed));
        [(self.errors, Severity::Error), (self.warnings, Severity::Warning)]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, severity)| counted(count, &format!("{more}{}", severity.as_str())))
            .chain(suppressed)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl fmt::Display for FindingCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            formatter.write_str("no findings")
        } else {
            formatter.write_str(&self.phrase(""))
        }
    }
}

impl Findings {
    /// How many errors and warnings there are.
    pub fn summary(&self) -> FindingCounts {
        FindingCounts {
            errors: self.count(Severity::Error),
            warnings: self.count(Severity::Warning),
            suppressed: self.suppressed(),
        }
    }
}
