//! What is in an output besides what a run wrote, and outputs that would be among the files of others. A consumer applies
//! whatever it finds, and whoever writes a commit also writes the inventory and the configuration in it.

use crate::repository::{at_hand, commit, git};
use crate::scratch::{Run, Scratch, copy};

const CONFIG: &str =
    "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: rendered\n";
/// Where the output is pinned, or the configuration names it.
const COMMANDS: [&[&str]; 5] = [
    &["check"],
    &["render", "--check"],
    &["render", "--check", "-o", "rendered"],
    &["diff"],
    &["render"],
];

fn configured() -> Option<Scratch> {
    at_hand()?;
    let scratch = Scratch::with_worked_example();
    scratch.write("spokewright.yaml", CONFIG);
    scratch.run(&["render", "-q"]).exits(0);
    git(&scratch.path(""), &["init", "-q"]);
    commit(&scratch.path(""));
    Some(scratch)
}

fn all(scratch: &Scratch, status: i32, said: &str) {
    for command in COMMANDS {
        let run = scratch.run(command);
        run.exits(status);
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains(said), "{command:?}: {said} is not in\n{text}");
        let count = usize::from(status != 0);
        assert_eq!(text.matches("error[").count(), count, "{command:?}: {text}");
    }
}

/// Lists a file in the inventory, with its right hash.
fn forge(scratch: &Scratch, output: &str, path: &str) {
    use sha2::Digest as _;
    let content = std::fs::read(scratch.path(&format!("{output}/{path}"))).expect("a file");
    let digest: String = sha2::Sha256::digest(content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let inventory = format!("{output}/.spokewright-inventory");
    let listed = if scratch.exists(&inventory) {
        scratch.read(&inventory)
    } else {
        String::new()
    };
    scratch.write(&inventory, &format!("{listed}{digest}  {path}\n"));
}

#[test]
fn whatever_is_in_an_output_and_in_no_inventory_is_an_error() {
    let Some(scratch) = configured() else { return };
    all(&scratch, 0, "");
    for (path, named) in [
        (".argocd-source.yaml", None),
        (".argocd-source-eu-1.yaml", None),
        ("eu-1/.argocd-source.yaml", None),
        ("kustomization.yml", None),
        ("Kustomization", None),
        ("us-1/kustomization.yml", None),
        ("Chart.yaml", None),
        (".sourceignore", None),
        (".gitattributes", None),
        ("README.md", None),
        ("eu-1/more.yaml", None),
        ("new/kustomization.yaml", Some("new")),
        (".hidden/deep/x.yaml", Some(".hidden")),
        // An inventory of its own makes nothing ours, nor does a name like those of temporary files.
        ("new/.spokewright-inventory", Some("new")),
        (".spokewright-tmp-0123456789abcdef-1", None),
        (
            ".spokewright-tmp-0123456789abcdef-1/x.yaml",
            Some(".spokewright-tmp-0123456789abcdef-1"),
        ),
    ] {
        let whole = format!("rendered/{path}");
        scratch.write(&whole, "x: 1\n");
        let named = named.unwrap_or(path);
        let said = format!(
            "error[output/unexpected]: rendered/{named} is in the output, but spokewright did not write it"
        );
        all(&scratch, 5, &said);
        assert_eq!(scratch.read(&whole), "x: 1\n");
        // Whoever names the directory may have anything else in it.
        scratch.run(&["render", "-o", "rendered"]).exits(0);
        git(&scratch.path(""), &["clean", "-qfdx", "rendered"]);
    }
    // A line in the inventory makes nothing ours that we never write.
    for path in [
        ".argocd-source.yaml",
        "Chart.yaml",
        "new/x.yaml",
        "eu-1/deep/x.yaml",
    ] {
        let whole = format!("rendered/{path}");
        scratch.write(&whole, "x: 1\n");
        forge(&scratch, "rendered", path);
        for command in COMMANDS
            .iter()
            .chain(&[&["render", "-o", "rendered", "--force"][..]])
        {
            let run = scratch.run(command);
            run.exits(5);
            let text = format!("{}{}", run.stdout, run.stderr);
            assert!(
                text.contains("error[output/unexpected]"),
                "{command:?} {path}: {text}"
            );
            assert_eq!(scratch.read(&whole), "x: 1\n");
        }
        git(&scratch.path(""), &["clean", "-qfdx", "rendered"]);
        git(&scratch.path(""), &["checkout", "-q", "."]);
    }
    #[cfg(unix)]
    for name in ["us-9", "README.md"] {
        std::os::unix::fs::symlink("../hub", scratch.path(&format!("rendered/{name}"))).expect("a link");
        all(&scratch, 5, &format!("error[output/unexpected]: rendered/{name}"));
        scratch.remove(&format!("rendered/{name}"));
    }
    // Git has no empty directories.
    std::fs::create_dir_all(scratch.path("rendered/empty/deep")).expect("a directory");
    all(&scratch, 0, "");
}

/// A job that checks fetches no submodule, and has an empty directory; Argo CD does by default.
#[test]
fn a_submodule_in_an_output_is_an_error_though_its_directory_is_empty() {
    let Some(scratch) = configured() else { return };
    let root = scratch.path("");
    let commit = git(&root, &["rev-parse", "HEAD"]);
    for path in ["new", "eu-1/deep/new", "eu-1"] {
        let entry = format!("160000,{},rendered/{path}", commit.trim());
        if path == "eu-1" {
            git(&root, &["rm", "-qr", "--cached", "rendered/eu-1"]);
        } else {
            std::fs::create_dir_all(scratch.path(&format!("rendered/{path}"))).expect("a directory");
        }
        git(&root, &["update-index", "--add", "--cacheinfo", &entry]);
        let said = format!("error[output/unexpected]: `rendered/{path}` is a submodule in the output");
        all(&scratch, 5, &said);
        scratch.run(&["render", "-o", "-", "-q"]).exits(0);
        git(&root, &["reset", "-q", "--hard"]);
    }
    all(&scratch, 0, "");
}

/// What cannot be read may hide anything.
#[test]
fn an_output_that_cannot_be_read_is_an_error_of_whatever_looks_into_it() {
    let Some(scratch) = configured() else { return };
    let inventory = scratch.read("rendered/.spokewright-inventory");
    for forged in [
        format!("{inventory}x\n"),
        format!("{inventory}{}  ../x\n", "0".repeat(64)),
    ] {
        scratch.write("rendered/.spokewright-inventory", &forged);
        all(&scratch, 5, "error[output/inventory]");
    }
}

#[test]
fn the_output_of_the_base_is_looked_at_where_the_configuration_moves_it() {
    let Some(scratch) = configured() else { return };
    scratch.write("rendered/evil/x.yaml", "x: 1\n");
    scratch.edit("spokewright.yaml", "output: rendered", "output: gitops");
    scratch.run(&["render", "-q"]).exits(0);
    scratch
        .run(&["diff"])
        .exits(5)
        .says("error[output/unexpected]: rendered/evil ");
    scratch
        .run(&["render", "--check", "-o", "rendered"])
        .exits(5)
        .says("rendered/evil ");
}

#[test]
fn a_part_of_an_output_looks_at_its_part() {
    let Some(scratch) = configured() else { return };
    scratch.write("rendered/us-1/x.yaml", "x: 1\n");
    scratch.run(&["render", "--check", "--clusters", "eu-1"]).exits(0);
    scratch
        .run(&["render", "--check", "--clusters", "us-1"])
        .exits(5)
        .says("rendered/us-1/x.yaml");
    scratch.remove("rendered/us-1/x.yaml");
    scratch.write("rendered/new/x.yaml", "x: 1\n");
    let shards = ["1/3", "2/3", "3/3"].map(|shard| {
        let run = scratch.run(&["render", "--check", "--shard", shard]);
        run.stderr.contains("rendered/new ")
    });
    assert_eq!(shards.iter().filter(|found| **found).count(), 1, "{shards:?}");
}

#[test]
fn exceptions_are_files_and_those_that_a_change_adds_are_told_first() {
    let Some(scratch) = configured() else { return };
    let excepted = |files: &str| format!("{CONFIG}outputExceptions: [{files}]\n");
    scratch
        .write("rendered/README.md", "mine\n")
        .write("rendered/docs/a.md", "mine\n");
    scratch.write("spokewright.yaml", &excepted("README.md, docs/a.md"));
    for command in &COMMANDS[..3] {
        scratch.run(command).exits(0);
    }
    // Nothing else differs, and still it is a difference, in every form.
    let said = "outputExceptions: added [\"README.md\", \"docs/a.md\"";
    for form in ["text", "semantic"] {
        let run = scratch.run(&["diff", "-o", form]);
        assert!(run.exits(1).stdout.contains(said), "{form}: {}", run.stdout);
    }
    let json = scratch.run(&["diff", "-o", "json"]);
    assert!(
        json.exits(1).stdout.contains("\"outputExceptions\""),
        "{}",
        json.stdout
    );
    let comment = scratch.run(&["diff", "-o", "markdown"]).stdout;
    let first: Vec<&str> = comment.lines().take(8).collect();
    let line = format!("- configuration: <code>{}]</code>", said.replace('[', "&#91;"));
    assert_eq!(
        first[5..],
        ["**Changes how it is judged**", "", &line],
        "{comment}"
    );
    // However many there are, they push nothing out of the comment.
    let many: Vec<String> = (0..5000)
        .map(|number| format!("{number}{}", "x".repeat(200)))
        .collect();
    scratch.write(
        "spokewright.yaml",
        &excepted(&format!("README.md, docs/a.md, {}", many.join(", "))),
    );
    let comment = scratch.run(&["diff", "-o", "markdown"]).stdout;
    assert!(comment.contains(&said.replace('[', "&#91;")), "{comment}");
    assert!(
        comment.len() < 1000 && comment.contains("xx...</code>"),
        "{comment}"
    );
    scratch.write("spokewright.yaml", &excepted("README.md, docs/a.md"));
    commit(&scratch.path(""));
    all(&scratch, 0, "");
    // A directory is no file, and neither is a link.
    scratch
        .remove("rendered/README.md")
        .write("rendered/README.md/x.yaml", "x: 1\n");
    all(&scratch, 5, "error[output/unexpected]: rendered/README.md ");
    std::fs::remove_dir_all(scratch.path("rendered/README.md")).expect("a directory");
    scratch.write("rendered/docs/x.yaml", "x: 1\n");
    all(&scratch, 5, "error[output/unexpected]: rendered/docs/x.yaml ");
}

/// A fleet in a directory of its repository, whose output is below it, and another fleet beside it.
fn fleets() -> Option<Scratch> {
    at_hand()?;
    let scratch = Scratch::with_worked_example();
    for fleet in ["fleet", "other"] {
        copy(&scratch.path("hub"), &scratch.path(&format!("{fleet}/hub")));
        scratch.write(&format!("{fleet}/spokewright.yaml"), CONFIG);
        run_in(&scratch, fleet, &["render", "-q"]).exits(0);
    }
    scratch.write(".github/CODEOWNERS", "* @owners\n");
    scratch.write(".github/workflows/gateway-rbac.yaml", "name: ci\n");
    git(&scratch.path(""), &["init", "-q"]);
    commit(&scratch.path(""));
    Some(scratch)
}

fn run_in(scratch: &Scratch, directory: &str, arguments: &[&str]) -> Run {
    crate::repository::run_in(scratch, directory, arguments)
}

#[test]
fn no_inventory_and_no_configuration_of_a_commit_make_files_of_others_ours() {
    let Some(scratch) = fleets() else { return };
    for path in ["CODEOWNERS", "workflows/gateway-rbac.yaml"] {
        forge(&scratch, ".github", path);
    }
    // A cluster whose works would lie where the workflows do.
    scratch.edit(
        "fleet/hub/decisions.yaml",
        "{clusterName: us-1",
        "{clusterName: workflows",
    );
    for output in ["../.github", "../other/rendered", "../new", ".."] {
        scratch.edit(
            "fleet/spokewright.yaml",
            "output: rendered",
            &format!("output: {output}"),
        );
        let before = (scratch.tree(".github"), scratch.tree("other"));
        for command in [
            &["render"][..],
            &["render", "--force"],
            &["check"],
            &["diff"],
            &["render", "--check"],
        ] {
            run_in(&scratch, "fleet", command).exits(5);
        }
        let run = run_in(&scratch, "fleet", &["render"]);
        run.says(&format!(
            "error[output/outside]: the output `{output}` is outside the directory of its configuration, and new there"
        ))
        .says(&format!("pass it on the command line: `-o {output}`"));
        // Once it is committed, the base of a pull request still lacks it, and no file becomes ours.
        commit(&scratch.path(""));
        let diff = run_in(&scratch, "fleet", &["diff", "--base", "HEAD~1"]);
        diff.exits(5).says("error[output/outside]");
        if output == "../.github" {
            for command in [
                &["render"][..],
                &["render", "--force"],
                &["render", "-o", output, "--force"],
            ] {
                run_in(&scratch, "fleet", command)
                    .exits(5)
                    .says("error[output/unexpected]: ../.github/CODEOWNERS");
            }
        }
        assert_eq!(
            (scratch.tree(".github"), scratch.tree("other")),
            before,
            "{output}"
        );
        scratch.edit(
            "fleet/spokewright.yaml",
            &format!("output: {output}"),
            "output: rendered",
        );
        commit(&scratch.path(""));
    }
}

#[test]
fn a_wanted_file_is_not_written_over_one_that_only_an_inventory_calls_ours() {
    let Some(scratch) = configured() else { return };
    let path = "rendered/eu-1/gateway-rbac.yaml";
    scratch.write(path, "name: ci\n");
    forge(&scratch, "rendered", "eu-1/gateway-rbac.yaml");
    for command in [&["render"][..], &["render", "-o", "rendered"]] {
        scratch
            .run(command)
            .exits(5)
            .says("error[output/foreign]: rendered/eu-1/gateway-rbac.yaml");
        assert_eq!(scratch.read(path), "name: ci\n");
    }
}

#[test]
fn an_output_beside_its_configuration_goes_on_where_the_base_names_it() {
    let Some(scratch) = fleets() else { return };
    scratch.edit("fleet/spokewright.yaml", "output: rendered", "output: ../beside");
    run_in(&scratch, "fleet", &["render"]).exits(5);
    run_in(&scratch, "fleet", &["render", "-o", "../beside"]).exits(0);
    commit(&scratch.path(""));
    for command in [&["render"][..], &["render", "--check"], &["check"], &["diff"]] {
        run_in(&scratch, "fleet", command).exits(0);
    }
    scratch.run(&["check", "fleet"]).exits(0);
}
