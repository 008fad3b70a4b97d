//! The table of every option of every command, docs/reference/options.md, made from what clap knows.
//!
//! Owns: its form. Flows in: the command line's definition. Flows out: a page, which a test compares with the committed
//! one: `UPDATE_PAGES=1 cargo test --bin spokewright` writes it. Must not know: what a command does.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

const PAGE: &str = "docs/reference/options.md";

const INTRODUCTION: &str = "\
# Options

Every option of every command, made from the definition that `--help` prints. An option that stands in two rows means two
things: there should be a reason. [Commands](commands.md) says more about each.

";

const HEAD: &str = "\
| option | meaning | values | default | commands |
|---|---|---|---|---|
";

/// A row without its commands: options sort by their long names, whatever is short.
type Row = (String, String);

#[test]
fn the_table_of_options_is_what_clap_knows() {
    let mut command = super::Cli::command().disable_help_subcommand(true);
    command.build();
    let mut rows: BTreeMap<Row, Vec<String>> = BTreeMap::new();
    collect(&command, "", &mut rows);
    // Those that read take the options of reading; to list them in each row would hide what differs.
    let readers = rows.iter().find(|((long, _), _)| long == "config");
    let readers = readers.map(|(_, takers)| takers.clone()).unwrap_or_default();
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&format!(
        "The commands that read are {}.\n\n{HEAD}",
        quoted(&readers)
    ));
    for ((_, row), takers) in &rows {
        let (of_all, others): (Vec<String>, Vec<String>) =
            takers.iter().cloned().partition(|taker| readers.contains(taker));
        let takers = match (of_all == readers, others.is_empty()) {
            (true, true) => "all that read".to_owned(),
            (true, false) => format!("all that read, {}", quoted(&others)),
            (false, _) => quoted(takers),
        };
        page.push_str(&format!("{row} | {takers} |\n"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &page).expect("a page");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "{PAGE} is out of step; update it with\n  UPDATE_PAGES=1 cargo test --bin spokewright"
    );
}

fn quoted(commands: &[String]) -> String {
    let names: Vec<String> = commands.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn collect(command: &Command, name: &str, rows: &mut BTreeMap<Row, Vec<String>>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("{name} {}", sub.get_name()).trim_start().to_owned();
        if sub.has_subcommands() {
            collect(sub, &name, rows);
            continue;
        }
        for argument in sub.get_arguments() {
            let is_shown = !argument.is_positional() && !argument.is_hide_set();
            if let (true, Some(long)) = (is_shown && argument.get_id() != "help", argument.get_long()) {
                let key = (long.to_owned(), row(argument, long));
                rows.entry(key).or_default().push(name.clone());
            }
        }
    }
}

fn row(argument: &Arg, long: &str) -> String {
    let takes_values = argument.get_action().takes_values();
    let value = argument
        .get_value_names()
        .filter(|_| takes_values)
        .and_then(|names| names.first())
        .map(|name| format!(" {name}"))
        .unwrap_or_default();
    let mut option = match argument.get_short() {
        Some(short) => format!("`-{short}`, `--{long}{value}`"),
        None => format!("`--{long}{value}`"),
    };
    for alias in argument.get_all_aliases().unwrap_or_default() {
        option.push_str(&format!(", also `--{alias}`"));
    }
    let meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| takes_values && !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .filter(|_| takes_values)
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    let cell = |text: String| text.replace('|', "\\|").replace('\n', " ");
    format!(
        "| {} | {} | {} | {}",
        cell(option),
        cell(meaning),
        values.join(", "),
        defaults.join(", ")
    )
}
