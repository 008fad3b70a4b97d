//! The order in which findings are read.
//!
//! Owns: the order of all fields of a finding, and that of positions. Flows in: findings, and who knows positions. Flows
//! out: the same findings, sorted. Must not know: output formats.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::{Finding, Locate, Place, Severity};
use crate::parallel;

/// Sorts by place, then code, then message, then all else that can be seen: findings that differ only in their notes must
/// not depend on the order of the stages, and repeats must be adjacent.
pub(super) fn sort(found: &mut [Arc<Finding>]) {
    found.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
}

/// Sorts by path, line and column, and within one position as [`sort`] does. With a `limit`, only so many errors and so
/// many warnings stand where they should ([`Findings::order_by_position`](super::Findings::order_by_position)).
pub(super) fn order_by_position(found: &mut Vec<Arc<Finding>>, locate: &dyn Locate, limit: Option<usize>) {
    // Nothing to do after `Findings::finish`. The next sorts keep the order within one position.
    sort(found);
    let runs = runs(std::mem::take(found), locate);
    let ordered: Vec<Vec<Arc<Finding>>> = match limit {
        // In parallel: finding a position reads its document again.
        None => parallel::map_each(runs, |run| ordered(run, locate)),
        Some(limit) => {
            let mut left = Left {
                errors: limit,
                warnings: limit,
            };
            let one = |run: Vec<_>| {
                if left.take(&run) {
                    ordered(run, locate)
                } else {
                    run
                }
            };
            runs.into_iter().map(one).collect()
        }
    };
    *found = ordered.into_iter().flatten().collect();
}

/// Takes the findings apart, in the order of reading: those of a document are together. Where a place of a text that may
/// be in any document is among those of a file, all of them are.
fn runs(found: Vec<Arc<Finding>>, locate: &dyn Locate) -> Vec<Vec<Arc<Finding>>> {
    let mut of_texts = HashSet::new();
    let mut last = None;
    let mut keyed: Vec<(PositionKey<'_>, Arc<Finding>)> = Vec::with_capacity(found.len());
    for finding in found {
        let key = match &finding.place {
            Place::Field { document, .. } | Place::Embedded { document, .. } => match &last {
                Some((before, key)) if before == document => PositionKey::clone(key),
                _ => {
                    let key = position_key(&Place::value(*document, ""), locate);
                    last = Some((*document, key.clone()));
                    key
                }
            },
            place => {
                let key = position_key(place, locate);
                if matches!(place, Place::Text { .. }) {
                    of_texts.insert(key.1.clone());
                }
                key
            }
        };
        keyed.push((key, finding));
    }
    for ((_, path, line, column), _) in &mut keyed {
        if *line > 0 && of_texts.contains(path) {
            (*line, *column) = (1, 1);
        }
    }
    keyed.sort_by(|(key, _), (other, _)| key.cmp(other));
    let mut runs: Vec<Vec<Arc<Finding>>> = Vec::new();
    let mut of_run = None;
    for (key, finding) in keyed {
        match runs.last_mut().filter(|_| of_run.as_ref() == Some(&key)) {
            Some(run) => run.push(finding),
            None => runs.push(vec![finding]),
        }
        of_run = Some(key);
    }
    runs
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
        suppressed,
        ..
    } = finding;
    (
        (place, code, message, label, severity),
        (related, notes, help, suppressed.as_ref()),
    )
}

/// Whether there is no path, the path, line and column.
pub(super) type PositionKey<'a> = (bool, Cow<'a, str>, usize, usize);

pub(super) fn position_key<'a>(place: &Place, locate: &'a dyn Locate) -> PositionKey<'a> {
    match (place, locate.position(place)) {
        (_, Some((path, line, column))) => (false, Cow::Borrowed(path), line, column),
        (Place::Path(path), None) => (false, Cow::Owned(path.clone()), 0, 0),
        (_, None) => (true, Cow::Borrowed(""), 0, 0),
    }
}

/// How many more errors, and how many more warnings, are shown.
struct Left {
    errors: usize,
    warnings: usize,
}

impl Left {
    /// Whether any of these findings is shown. Suppressed ones are not.
    fn take(&mut self, findings: &[Arc<Finding>]) -> bool {
        let mut is_shown = false;
        for finding in findings.iter().filter(|finding| finding.suppressed().is_none()) {
            let left = match finding.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
            };
            is_shown |= *left > 0;
            *left = left.saturating_sub(1);
        }
        is_shown
    }
}

/// The findings of one document by their positions. Those of one place have an order already.
fn ordered(mut run: Vec<Arc<Finding>>, locate: &dyn Locate) -> Vec<Arc<Finding>> {
    let first = run.first().map(|finding| finding.place.clone());
    if run.iter().any(|finding| Some(&finding.place) != first.as_ref()) {
        parallel::sort_by_key(&mut run, |finding| position_key(&finding.place, locate));
    }
    run
}
