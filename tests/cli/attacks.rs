//! The shipped workflow for pull requests, run step by step on pull requests that attack it.
//!
//! Each raises a limit from 100 to 200 and tries to hide that, to read what lies beside the checkout, or to speak in the
//! workflow's name. The steps are those of `examples/github/spokewright.yml`, with the shell that GitHub gives them.

use std::fs;
use std::process::Command;

use kube_yaml::{Limits, read_all};

use crate::hostile_text::is_forged;
use crate::repository::{at_hand, commit, git};
use crate::scratch::{Run, Scratch, copy, fixtures};

const CONFIG: &str =
    "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: rendered\n";
/// What nobody but the machine of the workflow knows.
const OUTSIDE: &str = "kept-beside-the-checkout";

/// What a stranger's commit does, in a checkout at `repository/`; the id is that of the base.
type Attack = fn(&Scratch, &str);

/// What came of it.
struct Outcome {
    /// The steps that failed.
    failed: Vec<String>,
    /// All that was printed, and the comment.
    said: String,
}

fn attacked(attack: Attack) -> Option<Outcome> {
    at_hand()?;
    let scratch = Scratch::new();
    let repository = scratch.path("repository");
    copy(&fixtures().join("worked-example/hub"), &repository.join("hub"));
    scratch.write("repository/spokewright.yaml", CONFIG);
    scratch.write("outside/config.json", OUTSIDE);
    scratch.write("outside/a.yaml", &format!("kind: Gateway\nnote: [{OUTSIDE}\n"));
    let rendered = |expected| {
        Run::of(scratch.command(&["render"]).current_dir(&repository)).exits(expected);
    };
    rendered(0);
    git(&repository, &["init", "-q"]);
    commit(&repository);
    let base = git(&repository, &["rev-parse", "HEAD"]).trim().to_owned();

    scratch.raise_the_limit("repository/hub/limits.yaml");
    rendered(0);
    attack(&scratch, &base);
    commit(&repository);
    Some(workflow(&scratch, &base))
}

fn workflow(scratch: &Scratch, base: &str) -> Outcome {
    let text =
        fs::read_to_string(fixtures().join("../examples/github/spokewright.yml")).expect("the workflow");
    let workflow = read_all(&text, &Limits::default()).expect("YAML").remove(0);
    fs::create_dir(scratch.path("bin")).expect("a directory");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_spokewright"), scratch.path("bin/spokewright"))
        .expect("a link");
    let mut outcome = Outcome {
        failed: Vec::new(),
        said: String::new(),
    };
    let steps = workflow["jobs"]["check"]["steps"].as_array().expect("steps");
    let mut ran = 0;
    for step in steps {
        let name = step["name"].as_str().unwrap_or_default();
        // What needs the network.
        let Some(script) = step["run"]
            .as_str()
            .filter(|script| !script.contains("cargo install") && !script.contains("gh "))
        else {
            continue;
        };
        ran += 1;
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", scratch.path("bin").display());
        let run = Command::new("bash")
            .args(["-e", "-c", script])
            .current_dir(scratch.path("repository"))
            .env_clear()
            .env("PATH", path)
            .env("BASE", base)
            .env("SOURCE", "https://git.example/hub/blob/main/")
            .env("URL", "https://git.example/artifact")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GITHUB_STEP_SUMMARY", scratch.path("summary.md"))
            .env("RUNNER_TEMP", scratch.path("temp"))
            .output()
            .expect("bash");
        if !run.status.success() {
            outcome.failed.push(name.to_owned());
        }
        outcome.said += &String::from_utf8_lossy(&run.stdout);
        outcome.said += &String::from_utf8_lossy(&run.stderr);
    }
    assert_eq!(ran, 6, "check twice, render, diff, the page, and its link");
    for report in ["diff.md", "diff.txt", "findings.sarif"] {
        let report = format!("temp/reports/{report}");
        if scratch.exists(&report) {
            outcome.said += &scratch.read(&report);
        }
    }
    outcome
}

fn link(scratch: &Scratch, target: &str, path: &str) {
    let path = scratch.path(&format!("repository/{path}"));
    let _ = fs::remove_file(&path);
    std::os::unix::fs::symlink(target, path).expect("a link");
}

