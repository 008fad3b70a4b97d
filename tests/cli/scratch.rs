//! A scratch directory with files in it, and runs of the binary in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::schemas::conforms;

/// A directory that is removed at the end of the test.
pub(crate) struct Scratch {
    directory: tempfile::TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// With the hub of the worked example in `hub/`.
    pub(crate) fn with_worked_example() -> Self {
        let scratch = Self::new();
        copy(&fixtures().join("worked-example/hub"), &scratch.path("hub"));
        scratch
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) -> &Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
        self
    }

    /// Replaces text in a file; it must occur.
    pub(crate) fn edit(&self, relative: &str, from: &str, to: &str) -> &Self {
        let text = self.read(relative);
        assert!(text.contains(from), "{from:?} is not in {relative}");
        self.write(relative, &text.replacen(from, to, 1))
    }

    /// One line of a policy of the worked example, in a copy of `limits.yaml`.
    pub(crate) fn raise_the_limit(&self, file: &str) -> &Self {
        self.edit(file, "limit: 100", "limit: 200")
    }

    pub(crate) fn remove(&self, relative: &str) -> &Self {
        fs::remove_file(self.path(relative)).expect("a file to remove");
        self
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    pub(crate) fn exists(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// Every file below a directory with its text, by path.
    pub(crate) fn tree(&self, relative: &str) -> Vec<(String, String)> {
        let root = self.path(relative);
        let mut files = Vec::new();
        walk(&root, &root, &mut files);
        files.sort();
        files
    }

    /// The command in this directory, in a clean environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spokewright"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments))
    }

    /// Runs a script in namespaces of its own, `$1` being the binary. `None`, and a word about it, where they cannot be
    /// had, or where the script ends with 99.
    #[cfg(target_os = "linux")]
    pub(crate) fn unshared(&self, namespaces: &[&str], script: &str) -> Option<Run> {
        let output = Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-c", script, "sh", env!("CARGO_BIN_EXE_spokewright")])
            .current_dir(self.path(""))
            .stdin(Stdio::null())
            .output();
        let reason = match output {
            Ok(output) => {
                let run = Run {
                    status: output.status.code().unwrap_or(-1),
                    stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                    stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
                };
                if run.status != 99 && !run.stderr.starts_with("unshare:") {
                    return Some(run);
                }
                run.stderr
            }
            Err(error) => error.to_string(),
        };
        eprintln!("SKIPPED: no such namespace can be had here: {}", reason.trim());
        None
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        let run = Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
        };
        conforms(&run.stdout);
        run
    }

    #[track_caller]
    pub(crate) fn exits(&self, status: i32) -> &Self {
        assert_eq!(
            self.status, status,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// A run that ends well, with this on stdout.
    #[track_caller]
    pub(crate) fn prints(&self, text: &str) -> &Self {
        self.exits(0);
        assert!(
            self.stdout.contains(text),
            "{text:?} is not in stdout:\n{}",
            self.stdout
        );
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "{text:?} is not in stderr:\n{}",
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn does_not_say(&self, text: &str) -> &Self {
        assert!(
            !self.stderr.contains(text),
            "{text:?} is in stderr:\n{}",
            self.stderr
        );
        self
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory to copy") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file to copy");
        }
    }
}

fn walk(root: &Path, directory: &Path, files: &mut Vec<(String, String)>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.ends_with(".git") || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, files);
        } else {
            let relative = path
                .strip_prefix(root)
                .expect("below the root")
                .to_string_lossy()
                .into_owned();
            let bytes = fs::read(&path).expect("a file");
            files.push((relative, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}
