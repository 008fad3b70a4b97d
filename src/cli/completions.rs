//! `spokewright completions`: shell completions.
//!
//! Owns: its help. Flows in: the command line's definition, a shell. Flows out: a script on stdout. Must not know:
//! what a command does.

use std::io::Write as _;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;

use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  source <(spokewright completions bash)         in this shell only

To stay, for each shell:
  spokewright completions bash > \\
    ~/.local/share/bash-completion/completions/spokewright
  spokewright completions zsh > ~/.zfunc/_spokewright
    with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  spokewright completions fish > ~/.config/fish/completions/spokewright.fish
  spokewright completions powershell >> $PROFILE
  spokewright completions elvish >> ~/.config/elvish/rc.elv";

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[command(arg_required_else_help = true)]
pub(crate) struct Completions {
    /// Shell to complete in
    shell: Shell,
}

impl Completions {
    /// Prints those of `command`, the whole of what can be typed.
    pub(crate) fn run(self, mut command: Command) -> anyhow::Result<Status> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "spokewright", &mut text);
        std::io::stdout()
            .lock()
            .write_all(&text)
            .context("cannot write to stdout")?;
        Ok(Status::Done)
    }
}
