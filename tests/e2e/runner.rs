//! The end-to-end test's own parts, with stand-ins for the programs that it needs: that it says what is missing, who
//! failed and how, and leaves nothing running.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]
#![cfg(unix)]

mod clusters;
mod controllers;
mod handover;
mod needs;
mod programs;
mod report;
mod steps;
mod world;

use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::Duration;

use tempfile::TempDir;

use crate::clusters::{AGENT, Cluster};
use crate::controllers::{start_agent, start_manager, start_placement};
use crate::needs::Needs;
use crate::programs::Programs;
use crate::steps::STEPS;
use crate::world::World;

const PROGRAMS: [&str; 5] = ["kube-apiserver", "etcd", "kubectl", "work", "placement"];

/// A PATH of stand-ins in `bin/`, and all CRDs by name in `crds/`.
struct Stage(TempDir);

impl Stage {
    /// Each program writes its arguments to `said/`, then does what its script says. One without runs until it is
    /// stopped.
    fn new(scripts: &[(&str, &str)]) -> Self {
        let stage = Self(tempfile::tempdir().expect("a directory"));
        for folder in ["bin", "said", "crds/ocm", "run"] {
            fs::create_dir_all(stage.path(folder)).expect("a folder");
        }
        let missing =
            Needs::find(OsStr::new(""), Some(stage.path("crds").as_os_str())).expect_err("nothing is there");
        let (_, crds) = missing.rsplit_once(": ").expect("a list");
        for name in crds.split(", ") {
            let text = format!("kind: CustomResourceDefinition\nmetadata:\n  name: {name}\n");
            fs::write(stage.path("crds/ocm").join(name), text).expect("a file");
        }
        for name in PROGRAMS {
            let script = scripts.iter().find(|(program, _)| *program == name);
            let (_, script) = script.unwrap_or(&("", "sleep 600"));
            stage.program(name, script);
        }
        stage
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    fn program(&self, name: &str, script: &str) {
        let said = self.path("said");
        let said = said.display();
        let text = format!(
            "#!/bin/sh\n[ \"$2\" = --help ] || {{ echo $$ > {said}/$$.pid; echo {name} \"$@\" > {said}/$$.new; \
             mv {said}/$$.new {said}/{name}.$$.said; }}\n{script}\n"
        );
        let file = self.path("bin").join(name);
        fs::write(&file, text).expect("a script");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("rights");
    }

    fn needs(&self) -> Needs {
        let path = self.path("bin");
        Needs::find(path.as_os_str(), Some(self.path("crds").as_os_str())).expect("all is there")
    }

    /// What the steps print here, and whether they pass.
    fn run(&self) -> (bool, String) {
        // The stand-ins need `sleep`.
        let mut path = self.path("bin").into_os_string();
        path.push(":/usr/bin:/bin");
        print(World::new(&path, Some(self.path("crds").as_os_str()), false))
    }

    /// The arguments of every program that was started, each with its name.
    fn said(&self) -> Vec<String> {
        let files = fs::read_dir(self.path("said"))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path());
        let mut said: Vec<String> = files
            .filter(|file| file.extension().is_some_and(|end| end == "said"))
            .map(|file| fs::read_to_string(file).expect("text"))
            .collect();
        said.sort();
        said
    }

    /// The one program whose arguments begin so, once it has started.
    fn one(&self, begin: &str) -> String {
        for _ in 0..200 {
            if let Some(said) = self.said().into_iter().find(|said| said.starts_with(begin)) {
                return said;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("no {begin:?} in {:#?}", self.said());
    }

    /// Programs that still run.
    fn alive(&self) -> Vec<String> {
        let files = fs::read_dir(self.path("said"))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path());
        let pids = files.filter(|file| file.extension().is_some_and(|end| end == "pid"));
        pids.map(|file| fs::read_to_string(file).expect("a number").trim().to_owned())
            .filter(|pid| {
                let asked = Command::new("sh")
                    .args(["-c", "kill -0 $0", pid])
                    .stderr(Stdio::null())
                    .status();
                asked.expect("sh").success()
            })
            .collect()
    }

    /// Plays etcd's health for whoever is told to serve it, as a script cannot.
    fn serve_health(&self) {
        let said = self.one("etcd ");
        let word = said
            .split_whitespace()
            .find_map(|word| word.strip_prefix("--listen-client-urls=http://"));
        let listener = TcpListener::bind(word.expect("an address")).expect("a free port");
        spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let _ = stream.read(&mut [0; 64]);
                let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{\"health\":\"true\"}");
            }
        });
    }
}

fn print(world: Result<World, String>) -> (bool, String) {
    let mut out = Vec::new();
    let passed = report::run(STEPS, world, &mut out).expect("memory");
    (passed, String::from_utf8(out).expect("text"))
}

