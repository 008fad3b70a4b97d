//! What Argo CD's sidecar does with a plugin (docs/systems/gitops.md#how-a-plugin-is-run): a fresh copy, a
//! small environment, one process.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kube_json::Value;
use kube_yaml::{Limits, read_all};

use crate::scratch::{Run, Scratch};

/// A checkout as the sidecar unpacks it: another random directory each time, modes 0644 and 0755.
pub(super) struct Checkout {
    directory: tempfile::TempDir,
    application: String,
}

impl Checkout {
    pub(super) fn of(repository: &Path, application: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("_cmp_server_")
            .tempdir()
            .expect("a temporary directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let checkout = Self {
            directory,
            application: application.to_owned(),
        };
        unpack(repository, &checkout.root());
        checkout
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("1f2e3d4c")
    }

    /// A command in the Application's directory: nothing in its environment but what the sidecar sets.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        self.start(OsString::from(env!("CARGO_BIN_EXE_spokewright")), arguments)
    }

    pub(super) fn start(&self, program: OsString, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.root().join(&self.application))
            .env_clear()
            .env("PATH", binary().parent().expect("a directory"))
            .env("ARGOCD_APP_NAME", "demo")
            .env("ARGOCD_APP_NAMESPACE", "default")
            .env("ARGOCD_APP_PROJECT_NAME", "default")
            .env("ARGOCD_APP_REVISION", "0".repeat(40))
            .env("ARGOCD_APP_REVISION_SHORT", "0".repeat(7))
            .env("ARGOCD_APP_SOURCE_REPO_URL", "https://example.com/r.git")
            .env("ARGOCD_APP_SOURCE_PATH", &self.application)
            .env("ARGOCD_APP_SOURCE_TARGET_REVISION", "HEAD")
            .env("KUBE_VERSION", "1.32.4")
            .env("KUBE_API_VERSIONS", "v1,apps/v1")
            .env("ARGOCD_APP_PARAMETERS", "[]")
            .stdin(Stdio::null())
            .process_group(0);
        command
    }

    /// The same command typed by a person: nothing says that this is an Application.
    pub(super) fn typed(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command
            .env_remove("ARGOCD_APP_NAME")
            .env_remove("ARGOCD_APP_SOURCE_PATH");
        command
    }

    pub(super) fn generate(&self, parameters: &str) -> Run {
        Run::of(
            self.command(&["argocd", "generate"])
                .env("ARGOCD_APP_PARAMETERS", parameters),
        )
    }
}

pub(super) fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_spokewright"))
}

/// Generates from a fresh checkout, and makes sure of all that must hold whenever it succeeds.
#[track_caller]
pub(super) fn generated(scratch: &Scratch, application: &str, parameters: &str) -> (String, Vec<Value>) {
    let checkout = Checkout::of(&scratch.path("repository"), application);
    let before = names(&checkout.root());
    let run = checkout.generate(parameters);
    run.exits(0);
    assert_eq!(names(&checkout.root()), before, "the checkout is only read");
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    for text in [&run.stdout, &run.stderr] {
        assert!(
            !text.contains("_cmp_server_") && !text.contains("1f2e3d4c"),
            "{text}"
        );
    }
    let objects = split(&run.stdout);
    (run.stdout, objects)
}

/// Splits as the repo-server does, and refuses what it would refuse.
#[track_caller]
pub(super) fn split(stdout: &str) -> Vec<Value> {
    let mut texts = vec![String::new()];
    for line in stdout.split_inclusive('\n') {
        assert!(
            !line.contains('\r') && !line.starts_with('%') && !line.starts_with("..."),
            "{line:?}"
        );
        if let Some(rest) = line.strip_prefix("---") {
            assert_eq!(rest, "\n", "`---` stands alone on its line");
            texts.push(String::new());
        } else if let Some(text) = texts.last_mut() {
            text.push_str(line);
        }
    }
    let mut objects = Vec::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        let read = read_all(text, &Limits::default()).expect("YAML");
        assert_eq!(read.len(), 1);
        objects.extend(read);
    }
    let mut identities = Vec::new();
    for object in &objects {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_else(|| panic!("{pointer} in {object}"))
                .to_owned()
        };
        identities.push([
            text("/apiVersion"),
            text("/kind"),
            text("/metadata/namespace"),
            text("/metadata/name"),
        ]);
    }
    let count = identities.len();
    identities.sort();
    identities.dedup();
    assert_eq!(identities.len(), count, "no identity twice");
    objects
}

fn names(directory: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            names.extend(self::names(&path));
        }
        names.push(path);
    }
    names.sort();
    names
}

fn unpack(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).expect("permissions");
    for entry in fs::read_dir(from).expect("a directory to copy") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_symlink() {
            let link = fs::read_link(&path).expect("a link");
            std::os::unix::fs::symlink(link, target).expect("a link");
        } else if path.is_dir() {
            unpack(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file to copy");
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("permissions");
        }
    }
}

/// Sets the modes of everything below a directory, itself last.
pub(super) fn set_modes(directory: &Path, file: u32, folder: u32) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("permissions");
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            set_modes(&path, file, folder);
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(file)).expect("permissions");
        }
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(folder)).expect("permissions");
}
