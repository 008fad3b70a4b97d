//! Findings that are the same for several targets of one policy: the first with each reason stands for all.
//!
//! Owns: which findings these are, and how the others are counted. Flows in: findings, each with its reason. Flows out: one
//! finding for each place and reason. Must not know: policies, targets.
//!
//! A selector is in one place and may select a thousand Gateways.

use std::collections::BTreeMap;

use crate::diagnostic::{Finding, Place, counted};

/// Findings by place and reason, in the order of their first targets.
pub(super) struct PerReason<R> {
    findings: Vec<(Finding, usize)>,
    first: BTreeMap<(Place, R), usize>,
}

impl<R: Ord> PerReason<R> {
    pub(super) const fn new() -> Self {
        Self {
            findings: Vec::new(),
            first: BTreeMap::new(),
        }
    }

    /// Adds the findings about one more target.
    pub(super) fn push(&mut self, reason: R, finding: Finding) {
        let next = self.findings.len();
        let first = *self.first.entry((finding.place.clone(), reason)).or_insert(next);
        match self.findings.get_mut(first) {
            Some((_, more)) => *more = more.saturating_add(1),
            None => self.findings.push((finding, 0)),
        }
    }

    pub(super) fn into_findings(self) -> impl Iterator<Item = Finding> {
        self.findings.into_iter().map(|(finding, more)| match more {
            0 => finding,
            more => finding.note(format!("the same is true of {}", counted(more, "more target"))),
        })
    }
}