#[test]
fn without_programs_and_crds_every_test_is_ignored_and_says_what_is_missing() {
    let (passed, said) = print(World::new(OsStr::new(""), None, false));
    assert!(passed, "{said}");
    let reason = "ignored, not on the PATH: kube-apiserver, etcd, kubectl, work, placement; SPOKEWRIGHT_CRDS names no \
                  directory of CRDs";
    assert_eq!(said.matches(reason).count(), STEPS.len(), "{said}");
    let result = format!(
        "test result: ok. 0 passed; 0 failed; {} ignored; 0 measured",
        STEPS.len()
    );
    assert!(said.contains(&result), "{said}");
}

#[test]
fn what_alone_is_missing_is_named_alone() {
    let stage = Stage::new(&[]);
    fs::remove_file(stage.path("crds/ocm/placements.cluster.open-cluster-management.io")).expect("a file");
    fs::remove_file(stage.path("bin/work")).expect("a file");
    // There, and no program.
    fs::set_permissions(stage.path("bin/etcd"), fs::Permissions::from_mode(0o644)).expect("rights");
    let missing = Needs::find(
        stage.path("bin").as_os_str(),
        Some(stage.path("crds").as_os_str()),
    );
    assert_eq!(
        missing.expect_err("something is missing"),
        "not on the PATH: etcd, work; not in SPOKEWRIGHT_CRDS: placements.cluster.open-cluster-management.io"
    );
}

#[test]
fn an_api_server_that_ends_fails_its_step_with_its_last_words_and_the_rest_does_not_run() {
    let stage = Stage::new(&[(
        "kube-apiserver",
        "echo one; echo 'Error: unknown flag' >&2; exit 3",
    )]);
    let (passed, said) = std::thread::scope(|scope| {
        let run = scope.spawn(|| stage.run());
        stage.serve_health();
        run.join().expect("no panic")
    });
    assert!(!passed, "{said}");
    let first = STEPS[0].0;
    for part in [
        format!("test {first} ... FAILED\n"),
        format!("test {} ... ignored, {first} failed\n", STEPS[1].0),
        format!("---- {first} ----\nhub-kube-apiserver ended: exit status: 3\n"),
        "hub-kube-apiserver.log:\n    one\n    Error: unknown flag\n".to_owned(),
        format!(
            "test result: FAILED. 0 passed; 1 failed; {} ignored;",
            STEPS.len() - 1
        ),
    ] {
        assert!(said.contains(&part), "{part:?} is not in:\n{said}");
    }
    assert_eq!(stage.alive(), Vec::<String>::new(), "etcd goes with the run");
    let (_, rest) = said.split_once("spokewright-e2e-").expect("the directory's name");
    let name = rest.split('/').next().expect("a name");
    let directory = std::env::temp_dir().join(format!("spokewright-e2e-{name}"));
    assert!(!directory.exists(), "{} is left", directory.display());
}

#[test]
fn waiting_in_vain_shows_the_last_look_and_every_log() {
    let stage = Stage::new(&[
        ("work", "echo started; sleep 600"),
        ("placement", "seq 1 40; sleep 600"),
    ]);
    let mut programs = Programs::new(&stage.path("run"));
    let needs = stage.needs();
    programs.start("agent", &needs.work, &[]).expect("it starts");
    programs
        .start("scheduler", &needs.placement, &[])
        .expect("it starts");
    stage.one("work");
    stage.one("placement");
    let mut looks = 0;
    let failure = programs
        .until("it is there", Duration::from_secs(1), || {
            looks += 1;
            Err::<(), _>(format!("look {looks}: nothing"))
        })
        .expect_err("nothing comes");
    let last = format!("it is there: not within 1 s; the last look said:\nlook {looks}: nothing\n");
    assert!(failure.starts_with(&last), "{failure}");
    assert!(failure.contains("agent.log:\n    started\n"), "{failure}");
    assert!(
        failure.contains("scheduler.log:\n    29\n"),
        "the last lines only: {failure}"
    );
    assert_eq!(programs.until("now", Duration::ZERO, || Ok(7)), Ok(7));
}

