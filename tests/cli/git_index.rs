//! `--inputs git-index`: the input as the next commit would hold it.

use std::fs;

use sha2::Digest as _;

use crate::repository::{at_hand, git, git_command, repository};
use crate::scratch::{Run, Scratch};

const INDEX: [&str; 2] = ["--inputs", "git-index"];

/// What `render hub` says, as one stream.
fn stream(scratch: &Scratch, options: &[&str]) -> String {
    let run = scratch.run(
        &[
            &["render", "hub", "-o", "-", "--now", "2026-06-01T12:00:00Z"],
            options,
        ]
        .concat(),
    );
    run.exits(0);
    assert!(!run.stdout.is_empty());
    run.stdout
}

const MORE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: more, namespace: gateways}\n\
                    spec: {gatewayClassName: nowhere, listeners: []}\nkind: twice\n";

#[test]
fn what_is_committed_and_untouched_renders_the_same_from_the_index() {
    let Some(scratch) = repository() else { return };
    assert_eq!(stream(&scratch, &INDEX), stream(&scratch, &[]));
    // The tree is written to disk.
    scratch.run(&["render", "hub", INDEX[0], INDEX[1]]).exits(0);
    assert!(scratch.exists("rendered/eu-1/gateway-rbac.yaml"));
    scratch.run(&["render", "hub", "--check"]).exits(0);
    // It is on disk as rendered, and no commit would hold it.
    scratch
        .run(&["render", "hub", "--check", INDEX[0], INDEX[1]])
        .exits(1)
        .says("not added: rendered/.spokewright-inventory")
        .says("type `git add rendered`, and commit again");
    git(&scratch.path(""), &["add", "rendered"]);
    scratch
        .run(&["render", "hub", "--check", INDEX[0], INDEX[1]])
        .exits(0);
}

/// A repository whose first commit holds the rendered tree.
fn rendered() -> Option<Scratch> {
    let scratch = repository()?;
    scratch.run(&["render", "hub", "-q"]).exits(0);
    git(&scratch.path(""), &["add", "-A"]);
    git(&scratch.path(""), &["commit", "-q", "-m", "rendered"]);
    Some(scratch)
}

