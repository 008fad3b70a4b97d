//! The order in which findings are read: by their places in the texts, then by code and message.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Finding, Locate, Place};
use crate::parallel;

/// Sorts by place, then code, then message, then all else that can be seen: findings that differ only in their notes must
/// not depend on the order of the stages, and repeats must be adjacent.
pub(super) fn sort(found: &mut [Arc<Finding>]) {
    found.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
}

/// Sorts by path, line and column, and within one position as [`sort`] does.
pub(super) fn order_by_position(found: &mut Vec<Arc<Finding>>, locate: &dyn Locate) {
    sort(found);
    // In parallel: finding a position reads its document again.
    parallel::sort_by_key(found, |finding| position_key(&finding.place, locate));
}

/// All of a finding, most telling first.
fn sort_key(finding: &Finding) -> impl Ord + '_ {
    let Finding { place, code, .. } = finding;
    let words = (&finding.message, &finding.label, finding.severity);
    let rest = (
        &finding.related,
        &finding.notes,
        &finding.help,
        &finding.suppressed,
    );
    (place, code, words, rest)
}

/// Whether there is no path, the path, line and column.
pub(super) fn position_key<'a>(place: &Place, locate: &'a dyn Locate) -> (bool, Cow<'a, str>, usize, usize) {
    match (place, locate.position(place)) {
        (_, Some((path, line, column))) => (false, Cow::Borrowed(path), line, column),
        (Place::Path(path), None) => (false, Cow::Owned(path.clone()), 0, 0),
        (_, None) => (true, Cow::Borrowed(""), 0, 0),
    }
}
