//! The format for a comment on a pull request: what is lost, new, and changed, then folded details, within a limit of
//! bytes.
//!
//! GitHub accepts comments of up to 65,536 characters (docs/systems/gitops.md#github). An object that does not fit is
//! left out whole, never cut: a fence or a folded section without its end would swallow everything that follows. The
//! comment says what is missing and how to see it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::compare::{Change, ClusterRow, Comparison, Effect, ObjectChange};
use super::fields::hunks;
use super::report::DiffReport;
use super::side::describe;
use super::summary::{EffectiveGroup, Point, Word, remaining, remaining_groups, summary, told_at_once};
use super::text::{places, presence, word};
use crate::diagnostic::{Lines, and_more, one_line};
use crate::outcome::Presence;

/// Bytes of a comment by default: safely below GitHub's limit, which counts characters,
/// and no character is less than a byte.
pub const DEFAULT_BUDGET: usize = 60_000;

/// The report as GitHub's Markdown, at most `budget` bytes.
pub fn markdown(report: &DiffReport, budget: usize) -> String {
    let comparison = &report.comparison;
    let mut text = head(report);
    if report.is_silent() {
        return if text.len() <= budget { text } else { String::new() };
    }
    let told = told_at_once(comparison);
    let mut sections: Vec<(String, String)> = leaving(report);
    let effective = remaining_groups(report, &told);
    let effective = effective.iter();
    sections.extend(effective.map(effective_section));
    for change in &comparison.changes {
        let clusters = remaining(change, &told);
        if !clusters.is_empty() {
            sections.push(object_section(comparison, change, &clusters));
        }
    }
    let total = sections.len();
    // The notice is as long as it can become, so that what it says never pushes it over.
    let longest_notice = notice(report, total, total, budget).len();
    let limit = budget.saturating_sub(longest_notice);
    if text.len() > limit {
        let notice = format!("{}{}", marker(report), notice(report, total, total, budget));
        let fits = notice.len() <= budget;
        return if fits { notice } else { String::new() };
    }
    points(&mut text, report, limit);
    table(&mut text, comparison, limit);
    sections.retain(|(_, section)| !push_within(&mut text, section, limit));
    if sections.is_empty() {
        return text;
    }
    text.push_str(&notice(report, sections.len(), total, budget));
    for (title, _) in sections {
        if !push_within(&mut text, &format!("> - {title}\n"), budget) {
            break;
        }
    }
    text
}

/// Appends a part if the text is then at most so many bytes long. Whether it was appended.
fn push_within(text: &mut String, part: &str, limit: usize) -> bool {
    let fits = text.len().saturating_add(part.len()) <= limit;
    if fits {
        text.push_str(part);
    }
    fits
}

/// The first line, which is hidden: a workflow finds its comment by this, and those of two fleets by their
/// titles.
fn marker(report: &DiffReport) -> String {
    let mut name = String::new();
    if let Some(title) = &report.titles.fleet {
        name.push(' ');
        for byte in title.bytes() {
            // Nothing that could end an HTML comment, and no character that some tool writes otherwise.
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'/' => name.push(char::from(byte)),
                b'-' if !name.ends_with('-') => name.push('-'),
                other => {
                    let _ = write!(name, "%{other:02X}");
                }
            }
        }
    }
    format!("<!-- spokewright:diff{name} -->\n")
}

fn head(report: &DiffReport) -> String {
    let fleet = report.titles.fleet.as_deref();
    let fleet = fleet.map(|fleet| format!(", {}", html(fleet)));
    format!(
        "{}### spokewright{}: {}\n\n<code>{}</code> compared with <code>{}</code>.\n",
        marker(report),
        fleet.unwrap_or_default(),
        html(&report.headline()),
        html(&report.titles.new),
        html(&report.titles.old)
    )
}

/// What is missing, why, and how to see it.
fn notice(report: &DiffReport, left_out: usize, total: usize, budget: usize) -> String {
    format!(
        "\n> [!NOTE]\n> {left_out} of {total} details are left out, to stay below {budget} bytes. All of them: \
         <code>{}</code>\n",
        html(&report.titles.command)
    )
}

/// The part that a reader sees without unfolding anything; at most half of the available room.
fn points(text: &mut String, report: &DiffReport, limit: usize) {
    const ROOM_FOR_MORE: usize = 64;
    let room = limit.saturating_sub(text.len()) / 2;
    let end = text.len().saturating_add(room).saturating_sub(ROOM_FOR_MORE);
    let mut left_out = 0_usize;
    let mut push = |text: &mut String, title: &mut String, line: &str| {
        if push_within(text, &format!("{title}{line}"), end) {
            title.clear();
        } else {
            left_out = left_out.saturating_add(1);
        }
    };
    for exceeded in &report.exceeded {
        let (kind, allowed) = if exceeded.allowed {
            ("NOTE", " This was allowed.")
        } else {
            ("CAUTION", "")
        };
        let sentence = html(&exceeded.sentence());
        let line = format!("\n> [!{kind}]\n> Over budget: {sentence}.{allowed}\n");
        push(text, &mut String::new(), &line);
    }
    for (title, points) in summary(report) {
        let mut title = format!("\n**{title}**\n\n");
        for point in points {
            push(text, &mut title, &point_lines(&point));
        }
    }
    if let Some(more) = and_more(left_out, "line")
        && text.len().saturating_add(ROOM_FOR_MORE) <= limit
    {
        let _ = writeln!(text, "\n{more}");
    }
}