/// Replaces a file in the index by what Git LFS puts there for a content, and leaves the file on disk.
fn stage_pointer(scratch: &Scratch, path: &str, content: &str) {
    let on_disk = scratch.read(path);
    let oid: String = sha2::Sha256::digest(content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let size = content.len();
    scratch.write(
        path,
        &format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"),
    );
    git(&scratch.path(""), &["add", path]);
    scratch.write(path, &on_disk);
}

#[test]
fn an_output_in_git_lfs_is_compared_by_what_its_pointers_stand_for() {
    let Some(scratch) = rendered() else { return };
    let path = "rendered/eu-1/gateway-rbac.yaml";
    let content = scratch.read(path);
    for hook in HOOKS {
        stage_pointer(&scratch, path, &content);
        scratch.run(&["render", "hub", hook, INDEX[0], INDEX[1]]).exits(0);
        stage_pointer(&scratch, path, &format!("{content}\n"));
        scratch
            .run(&["render", "hub", hook, INDEX[0], INDEX[1]])
            .exits(1)
            .says(&format!("changed, not added: {path}"));
    }
}

/// A hook that writes, and one that compares.
const HOOKS: [&str; 2] = ["--exit-code", "--check"];

#[test]
fn a_commit_whose_root_names_a_cluster_that_was_not_added_is_refused_with_what_to_type() {
    let Some(scratch) = rendered() else { return };
    scratch.edit("hub/decisions.yaml", "clusterName: eu-1", "clusterName: eu-7");
    scratch.run(&["render", "hub", "-q"]).exits(0);
    // Only what Git knew already: the root's list, and that the files of eu-1 are gone.
    git(&scratch.path(""), &["add", "-u"]);
    for hook in HOOKS {
        let run = scratch.run(&["render", "hub", hook, INDEX[0], INDEX[1]]);
        run.exits(1)
            .says("not added: rendered/eu-7/gateway-rbac.yaml")
            .says("not added: rendered/eu-7/kustomization.yaml")
            .says("type `git add rendered`, and commit again")
            .does_not_say("rendered/kustomization.yaml");
    }
    git(&scratch.path(""), &["add", "rendered"]);
    for hook in HOOKS {
        scratch.run(&["render", "hub", hook, INDEX[0], INDEX[1]]).exits(0);
    }
}

#[test]
fn a_commit_that_leaves_a_deletion_or_a_change_of_the_output_behind_is_refused() {
    let Some(scratch) = rendered() else { return };
    scratch.edit("hub/decisions.yaml", "clusterName: eu-1", "clusterName: eu-7");
    scratch.run(&["render", "hub", "-q"]).exits(0);
    git(
        &scratch.path(""),
        &["add", "hub", "rendered/eu-7", "rendered/.spokewright-inventory"],
    );
    for hook in HOOKS {
        scratch
            .run(&["render", "hub", hook, INDEX[0], INDEX[1]])
            .exits(1)
            .says("deleted, not added: rendered/eu-1/gateway-rbac.yaml")
            .says("changed, not added: rendered/kustomization.yaml");
    }
}

#[test]
fn a_hand_edit_of_the_output_that_nobody_added_stops_a_hook_before_git_could_add_it() {
    let Some(scratch) = rendered() else { return };
    git(&scratch.path(""), &["add", "-A"]);
    // As long as before, so that only its times tell.
    let path = "rendered/eu-1/gateway-rbac.yaml";
    scratch.edit(path, "kind: ManifestWork\n", "kind: ManifestWerk\n");
    for hook in HOOKS {
        scratch
            .run(&["render", "hub", hook, INDEX[0], INDEX[1]])
            .says("error[output/edited]")
            .says(path);
    }
    scratch.edit(path, "kind: ManifestWerk\n", "kind: ManifestWork\n");
    for hook in HOOKS {
        scratch.run(&["render", "hub", hook, INDEX[0], INDEX[1]]).exits(0);
    }
}

#[test]
fn an_output_that_git_ignores_or_that_lies_elsewhere_is_not_asked_for_in_the_index() {
    let Some(scratch) = repository() else { return };
    scratch.write(".gitignore", "/rendered/\n");
    git(&scratch.path(""), &["add", ".gitignore"]);
    let elsewhere = Scratch::new();
    let elsewhere = elsewhere.path("out").display().to_string();
    for output in ["rendered", &elsewhere] {
        scratch.run(&["render", "hub", "-q", "-o", output]).exits(0);
        for hook in HOOKS {
            scratch
                .run(&["render", "hub", hook, "-o", output, INDEX[0], INDEX[1]])
                .exits(0);
        }
    }
}

#[test]
fn a_hook_names_the_files_that_it_wrote_and_what_to_type() {
    let Some(scratch) = rendered() else { return };
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    git(&scratch.path(""), &["add", "hub"]);
    let run = scratch.run(&["render", "hub", "--exit-code", INDEX[0], INDEX[1]]);
    run.exits(1)
        .says("wrote rendered/eu-1/gateway-gateways-prod-web.yaml")
        .says("the output was out of date; type `git add rendered`, and commit again")
        .does_not_say("not added");
}

#[test]
fn a_hook_does_not_repeat_the_warnings_of_the_last_commit() {
    let Some(scratch) = rendered() else { return };
    scratch.edit("hub/gateway.yaml", "note: \"yes\"", "note: \"${yes}\"");
    let hook = ["render", "hub", "--exit-code", INDEX[0], INDEX[1]];
    git(&scratch.path(""), &["add", "hub"]);
    // It is new in this commit.
    scratch.run(&hook).exits(1).says("warning[work/substitution]");
    git(&scratch.path(""), &["add", "-A"]);
    git(&scratch.path(""), &["commit", "-q", "-m", "with a warning"]);
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    git(&scratch.path(""), &["add", "hub"]);
    scratch
        .run(&hook)
        .exits(1)
        .says("2 warnings of the last commit not shown again; `spokewright check` lists them\n")
        .does_not_say("work/substitution");
    // Everybody else sees it.
    scratch
        .run(&["render", "hub", "-o", "-"])
        .exits(0)
        .says("work/substitution");
}

#[test]
fn an_untracked_file_does_not_leak_in_until_it_is_added() {
    let Some(scratch) = repository() else { return };
    let before = stream(&scratch, &INDEX);
    scratch.write("hub/more.yaml", MORE);
    scratch.run(&["render", "hub", "-o", "-"]).exits(3);
    assert_eq!(stream(&scratch, &INDEX), before);
    // An intention is nothing that would be committed.
    git(&scratch.path(""), &["add", "-N", "hub/more.yaml"]);
    assert_eq!(stream(&scratch, &INDEX), before);
    scratch
        .run(&["check", "hub/more.yaml", INDEX[0], INDEX[1]])
        .exits(5)
        .does_not_say("1 file");
    git(&scratch.path(""), &["add", "hub/more.yaml"]);
    scratch.run(&["check", "hub", INDEX[0], INDEX[1]]).exits(3);
}

#[test]
fn a_staged_file_that_was_deleted_from_disk_still_counts_until_the_deletion_is_staged() {
    let Some(scratch) = repository() else { return };
    let before = stream(&scratch, &INDEX);
    scratch.remove("hub/limits.yaml");
    assert_ne!(stream(&scratch, &[]), before);
    assert_eq!(stream(&scratch, &INDEX), before);
    // Even when the whole directory is gone.
    std::fs::remove_dir_all(scratch.path("hub")).expect("a directory to remove");
    assert_eq!(stream(&scratch, &INDEX), before);
    git(&scratch.path(""), &["rm", "-q", "--cached", "hub/limits.yaml"]);
    assert_ne!(stream(&scratch, &INDEX), before);
}

#[test]
fn a_partially_staged_file_counts_as_it_is_staged() {
    let Some(scratch) = repository() else { return };
    let before = stream(&scratch, &INDEX);
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    assert_eq!(stream(&scratch, &INDEX), before);
    git(&scratch.path(""), &["add", "-A"]);
    scratch.edit("hub/gateway.yaml", "port: 8443", "port: 9443");
    let staged = stream(&scratch, &INDEX);
    assert!(staged.contains("8443") && !staged.contains("9443"), "{staged}");
    assert!(stream(&scratch, &[]).contains("9443"));
}

#[test]
fn a_place_is_one_of_the_staged_text() {
    let Some(scratch) = repository() else { return };
    scratch.edit(
        "hub/gateway.yaml",
        "kind: Gateway\n",
        "kind: Gateway\nkind: Gateway\n",
    );
    git(&scratch.path(""), &["add", "-A"]);
    scratch.write("hub/gateway.yaml", "\n\n\n\n");
    let run = scratch.run(&["render", "hub", INDEX[0], INDEX[1]]);
    run.exits(3).says("hub/gateway.yaml:3:").says("kind: Gateway");
    assert!(!scratch.exists("rendered"));
}

#[test]
fn the_diff_of_the_index_is_what_the_commit_will_do() {
    let Some(scratch) = repository() else { return };
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    scratch.run(&["diff", "hub"]).exits(1);
    scratch.run(&["diff", "hub", INDEX[0], INDEX[1]]).exits(0);
    git(&scratch.path(""), &["add", "-A"]);
    let form = |form: &[&str]| {
        let run = scratch.run(&[&["diff", "hub", INDEX[0], INDEX[1], "--format"], form].concat());
        run.exits(1);
        run.stdout
    };
    assert!(form(&["json"]).contains("\"new\": \"index\""));
    // Where the comment is cut, the command for the whole of it reads the index, too.
    let cut = form(&["markdown", "--max-bytes", "400"]);
    assert!(
        cut.contains("spokewright diff hub --inputs git-index --base HEAD"),
        "{cut}"
    );
}

#[test]
fn every_reading_command_reads_the_index() {
    let Some(scratch) = repository() else { return };
    let commands: [&[&str]; 4] = [
        &["check", "hub"],
        &["placement", "hub"],
        &["policies", "hub"],
        &["status", "hub"],
    ];
    let before = commands.map(|command| scratch.run(&[command, &INDEX].concat()).stdout);
    std::fs::remove_dir_all(scratch.path("hub")).expect("a directory to remove");
    for (command, before) in commands.iter().zip(before) {
        let run = scratch.run(&[command, &INDEX[..]].concat());
        run.exits(0);
        assert_eq!(run.stdout, before, "{command:?}");
    }
}

/// Leaves `hub/gateway.yaml` in conflict.
fn conflict(scratch: &Scratch) {
    let root = scratch.path("");
    git(&root, &["checkout", "-q", "-b", "other"]);
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    git(&root, &["commit", "-q", "-a", "-m", "other"]);
    git(&root, &["checkout", "-q", "main"]);
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 9443");
    git(&root, &["commit", "-q", "-a", "-m", "ours"]);
    let merge = git_command(&root, &["merge", "-q", "other"])
        .output()
        .expect("git runs");
    assert!(!merge.status.success(), "{merge:?}");
}

/// Each branch has a Gateway of its own, so that only the inventory is in conflict.
#[test]
fn two_branches_that_rendered_conflict_in_the_inventory_and_the_next_render_heals_it() {
    let Some(scratch) = rendered() else { return };
    let root = scratch.path("");
    let branch = |name: &str, from: &str| {
        git(&root, &["checkout", "-q", "-b", name, from]);
        let gateway = scratch.read("hub/gateway.yaml");
        let own = gateway.replace("name: prod-web", &format!("name: {name}"));
        scratch.write(
            &format!("hub/{name}.yaml"),
            &own.replace("*.apps.", &format!("*.{name}.")),
        );
        scratch.run(&["render", "hub", "-q"]).exits(0);
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-q", "-m", name]);
    };
    branch("one", "main");
    branch("two", "main");
    let merge = git_command(&root, &["merge", "-q", "one"])
        .output()
        .expect("git runs");
    assert!(!merge.status.success(), "{merge:?}");
    let inventory = "rendered/.spokewright-inventory";
    assert!(
        scratch.read(inventory).contains("<<<<<<<"),
        "{}",
        scratch.read(inventory)
    );
    scratch.run(&["render", "hub", "--check"]).exits(1);
    // What is no longer rendered is deleted, whichever side rendered it.
    fs::remove_file(scratch.path("hub/one.yaml")).expect("a file");
    scratch.run(&["render", "hub", "-q"]).exits(0);
    assert!(!scratch.read(inventory).contains("<<<<<<<"));
    assert!(scratch.exists("rendered/eu-1/gateway-gateways-two.yaml"));
    assert!(!scratch.exists("rendered/eu-1/gateway-gateways-one.yaml"));
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "merged"]);
    scratch.run(&["render", "hub", "--check"]).exits(0);
}

