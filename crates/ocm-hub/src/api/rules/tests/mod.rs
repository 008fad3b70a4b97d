//! The rules one by one; and, with the projects' own CRDs, all of them against an API server's answers.

#[cfg(feature = "real-crds")]
mod comparing;
#[cfg(feature = "real-crds")]
mod like_gateway_api;
#[cfg(feature = "real-crds")]
mod like_products;

use super::broken;
use crate::diagnostic::{Finding, Severity};
use crate::tests::object;

/// What is reported about one object: message, pointer of the place, help, severity.
fn said(object: &crate::object::Object) -> Vec<String> {
    let said = |finding: &Finding| {
        let crate::diagnostic::Place::Field { pointer, .. } = &finding.place else {
            panic!("no field")
        };
        assert!(finding.help.is_some(), "{finding:?}");
        let word = if finding.severity == Severity::Error {
            ""
        } else {
            "(warning) "
        };
        let message = finding.message.as_str();
        let message = message.split_once(": ").expect("the object first").1;
        format!("{word}{pointer}: {message}")
    };
    let mut found = broken(object);
    found.extend(super::conflicting(object));
    found.iter().map(said).collect()
}

#[test]
fn every_object_breaks_the_rules_of_its_snapshot() {
    test_sections::check_lines(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lines/rules.txt"),
        |line| {
            let said = said(&object(serde_json::from_str(line).unwrap()));
            if said.is_empty() {
                "fine".to_owned()
            } else {
                said.join("\n")
            }
        },
    );
}
