//! The shipped jobs for pull requests, run on pull requests that attack them.
//!
//! Each raises a limit from 100 to 200 and tries to hide that, to read or write what lies beside the checkout, to speak in
//! the job's name, or to have its own files run. The steps are those of `examples/github/spokewright.yml`, of `action.yml`,
//! and of both pipelines for GitLab, with the shell that those give them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use kube_json::Value;
use kube_yaml::{Limits, read_all};

use crate::hostile_text::is_forged;
use crate::repository::{at_hand, commit, git};
use crate::scratch::{Run, Scratch, copy, fixtures};

/// The pipelines for GitLab: the component, and what `init` writes.
const COMPONENT: &str = "examples/gitlab/templates/spokewright.yml";
const PIPELINE: &str = "examples/start/.gitlab-ci.yml";

/// Stands in for every program that a job starts besides `git` and `spokewright`, and writes down where that was.
const STAND_IN: &str = r#"#!/bin/sh
name=${0##*/}
printf '%s|%s|%s|%s\n' "$name" "$PWD" "$RUSTUP_TOOLCHAIN" "$(echo "$*" | tr '\n' ' ')" >> "$LOG"
case "$name $1 $2" in
cargo*)
    into=$BIN
    while [ $# -gt 1 ]; do
        if [ "$1" = --root ]; then into=$2/bin; fi
        shift
    done
    mkdir -p "$into" && ln -sf "$SPOKEWRIGHT" "$into/spokewright"
    ;;
"gh api --paginate") exec /usr/bin/jq -r "$5" "$COMMENTS" ;;
"gh release "*) exit 1 ;;
jq*) exec /usr/bin/jq "$@" ;;
curl*) case "$*" in *--request*) ;; *) cat "$COMMENTS" ;; esac ;;
esac
"#;

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

