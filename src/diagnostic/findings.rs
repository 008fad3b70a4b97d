//! The collector that all stages fill: one run reports all that is wrong, in a stable order.

use std::collections::BTreeMap;

use super::{Code, Finding, Locate, Place, Severity};

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
    /// An override of a code that is not [configurable](Code::is_configurable) has no effect.
    /// [`Findings::order_by_position`] then brings them into reading order.
    pub fn finish(&mut self, overrides: &BTreeMap<Code, SeverityOverride>, deny_warnings: bool) {
        self.found.retain_mut(|finding| {
            match overrides.get(&finding.code).filter(|_| finding.code.is_configurable()) {
                Some(SeverityOverride::Off) => return false,
                Some(SeverityOverride::Severity(severity)) => finding.severity = *severity,
                None => {}
            }
            if deny_warnings {
                finding.severity = Severity::Error;
            }
            true
        });
        // Every field takes part: findings that differ in their notes only must not keep the order in which
        // the stages came by, and repeats must meet.
        self.found.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        self.found.dedup();
    }

    /// Sorts as a reader meets them: by path, line and column, within one position as [`Findings::finish`] does.
    /// What concerns a file as such stands before what is inside it, what concerns the run stands last.
    pub fn order_by_position(&mut self, locate: &dyn Locate) {
        let mut keyed = std::mem::take(&mut self.found)
            .into_iter()
            .map(|finding| (position_key(&finding.place, locate), finding))
            .collect::<Vec<_>>();
        keyed.sort_by(|(position_a, a), (position_b, b)| {
            position_a.cmp(position_b).then_with(|| sort_key(a).cmp(&sort_key(b)))
        });
        self.found = keyed.into_iter().map(|(_, finding)| finding).collect();
    }

    /// The exit status that these findings ask for (design section 3): 0 without an error; of several, 5 before
    /// 3 before 4.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        let rank = |status: &u8| match *status {
            Code::EXIT_FAILED => 0,
            Code::EXIT_INVALID => 1,
            _ => 2,
        };
        self.found
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.code.exit_status())
            .min_by_key(rank)
            .unwrap_or_default()
    }
}

/// All of a finding, most telling first.
fn sort_key(finding: &Finding) -> impl Ord + '_ {
    let Finding {
        code,
        severity,
        message,
        place,
        label,
        related,
        notes,
        help,
    } = finding;
    (place, code, message, label, severity, related, notes, help)
}

/// Whether there is a path at all, the path, line and column.
fn position_key<'a>(place: &'a Place, locate: &'a dyn Locate) -> (bool, String, usize, usize) {
    match (place, locate.locate(place)) {
        (_, Some(span)) => (false, span.path.to_owned(), span.line, span.column),
        (Place::Path(path), None) => (false, path.clone(), 0, 0),
        (_, None) => (true, String::new(), 0, 0),
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}
