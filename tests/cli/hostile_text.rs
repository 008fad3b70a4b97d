//! Names and texts of a stranger in everything that is printed: nothing steers a terminal, begins a line, hides, or is
//! obeyed by the log of a CI system; and nothing of a Secret is quoted.

use crate::scratch::{Run, Scratch};

/// What a name or a text may hold to become something else once it is printed.
const HOSTILE: [&str; 12] = [
    "\n::error file=a.yaml::forged",
    "\r\n::stop-commands::forged",
    "\r  ::add-mask::forged",
    "##[error]forged",
    "\u{1b}]0;forged\u{7}\u{1b}[2J",
    "\u{9b}31m\u{85}::warning::forged",
    "\u{202e}forged\u{2066}\u{200f}",
    "\u{2028}::notice::forged\u{2029}::debug::forged",
    "\u{feff}\u{200b}\u{ad}",
    "\u{8}\u{8}\u{c}\u{b}::group::forged",
    "\t`$(touch forged)`\t'\"; touch forged; #",
    "%0A::error::forged%0D",
];

/// All of them, in texts that are short enough for the name of a file.
fn together() -> impl Iterator<Item = String> {
    HOSTILE.chunks(4).map(<[&str]>::concat)
}

/// Whether a terminal acts on it, or nobody sees it.
fn is_raw(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{61c}'
            | '\u{ad}' | '\u{feff}')
}

/// Whether the runner of GitHub Actions would obey this line, and we did not write it.
pub(crate) fn is_forged(line: &str) -> bool {
    let start = line.trim_start();
    // What `--message-format github` writes: one line, with our code as its title.
    let ours = ["::error ", "::warning ", "::notice "];
    let is_ours = ours.iter().any(|command| {
        line.strip_prefix(command).is_some_and(|rest| {
            rest.split_once("::").is_some_and(|(properties, _)| {
                properties.contains("title=") && !properties.contains("forged:")
            })
        })
    });
    // `:::` points to a second place; no command begins with a colon.
    (start.starts_with("::") && !start.starts_with(":::") && !is_ours) || line.contains("##[")
}

/// What a run printed is harmless. Manifests are what they are: their values may begin a line of a block.
#[track_caller]
fn harmless(run: &Run, arguments: &[&str], are_manifests: bool) {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let is_data = are_manifests && stream == "stdout";
        for line in text.split_inclusive('\n') {
            let line = line.strip_suffix('\n').unwrap_or(line);
            let raw = |character: char| {
                if is_data {
                    character.is_control()
                } else {
                    is_raw(character)
                }
            };
            assert!(!line.contains(raw), "{arguments:?}, {stream}: {line:?}\n{text}");
            assert!(
                is_data || !is_forged(line),
                "{arguments:?}, {stream}: {line:?}\n{text}"
            );
        }
    }
    assert_ne!(run.status, 70, "{arguments:?}: {}", run.stderr);
}

const MESSAGES: [&str; 5] = ["human", "json", "sarif", "github", "junit"];

/// Every command in every form over `hub/`.
fn everything(scratch: &Scratch, name: &str) {
    let mut lines: Vec<(Vec<&str>, bool)> = Vec::new();
    for format in MESSAGES {
        for more in ["--color=always", "-q", "-v"] {
            // Colors are our own escapes.
            let more = if more.starts_with("--") {
                "--color=never"
            } else {
                more
            };
            for command in [
                vec!["check", "hub"],
                vec!["render", "hub", "--check"],
                vec!["render", "hub"],
                vec!["placement", "hub", "--why", "eu-1"],
                vec!["diff", "hub", "--base-tree", "base"],
            ] {
                lines.push(([command, vec![more, "--message-format", format]].concat(), false));
            }
        }
    }
    for form in ["human", "semantic", "markdown", "json"] {
        lines.push((
            vec!["diff", "hub", "--base-tree", "base", "--format", form],
            false,
        ));
        lines.push((
            vec!["diff", "hub", "--base-dir", "other", "--format", form],
            false,
        ));
    }
    for output in ["text", "json", "yaml"] {
        for command in [
            vec!["placement", "hub"],
            vec!["placement", "hub", "--why", "eu-1"],
            vec!["policies", "hub"],
            vec!["explain", "hub", "gateway/prod-web"],
            vec!["explain", "hub", "ratelimitpolicy/global"],
            vec!["status", "hub"],
        ] {
            lines.push(([command, vec!["-o", output]].concat(), output == "yaml"));
        }
    }
    for form in ["mermaid", "dot"] {
        lines.push((vec!["graph", "hub", "--all", "--format", form], false));
    }
    lines.push((vec!["render", "hub", "-o", "-"], true));
    lines.push((vec!["prune-list", "hub"], true));
    for arguments in [
        vec!["check", name],
        vec!["render", "hub", "-o", name],
        vec!["placement", "hub", "--why", name],
        vec!["explain", "hub", name],
        vec!["policies", "hub", "--cluster", name],
        vec!["diff", "hub", "--base", name],
        vec!["diff", "hub", "--base-dir", name],
        vec!["diff", "hub", "--base-tree", name],
        vec!["diff", "hub", "--without", name],
        vec!["status", "hub", "--works", name],
        vec!["schema", name],
        vec![name],
        vec!["check", "--message-format", name],
    ] {
        lines.push((arguments, false));
    }
    for (arguments, are_manifests) in lines {
        harmless(&scratch.run(&arguments), &arguments, are_manifests);
    }
}

