//! What shells and kubectl offer while somebody types, asked of real shells.

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

fn bash(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    const SCRIPT: &str = r#"source <(spokewright completions bash)
        COMP_TYPE=9 COMP_WORDS=(spokewright "$@") COMP_CWORD=$#
        _clap_complete_spokewright spokewright "${COMP_WORDS[COMP_CWORD]}"
        ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}""#;
    shell(
        scratch,
        "bash",
        &[&["--norc", "-c", SCRIPT, "bash"], words].concat(),
    )
}

#[test]
fn bash_offers_the_kinds_and_names_of_the_hub() {
    let hub = hub();
    let kinds = bash(&hub, &["explain", "g"]);
    assert_eq!(kinds, ["gateway/", "gatewayclass/"]);
    assert_eq!(
        bash(&hub, &["explain", "gateway/"]),
        ["gateway/gateways/prod-web"]
    );
    assert_eq!(bash(&hub, &["explain", "gateway/no"]), [""; 0]);
    assert_eq!(
        bash(&hub, &["diff", "--without", "gateway/g"]),
        ["gateway/gateways/prod-web"]
    );
    // A name that a shell would expand is not offered.
    let services = bash(&hub, &["explain", "service/"]);
    assert!(services.iter().all(|name| !name.contains('$')), "{services:?}");
}

#[test]
fn bash_offers_clusters_also_behind_a_comma_and_names_of_schemas() {
    let hub = hub();
    for option in ["--cluster", "--clusters", "--why"] {
        let command = match option {
            "--cluster" => "policies",
            "--clusters" => "render",
            _ => "placement",
        };
        assert_eq!(bash(&hub, &[command, option, "e"]), ["eu-1"]);
    }
    assert_eq!(bash(&hub, &["render", "--clusters", "eu-1,u"]), ["eu-1,us-1"]);
    assert_eq!(bash(&hub, &["schema", "conf"]), ["config"]);
    assert_eq!(bash(&hub, &["prune"]), ["prune-list"]);
}

/// Elsewhere than in its directory, the hub is the one that the words name.
#[test]
fn the_hub_is_the_one_among_the_words() {
    let hub = hub();
    std::fs::create_dir(hub.path("hub/empty")).expect("a directory");
    let there = hub.path("hub");
    let there = there.to_str().expect("a path");
    assert_eq!(bash(&hub, &["policies", "empty", "--cluster", "e"]), [""; 0]);
    assert_eq!(bash(&hub, &["policies", there, "--cluster", "e"]), ["eu-1"]);
}

/// A broken hub is for `check` to report: nothing is printed between two keys.
#[test]
fn what_cannot_be_read_offers_what_can_be_and_says_nothing() {
    let hub = hub();
    hub.write("hub/broken.yaml", "kind: [\n");
    assert_eq!(
        bash(&hub, &["explain", "gateway/"]),
        ["gateway/gateways/prod-web"]
    );
}

#[cfg(unix)]
#[test]
fn kubectl_asks_a_link_to_the_program() {
    let hub = hub();
    let link = hub.path("kubectl_complete-spokewright");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_spokewright"), &link).expect("a link");
    let ask = |words: &[&str]| {
        let run = Run::of(Command::new(&link).args(words).current_dir(hub.path("hub")));
        run.exits(0).stdout.clone()
    };
    assert_eq!(ask(&["explain", "gateway/"]), "gateway/gateways/prod-web\n:4\n");
    assert_eq!(ask(&["explain", "g"]), "gateway/\ngatewayclass/\n:6\n");
    let commands = ask(&["rend"]);
    assert_eq!(
        commands,
        "render\tRender the input into one directory of ManifestWorks per cluster\n:4\n"
    );
    assert!(ask(&[]).contains("\nrender\t"), "{}", ask(&[]));
    assert_eq!(ask(&["no-such-command", "--x"]), ":4\n");
}

#[cfg(feature = "shells")]
mod other_shells {
    use super::{hub, shell};

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
}
