//! What fish and zsh offer while somebody types. Bash and kubectl are cases.

use std::process::Command;

use crate::scratch::{Run, Scratch};

/// A hub with a Gateway, and one whose name a shell would expand and obey.
fn hub() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/hostile.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: \"$(touch pwned)*\", namespace: gateways}\n",
    );
    scratch
}

/// The directory of this program comes first in `PATH`: the scripts call it by its name.
fn shell(scratch: &Scratch, program: &str, arguments: &[&str]) -> Vec<String> {
    let here = std::path::Path::new(env!("CARGO_BIN_EXE_spokewright"));
    let path = std::env::join_paths(
        std::iter::once(here.parent().expect("a directory").to_owned()).chain(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        )),
    )
    .expect("a PATH");
    let run = Run::of(
        Command::new(program)
            .args(arguments)
            .current_dir(scratch.path("hub"))
            .env("PATH", path)
            .env("HOME", scratch.path("hub"))
            .env("TERM", "dumb"),
    );
    run.exits(0);
    assert_eq!(run.stderr, "");
    assert!(!scratch.exists("hub/pwned"));
    run.stdout
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[test]
fn fish_offers_what_bash_does() {
    let hub = hub();
    let ask = |line: &str| {
        let script = format!("spokewright completions fish | source; complete -C '{line}'");
        shell(&hub, "fish", &["--no-config", "-c", &script])
    };
    assert_eq!(ask("spokewright explain gateway/"), ["gateway/gateways/prod-web"]);
    assert_eq!(ask("spokewright policies --cluster e"), ["eu-1"]);
    assert_eq!(ask("spokewright render --clusters eu-1,u"), ["eu-1,us-1"]);
    let commands = ask("spokewright rend");
    assert_eq!(
        commands,
        ["render\tRender the input into one directory of ManifestWorks per cluster"]
    );
}

#[test]
fn zsh_offers_what_bash_does() {
    // What the script hands to zsh is caught where zsh would show it.
    const SCRIPT: &str = r#"autoload -Uz compinit && compinit -D
        source <(spokewright completions zsh)
        _describe() { print -rl -- "${(@P)3}" }
        compadd() { : }
        words=(spokewright "$@") CURRENT=$(( $# + 1 ))
        ${_comps[spokewright]}"#;
    let hub = hub();
    let ask = |words: &[&str]| shell(&hub, "zsh", &[&["-f", "-c", SCRIPT, "zsh"], words].concat());
    assert_eq!(ask(&["explain", "gateway/"]), ["gateway/gateways/prod-web"]);
    assert_eq!(ask(&["policies", "--cluster", "e"]), ["eu-1"]);
    assert_eq!(ask(&["render", "--clusters", "eu-1,u"]), ["eu-1,us-1"]);
}