#[test]
fn a_panic_leaves_no_program_behind_nor_what_it_started() {
    let stage = Stage::new(&[(
        "work",
        "sh -c 'echo $$ > \"$0\".pid; exec sleep 600' \"$1\" & wait",
    )]);
    let needs = stage.needs();
    let child = stage.path("said/child").display().to_string();
    let panicked = std::panic::catch_unwind(|| {
        let mut programs = Programs::new(&stage.path("run"));
        programs.start("agent", &needs.work, &[child]).expect("it starts");
        while stage.alive().len() < 2 {
            sleep(Duration::from_millis(20));
        }
        // Not through the hook, which would print it.
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panicked.is_err());
    for _ in 0..100 {
        if stage.alive().is_empty() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("{:?} still run", stage.alive());
}

/// So one goes with a runner that is killed, too: the kernel closes its end.
#[test]
fn a_program_ends_when_the_pipe_of_its_runner_does() {
    let stage = Stage::new(&[]);
    let mut programs = Programs::new(&stage.path("run"));
    programs
        .start("agent", &stage.needs().work, &[])
        .expect("it starts");
    stage.one("work");
    assert_eq!(stage.alive().len(), 1);
    drop(programs);
    assert_eq!(stage.alive(), Vec::<String>::new());
}

#[test]
fn every_program_gets_what_it_needs_and_serves_on_loopback_only() {
    let gates = "[ \"$2\" = --help ] && echo '      --feature-gates mapStringBool' || sleep 600";
    let stage = Stage::new(&[("kubectl", "cat >/dev/null"), ("work", gates)]);
    let needs = stage.needs();
    let run = stage.path("run");
    let mut programs = Programs::new(&run);
    let cluster = std::thread::scope(|scope| {
        let start = scope.spawn(|| Cluster::start("eu-1", &run, &needs, &mut programs));
        stage.serve_health();
        start.join().expect("no panic").expect("both start")
    });
    cluster.ready(&mut programs).expect("kubectl says so");
    let others = (&needs, &mut programs);
    start_placement(&run, others.0, others.1, &cluster).expect("it starts");
    start_manager(&run, others.0, others.1, &cluster).expect("it starts");
    start_agent(&run, others.0, others.1, &cluster, &cluster).expect("it starts");
    let users = fs::read_to_string(run.join("eu-1/tokens.csv")).expect("users");
    assert!(users.contains(&format!("agent,{AGENT},")), "{users}");
    let admin = format!("--kubeconfig={}", cluster.admin.display());
    let agent = format!("--kubeconfig={}", cluster.agent.display());
    let source = format!("--workload-source-config={}", cluster.admin.display());
    for (begin, words) in [
        ("etcd ", vec!["--listen-peer-urls=http://127.0.0.1:0"]),
        (
            "kube-apiserver ",
            vec!["--bind-address=127.0.0.1", "--authorization-mode=RBAC"],
        ),
        (
            "placement controller ",
            vec![&*admin, "--disable-leader-election"],
        ),
        (
            "work manager ",
            vec![&*admin, "--feature-gates=ManifestWorkReplicaSet=true"],
        ),
        (
            "work agent ",
            vec![&*agent, &*source, "--spoke-cluster-name=eu-1"],
        ),
    ] {
        let said = stage.one(begin);
        for word in words {
            assert!(
                said.split_whitespace().any(|said| said == word),
                "{word} is not in {said}"
            );
        }
    }
    for name in ["hub-placement", "hub-work-manager", "eu-1-work-agent"] {
        let config = fs::read_to_string(run.join(format!("{name}.json"))).expect("settings");
        assert!(config.contains("\"bindAddress\":\"127.0.0.1:"), "{config}");
    }
}

#[test]
fn a_manager_without_feature_gates_is_given_none() {
    let stage = Stage::new(&[
        ("kubectl", "cat >/dev/null"),
        ("work", "[ \"$2\" = --help ] || sleep 600"),
    ]);
    let (needs, run) = (stage.needs(), stage.path("run"));
    let mut programs = Programs::new(&run);
    let cluster = std::thread::scope(|scope| {
        let start = scope.spawn(|| Cluster::start("hub", &run, &needs, &mut programs));
        stage.serve_health();
        start.join().expect("no panic").expect("both start")
    });
    start_manager(&run, &needs, &mut programs, &cluster).expect("it starts");
    assert!(!stage.one("work manager ").contains("--feature-gates"));
}

/// The list of CRDs and the example go together: a kind that is shipped has its CRD on the spokes.
#[test]
fn the_crds_of_the_spokes_are_those_of_what_is_shipped() {
    let stage = Stage::new(&[]);
    let needs = stage.needs();
    let named = |files: &[PathBuf]| -> Vec<String> {
        let names = files
            .iter()
            .filter_map(|file| file.file_name()?.to_str().map(str::to_owned));
        names.collect()
    };
    let spokes = named(&needs.spoke_crds);
    let params =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet/hub/platform/gateway-params.yaml");
    let params = fs::read_to_string(params).expect("the example");
    for kind in params
        .split("\"resource\": \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        // The example brings the CRD of one kind itself.
        let known =
            spokes.iter().any(|name| name.starts_with(&format!("{kind}."))) || kind == "accesslogpolicies";
        assert!(known, "{kind} is not in {spokes:?}");
    }
    assert!(
        !named(&needs.hub_crds)
            .iter()
            .any(|name| name.starts_with("appliedmanifestworks."))
    );
}
