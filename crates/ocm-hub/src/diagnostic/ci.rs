//! The formats of CI systems: workflow commands of GitHub, Code Quality of GitLab, which a merge request shows next to its changes, and
//! JUnit, which CI systems show as test results.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::place::{Location as Found, origin, resolve};
use super::sanitize::{one_line, whole_line};
use super::sarif::fingerprint;
use super::text::counted;
use super::{CODES, Code, Finding, Findings, Locate, Severity};

/// Every finding that is not suppressed as one line `::error file=...,line=...,...::message`.
pub fn github(findings: &Findings, locate: &dyn Locate) -> String {
    let mut text = String::new();
    for finding in findings.iter().filter(|finding| finding.suppressed.is_none()) {
        command(&mut text, finding, locate);
    }
    text
}

fn command(text: &mut String, finding: &Finding, locate: &dyn Locate) {
    let _ = write!(text, "::{} ", finding.severity.as_str());
    if let Some(Found { path, region }) = resolve(&finding.place, locate) {
        let _ = write!(text, "file={},", property(&one_line(path, usize::MAX)));
        if let Some(region) = region {
            let (end_line, end_column) = (region.end_line, region.end_column);
            let _ = write!(text, "line={},col={},", region.line, region.column);
            let _ = write!(text, "endLine={end_line},endColumn={end_column},");
        }
    }
    let message = data(&explanation(finding, locate).join("\n"));
    let _ = writeln!(text, "title={}::{message}", property(finding.code.name()));
}

/// Message, label, related places, notes and help, one below the other.
pub(super) fn explanation(finding: &Finding, locate: &dyn Locate) -> Vec<String> {
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
    let notes = finding.notes.iter().map(|note| ("note", note));
    let remarks = notes.chain(finding.help.iter().map(|help| ("help", help)));
    lines.extend(remarks.map(|(kind, text)| format!("{kind}: {}", one_line(text, usize::MAX))));
    lines
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The placeholder for a required path: a finding about the run as a whole has no file.
const NOWHERE: &str = ".";

/// A Code Quality report (docs/systems/gitops.md#gitlab): a list of issues, empty where nothing is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CodeQuality {
    issues: Vec<Issue>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    /// Without the line, so that an issue stays the same one when lines above it change.
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Lines {
    begin: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
}

impl CodeQuality {
    /// The report of findings that are not accepted.
    ///
    /// ```
    /// use ocm_hub::diagnostic::{CodeQuality, Findings, json_text};
    /// use ocm_hub::source::Sources;
    ///
    /// let report = CodeQuality::new(&Findings::new(), &Sources::default());
    /// assert_eq!(json_text(&report).unwrap(), "[]\n");
    /// ```
    pub fn new(findings: &Findings, locate: &dyn Locate) -> Self {
        let mut seen = BTreeMap::new();
        let reported = findings.iter().filter(|finding| finding.suppressed.is_none());
        let issues = reported.map(|finding| {
            let found = resolve(&finding.place, locate).unwrap_or(Found {
                path: NOWHERE,
                region: None,
            });
            Issue {
                description: explanation(finding, locate).join("; "),
                check_name: finding.code.name(),
                fingerprint: fingerprint(finding, &found, &mut seen),
                severity: match finding.severity {
                    Severity::Error => "critical",
                    Severity::Warning => "minor",
                },
                location: Location {
                    // GitLab compares paths as they are written.
                    path: found.path.strip_prefix("./").unwrap_or(found.path).to_owned(),
                    lines: Lines {
                        begin: found.region.map_or(1, |region| region.line),
                        end: found
                            .region
                            .filter(|region| region.end_line > region.line)
                            .map(|region| region.end_line),
                    },
                },
            }
        });
        Self {
            issues: issues.collect(),
        }
    }
}

/// The findings as a JUnit document: one `testsuites` with one `testsuite`, and in it one `testcase` for every code: the same cases in
/// every run, so that a CI system can tell what broke since the last one. An error makes the case of its code fail; a warning is output
/// of a case that passes. It has no time and no host: the same findings give the same bytes.
///
/// ```
/// use ocm_hub::diagnostic::{Findings, junit};
/// use ocm_hub::source::Sources;
///
/// let text = junit(&Findings::new(), &Sources::default());
/// assert!(text.contains("failures=\"0\""));
/// ```
pub fn junit(findings: &Findings, locate: &dyn Locate) -> String {
    let mut by_code: BTreeMap<Code, Vec<&Finding>> =
        CODES.iter().map(|(code, _, _)| (*code, Vec::new())).collect();
    for finding in findings.iter().filter(|finding| finding.suppressed.is_none()) {
        by_code.entry(finding.code).or_default().push(finding);
    }
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let failures = by_code
        .values()
        .filter(|found| found.iter().any(is_error))
        .count();
    let counts = format!(
        "name=\"spokewright\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"0\"",
        by_code.len()
    );
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite {counts}>\n"
    );
    for (code, found) in &by_code {
        case(&mut text, *code, found, locate);
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

fn case(text: &mut String, code: Code, found: &[&Finding], locate: &dyn Locate) {
    let (group, name) = (escaped(code.group()), escaped(code.name()));
    let _ = write!(
        text,
        "    <testcase classname=\"spokewright.{group}\" name=\"{name}\" time=\"0\""
    );
    // Where a CI system links to: the first place that there is.
    let place = found.iter().find_map(|finding| resolve(&finding.place, locate));
    if let Some(location) = place {
        let path = escaped(&one_line(location.path, usize::MAX));
        let _ = write!(text, " file=\"{path}\"");
        if let Some(region) = location.region {
            let _ = write!(text, " line=\"{}\"", region.line);
        }
    }
    if found.is_empty() {
        text.push_str("/>\n");
        return;
    }
    text.push_str(">\n");
    let (errors, warnings): (Vec<&Finding>, Vec<&Finding>) = found
        .iter()
        .partition(|finding| finding.severity == Severity::Error);
    if let Some(first) = errors.first() {
        let message = match errors.len() {
            1 => one_line(&first.message, usize::MAX),
            count => format!("{}: {}", counted(count, Severity::Error.as_str()), code.summary()),
        };
        let (message, listed) = (escaped(&message), escaped(&listed(&errors, locate)));
        let _ = writeln!(
            text,
            "      <failure type=\"error\" message=\"{message}\">{listed}</failure>"
        );
    }
    if !warnings.is_empty() {
        let listed = escaped(&listed(&warnings, locate));
        let _ = writeln!(text, "      <system-out>{listed}</system-out>");
    }
    text.push_str("    </testcase>\n");
}

/// Every finding with its place, what explains it below it.
fn listed(findings: &[&Finding], locate: &dyn Locate) -> String {
    let mut lines = Vec::new();
    for finding in findings {
        let mut explained = explanation(finding, locate).into_iter();
        let message = explained.next().unwrap_or_default();
        let severity = finding.severity.as_str();
        lines.push(match origin(&finding.place, locate) {
            Some(origin) => whole_line(&format!("{origin}: {severity}: {message}")),
            None => format!("{severity}: {message}"),
        });
        lines.extend(explained.map(|line| whole_line(&format!("  {line}"))));
    }
    lines.join("\n")
}

/// Text or an attribute's value, in double quotes. Characters that XML 1.0 cannot represent are replaced: a document
/// with one such character is refused whole.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' | ' '..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => escaped.push(character),
            _ => escaped.push(char::REPLACEMENT_CHARACTER),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
