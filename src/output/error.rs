//! Why nothing, or not everything, was written: what can be in the way of a file ([`Obstacle`]) and what can fail
//! ([`OutputError`]), typed, and as findings that say what to type next.

use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Code, Finding, Place, counted, one_or_many, shell_path};

/// An obstacle to one file, or to all files of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// A file of ours whose bytes are neither those we wrote nor those we want: edited by hand.
    Edited,
    /// A file that we never wrote is where ours would.
    Foreign,
    /// Something else is now in the place of a file of ours that is no longer wanted.
    Replaced,
    /// A directory is where our file would.
    Directory,
    /// Something that is not a directory is where we need one.
    NotADirectory,
    /// A device, a socket or a pipe is where our file would.
    NotAFile,
    /// A symbolic link is where our file or directory would: writing would go through it.
    Symlink,
    /// Its name is longer than the 255 bytes that file systems take.
    NameTooLong,
    /// It cannot be read, so its owner is unknown. Holds the operating system's reason.
    Unreadable(String),
    /// It is neither wanted nor something that we write, and may not be in this output.
    Unexpected,
}

impl Obstacle {
    /// Whether `--force` overrides it. It never overrides directories, links, and files that cannot be read.
    pub const fn yields_to_force(&self) -> bool {
        matches!(self, Self::Edited | Self::Foreign | Self::Replaced)
    }
}

/// One path of the output that stops the run before anything is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offender {
    /// Path inside the output, with `/` between components.
    pub path: String,
    /// What is wrong with it.
    pub obstacle: Obstacle,
}

impl Offender {
    pub(super) fn new(path: &str, obstacle: Obstacle) -> Self {
        let path = path.to_owned();
        Self { path, obstacle }
    }

    /// The finding about it; `root` is the output as the user named it.
    pub fn finding(&self, root: &Path) -> Finding {
        let path = shown(root, &self.path).display().to_string();
        let word = shell_path(&path);
        let (code, message, help) = match &self.obstacle {
            Obstacle::Edited => (
                Code::OUTPUT_EDITED,
                format!("{path} was edited by hand since it was rendered"),
                format!(
                    "move the edit into the input and undo it here (`git checkout HEAD -- {word}`), or render with --force to overwrite it"
                ),
            ),
            Obstacle::Foreign => (
                Code::OUTPUT_FOREIGN,
                format!("{path} is in the way of a rendered file, and spokewright did not write it"),
                format!("move it away, or pass --force to overwrite it: `ls -l {word}`"),
            ),
            Obstacle::Replaced => (
                Code::OUTPUT_EDITED,
                format!("{path} was a rendered file that is no longer needed, but it is something else now"),
                format!("look at it and remove it (`rm -r {word}`), or pass --force to forget about it"),
            ),
            Obstacle::Unexpected => (
                Code::OUTPUT_UNEXPECTED,
                format!("{path} is in the output, but spokewright did not write it"),
                format!(
                    "move it out of the output; if it is a file that belongs there, list it in spokewright.yaml: \
                     `outputExceptions: [{}]`",
                    self.path
                ),
            ),
            Obstacle::Directory => (
                Code::OUTPUT_NOT_A_FILE,
                format!("{path} is a directory, but a rendered file belongs there"),
                format!("move it away or remove it: `rm -r {word}`"),
            ),
            Obstacle::NotADirectory => (
                Code::OUTPUT_NOT_A_DIRECTORY,
                format!("{path} is not a directory, but rendered files belong in it"),
                format!("move it away or remove it: `rm {word}`"),
            ),
            Obstacle::NotAFile => (
                Code::OUTPUT_NOT_A_FILE,
                format!("{path} is not a regular file, but a rendered file belongs there"),
                format!("move it away or remove it: `rm {word}`"),
            ),
            Obstacle::Symlink => (
                Code::OUTPUT_SYMLINK,
                format!("{path} is a symbolic link, and the output is never read or written through links"),
                format!("remove the link: `rm {word}`"),
            ),
            Obstacle::NameTooLong => (
                Code::OUTPUT_UNWRITABLE,
                format!("{path} cannot be written: its name is longer than 255 bytes"),
                "give the object that it is named after a shorter name".to_owned(),
            ),
            Obstacle::Unreadable(reason) => (
                Code::OUTPUT_UNREADABLE,
                format!("{path} cannot be read: {reason}"),
                format!("make it readable: `chmod -R u+rX {word}`"),
            ),
        };
        let finding = Finding::new(code, Place::Path(path), message).help(help);
        if self.obstacle == Obstacle::Unexpected {
            finding.note("tools that apply the output may read it")
        } else {
            finding
        }
    }
}

