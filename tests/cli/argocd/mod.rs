//! Argo CD's plugin contract, re-enacted point by point (docs/systems/gitops.md#argo-cd).

mod examples;
mod links;
mod sidecar;

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::scratch::{Run, Scratch, copy, fixtures};
use sidecar::{Checkout, binary, generated, set_modes};

/// A repository with an Application in `apps/fleet` and another directory beside it.
fn repository() -> Scratch {
    let scratch = Scratch::new();
    copy(
        &fixtures().join("../examples/fleet"),
        &scratch.path("repository/apps/fleet"),
    );
    copy(
        &fixtures().join("worked-example/hub"),
        &scratch.path("repository/other/hub"),
    );
    // What a checkout holds besides.
    scratch.write("repository/README.md", "# A repository\n");
    scratch.write("repository/.git/HEAD", "ref: refs/heads/main\n");
    scratch
}

const FLEET: &str = "apps/fleet";

#[test]
fn generate_prints_what_render_prints_here_and_only_objects() {
    let scratch = repository();
    let (stdout, objects) = generated(&scratch, FLEET, "[]");
    assert!(objects.len() > 3 && objects.iter().all(|object| object["kind"] == "ManifestWork"));
    let here = scratch.run(&["render", "repository/apps/fleet", "-o", "-"]);
    here.exits(0);
    assert_eq!(stdout, here.stdout);
}

#[test]
fn another_directory_gives_the_same_bytes_with_and_without_git() {
    let scratch = repository();
    // A tracked file that is ignored: what decides must not depend on `.git` being streamed.
    scratch.write("repository/.gitignore", "ignored.yaml\n").write(
        "repository/apps/fleet/hub/ignored.yaml",
        "apiVersion: v1\nkind: [\n",
    );
    let first = generated(&scratch, FLEET, "[]");
    std::fs::remove_dir_all(scratch.path("repository/.git")).expect("removed");
    assert_eq!(generated(&scratch, FLEET, "[]"), first);
}

#[test]
fn neither_home_nor_stdin_nor_a_writable_tree_is_needed() {
    let scratch = repository();
    let (expected, _) = generated(&scratch, FLEET, "[]");
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    set_modes(&checkout.root(), 0o444, 0o555);
    for home in [None, Some("/nonexistent"), Some("/proc")] {
        let mut command = checkout.command(&["argocd", "generate"]);
        if let Some(home) = home {
            command.env("HOME", home);
        }
        assert_eq!(Run::of(&mut command).exits(0).stdout, expected, "{home:?}");
    }
    // Closed, not empty.
    let mut command = checkout.start(
        OsString::from("/bin/sh"),
        &["-c", "exec spokewright argocd generate <&-"],
    );
    assert_eq!(Run::of(&mut command).exits(0).stdout, expected);
    // Root may write anywhere: as somebody else, where that can be had.
    let mut command = checkout.command(&["argocd", "generate"]);
    std::os::unix::process::CommandExt::uid(&mut command, 65534);
    match command.output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), expected),
        Err(error) => eprintln!("SKIPPED: a run as another user: {error}"),
    }
    set_modes(&checkout.root(), 0o644, 0o755);
}

