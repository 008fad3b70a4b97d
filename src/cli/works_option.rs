//! `--works`: works that were exported from a hub.
//!
//! Owns: the option, and reading the named files: once, and never as input. Flows in: arguments. Flows out: the
//! exported works. Must not know: what a command does with them.

use std::io::{self, Read};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use clap::Args;
use spokewright::diagnostic::Findings;
use spokewright::pipeline::{self, Loaded, Request};
use spokewright::report::{ExportedWorks, WorksAndSets};

use super::options::ReadOptions;
use super::reporting::kept;
use super::status::{Refusal, refuse};

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
            return refuse(
                "standard input can be read only once",
                "name a file for the input or for `--works`",
            );
        }
        let file = self.path().filter(|_| !self.is_stdin());
        request.skip.extend(file.map(Path::to_owned));
        Ok(())
    }

    /// Reads the works of the export; `None` where none was named.
    pub(crate) fn works(
        &self,
        loaded: &mut Loaded,
        findings: &mut Findings,
    ) -> Option<(&Path, ManuallyDrop<ExportedWorks>)> {
        self.read(|path, stdin| pipeline::load_works(loaded, path, stdin, findings))
    }

    /// Reads what of the export may be pruned; `None` where none was named.
    pub(crate) fn prunable(
        &self,
        loaded: &mut Loaded,
        findings: &mut Findings,
    ) -> Option<ManuallyDrop<WorksAndSets>> {
        let read = self.read(|path, stdin| pipeline::load_prunable(loaded, path, stdin, findings));
        read.map(|(_, objects)| objects)
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Path, Option<&mut dyn Read>) -> T,
    ) -> Option<(&Path, ManuallyDrop<T>)> {
        let path = self.path()?;
        let mut stdin = io::stdin().lock();
        let stdin: Option<&mut dyn Read> = if self.is_stdin() { Some(&mut stdin) } else { None };
        Some((path, kept(read(path, stdin))))
    }
}