/// Why the output itself cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootFault {
    /// It, or a component on the way to it, is a file.
    NotADirectory,
    /// It, or a component on the way to it, is a symbolic link where none may be.
    Symlink,
    /// It would be in `.git`.
    Git,
    /// It would leave the directory that it must stay in.
    Outside,
}

/// Why an inventory or a plan cannot be trusted. Lines count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryFault {
    /// A directory, a link, or a device has its name.
    #[error("it is not a regular file")]
    NotAFile,
    /// A line is not `<64 hexadecimal digits>  <path>`.
    #[error("line {line} is not `<sha256>  <path>`")]
    Malformed {
        /// The line.
        line: usize,
    },
    /// A line names a path that leaves the output, or one of our own bookkeeping files.
    #[error("line {line} names a path that is never written")]
    Outside {
        /// The line.
        line: usize,
    },
}

/// Why the caller's tree was refused: a bug, not something that input may cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeFault {
    /// A path is absolute, leaves the root, or takes one of our own names.
    Unsafe,
    /// A path does not follow its predecessor in byte order.
    Order,
    /// A path is also a directory of another path.
    FileAndDirectory,
}

/// The operation that the operating system refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reading a file or a directory.
    Read,
    /// Writing a file or making a directory.
    Write,
    /// Removing a file or a directory.
    Delete,
}

/// Why the output was not written, or not completely. Nothing was touched, except with [`OutputError::Io`]: then
/// every file is whole, still known to be ours, and the next run completes the work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The output is a file or a symbolic link, or is where none may.
    #[error("the output {} {}", .path.display(), match .fault {
        RootFault::NotADirectory => "is not a directory",
        RootFault::Symlink => "is a symbolic link",
        RootFault::Git => "is in `.git`, where nothing is written",
        RootFault::Outside => "is outside the repository",
    })]
    Root {
        /// The output, or the component of its path that is at fault.
        path: PathBuf,
        /// Its kind.
        fault: RootFault,
    },
    /// Another run is at work in it.
    #[error("another run is writing into {}", .root.display())]
    Busy {
        /// The output.
        root: PathBuf,
    },
    /// Another run has been at work in it since the caller looked.
    #[error("another run has written into {}", .root.display())]
    Overtaken {
        /// The output.
        root: PathBuf,
    },
    /// Files are in the way; all of them are named, in byte order.
    #[error("{} {} in the way of the output", counted(.offenders.len(), "path"), one_or_many(.offenders.len(), "is", "are"))]
    Refused {
        /// The output.
        root: PathBuf,
        /// The obstacle.
        offenders: Vec<Offender>,
    },
    /// The inventory, or the plan of an interrupted run, cannot be trusted.
    #[error("the inventory {} cannot be trusted: {fault}", .path.display())]
    Inventory {
        /// The inventory or the plan.
        path: PathBuf,
        /// The mistake in it.
        fault: InventoryFault,
    },
    /// The operating system refused something.
    #[error("cannot {} {}: {source}", match .action {
        Action::Read => "read",
        Action::Write => "write",
        Action::Delete => "delete",
    }, .path.display())]
    Io {
        /// The operation.
        action: Action,
        /// To which file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A stream could not be written.
    #[error("cannot write the stream: {0}")]
    Stream(#[source] io::Error),
    /// The caller's tree breaks the rules of [`super::Tree`].
    #[error("internal error: the wanted path {path:?} {}", match .fault {
        TreeFault::Unsafe => "does not stay inside the output",
        TreeFault::Order => "is not in byte order",
        TreeFault::FileAndDirectory => "is both a file and a directory",
    })]
    Tree {
        /// The path.
        path: String,
        /// Which rule.
        fault: TreeFault,
    },
}

