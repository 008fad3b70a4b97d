//! The GitLab format: a Code Quality report, which a merge request shows next to its changes.
//!
//! Owns: the document. Flows in: findings. Flows out: `serde::Serialize` values. Must not know: who finds what.
//! Rule: docs/systems/gitops.md#gitlab.

use std::collections::BTreeMap;

use serde::Serialize;

use super::github::explanation;
use super::position::{Location as Found, resolve};
use super::sarif::fingerprint;
use super::{Findings, Locate, Severity};

/// The placeholder for a required path: a finding about the run as a whole has no file.
const NOWHERE: &str = ".";

/// A Code Quality report: a list of issues, empty where nothing is wrong.
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
                            .map(|region| region.end_line)
                            .filter(|end| found.region.is_some_and(|region| *end > region.line)),
                    },
                },
            }
        });
        Self {
            issues: issues.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kube_json::{Value, json};

    use super::super::{Code, Finding, Place};
    use super::*;
    use crate::tests::findings::{Texts, sample};

    fn report(findings: &Findings, texts: &Texts) -> Value {
        kube_json::to_value(CodeQuality::new(findings, texts)).expect("JSON")
    }

    /// The shape that GitLab reads (docs/systems/gitops.md#gitlab).
    #[test]
    fn every_issue_has_what_gitlab_asks_for_and_fingerprints_are_unique() {
        let (texts, findings) = sample();
        let value = report(&findings, &texts);
        let issues = value.as_array().expect("a list");
        assert_eq!(
            issues.len(),
            findings
                .iter()
                .filter(|finding| finding.suppressed.is_none())
                .count()
        );
        let mut fingerprints = Vec::new();
        for issue in issues {
            for field in ["description", "check_name", "fingerprint"] {
                assert!(
                    issue[field].as_str().is_some_and(|text| !text.is_empty()),
                    "{issue}"
                );
            }
            let severities = ["info", "minor", "major", "critical", "blocker"];
            assert!(
                severities.contains(&issue["severity"].as_str().unwrap_or_default()),
                "{issue}"
            );
            let path = issue["location"]["path"].as_str().expect("a path");
            assert!(
                !path.is_empty() && !path.starts_with("./") && !path.starts_with('/'),
                "{path}"
            );
            assert!(
                issue["location"]["lines"]["begin"]
                    .as_u64()
                    .is_some_and(|line| line > 0),
                "{issue}"
            );
            fingerprints.push(issue["fingerprint"].to_string());
        }
        fingerprints.sort();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), issues.len());
    }

    #[test]
    fn a_fingerprint_survives_lines_above_and_the_run_as_a_whole_is_about_no_file() {
        let of = |text: &str| {
            let mut texts = Texts::default();
            let file = texts.file("./a.yaml", text);
            let mut findings = Findings::new();
            findings.push(Finding::new(Code::YAML_SYNTAX, texts.text(file, "here"), "wrong"));
            findings.push(Finding::new(Code::EMPTY_NOTHING_RENDERED, Place::Run, "nothing"));
            report(&findings, &texts)
        };
        let (before, after) = (of("here"), of("\n\nhere"));
        assert_eq!(before[0]["fingerprint"], after[0]["fingerprint"]);
        assert_eq!(
            before[0]["location"],
            json!({"path": "a.yaml", "lines": {"begin": 1}})
        );
        assert_eq!(after[0]["location"]["lines"]["begin"], 3);
        assert_eq!(after[1]["location"], json!({"path": ".", "lines": {"begin": 1}}));
    }
}
