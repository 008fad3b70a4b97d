//! The GitHub form: workflow commands, which a job's log turns into annotations on the changed files.
//!
//! Owns: the command and its escapes. Flows in: findings. Flows out: one line for each.
//! Rule: GitHub Actions, "Workflow commands", `error` and `warning`; the runner undoes `%25`, `%0D`, `%0A` in the
//! message and also `%3A`, `%2C` in properties.

use std::fmt::Write as _;

use super::position::{Location, resolve};
use super::visible::one_line;
use super::{Finding, Findings, Locate, Place};

/// Every finding as one line `::error file=...,line=...,...::message`.
#[must_use]
pub fn render(findings: &Findings, locate: &dyn Locate) -> String {
    let mut text = String::new();
    for finding in findings.iter() {
        command(&mut text, finding, locate);
    }
    text
}

fn command(text: &mut String, finding: &Finding, locate: &dyn Locate) {
    let _ = write!(text, "::{} ", finding.severity.as_str());
    if let Some(Location { path, region }) = resolve(&finding.place, locate) {
        let _ = write!(text, "file={},", property(&one_line(path, usize::MAX)));
        if let Some(region) = region {
            let _ = write!(text, "line={},col={},", region.line, region.column);
            let _ = write!(text, "endLine={},endColumn={},", region.end_line, region.end_column);
        }
    }
    let _ = writeln!(text, "title={}::{}", property(finding.code.name()), message(finding, locate));
}

/// Message, label, related places, notes and help, one below the other.
fn message(finding: &Finding, locate: &dyn Locate) -> String {
    let mut lines = vec![one_line(&finding.message, usize::MAX)];
    if !finding.label.is_empty() {
        lines.push(one_line(&finding.label, usize::MAX));
    }
    for related in &finding.related {
        let text = one_line(&related.text, usize::MAX);
        lines.push(match origin(&related.place, locate) {
            Some(origin) => format!("{origin}: {text}"),
            None => text,
        });
    }
    lines.extend(finding.notes.iter().map(|note| format!("note: {}", one_line(note, usize::MAX))));
    lines.extend(finding.help.iter().map(|help| format!("help: {}", one_line(help, usize::MAX))));
    data(&lines.join("\n"))
}

/// `path:line:column`, as far as there is one.
pub(super) fn origin(place: &Place, locate: &dyn Locate) -> Option<String> {
    let location = resolve(place, locate)?;
    let path = one_line(location.path, usize::MAX);
    Some(match location.region {
        Some(region) => format!("{path}:{}:{}", region.line, region.column),
        None => path,
    })
}

fn data(text: &str) -> String {
    escape(text, false)
}

fn property(text: &str) -> String {
    escape(text, true)
}

fn escape(text: &str, property: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            ':' if property => escaped.push_str("%3A"),
            ',' if property => escaped.push_str("%2C"),
            other => escaped.push(other),
        }
    }
    escaped
}
