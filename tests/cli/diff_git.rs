//! `diff` against Git revisions: which ones there are, and what a repository may be like.

use crate::repository::{at_hand, commit, git, repository, run_in};
use crate::scratch::{Run, Scratch, copy, fixtures};

#[test]
fn only_what_is_committed_is_the_base() {
    let Some(scratch) = repository() else { return };
    // Staged or not, new or not: the base stays the commit.
    scratch.raise_the_limit("hub/limits.yaml");
    git(&scratch.path(""), &["add", "-A"]);
    scratch.run(&["diff", "hub"]).exits(1);
    commit(&scratch.path(""));
    scratch.run(&["diff", "hub"]).exits(0);
    scratch.run(&["diff", "hub", "--base", "HEAD~1"]).exits(1);
    scratch.run(&["diff", "hub", "--base", "main~1"]).exits(1);
}

#[test]
fn the_configuration_of_the_revision_counts_for_the_revision() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    let config = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n";
    scratch
        .write(
            "spokewright.yaml",
            &format!("{config}hub: [hub]\nexclude: [\"old/**\"]\n"),
        )
        .write("hub/old/broken.yaml", "a: [\n")
        .write("hub/old/.gitkeep", "");
    commit(&root);
    scratch.run(&["diff"]).exits(3);
    scratch.write(
        "spokewright.yaml",
        &format!("{config}hub: [hub]\nexclude: [\"hub/old/**\"]\n"),
    );
    commit(&root);
    scratch.run(&["diff"]).exits(0);
    git(&root, &["mv", "hub", "moved"]);
    scratch.write(
        "spokewright.yaml",
        &format!("{config}hub: [moved]\nexclude: [\"moved/old/**\"]\n"),
    );
    let moved = scratch.run(&["diff"]);
    assert_eq!(
        moved.exits(1).stdout,
        "nothing changes on any cluster

changes how it is judged
  configuration: exclude[0]: hub/old/** -> moved/old/**
  configuration: hub[0]: hub -> moved
"
    );
}

#[test]
fn a_new_input_is_all_added() {
    let scratch = Scratch::new();
    let root = scratch.path("");
    scratch.write("README.md", "nothing yet\n");
    if at_hand().is_none() {
        return;
    }
    git(&root, &["init", "-q"]);
    scratch.run(&["diff"]).exits(2).says("no commit yet");
    commit(&root);
    copy(&fixtures().join("worked-example/hub"), &scratch.path("hub"));
    let run = scratch.run(&["diff", "hub", "-q", "--format", "semantic"]);
    run.exits(1);
    assert!(
        run.stdout.contains("10 objects added, 0 changed, 0 removed"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_revision_that_is_not_there_says_what_to_type() {
    let Some(scratch) = repository() else { return };
    scratch
        .run(&["diff", "hub", "--base", "origin/main"])
        .exits(2)
        .says("there is no revision `origin/main`")
        .says("git fetch");
    scratch
        .run(&["diff", "hub", "--base", "mian"])
        .exits(2)
        .says("did you mean `main`?");
    scratch
        .run(&["diff", "hub", "--base", "HEAD:hub"])
        .exits(2)
        .says("is not a commit");
    scratch.run(&["diff", "hub", "--base", ""]).exits(2);
    scratch
        .run(&["diff", "hub", "--base", "./nowhere"])
        .exits(2)
        .says("there is no revision `./nowhere`")
        .says("pass another input with `--base-dir DIR`, or a rendered tree with `--base-tree DIR`");
}

/// Whoever opens a pull request knows the base, and chooses the names of directories.
#[test]
fn a_path_that_is_called_like_the_base_is_never_the_base() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    let id = git(&root, &["rev-parse", "HEAD"]);
    let id = id.trim();
    git(&root, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    scratch.raise_the_limit("hub/limits.yaml");
    // The changed hub under the names of its base: an input, a rendered tree, and others.
    for name in [id, "origin/main"] {
        copy(&scratch.path("hub"), &scratch.path(name).join("hub"));
    }
    scratch.run(&["render", "hub", "-o", "refs/heads/main"]).exits(0);
    scratch.write("HEAD", "ref: refs/heads/main\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("nothing", scratch.path("main")).expect("a link");
    commit(&root);
    git(&root, &["update-ref", "refs/heads/main", id]);

    let refused = [
        (id, "directory", "pass the input in it with `--base-dir "),
        (
            "origin/main",
            "directory",
            "pass the input in it with `--base-dir ",
        ),
        (
            "refs/heads/main",
            "rendered tree",
            "pass the rendered tree with `--base-tree ",
        ),
        ("HEAD", "file", "pass another input with `--base-dir DIR`"),
        #[cfg(unix)]
        ("main", "file", "pass another input with `--base-dir DIR`"),
    ];
    for (name, what, instead) in refused {
        scratch
            .run(&["diff", "hub", "--base", name])
            .exits(2)
            .says(&format!(
                "`{name}` is a {what} here, but `--base` expects a Git revision"
            ))
            .says(instead)
            .says(&format!(
                "pass a revision of that name with `--base '{name}^{{commit}}'`"
            ));
        // What it says to type is the revision, and shows what changes.
        scratch
            .run(&["diff", "hub", "--base", &format!("{name}^{{commit}}")])
            .exits(1);
    }
    // Nobody types the default, and nothing on the disk changes what it means.
    scratch.run(&["diff", "hub"]).exits(1);
}

#[test]
fn outside_of_a_repository_a_base_must_be_named() {
    let scratch = Scratch::with_worked_example();
    scratch
        .run(&["diff", "hub"])
        .exits(2)
        .says("not in a Git repository")
        .says("--base-dir DIR");
    let mut command = scratch.command(&["diff", "-"]);
    Run::of(&mut command).exits(2).says("standard input");
}

#[test]
fn a_shallow_clone_has_its_commit_and_says_how_to_get_more() {
    let Some(scratch) = repository() else { return };
    scratch.raise_the_limit("hub/limits.yaml");
    commit(&scratch.path(""));
    let url = format!("file://{}", scratch.path("").display());
    let shallow = Scratch::new();
    git(&shallow.path(""), &["clone", "-q", "--depth=1", &url, "clone"]);
    run_in(&shallow, "clone", &["diff", "hub"]).exits(0);
    shallow.edit("clone/hub/limits.yaml", "limit: 200", "limit: 300");
    run_in(&shallow, "clone", &["diff", "hub"]).exits(1);
    run_in(&shallow, "clone", &["diff", "hub", "--base", "HEAD~1"])
        .exits(2)
        .says("shallow clone")
        .says("git fetch --unshallow")
        .does_not_say("origin HEAD~1");
    run_in(&shallow, "clone", &["diff", "hub", "--base", "origin/other"])
        .exits(2)
        .says("git fetch --depth=1 origin other`");
    let first = git(&scratch.path(""), &["rev-parse", "HEAD~1"]);
    run_in(&shallow, "clone", &["diff", "hub", "--base", first.trim()])
        .exits(2)
        .says("shallow clone");
    // What the message says to type works.
    git(
        &shallow.path("clone"),
        &["fetch", "-q", "--depth=1", "origin", "main"],
    );
    run_in(&shallow, "clone", &["diff", "hub", "--base", "FETCH_HEAD"]).exits(1);
    git(&shallow.path("clone"), &["fetch", "-q", "--unshallow"]);
    run_in(&shallow, "clone", &["diff", "hub", "--base", "HEAD~1"]).exits(1);
}

#[test]
fn a_worktree_and_a_submodule_are_repositories_like_any_other() {
    let Some(scratch) = repository() else { return };
    let other = Scratch::new();
    let tree = other.path("tree").display().to_string();
    git(&scratch.path(""), &["worktree", "add", "-q", "-b", "side", &tree]);
    run_in(&other, "tree", &["diff", "hub"]).exits(0);
    other.raise_the_limit("tree/hub/limits.yaml");
    run_in(&other, "tree", &["diff", "hub"]).exits(1);
    // The first work tree has its own files, and the same history.
    scratch.run(&["diff", "hub", "--base", "side"]).exits(0);

    let outer = Scratch::new();
    outer.write("README.md", "outer\n");
    let root = outer.path("");
    git(&root, &["init", "-q"]);
    let url = scratch.path("").display().to_string();
    git(&root, &["submodule", "--quiet", "add", &url, "inner"]);
    commit(&root);
    run_in(&outer, "inner", &["diff", "hub"]).exits(0);
    outer.run(&["diff", "inner/hub"]).exits(0);
    outer.raise_the_limit("inner/hub/limits.yaml");
    run_in(&outer, "inner", &["diff", "hub"]).exits(1);
    // From the outer repository the files of the inner one cannot be seen: nothing is silently missing.
    outer.run(&["diff", "."]).exits(5).says("submodule");
}

#[test]
fn the_repository_is_never_written_to() {
    let Some(scratch) = repository() else { return };
    let list = || {
        let mut all = Vec::new();
        let mut pending = vec![scratch.path(".git")];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let bytes = std::fs::read(&path).expect("a file");
                    all.push((path, bytes));
                }
            }
        }
        all.sort();
        all
    };
    let before = list();
    scratch.raise_the_limit("hub/limits.yaml");
    scratch.run(&["diff", "hub"]).exits(1);
    assert_eq!(list(), before);
}

#[test]
fn two_inputs_in_a_repository_are_compared_from_outside_of_it() {
    let Some(scratch) = repository() else { return };
    let outside = Scratch::new();
    let input = |name: &str| scratch.path(name).display().to_string();
    let files = [
        "hub/class.yaml",
        "hub/decisions.yaml",
        "hub/gateway.yaml",
        "hub/limits.yaml",
    ]
    .map(input);
    let mut arguments = vec!["diff"];
    arguments.extend(files.iter().map(String::as_str));
    outside.run(&arguments).exits(0);
    scratch.raise_the_limit("hub/limits.yaml");
    outside.run(&arguments).exits(1);
}

#[test]
fn the_first_digits_of_several_objects_name_them_all() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    for number in 0..700 {
        scratch.write(&format!("many/{number}"), &format!("{number}\n"));
    }
    commit(&root);
    let listed = git(&root, &["rev-list", "--objects", "--all"]);
    let mut digits: Vec<&str> = listed.lines().filter_map(|line| line.get(..4)).collect();
    digits.sort_unstable();
    let twice = digits.windows(2).find(|pair| pair[0] == pair[1]);
    let twice = twice.expect("700 objects share four digits")[0];
    scratch
        .run(&["diff", "hub", "--base", twice])
        .exits(2)
        .says(&format!("`{twice}` is ambiguous: it is short for 2 objects"))
        .says("write more digits, of one of: ")
        .says("(blob)");
    let short = git(&root, &["rev-parse", "--short=12", "HEAD"]);
    scratch.run(&["diff", "hub", "--base", short.trim()]).exits(0);
    scratch
        .run(&["diff", "hub", "--base", "HEAD~1..HEAD"])
        .exits(2)
        .says("is a range")
        .says("git merge-base");
}

#[test]
fn a_repository_that_cannot_be_read_says_why_and_what_else_to_name() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    git(&root, &["config", "core.bare", "true"]);
    scratch
        .run(&["diff", "hub"])
        .exits(2)
        .says("is bare")
        .says("git worktree add");
    git(&root, &["config", "core.bare", "false"]);
    // The format of a repository that this build does not know.
    scratch.edit(
        ".git/config",
        "repositoryformatversion = 0",
        "repositoryformatversion = 99",
    );
    scratch
        .run(&["diff", "hub"])
        .exits(2)
        .says("cannot open the Git repository of `hub`")
        .says("--base-dir DIR");
    let other_hash = Scratch::with_worked_example();
    git(&other_hash.path(""), &["init", "-q", "--object-format=sha256"]);
    other_hash
        .run(&["diff", "hub"])
        .exits(2)
        .says("sha256")
        .says("--base-dir DIR");
}

#[test]
fn what_a_revision_lacks_stops_the_comparison_with_the_side_and_what_to_type() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    // A partial clone without its blobs.
    git(&root, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", root.display());
    let clone = Scratch::with_worked_example();
    git(
        &clone.path(""),
        &[
            "clone",
            "-q",
            "--filter=blob:none",
            "--no-checkout",
            &url,
            "partial",
        ],
    );
    copy(&clone.path("hub"), &clone.path("partial/hub"));
    // What is the same in the work tree is not missing.
    let same = run_in(&clone, "partial", &["diff", "hub"]);
    assert_eq!(same.exits(0).stdout, "nothing changes on any cluster\n");
    let changed = format!("{}# changed\n", clone.read("partial/hub/limits.yaml"));
    clone.write("partial/hub/limits.yaml", &changed);
    run_in(&clone, "partial", &["diff", "hub"])
        .exits(5)
        .says("cannot read `HEAD:hub/limits.yaml`")
        .says("git fetch --refetch --no-filter");
    // A file that Git LFS keeps elsewhere would be no object, and nobody would see that it is missing.
    let right = scratch.read("hub/limits.yaml");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";
    scratch.write("hub/limits.yaml", pointer);
    commit(&root);
    scratch
        .run(&["render", "hub"])
        .exits(5)
        .says("`hub/limits.yaml` is a Git LFS pointer")
        .says("git lfs pull");
    scratch.write("hub/limits.yaml", &right);
    scratch
        .run(&["diff", "hub"])
        .exits(5)
        .says("--> HEAD:hub/limits.yaml")
        .says("the base `HEAD` could not be read; nothing was compared");
}

#[test]
fn line_ends_of_a_checkout_are_no_difference() {
    let Some(scratch) = repository() else { return };
    for file in ["class", "decisions", "gateway", "limits"] {
        let file = format!("hub/{file}.yaml");
        let text = scratch.read(&file).replace('\n', "\r\n");
        scratch.write(&file, &text);
    }
    let run = scratch.run(&["diff", "hub", "-q"]);
    run.exits(0);
    assert_eq!(run.stdout, "nothing changes on any cluster\n");
}

#[cfg(unix)]
#[test]
fn a_link_of_a_revision_is_followed_inside_of_the_input_only() {
    let Some(scratch) = repository() else { return };
    let root = scratch.path("");
    let right = scratch.read("hub/limits.yaml");
    scratch.write("hub/limits.txt", &right).remove("hub/limits.yaml");
    let link = scratch.path("hub/limits.yaml");
    std::os::unix::fs::symlink("limits.txt", &link).expect("a link");
    commit(&root);
    scratch.remove("hub/limits.yaml").write("hub/limits.yaml", &right);
    scratch.run(&["diff", "hub"]).exits(0);
    scratch.remove("hub/limits.yaml");
    std::os::unix::fs::symlink("/etc/hostname", &link).expect("a link");
    commit(&root);
    scratch.remove("hub/limits.yaml").write("hub/limits.yaml", &right);
    scratch
        .run(&["diff", "hub"])
        .exits(5)
        .says("--> HEAD:hub/limits.yaml")
        .says("leaves the input");
}

#[test]
fn a_file_that_both_sides_have_is_examined_again_where_only_the_base_uses_it() {
    let Some(scratch) = repository() else { return };
    scratch.edit("hub/gateway.yaml", "hostname:", "hostnme:");
    let root = scratch.path("");
    commit(&root);
    let ours = "kuadrant.io/mgc-gw-controller";
    scratch.edit("hub/class.yaml", ours, "example.com/other");
    let diff = ["diff", "hub", "--allow-empty", "-q"];
    scratch.run(&diff).says("HEAD:hub/gateway.yaml:15:5");
}

#[test]
fn a_warning_that_the_base_makes_an_error_of_is_looked_for_in_the_base() {
    let Some(scratch) = repository() else { return };
    let route = |name: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: gateways}}\n\
             spec: {{parentRefs: [{{name: prod-web}}], hostnames: [a.example.com], rules: [{{}}]}}\n"
        )
    };
    let config = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n";
    let strict = format!("{config}findings: {{route/shadowed: error}}\n");
    let both = [route("a"), route("b")].join("---\n");
    scratch
        .write("hub/routes.yaml", &both)
        .write("spokewright.yaml", &strict);
    commit(&scratch.path(""));
    scratch.write("hub/routes.yaml", &route("a"));
    scratch.run(&["diff", "-q"]).says("error[route/shadowed]");
    scratch
        .write("spokewright.yaml", config)
        .write("hub/routes.yaml", &both);
    scratch.run(&["diff", "-q"]).says("error[route/shadowed]");
    commit(&scratch.path(""));
    scratch.write("hub/routes.yaml", &route("a"));
    let run = scratch.run(&["diff", "-q"]);
    assert!(!run.stderr.contains("route/shadowed"), "{}", run.stderr);
}

/// The change may be its mend, so the run goes on.
#[test]
fn a_document_of_an_unknown_kind_in_the_base_is_reported() {
    let Some(scratch) = repository() else { return };
    let unknown = "apiVersion: spokewright.dev/v1alpha1\nkind: FleetWave\nmetadata: {name: eu}\n";
    scratch.write("hub/own.yaml", unknown);
    commit(&scratch.path(""));
    scratch.remove("hub/own.yaml");
    scratch
        .run(&["diff", "hub"])
        .exits(0)
        .says("this version of spokewright does not know the kind FleetWave")
        .says("HEAD:hub/own.yaml:2:7")
        .says("the base `HEAD` has 1 error");
}
