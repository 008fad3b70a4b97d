//! The page of each finding code: its head is the table's, it is in the table of contents, has the four parts, and fits a
//! terminal.

use spokewright::diagnostic::{CODES, Code, Severity, wrapped};

use super::{is_update, section, text, write};

pub(super) fn file(code: Code) -> String {
    format!("docs/reference/findings/{}.md", code.name())
}

#[test]
fn every_page_of_a_code_begins_with_what_the_table_says_and_has_the_four_parts() {
    for &(code, severity, summary) in CODES {
        let page = text(&file(code));
        let status = code.exit_status();
        let severity = match severity {
            Severity::Warning => format!("Warning by default, exit status {status} as an error."),
            Severity::Error if code.is_configurable() => {
                format!("Error by default, exit status {status}.")
            }
            Severity::Error => format!("Always an error, exit status {status}."),
        };
        let summary = wrapped(&format!("{summary}."), 80).join("\n");
        let head = format!("# `{code}`\n\n{summary}\n\n{severity}\n\n");
        let (found, rest) = page.split_once("## ").expect("a part");
        if is_update() && found != head {
            write(&file(code), &format!("{head}## {rest}"));
        } else {
            assert_eq!(found, head, "{}", file(code));
        }
        let parts: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(
            parts,
            ["Why it matters", "Example", "Fix", "Silence"],
            "{}",
            file(code)
        );
    }
}

#[test]
fn the_table_of_contents_lists_the_pages_in_the_order_of_the_codes() {
    const CONTENTS: &str = "docs/SUMMARY.md";
    let begins = "  - [`";
    let contents = text(CONTENTS);
    let (is_code, others): (Vec<&str>, Vec<&str>) =
        contents.lines().partition(|line| line.starts_with(begins));
    let wanted: Vec<String> = CODES
        .iter()
        .map(|(code, ..)| format!("{begins}{code}`](reference/findings/{code}.md)"))
        .collect();
    if is_update() && is_code != wanted {
        let lines = others.into_iter().flat_map(|line| {
            let pages = if line == "- [Findings](reference/findings.md)" {
                wanted.clone()
            } else {
                Vec::new()
            };
            std::iter::once(line.to_owned()).chain(pages)
        });
        let lines: String = lines.map(|line| line + "\n").collect();
        write(CONTENTS, &lines);
    } else {
        assert_eq!(is_code, wanted);
    }
}

#[test]
fn a_page_fits_a_terminal_and_says_how_to_silence_what_can_be_silenced() {
    for &(code, severity, _) in CODES {
        let page = text(&file(code));
        let prose = page.split("```").step_by(2);
        for line in prose.flat_map(str::lines) {
            assert!(line.chars().count() <= 80, "{}: {line}", file(code));
        }
        let silence = section(&page, "## Silence").replace('\n', " ");
        let words = match severity {
            _ if !code.is_configurable() => "cannot be silenced".to_owned(),
            Severity::Warning => format!("`findings: {{{code}: off}}`"),
            Severity::Error => format!("`findings: {{{code}: warning}}`"),
        };
        assert!(silence.contains(&words), "{}: say {words}", file(code));
    }
}
