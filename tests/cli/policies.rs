//! Every name that `status` and `policies` print names its object in `explain`.

use kube_json::Value;

use crate::scratch::{Scratch, copy, fixtures};

#[test]
fn every_name_that_a_command_prints_can_be_pasted() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    let statuses = scratch.run(&["status", "-q"]).stdout;
    let table = scratch.run(&["policies", "-q"]).stdout;
    let report = scratch.run(&["policies", "-q", "-o", "json"]).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let locators = report["policies"].as_array().expect("policies").iter();
    let locators = locators.map(|policy| policy["policy"].as_str().expect("a locator"));
    let texts = format!("{statuses}{table}");
    let words: Vec<&str> = texts.split_whitespace().collect();
    let mut names: std::collections::BTreeSet<String> = locators.map(str::to_owned).collect();
    for pair in words.windows(2) {
        let is_name = pair[1].contains('/')
            && pair[1]
                .chars()
                .all(|c| c.is_ascii_lowercase() || "/-#.1234567890".contains(c));
        // A sentence writes the kind before the name.
        let is_kind =
            pair[0].starts_with(|c: char| c.is_uppercase()) && pair[0].chars().any(char::is_lowercase);
        if is_name && is_kind && pair[1].matches('/').count() == 1 {
            names.insert(pair.join(" "));
        } else if is_name {
            names.insert(pair[1].to_owned());
        }
    }
    assert!(names.len() > 25, "{names:?}");
    let names: Vec<String> = names.into_iter().collect();
    std::thread::scope(|scope| {
        for some in names.chunks(names.len().div_ceil(4)) {
            let scratch = &scratch;
            scope.spawn(move || {
                for name in some {
                    scratch.run(&["explain", name, "-q"]).exits(0);
                }
            });
        }
    });
}
