//! `--works`: works that a hub has exported.
//!
//! Owns: the option, and reading what it names: once, and never as input. Flows in: arguments. Flows out: the exported
//! works. Must not know: what a command makes of them.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use clap::Args;
use spokewright::Hub;
use spokewright::diagnostic::Findings;
use spokewright::pipeline::{self, Loaded, Request};

use super::options::{ReadOptions, read_stdin};
use super::reporting::kept;
use super::status::{Refusal, Status};

/// The exported works.
#[derive(Debug, Args)]
pub(crate) struct WorksOption {
    /// Works exported from the hub: a file, directory, or `-`
    #[arg(long, value_name = "PATH")]
    works: Option<PathBuf>,
}

impl WorksOption {
    /// What was typed.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.works.as_deref()
    }

    fn is_stdin(&self) -> bool {
        self.path() == Some(Path::new("-"))
    }

    /// Keeps the export out of the input, also where it lies inside.
    ///
    /// # Errors
    /// When both come from standard input, which can be read only once.
    pub(crate) fn keep_out_of(&self, request: &mut Request, input: &ReadOptions) -> Result<(), Refusal> {
        if self.is_stdin() && input.reads_stdin() {
            return Err(Refusal::new(
                Status::Usage,
                "standard input can be read only once",
                "name a file for the input or for `--works`",
            ));
        }
        let file = self.path().filter(|_| !self.is_stdin());
        request.skip.extend(file.map(Path::to_owned));
        Ok(())
    }

    /// Reads the export; `None` where none was named.
    ///
    /// # Errors
    /// When standard input cannot be read.
    pub(crate) fn read(
        &self,
        loaded: &mut Loaded,
        findings: &mut Findings,
    ) -> anyhow::Result<Option<(&Path, ManuallyDrop<Hub>)>> {
        let Some(path) = self.path() else {
            return Ok(None);
        };
        let stdin = self.is_stdin().then(read_stdin).transpose()?;
        let exported = pipeline::load_works(loaded, path, stdin.as_deref(), findings);
        Ok(Some((path, kept(exported))))
    }
}
