//! The choice of `--message-format`, as data.
//!
//! Owns: which form is written how. Flows in: findings. Flows out: bytes. Must not know: who reads them.

use std::io;

use serde::Serialize;

use super::visible::json_escaped;
use super::{CodeQuality, FindingList, Findings, Human, Locate, SarifLog, github, junit};

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
    /// written also when there is nothing to say; the other two then write nothing.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, findings: &Findings, locate: &dyn Locate, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Human(human) => out.write_all(human.render(findings, locate).as_bytes()),
            Self::Github => out.write_all(github::render(findings, locate).as_bytes()),
            Self::Junit => out.write_all(junit::render(findings, locate).as_bytes()),
            Self::Json => document(&FindingList::new(findings, locate), out),
            Self::Gitlab => document(&CodeQuality::new(findings, locate), out),
            Self::Sarif => document(&SarifLog::new(findings, locate), out),
        }
    }
}

fn document(document: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(json_text(document)?.as_bytes())
}

/// A document as indented JSON with a final newline: the only way in which JSON is printed. Whatever could steer a
/// terminal, hide in it or be obeyed by a log is an escape in it.
///
/// # Errors
/// Where the document cannot be JSON: a key that is no string.
pub fn json_text(document: &impl Serialize) -> serde_json::Result<String> {
    let mut text = json_escaped(serde_json::to_string_pretty(document)?);
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Texts, sample};
    use super::super::{Code, Finding};
    use super::*;

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
                        && text.contains(&finding.message.replace('%', "")[..9]),
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
            assert!(serde_json::from_str::<serde_json::Value>(&written(format, &none, &texts)).is_ok());
        }
    }

    #[test]
    fn no_format_lets_the_input_steer_a_terminal_and_json_keeps_it_exactly() {
        let evil = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7}\u{7f}\u{e0041}";
        let mut texts = Texts::default();
        let file = texts.file(&format!("{evil}.yaml"), evil);
        let mut findings = Findings::new();
        findings.push(
            Finding::new(Code::YAML_SYNTAX, texts.text(file, evil), evil)
                .label(evil)
                .note(evil)
                .help(evil),
        );
        for format in [
            Format::Human(Human::default()),
            Format::Json,
            Format::Sarif,
            Format::Github,
            Format::Gitlab,
            Format::Junit,
        ] {
            let text = written(format, &findings, &texts);
            assert!(
                text.chars()
                    .all(|c| c == '\n' || !(c.is_control() || "\u{202e}\u{e0041}".contains(c))),
                "{format:?}: {text:?}"
            );
        }
        let json: serde_json::Value =
            serde_json::from_str(&written(Format::Json, &findings, &texts)).unwrap();
        assert_eq!(json["findings"][0]["message"], evil);
    }
}
