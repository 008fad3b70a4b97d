//! Nothing outside is read or written because a file of the input says so (docs/threat-model.md).

use std::fs;
use std::os::unix::fs::symlink;

use crate::scratch::{Run, Scratch};

const HEAD: &str = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n";

const SECRET: &str = "hunter2-of-somebody-else";

/// A hub in a repository, with a configuration, and something of somebody else beside it.
fn place(config: &str) -> Scratch {
    let scratch = Scratch::new();
    crate::scratch::copy(
        &crate::scratch::fixtures().join("worked-example/hub"),
        &scratch.path("repository/hub"),
    );
    fs::create_dir(scratch.path("repository/.git")).expect("a directory");
    scratch
        .write(
            "repository/spokewright.yaml",
            &format!("{HEAD}hub: [hub]\n{config}"),
        )
        .write("victim/file", SECRET);
    scratch
}

fn link(scratch: &Scratch, target: &str, name: &str) {
    let path = scratch.path(name);
    if let Ok(metadata) = path.symlink_metadata() {
        if metadata.is_dir() {
            fs::remove_dir_all(&path).expect("removed");
        } else {
            fs::remove_file(&path).expect("removed");
        }
    }
    symlink(target, path).expect("a link");
}

#[track_caller]
fn keeps_the_secret(run: &Run) {
    assert!(!run.stdout.contains(SECRET), "{}", run.stdout);
    assert!(!run.stderr.contains(SECRET), "{}", run.stderr);
}

#[test]
fn a_rendered_tree_is_read_through_no_link_whatever_its_inventory_lists() {
    let digest = "0".repeat(64);
    for (target, name) in [
        ("../../victim", "x"),
        ("../../victim/file", "file"),
        ("eu-1", "inside"),
    ] {
        let scratch = place("");
        scratch.run(&["render", "repository", "-q"]).exits(0);
        link(&scratch, target, &format!("repository/rendered/{name}"));
        let listed = match name {
            "x" => "x/file",
            "inside" => "inside/gateway-rbac.yaml",
            file => file,
        };
        let inventory = scratch.read("repository/rendered/.spokewright-inventory");
        scratch.write(
            "repository/rendered/.spokewright-inventory",
            &format!("{inventory}{digest}  {listed}\n"),
        );
        for format in ["human", "json", "markdown", "semantic"] {
            let base = "repository/rendered";
            let run = scratch.run(&["diff", "repository", "--base-tree", base, "--format", format]);
            run.exits(5);
            keeps_the_secret(&run);
        }
        let base = ["diff", "repository", "--base-tree", "repository/rendered"];
        scratch
            .run(&base)
            .says("error[output/symlink]")
            .says(&format!("repository/rendered/{name} is a symbolic link"))
            .says(&format!("remove the link: `rm repository/rendered/{name}`"));
        // Rendering reads it, too, and removes nothing behind it.
        for arguments in [
            &["render", "repository"][..],
            &["render", "repository", "--force"],
        ] {
            keeps_the_secret(&scratch.run(arguments));
        }
        assert_eq!(scratch.read("victim/file"), SECRET);
    }
}

#[test]
fn an_output_outside_of_the_repository_is_said_on_the_command_line_or_not_at_all() {
    for output in ["../elsewhere", "out/deep", "hub/../../elsewhere", "/tmp/../"] {
        let scratch = place(&format!("output: {output}\n"));
        link(&scratch, "../victim", "repository/out");
        for command in [
            &["render", "repository"][..],
            &["render", "repository", "--check"],
            &["check", "repository"],
        ] {
            let run = scratch.run(command);
            run.exits(5);
            let text = format!("{}{}", run.stdout, run.stderr);
            assert!(text.contains("error[output/outside]"), "{output}: {text}");
            assert!(
                text.contains("--> repository/spokewright.yaml:4:9"),
                "{output}: {text}"
            );
            assert!(
                text.contains("pass it on the command line: `-o "),
                "{output}: {text}"
            );
        }
        assert!(
            !scratch.exists("elsewhere") && !scratch.exists("victim/deep"),
            "{output}"
        );
    }
    let scratch = place("output: ../elsewhere\n");
    scratch
        .run(&["render", "repository", "-q", "-o", "elsewhere"])
        .exits(0);
    assert!(scratch.exists("elsewhere/eu-1/kustomization.yaml"));
}

#[test]
fn an_output_behind_a_link_inside_of_the_repository_is_one() {
    let scratch = place("output: out/rendered\n");
    fs::create_dir(scratch.path("repository/real")).expect("a directory");
    link(&scratch, "real", "repository/out");
    scratch.run(&["render", "repository", "-q"]).exits(0);
    assert!(scratch.exists("repository/real/rendered/eu-1/kustomization.yaml"));
    scratch.run(&["render", "repository", "--check", "-q"]).exits(0);
}

