//! The JSON format: one versioned document, whose entries other reports embed.
//!
//! Owns: the shape. Flows in: findings. Flows out: `serde::Serialize` values that borrow from them.
//! Must not know: who finds what.

use serde::{Serialize, Serializer};

use super::position::resolve;
use super::visible::one_line;
use super::{Finding, Findings, Locate, Place};

/// Version of every JSON document that spokewright prints (docs/reference/json.md).
pub const API_VERSION: &str = "spokewright.dev/v1alpha1";

/// The document of `--message-format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FindingList<'a> {
    /// `API_VERSION`.
    pub api_version: &'static str,
    /// `FindingList`.
    pub kind: &'static str,
    /// In the order of the collector.
    pub findings: Vec<FindingEntry<'a>>,
}

impl<'a> FindingList<'a> {
    /// The document for all of `findings`.
    pub fn new(findings: &'a Findings, locate: &'a dyn Locate) -> Self {
        Self {
            api_version: API_VERSION,
            kind: "FindingList",
            findings: findings
                .iter()
                .map(|finding| FindingEntry::new(finding, locate))
                .collect(),
        }
    }
}

/// One finding in JSON. An empty label, a missing help line, and fields that the place does not have are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FindingEntry<'a> {
    /// The stable code.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub message: Sentence<'a>,
    /// What is at the place.
    #[serde(skip_serializing_if = "Sentence::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub label: Sentence<'a>,
    /// Where.
    #[serde(flatten)]
    pub position: Position<'a>,
    /// Further places.
    pub related: Vec<RelatedEntry<'a>>,
    /// Why.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub notes: Vec<Sentence<'a>>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub help: Option<Sentence<'a>>,
    /// Why it is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<SuppressedEntry<'a>>,
}

/// Text for people, which tools show as they find it: in JSON, too, it is what a line of the text format would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence<'a>(&'a str);

impl Sentence<'_> {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Sentence<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&one_line(self.0, usize::MAX))
    }
}

/// Why a finding is not counted, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuppressedEntry<'a> {
    /// `inSource`, an annotation of the object, or `external`, the configuration.
    pub kind: &'static str,
    /// The stated reason.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: Sentence<'a>,
}

impl<'a> FindingEntry<'a> {
    /// The entry of one finding.
    pub fn new(finding: &'a Finding, locate: &'a dyn Locate) -> Self {
        Self {
            code: finding.code.name(),
            severity: finding.severity.as_str(),
            message: Sentence(&finding.message),
            label: Sentence(&finding.label),
            position: Position::new(&finding.place, locate),
            related: finding
                .related
                .iter()
                .map(|related| RelatedEntry {
                    text: Sentence(&related.text),
                    position: Position::new(&related.place, locate),
                })
                .collect(),
            notes: finding.notes.iter().map(|note| Sentence(note)).collect(),
            help: finding.help.as_deref().map(Sentence),
            suppressed: finding.suppressed.as_ref().map(|suppressed| SuppressedEntry {
                kind: suppressed.by.as_str(),
                reason: Sentence(&suppressed.reason),
            }),
        }
    }
}

/// A further place in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelatedEntry<'a> {
    /// What is there.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub text: Sentence<'a>,
    /// Where.
    #[serde(flatten)]
    pub position: Position<'a>,
}

/// A place in JSON: path, JSON pointer, lines and columns from 1 (columns in characters, the end exclusive).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Position<'a> {
    /// The file; absent for the run as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
    /// RFC 6901 pointer of the field inside its document; absent if the place is not a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<&'a str>,
    /// First line; absent, like the other positions, for a whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// First column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Line of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    /// Column of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
}

impl<'a> Position<'a> {
    /// The position of `place`, as far as it has one. Reports use it for the origin of objects as well.
    pub fn new(place: &'a Place, locate: &'a dyn Locate) -> Self {
        let location = resolve(place, locate);
        let region = location.as_ref().and_then(|location| location.region);
        Self {
            path: location.map(|location| location.path),
            pointer: place.field().map(|(_, pointer)| pointer),
            line: region.map(|region| region.line),
            column: region.map(|region| region.column),
            end_line: region.map(|region| region.end_line),
            end_column: region.map(|region| region.end_column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::findings::{Texts, sample};

    #[test]
    fn the_document_is_versioned_and_has_every_place() {
        let (texts, findings) = sample();
        let document = FindingList::new(&findings, &texts);
        insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap(), @r#"
        {
          "apiVersion": "spokewright.dev/v1alpha1",
          "kind": "FindingList",
          "findings": [
            {
              "code": "policy/target-not-found",
              "severity": "error",
              "message": "no Gateway gateways/prod-wbe in the input",
              "label": "not found",
              "path": "hub/team a/limits.yaml",
              "pointer": "/spec/targetRef/name",
              "line": 7,
              "column": 11,
              "endLine": 7,
              "endColumn": 19,
              "related": [
                {
                  "text": "this Gateway has a similar name",
                  "path": "hub/gateway.yaml",
                  "line": 3,
                  "column": 9,
                  "endLine": 3,
                  "endColumn": 17
                },
                {
                  "text": "the namespace searched",
                  "path": "hub/team a/limits.yaml",
                  "line": 3,
                  "column": 37,
                  "endLine": 3,
                  "endColumn": 45
                }
              ],
              "notes": [
                "a policy without a namespace in its targetRef targets its own namespace"
              ],
              "help": "write `name: prod-web`"
            },
            {
              "code": "object/unknown-field",
              "severity": "warning",
              "message": "the schema has no field 50%, c:d",
              "path": "hub/team a/limits.yaml",
              "line": 8,
              "column": 3,
              "endLine": 11,
              "endColumn": 1,
              "related": [],
              "notes": []
            },
            {
              "code": "output/edited",
              "severity": "error",
              "message": "edited by hand",
              "path": "rendered/eu-1/a,b.yaml",
              "related": [],
              "notes": [],
              "help": "pass --force to overwrite it"
            },
            {
              "code": "empty/nothing-rendered",
              "severity": "error",
              "message": "no cluster receives anything",
              "related": [],
              "notes": [],
              "help": "pass --allow-empty if that is what you mean"
            }
          ]
        }
        "#);
    }

    #[test]
    fn no_findings_are_a_document_too() {
        let (texts, findings) = (Texts::default(), Findings::new());
        assert_eq!(
            serde_json::to_string(&FindingList::new(&findings, &texts)).unwrap(),
            r#"{"apiVersion":"spokewright.dev/v1alpha1","kind":"FindingList","findings":[]}"#
        );
    }
}
