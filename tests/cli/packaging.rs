//! What a release is made of, as far as it runs here: the action's download, images, manifests, lints of workflows
//! (docs/releasing.md).

use std::path::PathBuf;
use std::process::Command;

use kube_json::Value;

use crate::scratch::{Run, Scratch, fixtures};

fn root() -> PathBuf {
    fixtures().join("..")
}

/// `None`, said loudly, where a program is not at hand.
fn at_hand(programs: &[&str]) -> Option<()> {
    for program in programs {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("SKIPPED: {program} is not at hand, so its script was not run");
            return None;
        }
    }
    Some(())
}

/// Stands in for GitHub: what it downloads is an archive of whatever name is asked for.
#[cfg(unix)]
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
case "$1 $2" in
"release download")
    [ "$RELEASED" = yes ] || { echo "release not found" >&2; exit 1; }
    [ "$3 $4 $5 $6" = "v0.1.0 --repo acme/spokewright --pattern" ]
    printf '#!/bin/sh\necho spokewright 0.1.0\n' > spokewright
    chmod +x spokewright
    tar -czf "$7" spokewright
    rm spokewright
    sha256sum "$7" > SHA256SUMS
    if [ "$CHANGED" = yes ]; then echo >> "$7"; fi
    ;;
"attestation verify")
    [ "$4 $5 $6" = "--repo acme/spokewright --signer-workflow" ]
    [ "$7" = acme/spokewright/.github/workflows/release.yml ]
    [ "$ATTESTED" = yes ]
    ;;
*) exit 9 ;;
esac
"#;

