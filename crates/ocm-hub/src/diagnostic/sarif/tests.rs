//! Tests of the SARIF form.

use kube_json::Value;

use super::super::SourceId;
use super::*;
use crate::tests::findings::{Texts, sample};

fn log(findings: &Findings, locate: &dyn Locate) -> Value {
    kube_json::to_value(SarifLog::new(findings, locate)).unwrap()
}

#[test]
fn results_have_rule_level_region_related_locations_and_fingerprint() {
    let (texts, findings) = sample();
    let log = log(&findings, &texts);
    let run = &log["runs"][0];
    // Every new code moves the indexes; that they point at the right rule is the rule of another test.
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r#"ndex": \d+"#, r#"ndex": "of its rule""#);
    let _guard = settings.bind_to_scope();
    insta::assert_snapshot!(serde_json::to_string_pretty(&run["results"]).unwrap(), @r#"
    [
      {
        "level": "error",
        "locations": [
          {
            "message": {
              "text": "not found"
            },
            "physicalLocation": {
              "artifactLocation": {
                "uri": "hub/team%20a/limits.yaml"
              },
              "region": {
                "endColumn": 19,
                "endLine": 7,
                "startColumn": 11,
                "startLine": 7
              }
            }
          }
        ],
        "message": {
          "text": "no Gateway gateways/prod-wbe in the input\nhub/gateway.yaml:3:9: this Gateway has a similar name\nhub/team a/limits.yaml:3:37: the namespace searched\nnote: a policy without a namespace in its targetRef targets its own namespace\nhelp: write `name: prod-web`"
        },
        "partialFingerprints": {
          "spokewrightFinding/v1": "37438d45d30489683b190b4343c40be0:1"
        },
        "relatedLocations": [
          {
            "id": 1,
            "message": {
              "text": "this Gateway has a similar name"
            },
            "physicalLocation": {
              "artifactLocation": {
                "uri": "hub/gateway.yaml"
              },
              "region": {
                "endColumn": 17,
                "endLine": 3,
                "startColumn": 9,
                "startLine": 3
              }
            }
          },
          {
            "id": 2,
            "message": {
              "text": "the namespace searched"
            },
            "physicalLocation": {
              "artifactLocation": {
                "uri": "hub/team%20a/limits.yaml"
              },
              "region": {
                "endColumn": 45,
                "endLine": 3,
                "startColumn": 37,
                "startLine": 3
              }
            }
          }
        ],
        "ruleId": "policy/target-not-found",
        "ruleIndex": "of its rule"
      },
      {
        "level": "warning",
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "hub/team%20a/limits.yaml"
              },
              "region": {
                "endColumn": 1,
                "endLine": 11,
                "startColumn": 3,
                "startLine": 8
              }
            }
          }
        ],
        "message": {
          "text": "the schema has no field 50%, c:d"
        },
        "partialFingerprints": {
          "spokewrightFinding/v1": "a5516995cbf9ea734f8d2bd4ccb598aa:1"
        },
        "ruleId": "object/unknown-field",
        "ruleIndex": "of its rule"
      },
      {
        "level": "error",
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "rendered/eu-1/a,b.yaml"
              }
            }
          }
        ],
        "message": {
          "text": "edited by hand\nhelp: pass --force to overwrite it"
        },
        "partialFingerprints": {
          "spokewrightFinding/v1": "2d5143971cd25c5b707e74b8e1acb75a:1"
        },
        "ruleId": "output/edited",
        "ruleIndex": "of its rule"
      }
    ]
    "#);
    insta::assert_snapshot!(serde_json::to_string_pretty(&run["invocations"]).unwrap(), @r#"
    [
      {
        "executionSuccessful": false,
        "toolExecutionNotifications": [
          {
            "associatedRule": {
              "id": "empty/nothing-rendered",
              "index": "of its rule"
            },
            "level": "error",
            "message": {
              "text": "no cluster receives anything\nhelp: pass --allow-empty if that is what you mean"
            }
          }
        ]
      }
    ]
    "#);
}

