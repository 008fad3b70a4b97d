//! The command line: clap types, one file for each command, exit statuses, colors, progress. No logic.
//!
//! Nothing is decided here: commands turn arguments into a request, call the library, and print what it returns.

mod argocd;
mod check;
mod completions;
mod diff;
mod finding;
mod graph;
mod init;
mod options;
mod page;
mod placement;
mod policies;
mod print;
mod progress;
mod prune_list;
mod render;
mod reporting;
mod schema;
mod status;
mod watch;

use std::panic::UnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use clap_complete::CompleteEnv;
use print::Status;
use spokewright::diagnostic::whole_line;

const AFTER_HELP: &str = "\
Options:
  -h, --help     Print help; `COMMAND --help` has all options and examples
  -V, --version  Print the version

Examples:
  spokewright init fleet                create a small hub
  spokewright render hub -o rendered    write one directory per cluster
  spokewright render --check            fail if the output is out of date
  spokewright check                     report errors and warnings
  spokewright explain gateway/prod-web  show its policies, with file and line
  spokewright placement --why eu-1      show which Placements select it, and why
  spokewright diff --base origin/main   show what a pull request does
  spokewright render hub -o - | kubectl diff -f -
  spokewright prune-list --works FILE   list works that the hub can delete
  spokewright argocd plugin             print the plugin.yaml for Argo CD

Exit status:
  0   done
  1   `--check` or `diff` found a difference
  2   the command line is wrong
  3   the input has errors
  4   a conflict or a placement could not be resolved, or a condition that
      `status` was asked to verify is not met
  5   reading or writing failed
  70  a bug in spokewright";

/// Where to go from the list of commands. It fits a screen of 24 lines with this, and without more.
const NEXT: &str = "\
To start, run `spokewright init fleet`, then `spokewright render fleet`.
`COMMAND -h` prints the common options, `COMMAND --help` all, with examples.";

/// Renders hub objects into OCM ManifestWorks per cluster, and explains them
#[derive(Debug, Parser)]
#[command(
    name = "spokewright",
    version,
    after_help = NEXT,
    after_long_help = AFTER_HELP,
    help_template = "{about}\n\n{usage-heading} {usage}\n\nCommands:\n{subcommands}{after-help}\n",
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Render(render::Render),
    Check(check::Check),
    Placement(placement::Placement),
    Policies(policies::Policies),
    Explain(policies::Explain),
    Finding(finding::Finding),
    Diff(diff::Diff),
    Graph(graph::GraphCommand),
    Page(page::PageCommand),
    Argocd(argocd::Argocd),
    Status(status::StatusCommand),
    PruneList(prune_list::PruneListCommand),
    Schema(schema::Schema),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// Runs the command line and says with which status to exit.
pub(crate) fn main() -> ExitCode {
    // A shell asks for candidates by a variable, kubectl by the name of the program.
    CompleteEnv::with_factory(Cli::command)
        .var(completions::VARIABLE)
        .complete();
    if program().as_deref() == Some(completions::KUBECTL) {
        let words = std::env::args_os().skip(1).collect();
        let complete = || ended(completions::for_kubectl(Cli::command(), words));
        return ExitCode::from(guarded(complete, print::line) as u8);
    }
    let status = guarded(
        || match parse() {
            Ok(cli) => {
                work_along(&cli.command);
                run(cli)
            }
            Err(error) => {
                // Help and version are data, and succeed; everything else is a usage error.
                let status = if error.use_stderr() {
                    Status::Usage
                } else {
                    Status::Done
                };
                // clap quotes arguments as they are, and a hook passes names of files: one that would be shown otherwise
                // costs the message its line ends and colors.
                let is_as_shown = |argument: std::ffi::OsString| {
                    let argument = argument.to_string_lossy();
                    whole_line(&argument) == argument
                };
                if std::env::args_os().all(is_as_shown) {
                    let _ = error.print();
                } else {
                    print::line(&error.render().to_string());
                }
                status
            }
        },
        print::line,
    );
    ExitCode::from(status as u8)
}

/// Makes this thread one of those that work in parallel, where it would wait for them: what one thread frees of another
/// one's memory is not free at once, so each thread takes more. Not `diff`: it evaluates one side in a thread that needs
/// the others, and waits for it here. Not on Windows, where this thread has half of the stack of the others.
fn work_along(command: &Command) {
    if !cfg!(windows) && !matches!(command, Command::Diff(_)) {
        // Where it fails, whoever needs the threads first says so.
        let _ = rayon::ThreadPoolBuilder::new()
            .use_current_thread()
            .build_global();
    }
}

/// The status of a run, also of one that a broken promise ended. The panic's own message, on stderr before, names the
/// place in the code.
fn guarded(run: impl FnOnce() -> Status + UnwindSafe, report: impl FnOnce(&str)) -> Status {
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        report("error: this is a bug in spokewright; please report it with the input that caused it");
        Status::Bug
    })
}

/// The command line. Usage lines name the program as it was called; kubectl starts `kubectl-spokewright`, and what was
/// typed is `kubectl spokewright`.
fn parse() -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    if program().as_deref() == Some("kubectl-spokewright") {
        command = command.bin_name("kubectl spokewright");
    }
    // `help COMMAND` works, and needs no line of its own in the list.
    command.build();
    let mut command = command.mut_subcommand("help", |help| help.hide(true));
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches)
}

/// What the program was called, without directories and `.exe`.
fn program() -> Option<String> {
    let path = std::env::args_os().next().map(PathBuf::from)?;
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

fn run(cli: Cli) -> Status {
    ended(match cli.command {
        Command::Init(command) => command.run(),
        Command::Render(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Placement(command) => command.run(),
        Command::Policies(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Finding(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::Graph(command) => command.run(),
        Command::Page(command) => command.run(),
        Command::Argocd(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::PruneList(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(Cli::command()),
    })
}

fn ended(result: anyhow::Result<Status>) -> Status {
    match result {
        Ok(status) => status,
        Err(error) if print::is_broken_pipe(&error) => Status::Done,
        Err(error) => print::error(&error),
    }
}

#[cfg(test)]
mod tests {
    mod reference;

    use super::*;

    #[test]
    fn a_panic_becomes_the_exit_status_of_a_bug() {
        let mut said = String::new();
        let status = guarded(
            || panic!("a stage broke its promise"),
            |line| said = line.to_owned(),
        );
        assert_eq!(status as u8, 70);
        assert!(said.contains("please report it"), "{said}");
        assert_eq!(guarded(|| Status::Usage, |_| ()) as u8, 2);
    }
}