#[test]
fn a_staged_edit_of_a_rendered_file_is_undone_by_the_command_that_is_printed() {
    let Some(scratch) = rendered() else { return };
    let path = "rendered/eu-1/gateway-rbac.yaml";
    scratch.edit(path, "kind: ManifestWork\n", "kind: ManifestWerk\n");
    git(&scratch.path(""), &["add", path]);
    let run = scratch.run(&["render", "hub"]);
    run.exits(5);
    let undo = run.stderr.split_once("undo it here (`git ").expect("a command").1;
    let undo: Vec<&str> = undo.split_once('`').expect("its end").0.split(' ').collect();
    git(&scratch.path(""), &undo);
    scratch.run(&["render", "hub", "--check"]).exits(0);
}

#[test]
fn a_conflict_is_refused_with_the_file_and_what_to_type() {
    let Some(scratch) = repository() else { return };
    conflict(&scratch);
    scratch
        .run(&["render", "hub", INDEX[0], INDEX[1]])
        .exits(5)
        .says("`index:hub/gateway.yaml`")
        .says("has a merge conflict")
        .says("git add hub/gateway.yaml");
    assert!(!scratch.exists("rendered"));
    // Half a resolution on disk is none.
    scratch.write("hub/gateway.yaml", "\n");
    scratch.run(&["check", "hub", INDEX[0], INDEX[1]]).exits(5);
    git(
        &scratch.path(""),
        &["checkout", "-q", "--theirs", "hub/gateway.yaml"],
    );
    git(&scratch.path(""), &["add", "hub/gateway.yaml"]);
    assert!(stream(&scratch, &INDEX).contains("8443"));
}

