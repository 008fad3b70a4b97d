//! The choice of `--message-format`, and JSON: one versioned document, whose entries other reports embed, and how any document is
//! printed as JSON.

use std::io::{self, Write as _};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::place::resolve;
use super::sanitize::{json_escaped, one_line};
use super::{CodeQuality, Finding, FindingData, Findings, Human, Locate, Place, SarifLog, github, junit};

/// In which form findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text with snippets.
    Human(Human),
    /// One JSON document, kind `FindingList`.
    Json,
    /// One SARIF 2.1.0 log.
    Sarif,
    /// GitHub workflow commands.
    Github,
    /// One Code Quality report of GitLab.
    Gitlab,
    /// One JUnit document.
    Junit,
}

impl Format {
    /// Writes all findings in this form. JSON, SARIF, Code Quality and JUnit are indented, end in a newline, and are
    /// written even if there are no findings; the other two then write nothing.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, findings: &Findings, locate: &dyn Locate, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Human(human) => out.write_all(human.render(findings, locate).as_bytes()),
            Self::Github => out.write_all(github(findings, locate).as_bytes()),
            Self::Junit => out.write_all(junit(findings, locate).as_bytes()),
            Self::Json => write_json(&FindingList::new(findings, locate), out),
            Self::Gitlab => write_json(&CodeQuality::new(findings, locate), out),
            Self::Sarif => write_json(&SarifLog::new(findings, locate), out),
        }
    }
}

/// Writes a document as indented JSON with a final newline, while it is made: the only way in which JSON is printed.
/// Whatever could steer a terminal, hide in it or be obeyed by a log is an escape in it.
///
/// # Errors
/// The error of the writer, or that the document cannot be JSON: a key that is not a string.
pub fn write_json(document: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = EscapedLines {
        out,
        waiting: Vec::new(),
        due: LINES_AT_ONCE,
    };
    serde_json::to_writer_pretty(&mut lines, document)?;
    lines.write_all(b"\n")?;
    lines.flush()
}

/// The same as a text.
///
/// # Errors
/// If the document cannot be JSON: a key that is not a string.
pub fn json_text(document: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    write_json(document, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// So many bytes of JSON are escaped at once, and more where one line has more.
const LINES_AT_ONCE: usize = 1 << 16;

/// Escapes indented JSON as it is written. Whole lines: a line end is never inside a string, so whatever has to be
/// escaped together is in one.
struct EscapedLines<'o> {
    out: &'o mut dyn io::Write,
    waiting: Vec<u8>,
    /// How many bytes may wait before lines among them are looked for.
    due: usize,
}

impl EscapedLines<'_> {
    fn pass_on(&mut self, end: usize) -> io::Result<()> {
        let lines = self.waiting.drain(..end).collect();
        let lines = String::from_utf8(lines).map_err(io::Error::other)?;
        self.out.write_all(json_escaped(lines).as_bytes())
    }
}

impl io::Write for EscapedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= self.due {
            let end = self.waiting.iter().rposition(|byte| *byte == b'\n');
            self.pass_on(end.unwrap_or_default())?;
            // One long line is not searched again for each of its pieces.
            self.due = self.waiting.len().saturating_mul(2).max(LINES_AT_ONCE);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on(self.waiting.len())?;
        self.out.flush()
    }
}

/// Version of every JSON document that spokewright prints (docs/reference/json.md).
pub const API_VERSION: &str = "spokewright.dev/v1alpha1";

/// The document of `--message-format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingEntry<'a> {
    /// The stable code.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    #[schemars(with = "String")]
    pub message: Sentence<'a>,
    /// What is at the place.
    #[serde(skip_serializing_if = "Sentence::is_empty")]
    #[schemars(with = "String")]
    pub label: Sentence<'a>,
    /// Where.
    #[serde(flatten)]
    pub position: Position<'a>,
    /// Further places.
    pub related: Vec<RelatedEntry<'a>>,
    /// Why.
    #[schemars(with = "Vec<String>")]
    pub notes: Vec<Sentence<'a>>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub help: Option<Sentence<'a>>,
    /// What programs read of a violation of a FleetRule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a FindingData>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SuppressedEntry<'a> {
    /// `inSource`, an annotation of the object, or `external`, the configuration.
    pub kind: &'static str,
    /// The stated reason.
    #[schemars(with = "String")]
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
            data: finding.data.as_ref(),
            suppressed: finding.suppressed.as_ref().map(|suppressed| SuppressedEntry {
                kind: suppressed.by.into(),
                reason: Sentence(&suppressed.reason),
            }),
        }
    }
}

/// A further place in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RelatedEntry<'a> {
    /// What is there.
    #[schemars(with = "String")]
    pub text: Sentence<'a>,
    /// Where.
    #[serde(flatten)]
    pub position: Position<'a>,
}

