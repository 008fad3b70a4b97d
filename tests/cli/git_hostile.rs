//! Repositories that a stranger made or had a hand in: what `diff` and `--inputs git-index` take as the repository, and
//! what they believe of it.

use std::path::Path;

use crate::repository::{at_hand, commit, git, repository, run_in};
use crate::scratch::{Run, Scratch, copy};

const DIFF: [&str; 4] = ["diff", "-q", "--format", "semantic"];

/// The worked example and its tree, committed with a limit of 100. On disk the limit is 200, which both readers must
/// tell from what is committed.
fn changed() -> Option<Scratch> {
    let scratch = repository()?;
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    commit(&scratch.path(""));
    scratch.raise_the_limit("hub/limits.yaml");
    Some(scratch)
}

/// A repository that has 200 in its commit and its index, so that whoever asks it sees no change.
fn forged() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.raise_the_limit("hub/limits.yaml");
    git(&scratch.path(""), &["init", "-q"]);
    commit(&scratch.path(""));
    scratch
}

/// The commit and the index have 100, and so they say from `directory`, where the hub is `hub`.
fn is_seen_as_it_is(scratch: &Scratch, directory: &str, hub: &str, environment: &[(&str, &str)]) {
    let run = |arguments: &[&str]| {
        let mut command = scratch.command(arguments);
        command
            .arg(hub)
            .current_dir(scratch.path(directory))
            .envs(environment.iter().copied());
        Run::of(&mut command)
    };
    let diff = run(&DIFF);
    diff.exits(1);
    assert!(diff.stdout.contains("limit: 100 -> 200"), "{}", diff.stdout);
    let tree = scratch.path("rendered").display().to_string();
    run(&["render", "--check", "--inputs", "git-index", "-o", &tree]).exits(0);
    run(&["render", "--check", "-o", &tree]).exits(1);
}

/// A pull request can hold any file but one below `.git`.
#[test]
fn only_git_s_own_directory_is_a_repository() {
    let bare = [
        ("hub", "bare = false\n\tworktree = .."),
        ("hub", "bare = true"),
        ("", "bare = false\n\tworktree = ."),
    ];
    for (place, setting) in bare {
        let Some(scratch) = changed() else { return };
        copy(&forged().path(".git"), &scratch.path(place));
        scratch.write(
            &Path::new(place).join("config").display().to_string(),
            &format!("[core]\n\trepositoryformatversion = 0\n\t{setting}\n"),
        );
        is_seen_as_it_is(&scratch, "", "hub", &[]);
        is_seen_as_it_is(&scratch, "hub", ".", &[]);
    }
    // Where there is no other one, does not.
    if at_hand().is_none() {
        return;
    }
    let scratch = Scratch::with_worked_example();
    copy(&forged().path(".git"), &scratch.path("hub"));
    for arguments in [
        ["diff", "hub"].as_slice(),
        &["check", "hub", "--inputs", "git-index"],
    ] {
        scratch
            .run(arguments)
            .exits(2)
            .says("`hub` is not in a Git repository");
    }
}

#[test]
fn a_git_directory_that_is_none_does_not_let_another_one_in() {
    let Some(scratch) = changed() else { return };
    std::fs::create_dir(scratch.path("hub/.git")).expect("a directory");
    for arguments in [
        ["diff", "hub"].as_slice(),
        &["check", "hub", "--inputs", "git-index"],
    ] {
        scratch
            .run(arguments)
            .exits(2)
            .says("cannot open the Git repository of `hub`");
    }
}

#[test]
fn an_object_is_what_its_name_says() {
    let Some(scratch) = changed() else { return };
    let root = scratch.path("");
    let forged = git(&root, &["hash-object", "-w", "hub/limits.yaml"]);
    let committed = git(&root, &["rev-parse", "HEAD:hub/limits.yaml"]);
    git(&root, &["replace", committed.trim(), forged.trim()]);
    is_seen_as_it_is(&scratch, "", "hub", &[]);
    // Nor does a configuration bring them back.
    git(&root, &["config", "core.useReplaceRefs", "true"]);
    git(
        &root,
        &["config", "gitoxide.objects.replaceRefBase", "refs/replace/"],
    );
    is_seen_as_it_is(&scratch, "", "hub", &[]);
}

#[test]
fn the_parent_of_a_commit_is_what_it_says() {
    let Some(scratch) = changed() else { return };
    let root = scratch.path("");
    let first = git(&root, &["rev-parse", "HEAD"]);
    // The change, then something else: its parent has the change, and its graft has not.
    commit(&root);
    scratch.write("README.md", "more\n");
    commit(&root);
    let head = git(&root, &["rev-parse", "HEAD"]);
    scratch.write(".git/info/grafts", &format!("{} {}\n", head.trim(), first.trim()));
    scratch.run(&["diff", "hub", "--base", "HEAD~1"]).exits(0);
    scratch.run(&["diff", "hub", "--base", first.trim()]).exits(1);
}

