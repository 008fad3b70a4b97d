//! `spokewright man`: manual pages.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  spokewright man | man -l -
  spokewright man /usr/local/share/man/man1      one page a command";

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Man {
    /// Directory to write the pages into
    directory: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let command = super::command();
        match self.directory {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page)?;
                std::io::stdout()
                    .lock()
                    .write_all(&page)
                    .context("cannot write to stdout")?;
            }
            Some(directory) => {
                std::fs::create_dir_all(&directory)
                    .and_then(|()| clap_mangen::generate_to(command, &directory))
                    .with_context(|| format!("cannot write manual pages into `{}`", directory.display()))?;
            }
        }
        Ok(Status::Done)
    }
}
