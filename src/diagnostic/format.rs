//! The choice of `--message-format`, as data.

use std::io;

use super::{FindingList, Findings, Human, Locate, SarifLog, github};

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
}

impl Format {
    /// Writes all findings in this form. JSON and SARIF are indented, end in a newline, and are written also
    /// when there is nothing to say; the other two then write nothing.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, findings: &Findings, locate: &dyn Locate, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Human(human) => out.write_all(human.render(findings, locate).as_bytes()),
            Self::Github => out.write_all(github::render(findings, locate).as_bytes()),
            Self::Json => {
                serde_json::to_writer_pretty(&mut *out, &FindingList::new(findings, locate))?;
                out.write_all(b"\n")
            }
            Self::Sarif => {
                serde_json::to_writer_pretty(&mut *out, &SarifLog::new(findings, locate))?;
                out.write_all(b"\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Texts, sample};
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
        for format in [Format::Json, Format::Sarif] {
            assert!(serde_json::from_str::<serde_json::Value>(&written(format, &none, &texts)).is_ok());
        }
    }
}
