//! `policies --coverage` for people: a table of kinds, and the gaps below it.

use super::diff::fenced;
use crate::diagnostic::{GAP, Lines, and_more, first_names, one_line, widths};
use crate::outcome::{CoverageReport, Gap};

/// More clusters of a gap are counted.
const MOST_NAMES: usize = 5;

/// Names may have any length, and lines of a table may not.
const MOST_CHARACTERS: usize = 1_000;

/// More gaps are counted in Markdown, which has a limit.
const MOST_GAPS: usize = 200;

const HEADINGS: [&str; 5] = ["KIND", "ROUTES", "COVERED", "OPEN", "GAPS"];

/// A line for each kind, then one for each gap.
pub fn coverage_text(report: &CoverageReport) -> String {
    text(report, usize::MAX)
}

/// The same for the summary of a job. Names and paths are those of a pull request, so nothing of it is markup.
pub fn coverage_markdown(report: &CoverageReport) -> String {
    format!(
        "### Routes with a policy in effect\n\n{}",
        fenced("text", &text(report, MOST_GAPS))
    )
}

fn text(report: &CoverageReport, most: usize) -> String {
    let mut text = Lines::default();
    if report.kinds.is_empty() {
        text.push("no policy about routes in the input");
        return text.into_text();
    }
    let kinds = report.kinds.iter().map(|kind| {
        let counts = [kind.routes, kind.covered, kind.open, kind.gaps];
        let [routes, covered, open, gaps] = counts.map(|count| count.to_string());
        [kind.kind.clone(), routes, covered, open, gaps]
    });
    let rows: Vec<[String; 5]> = std::iter::once(HEADINGS.map(str::to_owned))
        .chain(kinds)
        .collect();
    let widths = widths(
        rows.iter()
            .map(|cells| cells.each_ref().map(|cell| cell.chars().count())),
    );
    for cells in rows {
        let cells = cells.iter().zip(widths).enumerate();
        // Names to the left, and numbers to the right.
        let cells = cells.map(|(column, (cell, width))| match column {
            0 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        text.push(cells.collect::<Vec<_>>().join(GAP));
    }
    for gap in report.gaps.iter().take(most) {
        let place = gap.place.as_ref().map(|place| format!("  {place}"));
        let line = format!("{}{}", sentence(gap), place.unwrap_or_default());
        text.push(one_line(&line, MOST_CHARACTERS));
    }
    if let Some(more) = and_more(report.gaps.len().saturating_sub(most), "gap") {
        text.push(more);
    }
    text.into_text()
}

/// `HTTPRoute shop/web has no AuthPolicy on us-1 (listener web of Gateway shop/storefront)`.
fn sentence(gap: &Gap) -> String {
    let [route, listener] = &gap.names;
    let clusters = match first_names(&*gap.clusters, MOST_NAMES) {
        clusters if clusters.is_empty() => clusters,
        clusters => format!(" on {clusters}"),
    };
    format!("{route} has no {}{clusters} ({listener})", gap.kind)
}
