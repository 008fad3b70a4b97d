//! Programs of others while they run.
//!
//! Owns: starting, watching and stopping them, their logs, free ports. Flows in: a path and arguments. Flows out: an
//! answer that was waited for, or a text that says who failed and what it logged last. Must not know: what a program
//! is for.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs its arguments, kills them when its standard input ends, and ends when they have, with all that they started.
/// Whoever holds the other end of that pipe cannot leave it open: not by a panic, not by Ctrl-C, not by SIGKILL. So no
/// program survives the test.
const KEEPER: &str = r#"
    exec 3<&0
    "$@" 3<&- </dev/null & program=$!
    (cat <&3 >/dev/null; kill -KILL $program) &
    trap '' TERM
    wait $program; status=$?
    kill -TERM 0
    exit $status"#;
/// Lines of a log that a failure shows.
const TAIL: usize = 12;

#[derive(Debug)]
struct Program {
    name: String,
    log: PathBuf,
    child: Child,
}

/// Everything that runs; stopped in the order of starting when this goes.
#[derive(Debug)]
pub(crate) struct Programs {
    directory: PathBuf,
    running: Vec<Program>,
}

impl Programs {
    /// Logs and temporary files of all of them go into this directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            running: Vec::new(),
        }
    }

    /// Starts a program under a name that messages and its log have.
    pub(crate) fn start(&mut self, name: &str, program: &Path, arguments: &[String]) -> Result<(), String> {
        let log = self.directory.join(format!("{name}.log"));
        let start = || -> io::Result<Child> {
            let out = File::create(&log)?;
            Command::new("sh")
                .args(["-c", KEEPER, "sh"])
                .arg(program)
                .args(arguments)
                .current_dir(&self.directory)
                .env("HOME", &self.directory)
                .env("TMPDIR", &self.directory)
                .stdin(Stdio::piped())
                .stdout(out.try_clone()?)
                .stderr(out)
                .process_group(0)
                .spawn()
        };
        let child = start().map_err(|error| format!("{name} does not start: {error}"))?;
        self.running.push(Program {
            name: name.to_owned(),
            log,
            child,
        });
        Ok(())
    }

    /// Looks until there is an answer. Whatever ends meanwhile ends the waiting: nothing here ends by itself.
    pub(crate) fn until<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl FnMut() -> Result<T, String>,
    ) -> Result<T, String> {
        let start = Instant::now();
        loop {
            for program in &mut self.running {
                let ended = program.child.try_wait().map_err(|error| error.to_string())?;
                if let Some(status) = ended {
                    return Err(format!("{} ended: {status}\n{}", program.name, program.tail()));
                }
            }
            match look() {
                Ok(answer) => return Ok(answer),
                Err(last) if start.elapsed() > patience => {
                    let logs: Vec<String> = self.running.iter().map(Program::tail).collect();
                    let (last, seconds) = (last.trim_end(), patience.as_secs());
                    return Err(format!(
                        "{what}: not within {seconds} s; the last look said:\n{last}\n\n{}",
                        logs.join("\n")
                    ));
                }
                Err(_) => sleep(Duration::from_millis(100)),
            }
        }
    }
}

impl Program {
    fn tail(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(TAIL)..];
        format!("{}:\n    {}\n", self.log.display(), last.join("\n    "))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Ports on loopback that nobody listens on: all taken at once, so that no two are the same.
pub(crate) fn free_ports<const N: usize>() -> Result<[u16; N], String> {
    let mut held = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
        *port = listener.local_addr().map_err(|error| error.to_string())?.port();
        held.push(listener);
    }
    Ok(ports)
}
