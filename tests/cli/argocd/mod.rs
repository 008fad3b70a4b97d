//! Argo CD's plugin contract, re-enacted point by point (docs/systems/gitops.md#argo-cd).

mod examples;
mod links;
mod sidecar;

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::scratch::{Run, Scratch, copy, fixtures};
use sidecar::{Checkout, binary, generated, set_modes, split};

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
fn a_sync_wave_of_a_gateway_is_that_of_its_work_and_no_clusters() {
    let scratch = repository();
    let gateway = "repository/apps/fleet/hub/shop/gateway.yaml";
    let waves = |wave: &str| {
        let annotated = scratch.read(gateway).replacen(
            "metadata:\n",
            &format!("metadata:\n  annotations: {{argocd.argoproj.io/sync-wave: \"{wave}\"}}\n"),
            1,
        );
        let before = scratch.read(gateway);
        scratch.write(gateway, &annotated);
        let (stdout, objects) = generated(&scratch, FLEET, "[]");
        scratch.write(gateway, &before);
        assert!(
            objects
                .iter()
                .all(|work| !work["spec"].to_string().contains("sync-wave")),
            "{stdout}"
        );
        let mut waves = std::collections::BTreeSet::new();
        for work in &objects {
            let wave = &work["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"];
            let name = work["metadata"]["name"].as_str().expect("a name").to_owned();
            if !name.starts_with("gateway-") {
                assert!(wave.is_null(), "{name}");
                continue;
            }
            waves.insert((name, wave.as_str().map(str::to_owned)));
        }
        waves.into_iter().collect::<Vec<_>>()
    };
    let said = |waves: &[(&str, Option<&str>)]| {
        let waves = waves.iter();
        waves
            .map(|(name, wave)| ((*name).to_owned(), wave.map(str::to_owned)))
            .collect::<Vec<_>>()
    };
    let (rights, payments, shop) = (
        "gateway-rbac",
        "gateway-payments-payments",
        "gateway-shop-storefront",
    );
    assert_eq!(
        waves("2"),
        said(&[(payments, None), (rights, None), (shop, Some("2"))])
    );
    // An agent needs its rights with the first work.
    assert_eq!(
        waves("-3"),
        said(&[(payments, None), (rights, Some("-3")), (shop, Some("-3"))])
    );
    // Argo CD takes what is no number for 0.
    assert_eq!(
        waves("first"),
        said(&[(payments, None), (rights, None), (shop, None)])
    );
}

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
fn stderr_is_short_and_without_colour_whatever_the_environment_says() {
    let scratch = repository();
    for number in 0..40 {
        scratch.write(
            &format!("repository/apps/fleet/hub/broken-{number}.yaml"),
            "apiVersion: v1\nkind: Secret\nmetadata: {namespace: a}\ndata: {password: aHVudGVyMg==}\n",
        );
    }
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let run = Run::of(
        checkout
            .command(&["argocd", "generate"])
            .env("CLICOLOR_FORCE", "1")
            .env("FORCE_COLOR", "1")
            .env("COLUMNS", "10"),
    );
    run.exits(3)
        .says("error[object/no-name]")
        .says("hub/broken-0.yaml:3:")
        .says("and 30 more errors")
        .does_not_say("\u{1b}")
        .does_not_say("aHVudGVyMg==")
        .does_not_say("_cmp_server_");
    assert_eq!(run.stdout, "", "nothing of a failed generation is printed");
    assert!(run.stderr.lines().count() <= 11, "{}", run.stderr);
}

