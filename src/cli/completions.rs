//! `spokewright completions`: shell completions.

use std::io::Write as _;

use anyhow::Context as _;
use clap::Args;
use clap_complete::Shell;

use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  source <(spokewright completions bash)
  spokewright completions zsh > ~/.zfunc/_spokewright
  spokewright completions fish > ~/.config/fish/completions/spokewright.fish";

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "spokewright", &mut text);
        std::io::stdout()
            .lock()
            .write_all(&text)
            .context("cannot write to stdout")?;
        Ok(Status::Done)
    }
}
