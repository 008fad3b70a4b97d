//! The expressions of `tests/expressions.txt`, each with its value or its failure, and its cost.

use std::path::Path;

use super::ask;

#[test]
fn every_expression_has_the_value_and_the_cost_of_its_snapshot() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expressions.txt");
    test_sections::check_lines(file, |line| {
        let answer = ask(line);
        format!("{:?} for {}", answer.value, answer.cost)
    });
}
