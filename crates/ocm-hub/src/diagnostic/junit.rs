//! The JUnit format, which CI systems show as test results.
//!
//! Owns: the document and its escapes. Flows in: findings. Flows out: one `testsuites` with one `testsuite`, and in it
//! one `testcase` for every code: the same cases in every run, so that a CI system can tell what broke since the last
//! one. An error makes the case of its code fail; a warning is output of a case that passes.
//! It has no time and no host: the same findings give the same bytes.
//! Must not know: files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::github::{explanation, origin};
use super::position::resolve;
use super::text::counted;
use super::visible::{one_line, whole_line};
use super::{CODES, Code, Finding, Findings, Locate, Severity};

/// The findings as a JUnit document.
///
/// ```
/// use ocm_hub::diagnostic::{Findings, junit};
/// use ocm_hub::source::Sources;
///
/// let text = junit::render(&Findings::new(), &Sources::default());
/// assert!(text.contains("failures=\"0\""));
/// ```
pub fn render(findings: &Findings, locate: &dyn Locate) -> String {
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
mod tests {
    use proptest::prelude::*;

    use super::super::{Code, Place};
    use super::*;
    use crate::tests::findings::{Texts, sample};

    #[test]
    fn an_error_fails_the_case_of_its_code_and_a_warning_is_output_of_a_case_that_passes() {
        let (texts, findings) = sample();
        let text = render(&findings, &texts);
        let found: Vec<&str> = text
            .lines()
            .filter(|line| !line.ends_with("time=\"0\"/>"))
            .collect();
        let found = found
            .join("\n")
            .replace(&format!("tests=\"{}\"", CODES.len()), "tests=\"N\"");
        insta::assert_snapshot!(found, @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="spokewright" tests="N" failures="3" errors="0" skipped="0" time="0">
          <testsuite name="spokewright" tests="N" failures="3" errors="0" skipped="0" time="0">
            <testcase classname="spokewright.empty" name="empty/nothing-rendered" time="0">
              <failure type="error" message="no cluster receives anything">error: no cluster receives anything
          help: pass --allow-empty if that is what you mean</failure>
            </testcase>
            <testcase classname="spokewright.object" name="object/unknown-field" time="0" file="hub/team a/limits.yaml" line="8">
              <system-out>hub/team a/limits.yaml:8:3: warning: the schema has no field 50%, c:d</system-out>
            </testcase>
            <testcase classname="spokewright.output" name="output/edited" time="0" file="rendered/eu-1/a,b.yaml">
              <failure type="error" message="edited by hand">rendered/eu-1/a,b.yaml: error: edited by hand
          help: pass --force to overwrite it</failure>
            </testcase>
            <testcase classname="spokewright.policy" name="policy/target-not-found" time="0" file="hub/team a/limits.yaml" line="7">
              <failure type="error" message="no Gateway gateways/prod-wbe in the input">hub/team a/limits.yaml:7:11: error: no Gateway gateways/prod-wbe in the input
          not found
          hub/gateway.yaml:3:9: this Gateway has a similar name
          hub/team a/limits.yaml:3:37: the namespace searched
          note: a policy without a namespace in its targetRef targets its own namespace
          help: write `name: prod-web`</failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn every_code_is_a_case_whether_or_not_it_was_found() {
        let (texts, findings) = sample();
        for findings in [&findings, &Findings::new()] {
            let text = render(findings, &texts);
            assert_eq!(text.matches("<testcase ").count(), CODES.len());
            assert_eq!(text.matches(&format!("tests=\"{}\"", CODES.len())).count(), 2);
            assert_eq!(text.matches("<testsuite ").count(), 1);
        }
        assert!(!render(&Findings::new(), &texts).contains("<failure"));
    }

    #[test]
    fn several_errors_of_one_code_are_one_failure_that_lists_them() {
        let mut findings = Findings::new();
        for name in ["a", "b"] {
            findings.push(Finding::new(
                Code::OBJECT_NO_NAME,
                Place::Path(name.to_owned()),
                name,
            ));
        }
        let text = render(&findings, &Texts::default());
        assert_eq!(text.matches("<failure ").count(), 1);
        assert!(
            text.contains("message=\"2 errors: An object has no metadata.name\">a: error: a\nb: error: b<"),
            "{text}"
        );
        assert!(text.contains("failures=\"1\""));
    }

    /// What XML 1.0 allows, and that every element is closed where it should be.
    fn assert_well_formed(text: &str) {
        assert!(text.chars().all(|character| {
            matches!(character, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
        }));
        let mut open = Vec::new();
        let mut rest = text
            .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
            .unwrap();
        while let Some(start) = rest.find('<') {
            assert!(!rest[..start].contains('>') || open.is_empty(), "{rest}");
            let end = start + rest[start..].find('>').unwrap();
            let tag = &rest[start + 1..end];
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap());
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty());
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_finding_says_the_document_is_well_formed(evil in "(?s).{0,30}|[<>&\"'\\]\u{0}\u{1b}\u{fffe}\u{ffff}]{0,12}") {
            let mut texts = Texts::default();
            let file = texts.file(&evil, "a");
            let mut findings = Findings::new();
            findings.push(
                Finding::new(Code::YAML_SYNTAX, texts.text(file, "a"), evil.clone())
                    .label(evil.clone())
                    .related(Place::Path(evil.clone()), evil.clone())
                    .note(evil.clone())
                    .help(evil.clone()),
            );
            findings.push(Finding::new(Code::POLICY_OVERRIDDEN, Place::Run, evil));
            assert_well_formed(&render(&findings, &texts));
        }
    }
}