#[test]
fn without_a_repository_the_directory_of_the_configuration_is_the_limit() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "there/spokewright.yaml",
        &format!("{HEAD}hub: [../hub]\noutput: ../rendered\n"),
    );
    let run = scratch.run(&["render", "there"]);
    run.exits(5)
        .says("error[output/outside]")
        .says("there/spokewright.yaml:4:9");
    assert!(!scratch.exists("rendered"));
}

#[test]
fn nothing_is_written_below_a_git_directory_whoever_says_so() {
    for output in [
        ".git",
        ".git/hooks",
        "hub/../.git/hooks",
        ".GIT/hooks",
        "out/hooks",
        "nested/.git/x",
    ] {
        let scratch = place(&format!("output: {output}\n"));
        link(&scratch, ".git", "repository/out");
        let run = scratch.run(&["render", "repository"]);
        run.exits(5).says("error[output/outside]").says("is in `.git`");
        run.says("repository/spokewright.yaml:4:9")
            .says("such as `rendered`");
        let named = format!("repository/{output}");
        scratch
            .run(&["render", "repository", "-o", &named])
            .exits(5)
            .says("error[output/outside]")
            .says(&format!("--> {named}"));
        assert_eq!(scratch.tree("repository/.git").len(), 0, "{output}");
        assert!(!scratch.exists("repository/nested") && !scratch.exists("repository/.GIT"));
    }
    let scratch = fleet();
    fs::create_dir(scratch.path("fleet/.git")).expect("a directory");
    scratch
        .run(&["placement", "fleet", "-q", "--write", "fleet/.git/hooks"])
        .exits(5)
        .says("error[output/outside]")
        .says("such as `rendered`");
    assert_eq!(scratch.tree("fleet/.git").len(), 0);
}

/// The example, whose Placements can be decided.
fn fleet() -> Scratch {
    let scratch = Scratch::new();
    crate::scratch::copy(
        &crate::scratch::fixtures().join("../examples/fleet"),
        &scratch.path("fleet"),
    );
    for file in ["payments", "shop"] {
        let path = format!("fleet/hub/{file}/placement.yaml");
        let text = scratch.read(&path);
        let (placement, _) = text.split_once("\n---\n").expect("decisions");
        scratch.write(&path, &format!("{placement}\n"));
    }
    scratch
}

#[test]
fn decisions_are_written_through_no_link() {
    for (target, name, said) in [
        (
            "../../victim",
            "fleet/dec/shop",
            "fleet/dec/shop is a symbolic link",
        ),
        (
            "../../victim/file",
            "fleet/dec/shop/everywhere.yaml",
            "everywhere.yaml is a symbolic link",
        ),
        ("../victim", "fleet/dec", "fleet/dec is a symbolic link"),
    ] {
        let scratch = fleet();
        scratch.write("victim/file", SECRET);
        fs::create_dir_all(scratch.path(name).parent().expect("a parent")).expect("directories");
        link(&scratch, target, name);
        let before = scratch.tree("victim");
        scratch
            .run(&["placement", "fleet", "-q", "--write", "fleet/dec"])
            .exits(5)
            .says("error[output/symlink]")
            .says(said)
            .says("`rm fleet/dec");
        assert_eq!(scratch.tree("victim"), before, "{name}");
    }
}

#[test]
fn a_report_is_written_over_no_link_and_into_no_git_directory() {
    let scratch = place("");
    fs::create_dir_all(scratch.path("repository/.git/hooks")).expect("directories");
    link(&scratch, "../victim/file", "repository/report.json");
    let report = |path: &str| scratch.run(&["render", "repository", "-q", "--report", path]);
    report("repository/report.json")
        .exits(5)
        .says("error[output/symlink]")
        .says("`rm repository/report.json`");
    report("repository/.git/hooks/pre-commit")
        .exits(5)
        .says("error[output/outside]");
    report("nowhere/report.json")
        .exits(5)
        .says("error[output/unwritable]");
    assert_eq!(scratch.read("victim/file"), SECRET);
    assert_eq!(scratch.tree("repository/.git").len(), 0);
    assert!(!scratch.exists("repository/rendered"), "nothing was written");
    report("repository/new.json").exits(0);
    assert!(scratch.read("repository/new.json").starts_with('{'));
    let piped = report("/dev/stdout");
    assert!(piped.exits(0).stdout.starts_with('{'));
}