fn point_lines(point: &Point) -> String {
    let mut line = "- ".to_owned();
    for word in &point.text {
        match word {
            // Blanks at the ends part it from the names beside it.
            Word::Plain(text) => {
                let (start, end) = (text.starts_with(' '), text.ends_with(' '));
                line.push_str(if start { " " } else { "" });
                line.push_str(&html(text.trim()));
                line.push_str(if end { " " } else { "" });
            }
            Word::Name(name) => {
                let _ = write!(line, "<code>{}</code>", html(name));
            }
        }
    }
    line.push('\n');
    for below in &point.below {
        let _ = writeln!(line, "  - {}", html(below));
    }
    line
}

/// How much happens on each cluster, folded; at most half of what there is room for.
fn table(text: &mut String, comparison: &Comparison, limit: usize) {
    const HEAD: &str = "\n<details><summary>objects on each cluster</summary>\n\n\
                        | objects on each of | added | changed | removed |\n|---|---:|---:|---:|\n";
    const END: &str = "\n</details>\n";
    const ROOM_FOR_MORE: usize = 64 + END.len();
    if comparison.rows.is_empty() {
        return;
    }
    let room = limit.saturating_sub(text.len()) / 2;
    let end = text.len().saturating_add(room).saturating_sub(ROOM_FOR_MORE);
    if !push_within(text, HEAD, end) {
        return;
    }
    for (index, row) in comparison.rows.iter().enumerate() {
        let line = table_row(comparison, row);
        if !push_within(text, &line, end) {
            let others = comparison.rows.iter().skip(index);
            let more = others.map(|row| row.names.len()).sum();
            let _ = writeln!(text, "| {} | | | |", and_more(more, "").unwrap_or_default());
            break;
        }
    }
    text.push_str(END);
}

fn table_row(comparison: &Comparison, row: &ClusterRow) -> String {
    let names = html(&describe(&comparison.clusters, &row.names)).replace('|', "&#124;");
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

/// What clusters that leave lose: the names of the objects tell enough.
fn leaving(report: &DiffReport) -> Vec<(String, String)> {
    let comparison = &report.comparison;
    let rows = comparison.rows_that(Presence::Leaves);
    let sections = rows.map(|row| {
        let first = row.names.first();
        let gone = comparison.changes.iter().filter(|change| {
            change.change == Change::Removed
                && change.effect != Effect::OtherWork
                && first.is_some_and(|first| change.clusters.contains(first))
        });
        let mut body = Lines::default();
        for change in gone {
            body.push(format_args!("{}{}", change.object, change.what_happens()));
        }
        let clusters = html(&describe(&comparison.clusters, &row.names));
        section(format!("gone with {clusters}"), "", "text", &body.into_text())
    });
    sections.collect()
}

fn object_section(comparison: &Comparison, change: &ObjectChange, clusters: &[Arc<str>]) -> (String, String) {
    let title = format!(
        "{} <code>{}</code> on {}{}",
        word(change),
        html(&change.object.to_string()),
        html(&describe(&comparison.clusters, clusters)),
        html(&change.what_happens())
    );
    let lines = hunks(change.sides()).into_iter();
    let body: String = lines.map(|line| line + "\n").collect();
    let places = places(change);
    let from = if places.is_empty() {
        String::new()
    } else {
        format!("from <code>{}</code>\n\n", html(&places.join(", ")))
    };
    section(title, &from, "diff", &body)
}

fn effective_section(group: &EffectiveGroup) -> (String, String) {
    let title = format!("effective: {} on {}", html(&group.title), html(&group.clusters));
    let mut body = Lines::default();
    for path in &group.paths {
        body.push(path);
    }
    for line in &group.lines {
        body.push(format_args!("  {line}"));
    }
    section(title, "", "text", &body.into_text())
}

/// One folded section with its title.
fn section(title: String, above: &str, language: &str, body: &str) -> (String, String) {
    let body = fenced(language, body);
    let section = format!("\n<details><summary>{title}</summary>\n\n{above}{body}\n</details>\n");
    (title, section)
}

/// Lines in a fence that nothing inside them can end.
pub(in crate::report) fn fenced(language: &str, body: &str) -> String {
    let longest = body.split(|character| character != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default().saturating_add(1).max(3));
    format!("{fence}{language}\n{body}{fence}\n")
}

/// Text that is not taken for markup, a mention or a link.
fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in one_line(text, usize::MAX).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '`' | '@' | '*' | '_' | '[' | '#' | '~' | '$' | '\\' => {
                let _ = write!(safe, "&#{};", u32::from(character));
            }
            other => safe.push(other),
        }
    }
    // Addresses become links by themselves.
    safe.replace("://", "&#58;//").replace("www.", "www&#46;")
}
