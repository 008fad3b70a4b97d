//! What holds for the help of every command, and for manual pages.

use crate::scratch::Scratch;

const COMMANDS: [&str; 16] = [
    "init",
    "render",
    "status",
    "check",
    "argocd",
    "diff",
    "graph",
    "page",
    "placement",
    "policies",
    "explain",
    "finding",
    "prune-list",
    "schema",
    "completions",
    "man",
];

#[test]
fn every_command_prints_help_with_an_example() {
    let scratch = Scratch::new();
    for command in COMMANDS {
        let run = scratch.run(&[command, "--help"]);
        run.exits(0);
        assert!(run.stdout.contains("Examples:"), "{command}:\n{}", run.stdout);
        assert!(
            run.stdout.contains(&format!("spokewright {command}")),
            "{command}:\n{}",
            run.stdout
        );
    }
}

/// What the program prints as help where a terminal has 80 columns.
fn help_at_80_columns(command: &[&str], option: &str) -> String {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_spokewright"));
    let run = crate::scratch::Run::of(program.args(command).arg(option).env("COLUMNS", "80"));
    run.exits(0);
    run.stdout.clone()
}

fn all_commands() -> Vec<Vec<&'static str>> {
    let mut commands: Vec<Vec<&str>> = COMMANDS.iter().map(|command| vec![*command]).collect();
    commands.push(vec![]);
    commands.extend(["generate", "parameters", "plugin"].map(|part| vec!["argocd", part]));
    commands
}

#[test]
fn no_line_of_help_is_wider_than_80_columns() {
    for command in all_commands() {
        for option in ["-h", "--help"] {
            for line in help_at_80_columns(&command, option).lines() {
                assert!(
                    line.chars().count() <= 80,
                    "{command:?} {option}: shorten the first line of its doc comment: {line}"
                );
            }
        }
    }
}

#[test]
fn short_help_fits_a_screen_of_24_lines() {
    for command in all_commands() {
        let help = help_at_80_columns(&command, "-h");
        assert!(
            help.lines().count() <= 24,
            "{command:?}: `hide_short_help = true` leaves an option to --help:\n{help}"
        );
    }
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = scratch.run(&["completions", shell]);
        run.exits(0);
        assert!(run.stdout.contains("spokewright"), "{shell}");
    }
    assert!(scratch.run(&["man"]).exits(0).stdout.contains(".TH spokewright"));
    scratch.run(&["man", "pages"]).exits(0);
    assert!(scratch.exists("pages/spokewright-render.1"));
    assert!(scratch.exists("pages/spokewright-argocd-generate.1"));
    let page = scratch.read("pages/spokewright-diff.1");
    for text in [
        concat!(
            ".TH spokewright-diff 1  \"spokewright ",
            env!("CARGO_PKG_VERSION"),
            "\""
        ),
        "\nspokewright diff [OPTIONS] [PATH]...\n",
        "\n.SH EXAMPLES\n.nf\n  spokewright diff ",
    ] {
        assert!(page.contains(text), "{text} is not in:\n{page}");
    }
}
