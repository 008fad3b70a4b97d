//! The hooks of `.pre-commit-hooks.yaml`, run by the real pre-commit (docs/systems/gitops.md#pre-commit).

use std::path::Path;
use std::process::Command;

use kube_json::Value;
use kube_yaml::{Limits, read_all};

use crate::scratch::{Run, Scratch, copy, fixtures};

fn hooks() -> Vec<Value> {
    let path = fixtures().join("../.pre-commit-hooks.yaml");
    let text = std::fs::read_to_string(path).expect("the hooks");
    let list = read_all(&text, &Limits::default()).expect("YAML").remove(0);
    list.as_array().expect("a list").clone()
}

#[test]
fn every_hook_takes_the_whole_tree_and_starts_a_command_that_exists() {
    let ids: Vec<String> = hooks()
        .iter()
        .map(|hook| hook["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(
        ids,
        [
            "spokewright",
            "spokewright-check",
            "spokewright-system",
            "spokewright-check-system"
        ]
    );
    for hook in hooks() {
        assert_eq!(
            (&hook["pass_filenames"], &hook["require_serial"]),
            (&false.into(), &true.into())
        );
        // A commit that only deletes files stages none that a pattern could match.
        assert_eq!(hook["always_run"], true);
        // Otherwise nobody sees the warnings of a hook that passes.
        assert_eq!(hook["verbose"], true);
        let id = hook["id"].as_str().expect("an id");
        // Either the commit that a user pins, or what is on the PATH: `language: python` would install a dependency by its
        // name, from whoever has that name.
        let language = if id.ends_with("-system") { "system" } else { "rust" };
        assert_eq!(hook["language"], language);
        assert_eq!(hook.get("additional_dependencies"), None);
        let entry: Vec<&str> = hook["entry"].as_str().expect("an entry").split(' ').collect();
        assert_eq!(entry[0], "spokewright");
        // pre-commit leaves untracked files where they are: only the index is what will be committed.
        assert!(entry.windows(2).any(|pair| pair == ["--inputs", "git-index"]));
        Scratch::new().run(&[&entry[1..], &["--help"]].concat()).exits(0);
    }
}

/// pip, npm, or gem would take what such a file asks for by its name.
#[test]
fn what_pre_commit_installs_is_the_crate_at_the_root() {
    let root = fixtures().join("..");
    for file in ["pyproject.toml", "setup.py", "package.json"] {
        assert!(!root.join(file).exists(), "{file}");
    }
    let crate_file = std::fs::read_to_string(root.join("Cargo.toml")).expect("a file");
    assert!(crate_file.contains("\n[package]\nname = \"spokewright\"\n"));
}

#[test]
fn the_example_names_a_hook_that_exists() {
    let text = std::fs::read_to_string(fixtures().join("../examples/pre-commit/.pre-commit-config.yaml"));
    let config = read_all(&text.expect("an example"), &Limits::default())
        .expect("YAML")
        .remove(0);
    let used = &config["repos"][0]["hooks"][0]["id"];
    assert!(hooks().iter().any(|hook| hook["id"] == *used), "{used}");
}

/// A repository with the worked example and one of our hooks, and another one that offers the hooks.
struct Repository {
    scratch: Scratch,
    path: String,
}

impl Repository {
    /// `None`, said loudly, where pre-commit or git are not at hand.
    fn with(hook: &str) -> Option<Self> {
        for program in ["pre-commit", "git"] {
            if !Command::new(program)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
            {
                eprintln!("SKIPPED: {program} is not at hand, so the hooks were not run by it");
                return None;
            }
        }
        let scratch = Scratch::new();
        copy(&fixtures().join("worked-example/hub"), &scratch.path("work/hub"));
        scratch.write(
            "work/spokewright.yaml",
            "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n",
        );
        let hooks = std::fs::read_to_string(fixtures().join("../.pre-commit-hooks.yaml")).expect("the hooks");
        scratch.write("hooks/.pre-commit-hooks.yaml", &hooks);
        let binary = Path::new(env!("CARGO_BIN_EXE_spokewright"));
        let repository = Self {
            path: format!(
                "{}:{}",
                binary.parent().expect("a directory").display(),
                std::env::var("PATH").unwrap_or_default()
            ),
            scratch,
        };
        for directory in ["hooks", "work"] {
            repository.git(directory, &["init", "-q", "-b", "main"]).exits(0);
            repository.git(directory, &["add", "-A"]).exits(0);
            repository
                .git(directory, &["commit", "-q", "-m", "first"])
                .exits(0);
        }
        let revision = repository.git("hooks", &["rev-parse", "HEAD"]).stdout;
        repository.scratch.write(
            "work/.pre-commit-config.yaml",
            &format!(
                "repos:\n- repo: {}\n  rev: {}\n  hooks:\n  - id: {hook}\n",
                repository.scratch.path("hooks").display(),
                revision.trim()
            ),
        );
        repository.git("work", &["add", "-A"]).exits(0);
        repository.run("work", "pre-commit", &["install"]).exits(0);
        Some(repository)
    }

    fn run(&self, directory: &str, program: &str, arguments: &[&str]) -> Run {
        Run::of(
            Command::new(program)
                .args(arguments)
                .current_dir(self.scratch.path(directory))
                .env("PATH", &self.path)
                .env("HOME", self.scratch.path("home"))
                .env("PRE_COMMIT_HOME", self.scratch.path("cache"))
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_AUTHOR_NAME", "a")
                .env("GIT_AUTHOR_EMAIL", "a@example.com")
                .env("GIT_COMMITTER_NAME", "a")
                .env("GIT_COMMITTER_EMAIL", "a@example.com")
                .env_remove("GIT_DIR")
                .env_remove("GIT_INDEX_FILE"),
        )
    }

    fn git(&self, directory: &str, arguments: &[&str]) -> Run {
        self.run(directory, "git", arguments)
    }

    fn commit(&self) -> Run {
        self.git("work", &["commit", "-q", "-m", "change"])
    }
}

#[test]
fn the_fix_hook_fails_when_it_wrote_also_new_files_and_passes_once_they_are_added() {
    let Some(repository) = Repository::with("spokewright-system") else {
        return;
    };
    let work = |path: &str| format!("work/{path}");
    // New files do not show in `git diff`: only the exit status tells.
    repository
        .commit()
        .exits(1)
        .says("spokewright render")
        .says("--exit-code");
    assert!(repository.scratch.exists("work/rendered/eu-1/gateway-rbac.yaml"));
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(0);
    // A changed one.
    repository
        .scratch
        .edit(&work("hub/gateway.yaml"), "port: 443", "port: 8443");
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(1);
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(0);
    // A commit that only deletes.
    repository.git("work", &["rm", "-q", "hub/limits.yaml"]).exits(0);
    repository.commit().exits(1);
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(0);
    // An edit that is not staged takes no part.
    repository
        .scratch
        .edit(&work("hub/gateway.yaml"), "port: 8443", "port: 9443");
    repository.scratch.write(&work("README.md"), "text\n");
    repository.git("work", &["add", "README.md"]).exits(0);
    repository.commit().exits(0);
    // Nor does a file that nobody added, which pre-commit leaves in the work tree.
    let unreadable = "kind: Gateway\nkind: Gateway\n";
    repository.scratch.write(&work("hub/untracked.yaml"), unreadable);
    repository.scratch.write(&work("README.md"), "more text\n");
    repository.git("work", &["add", "README.md"]).exits(0);
    repository.commit().exits(0);
    repository.scratch.remove(&work("hub/untracked.yaml"));
    // What is wrong is shown with its place.
    repository.scratch.edit(
        &work("hub/gateway.yaml"),
        "kind: Gateway\n",
        "kind: Gateway\nkind: Gateway\n",
    );
    repository.git("work", &["add", "-A"]).exits(0);
    repository
        .commit()
        .exits(1)
        .says("error[yaml/duplicate-key]")
        .says("hub/gateway.yaml:3:");
}

#[test]
fn a_commit_without_the_files_of_a_cluster_that_its_root_names_fails_with_what_to_add() {
    let Some(repository) = Repository::with("spokewright-system") else {
        return;
    };
    repository.run("work", "spokewright", &["render"]).exits(0);
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(0);
    repository.scratch.edit(
        "work/hub/decisions.yaml",
        "clusterName: eu-1",
        "clusterName: eu-7",
    );
    repository.git("work", &["add", "-A"]).exits(0);
    repository
        .commit()
        .exits(1)
        .says("wrote rendered/eu-7/gateway-rbac.yaml")
        .says("deleted rendered/eu-1/gateway-rbac.yaml");
    // Git's own way to add what it knows: the new cluster is not among that.
    repository.git("work", &["add", "-u"]).exits(0);
    repository
        .commit()
        .exits(1)
        .says("not added: rendered/eu-7/gateway-rbac.yaml")
        .says("type `git add rendered`, and commit again");
    repository.git("work", &["add", "rendered"]).exits(0);
    repository.commit().exits(0);
}

#[test]
fn a_hook_sees_what_commit_a_stages_on_the_way() {
    let Some(repository) = Repository::with("spokewright-check-system") else {
        return;
    };
    repository.run("work", "spokewright", &["render"]).exits(0);
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(0);
    // Git commits an index of its own here, and its usual one does not have the change.
    repository
        .scratch
        .edit("work/hub/gateway.yaml", "port: 443", "port: 8443");
    repository
        .git("work", &["commit", "-q", "-a", "-m", "change"])
        .exits(1)
        .says("not up to date");
    repository.run("work", "spokewright", &["render"]).exits(0);
    repository
        .git("work", &["commit", "-q", "-a", "-m", "change"])
        .exits(0);
    // The same where a path is named.
    repository
        .scratch
        .edit("work/hub/gateway.yaml", "port: 8443", "port: 9443");
    repository
        .git("work", &["commit", "-q", "-m", "change", "hub/gateway.yaml"])
        .exits(1)
        .says("not up to date");
}

#[test]
fn the_check_hook_fails_until_somebody_renders_and_writes_nothing() {
    let Some(repository) = Repository::with("spokewright-check-system") else {
        return;
    };
    repository.commit().exits(1).says("not up to date");
    assert!(!repository.scratch.exists("work/rendered"));
    repository.run("work", "spokewright", &["render"]).exits(0);
    repository.git("work", &["add", "-A"]).exits(0);
    repository.commit().exits(0);
}
