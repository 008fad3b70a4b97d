//! `policies --coverage` for people: a table of kinds, and the gaps below it; as text, or as Markdown for the summary of a job.

use crate::diagnostic::{GAP, Lines, first_names, one_line, widths};
use crate::outcome::{CoverageReport, Gap};

/// More clusters of a gap are counted.
const MOST_NAMES: usize = 5;

/// Names may have any length, and lines of a table may not.
const MOST_CHARACTERS: usize = 1_000;

/// More gaps are counted in Markdown, which has a limit.
const MOST_GAPS: usize = 200;

const HEADINGS: [&str; 5] = ["KIND", "ROUTES", "COVERED", "OPEN", "GAPS"];

fn rows(report: &CoverageReport) -> Vec<[String; 5]> {
    let kinds = report.kinds.iter().map(|kind| {
        let counts = [kind.routes, kind.covered, kind.open, kind.gaps()];
        let [routes, covered, open, gaps] = counts.map(|count| count.to_string());
        [kind.kind.clone(), routes, covered, open, gaps]
    });
    kinds.collect()
}

/// `HTTPRoute shop/web has no AuthPolicy on us-1 (listener web of Gateway shop/storefront)`.
fn sentence(gap: &Gap) -> String {
    let [route, listener] = &gap.names;
    let clusters = first_names(&gap.clusters, MOST_NAMES);
    let sentence = format!("{route} has no {} on {clusters} ({listener})", gap.kind);
    one_line(&sentence, MOST_CHARACTERS)
}

/// A line for each kind, then one for each gap.
pub fn coverage_text(report: &CoverageReport) -> String {
    let mut text = Lines::default();
    if report.kinds.is_empty() {
        text.push("no policy about routes in the input");
        return text.into_text();
    }
    let mut rows = rows(report);
    rows.insert(0, HEADINGS.map(str::to_owned));
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
    for gap in &report.gaps {
        let place = gap.place.as_ref().map(|place| format!("  {place}"));
        text.push(format_args!("{}{}", sentence(gap), place.unwrap_or_default()));
    }
    text.into_text()
}

/// The same as a table and a list.
pub fn coverage_markdown(report: &CoverageReport) -> String {
    let mut text = String::from("### Routes with a policy in effect\n\n");
    let mut line = |cells: &[String]| text.push_str(&format!("| {} |\n", cells.join(" | ")));
    line(&["Kind", "Routes", "Covered", "Open", "Gaps"].map(str::to_owned));
    line(&["---", "---:", "---:", "---:", "---:"].map(str::to_owned));
    for cells in rows(report) {
        line(&cells);
    }
    if !report.gaps.is_empty() {
        text.push('\n');
    }
    for gap in report.gaps.iter().take(MOST_GAPS) {
        let place = gap.place.as_ref().map(|place| format!(" `{place}`"));
        text.push_str(&format!("- {}{}\n", sentence(gap), place.unwrap_or_default()));
    }
    let more = report.gaps.len().saturating_sub(MOST_GAPS);
    if more > 0 {
        text.push_str(&format!("- and {more} more\n"));
    }
    text
}