/// What cannot be written is never a difference: 1 is what a comparison found, and its file is there.
#[test]
fn differences_are_written_as_a_report_is_or_the_status_is_that_of_an_error() {
    let scratch = place("");
    crate::scratch::copy(&scratch.path("repository/hub"), &scratch.path("other/hub"));
    scratch.write("repository/directory.md/kept", "");
    fs::create_dir_all(scratch.path("repository/.git/hooks")).expect("directories");
    link(&scratch, "../victim/file", "repository/link.md");
    link(&scratch, "../victim/new", "repository/dangling.md");
    link(&scratch, "../victim", "repository/elsewhere.md");
    let diff = |file: &str| {
        let base = ["diff", "repository/hub", "--base-dir", "other/hub"];
        scratch.run(&[&base[..], &["--output-file", file]].concat())
    };
    let same = scratch.run(&["diff", "repository/hub", "--base-dir", "other/hub"]);
    same.exits(0);
    let refused = || {
        for (file, code) in [
            ("repository/directory.md", "output/"),
            ("repository/link.md", "output/symlink"),
            ("repository/dangling.md", "output/symlink"),
            ("repository/elsewhere.md", "output/symlink"),
            ("repository/.git/hooks/pre-commit", "output/outside"),
            ("nowhere/diff.md", "output/unwritable"),
        ] {
            let run = diff(file);
            run.exits(5).says(&format!("error[{code}"));
            assert_eq!(run.stdout, "", "{file}");
        }
        // What else is written counts as well.
        let base = ["diff", "repository/hub", "--base-dir", "other/hub"];
        let run = scratch.run(&[&base[..], &["--also", "json=repository/directory.md"]].concat());
        run.exits(5);
    };
    // Without a difference, and with one.
    refused();
    diff("repository/diff.md").exits(0);
    assert_eq!(scratch.read("repository/diff.md"), same.stdout);
    scratch.raise_the_limit("repository/hub/limits.yaml");
    refused();
    let told = scratch.run(&["diff", "repository/hub", "--base-dir", "other/hub"]);
    told.exits(1);
    assert_eq!(diff("repository/diff.md").exits(1).stdout, "");
    assert_eq!(scratch.read("repository/diff.md"), told.stdout);
    assert_eq!(diff("-").exits(1).stdout, told.stdout);
    assert_eq!(scratch.read("victim/file"), SECRET);
    assert!(!scratch.exists("victim/new"));
    assert_eq!(scratch.tree("repository/.git").len(), 0);
}

#[test]
fn a_configuration_that_is_a_link_stays_in_the_repository() {
    let scratch = place("");
    scratch.write(
        "repository/shared/common.yaml",
        &format!("{HEAD}hub: [hub]\noutput: from-a-link\n"),
    );
    link(&scratch, "shared/common.yaml", "repository/spokewright.yaml");
    scratch.run(&["render", "repository", "-q"]).exits(0);
    assert!(scratch.exists("repository/from-a-link"));

    link(&scratch, "../victim/file", "repository/spokewright.yaml");
    for command in ["check", "render", "policies"] {
        let run = scratch.run(&[command, "repository"]);
        run.exits(5);
        let text = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(text.matches("error[input/outside]").count(), 1, "{text}");
        assert!(text.contains("--> repository/spokewright.yaml"), "{text}");
        assert!(
            text.contains("replace the link with a copy of the file"),
            "{text}"
        );
        keeps_the_secret(&run);
    }
    // Whoever names a configuration may name any.
    scratch.write("victim/config.yaml", &format!("{HEAD}findings: {{}}\n"));
    scratch
        .run(&["check", "repository/hub", "--config", "victim/config.yaml", "-q"])
        .exits(0);

    link(&scratch, "nowhere", "repository/spokewright.yaml");
    let run = scratch.run(&["check", "repository"]);
    run.exits(5);
    assert!(run.stdout.contains("has no target"), "{}", run.stdout);
}

#[test]
fn the_configuration_names_no_input_outside_of_the_repository_and_the_command_line_may() {
    let scratch = place("");
    scratch.write("outside/a.yaml", "kind: Gateway\nnote: [kept\n");
    let config = scratch.read("repository/spokewright.yaml");
    for inputs in [
        "hub: [hub, ../outside]",
        "hub: [hub]\nspokes: ../outside",
        "hub: [hub]\ncrds: [../outside]",
    ] {
        scratch.write(
            "repository/spokewright.yaml",
            &config.replace("hub: [hub]", inputs),
        );
        let run = Run::of(
            scratch
                .command(&["check"])
                .current_dir(scratch.path("repository")),
        );
        run.exits(5);
        let found =
            "error[input/outside]: the configuration names `../outside`, which is outside the repository";
        assert!(run.stdout.contains(found), "{inputs}\n{}", run.stdout);
        assert!(
            run.stdout
                .contains("= help: name it on the command line, or move it into the repository")
        );
        assert!(!run.stdout.contains("kept"), "{}", run.stdout);
    }
    scratch.write("repository/spokewright.yaml", &config);
    let named = ["check", "hub", "../outside"];
    let run = Run::of(scratch.command(&named).current_dir(scratch.path("repository")));
    assert!(run.stdout.contains("yaml/syntax"), "{}", run.stdout);
}