#[test]
fn the_log_names_its_version_and_how_columns_are_counted() {
    let log = log(&Findings::new(), &Texts::default());
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["$schema"], SCHEMA);
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["results"], kube_json::json!([]));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn the_rules_are_all_codes_and_every_rule_index_points_at_its_rule() {
    let mut findings = Findings::new();
    let mut texts = Texts::default();
    let file = texts.file("a.yaml", "a");
    for (code, _, _) in CODES {
        findings.push(Finding::new(*code, texts.text(file, "a"), "message"));
    }
    let log = log(&findings, &texts);
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), CODES.len());
    for (result, (code, severity, summary)) in run["results"].as_array().unwrap().iter().zip(CODES) {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(result["ruleId"], code.name());
        assert_eq!(rule["id"], code.name());
        assert_eq!(rule["shortDescription"]["text"], *summary);
        assert_eq!(rule["defaultConfiguration"]["level"], severity.as_str());
        assert_eq!(
            rule["properties"]["tags"],
            kube_json::json!(["kubernetes", code.group()])
        );
    }
}

#[test]
fn a_rule_leads_to_its_page_and_holds_it_where_something_was_found() {
    let (texts, findings) = sample();
    let log = log(&findings, &texts);
    let found: Vec<&str> = findings.iter().map(|finding| finding.code.name()).collect();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        let name = rule["id"].as_str().unwrap();
        let page = format!("/docs/reference/findings/{name}.md");
        assert!(rule["helpUri"].as_str().unwrap().ends_with(&page), "{rule}");
        let markdown = rule["help"]["markdown"].as_str();
        assert_eq!(
            markdown.is_some_and(|markdown| markdown.contains("## Fix")),
            found.contains(&name),
            "{name}"
        );
        assert_eq!(rule["help"]["text"].as_str(), markdown);
    }
}

#[test]
fn the_id_of_a_run_tells_the_inputs_of_one_repository_apart_and_is_the_same_next_time() {
    assert_eq!(run_id(""), "spokewright/");
    assert_eq!(run_id("teams/shop"), "spokewright/teams/shop/");
    assert_eq!(run_id("/srv//hub/"), "spokewright/srv/hub/");
}

#[test]
fn every_result_has_a_location_because_github_refuses_the_log_otherwise() {
    let (texts, findings) = sample();
    let log = log(&findings, &texts);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].is_string());
    }
    let said = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(said[0]["associatedRule"]["id"], "empty/nothing-rendered");
}

fn fingerprints(text: &str, messages: &[&str]) -> Vec<String> {
    let mut texts = Texts::default();
    let file = texts.file("a.yaml", text);
    let place = texts.field(file, 0, "/spec", "here");
    let mut findings = Findings::new();
    findings.extend(
        messages
            .iter()
            .map(|message| Finding::new(Code::OBJECT_SCHEMA, place.clone(), *message)),
    );
    let log = log(&findings, &texts);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let print = |result: &Value| {
        result["partialFingerprints"][FINGERPRINT]
            .as_str()
            .unwrap()
            .to_owned()
    };
    results.iter().map(print).collect()
}

#[test]
fn a_fingerprint_survives_moved_lines_and_tells_findings_apart() {
    let before = fingerprints("spec: here\n", &["a", "b", "a"]);
    let after = fingerprints("# a comment\n\n\nspec:   here\n", &["a", "b", "a"]);
    assert_eq!(before, after);
    assert_ne!(before[0], before[1]);
    assert_ne!(before[0], before[2]);
}

#[test]
fn paths_become_uri_references() {
    assert_eq!(uri("hub/team a/ü%#?.yaml"), "hub/team%20a/%C3%BC%25%23%3F.yaml");
    assert_eq!(uri("c:/x"), "c%3A/x");
    assert_eq!(uri("/tmp/x y"), "file:///tmp/x%20y");
}

#[test]
fn a_place_that_cannot_be_found_is_said_all_the_same() {
    let mut findings = Findings::new();
    let nowhere = Place::value(
        super::super::DocumentId {
            source: SourceId(0),
            index: 0,
        },
        "/lost",
    );
    let mut texts = Texts::default();
    texts.file("a.yaml", "");
    findings.push(Finding::new(Code::OBJECT_SCHEMA, nowhere, "lost"));
    let log = log(&findings, &texts);
    assert_eq!(
        log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
        "lost"
    );
}