const ATTACKS: [(&str, Attack); 13] = [
    ("nothing but the change", |_, _| {}),
    ("a directory that is called like the base", |scratch, base| {
        copy(
            &scratch.path("repository/hub"),
            &scratch.path(&format!("repository/{base}/hub")),
        );
        scratch.write(&format!("repository/{base}/spokewright.yaml"), CONFIG);
    }),
    ("a bare repository that says something else", |scratch, _| {
        copy(&scratch.path("repository/.git"), &scratch.path("forged"));
        let forged = scratch.path("forged");
        let repository = scratch.path("repository");
        git(
            &repository,
            &[
                "--git-dir",
                &forged.display().to_string(),
                "--work-tree",
                ".",
                "commit",
                "-aqm",
                "forged",
            ],
        );
        copy(&forged, &repository.join("hub"));
    }),
    ("an output elsewhere, and works edited by hand", |scratch, _| {
        scratch.edit(
            "repository/spokewright.yaml",
            "output: rendered",
            "output: rendered2",
        );
        Run::of(
            scratch
                .command(&["render"])
                .current_dir(scratch.path("repository")),
        )
        .exits(0);
        let work = "repository/rendered/eu-1/kuadrant-gateways-prod-web.yaml";
        let work = if scratch.exists(work) {
            work.to_owned()
        } else {
            first_work(scratch)
        };
        let text = scratch.read(&work);
        scratch.write(&work, &format!("{text}# by hand\n"));
    }),
    ("an inventory that hides the policies", |scratch, _| {
        scratch.write(
            "repository/hub/policies/limits.yaml",
            &scratch.read("repository/hub/limits.yaml"),
        );
        scratch.remove("repository/hub/limits.yaml");
        scratch.write("repository/hub/policies/.spokewright-inventory", "");
        Run::of(
            scratch
                .command(&["render"])
                .current_dir(scratch.path("repository")),
        )
        .exits(0);
    }),
    ("a rendered directory that is a link", |scratch, _| {
        link(scratch, "../../outside", "rendered/x");
        let inventory = "repository/rendered/.spokewright-inventory";
        let listed = format!("{}{} *x/config.json\n", scratch.read(inventory), "0".repeat(64));
        scratch.write(inventory, &listed);
    }),
    ("a hub file that is a link", |scratch, _| {
        link(scratch, "../../outside/a.yaml", "hub/a.yaml");
    }),
    ("a configuration that is a link", |scratch, _| {
        link(scratch, "../outside/a.yaml", "spokewright.yaml");
    }),
    ("ignore rules that are a link", |scratch, _| {
        link(scratch, "../../outside/config.json", "hub/.gitignore");
    }),
    ("a hub that lies outside", |scratch, _| {
        scratch.edit(
            "repository/spokewright.yaml",
            "hub: [hub]",
            "hub: [hub, ../outside]",
        );
    }),
    ("names that are commands", |scratch, _| {
        for name in [
            "a\n::error file=x::forged\n.yaml",
            "b\u{1b}[2J\r::stop-commands::forged.yaml",
        ] {
            scratch.write(&format!("repository/hub/{name}"), "kind: [\n");
        }
    }),
    ("findings that are switched off", |scratch, _| {
        let config = "findings: {output/elsewhere: \"off\", secret/not-rendered: \"off\"}\n";
        scratch.write("repository/spokewright.yaml", &format!("{CONFIG}{config}"));
    }),
    (
        "a rendered tree of the base, as if nothing had changed",
        |scratch, base| {
            git(
                &scratch.path("repository"),
                &["checkout", "-q", base, "--", "rendered"],
            );
        },
    ),
];

fn first_work(scratch: &Scratch) -> String {
    let tree = scratch.tree("repository/rendered");
    let work = tree
        .iter()
        .find(|(path, _)| path.contains('/') && !path.ends_with("kustomization.yaml"));
    format!("repository/rendered/{}", work.expect("a work").0)
}

#[test]
fn no_pull_request_hides_what_it_changes_reads_beside_the_checkout_or_speaks_for_the_workflow() {
    let mut broken = String::new();
    for (name, attack) in ATTACKS {
        let Some(Outcome { failed, said }) = attacked(attack) else {
            return;
        };
        let is_told = said.contains("100 -> 200") || said.contains("limit: 200");
        println!("{name}: the change is told: {is_told}; failed: {failed:?}");
        let faults = [
            (!is_told && failed.is_empty(), "hidden"),
            (said.contains("No cluster would receive anything else"), "denied"),
            (said.contains(OUTSIDE), "read"),
            (said.lines().any(is_forged), "obeyed"),
            (said.contains('\u{1b}'), "raw"),
        ];
        for (_, fault) in faults.iter().filter(|(is_there, _)| *is_there) {
            broken += &format!("== {name}: {fault}\n{said}\n");
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

#[test]
fn a_pull_request_that_attacks_nothing_passes_and_is_told() {
    let Some(Outcome { failed, said }) = attacked(|_, _| {}) else {
        return;
    };
    assert_eq!(failed, Vec::<String>::new(), "{said}");
    assert!(said.contains("100 -> 200"), "{said}");
}