#[test]
fn a_conflict_outside_of_the_input_is_not_ours() {
    let Some(scratch) = repository() else { return };
    conflict(&scratch);
    scratch
        .run(&["check", "hub/limits.yaml", INDEX[0], INDEX[1]])
        .does_not_say("conflict");
}

#[test]
fn a_path_means_the_same_from_a_subdirectory_and_in_another_work_tree() {
    let Some(scratch) = repository() else { return };
    let whole = stream(&scratch, &INDEX);
    scratch.write("hub/more.yaml", MORE);
    let stands = |directory: &str, path: &str| {
        let run = Run::of(
            scratch
                .command(&[
                    "render",
                    path,
                    "-o",
                    "-",
                    "--now",
                    "2026-06-01T12:00:00Z",
                    INDEX[0],
                    INDEX[1],
                ])
                .current_dir(scratch.path(directory)),
        );
        run.exits(0);
        run.stdout
            .lines()
            .filter(|line| !line.contains("source"))
            .collect::<Vec<_>>()
            .len()
    };
    let expected = whole.lines().filter(|line| !line.contains("source")).count();
    assert_eq!(stands("hub", "."), expected);
    assert_eq!(stands("hub", "../hub"), expected);
    git(&scratch.path(""), &["worktree", "add", "-q", "other"]);
    std::fs::remove_dir_all(scratch.path("other/hub")).expect("a directory to remove");
    assert_eq!(stands("other", "hub"), expected);
    // Each work tree has its own index.
    git(&scratch.path("other"), &["rm", "-q", "-r", "--cached", "hub"]);
    Run::of(
        scratch
            .command(&["render", "hub", INDEX[0], INDEX[1]])
            .current_dir(scratch.path("other")),
    )
    .exits(5)
    .says("`hub` is not in Git's index")
    .says("git add hub");
}

