//! Single mistakes in a hub that is fine, which are the cases of `tests/cases/mistakes`: warnings elsewhere hide none of
//! them, and each is found as well with the CRDs of the products in the input.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cases::shell;
use crate::scratch::{Scratch, copy};

/// The hub of each case with its mistake, and what its snapshot has.
fn mistakes() -> Vec<(Scratch, String)> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mistakes");
    let cases = fs::read_dir(cases).expect("cases").map(|case| {
        let scratch = Scratch::new();
        copy(&case.expect("an entry").path(), &scratch.path(""));
        let commands = scratch.read("cmd");
        for command in commands.lines().filter(|line| *line != "spokewright check") {
            shell(&scratch, command).exits(0);
        }
        let output = scratch.read("output.snap");
        (scratch, output)
    });
    cases.collect()
}

/// The first line and the place of each finding.
fn findings(text: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_first = |line: &str| line.starts_with("error[") || line.starts_with("warning[");
    let findings = lines.windows(2).filter(|pair| is_first(pair[0]));
    findings.map(|pair| pair.join("\n")).collect()
}

#[cfg(feature = "real-crds")]
#[test]
fn every_mistake_is_found_as_well_with_the_crds_of_the_products_in_the_input() {
    let crds = std::env::var_os("SPOKEWRIGHT_CRDS").expect("SPOKEWRIGHT_CRDS names the directory of CRDs");
    // The file and the line, and the help up to the versions that a CRD serves.
    let essence = |text: &str| {
        let place = |line: &str| Some(line.split_once("--> ")?.1.rsplit_once(':')?.0.to_owned());
        let help = |line: &str| Some(line.split_once("= help: ")?.1.split(';').next()?.to_owned());
        let lines = || text.lines();
        (lines().find_map(place), lines().find_map(help))
    };
    for (scratch, output) in mistakes() {
        for products in ["gateway-api/standard", "kuadrant", "ocm"] {
            copy(
                &Path::new(&crds).join(products),
                &scratch.path("hub/crds").join(products),
            );
        }
        let run = scratch.run(&["check"]);
        assert_eq!(findings(&run.stdout).len(), 1, "{}", run.stdout);
        assert_eq!(essence(&run.stdout), essence(&output), "{}", run.stdout);
    }
}

/// Warnings of several kinds, none of which has to do with any of the mistakes.
const WARNINGS: [(&str, &str); 3] = [
    (
        "hub/zz/route.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: zz, namespace: shop}\nspec:\n  \
         parentRefs: [{name: nowhere, namespace: zz}]\n  rules: [{backendRefs: [{name: zz, port: 80}]}]\n",
    ),
    (
        "hub/zz/policy.yaml",
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: zz, namespace: shop}\nspec:\n  \
         targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: zz}\n  limits: {zz: {rates: [{limit: 1, window: 1s}]}}\n",
    ),
    (
        "spokes/zz/zz.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: zz, namespace: zz}\n",
    ),
];

#[test]
fn no_warning_hides_a_mistake() {
    for (scratch, output) in mistakes() {
        let before = findings(&output);
        for (file, text) in WARNINGS {
            scratch.write(file, text);
        }
        let after = findings(&scratch.run(&["check"]).stdout);
        assert!(after.is_superset(&before), "{before:#?} {after:#?}");
        assert!(after.len() >= before.len() + 2, "{after:#?}");
    }
}