impl OutputError {
    pub(super) fn io(action: Action, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_path_buf(),
            source,
        }
    }

    pub(super) fn root(path: &Path, fault: RootFault) -> Self {
        let path = path.to_path_buf();
        Self::Root { path, fault }
    }

    /// One finding for each problem; all codes are `output/*`, so the exit status is 5.
    pub fn findings(&self) -> Vec<Finding> {
        let about = |code, path: &str| Finding::new(code, Place::Path(path.to_owned()), self.to_string());
        let finding = match self {
            Self::Refused { root, offenders } => {
                return offenders.iter().map(|offender| offender.finding(root)).collect();
            }
            Self::Root { path, fault } => {
                let shown = path.display().to_string();
                let word = shell_path(&shown);
                let (code, help) = match fault {
                    RootFault::NotADirectory => {
                        let old = shell_path(&format!("{shown}.old"));
                        let help =
                            format!("name a directory with -o, or move the file away: `mv {word} {old}`");
                        (Code::OUTPUT_NOT_A_DIRECTORY, help)
                    }
                    RootFault::Symlink => (
                        Code::OUTPUT_SYMLINK,
                        format!("name the directory itself, or remove the link: `rm {word}`"),
                    ),
                    RootFault::Git => (
                        Code::OUTPUT_OUTSIDE,
                        "name a directory of the work tree, such as `rendered`".to_owned(),
                    ),
                    RootFault::Outside => (
                        Code::OUTPUT_OUTSIDE,
                        format!(
                            "name a directory of the repository, or pass it on the command line: `-o {word}`"
                        ),
                    ),
                };
                about(code, &shown).help(help)
            }
            Self::Busy { root } => about(Code::OUTPUT_BUSY, &root.display().to_string())
                .help("try again later, or remove `--no-wait` to wait"),
            Self::Overtaken { root } => {
                about(Code::OUTPUT_BUSY, &root.display().to_string()).help("run the same command again")
            }
            Self::Inventory { path, .. } => {
                let shown = path.display().to_string();
                let word = shell_path(&shown);
                let finding = about(Code::OUTPUT_INVENTORY, &shown);
                finding.note("a damaged inventory deletes nothing").help(format!(
                    "restore it (`git checkout HEAD -- {word}`); or remove it (`rm {word}`) and render again: files that \
                     already have the right content are adopted, and others are reported"
                ))
            }
            Self::Io { action, path, source } => self.io_finding(*action, path, source),
            Self::Stream(_) => Finding::new(Code::OUTPUT_UNWRITABLE, Place::Run, self.to_string())
                .help("check the program that reads the standard output"),
            Self::Tree { path, .. } => {
                about(Code::OUTPUT_UNWRITABLE, path).help("please report this as a bug in spokewright")
            }
        };
        vec![finding]
    }

    fn io_finding(&self, action: Action, path: &Path, source: &io::Error) -> Finding {
        let shown = path.display().to_string();
        let parent = shell_path(&path.parent().unwrap_or(path).display().to_string());
        let code = match action {
            Action::Read => Code::OUTPUT_UNREADABLE,
            Action::Write | Action::Delete => Code::OUTPUT_UNWRITABLE,
        };
        let help = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!(
                    "free some space (`df -h {parent}`) and run the same command again: it continues where this one stopped"
                )
            }
            io::ErrorKind::PermissionDenied if action == Action::Read => {
                format!("make it readable: `chmod u+r {}`", shell_path(&shown))
            }
            io::ErrorKind::PermissionDenied => format!("make the directory writable: `chmod u+w {parent}`"),
            io::ErrorKind::ReadOnlyFilesystem => "name a writable directory with -o".to_owned(),
            io::ErrorKind::InvalidFilename => "give the object a shorter name".to_owned(),
            _ => "remove the cause and run the same command again: it continues where this one stopped"
                .to_owned(),
        };
        let finding = Finding::new(code, Place::Path(shown), self.to_string()).help(help);
        if action == Action::Read {
            finding
        } else {
            finding.note("every file of the output is complete: either new or unchanged")
        }
    }
}

