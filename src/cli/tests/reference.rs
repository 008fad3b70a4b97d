//! The tables of options in docs/reference, generated from the definition of the command line: options.md has all options
//! of all commands, and commands.md those of each command. Tests compare the tables with the committed pages;
//! `UPDATE_PAGES=1 cargo test --bin spokewright` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory as _};

const OPTIONS: &str = "docs/reference/options.md";
const COMMANDS: &str = "docs/reference/commands.md";

/// Where a table of commands.md begins.
const COMMANDS_HEAD: &str = "| option | meaning |\n|---|---|\n";
/// Its section with the options that all commands share which read an input.
const SHARED: &str = "Options of all commands that read";

const INTRODUCTION: &str = "\
# Options

Every option of every command, made from the definition that `--help` prints. An option in two rows has two meanings,
and there should be a reason. [Commands](commands.md) says more about each.

";

const HEAD: &str = "\
| option | meaning | values | default | commands |
|---|---|---|---|---|
";

/// A row without its commands: options sort by their long names, whatever is short.
type Row = (String, String);

#[test]
fn the_table_of_options_is_what_clap_knows() {
    let command = definition();
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
    compare(OPTIONS, &page);
}

#[test]
fn the_tables_of_commands_are_what_clap_knows() {
    let command = definition();
    let options: BTreeMap<&str, BTreeSet<String>> = command
        .get_subcommands()
        .map(|sub| (sub.get_name(), shown(sub).map(own_row).collect()))
        .collect();
    // What commands read with is what all of them have that take a configuration.
    let shared = options
        .values()
        .filter(|rows| rows.iter().any(|row| row.starts_with("| `--config ")))
        .cloned()
        .reduce(|shared, rows| &shared & &rows)
        .expect("commands that read");
    let page = read(COMMANDS);
    let sections = page.split("\n## ").map(|section| {
        let name = section.strip_prefix("`spokewright ").unwrap_or_default();
        let name = name.split([' ', '`']).next().unwrap_or_default();
        let rows = match options.get(name) {
            Some(own) if own.is_superset(&shared) => own - &shared,
            Some(own) => own.clone(),
            None if section.starts_with(SHARED) => shared.clone(),
            None => BTreeSet::new(),
        };
        with_rows(section, rows)
    });
    compare(COMMANDS, &sections.collect::<Vec<_>>().join("\n## "));
}

/// The section with these rows in its table. A command with options needs a table to hold them.
fn with_rows(section: &str, rows: BTreeSet<String>) -> String {
    let rows: String = rows.into_iter().collect();
    let Some((before, table)) = section.split_once(COMMANDS_HEAD) else {
        let name = section.lines().next().unwrap_or_default();
        assert!(rows.is_empty(), "{COMMANDS}: no table of options below {name}");
        return section.to_owned();
    };
    let after: String = table
        .split_inclusive('\n')
        .skip_while(|line| line.starts_with('|'))
        .collect();
    format!("{before}{COMMANDS_HEAD}{rows}{after}")
}

fn own_row(argument: &Arg) -> String {
    let mut meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = values_of(argument)
        .iter()
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        meaning.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults = defaults_of(argument);
    if !defaults.is_empty() {
        meaning.push_str(&format!(" [default: {}]", defaults.join(", ")));
    }
    format!("| {} | {} |\n", cell(&name_of(argument)), cell(&meaning))
}

fn definition() -> Command {
    let mut command = crate::cli::Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

fn read(page: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap_or_default()
}

fn compare(page: &str, made: &str) {
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(page), made).expect("a page");
    }
    assert!(
        read(page) == made,
        "{page} is out of step; update it with\n  UPDATE_PAGES=1 cargo test --bin spokewright"
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
        for argument in shown(sub) {
            let key = (argument.get_long().unwrap_or_default().to_owned(), row(argument));
            rows.entry(key).or_default().push(name.clone());
        }
    }
}

/// The options of a command that its help shows.
fn shown(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| {
        let is_option = !argument.is_positional() && argument.get_long().is_some();
        is_option && !argument.is_hide_set() && argument.get_id() != "help"
    })
}

fn row(argument: &Arg) -> String {
    let meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = values_of(argument)
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    format!(
        "| {} | {} | {} | {}",
        cell(&name_of(argument)),
        cell(&meaning),
        values.join(", "),
        defaults_of(argument).join(", ")
    )
}

/// The option as it is typed, with the name of its value and its other names.
fn name_of(argument: &Arg) -> String {
    let long = argument.get_long().unwrap_or_default();
    let value = argument
        .get_value_names()
        .filter(|_| argument.get_action().takes_values())
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
    option
}

fn values_of(argument: &Arg) -> Vec<PossibleValue> {
    let mut values = argument.get_possible_values();
    values.retain(|value| argument.get_action().takes_values() && !value.is_hide_set());
    values
}

fn defaults_of(argument: &Arg) -> Vec<String> {
    argument
        .get_default_values()
        .iter()
        .filter(|_| argument.get_action().takes_values())
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
