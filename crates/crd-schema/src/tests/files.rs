//! The schemas of `tests/schemas/`, and what they say of values. A line is a schema for the lines that follow, a value, or
//! an update: its old and its new value.

use std::path::Path;

use apimachinery::Work;
use kube_json::Value;

use crate::Schema;

#[test]
fn every_value_is_judged_as_its_snapshot_has_it() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    for file in ["keywords.txt", "rules.txt", "updates.txt"] {
        let mut schema = None;
        test_sections::check_lines(directory.join(file), |line| {
            let (kind, json) = line.split_once(' ').unwrap();
            let value: Value = serde_json::from_str(json).unwrap();
            if kind == "schema" {
                let (read, mut problems) = Schema::from_value(&value);
                problems.extend(read.verify());
                schema = Some(read);
                return lines(problems.iter().map(|problem| format!("{problem:?}")));
            }
            let schema = schema.as_ref().unwrap();
            let violations = match kind {
                "value" => schema.validate(&value),
                _ => schema.transitions(&value[0], &value[1], &Work::unlimited()),
            };
            lines(
                violations
                    .iter()
                    .map(|violation| format!("{violation} {:?}", violation.kind)),
            )
        });
    }
}

fn lines(problems: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = problems.collect();
    if lines.is_empty() {
        "fine".to_owned()
    } else {
        lines.join("\n")
    }
}
