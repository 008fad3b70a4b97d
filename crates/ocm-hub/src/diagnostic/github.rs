//! The GitHub format: workflow commands, which a job's log turns into annotations on the changed files.
//!
//! Owns: the command and its escapes. Flows in: findings. Flows out: one line for each. Must not know: who finds
//! what.
//! Rule: docs/systems/gitops.md#github; the runner undoes `%25`, `%0D`, `%0A` in the message and also `%3A`, `%2C` in
//! properties.

use std::fmt::Write as _;

use super::position::{Location, resolve};
use super::visible::one_line;
use super::{Finding, Findings, Locate, Place};

/// Every finding that is not suppressed as one line `::error file=...,line=...,...::message`.
pub fn render(findings: &Findings, locate: &dyn Locate) -> String {
    let mut text = String::new();
    for finding in findings.iter().filter(|finding| finding.suppressed.is_none()) {
        command(&mut text, finding, locate);
    }
    text
}

fn command(text: &mut String, finding: &Finding, locate: &dyn Locate) {
    let _ = write!(text, "::{} ", finding.severity.as_str());
    if let Some(Location { path, region }) = resolve(&finding.place, locate) {
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
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::{Code, Place};
    use super::*;
    use crate::tests::findings::{Texts, sample};

    #[test]
    fn every_finding_is_one_command() {
        let (texts, findings) = sample();
        insta::assert_snapshot!(render(&findings, &texts), @r#"
        ::error file=hub/team a/limits.yaml,line=7,col=11,endLine=7,endColumn=19,title=policy/target-not-found::no Gateway gateways/prod-wbe in the input%0Anot found%0Ahub/gateway.yaml:3:9: this Gateway has a similar name%0Ahub/team a/limits.yaml:3:37: the namespace searched%0Anote: a policy without a namespace in its targetRef targets its own namespace%0Ahelp: write `name: prod-web`
        ::warning file=hub/team a/limits.yaml,line=8,col=3,endLine=11,endColumn=1,title=object/unknown-field::the schema has no field 50%25, c:d
        ::error file=rendered/eu-1/a%2Cb.yaml,title=output/edited::edited by hand%0Ahelp: pass --force to overwrite it
        ::error title=empty/nothing-rendered::no cluster receives anything%0Ahelp: pass --allow-empty if that is what you mean
        "#);
    }

    #[test]
    fn messages_escape_percent_and_line_ends_and_properties_colon_and_comma_as_well() {
        assert_eq!(data("100%: a,b\r\nc"), "100%25: a,b%0D%0Ac");
        assert_eq!(property("100%: a,b\r\nc"), "100%25%3A a%2Cb%0D%0Ac");
    }

    #[test]
    fn no_text_can_start_a_command_of_its_own() {
        let mut texts = Texts::default();
        let evil = "x\n::stop-commands::t\r\n\u{1b}[2J::";
        let file = texts.file(evil, "a");
        let mut findings = Findings::new();
        findings.push(
            Finding::new(Code::CONFIG_INVALID, texts.text(file, "a"), evil)
                .label(evil)
                .related(Place::Path(evil.to_owned()), evil)
                .related(Place::Run, evil)
                .note(evil)
                .help(evil),
        );
        let text = render(&findings, &texts);
        assert_eq!(text.lines().count(), 1);
        assert!(
            text.starts_with("::error file=x %3A%3Astop-commands%3A%3At"),
            "{text}"
        );
        assert!(!text.trim_end().contains(char::is_control));
    }
}
