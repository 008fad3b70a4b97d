//! Help, usage errors, schemas, completions and manual pages.

use crate::scratch::Scratch;

const COMMANDS: [&str; 13] = [
    "render",
    "check",
    "argocd",
    "diff",
    "graph",
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

/// Text that a person laid out is broken where it was not meant to be when it is wider than the terminal.
#[test]
fn no_example_is_wider_than_80_columns() {
    let scratch = Scratch::new();
    let mut commands: Vec<Vec<&str>> = COMMANDS.iter().map(|command| vec![*command]).collect();
    commands.extend([vec![], vec!["status"]]);
    commands.extend(["generate", "parameters", "plugin"].map(|part| vec!["argocd", part]));
    for command in commands {
        for help in ["-h", "--help"] {
            let run = scratch.run(&[&command[..], &[help]].concat());
            run.exits(0);
            let (_, examples) = run.stdout.split_once("Examples:").expect("examples");
            for line in examples.lines() {
                assert!(line.chars().count() <= 80, "{command:?}: {line}");
            }
        }
    }
}

#[test]
fn a_misspelled_command_or_option_is_a_usage_error_with_a_hint() {
    let scratch = Scratch::new();
    scratch.run(&["rendr"]).exits(2).says("render");
    scratch.run(&["render", "--ouput", "x"]).exits(2).says("--output");
    scratch
        .run(&["render", "--now", "yesterday"])
        .exits(2)
        .says("RFC 3339");
    scratch.run(&[]).exits(2);
}

#[test]
fn the_committed_schemas_are_what_the_command_prints() {
    let scratch = Scratch::new();
    let names = scratch.run(&["schema"]);
    names.exits(0);
    assert!(
        names.stdout.starts_with("config\nparams\nreport/diff\n"),
        "{}",
        names.stdout
    );
    for name in names.stdout.lines() {
        let printed = scratch.run(&["schema", name]);
        printed.exits(0);
        let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let committed = std::fs::read_to_string(&path).expect("a committed schema");
        assert_eq!(
            printed.stdout, committed,
            "run `spokewright schema {name} > schemas/{name}.schema.json`"
        );
    }
    scratch
        .run(&["schema", "parms"])
        .exits(2)
        .says("did you mean `params`?");
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

#[cfg(unix)]
#[test]
fn usage_names_the_program_as_it_was_called() {
    let scratch = Scratch::new();
    for (name, typed) in [
        ("kubectl-spokewright", "kubectl spokewright"),
        ("sw", "sw"),
        ("spokewright", "spokewright"),
    ] {
        let link = scratch.path(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_spokewright"), &link).expect("a link");
        let run = crate::scratch::Run::of(std::process::Command::new(&link).args(["graph", "--help"]));
        run.exits(0);
        let usage = format!("Usage: {typed} graph [OPTIONS] [PATH]...");
        assert!(run.stdout.contains(&usage), "{}", run.stdout);
    }
}
