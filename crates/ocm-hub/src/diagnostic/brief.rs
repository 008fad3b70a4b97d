//! The brief format: one line for each finding, no snippet, no color, a bounded number of lines.
//!
//! Owns: the output where space is short: Argo CD puts a plugin's stderr into a condition of the Application, where
//! everybody who may see the Application reads it (docs/systems/gitops.md#plugin-output). So no line of the input is
//! quoted, because it could be a Secret's. Flows in: findings. Flows out: text. Must not know: Argo
//! CD.

use std::fmt::Write as _;

use super::github::origin;
use super::text::counted;
use super::visible::{Lines, one_line};
use super::{Finding, Findings, Locate, Severity};

/// Characters of a message, or of a help line, that are shown.
const LONGEST: usize = 400;

/// One line for each of the first findings, and how many more there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// How many findings get a line.
    pub limit: usize,
}

impl Default for Brief {
    /// Ten lines: enough to act on, and they still fit into a condition.
    fn default() -> Self {
        Self { limit: 10 }
    }
}

impl Brief {
    /// The findings as text. Warnings are included only if there is no error, because errors have to be read first.
    ///
    /// ```
    /// use ocm_hub::diagnostic::{Brief, Code, Finding, Findings, Place};
    /// use ocm_hub::source::Sources;
    ///
    /// let mut findings = Findings::new();
    /// findings.push(Finding::new(Code::EMPTY_NOTHING_RENDERED, Place::Run, "no cluster receives anything"));
    /// assert_eq!(
    ///     Brief::default().render(&findings, &Sources::default()),
    ///     "error[empty/nothing-rendered]: no cluster receives anything\n"
    /// );
    /// ```
    pub fn render(&self, findings: &Findings, locate: &dyn Locate) -> String {
        let severity = if findings.has_errors() {
            Severity::Error
        } else {
            Severity::Warning
        };
        let mut text = Lines::default();
        for finding in findings
            .iter()
            .filter(|finding| finding.counts_as(severity))
            .take(self.limit)
        {
            line(&mut text, finding, locate);
        }
        let hidden = findings.count(severity).saturating_sub(self.limit);
        let warnings = findings.count(Severity::Warning);
        let mut more = Vec::new();
        if hidden > 0 {
            more.push(counted(hidden, &format!("more {}", severity.as_str())));
        }
        if severity == Severity::Error && warnings > 0 {
            more.push(counted(warnings, Severity::Warning.as_str()));
        }
        if !more.is_empty() {
            text.push(format_args!(
                "and {}: `spokewright check` lists them",
                more.join(" and ")
            ));
        }
        text.into_text()
    }
}

fn line(text: &mut Lines, finding: &Finding, locate: &dyn Locate) {
    let mut line = format!(
        "{}[{}]: {}",
        finding.severity.as_str(),
        finding.code.name(),
        one_line(&finding.message, LONGEST)
    );
    if let Some(origin) = origin(&finding.place, locate) {
        let _ = write!(line, " ({})", one_line(&origin, LONGEST));
    }
    if let Some(help) = &finding.help {
        let _ = write!(line, "; help: {}", one_line(help, LONGEST));
    }
    text.push(line);
}

#[cfg(test)]
mod tests {
    use super::super::{Code, Place};
    use super::*;
    use crate::tests::findings::{Texts, sample};

    #[test]
    fn each_error_is_one_line_with_its_place_and_help_and_warnings_are_counted() {
        let (texts, findings) = sample();
        insta::assert_snapshot!(Brief::default().render(&findings, &texts), @r"
        error[policy/target-not-found]: no Gateway gateways/prod-wbe in the input (hub/team a/limits.yaml:7:11); help: write `name: prod-web`
        error[output/edited]: edited by hand (rendered/eu-1/a,b.yaml); help: pass --force to overwrite it
        error[empty/nothing-rendered]: no cluster receives anything; help: pass --allow-empty if that is what you mean
        and 1 warning: `spokewright check` lists them
        ");
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let (texts, findings) = sample();
        let text = Brief { limit: 1 }.render(&findings, &texts);
        assert_eq!(text.lines().count(), 2);
        assert!(
            text.ends_with("and 2 more errors and 1 warning: `spokewright check` lists them\n"),
            "{text}"
        );
        let warnings = findings.only(Severity::Warning);
        let text = Brief { limit: 0 }.render(&warnings, &texts);
        assert_eq!(text, "and 1 more warning: `spokewright check` lists them\n");
    }

    #[test]
    fn no_line_of_the_input_is_quoted() {
        let mut texts = Texts::default();
        let file = texts.file("secret.yaml", "password: hunter2\n");
        let mut findings = Findings::new();
        findings.push(Finding::new(Code::YAML_SYNTAX, texts.text(file, "password"), "wrong").label("here"));
        assert!(!Brief::default().render(&findings, &texts).contains("hunter2"));
        assert_eq!(Brief::default().render(&Findings::new(), &texts), "");
        findings.push(Finding::new(Code::CONFIG_INVALID, Place::Run, "a\u{1b}[31mb\nc"));
        assert!(!Brief::default().render(&findings, &texts).contains('\u{1b}'));
    }
}