/// A path of the output as people see it: below the root as they named it.
pub(super) fn shown(root: &Path, path: &str) -> PathBuf {
    if path.is_empty() {
        root.to_path_buf()
    } else {
        root.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_help_line_names_the_file_whatever_its_name() {
        assert_eq!(shell_path("rendered/eu-1/a.yaml"), "rendered/eu-1/a.yaml");
        assert_eq!(shell_path("it's; rm -rf x"), r"'it'\''s; rm -rf x'");
        assert_eq!(shell_path(""), "''");
        assert_eq!(shell_path("-rf"), "./-rf");
    }

    #[test]
    fn every_error_is_an_output_finding_with_help_and_exit_status_5() {
        let path = PathBuf::from("out/a.yaml");
        let all = [
            Obstacle::Edited,
            Obstacle::Foreign,
            Obstacle::Replaced,
            Obstacle::Directory,
        ]
        .into_iter()
        .chain([Obstacle::NotADirectory, Obstacle::NotAFile, Obstacle::Symlink])
        .chain([Obstacle::NameTooLong, Obstacle::Unreadable("no".to_owned())])
        .map(|obstacle| Offender {
            path: "a.yaml".to_owned(),
            obstacle,
        })
        .collect::<Vec<_>>();
        let errors = [
            OutputError::Refused {
                root: PathBuf::from("out"),
                offenders: all,
            },
            OutputError::Root {
                path: path.clone(),
                fault: RootFault::NotADirectory,
            },
            OutputError::Root {
                path: path.clone(),
                fault: RootFault::Symlink,
            },
            OutputError::Root {
                path: path.clone(),
                fault: RootFault::Git,
            },
            OutputError::Root {
                path: path.clone(),
                fault: RootFault::Outside,
            },
            OutputError::Inventory {
                path: path.clone(),
                fault: InventoryFault::Malformed { line: 3 },
            },
            OutputError::Inventory {
                path: path.clone(),
                fault: InventoryFault::Outside { line: 3 },
            },
            OutputError::Stream(io::Error::from(io::ErrorKind::StorageFull)),
            OutputError::Tree {
                path: "../a".to_owned(),
                fault: TreeFault::Unsafe,
            },
        ]
        .into_iter()
        .chain(
            [
                io::ErrorKind::StorageFull,
                io::ErrorKind::PermissionDenied,
                io::ErrorKind::Other,
            ]
            .into_iter()
            .flat_map(|kind| {
                [Action::Read, Action::Write, Action::Delete]
                    .map(|action| OutputError::io(action, &path, io::Error::from(kind)))
            }),
        )
        .collect::<Vec<_>>();
        let findings = errors.iter().flat_map(OutputError::findings).collect::<Vec<_>>();
        assert_eq!(findings.len(), 9 + 8 + 9);
        for finding in findings {
            assert!(finding.code.name().starts_with("output/"), "{finding:?}");
            assert_eq!(finding.code.exit_status(), 5, "{finding:?}");
            assert!(!finding.code.is_configurable(), "{finding:?}");
            assert!(finding.help.is_some(), "{finding:?}");
        }
    }

    #[test]
    fn the_help_for_what_cannot_be_read_or_written_goes_by_the_cause() {
        let of = |action: Action, kind: io::ErrorKind| {
            let error = OutputError::io(action, Path::new("out/file"), kind.into());
            let finding = error.findings().remove(0);
            let notes = finding.notes.len();
            (finding.code, finding.help.unwrap_or_default(), notes)
        };
        let denied = io::ErrorKind::PermissionDenied;
        let (code, help, notes) = of(Action::Read, denied);
        assert_eq!((code, notes), (Code::OUTPUT_UNREADABLE, 0));
        assert!(help.contains("chmod u+r out/file"), "{help}");
        let (code, help, notes) = of(Action::Write, denied);
        assert_eq!((code, notes), (Code::OUTPUT_UNWRITABLE, 1));
        assert!(help.contains("chmod u+w out"), "{help}");
        let (_, help, _) = of(Action::Write, io::ErrorKind::ReadOnlyFilesystem);
        assert!(help.contains("-o"), "{help}");
    }

    #[test]
    fn what_is_wrong_with_an_inventory_is_said_with_its_line() {
        for (fault, words) in [
            (InventoryFault::NotAFile, "it is not a regular file"),
            (
                InventoryFault::Malformed { line: 3 },
                "line 3 is not `<sha256>  <path>`",
            ),
            (
                InventoryFault::Outside { line: 5 },
                "line 5 names a path that is never written",
            ),
        ] {
            assert_eq!(fault.to_string(), words);
        }
    }
}