/// A place in JSON: path, JSON pointer, lines and columns from 1 (columns in characters, the end exclusive).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
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
    use super::super::{Code, is_unseen};
    use super::*;
    use crate::tests::findings::{Texts, sample};

    fn written(format: Format, findings: &Findings, texts: &Texts) -> String {
        let mut out = Vec::new();
        format.write(findings, texts, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_format_writes_every_finding_and_ends_in_a_newline() {
        let (texts, findings) = sample();
        for format in [
            Format::Human(Human::default()),
            Format::Json,
            Format::Sarif,
            Format::Github,
            Format::Gitlab,
            Format::Junit,
        ] {
            let text = written(format, &findings, &texts);
            assert!(text.ends_with('\n'), "{format:?}");
            for finding in &findings {
                assert!(
                    text.contains(finding.code.name())
                        && text.contains(&finding.message.replace("%", "")[..9]),
                    "{format:?}: {}",
                    finding.message
                );
            }
        }
    }

    #[test]
    fn without_findings_documents_are_whole_and_the_rest_is_silent() {
        let (texts, none) = (Texts::default(), Findings::new());
        assert_eq!(written(Format::Human(Human::default()), &none, &texts), "");
        assert_eq!(written(Format::Github, &none, &texts), "");
        for format in [Format::Json, Format::Sarif, Format::Gitlab] {
            assert!(serde_json::from_str::<kube_json::Value>(&written(format, &none, &texts)).is_ok());
        }
    }

    #[test]
    fn no_format_lets_any_character_of_the_input_steer_a_terminal_or_hide_also_where_a_tool_prints_it() {
        let all: Vec<char> = ('\0'..=char::MAX)
            .filter(|character| *character != '\n' && is_unseen(*character))
            .collect();
        let mut texts = Texts::default();
        let mut findings = Findings::new();
        for (number, characters) in all.chunks(500).enumerate() {
            let evil: String = characters.iter().collect();
            let evil = evil.as_str();
            let file = texts.file(&format!("{number}{evil}.yaml"), evil);
            findings.push(
                Finding::new(Code::YAML_SYNTAX, texts.text(file, evil), evil)
                    .label(evil)
                    .note(evil)
                    .help(evil)
                    .related(texts.text(file, evil), evil),
            );
        }
        for format in [
            Format::Human(Human {
                limit: None,
                ..Human::default()
            }),
            Format::Json,
            Format::Sarif,
            Format::Github,
            Format::Gitlab,
            Format::Junit,
        ] {
            let text = written(format, &findings, &texts);
            let unseen = |text: &str| text.chars().find(|c| *c != '\n' && is_unseen(*c));
            assert_eq!(unseen(&text), None, "{format:?}");
            let Ok(document) = serde_json::from_str::<kube_json::Value>(&text) else {
                continue;
            };
            // A path is what opens the file; everything else is for people.
            let mut left = vec![("", &document)];
            while let Some((name, value)) = left.pop() {
                match value {
                    kube_json::Value::String(text) => {
                        assert!(
                            ["path", "uri"].contains(&name) || unseen(text).is_none(),
                            "{format:?}: {name}"
                        );
                    }
                    kube_json::Value::Array(items) => left.extend(items.iter().map(|item| (name, item))),
                    kube_json::Value::Object(map) => {
                        left.extend(map.iter().map(|(key, value)| (key.as_str(), value)));
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn json_is_escaped_alike_wherever_it_is_cut_to_be_written() {
        let evil = "a##[group]\u{202e}\u{9b}###[\u{e0041}\u{feff}".repeat(3);
        let long = "##[x".repeat(LINES_AT_ONCE);
        for padding in 0..40 {
            let rows = LINES_AT_ONCE / evil.len() / 4;
            let document = vec![
                " ".repeat(padding),
                evil.repeat(rows),
                long.clone(),
                evil.repeat(9),
            ];
            let whole = json_escaped(serde_json::to_string_pretty(&document).unwrap()) + "\n";
            assert_eq!(json_text(&document).unwrap(), whole);
        }
        let many = vec![evil; 20_000];
        let whole = json_escaped(serde_json::to_string_pretty(&many).unwrap()) + "\n";
        assert!(json_text(&many).unwrap() == whole);
    }

    #[test]
    fn json_is_passed_on_while_it_is_made() {
        struct Many(std::cell::Cell<usize>);
        impl Serialize for Many {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq((0..50_000).inspect(|number| self.0.set(*number)))
            }
        }
        struct First<'m>(&'m Many, Option<usize>);
        impl io::Write for First<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1.get_or_insert(self.0.0.get());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let many = Many(std::cell::Cell::default());
        let mut first = First(&many, None);
        write_json(&many, &mut first).unwrap();
        assert!(first.1.is_some_and(|made| made < 20_000), "{:?}", first.1);
    }

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
