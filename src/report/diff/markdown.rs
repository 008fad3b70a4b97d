//! The form for a comment on a pull request: a table, folded sections, and never more bytes than asked for.
//!
//! Owns: this form, and what is left out of it. Flows in: a [`DiffReport`], a budget. Flows out: text. Must not
//! know: who posts it.
//!
//! GitHub takes comments of up to 65,536 characters (docs/systems/gitops.md#github). What does not fit is left out
//! whole, never cut inside an object: a fence or a folded section without its end would swallow all that follows. The
//! comment says what is missing and how to see it.

use std::fmt::Write as _;

use super::clusters::describe;
use super::compare::{ClusterRow, Comparison, ObjectChange};
use super::effective_text::{EffectiveGroup, groups};
use super::hunks::hunks;
use super::report::DiffReport;
use super::sections::{places, presence};
use super::side::BothSides;
use crate::diagnostic::{Lines, and_more, one_line};

/// Bytes of a comment unless somebody asks for another number: safely below GitHub's limit, which counts characters, and
/// no character is less than a byte.
pub const DEFAULT_BUDGET: usize = 60_000;

/// The report as GitHub's Markdown, at most `budget` bytes.
#[must_use]
pub fn markdown(report: &DiffReport, locate: &BothSides<'_>, budget: usize) -> String {
    let comparison = &report.comparison;
    let mut text = head(report);
    if report.is_empty() {
        return if text.len() <= budget { text } else { String::new() };
    }
    let effective = groups(report);
    let total = comparison.changes.len().saturating_add(effective.len());
    // The notice is as long as it can become, so that what it says never pushes it over.
    let longest_notice = notice(report, total, total, budget).len();
    let limit = budget.saturating_sub(longest_notice);
    if text.len() > limit {
        let notice = notice(report, total, total, budget);
        return if notice.len() <= budget {
            notice
        } else {
            String::new()
        };
    }
    table(&mut text, comparison, limit);
    let mut left_out = Vec::new();
    let effective = effective
        .iter()
        .map(|group| (effective_title(group), effective_section(group)));
    let objects = comparison.changes.iter().map(|change| {
        (
            object_title(comparison, change),
            object_section(report, change, locate),
        )
    });
    for (title, section) in effective.chain(objects) {
        if text.len().saturating_add(section.len()) <= limit {
            text.push_str(&section);
        } else {
            left_out.push(title);
        }
    }
    if left_out.is_empty() {
        return text;
    }
    text.push_str(&notice(report, left_out.len(), total, budget));
    for title in left_out {
        let line = format!("> - {title}\n");
        if text.len().saturating_add(line.len()) > budget {
            break;
        }
        text.push_str(&line);
    }
    text
}

fn head(report: &DiffReport) -> String {
    format!(
        "### spokewright: {}\n\n<code>{}</code> compared with <code>{}</code>.\n",
        html(&report.headline()),
        html(&report.titles.new),
        html(&report.titles.old)
    )
}

/// What is missing, why, and how to see it.
fn notice(report: &DiffReport, left_out: usize, total: usize, budget: usize) -> String {
    format!(
        "\n> [!NOTE]\n> {left_out} of {total} changes are left out, to stay below {budget} bytes. All of them: \
         <code>{}</code>\n",
        html(&report.titles.command)
    )
}

/// At most half of what there is room for: the objects matter too.
fn table(text: &mut String, comparison: &Comparison, limit: usize) {
    const HEAD: &str = "\n| objects on each of | added | changed | removed |\n|---|---:|---:|---:|\n";
    const ROOM_FOR_MORE: usize = 64;
    if comparison.rows.is_empty() {
        return;
    }
    let room = limit.saturating_sub(text.len()) / 2;
    let end = text.len().saturating_add(room).saturating_sub(ROOM_FOR_MORE);
    if text.len().saturating_add(HEAD.len()) > end {
        return;
    }
    text.push_str(HEAD);
    for (index, row) in comparison.rows.iter().enumerate() {
        let line = table_row(comparison, row);
        if text.len().saturating_add(line.len()) > end {
            let more: usize = comparison
                .rows
                .iter()
                .skip(index)
                .map(|row| row.clusters.len())
                .sum();
            let _ = writeln!(text, "| {} | | | |", and_more(more, "").unwrap_or_default());
            break;
        }
        text.push_str(&line);
    }
}

fn table_row(comparison: &Comparison, row: &ClusterRow) -> String {
    let names = html(&describe(&comparison.clusters, &row.clusters)).replace('|', "&#124;");
    let presence = match presence(row.presence) {
        "" => String::new(),
        word => format!(" ({word})"),
    };
    let counts = row.objects;
    format!(
        "| {names}{presence} | {} | {} | {} |\n",
        counts.added, counts.changed, counts.removed
    )
}

fn object_title(comparison: &Comparison, change: &ObjectChange) -> String {
    format!(
        "{} <code>{}</code> on {}",
        change.change.as_str(),
        html(&change.object.to_string()),
        html(&describe(&comparison.clusters, &change.clusters))
    )
}

fn object_section(report: &DiffReport, change: &ObjectChange, locate: &BothSides<'_>) -> String {
    let mut body = String::new();
    for line in hunks(change.old.as_ref(), change.new.as_ref()) {
        body.push_str(&line.text);
        body.push('\n');
    }
    let places = places(change, locate);
    let from = if places.is_empty() {
        String::new()
    } else {
        format!("from <code>{}</code>\n\n", html(&places.join(", ")))
    };
    section(&object_title(&report.comparison, change), &from, "diff", &body)
}

fn effective_title(group: &EffectiveGroup) -> String {
    format!("effective: {} on {}", html(&group.title), html(&group.clusters))
}

fn effective_section(group: &EffectiveGroup) -> String {
    let mut body = Lines::default();
    for path in &group.paths {
        body.push(path);
    }
    for line in &group.lines {
        body.push(format_args!("  {line}"));
    }
    section(&effective_title(group), "", "text", &body.into_text())
}

/// One folded section. `body` stands in a fence that nothing inside it can end.
fn section(title: &str, above: &str, language: &str, body: &str) -> String {
    let mut longest = 0_usize;
    let mut run = 0_usize;
    for character in body.chars() {
        run = if character == '`' {
            run.saturating_add(1)
        } else {
            0
        };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!(
        "\n<details><summary>{title}</summary>\n\n{above}{fence}{language}\n{body}{fence}\n\n</details>\n"
    )
}

/// Text that is not taken for markup, a mention or a link.
fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in one_line(text, usize::MAX).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '`' => safe.push_str("&#96;"),
            '@' => safe.push_str("&#64;"),
            '*' => safe.push_str("&#42;"),
            '_' => safe.push_str("&#95;"),
            '[' => safe.push_str("&#91;"),
            '#' => safe.push_str("&#35;"),
            '~' => safe.push_str("&#126;"),
            '$' => safe.push_str("&#36;"),
            '\\' => safe.push_str("&#92;"),
            other => safe.push(other),
        }
    }
    // Addresses become links by themselves.
    safe.replace("://", "&#58;//").replace("www.", "www&#46;")
}
