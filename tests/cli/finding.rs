//! `finding`: the page of every code in a terminal.

use spokewright::diagnostic::CODES;

use crate::scratch::Scratch;

#[test]
fn every_code_is_explained_in_plain_text() {
    let scratch = Scratch::new();
    let all = scratch.run(&["finding"]);
    assert_eq!(all.exits(0).stdout.lines().count(), CODES.len());
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
