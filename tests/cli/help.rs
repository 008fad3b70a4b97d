//! Help, usage errors, schemas, completions and manual pages.

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

/// `-o` is a place for what writes, and a format for what reports; each has one long name.
#[test]
fn an_option_means_the_same_in_every_command() {
    let scratch = Scratch::with_worked_example();
    for command in ["placement", "policies", "status"] {
        let texts = ["-o", "--format", "--output"].map(|option| {
            scratch
                .run(&[command, "hub", option, "json"])
                .exits(0)
                .stdout
                .clone()
        });
        assert!(texts[0].starts_with('{'), "{command}: {}", texts[0]);
        assert!(texts.iter().all(|text| *text == texts[0]), "{command}");
    }
    for option in ["-o", "--format", "--output"] {
        let run = scratch.run(&["explain", "gateway/prod-web", "hub", option, "yaml"]);
        assert!(run.exits(0).stdout.starts_with("apiVersion:"), "{}", run.stdout);
        let run = scratch.run(&["graph", "hub", option, "dot"]);
        assert!(run.exits(0).stdout.starts_with("digraph"), "{}", run.stdout);
    }
    for command in ["render", "prune-list"] {
        for word in ["json", "yaml", "text", "wide", "name"] {
            scratch.run(&[command, "hub", "-o", word]).exits(2).says(&format!(
                "write `-o ./{word}` if it has that name, or `-o -` for YAML on stdout"
            ));
            assert!(!scratch.exists(word));
        }
    }
    scratch.run(&["render", "hub", "-o", "./json"]).exits(0);
    assert!(scratch.exists("json/eu-1"));
}

#[test]
fn a_cluster_that_the_input_does_not_have_is_a_usage_error_whichever_option_names_it() {
    let scratch = Scratch::with_worked_example();
    let runs: [&[&str]; 11] = [
        &["render", "hub", "-o", "-", "--clusters", "eu-1,eu-9"],
        &["render", "hub", "--clusters", "eu-1", "--clusters", "eu-9"],
        &["check", "hub", "--clusters", "eu-9"],
        &[
            "diff",
            "hub",
            "--without",
            "gateway/prod-web",
            "--clusters",
            "eu-9",
        ],
        &["graph", "hub", "--clusters", "eu-9"],
        &["graph", "hub", "--cluster", "eu-9"],
        &["status", "hub", "--clusters", "eu-9"],
        &["prune-list", "hub", "--clusters", "eu-9"],
        &["placement", "hub", "--clusters", "eu-9"],
        &["policies", "hub", "--cluster", "eu-9"],
        &["explain", "gateway/prod-web", "hub", "--cluster", "eu-9"],
    ];
    for arguments in runs {
        scratch
            .run(arguments)
            .exits(2)
            .says("error: the input has no cluster `eu-9`\nhelp: did you mean `eu-1`?");
    }
    scratch
        .run(&["placement", "hub", "--why", "eu-9"])
        .exits(2)
        .says("the input has no cluster `eu-9`");
    // One that left is asked for by whoever removes what is left of it.
    scratch
        .run(&["render", "hub", "--clusters", "eu-9", "--allow-empty"])
        .exits(0);
    // What stands in a file that cannot be read is not missing.
    scratch.write("hub/broken.yaml", "kind: [\n");
    scratch
        .run(&["check", "hub", "--clusters", "eu-9"])
        .exits(3)
        .does_not_say("no cluster `eu-9`");
}

#[test]
fn clusters_are_named_with_commas_repeatedly_and_by_globs() {
    let scratch = Scratch::with_worked_example();
    let rendered = |arguments: &[&str]| {
        let run = scratch.run(&[&["render", "hub", "-o", "-"], arguments].concat());
        let text = run.exits(0).stdout.clone();
        ["eu-1", "us-1"].map(|cluster| text.contains(&format!("namespace: {cluster}")))
    };
    assert_eq!(rendered(&["--clusters", "eu-1,us-1"]), [true, true]);
    assert_eq!(
        rendered(&["--clusters", "eu-1", "--clusters", "us-*"]),
        [true, true]
    );
    assert_eq!(rendered(&["--clusters", "{eu,us}-1"]), [true, true]);
    assert_eq!(rendered(&["--clusters", "us-1"]), [false, true]);
    // A variable that came out empty never means all of them.
    for empty in ["", ",", "eu-1,"] {
        scratch
            .run(&["render", "hub", "-o", "-", "--clusters", empty])
            .exits(3)
            .says("`--clusters` has an empty name");
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
        names
            .stdout
            .starts_with("config\noverlay\nparams\nrule\nreport/coverage\n"),
        "{}",
        names.stdout
    );
    for name in names.stdout.lines() {
        let printed = scratch.run(&["schema", name]);
        printed.exits(0);
        let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let committed = std::fs::read_to_string(&path).expect("a committed schema");
        assert_eq!(printed.stdout, committed, "{name}");
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