/// A checkout that raises the limit, and the id of its base.
fn checkout() -> Option<(Scratch, String)> {
    at_hand()?;
    let scratch = Scratch::new();
    scratch.write("temp/x", "").write("comments.json", COMMENTS);
    for program in [
        "apt-get", "cargo", "curl", "gh", "jq", "npm", "pip", "pipx", "python3", "rustup", "uv",
    ] {
        let path = format!("bin/{program}");
        scratch.write(&path, STAND_IN);
        fs::set_permissions(scratch.path(&path), fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    symlink(env!("CARGO_BIN_EXE_spokewright"), scratch.path("bin/spokewright")).expect("a link");
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
    Some((scratch, base))
}

/// A copy of the checkout with the attack in it.
fn attacked(checkout: &Scratch, base: &str, attack: Attack) -> Scratch {
    let scratch = Scratch::new();
    let mut copy = Command::new("cp");
    copy.args(["-a", "."])
        .arg(scratch.path(""))
        .current_dir(checkout.path(""));
    Run::of(&mut copy).exits(0);
    attack(&scratch, base);
    commit(&scratch.path("repository"));
    scratch
}

/// The last document of a shipped file.
fn shipped(path: &str) -> Value {
    let text = fs::read_to_string(fixtures().join("..").join(path)).expect("a shipped file");
    let mut documents = read_all(&text, &Limits::default()).expect("YAML");
    documents.pop().expect("a document")
}

/// A script of a job, started in the checkout.
fn script(scratch: &Scratch, script: &str, environment: &[(&str, &str)]) -> Run {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", scratch.path("bin").display());
    let mut command = Command::new("bash");
    command
        .args(["-e", "-o", "pipefail", "-c", script])
        .current_dir(scratch.path("repository"))
        .env_clear()
        .env("PATH", path)
        .env("LOG", scratch.path("log"))
        .env("SPOKEWRIGHT", env!("CARGO_BIN_EXE_spokewright"))
        .env("BIN", scratch.path("bin"))
        .env("COMMENTS", scratch.path("comments.json"))
        .env("TMPDIR", scratch.path("temp"))
        .env("RUNNER_TEMP", scratch.path("temp"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(environment.iter().copied());
    let output = command.output().expect("bash");
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The programs that were started: name, directory, toolchain, arguments.
fn started(scratch: &Scratch) -> Vec<[String; 4]> {
    let log = fs::read_to_string(scratch.path("log")).unwrap_or_default();
    let line = |line: &str| {
        let mut fields = line.splitn(4, '|').map(str::to_owned);
        std::array::from_fn(|_| fields.next().expect("a field"))
    };
    log.lines().map(line).collect()
}

/// A pipeline for GitLab: one script, in one shell.
fn pipeline(scratch: &Scratch, file: &str, base: &str, environment: &[(&str, &str)]) -> Run {
    let job = &shipped(file)["spokewright"];
    let lines = ["before_script", "script"].map(|part| job[part].as_array().expect("lines").clone());
    let lines = lines.iter().flatten().map(|line| line.as_str().expect("a line"));
    let text = lines.collect::<Vec<_>>().join("\n");
    assert!(
        !text.contains("$[["),
        "text of a configuration is no part of a script: {text}"
    );
    let environment = [
        &[
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base),
            ("CI_API_V4_URL", "https://git.example/api/v4"),
            ("OUTPUT", "rendered"),
            ("TITLE", "fleet"),
            ("BUDGET", "--max-lost-policies 0"),
            ("TOKEN_NAME", "NOTE_TOKEN"),
            ("NOTE_TOKEN", "token"),
            ("SPOKEWRIGHT_COMMIT", COMMIT),
        ],
        environment,
    ]
    .concat();
    script(scratch, &text, &environment)
}

/// The same, as far as it is told.
fn told_by_pipeline(scratch: &Scratch, file: &str, base: &str) -> Outcome {
    let run = pipeline(scratch, file, base, &[]);
    let mut said = format!("{}{}", run.stdout, run.stderr);
    for report in ["check.xml", "diff.md", "quality.json"] {
        let report = scratch.path("repository/spokewright-reports").join(report);
        if fs::symlink_metadata(&report).is_ok_and(|metadata| metadata.is_file()) {
            said += &fs::read_to_string(report).expect("a report");
        }
    }
    let failed = (run.status != 0).then(|| format!("{file}: {}", run.status));
    Outcome {
        failed: failed.into_iter().collect(),
        said,
    }
}

fn told_by_workflow(scratch: &Scratch, base: &str) -> Outcome {
    let workflow = shipped("examples/github/spokewright.yml");
    let mut outcome = Outcome {
        failed: Vec::new(),
        said: String::new(),
    };
    let steps = workflow["jobs"]["check"]["steps"].as_array().expect("steps");
    let mut ran = 0;
    for step in steps {
        let name = step["name"].as_str().unwrap_or_default();
        // What needs the network.
        let Some(text) = step["run"].as_str().filter(|text| !text.contains("gh ")) else {
            continue;
        };
        ran += 1;
        let summary = scratch.path("summary.md").display().to_string();
        let run = script(
            scratch,
            text,
            &[
                ("BASE", base),
                ("SOURCE", "https://git.example/hub/blob/main/"),
                ("URL", "https://git.example/artifact"),
                ("GITHUB_STEP_SUMMARY", &summary),
            ],
        );
        if run.status != 0 {
            outcome.failed.push(name.to_owned());
        }
        outcome.said += &run.stdout;
        outcome.said += &run.stderr;
    }
    assert_eq!(
        ran, 7,
        "check twice, render, diff, coverage, the page, and its link"
    );
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
    symlink(target, path).expect("a link");
}

/// The names of what the jobs write, or wrote once.
const WRITTEN: [&str; 10] = [
    "check.xml",
    "comment.md",
    "diff.md",
    "diff.txt",
    "findings.sarif",
    "note.json",
    "page.html",
    "quality.json",
    "reports",
    "spokewright-reports",
];

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What is said on the pull request already, by people and by other jobs.
const COMMENTS: &str = r#"[
    {"id": 1, "body": "by somebody", "user": {"login": "somebody"}},
    {"id": 2, "body": "by another job", "user": {"login": "github-actions[bot]"}},
    {"id": 3, "body": "", "user": {"login": "github-actions[bot]"}}
]"#;

const ATTACKS: [(&str, Attack); 19] = [
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
    ("a directory where the differences would be", |scratch, _| {
        scratch.write("repository/diff.md/kept", "");
    }),
    ("a directory wherever something is written", |scratch, _| {
        for name in WRITTEN {
            scratch.write(&format!("repository/{name}/kept"), "");
        }
    }),
    ("a link wherever something is written", |scratch, _| {
        for name in WRITTEN {
            link(scratch, "../outside/config.json", name);
        }
    }),
    ("a link to nothing wherever something is written", |scratch, _| {
        for name in WRITTEN {
            link(scratch, "../outside/new", name);
        }
    }),
    ("links where the reports go", |scratch, _| {
        scratch.write("repository/spokewright-reports/x", "");
        for name in WRITTEN {
            link(
                scratch,
                "../../outside/config.json",
                &format!("spokewright-reports/{name}"),
            );
        }
    }),
    ("files that tools read where they start", |scratch, _| {
        let toolchain = "[toolchain]\npath = \"tools\"\n";
        scratch
            .write("repository/rust-toolchain.toml", toolchain)
            .write(
                "repository/.cargo/config.toml",
                "[build]\nrustc = \"tools/bin/cargo\"\n",
            )
            .write("repository/.curlrc", "output = \"../outside/new\"\n")
            .write("repository/.npmrc", "registry=https://git.example/\n")
            .write(
                "repository/pip.conf",
                "[install]\nindex-url = https://git.example/\n",
            )
            .write("repository/uv.toml", "index-url = \"https://git.example/\"\n")
            .write("repository/.tool-versions", "rust path:tools\n")
            .write("repository/.envrc", "PATH=tools/bin:$PATH\n")
            .write("repository/.gitattributes", "* filter=run\n")
            .write("repository/tools/bin/cargo", "#!/bin/sh\ntouch ../outside/new\n");
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

/// All jobs that tell what a pull request does.
type Teller = fn(&Scratch, &str) -> Outcome;
const TELLERS: [Teller; 3] = [
    told_by_workflow,
    |scratch, base| told_by_pipeline(scratch, COMPONENT, base),
    |scratch, base| told_by_pipeline(scratch, PIPELINE, base),
];

#[test]
fn no_pull_request_hides_what_it_changes_reads_beside_the_checkout_or_speaks_for_the_workflow() {
    let Some((checkout, base)) = checkout() else {
        return;
    };
    let mut broken = String::new();
    for (name, attack) in ATTACKS {
        for (number, teller) in TELLERS.iter().enumerate() {
            let scratch = attacked(&checkout, &base, attack);
            let before = scratch.tree("outside");
            let Outcome { failed, said } = teller(&scratch, &base);
            let is_told = said.contains("100 -> 200") || said.contains("limit: 200");
            println!("{name}, {number}: the change is told: {is_told}; failed: {failed:?}");
            let faults = [
                (!is_told && failed.is_empty(), "hidden"),
                (said.contains("No cluster would receive anything else"), "denied"),
                (said.contains(OUTSIDE), "read"),
                (scratch.tree("outside") != before, "written"),
                (said.lines().any(is_forged), "obeyed"),
                (said.contains('\u{1b}'), "raw"),
            ];
            for (_, fault) in faults.iter().filter(|(is_there, _)| *is_there) {
                broken += &format!("== {name}, {number}: {fault}\n{said}\n");
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

#[test]
fn a_pull_request_that_attacks_nothing_passes_and_is_told() {
    let Some((checkout, base)) = checkout() else {
        return;
    };
    for teller in TELLERS {
        let scratch = attacked(&checkout, &base, |_, _| {});
        let Outcome { failed, said } = teller(&scratch, &base);
        assert_eq!(failed, Vec::<String>::new(), "{said}");
        assert!(said.contains("100 -> 200"), "{said}");
    }
}

#[test]
fn a_change_that_violates_a_rule_fails_and_its_comment_begins_with_that() {
    let Some((checkout, base)) = checkout() else {
        return;
    };
    let adds_a_rule: Attack = |scratch, _| {
        let rule = "apiVersion: spokewright.dev/v1alpha1\nkind: FleetRule\nmetadata: {name: small}\nspec:\n  \
                    each: RateLimitPolicy.kuadrant.io\n  assert: setting.value.rates.all(rate, rate.limit <= 100)\n  \
                    message: no limit is above 100\n";
        scratch.write("repository/hub/rule.yaml", rule);
    };
    let scratch = attacked(&checkout, &base, adds_a_rule);
    let outcome = told_by_workflow(&scratch, &base);
    assert!(
        outcome.failed.iter().any(|step| step == "What would change"),
        "{:?}",
        outcome.failed
    );
    let comment = scratch.read("temp/reports/diff.md");
    let (first, _) = comment.split_once("\n- ").expect("a list");
    assert!(first.ends_with("**New violations of rules**\n"), "{comment}");
    assert!(scratch.read("summary.md").contains("New violations of rules"));
}

/// `>` that fails ends with 1, as a difference does: then neither the budget counts nor is there a note.
#[test]
fn what_a_shell_says_never_passes_for_a_difference() {
    let loses: Attack = |scratch, _| {
        for name in WRITTEN {
            scratch.write(&format!("repository/{name}/kept"), "");
        }
        scratch.remove("repository/hub/limits.yaml");
        let repository = scratch.path("repository");
        Run::of(scratch.command(&["render"]).current_dir(repository)).exits(0);
    };
    let Some((checkout, base)) = checkout() else {
        return;
    };
    let scratch = attacked(&checkout, &base, loses);
    let run = pipeline(&scratch, COMPONENT, &base, &[]);
    run.exits(4).says("diff/over-budget");
    let is_note =
        |[name, .., arguments]: &[String; 4]| name == "curl" && arguments.contains("--request POST");
    assert!(started(&scratch).iter().any(is_note), "{run:?}");
    let reports = scratch.tree("repository/spokewright-reports");
    let reports: Vec<&str> = reports.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(reports, ["check.xml", "diff.md", "quality.json"]);
}

/// The tools of a job are what the machine has, at a commit that somebody read: no file of the pull request, and no name
/// that somebody else may register.
#[test]
fn only_git_and_spokewright_start_in_the_checkout_and_nothing_is_installed_by_a_name() {
    let Some((checkout, base)) = checkout() else {
        return;
    };
    for file in ["action.yml", COMPONENT, PIPELINE] {
        let scratch = attacked(&checkout, &base, |_, _| {});
        scratch.remove("bin/spokewright");
        if file == "action.yml" {
            build_by_action(&scratch);
        } else {
            pipeline(&scratch, file, &base, &[("SPOKEWRIGHT_COMMIT", "")]).exits(1);
            assert!(started(&scratch).is_empty(), "{file}: no commit, no build");
            pipeline(&scratch, file, &base, &[]).exits(0);
        }
        let all = started(&scratch);
        let checkout = fs::canonicalize(scratch.path("repository")).expect("a directory");
        for [name, directory, toolchain, arguments] in &all {
            let place = fs::canonicalize(directory).expect("a directory");
            assert!(
                !place.starts_with(&checkout),
                "{file}: {name} starts in {directory}"
            );
            if name != "cargo" {
                continue;
            }
            assert!(!toolchain.is_empty(), "{file}: a file could name the toolchain");
            let source = if file == "action.yml" {
                "--path .".to_owned()
            } else {
                format!("--git https://github.com/OWNER/spokewright --rev {COMMIT} spokewright")
            };
            assert!(
                arguments.starts_with("install --locked ") && arguments.contains(&source),
                "{arguments}"
            );
        }
        assert!(all.iter().any(|[name, ..]| name == "cargo"), "{file}: {all:?}");
    }
}

/// The steps of the action, where no binary is released.
fn build_by_action(scratch: &Scratch) {
    let action = shipped("action.yml");
    let root = fs::canonicalize(fixtures().join("..")).expect("a directory");
    let steps = action["runs"]["steps"].as_array().expect("steps");
    assert!(
        steps.iter().all(|step| step.get("uses").is_none()),
        "a cache holds what another run put there"
    );
    for step in steps {
        let is_build = step["name"] == "Build";
        let directory = scratch.path(if is_build { "temp/built" } else { "temp/built/bin" });
        script(
            scratch,
            step["run"].as_str().expect("a script"),
            &[
                ("GITHUB_ACTION_PATH", &root.display().to_string()),
                ("GITHUB_OUTPUT", &scratch.path("output").display().to_string()),
                ("GITHUB_PATH", &scratch.path("path").display().to_string()),
                ("DIRECTORY", &directory.display().to_string()),
                ("VERSION", "0.1.0"),
                ("REPOSITORY", "acme/spokewright"),
                ("FOUND", "false"),
            ],
        )
        .exits(0);
    }
    assert!(scratch.read("output").contains("source=built\n"));
}

/// Every text begins with nothing, so an empty marker would select the comment of somebody else.
#[test]
fn a_comment_is_never_selected_by_an_empty_marker_and_a_link_alone_is_none() {
    let workflow = shipped("examples/github/spokewright.yml");
    let step = |job: &str, name: &str| {
        let steps = workflow["jobs"][job]["steps"].as_array().expect("steps");
        let found = steps.iter().find(|step| step["name"] == name);
        found.expect("a step")["run"]
            .as_str()
            .expect("a script")
            .to_owned()
    };
    let Some((checkout, base)) = checkout() else {
        return;
    };
    let scratch = attacked(&checkout, &base, |_, _| {});
    let summary = scratch.path("summary.md").display().to_string();
    let environment = [
        ("URL", "https://git.example/artifact"),
        ("GITHUB_STEP_SUMMARY", &summary),
        ("GITHUB_REPOSITORY", "acme/fleet"),
        ("NUMBER", "7"),
    ];
    let is_sent = || {
        let all = started(&scratch);
        all.iter().any(|[name, .., arguments]| {
            (name == "gh" && arguments.contains("--method"))
                || (name == "curl" && arguments.contains("--request"))
        })
    };
    // A run that ended before there were differences.
    scratch.write("temp/reports/findings.sarif", "{}");
    script(&scratch, &step("check", "Link the page"), &environment).exits(0);
    assert!(!scratch.exists("temp/reports/diff.md") && scratch.read("summary.md").contains("artifact"));
    let comment = step("report", "Comment");
    for text in [
        "",
        "\n[The whole fleet as a page](https://git.example/artifact)\n",
        "by another job\n",
    ] {
        scratch.write("repository/reports/diff.md", text);
        script(&scratch, &comment, &environment);
        assert!(!is_sent(), "{text:?}");
    }
    // An input that cannot be read has no differences.
    scratch.write("repository/hub/wrong.yaml", "kind: [\n");
    pipeline(&scratch, COMPONENT, &base, &[]).exits(3);
    assert!(!is_sent(), "{:?}", started(&scratch));
    // With its marker, a text is a comment of its own.
    scratch.write("repository/reports/diff.md", "<!-- spokewright:diff -->\ntext\n");
    script(&scratch, &comment, &environment).exits(0);
    let all = started(&scratch);
    let is_new = |[_, .., arguments]: &[String; 4]| arguments.contains("--method POST");
    assert!(all.iter().any(is_new), "{all:?}");
}
