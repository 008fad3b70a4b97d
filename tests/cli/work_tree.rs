//! What the work tree of a machine has that the repository lacks, and the other way round: submodules, files in Git LFS,
//! paths that a sparse checkout leaves out. All commands refuse it on disk as in a revision.

use sha2::Digest as _;

use crate::repository::{commit, git, repository};
use crate::scratch::Scratch;

const CONFIG: &str =
    "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: rendered\n";
const COMMANDS: [&[&str]; 4] = [
    &["check"],
    &["render"],
    &["render", "--check"],
    &["diff", "--base", "HEAD~1"],
];

/// The worked example with a configuration, rendered and committed.
fn configured() -> Option<Scratch> {
    let scratch = repository()?;
    scratch.write("spokewright.yaml", CONFIG);
    scratch.run(&["render", "-q"]).exits(0);
    commit(&scratch.path(""));
    Some(scratch)
}

fn all_refuse(scratch: &Scratch, said: &str) {
    for command in COMMANDS {
        let run = scratch.run(command);
        run.exits(5);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(all.contains(said), "{command:?}: {said} is not in\n{all}");
    }
}

fn with_submodule(path: &str) -> Option<Scratch> {
    let scratch = configured()?;
    let other = Scratch::new();
    other.write(
        "more.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: gateways}\n",
    );
    let (root, url) = (scratch.path(""), other.path("").display().to_string());
    git(&other.path(""), &["init", "-q"]);
    commit(&other.path(""));
    git(&root, &["submodule", "--quiet", "add", &url, path]);
    commit(&root);
    Some(scratch)
}

#[test]
fn a_submodule_is_refused_on_disk_as_in_a_revision() {
    let Some(scratch) = with_submodule("hub/sub") else {
        return;
    };
    all_refuse(
        &scratch,
        "`hub/sub` is a submodule: its files are in another repository",
    );
    // A person may name it.
    scratch.run(&["check", "hub/sub"]).does_not_say("is a submodule");
    // It leaves the index, and then `.gitmodules`; the last commit still has it.
    git(&scratch.path(""), &["rm", "-q", "--cached", "hub/sub"]);
    scratch.remove(".gitmodules");
    scratch.run(&["render"]).exits(5).says("`hub/sub` is a submodule");
    // The other way round: only `.gitmodules` names it.
    git(
        &scratch.path(""),
        &["checkout", "-q", "HEAD", "--", ".gitmodules"],
    );
    std::fs::remove_dir_all(scratch.path("hub/sub/.git")).unwrap_or_else(|_| {
        scratch.remove("hub/sub/.git");
    });
    commit(&scratch.path(""));
    scratch.run(&["render"]).exits(5).says("`hub/sub` is a submodule");
    scratch.write("spokewright.yaml", &format!("{CONFIG}exclude: [/hub/sub/]\n"));
    scratch.run(&["render", "--check"]).exits(0);
}

#[test]
fn no_other_way_leads_into_a_submodule() {
    let Some(scratch) = with_submodule("sub") else {
        return;
    };
    scratch.run(&["check"]).exits(0);
    scratch.write("spokewright.yaml", &CONFIG.replace("[hub]", "[hub, sub]"));
    all_refuse(&scratch, "`sub` is a submodule");
    scratch.write(
        "spokewright.yaml",
        &CONFIG.replace("[hub]", "[hub, sub/more.yaml]"),
    );
    all_refuse(&scratch, "`sub/more.yaml` is a submodule");
    scratch.write("spokewright.yaml", &CONFIG.replace("[hub]", "[hub]\ncrds: [sub]"));
    all_refuse(&scratch, "`sub` is a submodule");
    #[cfg(unix)]
    {
        scratch.write(
            "spokewright.yaml",
            &CONFIG.replace("[hub]", "[.]\nexclude: [/sub/]"),
        );
        for (target, name) in [("../sub", "hub/x"), ("../sub/more.yaml", "hub/x.yaml")] {
            std::os::unix::fs::symlink(target, scratch.path(name)).expect("a link");
            all_refuse(&scratch, &format!("{name}` is a submodule"));
            scratch.remove(name);
        }
    }
}

#[test]
fn a_file_in_git_lfs_is_refused_on_disk_as_in_a_revision() {
    let Some(scratch) = configured() else { return };
    let path = "hub/limits.yaml";
    let content = scratch.read(path);
    let oid: String = sha2::Sha256::digest(&content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {}\n",
        content.len()
    );
    scratch
        .write(path, &pointer)
        .write(".gitattributes", "*.md filter=lfs\n");
    commit(&scratch.path(""));
    all_refuse(&scratch, "`hub/limits.yaml` is a Git LFS pointer");
    // What `git lfs pull` makes of it.
    scratch.write(path, &content);
    all_refuse(&scratch, "`hub/limits.yaml` is a Git LFS pointer");
    // An edit is one.
    scratch.raise_the_limit(path);
    scratch.run(&["check"]).exits(0);
}

#[test]
fn a_path_that_sparse_checkout_leaves_out_is_refused() {
    let Some(scratch) = configured() else { return };
    let root = scratch.path("");
    for path in [
        "hub/more/a.yaml",
        "docs/a.md",
        "spokes/eu-1/b.yaml",
        "hub/notes/a.md",
    ] {
        scratch.write(path, "# nothing\n");
    }
    commit(&root);
    scratch.run(&["render", "--check"]).exits(0);
    let sparse = |patterns: &[&str]| {
        let first = ["sparse-checkout", "set", "--no-cone"];
        git(&root, &[&first[..], patterns].concat());
    };
    sparse(&["/*", "!/docs/", "!/hub/notes/"]);
    scratch.run(&["render", "--check"]).exits(0);
    for (pattern, said) in [
        ("!/hub/limits.yaml", "hub/limits.yaml"),
        ("!/hub/more/", "hub/more"),
        ("!/spokes/", "spokes"),
        ("!/spokes/eu-1/", "spokes/eu-1"),
    ] {
        sparse(&["/*", pattern]);
        let said = format!("sparse checkout leaves `{said}` out of the work tree");
        if pattern == "!/spokes/eu-1/" {
            // Git removes the directory around it, too.
            std::fs::create_dir_all(scratch.path("spokes")).expect("a directory");
        }
        all_refuse(&scratch, &said);
    }
    sparse(&["/*", "!/hub/more/"]);
    scratch.write("spokewright.yaml", &format!("{CONFIG}exclude: [/hub/more/]\n"));
    scratch.run(&["render", "--check"]).exits(0);
    // An index may have such a directory as one entry.
    scratch.write("spokewright.yaml", CONFIG);
    git(
        &root,
        &[
            "sparse-checkout",
            "set",
            "--cone",
            "--sparse-index",
            "hub",
            "rendered",
        ],
    );
    all_refuse(&scratch, "sparse checkout leaves `spokes` out of the work tree");
    git(&root, &["sparse-checkout", "disable"]);
    scratch.run(&["render", "--check"]).exits(0);
}