/// A text between quotes in which all but ASCII is an escape: YAML takes no controls as they are.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).expect("JSON");
    json.chars()
        .map(|character| match character {
            '\u{7f}'..='\u{ffff}' => format!("\\u{:04x}", u32::from(character)),
            other => other.to_string(),
        })
        .collect()
}

/// A hub that renders, in which every name of a file, every key and every text that may be anything is hostile.
fn accepted(hostile: &str) -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-q", "-o", "base"]).exits(0);
    crate::scratch::copy(&scratch.path("hub"), &scratch.path("other"));
    let file = format!("hub/::error::x{hostile}/a{hostile}b.yaml");
    let limits = scratch.read("hub/limits.yaml");
    scratch.remove("hub/limits.yaml");
    let limits = limits.replace("per-client", &quoted(&format!("::error::x{hostile}")));
    scratch.write(&file, &limits.replace("limit: 100", "limit: 200"));
    scratch.edit(
        "hub/gateway.yaml",
        "note: \"yes\"",
        &format!("note: {}", quoted(hostile)),
    );
    scratch.write(
        &format!("hub/c{hostile}/Chart.yaml"),
        "apiVersion: v2\nname: c\nversion: 1.0.0\n",
    );
    scratch.write(&format!("hub/c{hostile}/templates/a.yaml"), "a: {{ b }}\n");
    scratch.write(
        &format!("hub/d{hostile}.yaml"),
        &format!("a: {}\n---\nkind: 5\n", quoted(hostile)),
    );
    scratch.write(
        &format!("spokes/eu-1/::error::x{hostile}.yaml"),
        &format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: gateways}}\ndata: {{a: {}}}\n",
            quoted(hostile)
        ),
    );
    scratch.write(&format!("rendered/eu-1/::error::x{hostile}.yaml"), "a: 1\n");
    scratch
}

/// A hub in which nearly everything is wrong.
fn refused(hostile: &str) -> Scratch {
    let scratch = accepted(hostile);
    let name = quoted(&format!("n{hostile}"));
    scratch.write(
        &format!("hub/wrong{hostile}.yaml"),
        &format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: {name}, labels: \
             {{{name}: {name}, cluster.open-cluster-management.io/placement: {name}}}}}\nspec:\n  gatewayClassName: {name}\n  \
             {name}: 1\n  listeners:\n  - {{name: {name}, port: 1, protocol: {name}, {name}: {name}}}\n---\n\
             apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: other, namespace: gateways, \
             annotations: {{spokewright.dev/suppress: {name}}}}}\nspec:\n  gatewayClassName: {name}\n  listeners:\n  - \
             {{name: a, port: 80, protocol: HTTP, hostname: {name}}}\n---\n\
             apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: p, namespace: gateways}}\nspec:\n  \
             targetRef: {{group: {name}, kind: {name}, name: {name}}}\n---\n\
             apiVersion: {name}\nkind: {name}\nmetadata: {{name: {name}}}\n---\n\
             apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\nmetadata: {{name: d, namespace: \
             gateways, labels: {{cluster.open-cluster-management.io/placement: edge}}}}\nstatus: {{decisions: [{{clusterName: \
             {name}, reason: {name}}}]}}\n---\n\
             apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {{name: {name}}}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: k, namespace: gateways}}\n{name}: *{name}\n"
        ),
    );
    scratch.write(&format!("spokes/x{hostile}/a.yaml"), "a: [\n");
    scratch.write(
        "hub/spokewright.yaml",
        &format!(
            "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n{name}: 1\nsuppress:\n- {{code: {name}, reason: {name}}}\n"
        ),
    );
    scratch
}

#[test]
fn no_text_of_the_input_begins_a_line_steers_a_terminal_or_hides_in_any_form_of_any_command() {
    for hostile in together() {
        let scratch = accepted(&hostile);
        scratch.run(&["diff", "hub", "--base-dir", "other"]).exits(1);
        scratch.run(&["diff", "hub", "--base-tree", "base"]).exits(1);
        everything(&scratch, &format!("x{hostile}"));
    }
}

