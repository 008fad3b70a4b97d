//! The SARIF 2.1.0 format, for code scanning: the log, its rules (all of [`CODES`]), and fingerprints that survive moved
//! lines.
//!
//! GitHub refuses a whole log if one result has no location, so a finding about the run as a whole is a notification of
//! the invocation (section 3.20.21 of <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>) and not a
//! result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::place::{Location as Found, Region, origin, resolve};
use super::sanitize::one_line;
use super::{CODES, Code, Finding, FindingData, Findings, Locate, Place};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Name of our fingerprint; the number changes when the recipe does.
const FINGERPRINT: &str = "spokewrightFinding/v1";

/// A SARIF log with one run.
#[derive(Debug, Clone, Serialize)]
pub struct SarifLog<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: BTreeMap<&'static str, Driver>,
    /// Distinguishes this run from others of one repository (section 3.17.2): GitHub replaces the results of an earlier
    /// run of the same id, up to the last slash, and nothing else.
    automation_details: Value,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: Results<'a>,
}

/// The results, made one by one while they are written: there may be a hundred thousand.
#[derive(Debug, Clone, Copy)]
struct Results<'a> {
    findings: &'a Findings,
    locate: &'a dyn Locate,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seen = BTreeMap::new();
        // All results of a run have `suppressions`, or none has (section 3.27.23).
        let any_suppressed = self.findings.suppressed() > 0;
        let results = self.findings.iter().filter_map(|finding| {
            let found = resolve(&finding.place, self.locate)?;
            Some(SarifResult {
                suppressions: any_suppressed.then(|| suppressions(finding)),
                ..result(finding, &found, self.locate, &mut seen)
            })
        });
        let mut list = serializer.serialize_seq(None)?;
        for result in results {
            list.serialize_element(&result)?;
        }
        list.end()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Value,
    help_uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Help>,
    default_configuration: Value,
    properties: Value,
}

/// The page of a code. GitHub shows the Markdown next to a result, and requires the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Notification {
    level: &'static str,
    message: Value,
    associated_rule: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Value,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<FindingData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressions: Option<Vec<Suppression>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Suppression {
    kind: &'static str,
    status: &'static str,
    justification: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

impl<'a> SarifLog<'a> {
    /// The log of `findings`, results in the order of the collector.
    pub fn new(findings: &'a Findings, locate: &'a dyn Locate) -> Self {
        let codes: BTreeSet<Code> = findings.iter().map(|finding| finding.code).collect();
        let without_place = findings
            .iter()
            .filter(|finding| resolve(&finding.place, locate).is_none());
        let notifications = without_place
            .map(|finding| notification(finding, locate))
            .collect();
        Self {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [Run {
                tool: [("driver", driver(&codes))].into(),
                automation_details: json!({"id": run_id(&locate.run_name())}),
                invocations: [Invocation {
                    execution_successful: findings.exit_status() != Code::EXIT_FAILED,
                    tool_execution_notifications: notifications,
                }],
                column_kind: "unicodeCodePoints",
                results: Results { findings, locate },
            }],
        }
    }
}

/// `spokewright/hub/`: the part after the last slash would name one run of many, and nothing distinguishes it from a
/// repeat.
fn run_id(run_name: &str) -> String {
    let parts = run_name.split('/').filter(|part| !part.is_empty());
    let parts = std::iter::once("spokewright").chain(parts);
    parts.map(|part| format!("{part}/")).collect()
}

/// All rules; those of `codes` with their pages, because the others are never read.
fn driver(codes: &BTreeSet<Code>) -> Driver {
    Driver {
        name: "spokewright",
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: env!("CARGO_PKG_REPOSITORY"),
        rules: CODES
            .iter()
            .map(|(code, severity, summary)| Rule {
                id: code.name(),
                short_description: json!({"text": summary}),
                help_uri: code.address(),
                help: codes.contains(code).then(|| Help {
                    text: code.markdown(),
                    markdown: code.markdown(),
                }),
                default_configuration: json!({"level": severity.as_str()}),
                properties: json!({"tags": ["kubernetes", code.group()]}),
            })
            .collect(),
    }
}

fn rule_index(code: Code) -> usize {
    CODES
        .binary_search_by(|(known, _, _)| known.cmp(&code))
        .unwrap_or_default()
}

fn notification(finding: &Finding, locate: &dyn Locate) -> Notification {
    Notification {
        level: finding.severity.as_str(),
        message: message(finding, locate),
        associated_rule: json!({"id": finding.code.name(), "index": rule_index(finding.code)}),
    }
}

fn result(
    finding: &Finding,
    found: &Found<'_>,
    locate: &dyn Locate,
    seen: &mut BTreeMap<String, usize>,
) -> SarifResult {
    let related_locations = finding
        .related
        .iter()
        .filter_map(|related| Some((resolve(&related.place, locate)?, &related.text)))
        .enumerate()
        .map(|(index, (found, text))| location(&found, Some(index + 1), text))
        .collect();
    SarifResult {
        rule_id: finding.code.name(),
        rule_index: rule_index(finding.code),
        level: finding.severity.as_str(),
        message: message(finding, locate),
        locations: [location(found, None, &finding.label)],
        related_locations,
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint(finding, found, seen))]),
        properties: finding.data.clone(),
        suppressions: None,
    }
}