#[test]
fn nothing_outside_of_the_checkout_is_read() {
    let scratch = repository();
    let neighbour = Checkout::of(&scratch.path("repository"), FLEET);
    let neighbour = neighbour.root().join("other/hub").display().to_string();
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    for path in [neighbour.as_str(), "../../..", "/etc"] {
        for parameters in [
            format!(r#"[{{"name":"hub","array":["{path}"]}}]"#),
            format!(r#"[{{"name":"spokes","string":"{path}"}}]"#),
        ] {
            let mut typed = checkout.typed(&["argocd", "generate"]);
            let typed = Run::of(typed.env("ARGOCD_APP_PARAMETERS", &parameters));
            for run in [checkout.generate(&parameters), typed] {
                run.exits(5).says("error[input/outside]");
                assert_eq!(run.stdout, "");
            }
        }
    }
    // What the repository itself says is no better.
    scratch.edit(
        "repository/apps/fleet/spokewright.yaml",
        "hub: [hub]",
        "hub: [hub, /etc]",
    );
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    for mut command in [
        checkout.command(&["argocd", "generate"]),
        checkout.typed(&["argocd", "generate"]),
    ] {
        Run::of(&mut command).exits(5).says("error[input/outside]");
    }
}

/// Whoever types the command in a clone gets what Argo CD gets: the repository around is the checkout.
#[test]
fn the_boundary_is_the_same_whether_argo_cd_names_the_application_or_nobody_does() {
    let scratch = repository();
    scratch.edit(
        "repository/apps/fleet/spokewright.yaml",
        "hub: [hub]",
        "hub: [hub, ../shared]",
    );
    std::fs::rename(
        scratch.path("repository/apps/fleet/hub/platform"),
        scratch.path("repository/apps/shared"),
    )
    .expect("a directory");
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let expected = checkout.generate("[]").exits(0).stdout.clone();
    let typed = || Run::of(&mut checkout.typed(&["argocd", "generate"]));
    assert_eq!(typed().exits(0).stdout, expected);
    // Nothing says where the checkout begins: it is the directory.
    std::fs::remove_dir_all(checkout.root().join(".git")).expect("a directory");
    typed().exits(5).says("error[input/outside]");
}

#[test]
fn a_link_inside_of_the_checkout_works() {
    let scratch = repository();
    let (expected, _) = generated(&scratch, FLEET, "[]");
    std::fs::rename(
        scratch.path("repository/apps/fleet/hub"),
        scratch.path("repository/apps/fleet/real"),
    )
    .expect("renamed");
    std::os::unix::fs::symlink("real", scratch.path("repository/apps/fleet/hub")).expect("a link");
    assert_eq!(generated(&scratch, FLEET, "[]").0, expected);
}

#[test]
fn several_generations_at_once_agree() {
    let scratch = repository();
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let start = || {
        checkout
            .command(&["argocd", "generate"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs")
    };
    let running: Vec<_> = (0..4).map(|_| start()).collect();
    let outputs: Vec<_> = running
        .into_iter()
        .map(|child| child.wait_with_output().expect("an output").stdout)
        .collect();
    assert!(!outputs[0].is_empty() && outputs.iter().all(|output| *output == outputs[0]));
}

#[test]
fn the_shared_re_enactment_of_argo_cd_accepts_the_plugin() {
    let tool = fixtures().join("../../shared/tools/argocd_cmp_contract.py");
    let has_yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    if !tool.is_file() || !has_yaml.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: argocd_cmp_contract.py or Python with PyYAML is not at hand");
        return;
    }
    let scratch = repository();
    scratch.write("plugin.yaml", &scratch.run(&["argocd", "plugin"]).stdout);
    let path = format!(
        "{}:{}",
        binary().parent().expect("a directory").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let tool = |what: &str, parameters: &str| {
        Run::of(
            Command::new("python3")
                .arg(&tool)
                .args([
                    "--plugin",
                    "plugin.yaml",
                    "--repo",
                    "repository",
                    "--path",
                    FLEET,
                    "--strict",
                ])
                .args(["--what", what, "--params", parameters, "--exclude", ".git/*"])
                .current_dir(scratch.path(""))
                .env("PATH", &path)
                .env_remove("HOME"),
        )
    };
    let first = tool("generate", "[]");
    first.exits(0);
    assert!(first.stdout.contains("\"ManifestWork\""), "{}", first.stdout);
    assert_eq!(
        tool("generate", "[]").stdout,
        first.stdout,
        "another directory, the same hash"
    );
    tool("match", "[]").exits(0);
    let announced = tool("params", "[]");
    assert!(announced.exits(0).stdout.contains("\"placement.source\""));
    tool("generate", r#"[{"name":"clusters","string":"eu-1"}]"#).exits(0);
    let emptied = tool("generate", r#"[{"name":"clusters","string":""}]"#);
    assert_eq!(emptied.exits(0).stdout, first.stdout);
    tool("generate", r#"[{"name":"clusters","array":["eu-1"]}]"#)
        .exits(1)
        .says("failed exit status 3")
        .says("`clusters` has the type array");
    tool("generate", r#"[{"name":"clusters","string":"mars"}]"#)
        .exits(1)
        .says("failed exit status 4");
}