#[cfg(unix)]
#[test]
fn the_action_takes_only_a_binary_whose_digest_and_attestation_agree() {
    use std::os::unix::fs::PermissionsExt as _;
    if at_hand(&["bash", "tar", "sha256sum"]).is_none() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("bin/gh", GH);
    std::fs::set_permissions(scratch.path("bin/gh"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = format!(
        "{}:{}",
        scratch.path("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let install = |variables: &[(&str, &str)]| {
        let mut command = Command::new("bash");
        command
            .arg(root().join("packaging/github/install"))
            .env("PATH", &path)
            .env("DIRECTORY", scratch.path("installed"))
            .env("REPOSITORY", "acme/spokewright")
            .env("VERSION", "0.1.0")
            .envs([("RELEASED", "yes"), ("ATTESTED", "yes"), ("CHANGED", "no")])
            .envs(variables.iter().copied());
        let run = Run::of(&mut command);
        let is_there = scratch.exists("installed/spokewright");
        let _ = std::fs::remove_dir_all(scratch.path("installed"));
        (run, is_there)
    };
    let (run, is_there) = install(&[]);
    assert_eq!((run.exits(0).stdout.as_str(), is_there), ("found=true\n", true));
    // Nothing is released for this machine: that is a reason to build.
    let (run, is_there) = install(&[("RELEASED", "no")]);
    assert_eq!((run.exits(0).stdout.as_str(), is_there), ("found=false\n", false));
    // Everything else is none.
    let refused: [(&[(&str, &str)], &str); 6] = [
        (&[("CHANGED", "yes")], "is not what SHA256SUMS lists"),
        (&[("SHA256", "00")], "and not the one that is asked for"),
        (&[("ATTESTED", "no")], "has no attestation"),
        // A digest names an archive, and a build has none.
        (
            &[("RELEASED", "no"), ("SHA256", "00")],
            "sha256 is the digest of one",
        ),
        (&[("VERSION", "0.1.0/../1")], "the version is a number"),
        (&[("REPOSITORY", "acme")], "the repository is OWNER/NAME"),
    ];
    for (variables, said) in refused {
        let (run, is_there) = install(variables);
        run.exits(1).says(said);
        assert_eq!((run.stdout.as_str(), is_there), ("", false), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_image_layout_has_the_same_bytes_each_time_and_every_blob_is_what_its_digest_says() {
    if at_hand(&["bash", "tar", "sha256sum", "gzip", "readelf"]).is_none() {
        return;
    }
    let scratch = Scratch::new();
    // It asks of a binary only that nothing must load it.
    scratch.write("spokewright", "a static binary");
    let layout = |directory: &str, binary: &str| {
        Run::of(
            Command::new("bash")
                .arg(root().join("tools/image-layout"))
                .arg(scratch.path(directory))
                .arg("1.2.3")
                .args([format!("amd64={binary}"), format!("arm64={binary}")]),
        )
    };
    let binary = scratch.path("spokewright").display().to_string();
    for directory in ["one", "two"] {
        layout(directory, &binary).exits(0);
    }
    assert_eq!(files(&scratch, "one"), files(&scratch, "two"));
    let blob = |digest: &Value| -> String {
        let digest = digest.as_str().and_then(|digest| digest.strip_prefix("sha256:"));
        format!("one/blobs/sha256/{}", digest.expect("a digest"))
    };
    let json = |path: &str| -> Value { serde_json::from_str(&scratch.read(path)).expect("JSON") };
    let index = json(&blob(&json("one/index.json")["manifests"][0]["digest"]));
    let architectures = ["amd64", "arm64"];
    for (number, architecture) in architectures.into_iter().enumerate() {
        let descriptor = &index["manifests"][number];
        assert_eq!(descriptor["platform"]["architecture"], architecture);
        let manifest = json(&blob(&descriptor["digest"]));
        let config = json(&blob(&manifest["config"]["digest"]));
        assert_eq!(
            (&config["architecture"], &config["config"]["User"]),
            (&architecture.into(), &"999".into())
        );
        let listed = Run::of(
            Command::new("tar")
                .arg("-tzf")
                .arg(scratch.path(&blob(&manifest["layers"][0]["digest"]))),
        );
        assert!(
            listed.exits(0).stdout.contains("usr/local/bin/spokewright\n")
                && listed
                    .stdout
                    .contains("home/argocd/cmp-server/config/plugin.yaml\n"),
            "{}",
            listed.stdout
        );
    }
    // This one needs a loader, which the image does not have.
    layout("three", env!("CARGO_BIN_EXE_spokewright"))
        .exits(1)
        .says("is not static");
}

/// The files of a directory, with their sizes: their names are digests.
#[cfg(target_os = "linux")]
fn files(scratch: &Scratch, directory: &str) -> Vec<(String, u64)> {
    let mut files = Vec::new();
    let mut pending = vec![scratch.path(directory)];
    while let Some(here) = pending.pop() {
        for entry in std::fs::read_dir(&here).expect("a directory") {
            let entry = entry.expect("an entry");
            if entry.path().is_dir() {
                pending.push(entry.path());
            } else {
                let size = entry.metadata().expect("metadata").len();
                files.push((entry.file_name().to_string_lossy().into_owned(), size));
            }
        }
    }
    files.sort();
    files
}

const TARGETS: [&str; 5] = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-musl",
];

#[test]
fn krew_and_homebrew_get_the_digest_of_every_target_or_nothing() {
    if at_hand(&["bash", "sed"]).is_none() {
        return;
    }
    let scratch = Scratch::new();
    let sums = |targets: &[&str]| {
        let lines = targets
            .iter()
            .enumerate()
            .map(|(number, target)| format!("{number:064}  spokewright-1.2.3-{target}.tar.gz\n"));
        scratch.write("SHA256SUMS", &lines.collect::<String>());
    };
    let run = || {
        Run::of(
            Command::new("bash")
                .arg(root().join("tools/release-manifests"))
                .args(["1.2.3", "SHA256SUMS", "out"])
                .current_dir(scratch.path("")),
        )
    };
    sums(&TARGETS);
    run().exits(0);
    for file in ["out/spokewright.yaml", "out/spokewright.rb"] {
        let text = scratch.read(file);
        assert!(!text.contains('@') && !text.contains("ever run"), "{text}");
        for (number, target) in TARGETS
            .iter()
            .enumerate()
            .filter(|(_, target)| file.ends_with("yaml") || !target.contains("windows"))
        {
            let at = text
                .find(&format!("v1.2.3/spokewright-1.2.3-{target}.tar.gz"))
                .expect(target);
            let digest = text[at..]
                .find(&format!("{number:064}"))
                .expect("its digest follows");
            assert!(digest < 200, "{text}");
        }
    }
    sums(&TARGETS[..4]);
    run().exits(1).says("has no digest");
}

#[test]
fn every_place_that_names_a_target_or_a_version_names_the_same() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a file");
    let (release, install) = (
        read(".github/workflows/release.yml"),
        read("packaging/github/install"),
    );
    for target in TARGETS {
        assert!(release.contains(&format!("target: {target},")), "{target}");
        assert!(install.contains(&format!("target={target} ")), "{target}");
    }
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("action.yml").contains(&format!("default: {version}\n")));
    for workflow in ["spokewright.yml", "shards.yml"] {
        let text = read(&format!("examples/github/{workflow}"));
        assert!(
            text.contains(&format!("uses: OWNER/spokewright@v{version} ")) || !text.contains("OWNER/"),
            "{text}"
        );
        assert!(text.contains(&format!("with: {{version: {version}}}")), "{text}");
    }
}

/// A job with an identity, or one that may write, runs what is on the runner and what a digest pins.
#[test]
fn no_job_with_an_identity_or_the_right_to_write_installs_what_no_digest_pins() {
    const FETCH: [&str; 12] = [
        "install",
        "pipx",
        "npx",
        "uvx",
        "npm ",
        "curl",
        "wget",
        "rustup",
        "cargo ",
        "go run",
        "docker run",
        "| sh",
    ];
    for file in [
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        "examples/github/spokewright.yml",
        "examples/github/spokewright-forks.yml",
        "examples/github/shards.yml",
    ] {
        let text = std::fs::read_to_string(root().join(file)).expect("a file");
        let workflow = kube_yaml::read_all(&text, &kube_yaml::Limits::default())
            .expect("YAML")
            .remove(0);
        for (name, job) in workflow["jobs"].as_object().expect("jobs") {
            let permissions = job["permissions"]
                .as_object()
                .expect("each job says what it needs");
            if !permissions.values().any(|right| *right == "write") {
                continue;
            }
            for step in job["steps"].as_array().expect("steps") {
                let pinned = |uses: &str| {
                    let (_, digest) = uses.split_once('@').unwrap_or_default();
                    digest.len() == 40 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
                };
                assert!(step["uses"].as_str().is_none_or(pinned), "{file}, {name}: {step}");
                for line in step["run"].as_str().unwrap_or_default().lines() {
                    let fetches = FETCH.iter().any(|word| line.contains(word));
                    let is_pinned = line.contains("--require-hashes --only-binary :all:");
                    assert!(!fetches || is_pinned, "{file}, {name}: {line}");
                }
            }
        }
    }
}

/// Every script that is shipped, as its file or inside of YAML.
#[test]
fn shellcheck_finds_nothing_in_a_script_that_a_job_runs() {
    if at_hand(&["shellcheck"]).is_none() {
        return;
    }
    let scratch = Scratch::new();
    let documents = |file: &str| {
        let text = std::fs::read_to_string(root().join(file)).expect("a file");
        kube_yaml::read_all(&text, &kube_yaml::Limits::default()).expect("YAML")
    };
    let mut scripts = Vec::new();
    for file in [
        "action.yml",
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        "examples/github/spokewright.yml",
        "examples/github/spokewright-forks.yml",
        "examples/github/shards.yml",
    ] {
        let workflow = documents(file).remove(0);
        let action = workflow.get("runs").into_iter();
        let jobs = workflow
            .get("jobs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        for job in action.chain(jobs.map(|(_, job)| job)) {
            for step in job["steps"].as_array().expect("steps") {
                scripts.extend(step["run"].as_str().map(|run| (file, run.to_owned())));
            }
        }
    }
    for file in [
        "examples/gitlab/templates/spokewright.yml",
        "examples/start/.gitlab-ci.yml",
    ] {
        let job = documents(file).pop().expect("a document")["spokewright"].clone();
        let parts = ["before_script", "script"].map(|part| job[part].as_array().expect("lines").clone());
        let lines: Vec<&str> = parts
            .iter()
            .flatten()
            .map(|line| line.as_str().expect("a line"))
            .collect();
        scripts.push((file, lines.join("\n")));
    }
    for (file, script) in scripts {
        // With what the shell of a job is given; variables come from the job.
        scratch.write("script", &format!("#!/bin/bash\nset -eo pipefail\n{script}\n"));
        let run = Run::of(
            Command::new("shellcheck")
                .args(["--exclude", "SC2153,SC2154", "script"])
                .current_dir(scratch.path("")),
        );
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{file}:\n{script}");
    }
    for file in ["packaging/github/install", "packaging/github/build"] {
        Run::of(Command::new("shellcheck").arg(root().join(file))).exits(0);
    }
}

#[test]
fn the_lints_find_nothing_in_a_workflow_or_an_action() {
    if at_hand(&["bash", "zizmor"]).is_none() {
        return;
    }
    Run::of(Command::new("bash").arg(root().join("tools/lint-workflows"))).exits(0);
}
