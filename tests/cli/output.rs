//! The output tree: what is written, kept, refused and removed (docs/reference/output.md).

#[cfg(unix)]
use std::fs;

use crate::scratch::{Scratch, copy};

const RENDER: [&str; 4] = ["render", "hub", "-o", "rendered"];

fn rendered() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    scratch
}

#[test]
fn check_finds_a_difference_and_writes_nothing() {
    let scratch = rendered();
    let before = scratch.tree("rendered");
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    let run = scratch.run(&["render", "hub", "-o", "rendered", "--check"]);
    run.exits(1)
        .says("eu-1/gateway-gateways-prod-web.yaml")
        .says("run the same without `--check` to write");
    assert_eq!(scratch.tree("rendered"), before);
}

#[test]
fn a_cluster_that_leaves_is_pruned_and_a_foreign_file_stays() {
    let scratch = rendered();
    scratch
        .write("rendered/us-1/OWNERS", "me")
        .write("rendered/README.md", "mine");
    scratch.edit("hub/decisions.yaml", ", {clusterName: us-1, reason: \"\"}", "");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(0)
        .says("1 cluster; 1 Gateway; 1 policy: 1 RateLimitPolicy; 2 works into rendered (2 files written, 3 unchanged, 3 deleted)");
    assert!(scratch.exists("rendered/us-1/OWNERS"));
    assert!(scratch.exists("rendered/README.md"));
    assert!(!scratch.exists("rendered/us-1/kustomization.yaml"));
    scratch.remove("rendered/us-1/OWNERS");
}

#[test]
fn an_emptied_directory_goes() {
    let scratch = rendered();
    scratch.edit("hub/decisions.yaml", ", {clusterName: us-1, reason: \"\"}", "");
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert!(!scratch.exists("rendered/us-1"));
}

#[test]
fn a_file_edited_by_hand_stops_the_run_unless_forced() {
    let scratch = rendered();
    let path = "rendered/eu-1/gateway-gateways-prod-web.yaml";
    scratch.edit(path, "port: 443", "port: 444");
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(5)
        .says("eu-1/gateway-gateways-prod-web.yaml")
        .says("--force")
        .says("error[output/edited]");
    assert!(scratch.read(path).contains("port: 444"), "nothing was written");
    assert!(
        !scratch
            .read("rendered/us-1/gateway-gateways-prod-web.yaml")
            .contains("8443")
    );
    scratch
        .run(&["render", "hub", "-o", "rendered", "--force"])
        .exits(0);
    assert!(scratch.read(path).contains("port: 8443"));
}

#[test]
fn a_foreign_file_in_our_way_stops_the_run() {
    let scratch = Scratch::with_worked_example();
    scratch.write("rendered/eu-1/gateway-rbac.yaml", "mine\n");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(5)
        .says("error[output/foreign]");
    assert_eq!(scratch.tree("rendered").len(), 1, "nothing was written");
}

#[test]
fn an_output_that_is_a_file_is_refused() {
    let scratch = Scratch::with_worked_example();
    scratch.write("rendered", "a file\n");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(5)
        .says("error[output/not-a-directory]");
    assert_eq!(scratch.read("rendered"), "a file\n");
}

#[cfg(unix)]
#[test]
fn an_output_that_is_a_link_elsewhere_is_refused() {
    let scratch = Scratch::with_worked_example();
    fs::create_dir(scratch.path("elsewhere")).expect("a directory");
    std::os::unix::fs::symlink(scratch.path("elsewhere"), scratch.path("rendered")).expect("a link");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(5)
        .says("error[output/symlink]");
    assert!(scratch.tree("elsewhere").is_empty());
}

#[test]
fn an_output_inside_the_input_is_refused() {
    let scratch = Scratch::with_worked_example();
    scratch
        .run(&["render", "hub", "-o", "hub/out"])
        .exits(5)
        .says("error[output/overlaps-input]");
    assert!(!scratch.exists("hub/out"));
    scratch
        .run(&["render", "hub", "-o", "hub"])
        .exits(5)
        .says("error[output/overlaps-input]");
    scratch
        .run(&["render", "hub", "-o", "."])
        .exits(5)
        .says("error[output/overlaps-input]");
}

#[test]
fn the_configured_output_may_lie_inside_the_input_and_is_never_read() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\noutput: works\n",
    );
    scratch.run(&["render", "hub"]).exits(0);
    assert!(scratch.exists("hub/works/eu-1/gateway-rbac.yaml"));
    scratch.run(&["render", "hub"]).exits(0).says("0 files written");
}

#[test]
fn an_interrupted_run_is_completed_by_the_next() {
    // What a run leaves that was killed after its plan and before its last file.
    let scratch = rendered();
    let inventory = scratch.read("rendered/.spokewright-inventory");
    scratch.write("rendered/.spokewright-inventory.next", &inventory);
    scratch
        .remove("rendered/.spokewright-inventory")
        .remove("rendered/eu-1/gateway-rbac.yaml");
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert!(scratch.exists("rendered/eu-1/gateway-rbac.yaml"));
    assert!(!scratch.exists("rendered/.spokewright-inventory.next"));
    scratch
        .run(&["render", "hub", "-o", "rendered", "--check"])
        .exits(0);
}

