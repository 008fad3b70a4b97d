//! `spokewright finding`: what a finding code means, with an example, and all codes.
//!
//! The library has the page of each code (docs/reference/findings/); here it becomes plain text for a terminal.

use std::io::IsTerminal as _;

use clap::Args;
use clap_complete::ArgValueCompleter;
use spokewright::diagnostic::{CODES, Code, Severity, wrapped_hanging};

use super::print::{Refusal, Status};
use super::{completions, print};

const AFTER_HELP: &str = "\
Examples:
  spokewright finding                      all codes
  spokewright finding policy/same-target   what it means, and what to do
  spokewright finding policy               all codes that begin with it";

/// Explain a finding code: why it matters, an example, how to fix it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Finding {
    /// The code, such as `policy/same-target`, or what is before its slash; without it, all codes
    #[arg(add = ArgValueCompleter::new(completions::codes))]
    code: Option<String>,
}

impl Finding {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let wanted = self.code.as_deref().unwrap_or_default();
        match Code::from_name(wanted) {
            Some(code) => print_page(code),
            None => {
                let width = std::io::stdout().is_terminal().then(print::width);
                print::text(&list(wanted, width).ok_or_else(|| unknown(wanted))?)
            }
        }
    }
}

/// Prints the page of a code. `explain` does so, too.
pub(super) fn print_page(code: Code) -> anyhow::Result<Status> {
    print::text(&page(code))
}

/// The codes of a group, or all of them where none is named: a line each, which a terminal of this width wraps in its
/// column.
fn list(group: &str, width: Option<usize>) -> Option<String> {
    let codes = CODES
        .iter()
        .filter(|(code, ..)| group.is_empty() || code.group() == group);
    let codes: Vec<_> = codes.collect();
    let longest = codes.iter().map(|(code, ..)| code.name().len()).max()?;
    let line = |(code, severity, summary): &&(Code, Severity, &str)| {
        let before = format!("{:longest$}  {:7}  ", code.name(), severity.as_str());
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(before.len()));
        let rows = wrapped_hanging(summary, room, room);
        format!("{before}{}\n", rows.join(&format!("\n{:1$}", "", before.len())))
    };
    Some(codes.iter().map(line).collect())
}

fn unknown(wanted: &str) -> Refusal {
    let all = "`spokewright finding` lists all codes";
    let near = Code::did_you_mean(wanted);
    let help = near.map_or_else(|| all.to_owned(), |near| format!("{near} {all}"));
    Refusal::new(
        Status::Usage,
        &format!("there is no finding code `{wanted}`"),
        &help,
    )
}

/// The page of a code as plain text: headings without marks, blocks indented, links by their words.
fn page(code: Code) -> String {
    let mut text = String::new();
    let mut is_block = false;
    for line in code.page().lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        } else if let Some(heading) = line.strip_prefix("## ") {
            text.push_str(&format!("{}\n", heading.to_uppercase()));
        } else if let Some(title) = line.strip_prefix("# ") {
            text.push_str(&format!("{}\n", title.replace('`', "")));
        } else {
            text.push_str(&format!("{}\n", without_links(line)));
        }
    }
    text
}

/// `[words](where)` becomes `words`.
fn without_links(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(words, after)| {
            let (_, after) = after.split_once(')')?;
            Some((words, after))
        });
        let Some((words, after)) = link else { break };
        text.push_str(before);
        text.push_str(words);
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_wraps_a_summary_in_its_column() {
        let wrapped = list("policy", Some(80)).unwrap();
        assert!(
            wrapped.lines().all(|line| line.chars().count() <= 80),
            "{wrapped}"
        );
        let whole = list("policy", None).unwrap();
        assert!(whole.lines().all(|line| line.starts_with("policy/")), "{whole}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&wrapped), words(&whole));
    }

    #[test]
    fn links_become_their_words_and_brackets_stay() {
        assert_eq!(
            without_links("[Suppress](../a.md#b) one, or [c](d.md)."),
            "Suppress one, or c."
        );
        assert_eq!(without_links("a [b] c"), "a [b] c");
    }
}