#[test]
fn nothing_is_in_the_index_of_a_new_repository() {
    if at_hand().is_none() {
        return;
    }
    let scratch = Scratch::with_worked_example();
    let root = scratch.path("");
    git(&root, &["init", "-q"]);
    scratch
        .run(&["render", "hub", INDEX[0], INDEX[1]])
        .exits(5)
        .says("`hub` is not in Git's index")
        .says("git add hub");
    assert!(!scratch.exists("rendered"));
    git(&root, &["add", "-A"]);
    assert_eq!(stream(&scratch, &INDEX), stream(&scratch, &[]));
}

#[test]
fn the_configuration_counts_as_it_is_staged() {
    let Some(scratch) = repository() else { return };
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: out\n",
    );
    scratch.run(&["render", INDEX[0], INDEX[1]]).exits(0);
    assert!(scratch.exists("rendered") && !scratch.exists("out"));
    let named = ["render", "--config", "spokewright.yaml", INDEX[0], INDEX[1]];
    scratch
        .run(&named)
        .exits(5)
        .says("`spokewright.yaml` is not in Git's index");
    let config = scratch.read("spokewright.yaml");
    scratch.write(
        "spokewright.yaml",
        &config.replace("output: out", "nonsense: true"),
    );
    scratch.run(&named).exits(5).does_not_say("nonsense");
    scratch.write("spokewright.yaml", &config);
    git(&scratch.path(""), &["add", "spokewright.yaml"]);
    scratch.run(&named).exits(0);
    assert!(scratch.exists("out"));
    // The output must not overlap what is staged.
    scratch
        .run(&["render", "-o", "hub", INDEX[0], INDEX[1]])
        .says("output/overlaps-input");
}