#[test]
fn an_empty_result_is_refused_unless_it_is_meant() {
    let scratch = repository();
    scratch.write("repository/nothing/README.md", "empty\n");
    let checkout = Checkout::of(&scratch.path("repository"), "nothing");
    let run = checkout.generate("[]");
    run.exits(4).says("error[empty/nothing-rendered]");
    assert_eq!(run.stdout, "");
    let nobody = Checkout::of(&scratch.path("repository"), FLEET)
        .generate(r#"[{"name":"clusters","string":"mars-*"}]"#);
    nobody.exits(4).says("`--clusters` matches none of: eu-1");
    let meant = checkout.generate(r#"[{"name":"allow-empty","string":"true"}]"#);
    assert_eq!(meant.exits(0).stdout, "");
}

#[test]
fn parameters_decide_and_carry_the_names_of_the_configuration() {
    let scratch = repository();
    let (all, objects) = generated(&scratch, FLEET, "[]");
    let (eu, some) = generated(&scratch, FLEET, r#"[{"name":"clusters","string":"eu-1"}]"#);
    assert!(!some.is_empty() && some.len() < objects.len());
    assert!(
        some.iter()
            .all(|object| object["metadata"]["namespace"] == "eu-1")
    );
    assert!(all.starts_with(&eu));
    // Relative to the Application, above it too.
    let (other, _) = generated(&scratch, FLEET, r#"[{"name":"hub","array":["../../other/hub"]}]"#);
    assert_eq!(
        other,
        scratch.run(&["render", "repository/other/hub", "-o", "-"]).stdout
    );
    let (_, hub) = generated(
        &scratch,
        FLEET,
        r#"[{"name":"hubObjects","string":"Annotated"},{"name":"placement.mode","string":"Snapshot"},
            {"name":"now","string":"2026-06-01T12:00:00Z"},{"name":"secrets","string":"Omit"},
            {"name":"spokes","string":"spokes"},{"name":"placement.source","string":"Decisions"}]"#,
    );
    assert!(hub.iter().any(|object| object["kind"] == "Gateway"));
}

#[test]
fn a_parameter_that_makes_no_sense_fails_with_the_nearest_name() {
    let scratch = repository();
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    for (parameters, message) in [
        (
            r#"[{"name":"cluster","string":"eu-1"}]"#,
            "did you mean `clusters`?",
        ),
        (
            r#"[{"name":"hub","string":"hub"}]"#,
            "write `{name: hub, array: [...]}`",
        ),
        (r#"[{"name":"secrets","string":"Cpoy"}]"#, "did you mean `Copy`?"),
        (r#"[{"name":"now","string":"now"}]"#, "RFC 3339"),
        (
            r#"[{"name":"spokes","string":"spoks"}]"#,
            "there is no directory `spoks`",
        ),
        ("{", "ARGOCD_APP_PARAMETERS is not JSON"),
    ] {
        let run = checkout.generate(parameters);
        assert!([3, 5].contains(&run.status), "{parameters}: {run:?}");
        run.says(message);
        assert_eq!(run.stdout, "", "{parameters}");
    }
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
fn only_argocd_app_parameters_counts_and_values_are_never_evaluated() {
    let scratch = repository();
    let (expected, _) = generated(&scratch, FLEET, "[]");
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let run = Run::of(
        checkout
            .command(&["argocd", "generate"])
            .env("PARAM_CLUSTERS", "eu-1")
            .env("PARAM_PLACEMENT_SOURCE", "nonsense")
            .env("ARGOCD_ENV_TEAM", "$(touch pwned)`touch pwned`;touch pwned"),
    );
    assert_eq!(run.exits(0).stdout, expected);
    let run = Run::of(
        checkout
            .command(&["argocd", "generate"])
            .env("ARGOCD_ENV_CLUSTERS", "$(touch pwned)"),
    );
    run.exits(3)
        .says("the variable `ARGOCD_ENV_CLUSTERS` is not read: `clusters` is a parameter");
    let run = checkout.generate(r#"[{"name":"clusters","string":"$(touch pwned)"}]"#);
    run.exits(4);
    assert!(!checkout.root().join("apps/fleet/pwned").exists());
    // Without any parameter Argo CD's own encoder writes null.
    assert_eq!(checkout.generate("null").exits(0).stdout, expected);
    let mut bare = checkout.command(&["argocd", "generate"]);
    assert_eq!(
        Run::of(bare.env_remove("ARGOCD_APP_PARAMETERS")).exits(0).stdout,
        expected
    );
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
fn keys_that_argo_cd_and_flux_set_themselves_are_never_written() {
    let scratch = repository();
    scratch.edit(
        "repository/apps/fleet/hub/shop/gateway.yaml",
        "metadata:\n",
        "metadata:\n  annotations: {argocd.argoproj.io/tracking-id: \"a:b/C:d/e\"}\n",
    );
    let (stdout, _) = generated(&scratch, FLEET, "[]");
    for key in [
        "argocd.argoproj.io/tracking-id",
        "app.kubernetes.io/instance",
        "kustomize.toolkit.fluxcd.io/name",
    ] {
        assert!(!stdout.contains(key), "{key}");
    }
}

#[test]
fn parameters_announces_a_json_array_with_the_defaults_of_the_configuration() {
    let scratch = repository();
    scratch.edit(
        "repository/apps/fleet/spokewright.yaml",
        "secrets: Omit",
        "secrets: Copy",
    );
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let run = Run::of(&mut checkout.command(&["argocd", "parameters"]));
    let announced: kube_json::Value = serde_json::from_str(&run.exits(0).stdout).expect("JSON");
    let of = |name: &str| {
        let entries = announced.as_array().expect("an array");
        entries
            .iter()
            .find(|entry| entry["name"] == name)
            .expect("announced")
            .clone()
    };
    assert_eq!(of("secrets")["string"], "Copy");
    assert_eq!(of("hub")["array"], kube_json::json!(["hub"]));
    assert_eq!(of("hub")["collectionType"], "array");
    scratch.edit("repository/apps/fleet/spokewright.yaml", "secrets:", "secretz:");
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let run = Run::of(&mut checkout.command(&["argocd", "parameters"]));
    run.exits(3).says("did you mean").says("spokewright.yaml:21:");
    assert_eq!(run.stdout, "");
}

#[test]
fn the_plugin_is_declared_as_the_sidecar_reads_it() {
    let scratch = Scratch::new();
    let run = scratch.run(&["argocd", "plugin"]);
    let plugin = split(
        &run.exits(0)
            .stdout
            .replace("metadata:\n", "metadata:\n  namespace: none\n"),
    )
    .remove(0);
    assert_eq!(plugin["apiVersion"], "argoproj.io/v1alpha1");
    assert_eq!(plugin["kind"], "ConfigManagementPlugin");
    assert_eq!(plugin["metadata"]["name"], "spokewright");
    let spec = &plugin["spec"];
    for command in [&spec["generate"], &spec["parameters"]["dynamic"]] {
        let argv: Vec<&str> = command["command"]
            .as_array()
            .expect("a command")
            .iter()
            .filter_map(|word| word.as_str())
            .collect();
        assert_eq!(argv[0], "spokewright");
        scratch.run(&[&argv[1..], &["--help"]].concat()).exits(0);
    }
    assert_eq!(
        (&spec["provideGitCreds"], &spec["preserveFileMode"]),
        (&false.into(), &false.into())
    );
    assert!(spec.get("discover").is_none() && spec.get("version").is_none() && spec.get("init").is_none());
    let discovering = scratch.run(&["argocd", "plugin", "--discover"]);
    assert!(discovering.exits(0).stdout.contains("fileName: spokewright.yaml"));
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
