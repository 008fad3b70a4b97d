//! Tests of the formats of CI systems.

use kube_json::{Value, json};
use proptest::prelude::*;

use super::super::Place;
use super::*;
use crate::tests::findings::{Texts, sample};

#[test]
fn every_finding_is_one_command() {
    let (texts, findings) = sample();
    insta::assert_snapshot!(github(&findings, &texts), @r#"
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
    let text = github(&findings, &texts);
    assert_eq!(text.lines().count(), 1);
    assert!(
        text.starts_with("::error file=x %3A%3Astop-commands%3A%3At"),
        "{text}"
    );
    assert!(!text.trim_end().contains(char::is_control));
}

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

#[test]
fn an_error_fails_the_case_of_its_code_and_a_warning_is_output_of_a_case_that_passes() {
    let (texts, findings) = sample();
    let text = junit(&findings, &texts);
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
        let text = junit(findings, &texts);
        assert_eq!(text.matches("<testcase ").count(), CODES.len());
        assert_eq!(text.matches(&format!("tests=\"{}\"", CODES.len())).count(), 2);
        assert_eq!(text.matches("<testsuite ").count(), 1);
    }
    assert!(!junit(&Findings::new(), &texts).contains("<failure"));
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
    let text = junit(&findings, &Texts::default());
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
        assert_well_formed(&junit(&findings, &texts));
    }
}