/// What a workflow passes: no branch or tag takes its place.
#[test]
fn a_full_id_is_that_commit() {
    let Some(scratch) = changed() else { return };
    let root = scratch.path("");
    let committed = git(&root, &["rev-parse", "HEAD"]);
    commit(&root);
    for kind in ["heads", "tags", "remotes"] {
        let name = format!("refs/{kind}/{}", committed.trim());
        git(&root, &["update-ref", &name, "HEAD"]);
    }
    scratch.run(&["diff", "hub", "--base", committed.trim()]).exits(1);
}

#[test]
fn objects_come_from_the_repository_alone() {
    let Some(scratch) = changed() else { return };
    let other = Scratch::new();
    let url = scratch.path("").display().to_string();
    git(&other.path(""), &["clone", "-q", "--shared", &url, "clone"]);
    for arguments in [
        ["diff", "hub"].as_slice(),
        &["check", "hub", "--inputs", "git-index"],
    ] {
        run_in(&other, "clone", arguments)
            .exits(2)
            .says("the repository of `hub` uses objects from outside: `")
            .says("git repack -a -d");
    }
    // What the message says to do helps.
    git(&other.path("clone"), &["repack", "-q", "-a", "-d"]);
    other.remove("clone/.git/objects/info/alternates");
    run_in(&other, "clone", &["diff", "hub"]).exits(0);
    // A second place inside of the repository is its own.
    let objects = scratch.path(".git/objects");
    std::fs::rename(&objects, scratch.path(".git/more")).expect("a move");
    std::fs::create_dir(&objects).expect("a directory");
    scratch.write(".git/objects/info/alternates", "../more\n");
    is_seen_as_it_is(&scratch, "", "hub", &[]);
    // And so is none that leads out by way of it.
    scratch.write(".git/more/info/alternates", "../../../elsewhere\n");
    scratch
        .run(&["diff", "hub"])
        .exits(2)
        .says("uses objects from outside");
}

#[test]
fn of_the_configuration_counts_what_reading_objects_needs() {
    let Some(scratch) = changed() else { return };
    let forged = forged();
    let elsewhere = forged.path(".git").display().to_string();
    let own = scratch.read(".git/config");
    scratch.write(
        ".git/included",
        "[core]\n\tworktree = ../hub\n\trepositoryformatversion = 99\n",
    );
    let settings = [
        format!("[gitoxide \"core\"]\n\tindexFile = {elsewhere}/index\n"),
        "[gitoxide \"core\"]\n\trefsNamespace = other\n".to_owned(),
        "[gitoxide \"core\"]\n\tshallowFile = included\n".to_owned(),
        "[include]\n\tpath = included\n".to_owned(),
        "[includeIf \"gitdir:/\"]\n\tpath = included\n".to_owned(),
    ];
    for setting in &settings {
        scratch.write(".git/config", &format!("{own}{setting}"));
        is_seen_as_it_is(&scratch, "", "hub", &[]);
        scratch
            .run(&["diff", "hub", "--base", "mian"])
            .exits(2)
            .says("in this repository")
            .says("did you mean `main`?");
    }
    scratch.write(
        ".git/config",
        &format!("{own}[branch \"main\"]\n\tremote = .\n\tmerge = refs/heads/main\n"),
    );
    scratch
        .run(&["diff", "hub", "--base", "@{upstream}"])
        .exits(2)
        .says("`git rev-parse --abbrev-ref '@{upstream}'`");
    // Nor does anything of the environment.
    let work_tree = forged.path("").display().to_string();
    let objects = format!("{elsewhere}/objects");
    let environment = [
        ("GIT_DIR", elsewhere.as_str()),
        ("GIT_COMMON_DIR", &elsewhere),
        ("GIT_WORK_TREE", &work_tree),
        ("GIT_OBJECT_DIRECTORY", &objects),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects),
        ("GIT_NAMESPACE", "other"),
        ("GIT_REPLACE_REF_BASE", "refs/heads/"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.worktree"),
        ("GIT_CONFIG_VALUE_0", &work_tree),
    ];
    is_seen_as_it_is(&scratch, "", "hub", &environment);
}

#[test]
fn the_work_tree_is_where_git_s_directory_is() {
    let Some(scratch) = changed() else { return };
    let root = scratch.path("");
    let own = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
    let forged = forged();
    for elsewhere in [
        forged.path("").display().to_string(),
        "../hub".to_owned(),
        "nowhere".to_owned(),
    ] {
        scratch.write(".git/config", &format!("{own}\tworktree = {elsewhere}\n"));
        for arguments in [
            ["diff", "hub"].as_slice(),
            &["check", "hub", "--inputs", "git-index"],
        ] {
            scratch
                .run(arguments)
                .exits(2)
                .says("the repository of `hub` has its work tree elsewhere: `")
                .says("git config --unset core.worktree");
        }
    }
    // Where it says what is so, all is well: for itself, and for a work tree that has another place.
    scratch.write(".git/config", &format!("{own}\tworktree = ..\n"));
    is_seen_as_it_is(&scratch, "", "hub", &[]);
    let other = Scratch::new();
    let added = other.path("added").display().to_string();
    git(&root, &["worktree", "add", "-q", "-b", "side", &added]);
    other.raise_the_limit("added/hub/limits.yaml");
    copy(&other.path("added/rendered"), &other.path("rendered"));
    is_seen_as_it_is(&other, "added", "hub", &[]);
}