#[test]
fn no_text_of_an_input_that_is_refused_does_either() {
    for hostile in together() {
        everything(&refused(&hostile), &format!("::error::x{hostile}"));
    }
}

/// How a value of a Secret breaks what is around it, `hunter2` being what nobody may see.
const BROKEN_SECRETS: [&str; 26] = [
    "@hunter2",
    "%hunter2",
    "`hunter2`",
    "*hunter2",
    "&hunter2 @",
    "&hunter2; x",
    "!!int hunter2",
    "!!float hunter2",
    "!hunter2, x",
    "!x!hunter2 y",
    "\"\\hunter2\"",
    "\"hunter2",
    "'hunter2",
    "|hunter2",
    "[hunter2",
    "{hunter2: 1",
    "\"hunter2\" hunter2",
    "\"hunter2\u{1}\"",
    "hunter2: hunter2",
    "a\n  hunter2: b\n  hunter2: c",
    "a\n  <<: hunter2",
    "a\n  ? [hunter2]\n  : b",
    "a\n--- hunter2",
    "a\n... hunter2",
    "a\nhunter2",
    "|\n-----BEGIN KEY\nhunter2: @hunter2",
];

/// The beginning of a document that is a Secret, or may be one.
const SECRETS: [&str; 6] = [
    "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\nstringData:\n  password: ",
    "apiVersion: v1\nkind: !!str Secret\nmetadata: {name: a, namespace: b}\ndata:\n  password: ",
    "apiVersion: v1\nmetadata: {name: a, namespace: b}\nstringData:\n  password: ",
    "apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n  data:\n   password: ",
    "kind: Secret\ndata: {a: b}\n---\nlost: ",
    "kind: ConfigMap\nkind: Secret\ndata:\n  password: ",
];

#[test]
fn nothing_of_what_may_be_a_secret_is_quoted_in_any_form() {
    let scratch = Scratch::new();
    let mut told = 0;
    for (number, secret) in SECRETS.iter().enumerate() {
        for (value, broken) in BROKEN_SECRETS.iter().enumerate() {
            scratch.write(
                &format!("hub/{number}-{value}.yaml"),
                &format!("{secret}{broken}\n"),
            );
        }
    }
    for format in MESSAGES {
        for command in ["check", "render"] {
            for more in ["-q", "-v"] {
                let run = scratch.run(&[command, "hub", "--message-format", format, more]);
                for text in [&run.stdout, &run.stderr] {
                    let leak = text.lines().find(|line| line.contains("hunter2"));
                    assert_eq!(leak, None, "{command} {format} {more}");
                    told += text.matches("yaml/").count();
                }
            }
        }
    }
    assert!(told > 1000, "the mistakes are said: {told}");
    let mut argocd = scratch.command(&["argocd", "generate"]);
    let run = Run::of(argocd.env("ARGOCD_APP_NAME", "a"));
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
}

#[test]
fn a_command_in_a_hint_names_the_file_it_is_about_whatever_its_name() {
    use std::process::Command;

    let git = |scratch: &Scratch, arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(scratch.path("."))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", scratch.path("."));
        Run::of(&mut git).exits(0);
    };
    for name in [
        "a`touch forged`b",
        "$(touch forged)",
        "it's \"a\" b",
        "-A",
        "a\nb\u{1b}[2J\u{202e}",
        "##[error]x",
        "é;touch forged",
    ] {
        let scratch = Scratch::new();
        let file = format!("{name}.yaml");
        scratch.write("kept.yaml", "a: 1\n");
        git(&scratch, &["init", "-q"]);
        git(&scratch, &["add", "kept.yaml"]);
        scratch.write(&file, "a: 1\n");
        let shown = format!("./{file}");
        let run = scratch.run(&["check", &shown, "--inputs", "git-index"]);
        run.exits(5);
        let said = format!("{}{}", run.stdout, run.stderr);
        let start = said.find("`git add ").expect("a command");
        let end = said.find("`, or ").expect("the end of the command");
        let command = said.get(start + 1..end).expect("a command");
        // POSIX.1-2024 has `$'...'`; of the shells of today bash is the one that surely has it.
        let mut shell = Command::new("bash");
        shell.args(["-c", command]).current_dir(scratch.path("."));
        Run::of(&mut shell).exits(0);
        assert!(!scratch.exists("forged"), "{command}");
        scratch
            .run(&["check", &shown, "--inputs", "git-index"])
            .does_not_say("git add");
    }
}