#[test]
fn errors_leave_the_old_tree_untouched() {
    let scratch = rendered();
    let before = scratch.tree("rendered");
    scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-wep");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(3)
        .says("nothing was written");
    assert_eq!(scratch.tree("rendered"), before);
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_names_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::with_worked_example();
    fs::create_dir(scratch.path("locked")).expect("a directory");
    fs::set_permissions(scratch.path("locked"), fs::Permissions::from_mode(0o555)).expect("permissions");
    let run = scratch.run(&["render", "hub", "-o", "locked/rendered"]);
    // Root may write anywhere.
    if run.status != 0 {
        run.exits(5).says("locked");
    }
    fs::set_permissions(scratch.path("locked"), fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn kubectl_kustomize_reads_every_directory() {
    let scratch = rendered();
    for directory in ["rendered", "rendered/eu-1", "rendered/us-1"] {
        // A tree of trees: kustomize follows the directories that the root lists.
        let built = std::process::Command::new("kubectl")
            .args(["kustomize", directory])
            .current_dir(scratch.path(""))
            .output();
        match built {
            Ok(output) => assert!(output.status.success(), "{directory}: {output:?}"),
            Err(error) => eprintln!("skipped: kubectl does not run here: {error}"),
        }
    }
}

/// `kubectl apply -f -` goes by this order, and so does a kustomization with `sortOptions: {order: fifo}` by the lists
/// (docs/systems/gitops.md#kubectl).
#[test]
fn one_pass_over_a_stream_or_the_lists_meets_hub_objects_then_rights_then_works() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhubObjects: Annotated\n",
    );
    // Bytes alone would put this cluster before `_hub`, and this Gateway before the rights.
    scratch.edit("hub/decisions.yaml", "{clusterName: us-1", "{clusterName: 10-us");
    let run = scratch.run(&["render", "hub", "-o", "-"]);
    run.exits(0);
    let objects = kube_yaml::read_all(&run.stdout, &kube_yaml::Limits::default()).expect("YAML");
    let called = |object: &kube_json::Value| {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(|text| text.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        format!(
            "{} {}/{}",
            text("/kind"),
            text("/metadata/namespace"),
            text("/metadata/name")
        )
    };
    assert_eq!(
        objects.iter().map(called).collect::<Vec<_>>(),
        [
            "Gateway gateways/prod-web",
            "RateLimitPolicy gateways/global",
            "ManifestWork 10-us/gateway-rbac",
            "ManifestWork 10-us/gateway-gateways-prod-web",
            "ManifestWork eu-1/gateway-rbac",
            "ManifestWork eu-1/gateway-gateways-prod-web",
        ]
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let listed = |path: &str| {
        let text = scratch.read(path);
        let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(listed("rendered/kustomization.yaml"), ["_hub", "10-us", "eu-1"]);
    assert_eq!(
        listed("rendered/eu-1/kustomization.yaml"),
        ["gateway-rbac.yaml", "gateway-gateways-prod-web.yaml"]
    );
    let arguments = ["render", "hub", "-o", "sets", "--work-kind", "replica-set"];
    scratch.run(&arguments).exits(0);
    assert_eq!(listed("sets/kustomization.yaml"), ["_hub", "_replica-sets"]);
    assert_eq!(
        listed("sets/_replica-sets/gateways/kustomization.yaml"),
        ["gateway-rbac.yaml", "gateway-gateways-prod-web.yaml"]
    );
}

/// `kubectl apply -R` goes by file names.
#[test]
fn the_namespaces_of_the_example_sort_before_what_lives_in_them() {
    let hub = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet/hub");
    let mut names: Vec<_> = std::fs::read_dir(hub)
        .expect("the example")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    let first = std::fs::read_to_string(&names[0]).expect("a file");
    assert_eq!(first.matches("kind: Namespace\n").count(), 3, "{first}");
}

/// Whoever moves the output leaves behind a tree that Argo CD or Flux goes on applying, and that no run looks at.
#[test]
fn a_tree_that_is_no_longer_the_output_is_reported_and_does_not_pass_where_the_output_is_pinned() {
    let scratch = Scratch::with_worked_example();
    scratch.write("spokewright.yaml", CONFIG);
    scratch.run(&["render"]).exits(0);
    scratch.run(&["check"]).does_not_say("output/elsewhere");
    let mut works = scratch.tree("rendered").into_iter().map(|(path, _)| path);
    let work = works
        .find(|path| path.ends_with("gateway-rbac.yaml"))
        .expect("a work");
    let mut text = scratch.read(&format!("rendered/{work}"));
    text.push_str("# by hand\n");
    scratch.write(&format!("rendered/{work}"), &text);
    scratch.edit("spokewright.yaml", "output: rendered", "output: rendered2");
    scratch.run(&["render"]).exits(0);
    scratch.run(&["render", "--check"]).exits(0);
    scratch
        .run(&["render", "--check", "-o", "rendered"])
        .exits(5)
        .says(&work);
    let run = scratch.run(&["check"]);
    let found = "warning[output/elsewhere]: `rendered` is an output tree that this configuration does not write, so it is not read";
    assert!(run.stdout.contains(found), "{}", run.stdout);
    assert!(
        run.stdout
            .contains("= help: delete it, or list it under `exclude`"),
        "{}",
        run.stdout
    );
    scratch.run(&["check", "--deny", "warnings"]).exits(5);
    scratch.write(
        "spokewright.yaml",
        &format!("{}exclude: [/rendered/]\n", scratch.read("spokewright.yaml")),
    );
    assert!(!scratch.run(&["check"]).stdout.contains("output/elsewhere"));
}

#[test]
fn the_output_of_another_configuration_is_its_own_affair() {
    let scratch = Scratch::with_worked_example();
    scratch.write("spokewright.yaml", CONFIG);
    for path in ["team/spokewright.yaml", "team/rendered/.spokewright-inventory"] {
        scratch.write(path, CONFIG);
    }
    for path in [
        ".cache/old/.spokewright-inventory",
        "ignored/.spokewright-inventory",
    ] {
        scratch.write(path, "line\n");
    }
    scratch.write(".gitignore", "ignored\n");
    assert!(!scratch.run(&["check"]).stdout.contains("output/elsewhere"));
    scratch.remove("team/spokewright.yaml");
    assert!(
        scratch
            .run(&["check"])
            .stdout
            .contains("`team/rendered` is an output tree")
    );
    // What somebody named as input is read, whatever it holds.
    scratch.remove("team/rendered/.spokewright-inventory");
    scratch.write("hub/.spokewright-inventory", "line\n");
    assert!(!scratch.run(&["check"]).stdout.contains("output/elsewhere"));
}

#[test]
fn an_inventory_that_lists_nothing_hides_nothing_and_any_other_is_reported() {
    let scratch = Scratch::with_worked_example();
    scratch.write("spokewright.yaml", CONFIG);
    scratch.write("hub/more/class.yaml", &scratch.read("hub/gateway.yaml"));
    let whole = scratch.run(&["check"]).stdout;
    for nothing in ["", "\n\n"] {
        scratch.write("hub/more/.spokewright-inventory", nothing);
        assert_eq!(scratch.run(&["check"]).stdout, whole);
    }
    scratch.write("hub/more/.spokewright-inventory", "0 *limits.yaml\n");
    assert!(whole.contains("object/duplicate"), "{whole}");
    {
        let run = scratch.run(&["check", "."]);
        let said = run.stdout + &run.stderr;
        assert!(
            said.contains("warning[output/elsewhere]: `hub/more` is an output tree"),
            "{said}"
        );
        assert!(
            said.contains("if it is input, delete its `.spokewright-inventory`"),
            "{said}"
        );
    }
}

const CONFIG: &str =
    "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: rendered\n";

#[test]
fn a_second_run_waits_for_the_first_and_says_so_or_fails_if_it_shall_not_wait() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&RENDER).exits(0);
    scratch.raise_the_limit("hub/limits.yaml");
    let lock = std::fs::File::open(scratch.path("rendered")).expect("a directory");
    lock.lock().expect("nobody else is here");
    scratch
        .run(&["render", "hub", "-o", "rendered", "--no-wait"])
        .exits(5)
        .says("error[output/busy]: another run is writing into ")
        .says("= help: try again later, or remove `--no-wait` to wait");
    let mut waiting = scratch
        .command(&RENDER)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a process");
    let said = std::io::BufReader::new(waiting.stderr.take().expect("a pipe"));
    let mut lines = std::io::BufRead::lines(said).map(|line| line.expect("text"));
    assert!(lines.any(|line| line.starts_with("waiting: another run is writing into ")));
    assert!(waiting.try_wait().expect("a status").is_none(), "it waits");
    drop(lock);
    assert!(lines.any(|line| line.contains("(3 files written, ")));
    assert!(waiting.wait().expect("a status").success());
}

/// The issue of two hooks at once: both ended well, and left what the next run refused.
#[test]
fn of_two_runs_at_once_each_leaves_a_tree_that_the_next_one_knows() {
    for round in 0..6 {
        let scratch = Scratch::with_worked_example();
        copy(&scratch.path("hub"), &scratch.path("other"));
        scratch.raise_the_limit("other/limits.yaml");
        let spawn = |input: &str| {
            let mut command = scratch.command(&["render", input, "-o", "rendered", "-q"]);
            command.spawn().expect("a process")
        };
        let runs = [spawn("hub"), spawn("other"), spawn("hub")];
        for mut run in runs {
            assert!(run.wait().expect("a status").success(), "round {round}");
        }
        scratch.run(&RENDER).exits(0);
        scratch
            .run(&["render", "hub", "-o", "rendered", "--check"])
            .exits(0);
    }
}