#[test]
fn a_submodule_is_named_and_refused() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    let other = Scratch::with_worked_example();
    git(&other.path(""), &["init", "-q"]);
    git(&other.path(""), &["add", "-A"]);
    git(&other.path(""), &["commit", "-q", "-m", "first"]);
    let url = other.path("").display().to_string();
    git(&root, &["submodule", "--quiet", "add", &url, "hub/sub"]);
    scratch
        .run(&["render", "hub", INDEX[0], INDEX[1]])
        .exits(5)
        .says("`hub/sub` is a submodule")
        .says("--inputs git-index");
    // As a repository of its own it has an index of its own.
    Run::of(
        scratch
            .command(&["check", "hub", INDEX[0], INDEX[1]])
            .current_dir(scratch.path("hub/sub")),
    )
    .exits(0);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_inside_of_the_index_only() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    let before = stream(&scratch, &INDEX);
    std::fs::create_dir(scratch.path("held")).expect("a directory");
    std::fs::rename(scratch.path("hub/limits.yaml"), scratch.path("hub/limits.txt")).expect("renamed");
    std::os::unix::fs::symlink("limits.txt", scratch.path("hub/limits.yaml")).expect("a link");
    git(&root, &["add", "-A"]);
    scratch.remove("hub/limits.txt");
    let names = |text: &str| text.matches("kind:").count();
    assert_eq!(names(&stream(&scratch, &INDEX)), names(&before));
    scratch.write("hub/limits.txt", "");
    git(&root, &["rm", "-q", "--cached", "-f", "hub/limits.txt"]);
    scratch
        .run(&["render", "hub", INDEX[0], INDEX[1]])
        .exits(5)
        .says("hub/limits.yaml");
}

#[test]
fn the_forms_of_an_index_that_git_writes_are_all_read() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    let before = stream(&scratch, &INDEX);
    git(&root, &["update-index", "--index-version", "4"]);
    assert_eq!(stream(&scratch, &INDEX), before);
    git(&root, &["update-index", "--split-index"]);
    assert_eq!(stream(&scratch, &INDEX), before);
    git(&root, &["update-index", "--no-split-index"]);
    // What a sparse checkout leaves out of the work tree is still committed.
    scratch.write("README.md", "text\n").write("docs/a.md", "text\n");
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "docs"]);
    git(
        &root,
        &["sparse-checkout", "set", "--cone", "--sparse-index", "docs"],
    );
    assert!(!scratch.exists("hub"));
    assert_eq!(stream(&scratch, &INDEX), before);
}

#[test]
fn the_index_that_git_names_to_its_hooks_is_the_one() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    let other = |arguments: &[&str]| {
        let mut command = git_command(&root, arguments);
        let output = command
            .env("GIT_INDEX_FILE", ".git/next")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{output:?}");
    };
    other(&["add", "-A"]);
    assert!(!stream(&scratch, &INDEX).contains("8443"));
    let named = Run::of(
        scratch
            .command(&["render", ".", "-o", "-", INDEX[0], INDEX[1]])
            .env("GIT_INDEX_FILE", ".git/next")
            .current_dir(scratch.path("hub")),
    );
    named.exits(0);
    assert!(named.stdout.contains("8443"));
}

#[test]
fn no_repository_standard_input_and_a_broken_index_are_refused_with_help() {
    let scratch = Scratch::with_worked_example();
    scratch
        .run(&["render", "hub", INDEX[0], INDEX[1]])
        .exits(2)
        .says("`hub` is not in a Git repository")
        .says("help: ")
        .says("--inputs git-index");
    scratch
        .run(&["check", "-", INDEX[0], INDEX[1]])
        .exits(2)
        .says("standard input")
        .says("help: ");
    let Some(scratch) = repository() else { return };
    for bytes in [
        "",
        "DIRC",
        "text that is no index, and long enough to hold a checksum",
    ] {
        scratch.write(".git/index", bytes);
        scratch
            .run(&["check", "hub", INDEX[0], INDEX[1]])
            .exits(5)
            .says("cannot read Git's index")
            .says("help: ");
    }
    let bare = Scratch::new();
    git(&bare.path(""), &["init", "-q", "--bare"]);
    bare.run(&["check", INDEX[0], INDEX[1]])
        .exits(2)
        .says("not in a Git repository")
        .says("has a `.git`");
    git(&scratch.path(""), &["config", "core.bare", "true"]);
    scratch
        .run(&["check", "hub", INDEX[0], INDEX[1]])
        .exits(2)
        .says("bare")
        .says("git worktree add");
}
