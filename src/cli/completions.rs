//! `spokewright completions`: completions for shells and for kubectl.
//!
//! Owns: its help, and the formats in which shells and kubectl expect candidates. Flows in: a shell, the words typed so
//! far. Flows out: a script, or candidates, on stdout. Must not know: which candidates there are.

use std::ffi::OsString;
use std::io::Write as _;

use anyhow::Context as _;
use clap::{Args, Command, ValueEnum};
use clap_complete::engine::complete;
use clap_complete::env::Shells;

use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  source <(spokewright completions bash)         in this shell only

In every shell, with this line in its startup file:
  ~/.bashrc                   source <(spokewright completions bash)
  ~/.zshrc, after compinit    source <(spokewright completions zsh)
  ~/.config/fish/config.fish  spokewright completions fish | source
  $PROFILE (PowerShell)       spokewright completions powershell |
                                Out-String | Invoke-Expression
  ~/.config/elvish/rc.elv     eval (spokewright completions elvish | slurp)

`kubectl spokewright` completes if the PATH has a link to this program called
kubectl_complete-spokewright.";

/// The variable by which a shell asks for candidates; it names the shell.
pub(crate) const VARIABLE: &str = "SPOKEWRIGHT_COMPLETE";

/// What kubectl starts to complete `kubectl spokewright`: a link to this program.
pub(crate) const KUBECTL: &str = "kubectl_complete-spokewright";

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[command(arg_required_else_help = true)]
pub(crate) struct Completions {
    /// Shell to complete in
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Completions {
    /// Prints a script that asks this program for candidates: they depend on the hub in the current directory.
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let shell = self.shell.to_possible_value();
        let shells = Shells::builtins();
        let completer = shell
            .as_ref()
            .and_then(|shell| shells.completer(shell.get_name()));
        let mut script = Vec::new();
        if let Some(completer) = completer {
            let name = "spokewright";
            completer
                .write_registration(VARIABLE, name, name, name, &mut script)
                .context("cannot make the script")?;
        }
        print(&script)
    }
}

/// Prints candidates as kubectl takes them from plugins: one a line with its description behind a tab, then how to go
/// on, as a sum of cobra's directives (spf13/cobra completions.go: no space 2, no file names 4).
pub(crate) fn for_kubectl(mut command: Command, words: Vec<OsString>) -> anyhow::Result<Status> {
    let mut words: Vec<OsString> = [OsString::from("spokewright")].into_iter().chain(words).collect();
    if words.len() == 1 {
        words.push(OsString::new());
    }
    let here = std::env::current_dir().ok();
    let last = words.len().saturating_sub(1);
    let candidates = complete(&mut command, words, last, here.as_deref()).context("cannot complete")?;
    let mut text = String::new();
    let mut goes_on = !candidates.is_empty();
    for candidate in candidates.iter().filter(|candidate| !candidate.is_hide_set()) {
        let value = candidate.get_value().to_string_lossy();
        goes_on &= value.ends_with(['/', '=']);
        text.push_str(&value);
        let help = candidate.get_help().map(ToString::to_string);
        if let Some(line) = help.as_deref().and_then(|help| help.lines().next()) {
            text.push('\t');
            text.push_str(line);
        }
        text.push('\n');
    }
    text.push_str(if goes_on { ":6\n" } else { ":4\n" });
    print(text.as_bytes())
}

fn print(text: &[u8]) -> anyhow::Result<Status> {
    std::io::stdout()
        .lock()
        .write_all(text)
        .context("cannot write to stdout")?;
    Ok(Status::Done)
}