fn suppressions(finding: &Finding) -> Vec<Suppression> {
    let suppressed = finding.suppressed.as_ref().into_iter();
    suppressed
        .map(|suppressed| Suppression {
            kind: suppressed.by.into(),
            status: "accepted",
            justification: one_line(&suppressed.reason, usize::MAX),
        })
        .collect()
}

fn location(found: &Found<'_>, id: Option<usize>, text: &str) -> Location {
    Location {
        id,
        physical_location: PhysicalLocation {
            artifact_location: json!({"uri": uri(found.path)}),
            region: found.region,
        },
        message: (!text.is_empty()).then(|| json!({"text": one_line(text, usize::MAX)})),
    }
}

/// The sentence, then what explains it: viewers show one text only. Related places that have no location of
/// their own are reported here.
fn message(finding: &Finding, locate: &dyn Locate) -> Value {
    let line = |text: &str| one_line(text, usize::MAX);
    let mut text = line(&finding.message);
    for related in &finding.related {
        let place = origin(&related.place, locate).unwrap_or_else(|| "note".to_owned());
        let _ = write!(text, "\n{place}: {}", line(&related.text));
    }
    for note in &finding.notes {
        let _ = write!(text, "\nnote: {}", line(note));
    }
    if let Some(help) = &finding.help {
        let _ = write!(text, "\nhelp: {}", line(help));
    }
    json!({"text": text})
}

/// A digest of the parts that stay the same when lines move: code, path, field, message, and a count among findings
/// that are equal in all of these. It identifies a finding, wherever its line moves.
pub(super) fn fingerprint(
    finding: &Finding,
    found: &Found<'_>,
    seen: &mut BTreeMap<String, usize>,
) -> String {
    let mut digest = Sha256::new();
    let pointer = match &finding.place {
        Place::Field { pointer, .. } => pointer.as_str(),
        Place::Embedded { inside, .. } => inside.inner.as_str(),
        Place::Text { .. } | Place::Path(_) | Place::Run => "",
    };
    let said = finding.message.as_str();
    for part in [finding.code.name(), found.path, pointer, said] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    let digest = digest.finalize();
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let count = seen.entry(digits.clone()).or_default();
    *count += 1;
    format!("{digits}:{count}")
}

/// `path` as a URI reference (RFC 3986): relative where the path is; everything but unreserved characters and
/// some harmless delimiters is percent-encoded, the colon too, lest a first component look like a scheme.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@+,=".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests;
