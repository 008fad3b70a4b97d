//! The collector that all stages fill: one run reports all that is wrong, in a stable order.

use std::collections::BTreeMap;

use super::{Code, Finding, Severity};

/// What the configuration's `findings` map may say about one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeverityOverride {
    /// Report it with this severity.
    Severity(Severity),
    /// Do not report it.
    Off,
}

/// All findings of a run.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    /// An empty collector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Finding>) {
        self.found.extend(other);
    }

    /// Whether any finding is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// How many findings have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.found
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The findings in the order in which they were added, or sorted after [`Findings::finish`].
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.found.iter()
    }

    /// Applies the configured severities and `--deny warnings`, drops repeats, and sorts by place, then code,
    /// then message, so that the order depends on neither threads nor the order of the stages.
    ///
    /// Codes that are errors because nothing could be read cannot be switched off: see
    /// [`Code::is_configurable`].
    pub fn finish(&mut self, overrides: &BTreeMap<Code, SeverityOverride>, deny_warnings: bool) {
        for finding in &mut self.found {
            if let Some(SeverityOverride::Severity(severity)) = overrides.get(&finding.code) {
                finding.severity = *severity;
            }
        }
        self.found
            .retain(|finding| overrides.get(&finding.code) != Some(&SeverityOverride::Off));
        if deny_warnings {
            for finding in &mut self.found {
                finding.severity = Severity::Error;
            }
        }
        self.found.sort_by(|a, b| {
            (&a.place, a.code, &a.message, &a.label).cmp(&(&b.place, b.code, &b.message, &b.label))
        });
        self.found.dedup();
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.iter()
    }
}
