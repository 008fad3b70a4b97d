//! `finding`: the page of a code in a terminal, the list of all, and codes that do not exist.

use spokewright::diagnostic::CODES;

use crate::scratch::Scratch;

#[test]
fn every_code_is_explained_in_plain_text() {
    let scratch = Scratch::new();
    for (code, _, summary) in CODES.iter().step_by(10) {
        let run = scratch.run(&["finding", code.name()]);
        run.exits(0);
        let mut lines = run.stdout.lines();
        assert_eq!(lines.next(), Some(code.name()));
        let said = run.stdout.replace('\n', " ");
        assert!(said.contains(&format!("{summary}.")), "{}", run.stdout);
        for heading in ["WHY IT MATTERS", "EXAMPLE", "FIX", "SILENCE"] {
            assert!(
                run.stdout.contains(&format!("\n{heading}\n\n")),
                "{code}: {heading}"
            );
        }
        assert!(
            !run.stdout.contains("```") && !run.stdout.contains("]("),
            "{}",
            run.stdout
        );
        let explained = scratch.run(&["explain", code.name()]);
        assert_eq!(explained.exits(0).stdout, run.stdout);
    }
}

#[test]
fn codes_are_listed_all_or_by_what_stands_before_the_slash() {
    let scratch = Scratch::new();
    let all = scratch.run(&["finding"]);
    assert_eq!(all.exits(0).stdout.lines().count(), CODES.len());
    let some = scratch.run(&["finding", "yaml"]);
    assert!(some.exits(0).stdout.lines().all(|line| line.starts_with("yaml/")));
    assert!(
        some.stdout
            .contains("yaml/syntax         error    A file is not YAML"),
        "{}",
        some.stdout
    );
}

#[test]
fn a_code_that_does_not_exist_is_a_usage_error_with_the_nearest_one() {
    Scratch::new()
        .run(&["finding", "polcy/same-target"])
        .exits(2)
        .says("error: there is no finding code `polcy/same-target`")
        .says("help: did you mean `policy/same-target`? `spokewright finding` lists all codes");
}
